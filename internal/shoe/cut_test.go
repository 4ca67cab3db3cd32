package shoe

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCutsFitBetweenTwoCards(t *testing.T) {
	for c, want := range map[Cut]bool{
		{At: 1}: true, {At: 51}: true, {At: 0}: false, {At: 52}: false, {At: 1 << 63}: false,
		{From: 1, To: 51}: true, {From: 30, To: 31}: true, {From: 30, To: 52}: false, {From: 0, To: 9}: false,
		{From: 9, To: 9}: false, {From: 9, To: 8}: false, {From: 9}: false,
	} {
		assert.Equalf(t, want, c.Fits(52), "%+v fits into 52 cards", c)
	}
	c := &Cut{At: 1}
	assert.True(t, !c.Fits(1) && !c.Fits(0) && c.Fits(2), "a cut card lies where there are not two cards")
}

// A cut card is reached by the draw of the last card before it, or of the last one behind it, and
// not by what is put back.
func TestCutIsReached(t *testing.T) {
	move := func(from Place, end End, count uint64, to Place, put End) func(*Layout) (*Layout, error) {
		return func(l *Layout) (*Layout, error) {
			cards, err := l.Take(from, end, count)
			if err != nil {
				return nil, err
			}
			return l.Apply(&Move{From: from, Cards: cards, To: to, Put: put})
		}
	}
	draw := func(end End, count uint64) func(*Layout) (*Layout, error) { return move(Deck, end, count, Dealt, "") }
	shuffle := func(p Place) func(*Layout) (*Layout, error) {
		return func(l *Layout) (*Layout, error) { return l.Shuffle(p) }
	}
	pick := func(positions ...uint64) func(*Layout) (*Layout, error) {
		return func(l *Layout) (*Layout, error) {
			cards, err := l.Deck.Pick(positions)
			if err != nil {
				return nil, err
			}
			return l.Apply(&Move{From: Deck, Cards: cards, To: Dealt})
		}
	}
	backToTop, backToBottom := move(Dealt, Bottom, 1, Deck, Top), move(Dealt, Bottom, 1, Deck, Bottom)
	for name, c := range map[string]struct {
		moves []func(*Layout) (*Layout, error)
		want  []bool // after each of them
	}{
		"one after the other": {[]func(*Layout) (*Layout, error){draw(Top, 5), draw(Top, 1), draw(Top, 1), draw(Top, 3)}, []bool{false, false, true, true}},
		"past it":             {[]func(*Layout) (*Layout, error){draw(Top, 9)}, []bool{true}},
		"from the bottom":     {[]func(*Layout) (*Layout, error){draw(Bottom, 2), draw(Bottom, 1), draw(Top, 1)}, []bool{false, true, true}},
		"put back":            {[]func(*Layout) (*Layout, error){draw(Top, 6), backToTop, draw(Top, 2), backToTop, backToBottom}, []bool{false, false, true, true, true}},
		"at random":           {[]func(*Layout) (*Layout, error){pick(6, 0, 3, 9), pick(0, 1, 2), pick(0, 1)}, []bool{false, false, true}},
		"to a pile":           {[]func(*Layout) (*Layout, error){move(Deck, Top, 7, OnPile("burn"), Top), shuffle(OnPile("burn"))}, []bool{true, true}},
		"shuffled again":      {[]func(*Layout) (*Layout, error){draw(Top, 8), shuffle(All), draw(Top, 9)}, []bool{true, false, false}},
	} {
		plain := New(10, true)
		l := plain.WithCut(&Cut{At: 7})
		if cut, reached := plain.Cut(); cut != nil || reached {
			t.Fatal("the layout was changed")
		}
		var got []bool
		for _, move := range c.moves {
			var err error
			l, err = move(l)
			require.NoError(t, err, name)
			_, reached := l.Cut()
			got = append(got, reached)
		}
		assert.Equalf(t, c.want, got, "%s: the cut is reached", name)
	}
}
