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

// A verify checks proof files against the key of the log, the items that were shuffled and the order that was answered.
type verify struct {
	Key    string   `placeholder:"FILE" help:"The key of the log, from somewhere else than the proof: the verifier key as GET /log/key answers it, or the private key, of which only the public half is used."`
	Items  string   `placeholder:"FILE" help:"What was shuffled, as a JSON array. Decks are built in."`
	Order  string   `placeholder:"FILE" help:"What was answered: the whole answer of POST /shuffle, or the JSON array of the order."`
	Hand   string   `placeholder:"FILE" help:"Cards that were drawn from a shoe, with salt and path: the whole answer, an array of cards, or one card."`
	Proofs []string `arg:"" name:"proof" help:"Proof files as GET /audits/{id}/proof answers them, or http(s) URLs of them. That of a commitment goes with that of the shuffle or the shoe that used it. Those of a whole shoe are checked together: one file as GET /shoes/{id}/proof answers it, or the files of all its records."`
}

// Help is the longer text of riffle verify --help.
func (*verify) Help() string {
	return `Checks, in this order: the form of the proof file and its key; the record; the seed and the commitment to it; the keys that follow from it; the order, replayed from them and compared with the one given; the items or the deck, by their digest; that the record is in the tree of the log; the signature of the log; and, where the record says that it used a commitment, that the commitment fixed the same seed and statement, and is earlier in the log. Nothing is asked of any service, unless a proof is a URL.

A hand of cards from a shoe is proven by the proof of the record that sealed it, which each card names as sealed_by: the step hand says whether salt and path lead from every card to the root in that record. That takes no seed, and shows nothing of other cards. Of a whole shoe it is also checked that no record is missing, that every change is of cards that lay where it says, that draws at random follow from their seeds and, once the shoe is closed, that the orders and roots do as well.

For the step committed give the proof of the commitment as well, before or after that of the shuffle: GET /audits/{id}/proof with the commitment_id in the record. Without it the step is left out, and the verdict says so.

It trusts the key that is given, and nothing else. Without --key it uses the one in the file, which shows only that the file agrees with itself.

The exit code is 0 if everything verifies, 1 if something does not, and 2 if it cannot be checked: a file cannot be read, the seed is held back, no key was given, the record is of a kind that this version does not know. Of several proofs, 1 comes before 2 and 2 before 0.`
}

// maxProof is the longest proof file that is read, in bytes: many times what any shuffle can have, and what a shoe has of some
// ten thousand changes.
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

// A proofText is a proof file as it was read, or those of a whole shoe, and what it is checked against.
type proofText struct {
	name   string
	texts  [][]byte      // one for each record
	err    error         // why it could not be read
	record *audit.Record // as the first says; nil if that cannot be read
	given  prooffile.Given
}

// read reads all proofs before any is checked: that of a commitment goes with that of the shuffle or the shoe that names it, and
// those of one shoe go together, whichever comes first.
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
		commitment.given.Items, commitment.given.Order, commitment.given.Hand = nil, nil, nil // they are the shuffle's
	}
	return list
}

// shoeOf returns the first record of the shoe that a record is of; Nil if it is of none.
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

// join puts the files of one shoe together in the first of them, by the versions that they begin with.
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

// claimed returns the record that a file has, of which nothing has been checked, or nil if it cannot be read.
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

// errUnchecked is for what could not be checked to the end. What kept it has been printed.
var errUnchecked = errors.New("it could not be checked")

// outcome is the worst of so many proofs.
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

// verify checks one proof and writes what it finds. The error is errFindings, errUnchecked, or why it was broken off.
func (k *verify) verify(ctx context.Context, c *console, p *proofText, out *strings.Builder) error {
	done := make(chan *prooffile.Result, 1)
	go func() { // which may take as long as a forger likes
		if len(p.texts) > 1 {
			done <- prooffile.CheckShoe(p.texts, &p.given)
		} else {
			done <- prooffile.Check(p.texts[0], &p.given)
		}
	}()
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
	if r.Record == nil {
		return "the record is in " + log + ". It is of a kind that this version does not know, and cannot be checked any further.\n" +
			"A later version may be able to.", errUnchecked
	}
	if r.Whole {
		return ofWholeShoe(r, log)
	}
	if words, err := ofHand(r, log); words != "" {
		return words, err
	}
	if words := about(r.Record); words != "" {
		words = "the record is in " + log + ". " + words
		if r.Unchecked() != nil {
			return words + "\nWhat was given to compare cannot be compared with it.", errUnchecked
		}
		return words, nil
	}
	if r.HeldBack() {
		words := "the record is in " + log + ", and its seed is held back: the order cannot be checked until the seed is revealed.\n" +
			"What was committed to cannot be exchanged until then."
		if r.Record.Root != nil {
			words = "the record is in " + log + ", and its seed is held back until the shoe is closed. The cards were sealed, and none of them can\n" +
				"be exchanged: a hand that was drawn is proven alone, with --hand."
		}
		if committed := committed(r); committed != "" {
			words += "\n" + committed
		}
		return words, errUnchecked
	}
	if step := r.Unchecked(); step != nil {
		return fmt.Sprintf("the replay follows from the seed, and the record is in %s; but the step %s could not be checked.", log, step.Name), errUnchecked
	}
	words := "verified. The order follows from the seed and the record, and the record is in " + log + ".\n"
	if r.Record.Kind != audit.KindShuffle {
		return words + ofSealed(r), nil
	}
	if k.Order == "" {
		words += "No order was given to compare it with: name the one that was answered with --order.\n"
	} else {
		words += "It is the order given.\n"
	}
	if committed := committed(r); committed != "" {
		return words + committed, nil
	}
	return words + "Whether the seed was drawn more than once before it was recorded, no such proof can show.", nil
}

