package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// A verify checks proof files against the key of the log, the items that were shuffled and the
// order that was answered.
type verify struct {
	Key       string   `placeholder:"FILE" help:"The key of the log, from somewhere else than the proof: the verifier key as GET /log/key answers it, or the private key, of which only the public half is used."`
	Items     string   `placeholder:"FILE" help:"What was shuffled, as a JSON array. Decks are built in."`
	ItemsSalt string   `placeholder:"SALT" help:"The items_salt that the items were sent with."`
	Order     string   `placeholder:"FILE" help:"What was answered: the whole answer of POST /shuffle, or the JSON array of the order."`
	Hand      string   `placeholder:"FILE" help:"Cards that were drawn from a shoe, with salt and path: the whole answer, an array of cards, or one card."`
	Proofs    []string `arg:"" name:"proof" help:"Proof files as GET /audits/{id}/proof answers them, or http(s) URLs of them. That of a commitment goes with that of the shuffle or the shoe that used it. Those of a whole shoe are checked together: one file as GET /shoes/{id}/proof answers it, or the files of all its records."`
}

// Help is the longer text of riffle verify --help.
func (*verify) Help() string {
	return `Checks, in this order: the form of the proof file and its key; the record; the seed and the commitment to it; the keys that follow from it; the order, replayed from them and compared with the one given; the items or the deck, by their digest; that the record is in the tree of the log; the signature of the log; and, where the record says that it used a commitment, that the commitment fixed the same seed and statement, and is earlier in the log. Nothing is asked of any service, unless a proof is a URL.

A hand of cards from a shoe is proven by the proof of the record that sealed it, which each card names as sealed_by: the step hand says whether salt and path lead from every card to the root in that record. That takes no seed, and shows nothing of other cards. Of a whole shoe it is also checked that no record is missing, that every change is of cards that lay where it says, that draws at random follow from their seeds and, once the shoe is closed, that the orders and roots do as well.

For the step committed give the proof of the commitment as well, before or after that of the shuffle: GET /audits/{id}/proof with the commitment_id in the record. Without it the step is left out, and the verdict says so.

It trusts the key that is given, and nothing else. Without --key it uses the one in the file, which shows only that the file agrees with itself.

The exit code is 0 if everything verifies, 1 if something does not, and 2 if it cannot be checked: a file cannot be read, the seed is held back, no key was given, the record is of a kind that this version does not know. Of several proofs, 1 comes before 2 and 2 before 0.`
}

// maxProof is the largest proof file that is read, in bytes: many times what a shuffle can have,
// and enough for ten thousand changes of a shoe.
const maxProof = 1 << 26

// Run checks the proofs and prints what it finds.
func (k *verify) Run(ctx context.Context, c *console) error {
	given, err := k.given()
	if err != nil {
		return err
	}
	wrong, unchecked := 0, 0
	list := k.read(ctx, given)
	for i, p := range list {
		name := p.name
		var text strings.Builder
		if len(list) > 1 {
			if i > 0 {
				text.WriteByte('\n')
			}
			fmt.Fprintf(&text, "%s\n", name)
		}
		err := p.err
		if err == nil {
			err = k.verify(ctx, c, p, &text)
		}
		if _, err := io.WriteString(c.out, text.String()); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
		switch {
		case errors.Is(err, errFindings):
			wrong++
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			unchecked++
			if !errors.Is(err, errUnchecked) {
				err = fmt.Errorf("%s: %w", name, err)
				if len(list) == 1 {
					return err
				}
				if _, err := fmt.Fprintln(c.messages, "riffle:", err); err != nil {
					return fmt.Errorf("printing: %w", err)
				}
			}
		}
	}
	return outcome(len(list), wrong, unchecked)
}

// A proofText is a proof file, or those of a whole shoe, and what to check it against.
type proofText struct {
	name   string
	texts  [][]byte      // one for each record
	err    error         // why it could not be read
	record *audit.Record // of the first text, unchecked; nil if it cannot be parsed
	given  prooffile.Given
}

