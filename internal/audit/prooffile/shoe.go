package prooffile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// VerifyShoe verifies a whole shoe by the proof files of all its records, two or more, from the
// first to the last; of several files of a record, the first counts. It adds the steps of
// docs/shoes.md, "The whole shoe". A step that every file has is reported once for all of them.
func VerifyShoe(texts [][]byte, given *Given) *Result {
	r := checkFiles(texts, given)
	r.addCommon(StepProof, "%d files are well-formed; %s", len(r.files), r.trust())
	if r.Unchecked() != nil {
		return r
	}
	if r.Failed() == nil {
		r.addCommon(StepRecord, "%s; %s", r.files[0].Find(StepRecord).Detail, audit.Count(r.Changes, "change"))
	}
	if r.Has(StepRecord, OK) {
		first, last := r.records[0], r.records[len(r.records)-1]
		r.Closed = last.Record.Kind == audit.KindClose
		r.report(StepChain, r.chain(), "each of the versions 1 to %d has its record, in the order of the log, from number %d to number %d", len(r.records), first.File.Inclusion.Index, last.File.Inclusion.Index)
	}
	r.addReplays()
	r.addFirst(StepItems)
	r.checkPublished()
	if r.Failed() != nil || !r.Has(StepRecord, OK) {
		return r
	}

	s := &r.Record.Statement
	t := &tracker{layout: shoe.New(s.Size, s.Draw > 0), orders: map[uint64][]uint64{}}
	t.seal(r.records[0].sealing())
	if r.checkMoves(t); r.Failed() != nil {
		return r
	}
	r.checkRoots(t.sealings)
	if given.Hand != nil {
		r.checkHand(t.sealings)
	}
	if !r.Has(StepHand, OK) {
		r.Proven = 0
	}
	if r.Closed {
		r.add(StepClosed, OK, "the last record closes the shoe")
		return r
	}
	isRequired := given.Hand == nil // otherwise only the hand must be proven
	r.add(StepClosed, missing(isRequired), "the last record does not close the shoe: unseen cards stay hidden until it is closed, and more changes may follow")
	return r
}

// addReplays adds the steps seed, commitment, keys and order of several files, which every file
// with a seed has: each with the number of files in which it holds.
func (r *Result) addReplays() {
	for _, step := range []struct{ name, what, format string }{
		{StepSeed, "seed", "%s%s"},
		{"commitment", "seed", "%s: each opens the commitment in its record%s"},
		{"keys", "order", "the keys of %s derived%s"},
		{StepOrder, "order", "%s replayed%s"},
	} {
		right := r.withState(step.name, OK)
		warning, isOrder, state := "", step.name == StepOrder, OK
		if i := slices.IndexFunc(right, func(s *Step) bool { return strings.HasPrefix(s.Detail, "warning: ") }); i >= 0 {
			warning = ": " + right[i].Detail
		}
		if isOrder && r.held > 0 {
			state = missing(r.given.Hand == nil)
		} else if len(right) == 0 {
			state = Skipped
		}
		switch isDealt := len(right)+r.held > 0; {
		case r.withState(step.name, Wrong) != nil || isOrder && isDealt && r.given.Order != nil && r.match == nil:
			r.addCommon(step.name, "")
		case isDealt && step.name == StepSeed && right == nil:
			r.add(StepSeed, Skipped, "%s", r.withoutSeed(""))
		case isDealt:
			r.add(step.name, state, step.format, audit.Count(len(right), step.what)+warning, r.withoutSeed("; "))
		}
	}
}

// withState returns the steps of the files that have the name and the state.
func (r *Result) withState(name string, state State) (steps []*Step) {
	for _, f := range r.files {
		if f.Has(name, state) {
			steps = append(steps, f.Find(name))
		}
	}
	return steps
}

