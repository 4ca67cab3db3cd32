package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"

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

// Given is what a proof is checked against. What is missing is not checked.
type Given struct {
	Key        string // the public key of the log, from another source than the proof
	Items      []byte // the JSON array of the items that were shuffled
	Salt       string // the salt of the items
	Order      []byte // what was answered: a whole answer, or an array of items or positions
	Commitment []byte // the proof file of the commitment that the shuffle used
}

// Verdict is the outcome of [Verify] in a word.
type Verdict string

// The verdicts. VerdictUnchecked means that nothing is wrong and something could not be checked.
const (
	VerdictVerified  Verdict = "verified"
	VerdictFailed    Verdict = "failed"
	VerdictUnchecked Verdict = "unchecked"
)

// A Check is one step of a verification.
type Check struct {
	Step    string
	Verdict Verdict
	Detail  string
}

// Verify verifies a proof file, as GET /audits/{id}/proof answers it, without the service and
// without trusting anything but the key. The error says that what is given is not well-formed.
func Verify(proof []byte, given Given) (Verdict, []Check, error) {
	decks, err := deck.Builtin()
	if err != nil {
		return "", nil, err
	}
	against := &prooffile.Given{Key: string(bytes.TrimSpace([]byte(given.Key))), ItemsSalt: given.Salt, Decks: decks, Commitment: given.Commitment}
	var noItems, noOrder error
	if given.Items != nil {
		against.Items, noItems = prooffile.ParseItems(given.Items)
	}
	if given.Order != nil {
		against.Order, noOrder = prooffile.ParseOrder(given.Order)
	}
	if err := errors.Join(noItems, noOrder); err != nil {
		return "", nil, err
	}
	verdict, checks := VerdictVerified, []Check(nil)
	for _, step := range prooffile.VerifyRecord(proof, against).Steps {
		check := Check{Step: step.Name, Verdict: VerdictVerified, Detail: step.Detail}
		switch {
		case step.State == prooffile.Wrong:
			check.Verdict, verdict = VerdictFailed, VerdictFailed
		case step.State == prooffile.Unchecked, given.Key == "" && step.Name == prooffile.StepProof: // anyone's key
			check.Verdict = VerdictUnchecked
			if verdict == VerdictVerified {
				verdict = VerdictUnchecked
			}
		}
		checks = append(checks, check)
	}
	return verdict, checks, nil
}
