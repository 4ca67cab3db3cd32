// Package deck holds the decks that Riffle can shuffle: what each consists of, what its cards are
// called and which hands are usual.
//
// The decks are data, one JSON file for each type, so that anyone can check a composition without
// reading code. An operator adds types with files in the same format (see [Catalogue.Load]).
//
// A [Catalogue] has the types. A [Type] is a kind of deck, such as standard52 or mahjong144. A
// [Deck] is one physical deck: every card of it, in catalogue order. A type with parameters, such
// as the number of players of undercover, describes several decks. A [Card] is named by its code,
// which is short, ASCII and unique in its type; equal cards (the four 1m of a mahjong wall) have
// the same code and differ in their instance.
//
// Catalogue order is the order of the file, equal cards next to each other. Records bind the digest
// of the codes in that order, so the order and codes of a built-in type never change.
//
// # Codes of the built-in types
//
//   - French-suited cards are rank, then suit: AS, TD, KC. Ranks are A 2 3 4 5 6 7 8 9 T J Q K,
//     suits S H D C. A ten is also found as 0S or 10S. Jokers are X1 (black, small) and X2 (red,
//     big).
//   - Tarot has the French codes: S for swords, H for cups, D for pentacles and C for wands. J is
//     the page, N the knight, between J and Q; trumps are T1 to T21 and the Fool is T0.
//   - Spanish cards are number, then suit O (oros), C (copas), E (espadas) or B (bastos): 1O, 12B.
//   - Hanafuda is the month, 01 to 12, then B bright, A animal, R ribbon, or C1 to C3 for chaff:
//     01B, 12C3.
//   - Uno is colour R Y G B, then 0 to 9, S skip, R reverse or D draw two: R7, BS. Without a
//     colour: W wild, WF wild draw four, WS wild shuffle hands, WC wild customizable.
//   - Mahjong is number, then m characters, p dots, s bamboos or z honours (1z to 7z: east, south,
//     west, north, white, green, red). 0m, 0p and 0s are the red fives. 1q to 4q are spring to
//     winter; 1f to 4f are plum, orchid, chrysanthemum and bamboo, each numbered for the seat it
//     belongs to.
//   - Sanguosha is the kind in Pinyin, shortened, then suit and rank: sha-S7, wuxie-DQ. Tens as
//     above.
//   - Dominoes and pai gow are the two numbers of pips, the smaller first: 2-5, found also as 5-2.
//   - Set is number, colour R G P, shape D diamond, S squiggle, O oval, and shading S solid, T
//     striped, O open: 2RSO.
//   - Roles are words: werewolf, seer, undercover.
//
// # File format
//
// A deck type is one JSON object in UTF-8. Nothing may follow it, no field may appear twice, and
// there are no fields but these:
//
//	type        what requests call it: a lower-case letter, then up to 63 of a-z, 0-9 and hyphen
//	name        {"en": "...", "zh": "..."}
//	family      how cards are drawn, a word like type; see Type.Family
//	size        the number of cards, to check the counts: 1 to 10,000, or {"parameter": "players"}
//	parameters  optional: a list of objects
//	  name        a word like type
//	  min, max    the range, within 0 to 10,000
//	  default     a number in the range
//	  default_by  in place of default:
//	              {"parameter": "players", "steps": [{"up_to": 6, "value": 1}, ...]}.
//	              The first step that the earlier parameter does not exceed has the value; the last step reaches its max.
//	cards       a list of objects, in catalogue order
//	  code        1 to 16 of A-Z, a-z, 0-9 and hyphen
//	  aliases     optional: other codes that find the card
//	  name        as above
//	  glyph       the card in up to 32 Unicode characters
//	  attributes  optional: {"suit": "spades", ...}, names like type but with underscores too
//	  count       optional: how many of it there are: a number from 1 (the default is 1),
//	              {"parameter": "undercover"}, or "rest" for what the other cards leave of the size
//	  majority    optional, with "rest": true when the rest must be more than half of the deck
//	hands       optional: a list of presets
//	  name        a word like type
//	  sizes       the cards of each hand, as in [13, 13, 13, 13]
//	  each        in place of sizes: one size for as many hands as a request says
//	  each_by     in place of each: the size by the number of hands, [{"up_to": 2, "value": 10}, ...];
//	              0 for numbers that the game is not for
//	  players     optional, without sizes: how many hands that is if the request does not say, a number
//	              or {"parameter": "players"}
//	  then        optional: what is dealt after the hands, [{"name": "flop", "size": 3}, ...]
//	dead_wall   optional: how many cards at the end of the order are never dealt
//
// No code or alias may appear twice, the counts must add up to the size, and hands may not need
// more cards than the deck has without its dead wall. With parameters, this is checked for their
// defaults.
package deck