// read reads all proofs before any is checked. It adds the proof of a commitment to that of the
// shuffle or the shoe that names it, and joins those of one shoe, in any order.
func (k *verify) read(ctx context.Context, given *prooffile.Given) (list []*proofText) {
	byID := map[uuid.UUID]*proofText{}
	shoes := map[uuid.UUID][]*proofText{}
	for _, name := range k.Proofs {
		p := &proofText{name: name, given: *given}
		var text []byte
		if text, p.err = readProof(ctx, name); p.err == nil {
			p.texts = prooffile.Lines(text)
			p.record = claimed(p.texts[0])
		}
		if p.record != nil && byID[p.record.ID] == nil {
			byID[p.record.ID] = p
		}
		if id := shoeOf(p.record); id != uuid.Nil {
			if shoes[id] = append(shoes[id], p); len(shoes[id]) > 1 {
				continue
			}
		}
		list = append(list, p)
	}
	for _, parts := range shoes {
		join(parts)
	}
	for _, p := range list {
		if p.record == nil || !p.record.UsesCommitment() || byID[p.record.CommitmentID] == nil {
			continue
		}
		commitment := byID[p.record.CommitmentID]
		p.given.Commitment = commitment.texts[0]
		// What else was given is for the shuffle.
		commitment.given.Items, commitment.given.Order, commitment.given.Hand = nil, nil, nil
	}
	return list
}

// shoeOf returns the id of the first record of the shoe that a record belongs to; Nil for no shoe.
func shoeOf(record *audit.Record) uuid.UUID {
	switch {
	case record == nil:
	case record.Kind == audit.KindShoe:
		return record.ID
	case record.Kind.ChangesShoe():
		return record.AuditID
	}
	return uuid.Nil
}

// join joins the files of one shoe in the first of them, sorted by the versions that they begin
// with.
func join(parts []*proofText) {
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b *proofText) int { return cmp.Compare(a.record.Version, b.record.Version) })
	var names []string
	var texts [][]byte
	for _, p := range sorted {
		names, texts = append(names, p.name), append(texts, p.texts...)
	}
	parts[0].name, parts[0].texts, parts[0].record = strings.Join(names, " "), texts, sorted[0].record
}

// claimed returns the unchecked record of a file, or nil if it cannot be parsed.
func claimed(text []byte) *audit.Record {
	file, err := prooffile.Parse(text)
	if err != nil {
		return nil
	}
	record, err := audit.ParseRecord(file.Record)
	if err != nil {
		return nil
	}
	return record
}

// errUnchecked is for a proof that could not be checked to the end. The reason has been printed.
var errUnchecked = errors.New("it could not be checked")

// outcome returns the error of the worst result of all proofs.
func outcome(proofs, wrong, unchecked int) error {
	switch {
	case wrong > 0 && proofs == 1:
		return fmt.Errorf("the proof was checked, and %w", errFindings)
	case wrong > 0:
		return fmt.Errorf("%d of %d proofs were checked, and of each %w", wrong, proofs, errFindings)
	case unchecked > 0 && proofs == 1:
		return fmt.Errorf("the proof was read, and %w to the end", errUnchecked)
	case unchecked > 0:
		return fmt.Errorf("of %d of %d proofs, %w to the end", unchecked, proofs, errUnchecked)
	}
	return nil
}

