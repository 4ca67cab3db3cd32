// Package shoe models the moves of a shoe as values: where its sealed cards lie, and what may be
// done with them.
//
// A [Ref] refers to a card by its position in a sealing: an order that was made of the whole shoe,
// or later of the deck or a pile. It does not say which card that is, so that moves can be public
// without revealing cards that nobody has seen. Whoever makes the orders knows the cards; anyone
// else can follow the moves, and check them once the orders are public.
//
// A [Layout] is where the cards lie at one version of the shoe. [Layout.Apply] returns the next one
// after a [Move], or an error if the rules do not allow it. [Faces] are what is on the cards.
//
// The package is pure.
package shoe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of a shoe. They bound the size of a layout.
const (
	MaxCards  = 4096
	MaxPiles  = 256
	MaxOrders = 4096 // that are made of a shoe and its piles
	MaxName   = 255  // characters of the name of a pile
)

// A Place is where cards lie: in the [Deck], among the [Dealt] cards, or on a pile.
type Place string

// Places that every shoe has.
const (
	Deck  Place = "shoe"  // the deck itself: its first card is the top
	Dealt Place = "dealt" // cards that were drawn and are on no pile, in the order of drawing
	// Out is every place but the deck: the dealt cards, then each pile, by name. Named cards can be
	// taken from it wherever they lie.
	Out Place = "out"
	// All is every place: the deck, the dealt cards, then each pile, by name. It can only be
	// shuffled.
	All Place = "all"
)

// pilePrefix begins the place of a pile.
const pilePrefix = "pile "

// OnPile returns the place of the pile with the name.
func OnPile(name string) Place { return Place(pilePrefix + name) }

// Pile returns the name of the pile. ok is false if the place is no pile, or one whose name is
// invalid.
func (p Place) Pile() (name string, ok bool) {
	name, ok = strings.CutPrefix(string(p), pilePrefix)
	return name, ok && IsName(name)
}

