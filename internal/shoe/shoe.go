// Package shoe is the table that a sealed deck is dealt on: where its cards lie, and what may be done with them. It never
// knows which card is which.
//
// A card goes by a [Ref], the place that it has in the order of a sealing: of the shoe when it was made, of the shoe when it was
// shuffled again, of a pile when that was shuffled. So what is done to a shoe can be told to everyone, and says nothing about
// cards that were not seen. Who makes the orders knows the cards; who has only the moves can still follow every one of them,
// which is how a whole shoe is checked afterwards.
//
// A [Layout] is where the cards lie at one version of the shoe. [Layout.Apply] makes the next one from a [Move], and refuses
// what the rules do not allow.
package shoe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of a shoe, which bound what is kept with each of its changes.
const (
	MaxCards = 4096
	MaxPiles = 256
	MaxSeals = 4096 // how often a shoe and its piles can be shuffled
	MaxName  = 64   // characters of the name of a pile
)

// A Place is where cards lie: in the [Deck], [Dealt], or on a pile.
type Place string

// Places that every shoe has.
const (
	Deck  Place = "shoe"  // the deck itself: its first card is the top
	Dealt Place = "dealt" // cards that were drawn and are on no pile, in the order in which they were
	// Out is everywhere but in the deck: what was dealt, and each pile, by name. Cards can be taken from there wherever they lie.
	Out Place = "out"
	// All is what a shuffle of every card takes: those of the deck, those that were dealt, and those of each pile, by name.
	All Place = "all"
)

// pilePrefix begins the place of a pile.
const pilePrefix = "pile "

// OnPile returns the place of a pile.
func OnPile(name string) Place { return Place(pilePrefix + name) }

// Pile returns the name of the pile that the place is, if it is one with a name that piles can have.
func (p Place) Pile() (name string, ok bool) {
	name, ok = strings.CutPrefix(string(p), pilePrefix)
	return name, ok && IsName(name)
}

// IsName reports whether a pile can have the name: 1 to 64 of A-Z, a-z, 0-9, hyphen and underscore.
func IsName(name string) bool {
	return name != "" && len(name) <= MaxName &&
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// An End is where cards are taken from a place, or put to it.
type End string

// The ends. The first card of the deck is its top; of a pile the last one is, for cards are put on one another.
const (
	Top    End = "top"
	Bottom End = "bottom"
	Random End = "random" // which cards, an order of its own says
	Named  End = "cards"  // which cards, the caller says
)

// Errors of moves.
var (
	// ErrNoPile is for a pile that is not there.
	ErrNoPile = errors.New("there is no such pile")
	// ErrNotThere is for cards that do not lie where they are to be taken from.
	ErrNotThere = errors.New("these cards do not lie there")
	// ErrTooMany is for what goes beyond the limits of a shoe.
	ErrTooMany = errors.New("a shoe does not hold as many")
)

// A ShortError is for more cards than there are.
type ShortError struct{ Have, Want uint64 }

func (e *ShortError) Error() string {
	return fmt.Sprintf("%d cards are wanted, and there are %d", e.Want, e.Have)
}

// A Pile is a named place.
type Pile struct {
	Name  string `json:"name"`
	Cards Cards  `json:"cards"` // from the bottom; may be none
}

// A Seal is one order that was made.
type Seal struct {
	Version uint64 `json:"version"` // of the shoe that it made, which is its name
	Size    uint64 `json:"size"`
	OfPile  bool   `json:"of_pile,omitempty"` // and not of the deck
	Seen    Cards  `json:"seen"`              // cards that were taken from the deck, or were sealed on a pile, of which none is a secret to the owner
}

// A Layout is where the cards of a shoe lie. It is never changed: a move makes another one.
type Layout struct {
	Version uint64 `json:"version"` // 1 when the shoe is made, and one more with every change
	Deck    Cards  `json:"deck"`    // from the top
	Dealt   Cards  `json:"dealt"`
	Piles   []Pile `json:"piles"` // by name
	Seals   []Seal `json:"seals"` // in the order in which they were made
}

// New returns the layout of a new shoe: all its cards are in the deck. Those of a shoe that was not shuffled are known.
func New(size uint64, shuffled bool) *Layout {
	l := &Layout{Version: 1, Deck: Of(1, size), Seals: []Seal{{Version: 1, Size: size}}}
	if !shuffled {
		l.Seals[0].Seen = l.Deck
	}
	return l
}

// Size returns how many cards there are in all places.
func (l *Layout) Size() uint64 { return l.Seals[0].Size }

// At returns the cards of a place. The error is [ErrNoPile].
func (l *Layout) At(p Place) (Cards, error) {
	switch p {
	case Deck:
		return l.Deck, nil
	case Dealt:
		return l.Dealt, nil
	case Out, All:
		all := l.Dealt
		if p == All {
			all = l.Deck.join(l.Dealt)
		}
		for i := range l.Piles {
			all = all.join(l.Piles[i].Cards)
		}
		return all, nil
	}
	name, _ := p.Pile()
	if i, found := l.find(name); found {
		return l.Piles[i].Cards, nil
	}
	return Cards{}, ErrNoPile
}

func (l *Layout) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.Piles, name, func(p Pile, name string) int { return strings.Compare(p.Name, name) })
}