// checkPublished adds the steps inclusion and signature of all files, and committed.
func (r *Result) checkPublished() {
	r.addCommon(StepInclusion, "every record is in the tree of its file")
	r.addCommon(StepSignature, "every checkpoint is signed with the key")
	r.addCommon(StepWitnesses, "enough witnesses cosigned every checkpoint")
	r.checkCommitted()
}

// addCommon adds a step that the files have in common, if any has it: a single file's step
// unchanged, or of several the first one that fails or is unchecked, or else an OK one with the
// formatted detail.
func (r *Result) addCommon(name, format string, args ...any) {
	if len(r.files) == 1 {
		r.addFirst(name)
		return
	}
	for _, state := range []State{Wrong, Unchecked} {
		for i, f := range r.files {
			if f.Has(name, state) {
				r.add(name, state, "file %d, from 1: %s", i+1, f.Find(name).Detail)
				return
			}
		}
	}
	if slices.ContainsFunc(r.files, func(f *Result) bool { return f.Find(name) != nil }) {
		r.add(name, OK, format, args...)
	}
}

// trust says which log key all files have.
func (r *Result) trust() string {
	if !r.given.hasKey() {
		return "no log key was given: the one in the first is used"
	}
	return "all have the log key that was given"
}

// chain checks that the records are one shoe's, from the first on.
func (r *Result) chain() error {
	first := r.Record
	if first.Kind != audit.KindShoe {
		return fmt.Errorf("the first record is of kind %s, and must be of kind shoe", first.Kind)
	}
	before, version := r.files[0], uint64(1)
	for _, f := range r.files[1:] {
		record, last := f.Record, before.Record
		at, earlier := f.File.Inclusion.Index, before.File.Inclusion.Index
		if f.isOf(before) {
			if at != earlier {
				return fmt.Errorf("version %d is number %d and number %d in the log", version, earlier, at)
			}
			continue
		}
		before, version = f, version+1
		if err := cmp.Or(
			audit.Rule(record.Kind.ChangesShoe() && record.AuditID == first.ID, "the record %s does not change the shoe %s", record.ID, first.ID),
			audit.Rule(record.Version == version, "the record %s made version %d, where version %d has to follow", record.ID, record.Version, version),
			audit.Rule(at > earlier, "version %d is number %d in the log, from 0, and so not after the one before, which is number %d", version, at, earlier),
			audit.Rule(record.States() || record.Commitment == first.Commitment, "version %d lacks the commitment of the shoe", version),
			audit.Rule(last.Kind != audit.KindClose && (last.Kind != audit.KindExpire || record.Kind == audit.KindClose), "version %d is a %s, and the shoe had ended", version, record.Kind),
		); err != nil {
			return err
		}
	}
	return nil
}

// withoutSeed says, after some text, why some files have no seed; it is empty if no seed is held
// back.
func (r *Result) withoutSeed(before string) string {
	if r.held == 0 {
		return ""
	}
	why := "until the shoe is closed"
	if r.Closed {
		why = "in these files, and public since the shoe was closed: get the files again"
	}
	return fmt.Sprintf("%s%s held back %s", before, audit.Count(r.held, "seed"), why)
}

// checkMoves adds the step moves: whether every change is one that the rules allow, of the cards
// that lay there.
func (r *Result) checkMoves(t *tracker) {
	for i, f := range r.records[1:] {
		if err := t.change(f); err != nil {
			r.add(StepMoves, Wrong, "version %d: %s", i+2, err)
			return
		}
	}
	layout, state, but := t.layout, OK, ""
	if t.random > 0 {
		state, but = Unchecked, fmt.Sprintf("; but %s at random without a seed", audit.Count(t.random, "draw"))
	}
	r.add(StepMoves, state, "every change found its cards where it says; %d are in the deck, %d are dealt, %s%s",
		layout.Deck.Len(), layout.Dealt.Len(), audit.Count(len(layout.Piles), "pile"), but)
}

