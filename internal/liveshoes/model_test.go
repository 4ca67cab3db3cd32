package liveshoes

import (
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/disclosure"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// model is the expected state of a shoe, except for the deck's order.
type model struct {
	deck  map[uint64]bool
	dealt []uint64
	piles map[string][]uint64
}

func newModel(size uint64) *model {
	m := &model{deck: map[uint64]bool{}, piles: map[string][]uint64{}}
	for n := range size {
		m.deck[n] = true
	}
	return m
}

// without returns a list without some of its numbers.
func without(list, numbers []uint64) []uint64 {
	return slices.DeleteFunc(list, func(n uint64) bool { return slices.Contains(numbers, n) })
}

// remove removes cards from places outside the deck.
func (m *model) remove(numbers []uint64) {
	m.dealt = without(m.dealt, numbers)
	for name, cards := range m.piles {
		m.piles[name] = without(cards, numbers)
	}
}

// put puts cards at a change's destination.
func (m *model) put(c *Change, pile string, numbers []uint64) {
	switch {
	case c.To == shoe.Dealt:
		m.dealt = append(m.dealt, numbers...)
	case c.Put == shoe.Top:
		m.piles[pile] = append(m.piles[pile], numbers...)
	default:
		m.piles[pile] = append(slices.Clone(numbers), m.piles[pile]...)
	}
}

// compare compares the shoe with the model.
func (m *model) compare(t *testing.T, p *process, id uuid.UUID) {
	t.Helper()
	s := get(t, p, id)
	if s.Remaining != uint64(len(m.deck)) || s.Dealt != uint64(len(m.dealt)) || len(s.Piles) != len(m.piles) {
		t.Fatalf("the shoe is %+v, want %d in the deck, %v dealt and the piles %v", s, len(m.deck), m.dealt, m.piles)
	}
	at := func(place shoe.Place) []uint64 {
		list, err := p.Cards(t.Context(), s, place, false)
		require.NoError(t, err)
		return numbersOf(list)
	}
	if got := at(shoe.Dealt); !slices.Equal(got, m.dealt) {
		t.Fatalf("%v are dealt, want %v", got, m.dealt)
	}
	for name, want := range m.piles {
		if got := at(shoe.OnPile(name)); !slices.Equal(got, want) {
			t.Fatalf("pile %s is %v, want %v", name, got, want)
		}
	}
}

// walk makes random changes of one shoe through several processes.
type walk struct {
	t      *testing.T
	random *mathrand.Rand
	by     *process // of the next change
	id     uuid.UUID
	total  uint64
	model  *model
}

// step makes one change.
func (w *walk) step() {
	w.t.Helper()
	pile := fmt.Sprint("p", w.random.IntN(3))
	count := w.random.Uint64N(4) + 1
	end := []shoe.End{shoe.Top, shoe.Bottom, shoe.Random}[w.random.IntN(3)]
	put := []shoe.End{shoe.Top, shoe.Bottom}[w.random.IntN(2)]
	switch w.random.IntN(8) {
	case 0, 1, 2:
		w.draw(pile, end, put, count)
	case 3:
		w.drawFromPile(pile, end, count)
	case 4:
		w.add(pile, put, count)
	case 5:
		w.giveBack(pile, put)
	case 6:
		w.reshufflePile(pile)
	case 7:
		w.reshuffle()
	}
}

// draw takes cards from the deck and deals them or puts them on a pile.
func (w *walk) draw(pile string, end, put shoe.End, count uint64) {
	w.t.Helper()
	m := w.model
	c := Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: end, Count: &count, To: shoe.Dealt}
	if w.random.IntN(2) == 0 {
		c.To, c.Put = shoe.OnPile(pile), put
	}
	result, err := w.by.Apply(w.t.Context(), w.id, &c)
	if count > uint64(len(m.deck)) {
		var short *shoe.ShortError
		require.Truef(w.t, errors.As(err, &short) && short.Have == uint64(len(m.deck)), "%d of %d cards: %v", count, len(m.deck), err)
		return
	} else if err != nil {
		w.t.Fatal(err)
	}
	numbers := numbersOf(result.Cards)
	for _, n := range numbers {
		require.Truef(w.t, m.deck[n], "card %d was drawn and is not in the deck", n)
		delete(m.deck, n)
	}
	m.put(&c, pile, numbers)
}

func (w *walk) drawFromPile(pile string, end shoe.End, count uint64) {
	w.t.Helper()
	m := w.model
	before := m.piles[pile]
	result, err := w.by.Apply(w.t.Context(), w.id, &Change{Kind: audit.KindDraw, From: shoe.OnPile(pile), Taken: end, Count: &count, To: shoe.Dealt})
	var short *shoe.ShortError
	switch {
	case before == nil:
		if !errors.Is(err, shoe.ErrNoPile) {
			w.t.Fatal(err)
		}
		return
	case count > uint64(len(before)):
		if !errors.As(err, &short) {
			w.t.Fatal(err)
		}
		return
	case err != nil:
		w.t.Fatal(err)
	}
	numbers := numbersOf(result.Cards)
	want := slices.Clone(before)
	if end == shoe.Top {
		slices.Reverse(want)
	}
	require.Truef(w.t, end == shoe.Random || slices.Equal(numbers, want[:count]), "%v were taken from the %s of %v", numbers, end, before)
	m.piles[pile] = without(before, numbers)
	require.Truef(w.t, uint64(len(m.piles[pile]))+count == uint64(len(want)), "%v were taken from %v", numbers, want)
	m.dealt = append(m.dealt, numbers...)
}