// ofHand says whether a hand holds that was compared with one record. Of a record without a hand it says nothing.
func ofHand(r *prooffile.Result, log string) (string, error) {
	if r.Proven == 0 {
		return "", nil
	}
	words := fmt.Sprintf("the hand is proven. %d card(s) of it were sealed at their positions by the record, which is in %s,\n"+
		"and none of them could be exchanged since.", r.Proven, log)
	if r.Others > 0 {
		words += fmt.Sprintf("\nThe other %d card(s) of the hand are NOT proven by it: give the proof of the record that they name as sealed_by.", r.Others)
	}
	if step := r.Unchecked(); step != nil {
		return words + fmt.Sprintf("\nBut the step %s could not be checked.", step.Name), errUnchecked
	}
	if r.HeldBack() {
		words += "\nThe other cards of the shoe stay hidden until it is closed, and then the whole shoe can be checked."
	}
	if committed := committed(r); committed != "" {
		words += "\n" + committed
	}
	return words, nil
}

// ofSealed says what the verified order of one record of a shoe shows.
func ofSealed(r *prooffile.Result) string {
	words := "That every change of the shoe was of cards that lay where it says, only the proof of the whole shoe shows."
	for _, s := range r.Steps {
		if s.Name == prooffile.StepRoot && s.State == prooffile.OK {
			words = "The cards were sealed in this order.\n" + words
		}
	}
	if committed := committed(r); committed != "" {
		words += "\n" + committed
	}
	return words
}

// ofWholeShoe says what the records of a shoe show together.
func ofWholeShoe(r *prooffile.Result, log string) (string, error) {
	words := "the whole shoe verifies, from its first record to its last, which are in " + log + "."
	step := r.Unchecked()
	switch {
	case step != nil || !r.Closed:
		words = fmt.Sprintf("so far the shoe verifies: its first record and %d change(s) are in %s, and fit together.", r.Changes, log)
	case r.Sealed():
		words += "\nEvery order follows from its seed, every card lay where it is said to have lain, and none was exchanged."
	default:
		words += "\nEvery order follows from its seed, and every change was of cards that lay where it says. Which cards they were was not compared."
	}
	if r.Proven > 0 {
		words += fmt.Sprintf("\nThe hand is proven: %d card(s) of it were sealed at their positions, and none could be exchanged since.", r.Proven)
	}
	if committed := committed(r); committed != "" {
		words += "\n" + committed
	}
	switch {
	case step != nil && step.Name == prooffile.StepClosed:
		return words + "\nIt is not closed: its seeds are held back, and the rest can be checked when they are revealed.", errUnchecked
	case step != nil:
		return words + fmt.Sprintf("\nBut the step %s could not be checked.", step.Name), errUnchecked
	case !r.Closed:
		return words + "\nThe other cards stay hidden until the shoe is closed.", nil
	}
	return words, nil
}

// about says what a record is for that has no order of its own. Of a shuffle it says nothing.
func about(record *audit.Record) string {
	switch record.Kind {
	case audit.KindCommitment:
		return "It is a commitment: the seed and what is to be shuffled cannot be exchanged any more. The seed is held until it is used,\n" +
			"before " + record.Deadline.Format(audit.TimeFormat) + ", by a shuffle or a shoe that names it; if none does, a void follows in the log. It has no order of its own."
	case audit.KindVoid:
		return fmt.Sprintf("It says that the commitment %s was not used in time, and has no order of its own.", record.CommitmentID)
	case audit.KindReveal:
		return fmt.Sprintf("It says that the seed of %s was made public, and has no order of its own.", record.AuditID)
	case audit.KindDraw, audit.KindAdd, audit.KindReturn, audit.KindClose, audit.KindExpire:
		if !record.Deals() {
			return fmt.Sprintf("It is a change of the shoe %s, and has no order of its own: give the proofs of the whole shoe to follow its cards.", record.AuditID)
		}
	case audit.KindShuffle, audit.KindShoe, audit.KindReshuffle:
	}
	return ""
}

// committed says what is known of the commitment that a shuffle or a shoe used. Of one that used none it says nothing.
func committed(r *prooffile.Result) string {
	id := r.Record.CommitmentID
	for _, s := range r.Steps {
		switch {
		case s.Name != prooffile.StepCommitted:
		case s.State == prooffile.OK:
			return fmt.Sprintf("The commitment %s fixed the order, but for the client seed, before the client seed was known:\n"+
				"as far as that was new when the commitment was in the log, no seed can have been picked for its order.", id)
		case s.State == prooffile.Skipped:
			return fmt.Sprintf("It names the commitment %s: give that record's proof as well (GET /audits/%s/proof).\n"+
				"Without it, whether the seed was drawn more than once before it was recorded is not shown.", id, id)
		}
	}
	return ""
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
