package prooffile

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/ledger/proof"
	"riffle/internal/shoe"
)

// A State is what became of a step.
type State int

// The states of a step.
const (
	OK        State = iota // it holds
	Wrong                  // it does not hold
	Unchecked              // it was asked for, or has to hold, and what it takes is not there
	Skipped                // nobody has asked for it, or there is nothing of the kind
)

// The steps, in their order.
const (
	StepProof     = "proof"
	StepRecord    = "record"
	StepOrder     = "order"
	StepItems     = "items"
	StepRoot      = "root"
	StepHand      = "hand"
	StepInclusion = "inclusion"
	StepSignature = "signature"
	StepCommitted = "committed"
)

// The steps that only a whole shoe has, in their order: chain stands after record, the others at the end, with root and hand
// between them.
const (
	StepChain  = "chain"
	StepMoves  = "moves"
	StepClosed = "closed"
)

// A Step is one check of a file.
type Step struct {
	Name   string
	State  State
	Detail string // what was found, in plain words; no seed, and nothing but printable characters
}

// Given is what a file is checked against. Whatever is missing is not checked.
type Given struct {
	Key   string          // the verifier key of the log; empty for the one in the file, which shows little
	Items *Items          // what was shuffled; nil if it is not known
	Order *Order          // what was answered; nil if it is not known
	Hand  *Hand           // cards that were drawn from a shoe; nil if there are none to check
	Decks *deck.Catalogue // whose cards are known
	// Commitment is the text of the proof file of the commitment that the record names; nil if it is not known.
	Commitment []byte
}

// A Result is the outcome of a check.
type Result struct {
	Steps  []Step
	File   *File         // nil if it could not be read
	Record *audit.Record // nil if it could not be read, or is of a kind that is not known here

	Proven  int  // how many cards of the hand hold
	Others  int  // how many were sealed by other records
	Changes int  // of a whole shoe: how often it was changed
	Whole   bool // it is the result of [CheckShoe], and File and Record are of the first file
	Closed  bool // of a whole shoe: its last record closes it

	orders [][]uint64 // the replayed positions of a record of a shoe; nil if they are not known
	text   text       // the cards of a shoe's first record; nil if they are not known
}

// Failed returns the first step that does not hold, or nil.
func (r *Result) Failed() *Step { return r.first(Wrong) }

// Unchecked returns the first step that could not be checked, or nil.
func (r *Result) Unchecked() *Step { return r.first(Unchecked) }

func (r *Result) first(s State) *Step {
	for i := range r.Steps {
		if r.Steps[i].State == s {
			return &r.Steps[i]
		}
	}
	return nil
}

// HeldBack reports whether an order follows from the record with its seed, and the file has none.
func (r *Result) HeldBack() bool {
	return r.Record != nil && r.Record.Deals() && r.File.Seed == nil
}

// Check goes through the steps of the specification. A replay takes as long as the record says that the shuffle took,
// which may be for ever. Inclusion, signature and commitment are told of every file that can be read, whatever else is
// wrong.
func Check(text []byte, given *Given) *Result {
	r := &Result{}
	r.entry(text, given.Key, func() { r.shuffle(given) })
	if r.Record != nil {
		r.committed(given)
	}
	return r
}

// entry goes through the steps that there are for every record: what the file and the record say, and that the record is in
// the log. In their midst come those of what was shuffled, if all holds so far.
func (r *Result) entry(text []byte, key string, shuffled func()) {
	verifier, checkpoint := r.proof(text, key)
	if r.Failed() != nil {
		return
	}
	if r.record(); r.Record != nil {
		shuffled()
	}
	r.inclusion(checkpoint.body)
	r.signature(checkpoint, verifier)
}

// step notes a step that holds, or the error that says why it does not.
func (r *Result) step(name string, err error, format string, args ...any) {
	if err != nil {
		r.note(name, Wrong, "%s", err)
		return
	}
	r.note(name, OK, format, args...)
}

func (r *Result) note(name string, state State, format string, args ...any) {
	r.Steps = append(r.Steps, Step{Name: name, State: state, Detail: printable(fmt.Sprintf(format, args...))})
}

// printable replaces what could move the cursor of a terminal: files come from strangers, and errors quote them.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c >= 0x2028 && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return '\uFFFD'
		}
		return c
	}, text)
}

// proof reads the file and returns the key that checks it.
func (r *Result) proof(text []byte, given string) (note.Verifier, checkpoint) {
	file, key, checkpoint, err := read(text)
	if err == nil && given != "" && given != file.LogKey {
		err = fmt.Errorf("the log of the file has the key %s, and the key given is %s", file.LogKey, given)
	}
	trust := "its log key is the one given"
	if given == "" {
		trust = "no log key was given: the one in the file is used"
	}
	if r.step(StepProof, err, "the file is well-formed; %s", trust); err == nil {
		r.File = file
	}
	return key, checkpoint
}

func read(text []byte) (*File, note.Verifier, checkpoint, error) {
	file, err := Parse(text)
	if err != nil {
		return nil, nil, checkpoint{}, err
	}
	key, err := Verifier(file.LogKey)
	if err != nil {
		return nil, nil, checkpoint{}, err
	}
	c, err := unsigned(file.Inclusion.Checkpoint)
	return file, key, c, err
}

