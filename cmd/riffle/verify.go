package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// A verify checks proof files against the key of the log, the items that were shuffled and the
// order that was answered.
type verify struct {
	Key       string   `placeholder:"FILE-OR-KEY" help:"The key of the log, from somewhere else than the proof: the verifier key as GET /log/key answers it, or a file with it or with the private key, of which only the public half is used."`
	Items     string   `placeholder:"FILE" help:"What was shuffled, as a JSON array. Decks are built in."`
	ItemsSalt string   `placeholder:"SALT" help:"The items_salt that the items were sent with."`
	Order     string   `placeholder:"FILE" help:"What was answered: the whole answer of POST /shuffle, or the JSON array of the order."`
	Hand      string   `placeholder:"FILE" help:"Cards that were drawn from a shoe, with salt and path: the whole answer, an array of cards, or one card."`
	From      string   `placeholder:"URL" help:"The service that has the proofs. A proof can then be an audit id; the proof of its commitment is fetched as well. With a token in RIFFLE_TOKEN, the service is sent it."`
	Log       logName  `placeholder:"NAME" help:"Which log of the service --from fetches from: the one below /logs/NAME."`
	JSON      bool     `name:"json" help:"Print the verdict and the steps as JSON."`
	Report    string   `placeholder:"FILE" help:"Write the verdict and the steps to an HTML page that can be printed and filed, such as report.html."`
	Proofs    []string `arg:"" name:"proof" help:"Proof files as GET /audits/{id}/proof answers them, http(s) URLs of them or, with --from, audit ids. That of a commitment goes with that of the shuffle or the shoe that used it. Those of a whole shoe are checked together: one file as GET /shoes/{id}/proof answers it, or the files of all its records."`
}

// Help is the longer text of riffle verify --help.
func (*verify) Help() string {
	return `Checks, in this order: the form of the proof file and its key; the record; the seed and the commitment to it; the keys that follow from it; the order, replayed from them and compared with the one given; the items or the deck, by their digest; that the record is in the tree of the log; the signature of the log; and, where the record says that it used a commitment, that the commitment fixed the same seed and statement, and is earlier in the log. Nothing is asked of any service, unless a proof is a URL or an audit id.

White space, escapes and the order of members do not matter in any file, nor whether it has gone through a database or a pretty-printer. What the members hold does, to the byte.

Of a whole answer, --order compares the audit id, the place in the log, the algorithm, the commitment and the seed as well.

A hand of cards from a shoe is proven by the proofs of the records that sealed it, which each card names as sealed_by: the step hand says whether salt and path lead from every card to the root in that record. That takes no seed, and shows nothing of other cards. Of a whole shoe it is also checked that no record is missing, that every change is of cards that lay where it says, that draws at random follow from their seeds and, once the shoe is closed, that the orders and roots do as well.

For the step committed give the proof of the commitment as well, before or after that of the shuffle: GET /audits/{id}/proof with the commitment_id in the record. Without it the step is left out, and the verdict says so.

It trusts the key that is given, and nothing else. Without --key it uses the one in the file, which shows only that the file agrees with itself. With --from and without --key it uses the key that the service had when it was first asked, and says where that is saved: compare it with the key from somewhere else.

The exit code is 0 if everything that was given verifies, 1 if something is false, and 2 if it cannot be checked: a file cannot be read or is no proof, the seed is held back, a card of the hand is sealed by a record that was not given, no key was given, the record is of a kind that this version does not know. Of several proofs, 1 comes before 2 and 2 before 0.`
}

// maxProof is the largest proof file that is read, in bytes: many times what a shuffle can have,
// and enough for ten thousand changes of a shoe.
const maxProof = 1 << 26

// Run checks the proofs and prints what it finds.
func (k *verify) Run(ctx context.Context, c *console) error {
	found, err := k.check(ctx, c)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil { // nothing was begun
		found = &findings{verdict: verdict{Verdict: verdictUnchecked, Headline: "Not checked: " + err.Error() + ".", Notes: []string{}, Steps: []step{}}, Proofs: []proofVerdict{}}
	}
	if k.Report != "" {
		if err := writeReport(k.Report, found); err != nil {
			return err
		}
	}
	if err := k.print(c, found, err == nil); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	if err != nil {
		return err
	}
	return found.err()
}

