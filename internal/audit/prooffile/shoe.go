package prooffile

import (
	"bytes"
	"fmt"
	"strings"

	"riffle/internal/audit"
)

// A ShoeResult is what [VerifyShoe] found.
type ShoeResult struct {
	Steps
	Entry        // of the first record
	Changes int  // how often the shoe was changed
	Closed  bool // the last record closes the shoe
	Proven  int  // how many cards of the hand are proven; 0 if the step hand does not hold
	match   *Match
}

// Sealed reports whether the records have roots, and each is the root of the shoe's cards.
func (r *ShoeResult) Sealed() bool { return r.Has(StepRoot, OK) }

// VerifyShoe verifies a whole shoe by the proof files of all its records, from the first to the
// last; of several files of a record, the first counts. It adds the steps of docs/shoes.md, "The whole shoe". A step that every file has is
// reported once for all of them.
func VerifyShoe(texts [][]byte, given *Given) *ShoeResult {
	s := &shoeChecker{ShoeResult: &ShoeResult{}, given: given}
	if len(texts) == 0 {
		s.add(StepProof, Wrong, "there are no proof files")
		return s.ShoeResult
	}
	s.checkFiles(texts, func(*audit.Record) State { return Unchecked })
	first, last := s.records[0], s.records[len(s.records)-1]
	s.Entry, s.match, s.Changes = first.Entry, first.match, len(s.records)-1

	s.inEvery(StepProof, "%d files are well-formed; %s", len(s.files), s.trust())
	if s.Unchecked() != nil {
		return s.ShoeResult
	}
	if s.Failed() == nil {
		s.described()
	}
	if s.Has(StepRecord, OK) {
		s.Closed = last.Record.Kind == audit.KindClose
		err := s.chain()
		s.check(StepChain, err, "each of the versions 1 to %d has its record, in the order of the log, from number %d to number %d", len(s.records), first.File.Inclusion.Index, last.File.Inclusion.Index)
	}
	s.seeds()
	s.replayed("commitment", "seed", "%s: each opens the commitment in its record%s")
	s.replayed("keys", "order", "the keys of %s derived%s")
	s.replayed(StepOrder, "order", "%s replayed%s")
	s.ofFirst(StepItems)
	s.inEvery(StepInclusion, "every record is in the tree of its file")
	s.inEvery(StepSignature, "every checkpoint is signed with the key")
	if s.Record != nil {
		s.committed()
	}
	if s.Failed() != nil || !s.Has(StepRecord, OK) {
		return s.ShoeResult
	}

	t := newTracker(first)
	if s.moves(t); s.Failed() != nil {
		return s.ShoeResult
	}
	s.roots(t)
	if given.Hand != nil {
		s.hand(t)
	}
	s.closed()
	return s.ShoeResult
}

// A shoeFile is one proof file of a shoe, and the steps that it has alone.
type shoeFile struct {
	Steps
	Entry
	dealing
}

// checkFiles checks every file alone. If no key is given, all have to have the key of the first.
// heldBack returns the state of the step order of a record whose seed is secret.
func (s *shoeChecker) checkFiles(texts [][]byte, heldBack func(*audit.Record) State) {
	given, key := s.given, s.given.Key
	for i, text := range texts {
		alone := &Given{Decks: given.Decks}
		if i == 0 {
			alone.Items, alone.ItemsSalt, alone.Order, alone.HandOf = given.Items, given.ItemsSalt, given.Order, given.HandOf
		}
		f := &shoeFile{}
		c := &checker{Steps: &f.Steps, Entry: &f.Entry}
		if c.proof(text, key) {
			if c.record() {
				f.dealing = c.replay(alone, heldBack(f.Record))
			}
			c.inclusion()
			c.signature()
			if key == "" {
				key = f.File.LogKey
			}
		}
		s.files = append(s.files, f)
	}
	for _, f := range s.files {
		if last := len(s.records) - 1; last < 0 || !f.isOf(s.records[last]) {
			s.records = append(s.records, f)
		}
	}
}