import (
	"fmt"
	"slices"
	"sync"
)

// Text is a name in the two languages that every type and card is named in.
type Text struct {
	English string `json:"en"`
	Chinese string `json:"zh"`
}

// A Card is one physical card, tile, domino or role.
type Card struct {
	// Code names the card within its type: 1 to 16 of A-Z, a-z, 0-9 and hyphen.
	Code string `json:"code"`

	Name Text `json:"name"`

	// Glyph is the card in Unicode characters: its own picture if Unicode has one, otherwise
	// a few characters that tell it from all other cards of the built-in type.
	Glyph string `json:"glyph"`

	// Attributes are what games ask about: suit, rank, colour, month and so on. The map is shared
	// by all copies of the card and must not be modified.
	Attributes map[string]string `json:"attributes"`

	// Instance numbers the cards of one code, from 1. In the result of [Deck.Cards] it counts
	// within one deck; callers that shuffle several decks together go on counting.
	Instance int `json:"instance"`
}

// A Type is a kind of deck. Types are shared: nothing in one may be modified.
type Type struct {
	// Name is what requests say: a lower-case letter, then up to 63 of a-z, 0-9 and hyphen.
	Name string `json:"type"`

	Title Text `json:"name"`

	// Family says how the cards are pictured: french, latin, tarot, hanafuda, uno, mahjong,
	// sanguosha, roles, dominoes or set, or a word that an operator chose.
	Family string `json:"family"`

	// Parameters are the numbers that a request may choose, each usable by those that follow it.
	Parameters []Parameter `json:"parameters,omitempty"`

	// Presets are the hands that a request may ask for by name.
	Presets []Preset `json:"hands,omitempty"`

	// DeadWall is the number of cards at the end of the order that are never dealt to hands, such as
	// the 14 tiles of riichi's dead wall.
	DeadWall int `json:"dead_wall,omitempty"`

	source string // the operator's file that defines it; empty for a built-in type
	size   amount
	faces  []face
	index  map[string]int // code or alias -> index in faces
	deck   *Deck          // with default parameters
}

// in returns the amount under the given parameters; 0 for a rest.
func (a amount) in(parameters map[string]int) int {
	if a.Parameter != "" {
		return parameters[a.Parameter]
	}
	return a.number
}

// Size returns the number of cards, with default parameters.
func (t *Type) Size() int { return t.deck.Size() }

// Deck returns the deck for the parameters; those not given have their defaults. Without parameters
// it returns one shared deck and allocates nothing. The error is a [*ParameterError].
func (t *Type) Deck(parameters map[string]int) (*Deck, error) {
	if len(parameters) == 0 {
		return t.deck, nil
	}
	resolved, err := t.resolve(parameters)
	if err != nil {
		return nil, err
	}
	d, reason := t.build(resolved)
	if reason != "" {
		return nil, &ParameterError{Name: t.lastOf(parameters), Reason: reason}
	}
	return d, nil
}

// Face returns the card with this code or alias, even if the default deck has none of it. Its
// instance is 0.
func (t *Type) Face(code string) (Card, bool) {
	i, ok := t.index[code]
	if !ok {
		return Card{}, false
	}
	return t.faces[i].Card, true
}

