package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// Proofs reads the answer to [Client.ProveShoe] as it arrives, one record at a time. It yields an
// error at most once, last. To leave the loop ends the request.
func Proofs(answer *http.Response) iter.Seq2[*AuditProof, error] {
	return func(yield func(*AuditProof, error) bool) {
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode >= http.StatusMultipleChoices {
			body, err := io.ReadAll(answer.Body)
			if err == nil {
				err = problem(answer.StatusCode, answer.Header.Get("Content-Type"), body)
			}
			yield(nil, err)
			return
		}
		for lines := bufio.NewReader(answer.Body); ; {
			line, err := lines.ReadBytes('\n')
			switch {
			case errors.Is(err, io.EOF) && len(line) == 0:
				return
			case errors.Is(err, io.EOF):
				err = io.ErrUnexpectedEOF
			}
			p := new(AuditProof)
			if err == nil {
				err = json.Unmarshal(line, p)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Given is what proofs are checked against. What is missing is not checked.
type Given struct {
	Key       string // the public key of the log, from another source than the proofs
	Items     []byte // the JSON array of the items that were shuffled
	ItemsSalt string
	Order     []byte // what was answered: a whole answer, or an array of items or positions
	Hand      []byte // cards that were drawn from a shoe with their proofs: a whole answer, an array, or one
}

// Verdict is the outcome of [Verify] in a word.
type Verdict string

// The verdicts. VerdictFalse means that something is false, and VerdictUnchecked that something
// could not be checked.
const (
	VerdictVerified  Verdict = "verified"
	VerdictFalse     Verdict = "false"
	VerdictUnchecked Verdict = "unchecked"
)

// A Check is one step of a verification.
type Check struct {
	Step    string
	Verdict Verdict
	Detail  string
}

// Verify verifies what belongs together, without the service and without trusting anything but the
// key: the proof file of a shuffle and that of its commitment; all those of a shoe; or, given a hand,
// those of the records that sealed its cards. The error says that what is given is not well-formed.
func Verify(given Given, files ...[]byte) (Verdict, []Check, error) {
	decks, err := deck.Builtin()
	if err != nil {
		return "", nil, err
	}
	against := &prooffile.Given{Key: strings.TrimSpace(given.Key), ItemsSalt: given.ItemsSalt, Decks: decks}
	if against.Items, err = parse(given.Items, prooffile.ParseItems); err != nil {
		return "", nil, fmt.Errorf("the items: %w", err)
	}
	if against.Order, err = parse(given.Order, prooffile.ParseOrder); err != nil {
		return "", nil, fmt.Errorf("the order: %w", err)
	}
	if against.Hand, err = parse(given.Hand, prooffile.ParseHand); err != nil {
		return "", nil, fmt.Errorf("the hand: %w", err)
	}
	var texts [][]byte
	for _, file := range files {
		for _, text := range prooffile.Split(file) {
			if against.Commitment == nil && len(files) > 1 && isCommitment(text) {
				against.Commitment = text
				continue
			}
			texts = append(texts, text)
		}
	}
	var steps prooffile.Steps
	switch {
	case len(texts) == 0:
		return "", nil, errors.New("no proof was given")
	case against.Hand != nil:
		steps = prooffile.VerifyHand(texts, against).Steps
	case len(texts) > 1:
		steps = prooffile.VerifyShoe(texts, against).Steps
	default:
		steps = prooffile.VerifyRecord(texts[0], against).Steps
	}
	verdict, checks := VerdictVerified, []Check(nil)
	for _, step := range steps {
		check := Check{Step: step.Name, Verdict: VerdictVerified, Detail: step.Detail}
		switch {
		case step.State == prooffile.Wrong:
			check.Verdict, verdict = VerdictFalse, VerdictFalse
		case step.State == prooffile.Unchecked, given.Key == "" && step.Name == prooffile.StepProof: // anyone's key
			check.Verdict = VerdictUnchecked
			if verdict == VerdictVerified {
				verdict = VerdictUnchecked
			}
		case step.State == prooffile.Skipped:
			check.Verdict = VerdictUnchecked // nobody asked for it
		}
		checks = append(checks, check)
	}
	return verdict, checks, nil
}

// parse parses a text, if there is one.
func parse[T any](text []byte, parser func([]byte) (*T, error)) (*T, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // nothing was given
	}
	return parser(text)
}

func isCommitment(text []byte) bool {
	file, err := prooffile.Parse(text)
	if err != nil {
		return false
	}
	record, err := audit.ParseRecord(file.Record)
	return err == nil && record.Kind == audit.KindCommitment
}