// Seal returns the sealing of that version.
func (l *Layout) Seal(version uint64) (*Seal, bool) {
	i, found := slices.BinarySearchFunc(l.Seals, version, func(s Seal, version uint64) int {
		return int(s.Version) - int(version)
	})
	if !found {
		return nil, false
	}
	return &l.Seals[i], true
}

// IsSeen reports whether the owner of the shoe has seen the card.
func (l *Layout) IsSeen(ref Ref) bool {
	s, found := l.Seal(ref.Seal)
	return found && s.Seen.has(ref)
}

// Take returns the cards that are at an end of a place, in the order in which they are taken. The error is a [*ShortError] or
// [ErrNoPile].
func (l *Layout) Take(from Place, end End, count uint64) (Cards, error) {
	cards, err := l.At(from)
	if err != nil {
		return Cards{}, err
	}
	n := cards.Len()
	if count > n {
		return Cards{}, &ShortError{Have: n, Want: count}
	}
	if (end == Top) == (from == Deck) {
		return cards.part(0, count), nil
	}
	return cards.part(n-count, n).reversed(), nil
}

// Pick returns the cards at the places of an order among those that lie somewhere.
func (l *Layout) Pick(from Place, order []uint64) (Cards, error) {
	cards, err := l.At(from)
	if err != nil {
		return Cards{}, err
	}
	refs := cards.Refs()
	picked := make([]Ref, len(order))
	for i, place := range order {
		if place >= uint64(len(refs)) {
			return Cards{}, &ShortError{Have: uint64(len(refs)), Want: place + 1}
		}
		picked[i] = refs[place]
	}
	return List(picked), nil
}

// A Move takes cards from a place and puts them to another.
type Move struct {
	From  Place
	Cards Cards // in the order in which they were taken
	To    Place // the deck, what was dealt, or a pile, which is made if it is not there
	Put   End   // [Top] or [Bottom]; of what was dealt it has no meaning. The cards keep their order, from the end of the list that they come to
}