// Faces returns every card of the type once, in catalogue order, even if the default deck has none
// of it.
func (t *Type) Faces() []Card {
	cards := make([]Card, len(t.faces))
	for i := range t.faces {
		cards[i] = t.faces[i].Card
	}
	return cards
}

// A Deck is every card of one deck in catalogue order. It is immutable and safe for concurrent use.
type Deck struct {
	kind       *Type
	parameters map[string]int
	codes      []string
	cards      []Card
}

// build returns the deck, or the reason why the counts do not make one.
func (t *Type) build(parameters map[string]int) (_ *Deck, reason string) {
	counts, reason := t.counts(parameters)
	if reason != "" {
		return nil, reason
	}
	size := t.size.in(parameters)
	d := &Deck{kind: t, parameters: parameters, codes: make([]string, 0, size), cards: make([]Card, 0, size)}
	for i, f := range t.faces {
		for instance := 1; instance <= counts[i]; instance++ {
			f.Instance = instance
			d.cards = append(d.cards, f.Card)
			d.codes = append(d.codes, f.Code)
		}
	}
	return d, ""
}

// counts returns the number of cards of every face, adding up to the declared size, or the reason
// why they do not. The reason continues a sentence that begins with its subject.
func (t *Type) counts(parameters map[string]int) (_ []int, reason string) {
	size := t.size.in(parameters)
	counts := make([]int, len(t.faces))
	total, rest := 0, -1
	for i, f := range t.faces {
		counts[i] = f.Count.in(parameters)
		total += counts[i]
		if f.Count.rest {
			rest = i
		}
	}
	switch {
	case total > size, total < size && rest < 0:
		return nil, fmt.Sprintf("does not fit: the counts add up to %d cards and the size is %d", total, size)
	case rest < 0:
		return counts, ""
	}
	counts[rest] = size - total
	if f := t.faces[rest]; f.Majority && 2*counts[rest] <= size {
		return nil, fmt.Sprintf("leaves %d of %d cards for %s, which must be more than half", counts[rest], size, f.Code)
	}
	return counts, ""
}

// Type returns the type that the deck is of.
func (d *Deck) Type() *Type { return d.kind }

// Parameters returns the value of every parameter of the type, given or default, or nil for a type
// without any. The map is shared and must not be modified.
func (d *Deck) Parameters() map[string]int { return d.parameters }

// Size returns the number of cards.
func (d *Deck) Size() int { return len(d.codes) }

// Codes returns the code of every card in catalogue order. The slice is shared and must not be
// modified.
func (d *Deck) Codes() []string { return d.codes }

// Cards returns every card in catalogue order, equal ones numbered from 1. The slice is shared and
// must not be modified.
func (d *Deck) Cards() []Card { return d.cards }

// Instance returns the instance of a card of many copies of the deck, one after the other: it
// counts over all of them.
func (d *Deck) Instance(number uint64) int {
	size := uint64(len(d.cards))
	copies, place := number/size, number%size
	instance := d.cards[place].Instance
	for copies > 0 && place+1 < size && d.codes[place+1] == d.codes[place] { // equal cards are next to each other
		place++
	}
	return instance + int(copies)*d.cards[place].Instance
}

// Find returns the first card with this code or alias, so 0S and 10S find TS. Case matters: 1s is a
// tile.
func (d *Deck) Find(code string) (Card, bool) {
	face, known := d.kind.Face(code)
	i := slices.Index(d.codes, face.Code)
	if !known || i < 0 {
		return Card{}, false
	}
	return d.cards[i], true
}

// A Cache has what was made of each deck that requests share. A deck with parameters is made for one
// request: caching those would be unbounded.
type Cache[T any] struct{ made sync.Map } // by *Deck

// Of returns what build returns for a deck, or returned earlier.
func (c *Cache[T]) Of(d *Deck, build func(*Deck) T) T {
	if d != d.kind.deck {
		return build(d)
	}
	found, ok := c.made.Load(d)
	if !ok {
		found, _ = c.made.LoadOrStore(d, build(d))
	}
	return found.(T)
}
