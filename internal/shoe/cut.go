package shoe

import "slices"

// A Cut is the place of a cut card in an order: after At cards, with at least one more after it. If
// At was drawn, From and To are the range it was drawn from; otherwise they are 0.
type Cut struct {
	At   uint64 `json:"at"`
	From uint64 `json:"from,omitempty"`
	To   uint64 `json:"to,omitempty"`
}

// IsDrawn reports whether At is drawn from a range.
func (c *Cut) IsDrawn() bool { return c.To > 0 }

// Fits reports whether every cut that c may draw is within an order of size cards.
func (c *Cut) Fits(size uint64) bool {
	if c.IsDrawn() {
		return 1 <= c.From && c.From < c.To && c.To < size
	}
	return c.From == 0 && 1 <= c.At && c.At < size
}

// WithCut returns the layout after a cut card, unless it is nil, was put into the order that the
// last seal made.
func (l *Layout) WithCut(c *Cut) *Layout {
	if c == nil {
		return l
	}
	next := *l
	next.Seals = slices.Clone(l.Seals)
	next.Seals[len(next.Seals)-1].Cut = c
	return &next
}

// Cut returns the cut card of the last order of the deck, or nil. It is reached once all cards
// before it have left the deck, or all behind it, and stays so whatever is returned.
func (l *Layout) Cut() (c *Cut, reached bool) {
	for _, s := range slices.Backward(l.Seals) {
		if !s.OfPile {
			return s.Cut, s.Cut != nil && (s.Seen.covers(0, s.Cut.At) || s.Seen.covers(s.Cut.At, s.Size))
		}
	}
	return nil, false
}

// covers reports whether cards of one seal, sorted by position, have the positions from to to-1.
func (c Cards) covers(from, to uint64) bool {
	return slices.ContainsFunc(c.runs, func(r run) bool { return r.first <= from && to-1 <= r.last })
}