// Apply returns the layout after a move. Cards that are put to an end keep the order that they were taken in: the last one is
// outermost on a pile's top and on the deck's bottom, the first one on a pile's bottom and on the deck's top. The error is
// [ErrNotThere], [ErrNoPile] or [ErrTooMany].
func (l *Layout) Apply(m *Move) (*Layout, error) {
	lying, err := l.At(m.From)
	if err != nil {
		return nil, err
	}
	rest, ok := lying.less(m.Cards)
	if m.From == All || !ok {
		return nil, ErrNotThere
	}
	next := l.next()
	if m.From == Deck {
		next.see(m.Cards)
	}
	if m.From == Out {
		next.take(m.Cards)
	} else {
		next.set(m.From, rest)
	}
	there, err := next.At(m.To)
	if err != nil && len(next.Piles) >= MaxPiles {
		return nil, ErrTooMany
	}
	if (m.Put == Top) == (m.To == Deck) && m.To != Dealt {
		next.set(m.To, m.Cards.join(there))
	} else {
		next.set(m.To, there.join(m.Cards))
	}
	return next, nil
}

// Shuffle returns the layout after the cards of a place were sealed in a new order. With [All] every card is back in the deck,
// and no pile is left. Those of a pile stay known to the owner. The error is [ErrNoPile] or [ErrTooMany].
func (l *Layout) Shuffle(p Place) (*Layout, error) {
	cards, err := l.At(p)
	if err != nil {
		return nil, err
	}
	if len(l.Seals) >= MaxSeals {
		return nil, ErrTooMany
	}
	next := l.next()
	sealed := Of(next.Version, cards.Len())
	seal := Seal{Version: next.Version, Size: sealed.Len()}
	switch p {
	case All:
		next.Deck, next.Dealt, next.Piles = sealed, Cards{}, nil
	case Deck:
		next.Deck = sealed
	default:
		next.set(p, sealed)
		seal.OfPile, seal.Seen = true, sealed
	}
	next.Seals = append(next.Seals, seal)
	return next, nil
}

// End returns the layout after the shoe was closed, or has expired: nothing moves.
func (l *Layout) End() *Layout { return l.next() }

// next returns a copy of the layout that is one version on.
func (l *Layout) next() *Layout {
	return &Layout{
		Version: l.Version + 1, Deck: l.Deck, Dealt: l.Dealt, Piles: slices.Clone(l.Piles), Seals: slices.Clone(l.Seals),
	}
}

// set has cards lie at a place.
func (l *Layout) set(p Place, cards Cards) {
	switch p {
	case Deck:
		l.Deck = cards
	case Dealt:
		l.Dealt = cards
	default:
		name, _ := p.Pile()
		i, found := l.find(name)
		if !found {
			l.Piles = slices.Insert(l.Piles, i, Pile{Name: name})
		}
		l.Piles[i].Cards = cards
	}
}

// take takes cards from wherever they lie out of the deck.
func (l *Layout) take(cards Cards) {
	l.Dealt = l.Dealt.but(cards)
	for i := range l.Piles {
		l.Piles[i].Cards = l.Piles[i].Cards.but(cards)
	}
}

// see notes that cards of the deck were taken.
func (l *Layout) see(cards Cards) {
	for _, r := range cards.runs {
		for i := range l.Seals {
			if s := &l.Seals[i]; s.Version == r.seal {
				s.Seen = s.Seen.with(r)
			}
		}
	}
}

// AppendJSON appends the layout as json.Marshal does.
func (l *Layout) AppendJSON(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"version":`...), l.Version, 10)
	b = l.Deck.Append(append(b, `,"deck":"`...))
	b = l.Dealt.Append(append(b, `","dealt":"`...))
	b = append(b, `","piles":[`...)
	for i := range l.Piles {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"name":"`...), l.Piles[i].Name...), `","cards":"`...)
		b = append(l.Piles[i].Cards.Append(b), `"}`...)
	}
	b = append(b, `],"seals":[`...)
	for i := range l.Seals {
		s := &l.Seals[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(append(b, `{"version":`...), s.Version, 10)
		b = strconv.AppendUint(append(b, `,"size":`...), s.Size, 10)
		if s.OfPile {
			b = append(b, `,"of_pile":true`...)
		}
		b = append(s.Seen.Append(append(b, `,"seen":"`...)), `"}`...)
	}
	return append(b, "]}"...)
}
