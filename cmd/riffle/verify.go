package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// A verify checks proof files against the key of the log, the items that were shuffled and the order that was answered.
type verify struct {
	Key    string   `placeholder:"FILE" help:"The key of the log, from somewhere else than the proof: the verifier key as GET /log/key answers it, or the private key, of which only the public half is used."`
	Items  string   `placeholder:"FILE" help:"What was shuffled, as a JSON array. Decks are built in."`
	Order  string   `placeholder:"FILE" help:"What was answered: the whole answer of POST /shuffle, or the JSON array of the order."`
	Proofs []string `arg:"" name:"proof" help:"Proof files as GET /audits/{id}/proof answers them, or http(s) URLs of them."`
}

// Help is the longer text of riffle verify --help.
func (*verify) Help() string {
	return `Checks, in this order: the form of the proof file and its key; the record; the seed and the commitment to it; the keys that follow from it; the order, replayed from them and compared with the one given; the items or the deck, by their digest; that the record is in the tree of the log; and the signature of the log. Nothing is asked of any service, unless a proof is a URL.

It trusts the key that is given, and nothing else. Without --key it uses the one in the file, which shows only that the file agrees with itself.

The exit code is 0 if everything verifies, 1 if something does not, and 2 if it cannot be checked: a file cannot be read, the seed is held back, no key was given. Of several proofs, 1 comes before 2 and 2 before 0.`
}

// maxProof is the longest proof file that is read, in bytes: many times what any shuffle can have.
const maxProof = 1 << 20

// Run checks the proofs and prints what it finds.
func (k *verify) Run(ctx context.Context, c *console) error {
	given, err := k.given()
	if err != nil {
		return err
	}
	wrong, unchecked := 0, 0
	for i, name := range k.Proofs {
		var text strings.Builder
		if len(k.Proofs) > 1 {
			if i > 0 {
				text.WriteByte('\n')
			}
			fmt.Fprintf(&text, "%s\n", name)
		}
		err := k.verify(ctx, c, name, given, &text)
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
				if len(k.Proofs) == 1 {
					return err
				}
				if _, err := fmt.Fprintln(c.messages, "riffle:", err); err != nil {
					return fmt.Errorf("printing: %w", err)
				}
			}
		}
	}
	return k.outcome(wrong, unchecked)
}

// errUnchecked is for what could not be checked to the end. What kept it has been printed.
var errUnchecked = errors.New("it could not be checked")

// outcome is the worst of the proofs.
func (k *verify) outcome(wrong, unchecked int) error {
	switch {
	case wrong > 0 && len(k.Proofs) == 1:
		return fmt.Errorf("the proof was checked, and %w", errFindings)
	case wrong > 0:
		return fmt.Errorf("%d of %d proofs were checked, and of each %w", wrong, len(k.Proofs), errFindings)
	case unchecked > 0 && len(k.Proofs) == 1:
		return fmt.Errorf("the proof was read, and %w to the end", errUnchecked)
	case unchecked > 0:
		return fmt.Errorf("of %d of %d proofs, %w to the end", unchecked, len(k.Proofs), errUnchecked)
	}
	return nil
}

// given reads what the proofs are checked against.
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
	if k.Order != "" {
		if given.Order, err = parseFile(k.Order, prooffile.ParseOrder); err != nil {
			return nil, fmt.Errorf("the order: %w", err)
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

// verify checks one proof and writes what it finds. The error is errFindings, errUnchecked, or why it could not be read.
func (k *verify) verify(ctx context.Context, c *console, name string, given *prooffile.Given, out *strings.Builder) error {
	text, err := readProof(ctx, name)
	if err != nil {
		return err
	}
	done := make(chan *prooffile.Result, 1)
	go func() { done <- prooffile.Check(text, given) }() // which may take as long as a forger likes
	result, err := wait(ctx, c.progress, done)
	if err != nil {
		return err
	}
	for _, s := range result.Steps {
		fmt.Fprintf(out, "%-12s %s: %s\n", s.Name, c.state(s.State), s.Detail)
	}
	words, err := k.verdict(result)
	fmt.Fprintf(out, "\n%s\n", words)
	return err
}

// wait returns the result when it is there. After a second it tells a terminal that it is still at work.
func wait(ctx context.Context, progress io.Writer, done <-chan *prooffile.Result) (*prooffile.Result, error) {
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

// state returns the word for what became of a step.
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

// verdict says what the steps come to.
func (k *verify) verdict(r *prooffile.Result) (string, error) {
	if failed := r.Failed(); failed != nil {
		return fmt.Sprintf("This proof does NOT verify. It fails at the step %s.", failed.Name), errFindings
	}
	words, err := k.finding(r)
	if k.Key == "" {
		return "Not established: no key was given, and the one in the file was used. That shows only that the file agrees with itself,\n" +
			"which anybody can bring about. Take the key of the log from somewhere else than the file, and name it with --key.\n" +
			"If the key is the right one: " + words, errUnchecked
	}
	return strings.ToUpper(words[:1]) + words[1:], err
}

// finding says what a proof shows of which no step fails, if its key is that of the log. The first letter is small.
func (k *verify) finding(r *prooffile.Result) (string, error) {
	log := "the log of " + nameOfKey(r.File.LogKey)
	if r.Record.Kind == audit.KindReveal {
		words := fmt.Sprintf("the record is in %s. It says that the seed of %s was made public, and has no order of its own.", log, r.Record.AuditID)
		if r.Unchecked() != nil {
			return words + "\nWhat was given to compare cannot be compared with it.", errUnchecked
		}
		return words, nil
	}
	if r.HeldBack() {
		return "the record is in " + log + ", and its seed is held back: the order cannot be checked until the seed is revealed.\n" +
			"What was committed to cannot be exchanged until then.", errUnchecked
	}
	if step := r.Unchecked(); step != nil {
		return fmt.Sprintf("the replay follows from the seed, and the record is in %s; but the step %s could not be checked.", log, step.Name), errUnchecked
	}
	words := "verified. The order follows from the seed and the record, and the record is in " + log + ".\n"
	if k.Order == "" {
		words += "No order was given to compare it with: name the one that was answered with --order.\n"
	} else {
		words += "It is the order given.\n"
	}
	words += "Whether the seed was drawn more than once before it was recorded, no such proof can show."
	return words, nil
}

// nameOfKey returns the name in a verifier key, which is the origin of the log.
func nameOfKey(key string) string {
	name, _, _ := strings.Cut(key, "+")
	return name
}

// readProof reads a proof file, or fetches it.
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
	defer func() { _ = file.Close() }() // it was only read
	return readLimited(file)
}

// readLimited reads to the end of a proof file.
func readLimited(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxProof+1))
	if err == nil && len(text) > maxProof {
		err = fmt.Errorf("it is longer than %d bytes, and so no proof", maxProof)
	}
	return text, err
}