// IsName reports whether the name of a pile is valid: 1 to 255 of A-Z, a-z, 0-9, hyphen and
// underscore.
func IsName(name string) bool {
	return name != "" && len(name) <= MaxName &&
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// An End says which cards are taken from a place, or where they are put.
type End string

// The ends. The top of the deck is its first card; the top of a pile is its last card, as cards are
// put on top of each other.
const (
	Top    End = "top"
	Bottom End = "bottom"
	Random End = "random" // cards drawn by a shuffle of the place
	Named  End = "cards"  // cards that the caller names
)

// Errors of moves.
var (
	// ErrNoPile is for a pile that does not exist.
	ErrNoPile = errors.New("there is no such pile")
	// ErrNotThere is for cards that are not in the place that they are taken from.
	ErrNotThere = errors.New("these cards are not there")
	// ErrTooMany is for a change that exceeds [MaxPiles] or [MaxOrders].
	ErrTooMany = fmt.Errorf("a shoe has at most %d piles and %d orders", MaxPiles, MaxOrders)
)

// A ShortError is for taking more cards than a place has.
type ShortError struct{ Have, Want uint64 }

func (e *ShortError) Error() string {
	return fmt.Sprintf("%d cards are wanted, and there are %d", e.Want, e.Have)
}

// A Pile is a named place.
type Pile struct {
	Name  string `json:"name"`
	Cards Cards  `json:"cards"` // from the bottom; may be empty
}

// An Order is a sealed order of the deck: committed to under a root.
type Order struct {
	Version uint64 `json:"version"`       // the version of the shoe that made it, which identifies it
	Size    uint64 `json:"size"`          // number of cards
	Cut     *Cut   `json:"cut,omitempty"` // nil without a cut card
	Left    []byte `json:"left"`          // a bit for each position whose card has left the deck since
}

// hasLeft reports whether the cards at the positions from to to-1 have left the deck.
func (o *Order) hasLeft(from, to uint64) bool {
	for at := from; at < to; at++ {
		if at/8 >= uint64(len(o.Left)) || o.Left[at/8]&(1<<(at%8)) == 0 {
			return false
		}
	}
	return true
}

// A Layout is where the cards of a shoe lie at one version. It is immutable: every change returns a
// new one.
type Layout struct {
	Version uint64 `json:"version"` // 1 for a new shoe; every change adds 1
	Total   uint64 `json:"total"`   // number of cards in all places
	Deck    Cards  `json:"deck"`    // from the top
	Dealt   Cards  `json:"dealt"`
	Piles   []Pile `json:"piles"`  // by name
	Order   Order  `json:"order"`  // the last one of the deck
	Orders  int    `json:"orders"` // how many were made, orders of piles included
}

// New returns the layout of a new shoe, with all cards in the deck. If it was not shuffled, they
// count as seen.
func New(size uint64, shuffled bool) *Layout {
	l := &Layout{Version: 1, Total: size, Deck: Of(1, size), Order: Order{Version: 1, Size: size}, Orders: 1}
	if !shuffled {
		l.see(l.Deck)
	}
	return l
}

// Size returns the number of cards in all places.
func (l *Layout) Size() uint64 { return l.Total }

// NameBytes returns the length of the names of all piles together.
func (l *Layout) NameBytes() (n int) {
	for i := range l.Piles {
		n += len(l.Piles[i].Name)
	}
	return n
}

// At returns the cards of a place. The error is [ErrNoPile].
func (l *Layout) At(p Place) (Cards, error) {
	switch p {
	case Deck:
		return l.Deck, nil
	case Dealt:
		return l.Dealt, nil
	case Out, All:
		places := []Cards{l.Dealt}
		if p == All {
			places = []Cards{l.Deck, l.Dealt}
		}
		for i := range l.Piles {
			places = append(places, l.Piles[i].Cards)
		}
		return join(places...), nil
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

// Sealed returns the versions that sealed the deck and the cards in the shoe, in ascending order.
func (l *Layout) Sealed() []uint64 {
	all, _ := l.At(All)
	versions := append(all.Seals(), l.Order.Version)
	slices.Sort(versions)
	return slices.Compact(versions)
}

// IsSeen reports whether the card is in the shoe and its owner has seen it: it has left the deck,
// or was in a pile, since it was sealed.
func (l *Layout) IsSeen(ref Ref) bool {
	all, _ := l.At(All)
	return all.has(ref) && (ref.Seal != l.Order.Version || l.Order.hasLeft(ref.Position, ref.Position+1))
}

// Take returns count cards from the [Top] or [Bottom] of a place, in the order in which they are
// taken. The error is a [*ShortError] or [ErrNoPile].
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

// Pick returns the cards at the given positions. The error is a [*ShortError].
func (c Cards) Pick(positions []uint64) (Cards, error) {
	refs := c.Refs()
	picked := make([]Ref, len(positions))
	for i, position := range positions {
		if position >= uint64(len(refs)) {
			return Cards{}, &ShortError{Have: uint64(len(refs)), Want: position + 1}
		}
		picked[i] = refs[position]
	}
	return List(picked), nil
}

// A Move takes cards from one place and puts them to another.
type Move struct {
	From  Place
	Cards Cards // in the order in which they were taken
	To    Place // the deck, the dealt cards, or a pile, which is created if it does not exist
	Put   End   // [Top] or [Bottom]; ignored for the dealt cards
}

// Apply returns the layout after a move. The cards keep the order in which they were taken: the
// last one becomes the top of a pile or the bottom of the deck, or the first one the bottom of a
// pile or the top of the deck. The error is [ErrNotThere], [ErrNoPile] or [ErrTooMany].
func (l *Layout) Apply(m *Move) (*Layout, error) {
	next := l.next()
	if m.From == Out {
		if !next.take(m.Cards) {
			return nil, ErrNotThere
		}
	} else {
		lying, err := l.At(m.From)
		if err != nil {
			return nil, err
		}
		rest, ok := lying.minus(m.Cards)
		if m.From == All || !ok {
			return nil, ErrNotThere
		}
		if m.From == Deck {
			next.see(m.Cards)
		}
		next.set(m.From, rest)
	}
	there, err := next.At(m.To)
	if err != nil && len(next.Piles) >= MaxPiles {
		return nil, ErrTooMany
	}
	if (m.Put == Top) == (m.To == Deck) && m.To != Dealt {
		next.set(m.To, join(m.Cards, there))
	} else {
		next.set(m.To, join(there, m.Cards))
	}
	return next, nil
}

// Shuffle returns the layout after the cards of a place were sealed in a new order. [All] puts
// every card back into the deck and removes the piles. The cards of a pile count as seen. The error
// is [ErrNoPile] or [ErrTooMany].
func (l *Layout) Shuffle(p Place) (*Layout, error) {
	cards, err := l.At(p)
	if err != nil {
		return nil, err
	}
	if l.Orders >= MaxOrders {
		return nil, ErrTooMany
	}
	next := l.next()
	next.Orders++
	sealed := Of(next.Version, cards.Len())
	switch p {
	case All:
		next.Dealt, next.Piles = Cards{}, nil
		fallthrough
	case Deck:
		next.Deck, next.Order = sealed, Order{Version: next.Version, Size: cards.Len()}
	default:
		next.set(p, sealed)
	}
	return next, nil
}

// End returns the layout after the shoe was closed or has expired: no card moves.
func (l *Layout) End() *Layout { return l.next() }

// next returns a copy of the layout with the next version.
func (l *Layout) next() *Layout {
	next := *l
	next.Version, next.Piles = l.Version+1, slices.Clone(l.Piles)
	return &next
}

// set replaces the cards of a place, and creates a pile that does not exist.
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

// take removes cards from wherever they lie outside the deck. ok reports whether all did, each
// once.
func (l *Layout) take(cards Cards) (ok bool) {
	taken, n := cards.set(), uint64(0)
	from := func(place *Cards) {
		n += place.n
		*place = place.without(taken)
		n -= place.n
	}
	from(&l.Dealt)
	for i := range l.Piles {
		from(&l.Piles[i].Cards)
	}
	return n == cards.n && uint64(len(taken)) == n
}

// see marks cards that leave the deck as seen. Cards of earlier orders were. A verifier may meet a
// shoe with more than [MaxCards].
func (l *Layout) see(cards Cards) {
	l.Order.Left = slices.Clone(l.Order.Left)
	for _, r := range cards.runs {
		first, last := min(r.first, r.last), min(max(r.first, r.last), MaxCards-1)
		for at := first; r.seal == l.Order.Version && at <= last; at++ {
			l.Order.Left = append(l.Order.Left, make([]byte, max(0, int(at/8)+1-len(l.Order.Left)))...)
			l.Order.Left[at/8] |= 1 << (at % 8)
		}
	}
}

// A Status says whether cards can be dealt from a shoe.
type Status string

// The statuses of a shoe.
const (
	Open    Status = "open"    // cards can be dealt
	Expired Status = "expired" // its time has passed, or its owner ended it; it can still be closed
	Closed  Status = "closed"  // nothing is dealt, and its seeds are public
)

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

// WithCut returns the layout after a cut card, unless it is nil, was put into the last order of the
// deck.
func (l *Layout) WithCut(c *Cut) *Layout {
	if c == nil {
		return l
	}
	next := *l
	next.Order.Cut = c
	return &next
}

// Cut returns the cut card of the last order of the deck, or nil. It is reached once all cards
// before it have left the deck, or all behind it, and stays so whatever is returned.
func (l *Layout) Cut() (c *Cut, reached bool) {
	o := &l.Order
	return o.Cut, o.Cut != nil && (o.hasLeft(0, o.Cut.At) || o.hasLeft(o.Cut.At, o.Size))
}