// add puts cards on a pile, dealt ones or cards of other piles.
func (w *walk) add(pile string, put shoe.End, count uint64) {
	w.t.Helper()
	m := w.model
	out := slices.Clone(m.dealt)
	for _, cards := range m.piles {
		out = append(out, cards...)
	}
	if len(out) == 0 {
		return
	}
	slices.Sort(out)
	w.random.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	out = out[:min(int(count), len(out))]
	c := Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, Cards: named(out...), To: shoe.OnPile(pile), Put: put}
	apply(w.t, w.by, w.id, c)
	m.remove(out)
	m.put(&c, pile, out)
}

// giveBack returns all dealt cards or all of a pile to the deck.
func (w *walk) giveBack(pile string, put shoe.End) {
	w.t.Helper()
	m := w.model
	c := Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, To: shoe.Deck, Put: put}
	back := m.dealt
	if w.random.IntN(2) == 0 {
		c.From, back = shoe.OnPile(pile), m.piles[pile]
	}
	result, err := w.by.Apply(w.t.Context(), w.id, &c)
	if len(back) == 0 {
		require.Error(w.t, err, "nothing was returned")
		return
	} else if err != nil {
		w.t.Fatal(err)
	}
	require.Truef(w.t, slices.Equal(numbersOf(result.Cards), back), "%v were returned of %v", numbersOf(result.Cards), back)
	for _, n := range back {
		m.deck[n] = true
	}
	m.remove(slices.Clone(back))
}

func (w *walk) reshufflePile(pile string) {
	w.t.Helper()
	m := w.model
	cards := m.piles[pile]
	if cards == nil {
		return
	}
	apply(w.t, w.by, w.id, Change{Kind: audit.KindReshuffle, From: shoe.OnPile(pile), ClientSeed: "x"})
	list, err := w.by.Cards(w.t.Context(), get(w.t, w.by, w.id), shoe.OnPile(pile), true)
	require.NoError(w.t, err)
	after := append([]uint64{}, numbersOf(list)...)
	if !slices.Equal(slices.Sorted(slices.Values(cards)), slices.Sorted(slices.Values(after))) {
		w.t.Fatalf("the pile of %v is %v after it was reshuffled", cards, after)
	}
	m.piles[pile] = after
}

// reshuffle seals the deck or all cards anew.
func (w *walk) reshuffle() {
	w.t.Helper()
	from := shoe.Deck
	if w.random.IntN(4) == 0 {
		from = shoe.All
		w.model = newModel(w.total)
	}
	apply(w.t, w.by, w.id, Change{Kind: audit.KindReshuffle, From: from})
}

// Random changes through two processes: every card is at one place, in the expected order, and the
// whole log checks.
func TestShoesLoseNoCard(t *testing.T) {
	p := newProcess(t)
	other := p.other(t)
	random := mathrand.New(mathrand.NewPCG(5, 1))
	for _, r := range []*Request{
		ask(plan.Request{Deck: "standard52", Decks: ptr(2), Reference: "walk"}),
		{Request: ask(plan.Request{Items: items(5)}).Request, Items: []string{`"a"`, `1`, `{"b": 2}`, `"a"`, `null`}},
		ask(plan.Request{Size: ptr(70)}),
		ask(plan.Request{Deck: "undercover", Parameters: map[string]int{"players": 7}, Draw: ptr(0)}),
	} {
		made := create(t, p, r)
		w := &walk{t: t, random: random, id: made.Shoe.ID, total: made.Shoe.Size, model: newModel(made.Shoe.Size)}
		for range 150 {
			w.by = p
			if random.IntN(3) == 0 {
				w.by = other
			}
			w.step()
			w.model.compare(t, p, w.id)
			w.model.compare(t, other, w.id)
		}
		apply(t, p, w.id, Change{Kind: audit.KindClose})
		err := p.disclosed.ProveShoe(t.Context(), w.id, nil, func(proof *disclosure.Proof) error {
			record, err := audit.ParseRecord(proof.Record)
			if err != nil || record.Deals() != (proof.Seed != nil) {
				return fmt.Errorf("%s, %w", proof.Record, err)
			}
			if record.Deals() {
				if _, v, err := p.disclosed.Verify(t.Context(), proof.ID, 0, nil); err != nil || !v.OK {
					return fmt.Errorf("%s does not verify: %+v, %w", proof.Record, v, err)
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
	p.store.Check(t, p.journal)
}