// given reads the files that the proofs are checked against.
func (k *verify) given() (*prooffile.Given, error) {
	given := &prooffile.Given{}
	var err error
	if given.Decks, err = deck.Builtin(); err != nil {
		return nil, err
	}
	if k.Key != "" {
		if given.Key, err = readVerifierKey(k.Key); err != nil {
			return nil, err
		}
	}
	if k.Items != "" {
		if given.Items, err = parseFile(k.Items, prooffile.ParseItems); err != nil {
			return nil, fmt.Errorf("the items: %w", err)
		}
	}
	if k.ItemsSalt != "" {
		if err := audit.CheckItemsSalt(k.ItemsSalt); err != nil {
			return nil, fmt.Errorf("--items-salt: %w", err)
		}
		if given.Items == nil {
			return nil, errors.New("--items-salt needs --items: the salt and the items have their digest together")
		}
		given.ItemsSalt = k.ItemsSalt
	}
	if k.Order != "" {
		if given.Order, err = parseFile(k.Order, prooffile.ParseOrder); err != nil {
			return nil, fmt.Errorf("the order: %w", err)
		}
	}
	if k.Hand != "" {
		if given.Hand, err = parseFile(k.Hand, prooffile.ParseHand); err != nil {
			return nil, fmt.Errorf("the hand: %w", err)
		}
	}
	return given, nil
}

func parseFile[T any](path string, parse func([]byte) (T, error)) (v T, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return v, fmt.Errorf("there is no file %s", path)
	} else if err != nil {
		return v, err
	}
	if v, err = parse(text); err != nil {
		return v, fmt.Errorf("%s is %w", path, err)
	}
	return v, nil
}

// verify checks one proof and writes what it finds. The error is errFindings, errUnchecked, or the
// reason why it was interrupted.
func (k *verify) verify(ctx context.Context, c *console, p *proofText, out *strings.Builder) error {
	done := make(chan *report, 1)
	go func() { done <- p.check() }() // a forged proof may take for ever
	r, err := wait(ctx, c.progress, done)
	if err != nil {
		return err
	}
	for _, s := range r.steps {
		fmt.Fprintf(out, "%-12s %s: %s\n", s.Name, c.state(s.State), s.Detail)
	}
	words, err := r.verdict(k.Key != "")
	fmt.Fprintf(out, "\n%s\n", words)
	return err
}

// check picks the verifier for what was given: for one record, for a hand, or for a whole shoe.
func (p *proofText) check() *report {
	switch {
	case len(p.texts) > 1:
		r := prooffile.VerifyShoe(p.texts, &p.given)
		return &report{r.Steps, func() (string, error) { return ofShoe(r) }}
	case p.given.Hand != nil:
		r := prooffile.VerifyHand(p.texts[0], &p.given)
		return &report{r.Steps, func() (string, error) { return ofHand(r, &p.given) }}
	default:
		r := prooffile.VerifyRecord(p.texts[0], &p.given)
		return &report{r.Steps, func() (string, error) { return ofRecord(r.Steps, &r.Entry, &p.given) }}
	}
}

// wait waits for the result. After a second it shows progress on a terminal.
func wait(ctx context.Context, progress io.Writer, done <-chan *report) (*report, error) {
	var tick <-chan time.Time
	if progress != nil {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		tick = ticker.C
	}
	began, shown := time.Now(), false
	for {
		select {
		case result := <-done:
			if shown {
				_, _ = io.WriteString(progress, clearLine)
			}
			return result, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick:
			shown = true
			_, _ = fmt.Fprintf(progress, clearLine+"replaying for %s", time.Since(began).Round(time.Second))
		}
	}
}

// state returns the word for the state of a step.
func (c *console) state(s prooffile.State) string {
	var word, colour string
	switch s {
	case prooffile.OK:
		word, colour = "ok", "32"
	case prooffile.Wrong:
		word, colour = "WRONG", "1;31"
	case prooffile.Unchecked, prooffile.Skipped:
		word, colour = "not checked", "33"
	}
	if !c.colour {
		return word
	}
	return "\x1b[" + colour + "m" + word + "\x1b[0m"
}

// readProof reads a proof file, or fetches it if its name is a URL.
func readProof(ctx context.Context, name string) ([]byte, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return fetch(ctx, name)
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such file")
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for reading
	return readLimited(file)
}

// readLimited reads a proof file of at most maxProof bytes.
func readLimited(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxProof+1))
	if err == nil && len(text) > maxProof {
		err = fmt.Errorf("it is longer than %d bytes, and so no proof", maxProof)
	}
	return text, err
}
