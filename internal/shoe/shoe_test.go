package shoe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A plain layout is an independent model of the rules, with a list for each place.
type plain struct {
	deck, dealt []Ref
	piles       map[string][]Ref
}

func plainOf(l *Layout) *plain {
	p := &plain{deck: l.Deck.Refs(), dealt: l.Dealt.Refs(), piles: map[string][]Ref{}}
	for i := range l.Piles {
		p.piles[l.Piles[i].Name] = l.Piles[i].Cards.Refs()
	}
	return p
}

func (p *plain) names() (names []string) {
	for name := range p.piles {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// at returns the cards of a place, and whether it exists.
func (p *plain) at(place Place) (list []Ref, there bool) {
	switch place {
	case Deck:
		return p.deck, true
	case Dealt:
		return p.dealt, true
	case Out, All:
		if place == All {
			list = slices.Clone(p.deck)
		}
		list = append(list, p.dealt...)
		for _, name := range p.names() {
			list = append(list, p.piles[name]...)
		}
		return list, true
	}
	list, there = p.piles[strings.TrimPrefix(string(place), "pile ")]
	return list, there
}

func (p *plain) equal(l *Layout) bool {
	q := plainOf(l)
	if !slices.Equal(p.deck, q.deck) || !slices.Equal(p.dealt, q.dealt) || !slices.Equal(p.names(), q.names()) {
		return false
	}
	for name, cards := range p.piles {
		if !slices.Equal(cards, q.piles[name]) {
			return false
		}
	}
	return true
}

// move does what Apply does, and reports whether the move is allowed.
func (p *plain) move(m *Move) bool {
	lying, there := p.at(m.From)
	if !there || m.From == All {
		return false
	}
	taken := m.Cards.Refs()
	for _, ref := range taken {
		if !slices.Contains(lying, ref) {
			return false
		}
	}
	without := func(list []Ref) []Ref {
		return slices.DeleteFunc(slices.Clone(list), func(r Ref) bool { return slices.Contains(taken, r) })
	}
	p.deck, p.dealt = without(p.deck), without(p.dealt)
	for name := range p.piles {
		p.piles[name] = without(p.piles[name])
	}
	switch {
	case m.To == Dealt:
		p.dealt = append(p.dealt, taken...)
	case m.To == Deck && m.Put == Bottom:
		p.deck = append(p.deck, taken...)
	case m.To == Deck:
		p.deck = append(taken, p.deck...)
	case m.Put == Top:
		name, _ := m.To.Pile()
		p.piles[name] = append(p.piles[name], taken...)
	default:
		name, _ := m.To.Pile()
		p.piles[name] = append(taken, p.piles[name]...)
	}
	return true
}

// layouts returns all layouts of four cards after two moves from any place to any other, and some
// that were shuffled.
func layouts(t *testing.T) (list []*Layout) {
	t.Helper()
	start := New(4, true)
	seen := map[string]bool{}
	add := func(l *Layout) {
		if key := fmt.Sprint(l.Deck, "/", l.Dealt, "/", l.Piles); !seen[key] {
			seen[key] = true
			list = append(list, l)
		}
	}
	add(start)
	for range 2 {
		for _, l := range slices.Clone(list) {
			for _, place := range []Place{Deck, All, OnPile("a")} {
				if next, err := l.Shuffle(place); err == nil && l.Orders < 2 {
					add(next)
				}
			}
			for _, from := range []Place{Deck, Dealt, OnPile("a")} {
				cards, err := l.At(from)
				if err != nil || cards.Len() == 0 {
					continue
				}
				for _, to := range []Place{Deck, Dealt, OnPile("a"), OnPile("b")} {
					next, err := l.Apply(&Move{From: from, Cards: cards.part(0, min(2, cards.Len())), To: to, Put: Top})
					require.NoError(t, err)
					add(next)
				}
			}
		}
	}
	return list
}

var everyPlace = []Place{Deck, Dealt, Out, All, OnPile("a"), OnPile("b"), OnPile("c"), "", "pile ", "elsewhere"}

// Every move of every choice of cards, from every layout, follows the rules and leaves the old
// layout unchanged.
func TestMovesFollowTheRules(t *testing.T) {
	moves, rejected := 0, 0
	for _, l := range layouts(t) {
		before := plainOf(l)
		everything, _ := l.At(All)
		for _, from := range everyPlace {
			permutations(everything.Refs()[:3], func(list []Ref) {
				for _, to := range []Place{Deck, Dealt, OnPile("a"), OnPile("c")} {
					for _, put := range []End{Top, Bottom} {
						m := &Move{From: from, Cards: List(list), To: to, Put: put}
						want := plainOf(l)
						can := want.move(m)
						next, err := l.Apply(m)
						require.Truef(t, before.equal(l), "%+v changed the layout that it was applied to", m)
						require.Equalf(t, can, (err == nil), "%+v of %+v: %v", m, before, err)
						if err != nil {
							rejected++
							if !errors.Is(err, ErrNotThere) && !errors.Is(err, ErrNoPile) {
								t.Fatal(err)
							}
							continue
						}
						if _, isPile := to.Pile(); isPile && len(list) == 0 { // creates the pile, too
							name, _ := to.Pile()
							want.piles[name] = append([]Ref{}, want.piles[name]...)
						}
						moves++
						require.Truef(t, want.equal(next) && next.Version == l.Version+1, "%+v of %+v results in %+v, want %+v", m, before, plainOf(next), want)
						all, _ := next.At(All)
						require.Truef(t, all.Len() == 4 && len(all.set()) == 4, "%+v of %+v: %s", m, before, all)
						if from != Deck {
							continue
						}
						for _, ref := range list {
							require.Truef(t, next.IsSeen(ref), "%+v: %v was drawn and not seen", m, ref)
						}
					}
				}
			})
		}
	}
	assert.Truef(t, moves >= 1000 && rejected >= 1000, "only %d moves, and %d rejected", moves, rejected)
}

// Cards are taken from an end outermost first.
func TestTakeAndPick(t *testing.T) {
	for _, l := range layouts(t) {
		p := plainOf(l)
		for _, place := range everyPlace {
			lying, there := p.at(place)
			for count := range uint64(6) {
				for _, end := range []End{Top, Bottom} {
					got, err := l.Take(place, end, count)
					short := (*ShortError)(nil)
					switch {
					case !there:
						require.ErrorIsf(t, err, ErrNoPile, "%q", place)
					case count > uint64(len(lying)):
						require.Truef(t, errors.As(err, &short) && short.Have == uint64(len(lying)) && short.Want == count, "%d of %d: %v", count, len(lying), err)
					default:
						outermost := slices.Clone(lying)
						if (place == Deck) != (end == Top) {
							slices.Reverse(outermost)
						}
						if err != nil || !slices.Equal(got.Refs(), outermost[:count]) {
							t.Fatalf("%d from the %s of %s, %v: %v, %v", count, end, place, lying, got.Refs(), err)
						}
					}
				}
			}
			order := []uint64{1, 0}
			got, err := List(lying).Pick(order)
			switch {
			case len(lying) < 2 && err == nil:
				t.Fatalf("%q: %v", place, err)
			case len(lying) >= 2 && (err != nil || !slices.Equal(got.Refs(), []Ref{lying[1], lying[0]})):
				t.Fatalf("%v of %v: %v, %v", order, lying, got.Refs(), err)
			}
		}
	}
}

// A shuffle gives the cards of its place new references and leaves all others unchanged.
func TestShuffleMakesNewReferences(t *testing.T) {
	for _, l := range layouts(t) {
		for _, place := range everyPlace {
			if place == Dealt || place == Out { // no record shuffles these
				continue
			}
			before := plainOf(l)
			lying, there := before.at(place)
			next, err := l.Shuffle(place)
			if !there {
				require.ErrorIsf(t, err, ErrNoPile, "%q", place)
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			want := Of(next.Version, uint64(len(lying)))
			name, isPile := place.Pile()
			require.Equalf(t, isPile, next.Order.Version == l.Order.Version, "%+v after a shuffle of %s", next.Order, place)
			require.True(t, isPile || next.Order.Size == want.Len() && len(next.Order.Left) == 0, next.Order)
			switch place {
			case Deck:
				before.deck = want.Refs()
			case All:
				before = &plain{deck: want.Refs()}
			default:
				before.piles[name] = want.Refs()
			}
			if !before.equal(next) || next.Version != l.Version+1 || next.Size() != 4 {
				t.Fatalf("a shuffle of %s results in %+v, want %+v", place, plainOf(next), before)
			}
			for ref := range want.All() {
				require.Equalf(t, isPile, next.IsSeen(ref), "%v is seen", ref)
			}
		}
	}
}

// The cards of an unshuffled shoe are seen; of a shuffled one, only those that were drawn.
func TestSeenCards(t *testing.T) {
	for ref := range Of(1, 3).All() {
		assert.Truef(t, !New(3, true).IsSeen(ref) && New(3, false).IsSeen(ref), "%v", ref)
	}
	l := New(3, false)
	assert.True(t, !l.IsSeen(Ref{1, 3}) && !l.IsSeen(Ref{2, 0}), "a card that does not exist is seen")
	l = New(3, true).End()
	assert.Truef(t, l.Version == 2 && l.Deck.Len() == 3, "%+v", l)
}

func TestPilesAndOrdersAreLimited(t *testing.T) {
	l := New(2, true)
	var err error
	for i := range MaxPiles {
		l, err = l.Apply(&Move{From: Deck, To: OnPile(fmt.Sprint("p", i)), Put: Top})
		require.NoError(t, err)
	}
	_, err = l.Apply(&Move{From: Deck, Cards: Of(1, 1), To: OnPile("more"), Put: Top})
	assert.ErrorIs(t, err, ErrTooMany)
	_, err = l.Apply(&Move{From: Deck, Cards: Of(1, 1), To: OnPile("p7"), Put: Top})
	assert.NoError(t, err)
	l.Orders = MaxOrders
	_, err = l.Shuffle(Deck)
	assert.ErrorIs(t, err, ErrTooMany)
}

func TestNamesOfPilesAreChecked(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "A-z_9": true, strings.Repeat("x", MaxName): true, "": false, strings.Repeat("x", MaxName+1): false, "a b": false, "é": false, "a\n": false, "a/b": false,
	} {
		assert.Equalf(t, want, IsName(name), "%q is a name: %v", name, !want)
		got, ok := OnPile(name).Pile()
		assert.Truef(t, ok == want && got == name, "%q on a pile: %q, %v", name, got, ok)
	}
	for _, place := range []Place{Deck, Dealt, Out, All, "pile", "Pile a"} {
		_, ok := place.Pile()
		assert.Falsef(t, ok, "%q is a pile", place)
	}
}
