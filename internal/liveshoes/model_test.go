package liveshoes

import (
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/journal/journaltest"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// A walk makes random changes of one shoe, and knows where the cards lie, except for the order of
// the deck.
type walk struct {
	t      *testing.T
	random *mathrand.Rand
	id     uuid.UUID
	cards  map[shoe.Place][]uint64
}

// change returns a change, which may be impossible.
func (w *walk) change() *Change {
	pile := shoe.OnPile(fmt.Sprint("p", w.random.IntN(3)))
	count := w.random.Uint64N(4) + 1
	end := []shoe.End{shoe.Top, shoe.Bottom, shoe.Random}[w.random.IntN(3)]
	put := []shoe.End{shoe.Top, shoe.Bottom}[w.random.IntN(2)]
	switch w.random.IntN(12) {
	case 0, 1:
		return &Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: end, Count: &count, To: shoe.Dealt}
	case 2, 3:
		return &Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: end, Count: &count, To: pile, Put: put}
	case 4, 5:
		return &Change{Kind: audit.KindDraw, From: pile, Taken: end, Count: &count, To: shoe.Dealt}
	case 6, 7: // dealt cards and cards of other piles
		var out []uint64
		for place, cards := range w.cards {
			if place != shoe.Deck {
				out = append(out, cards...)
			}
		}
		slices.Sort(out)
		w.random.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
		names := append([]CardName{}, named(out[:min(int(count), len(out))]...)...)
		return &Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, Cards: names, To: pile, Put: put}
	case 8:
		return &Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, To: shoe.Deck, Put: put}
	case 9:
		return &Change{Kind: audit.KindReturn, From: pile, Taken: shoe.Named, To: shoe.Deck, Put: put}
	case 10:
		return &Change{Kind: audit.KindReshuffle, From: pile, ClientSeed: "x"}
	}
	return &Change{Kind: audit.KindReshuffle, From: []shoe.Place{shoe.Deck, shoe.Deck, shoe.Deck, shoe.All}[w.random.IntN(4)]}
}

// step makes a change through a process, and checks which cards it moves.
func (w *walk) step(by *process) {
	w.t.Helper()
	c := w.change()
	result, err := by.Apply(w.t.Context(), w.id, c)
	lying, there := w.cards[c.From]
	_, ofPile := c.From.Pile()
	var short *shoe.ShortError
	switch {
	case ofPile && !there:
		require.ErrorIs(w.t, err, shoe.ErrNoPile)
		return
	case c.Count != nil && int(*c.Count) > len(lying), c.Kind == audit.KindReturn && len(lying) == 0:
		require.ErrorAs(w.t, err, &short)
		require.EqualValues(w.t, len(lying), short.Have)
		return
	}
	require.NoErrorf(w.t, err, "%+v", c)
	moved := numbersOf(result.Cards)
	switch {
	case c.Kind == audit.KindReshuffle && ofPile:
		list, err := result.Shoe.Cards(c.From)
		require.NoError(w.t, err)
		w.cards[c.From] = numbersOf(list)
		require.ElementsMatch(w.t, lying, w.cards[c.From])
	case c.Kind == audit.KindReshuffle:
		if c.From == shoe.All {
			w.cards = map[shoe.Place][]uint64{shoe.Deck: slices.Concat(slices.Collect(maps.Values(w.cards))...)}
		}
	case c.Kind == audit.KindAdd:
		require.Equal(w.t, c.Cards, append([]CardName{}, named(moved...)...))
	case c.From == shoe.Deck || c.Taken == shoe.Random:
		require.Subset(w.t, lying, moved)
		require.Len(w.t, moved, int(*c.Count))
	default:
		want := slices.Clone(lying)
		if c.Taken == shoe.Top {
			slices.Reverse(want)
		}
		if c.Count != nil {
			want = want[:*c.Count]
		}
		require.Equal(w.t, want, moved)
	}
	if c.Kind == audit.KindReshuffle {
		return
	}
	for place, cards := range w.cards {
		w.cards[place] = slices.DeleteFunc(slices.Clone(cards), func(n uint64) bool { return slices.Contains(moved, n) })
	}
	if there := w.cards[c.To]; c.Put == shoe.Bottom {
		w.cards[c.To] = slices.Concat(moved, there)
	} else {
		w.cards[c.To] = slices.Concat(there, moved)
	}
}

// compare compares the shoe of a process with what is known.
func (w *walk) compare(p *process) {
	w.t.Helper()
	s := get(w.t, p, w.id)
	require.Len(w.t, w.cards[shoe.Deck], int(s.Deck.Len()))
	require.Len(w.t, w.cards[shoe.Dealt], int(s.Dealt.Len()))
	piles := 0
	for place, want := range w.cards {
		if place == shoe.Deck {
			continue
		}
		list, err := s.Cards(place)
		require.NoError(w.t, err)
		require.Truef(w.t, slices.Equal(want, numbersOf(list)), "at %s are %+v, want %v", place, list, want)
		if place != shoe.Dealt {
			piles++
		}
	}
	require.Len(w.t, s.Piles, piles)
}

// Random changes through two processes: every card is at one place, in the expected order, and the
// whole log checks.
func TestShoesLoseNoCard(t *testing.T) {
	p, other := newPair(t)
	random := mathrand.New(mathrand.NewPCG(5, 1))
	for _, r := range []*NewShoe{
		ask(plan.Request{Deck: "standard52", Decks: ptr(2), Reference: "walk"}),
		{Request: ask(plan.Request{Items: items(5)}).Request, Items: []string{`"a"`, `1`, `{"b": 2}`, `"a"`, `null`}},
		ask(plan.Request{Size: ptr(70)}),
		ask(plan.Request{Deck: "undercover", Parameters: map[string]int{"players": 7}, Draw: ptr(0)}),
	} {
		made := create(t, p, r)
		w := &walk{t, random, made.Shoe.ID, map[shoe.Place][]uint64{}}
		for n := range made.Shoe.Size() {
			w.cards[shoe.Deck] = append(w.cards[shoe.Deck], n)
		}
		for range 150 {
			w.step([]*process{p, p, other}[random.IntN(3)])
			w.compare(p)
			w.compare(other)
		}
		apply(t, p, w.id, Change{Kind: audit.KindClose})
		err := p.disclosed.ProveShoe(t.Context(), w.id, false, journaltest.Unlimited{}, func(proof *prooffile.File) error {
			record, err := audit.ParseRecord(proof.Record)
			if err != nil || record.Deals() != (proof.Seed != nil) {
				return fmt.Errorf("%s, %w", proof.Record, err)
			}
			if record.Deals() {
				if v := audit.Verify(proof.Record, proof.Seed, 0); !v.OK {
					return fmt.Errorf("%s does not verify: %+v", proof.Record, v)
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
	p.store.Check(t, p.journal)
}