// Verifier reads a verifier key that is in its one form.
func Verifier(text string) (note.Verifier, error) {
	err := errors.New("the log key is none: it has to be the verifier key of a log, <name>+<key hash>+<key>")
	verifier, bad := note.NewVerifier(text)
	if bad != nil {
		return nil, err
	}
	parts := strings.SplitN(text, "+", 3) // NewVerifier has found three, and takes capitals and unused bits as well
	if _, bad := base64.StdEncoding.Strict().DecodeString(parts[2]); bad != nil || strings.ToLower(parts[1]) != parts[1] {
		return nil, err
	}
	return verifier, nil
}

// A checkpoint is what a file says of the tree, and who is to have signed that.
type checkpoint struct {
	body       proof.Checkpoint
	text       string // the lines that are signed
	signatures []note.Signature
}

// unsigned reads a checkpoint, whoever has signed it.
func unsigned(signed []byte) (c checkpoint, err error) {
	_, err = note.Open(signed, note.VerifierList())
	unverified := (*note.UnverifiedNoteError)(nil)
	if !errors.As(err, &unverified) {
		return c, errors.New("its checkpoint is no signed note")
	}
	c.text, c.signatures = unverified.Note.Text, unverified.Note.UnverifiedSigs
	for _, s := range c.signatures {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return c, errors.New("a signature of its checkpoint is not in its one form")
		}
	}
	if c.body, err = proof.ParseCheckpoint(c.text); err != nil {
		return c, errors.New("its checkpoint is not three lines: origin, size and root")
	}
	if c.body.Size == 0 {
		return c, errors.New("its checkpoint is of a log that has no records")
	}
	return c, nil
}

// signedBy returns an error unless the key has signed the checkpoint, for the log of its name: it has to verify every line
// of its name and hash, so that no line of it can be changed.
func (c *checkpoint) signedBy(key note.Verifier) error {
	if c.body.Origin != key.Name() {
		return fmt.Errorf("the checkpoint is of %q, and the key is of %q", c.body.Origin, key.Name())
	}
	signed := false
	for _, s := range c.signatures {
		if s.Name != key.Name() || s.Hash != key.KeyHash() {
			continue
		}
		const hash = 4 // bytes before the signature
		signature, err := base64.StdEncoding.DecodeString(s.Base64)
		if err != nil || !key.Verify([]byte(c.text), signature[hash:]) {
			return errors.New("a signature of the checkpoint, of the name and hash of the key, is wrong")
		}
		signed = true
	}
	if !signed {
		return fmt.Errorf("the checkpoint is not signed by the key of %s", key.Name())
	}
	return nil
}

// record reads the record, and compares what the file says of it.
func (r *Result) record() {
	record, err := audit.ParseRecord(r.File.Record)
	if errors.Is(err, audit.ErrUnknownKind) {
		r.note(StepRecord, Unchecked, "%s: a later version may be able to check it", err)
		return
	}
	switch {
	case err != nil:
	case r.File.ClientSeed != record.ClientSeed:
		err = errors.New("the client seed of the file is not that of the record")
	case !record.Deals() && r.File.Seed != nil:
		err = fmt.Errorf("a record of kind %s has no seed, and the file has one", record.Kind)
	}
	if err != nil {
		r.step(StepRecord, err, "")
		return
	}
	r.Record = record
	r.note(StepRecord, OK, "%s", describe(record))
}

// describe says what a record is of.
func describe(record *audit.Record) string {
	text := fmt.Sprintf("%s, of %s: ", record.ID, record.Time.Format(audit.TimeFormat))
	switch record.Kind {
	case audit.KindReveal:
		return text + fmt.Sprintf("the seed of %s was made public", record.AuditID)
	case audit.KindVoid:
		return text + fmt.Sprintf("the commitment %s was not used in time", record.CommitmentID)
	case audit.KindCommitment:
		return text + "a commitment to " + stated(&record.Statement) + ", until " + record.Deadline.Format(audit.TimeFormat)
	case audit.KindShoe:
		text += "a shoe: " + ofShoe(&record.Statement)
		if record.AuditID != uuid.Nil {
			text += fmt.Sprintf("; it replaces the shoe %s", record.AuditID)
		}
		return text
	case audit.KindDraw, audit.KindAdd, audit.KindReturn, audit.KindReshuffle, audit.KindClose, audit.KindExpire:
		return text + fmt.Sprintf("version %d of the shoe %s: ", record.Version, record.AuditID) + changed(record)
	case audit.KindShuffle:
	}
	return text + stated(&record.Statement)
}

// ofShoe says what the statement of a shoe is of.
func ofShoe(s *audit.Statement) string {
	if s.Draw > 0 {
		return stated(s)
	}
	text := fmt.Sprintf("%d, which lie as the input has them", s.Size)
	if s.Reference != "" {
		text += fmt.Sprintf("; reference %q", s.Reference)
	}
	return text
}