// isOf reports whether two files are of the same record.
func (f *shoeFile) isOf(other *shoeFile) bool {
	return f.Record != nil && other.Record != nil && bytes.Equal(f.File.Record, other.File.Record)
}

// A shoeChecker adds the steps of a whole shoe.
type shoeChecker struct {
	*ShoeResult
	given   *Given
	files   []*shoeFile
	records []*shoeFile // one file of each record
}

// inEvery adds a step that the files have in common: the first one that fails or is unchecked, or
// else an OK one with the formatted detail.
func (s *shoeChecker) inEvery(name, format string, args ...any) {
	found := false
	for _, state := range []State{Wrong, Unchecked} {
		for i, f := range s.files {
			step := f.Find(name)
			found = found || step != nil
			if step != nil && step.State == state {
				s.add(name, state, "file %d, from 1: %s", i+1, step.Detail)
				return
			}
		}
	}
	if found {
		s.add(name, OK, format, args...)
	}
}

// trust says which log key all files have.
func (s *shoeChecker) trust() string {
	if s.given.Key == "" {
		return "no log key was given: the one in the first is used"
	}
	return "all have the log key that was given"
}

// committed adds the step committed of the first record.
func (s *shoeChecker) committed() {
	c := &checker{Steps: &s.Steps, Entry: &s.Entry}
	c.committed(s.given.Commitment)
}

// described adds the step record.
func (s *shoeChecker) described() {
	first := ""
	if s.Record != nil {
		first = describe(s.Record)
	}
	s.inEvery(StepRecord, "%s; %s", first, audit.Count(s.Changes, "change"))
}

// chain checks that the records are one shoe's, from the first on.
func (s *shoeChecker) chain() error {
	if s.Record.Kind != audit.KindShoe {
		return fmt.Errorf("the first record is of kind %s, and that of a shoe has to be", s.Record.Kind)
	}
	for i, f := range s.files[1:] {
		if at, other := f.File.Inclusion.Index, s.files[i].File.Inclusion.Index; f.isOf(s.files[i]) && at != other {
			return fmt.Errorf("the record %s is number %d and number %d in the log", f.Record.ID, other, at)
		}
	}
	for i, f := range s.records[1:] {
		r, before := f.Record, s.records[i]
		version := uint64(i + 2)
		switch {
		case !r.Kind.ChangesShoe():
			return fmt.Errorf("the record %s is of kind %s, and changes no shoe", r.ID, r.Kind)
		case r.AuditID != s.Record.ID:
			return fmt.Errorf("the record %s is of another shoe, %s", r.ID, r.AuditID)
		case r.Version != version:
			return fmt.Errorf("the record %s made version %d, where version %d has to follow", r.ID, r.Version, version)
		case f.File.Inclusion.Index <= before.File.Inclusion.Index:
			return fmt.Errorf("version %d is number %d in the log, from 0, and so not after the one before, which is number %d", version, f.File.Inclusion.Index, before.File.Inclusion.Index)
		case !r.States() && r.Commitment != s.Record.Commitment:
			return fmt.Errorf("version %d has not the commitment of the shoe", version)
		case before.Record.Kind == audit.KindClose:
			return fmt.Errorf("version %d follows the close of the shoe", version)
		case before.Record.Kind == audit.KindExpire && r.Kind != audit.KindClose:
			return fmt.Errorf("version %d is a %s, and the shoe was over", version, r.Kind)
		}
	}
	return nil
}

// seeds adds the step seed: how many seeds there are, and the first warning about one.
func (s *shoeChecker) seeds() {
	there, warning := 0, ""
	for _, f := range s.files {
		if !f.Has("seed", OK) {
			continue
		}
		there++
		if detail := f.Find("seed").Detail; warning == "" && strings.Contains(detail, "warning") {
			warning = ": " + detail
		}
	}
	switch {
	case there > 0:
		s.add("seed", OK, "%s%s%s", audit.Count(there, "seed"), warning, s.except())
	case s.heldBack() > 0:
		s.add("seed", Skipped, "%s", s.withoutSeed())
	}
}

// heldBack returns the number of seeds that are held back.
func (s *shoeChecker) heldBack() (n int) {
	for _, f := range s.records {
		if f.HeldBack() {
			n++
		}
	}
	return n
}