// check checks the proofs. The error says why it could not begin.
func (k *verify) check(ctx context.Context, c *console) (*findings, error) {
	given, err := k.given()
	if err != nil {
		return nil, err
	}
	found := &findings{}
	service, err := k.service()
	if err == nil && service != nil && k.Key == "" {
		given.Key, found.warning, err = service.trustedKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	if found.warning != "" {
		_, _ = fmt.Fprintln(c.messages, "riffle: warning:", found.warning)
	}
	for _, p := range k.read(ctx, service, given) {
		v := proofVerdict{Files: p.names, Digests: p.digests}
		if p.err != nil {
			v.verdict = verdict{Verdict: verdictUnchecked, Headline: fmt.Sprintf("Not checked: %s: %s.", p.names[0], p.err), Notes: []string{}, Steps: []step{}}
		} else {
			one, err := wait(ctx, c.progress, p.check)
			if err != nil {
				return nil, err
			}
			v.verdict = *one
		}
		found.Proofs = append(found.Proofs, v)
	}
	found.conclude()
	return found, nil
}

// A proofText is a proof file, or several that are checked together: those of a whole shoe, or of
// the records that sealed a hand.
type proofText struct {
	names   []string
	digests []string      // SHA-256 of each file
	texts   [][]byte      // one for each record
	err     error         // why it could not be read
	record  *audit.Record // of the first text, unchecked; nil if it cannot be parsed
	given   prooffile.Given
}

// read reads all proofs before any is checked. It adds the proof of a commitment to that of the
// shuffle or the shoe that names it, and joins those of one shoe and of one hand, in any order.
func (k *verify) read(ctx context.Context, service *service, given *prooffile.Given) (list []*proofText) {
	for _, name := range k.Proofs {
		list = append(list, readTexts(ctx, service, name, given)...)
	}
	if service != nil {
		list = append(list, service.missing(ctx, list, given)...)
	}
	list = takeCommitments(list)
	shoes := map[uuid.UUID][]*proofText{}
	for _, p := range list {
		if id := shoeOf(p.record); id != uuid.Nil {
			shoes[id] = append(shoes[id], p)
		}
	}
	var hand []*proofText // those that sealed its cards
	for _, p := range list {
		if parts := shoes[shoeOf(p.record)]; given.Hand != nil && parts != nil && !slices.ContainsFunc(parts, changes) {
			hand = append(hand, p)
			delete(shoes, shoeOf(p.record))
			hand = append(hand, parts[1:]...)
		}
	}
	joined := map[*proofText]bool{}
	join(hand, joined)
	for _, parts := range shoes {
		join(parts, joined)
	}
	return slices.DeleteFunc(list, func(p *proofText) bool { return joined[p] })
}

// readTexts reads the proof files of a text. Those that are of no shoe are checked one by one.
func readTexts(ctx context.Context, service *service, name string, given *prooffile.Given) (list []*proofText) {
	text, err := service.readProof(ctx, name)
	if err != nil {
		return []*proofText{{names: []string{name}, digests: []string{""}, err: err}}
	}
	texts := prooffile.Split(text)
	record := claimed(texts[0])
	parts := [][][]byte{texts}
	if record != nil && shoeOf(record) == uuid.Nil {
		parts = slices.Collect(slices.Chunk(texts, 1))
	}
	for _, part := range parts {
		list = append(list, &proofText{
			names: []string{name}, digests: []string{fmt.Sprintf("%x", sha256.Sum256(text))}, texts: part, record: claimed(part[0]), given: *given,
		})
	}
	return list
}

// takeCommitments gives each proof the one of the commitment that its record names, and returns the
// others: the step committed checks those that are taken.
func takeCommitments(list []*proofText) []*proofText {
	taken := map[*proofText]bool{}
	for _, p := range list {
		if p.record == nil || !p.record.UsesCommitment() {
			continue
		}
		for _, c := range list {
			if c.record != nil && c.record.ID == p.record.CommitmentID && c.record.Kind == audit.KindCommitment {
				p.given.Commitment = c.texts[0]
				taken[c] = true
				break
			}
		}
	}
	return slices.DeleteFunc(list, func(p *proofText) bool { return taken[p] })
}

// changes reports whether any of the texts is of a record that seals no cards, such as a draw.
func changes(p *proofText) bool {
	return slices.ContainsFunc(p.texts, func(text []byte) bool {
		record := claimed(text)
		return record == nil || record.Kind != audit.KindShoe && record.Kind != audit.KindReshuffle
	})
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

// join joins several in the first of them, sorted by the versions that they begin with. It marks the
// others as joined.
func join(parts []*proofText, joined map[*proofText]bool) {
	if len(parts) < 2 {
		return
	}
	for _, p := range parts[1:] {
		joined[p] = true
	}
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b *proofText) int { return cmp.Compare(a.record.Version, b.record.Version) })
	whole := *sorted[0]
	whole.names, whole.digests, whole.texts = nil, nil, nil
	for _, p := range sorted {
		whole.names, whole.digests, whole.texts = append(whole.names, p.names...), append(whole.digests, p.digests...), append(whole.texts, p.texts...)
		if whole.given.Commitment == nil {
			whole.given.Commitment = p.given.Commitment
		}
	}
	*parts[0] = whole
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

// given reads the files that the proofs are checked against.
func (k *verify) given() (*prooffile.Given, error) {
	given := &prooffile.Given{}
	var err error
	if given.Decks, err = deck.Builtin(); err != nil {
		return nil, err
	}
	if k.Key != "" {
		if given.Key, err = readKey(k.Key); err != nil {
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

// readKey returns the key that a flag is, or that is in the file of that name.
func readKey(keyOrFile string) (string, error) {
	if _, err := prooffile.Verifier(keyOrFile); err == nil {
		return keyOrFile, nil
	}
	return readVerifierKey(keyOrFile)
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

// check picks the verifier for what was given: for one record, for a hand, or for a whole shoe.
func (p *proofText) check() *verdict {
	given, keyGiven := &p.given, p.given.Key != ""
	switch {
	case given.Hand != nil && (len(p.texts) == 1 || !changes(p)):
		r := prooffile.VerifyHand(p.texts, given)
		v := newVerdict(r.Steps)
		v.conclude(r.Steps, keyGiven, func() { v.ofHand(r) })
		return v
	case len(p.texts) > 1:
		r := prooffile.VerifyShoe(p.texts, given)
		v := newVerdict(r.Steps)
		v.conclude(r.Steps, keyGiven, func() { v.ofShoe(r) })
		return v
	default:
		r := prooffile.VerifyRecord(p.texts[0], given)
		v := newVerdict(r.Steps)
		v.conclude(r.Steps, keyGiven, func() { v.ofRecord(r.Steps, &r.Entry, given) })
		return v
	}
}

// wait waits for a check, which may take for ever if the proof is forged. After a second it shows
// progress on a terminal.
func wait(ctx context.Context, progress io.Writer, check func() *verdict) (*verdict, error) {
	done := make(chan *verdict, 1)
	go func() { done <- check() }()
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

// readLimited reads a file of at most limit bytes.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it is longer than %d bytes, and so no proof", limit)
	}
	return text, err
}
