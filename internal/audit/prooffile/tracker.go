package prooffile

import (
	"fmt"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// A tracker follows the cards of a shoe from record to record.
type tracker struct {
	layout   *shoe.Layout
	sealings []*sealing          // in the order in which they were made
	orders   map[uint64][]uint64 // the order of each sealing, by the version of the shoe that it made; nil if unknown
	random   int                 // draws at random that could not be replayed

	roots     int   // roots that were compared
	wrongRoot error // the first root that differs from its cards'
	unknown   int   // roots that could not be compared
}

// newTracker returns a tracker of the shoe with the first record.
func newTracker(first *Result) *tracker {
	s := &first.Record.Statement
	t := &tracker{layout: shoe.New(s.Size, s.Draw > 0), orders: map[uint64][]uint64{}}
	t.seal(first.sealing(), first)
	return t
}

// seal adds the sealing that a file made, and compares its root if its cards and their order are
// known.
func (t *tracker) seal(s *sealing, f *Result) {
	t.orders[t.layout.Version] = s.order
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
	t.seal(s, f)
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