// withoutSeed says why some files have no seed.
func (s *shoeChecker) withoutSeed() string {
	if s.Closed {
		return audit.Count(s.heldBack(), "seed") + " held back in these files, and public since the shoe was closed: get the files again"
	}
	return audit.Count(s.heldBack(), "seed") + " held back until the shoe is closed"
}

// except returns withoutSeed as the end of a sentence; it is empty if no seed is held back.
func (s *shoeChecker) except() string {
	if s.heldBack() == 0 {
		return ""
	}
	return "; " + s.withoutSeed()
}

// replayed adds a step that every file with a seed has. The arguments of the format are the number
// of those files, as a number of what, and the result of except.
func (s *shoeChecker) replayed(name, what, format string) {
	done, held := 0, s.heldBack()
	for _, f := range s.files {
		if f.Has(name, Wrong) {
			s.inEvery(name, "")
			return
		}
		if f.Has(name, OK) {
			done++
		}
	}
	state := OK
	switch isOrder := name == StepOrder; {
	case done+held == 0:
		return
	case isOrder && s.given.Order != nil && s.match == nil:
		s.inEvery(name, "")
		return
	case isOrder && held > 0 && s.given.Hand == nil:
		state = Unchecked
	case isOrder && held > 0, done == 0:
		state = Skipped
	}
	s.add(name, state, format, audit.Count(done, what), s.except())
}

// moves adds the step moves: whether every change is one that the rules allow, of the cards that
// lay there.
func (s *shoeChecker) moves(t *tracker) {
	for i, f := range s.records[1:] {
		if err := t.change(f); err != nil {
			s.add(StepMoves, Wrong, "version %d: %s", i+2, err)
			return
		}
	}
	detail := fmt.Sprintf("every change was of cards that lay where it says; %d lie in the deck, %d are dealt, %s", t.layout.Deck.Len(), t.layout.Dealt.Len(), audit.Count(len(t.layout.Piles), "pile"))
	if t.random > 0 {
		s.add(StepMoves, Unchecked, "%s; but %s at random without a seed", detail, audit.Count(t.random, "draw"))
		return
	}
	s.add(StepMoves, OK, "%s", detail)
}

// roots adds the step root: whether every root is the root of the cards in their order.
func (s *shoeChecker) roots(t *tracker) {
	switch {
	case t.wrongRoot != nil:
		s.add(StepRoot, Wrong, "%s", t.wrongRoot)
	case t.roots+t.unknown == 0:
		s.add(StepRoot, Skipped, "nothing was sealed")
	case t.unknown == 0:
		s.add(StepRoot, OK, "salts from the seeds and the cards in their orders have the roots in %s", audit.Count(t.roots, "record"))
	case s.heldBack() > 0:
		s.add(StepRoot, Skipped, "%s", s.withoutSeed())
	default:
		s.add(StepRoot, Skipped, "the cards are not known, for the items were not given")
	}
}

// hand adds the step hand: whether every card of it was sealed by a record of this shoe.
func (s *shoeChecker) hand(t *tracker) {
	h := s.given.Hand
	proven, missing, wrong := h.prove(t.sealings...)
	switch others := len(h.cards) - len(proven); {
	case wrong != nil:
		s.add(StepHand, Wrong, "%s", wrong)
	case missing != nil:
		s.add(StepHand, Unchecked, "%s", missing)
	case others > 0:
		s.add(StepHand, Unchecked, "%s of the hand, sealed by no record of this shoe", audit.Count(others, "card"))
	default:
		s.Proven = len(proven)
		s.add(StepHand, OK, "%s", h.describe(proven))
	}
}

// closed adds the step closed.
func (s *shoeChecker) closed() {
	if s.Closed {
		s.add(StepClosed, OK, "the last record closes the shoe")
		return
	}
	state := Unchecked
	if s.given.Hand != nil {
		state = Skipped // only the hand must be proven
	}
	s.add(StepClosed, state, "the last record does not close the shoe: what was not seen stays hidden until it is closed, and more changes may follow")
}
