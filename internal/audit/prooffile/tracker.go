package prooffile

import (
	"fmt"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// A tracker follows the cards of a shoe from record to record.
type tracker struct {
	layout    *shoe.Layout
	sealings  []*sealing          // in the order in which they were made
	byVersion map[uint64]*sealing // of the shoe that the sealing made

	roots     int   // roots that were compared
	wrongRoot error // the first root that differs from its cards'
	unknown   int   // roots that could not be compared
	random    int   // draws at random that could not be replayed
}

// newTracker returns a tracker of the shoe with the first record.
func newTracker(first *Result) *tracker {
	s := &first.Record.Statement
	t := &tracker{layout: shoe.New(s.Size, s.Draw > 0), byVersion: map[uint64]*sealing{}}
	t.seal(first.sealing(), first)
	return t
}

// seal adds the sealing that a file made, and compares its root if its cards and their order are
// known.
func (t *tracker) seal(s *sealing, f *Result) {
	t.byVersion[t.layout.Version] = s
	t.sealings = append(t.sealings, s)
	switch {
	case s.record.Root == nil:
	case s.cards == nil || s.order == nil || f.File.Seed == nil:
		t.unknown++
	default:
		t.roots++
		if err := f.sealed(s.order, s.cards); err != nil && t.wrongRoot == nil {
			t.wrongRoot = fmt.Errorf("version %d: %w", t.layout.Version, err)
		}
	}
}

// change applies the change of a record to the layout. The error says why the change is not allowed
// there.
func (t *tracker) change(f *Result) (err error) {
	r := f.Record
	switch r.Kind {
	case audit.KindClose, audit.KindExpire:
		t.layout = t.layout.End()
		return nil
	case audit.KindReshuffle:
		return t.reshuffle(f)
	default: // cards were moved
	}
	switch r.Taken {
	case shoe.Top, shoe.Bottom:
		err = t.isTaken(r)
	case shoe.Random:
		err = t.isDrawn(f)
	case shoe.Named: // Apply checks that they lie there
	}
	if err != nil {
		return err
	}
	t.layout, err = t.layout.Apply(&shoe.Move{From: r.From, Cards: r.Cards, To: r.To, Put: r.Put})
	return err
}

// isTaken checks that a record's cards are at the end that it names.
func (t *tracker) isTaken(r *audit.Record) error {
	want, err := t.layout.Take(r.From, r.Taken, r.Cards.Len())
	if err == nil && !want.Equal(r.Cards) {
		err = fmt.Errorf("the cards at the %s of %s were %s, and the record says %s", r.Taken, where(r.From), want, r.Cards)
	}
	return err
}

// lying returns the cards at a record's place, as many as its statement says.
func (t *tracker) lying(r *audit.Record, does string) (shoe.Cards, error) {
	lying, err := t.layout.At(r.From)
	if err == nil && lying.Len() != r.Statement.Size {
		err = fmt.Errorf("it %s %d cards, and %d lay in %s", does, r.Statement.Size, lying.Len(), where(r.From))
	}
	return lying, err
}

// isDrawn checks that a record's cards are the ones that its seed draws.
func (t *tracker) isDrawn(f *Result) error {
	r := f.Record
	if _, err := t.lying(r, "draws from"); err != nil {
		return err
	}
	if f.orders == nil {
		t.random++
		return nil
	}
	want, err := t.layout.Pick(r.From, f.orders[0])
	if err == nil && !want.Equal(r.Cards) {
		err = fmt.Errorf("the seed draws %s, and the record says %s", want, r.Cards)
	}
	return err
}

// reshuffle seals the cards of a place in a new order.
func (t *tracker) reshuffle(f *Result) error {
	r := f.Record
	lying, err := t.lying(r, "seals")
	if err != nil {
		return err
	}
	if t.layout, err = t.layout.Shuffle(r.From); err != nil {
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
	t.seal(s, f)
	return nil
}

// numbers returns the numbers of cards; nil if any of them is unknown.
func (t *tracker) numbers(cards shoe.Cards) []uint64 {
	numbers := make([]uint64, 0, cards.Len())
	for ref := range cards.All() {
		s := t.byVersion[ref.Seal]
		if s == nil || ref.Position >= uint64(len(s.order)) {
			return nil
		}
		numbers = append(numbers, s.order[ref.Position])
	}
	return numbers
}