// changed says what a change has done to a shoe.
func changed(record *audit.Record) string {
	switch record.Kind {
	case audit.KindReshuffle:
		return fmt.Sprintf("%s, %d card(s), sealed in a new order by %s", where(record.From), record.Statement.Size, record.Statement.Algorithm)
	case audit.KindClose:
		return "closed"
	case audit.KindExpire:
		return "over, and not closed"
	default: // cards were moved
	}
	var how string
	switch record.Taken {
	case shoe.Random:
		how = "at random from"
	case shoe.Named:
		how = "by name from"
	default:
		how = "from the " + string(record.Taken) + " of"
	}
	text := fmt.Sprintf("%d card(s) taken %s %s", record.Cards.Len(), how, where(record.From))
	if record.To == shoe.Dealt {
		return text
	}
	return text + fmt.Sprintf(" and put to the %s of %s", record.Put, where(record.To))
}

// where says what a place is.
func where(p shoe.Place) string {
	switch p {
	case shoe.Deck:
		return "the deck"
	case shoe.Dealt:
		return "the dealt cards"
	case shoe.Out:
		return "wherever they lay out of the deck"
	case shoe.All:
		return "all cards"
	}
	return "the " + string(p)
}

// stated says what a statement is of.
func stated(s *audit.Statement) string {
	text := fmt.Sprintf("%d of %d, shuffled by %s", s.Draw, s.Size, s.Algorithm)
	if s.Repeat > 1 {
		text += fmt.Sprintf(", %d times", s.Repeat)
	}
	if s.Reference != "" {
		text += fmt.Sprintf("; reference %q", s.Reference)
	}
	return text
}

// shuffle checks what there is to a shuffle, or to a record that shuffles something of a shoe: that the order follows from the seed and the record, and that it is the one
// that was answered.
func (r *Result) shuffle(given *Given) {
	switch {
	case !r.Record.Deals():
		r.absent(given, "a record of kind "+string(r.Record.Kind)+" has none")
	case r.File.Seed == nil:
		for _, name := range []string{"seed", "commitment", "keys"} {
			r.note(name, Skipped, "the seed is held back")
		}
		state := Unchecked
		if given.Hand != nil && r.Record.Root != nil { // the hand is what is to be proven
			state = Skipped
		}
		r.note(StepOrder, state, "the seed is held back, and the order follows from it")
		r.cards(given)
	default:
		r.replay(given)
	}
	r.ofHand(given)
}

// cards compares what was shuffled as items does, and keeps what is sealed of it.
func (r *Result) cards(given *Given) card {
	known := r.items(given)
	if known != nil && r.Record.Kind == audit.KindShoe {
		r.text = r.texts(given)
	}
	return known
}

// absent notes that there are neither order nor items to compare with those given.
func (r *Result) absent(given *Given, why string) {
	if given.Order != nil {
		r.note(StepOrder, Unchecked, "%s", why)
	}
	if given.Items != nil {
		r.note(StepItems, Unchecked, "%s", why)
	}
}

func (r *Result) replay(given *Given) {
	keep := uint64(0)
	if given.Order != nil {
		keep = given.Order.count
	}
	if r.Record.Kind != audit.KindShuffle {
		keep = max(keep, shoe.MaxCards)
	}
	v := audit.Verify(r.File.Record, r.File.Seed, keep)
	for _, s := range v.Steps[1:] { // the first is the record, of which more was said
		state := OK
		if !s.OK {
			state = Wrong
		}
		r.note(s.Name, state, "%s", s.Detail)
	}
	if !v.OK {
		return
	}
	order := &r.Steps[len(r.Steps)-1]
	order.Detail += "; the SHA-256 of the positions is " + v.OrderDigest
	at := len(r.Steps) - 1
	if r.Record.Kind != audit.KindShuffle {
		r.orders = v.Orders
	}
	known := r.cards(given)
	r.root()
	if given.Order == nil {
		return
	}
	order = &r.Steps[at]
	if known == nil {
		order.State, order.Detail = Unchecked, "replayed, but it takes the items of the record to compare it with the order given"
		return
	}
	if err := given.Order.compare(r.Record, v.Orders, known); err != nil {
		order.State, order.Detail = Wrong, printable(err.Error())
		return
	}
	order.Detail += "; it is the order given"
}

// inclusion checks that the record is in the tree of the checkpoint.
func (r *Result) inclusion(c proof.Checkpoint) {
	p := r.File.Inclusion
	var err error
	if p.Index >= c.Size {
		err = fmt.Errorf("the tree has %d records, and this is to be number %d, from 0", c.Size, p.Index)
	} else if !p.Leads(r.File.Record, c) {
		err = errors.New("the hashes do not lead from this record to the root of the checkpoint")
	}
	r.step(StepInclusion, err, "the record is number %d, from 0, of the %d in the tree", p.Index, c.Size)
}

// signature checks that the key has signed the checkpoint, for the log of its name.
func (r *Result) signature(c checkpoint, key note.Verifier) {
	r.step(StepSignature, c.signedBy(key), "the checkpoint is signed with the key of %s", key.Name())
}