// checkRoots adds the step root: whether every root that can be compared is the root of the cards
// in their order.
func (r *Result) checkRoots(sealings []*sealing) {
	var wrong error
	compared, unknown := 0, 0
	for _, s := range sealings {
		switch {
		case s.record.Root == nil || wrong != nil:
		case s.cards == nil || s.order == nil || s.seed == nil:
			unknown++
		default:
			compared++
			if err := s.checkRoot(); err != nil {
				wrong = fmt.Errorf("version %d: %w", max(1, s.record.Version), err)
			}
		}
	}
	switch {
	case wrong != nil || compared > 0 && unknown == 0:
		r.report(StepRoot, wrong, "salts from the seeds and the cards in their orders have the roots in %s", audit.Count(compared, "record"))
	case unknown == 0:
		r.add(StepRoot, Skipped, "nothing was sealed")
	case r.held > 0:
		r.add(StepRoot, Skipped, "%s", r.withoutSeed(""))
	default:
		r.add(StepRoot, Skipped, "the cards are not known, for the items were not given")
	}
}

// A tracker follows the cards of a shoe from record to record.
type tracker struct {
	layout   *shoe.Layout
	sealings []*sealing          // in the order in which they were made
	orders   map[uint64][]uint64 // the order of each sealing, by the version of the shoe that it made; nil if unknown
	random   int                 // draws at random that could not be replayed
}

// seal adds a sealing of the version that the shoe has.
func (t *tracker) seal(s *sealing) {
	t.orders[t.layout.Version] = s.order
	t.sealings = append(t.sealings, s)
}

// change applies the change of a record to the layout. The error says why the change is not allowed
// there.
func (t *tracker) change(f *Result) error {
	r := f.Record
	if r.Kind == audit.KindClose || r.Kind == audit.KindExpire {
		t.layout = t.layout.End()
		return nil
	}
	lying, err := t.layout.At(r.From)
	if err != nil {
		return err
	}
	if r.Deals() && lying.Len() != r.Statement.Size {
		return fmt.Errorf("it is of %d cards, and %d lay in %s", r.Statement.Size, lying.Len(), where(r.From))
	}
	if r.Kind == audit.KindReshuffle {
		return t.reshuffle(f, lying)
	}
	want := r.Cards // of cards that are named, Apply checks that they lie there
	switch {
	case r.Taken == shoe.Top || r.Taken == shoe.Bottom:
		want, err = t.layout.Take(r.From, r.Taken, r.Cards.Len())
	case r.Taken == shoe.Random && f.orders == nil:
		t.random++
	case r.Taken == shoe.Random:
		want, err = t.layout.Pick(r.From, f.orders[0])
	}
	if err == nil && !want.Equal(r.Cards) {
		err = fmt.Errorf("the cards to take from %s (%s) are %s, and the record says %s", where(r.From), r.Taken, want, r.Cards)
	}
	if err == nil {
		t.layout, err = t.layout.Apply(&shoe.Move{From: r.From, Cards: r.Cards, To: r.To, Put: r.Put})
	}
	return err
}

// reshuffle seals the cards of a place in a new order.
func (t *tracker) reshuffle(f *Result, lying shoe.Cards) (err error) {
	if t.layout, err = t.layout.Shuffle(f.Record.From); err != nil {
		return err
	}
	s := f.sealing()
	s.input, s.cards = t.sealings[0].input, t.sealings[0].cards
	if numbers := t.numbers(lying); numbers != nil && f.orders != nil {
		s.order = make([]uint64, len(numbers))
		for i, at := range f.orders[0] {
			s.order[i] = numbers[at]
		}
	}
	t.seal(s)
	return nil
}

// numbers returns the numbers of cards; nil if any of them is unknown.
func (t *tracker) numbers(cards shoe.Cards) []uint64 {
	numbers := make([]uint64, 0, cards.Len())
	for ref := range cards.All() {
		order := t.orders[ref.Seal]
		if ref.Position >= uint64(len(order)) {
			return nil
		}
		numbers = append(numbers, order[ref.Position])
	}
	return numbers
}
