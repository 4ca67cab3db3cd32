package prooffile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
)

// A Part is a hand of a deal, by its number from 1, or the rest, which is 0.
type Part uint64

// allParts means all parts of a deal together.
const allParts Part = 1<<64 - 1

// ParsePart parses the number of a hand, or rest.
func ParsePart(text string) (Part, error) {
	n, err := strconv.ParseUint(text, 10, 53)
	if text != "rest" && (err != nil || n == 0 || strconv.FormatUint(n, 10) != text) {
		return 0, fmt.Errorf("%q is not a hand: hands are numbered from 1, and the remaining cards are the rest", text)
	}
	return Part(n), nil
}

// MarshalJSON returns the number, or "rest".
func (p Part) MarshalJSON() ([]byte, error) {
	if p == 0 {
		return []byte(`"rest"`), nil
	}
	return strconv.AppendUint(nil, uint64(p), 10), nil
}

func (p Part) String() string {
	if p == 0 {
		return "the rest"
	}
	return fmt.Sprintf("hand %d", uint64(p))
}

// A Match says what an order turned out to be: the whole order, or hands of a deal.
type Match struct {
	Parts   []Part // the hands, in the order given; nil for the whole order
	Cards   int    // of the only hand
	Shuffle uint64 // number of their shuffle, from 1; 0 for the only one and for all
	Sorted  bool   // they are in another sequence than dealt
	noun    string // what was dealt: card or item
}

func (m *Match) String() string {
	if m.Parts == nil {
		return "the order given"
	}
	text := m.Parts[0].String()
	if last := len(m.Parts) - 1; last == 0 {
		text = fmt.Sprintf("the %s of %s", audit.Count(m.Cards, m.noun), text)
	} else {
		for i, p := range m.Parts[1:] {
			text += map[bool]string{true: " and ", false: ", "}[i+1 == last] + p.String()
		}
	}
	if m.Shuffle > 0 {
		text += fmt.Sprintf(" of shuffle %d", m.Shuffle)
	}
	text += " of this deal"
	if m.Sorted {
		return text + ", in another order than they were dealt"
	}
	return text + ", in the order dealt"
}

// A claim is values that an order has, and which part of a shuffle they are said to be.
type claim struct {
	shuffle int
	part    Part
	values  []value
}

// A comparison compares an order with the replayed positions of a record.
type comparison struct {
	*Order
	*audit.Statement
	orders   [][]uint64 // nil if they are more than the order has items
	cards    *cards
	anyOrder bool // hands and the rest may be in any sequence
}

// match returns what the order is; see docs/spec.md, "Comparing an order or a hand". The error says
// why it is nothing that was dealt. of is the only hand that it may be, if it is not nil.
func (c *comparison) match(of *Part) (*Match, error) {
	if of != nil {
		return c.only(*of)
	}
	claims, complete, err := c.claims()
	isWhole := c.answer["audit_id"] != nil
	if err == nil && isWhole && !complete {
		claims, err = nil, errors.New("the order given has no rest, and an answer with an audit_id is compared whole")
	}
	if err == nil {
		err = c.check(claims, c.sequence)
	}
	switch {
	case err == nil && complete:
		return &Match{}, nil
	case err == nil:
		return c.all(false), nil
	case len(c.Hands) == 0:
		return nil, err
	case c.anyOrder && claims != nil && c.check(claims, c.set) == nil:
		return c.all(true), nil
	}
	hands, rest := c.handsGiven()
	if isWhole || c.answer != nil && c.Repeat == 1 && len(hands) == len(c.Hands) {
		return nil, err // all hands are compared by their numbers
	}
	if m := c.find(hands, rest, nil); m != nil {
		return m, nil
	}
	if len(hands) > 0 && (c.answer != nil || uint64(len(hands[0])) != c.Draw && c.Repeat == 1) {
		err = errors.New("the file is neither the order nor hands of this deal")
	}
	return nil, err
}

// all is all hands of the deal.
func (c *comparison) all(sorted bool) *Match {
	m := c.newMatch(sorted)
	for i, n := range c.Hands {
		m.Parts, m.Cards = append(m.Parts, Part(i+1)), int(n)
	}
	return m
}

func (c *comparison) newMatch(sorted bool) *Match {
	return &Match{Sorted: sorted, noun: map[bool]string{true: "card", false: "item"}[c.cards.isDeck()]}
}

// only returns the hand that the order is said to be.
func (c *comparison) only(of Part) (*Match, error) {
	from, to, ok := c.span(of)
	hands, rest := c.handsGiven()
	switch {
	case !ok || from == to:
		return nil, fmt.Errorf("there is no %s in this deal: it has %s", strings.TrimPrefix(of.String(), "the "), audit.Count(len(c.Hands), "hand"))
	case len(hands) != 1 || rest != nil:
		return nil, fmt.Errorf("the file is not one hand, and %s is", of)
	}
	if m := c.find(hands, nil, &of); m != nil {
		return m, nil
	}
	if m := c.find(hands, nil, nil); m != nil {
		return nil, fmt.Errorf("it is not %s, but %s", of, m.Parts[0])
	}
	if slices.ContainsFunc(c.orders, func(order []uint64) bool { return c.cards.have(order[from:to], hands[0]) }) {
		return nil, fmt.Errorf("it has the same items as %s, in another order", of)
	}
	return nil, fmt.Errorf("it is not %s of this deal, nor another hand of it", of)
}

// claims returns what the order says of each shuffle, in every form that it has: the array alone,
// items, hands and rest, shuffles. It is complete unless it leaves out the rest.
func (c *comparison) claims() (claims []claim, complete bool, err error) {
	switch isOne := c.Repeat == 1; {
	case c.answer == nil && isOne:
		return []claim{{0, allParts, c.values(c.list)}}, true, nil
	case c.answer == nil:
		claims, err = c.split(c.list, false)
		return claims, true, err
	case !isOne && (c.shuffles == nil || c.items != nil || c.hands != nil || c.rest != nil):
		return nil, false, fmt.Errorf("the order given is of 1 shuffle, and there were %d", c.Repeat)
	case isOne && c.items != nil:
		claims, complete = append(claims, claim{0, allParts, c.values(c.items)}), true
	}
	switch {
	case c.Repeat > 1:
	case c.hands != nil:
		dealt, err := c.dealt(0, c.hands, c.rest)
		if err != nil {
			return nil, false, err
		}
		claims, complete = append(claims, dealt...), complete || c.rest != nil
	case c.rest != nil:
		claims = append(claims, claim{0, 0, c.values(c.rest)})
	}
	if c.shuffles != nil {
		more, err := c.split(c.shuffles, len(c.Hands) > 0)
		if err != nil {
			return nil, false, err
		}
		return append(claims, more...), true, nil
	}
	if len(claims) == 0 && c.Draw > 0 { // there is only an empty array of hands
		return nil, false, fmt.Errorf("the order given has no items, and %d were dealt", c.Draw)
	}
	return claims, complete, nil
}

// split returns the claims of several shuffles. Each may be dealt to hands.
func (c *comparison) split(list []jsontext.Value, isDealt bool) (claims []claim, err error) {
	if uint64(len(list)) != c.Repeat {
		return nil, fmt.Errorf("the order given is of %s, and there were %d", audit.Count(len(list), "shuffle"), c.Repeat)
	}
	for number, shuffle := range list {
		parts, err := elements(shuffle)
		var more []claim
		switch {
		case err != nil:
		case !isDealt:
			more = []claim{{number, allParts, c.values(parts)}}
		case len(parts) == 0:
			err = errors.New("it has no rest")
		default:
			var rest []jsontext.Value
			if rest, err = elements(parts[len(parts)-1]); err == nil {
				more, err = c.dealt(number, parts[:len(parts)-1], rest)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("a shuffle of the order given: %w", err)
		}
		claims = append(claims, more...)
	}
	return claims, nil
}

// dealt returns the claims of the hands and the rest of a shuffle, which may be nil.
func (c *comparison) dealt(shuffle int, hands, rest []jsontext.Value) (claims []claim, err error) {
	if len(hands) != len(c.Hands) {
		return nil, fmt.Errorf("the order given has %s, and %d were dealt", audit.Count(len(hands), "hand"), len(c.Hands))
	}
	for i, hand := range hands {
		list, err := elements(hand)
		if err != nil {
			return nil, fmt.Errorf("a hand of the order given: %w", err)
		}
		claims = append(claims, claim{shuffle, Part(i + 1), c.values(list)})
	}
	if rest != nil {
		claims = append(claims, claim{shuffle, 0, c.values(rest)})
	}
	return claims, nil
}

// check compares each claim with its part, in length and cards.
func (c *comparison) check(claims []claim, equals func(*claim, []uint64) error) error {
	for _, k := range claims {
		if from, to, _ := c.span(k.part); uint64(len(k.values)) != to-from {
			return fmt.Errorf("%s%s, and %d were dealt", c.which(&k), audit.Count(len(k.values), "item"), to-from)
		}
	}
	if uint64(len(c.orders)) != c.Repeat {
		return errors.New("the order given and the draw differ in length")
	}
	for _, k := range claims {
		from, to, _ := c.span(k.part)
		if err := equals(&k, c.orders[k.shuffle][from:to]); err != nil {
			return err
		}
	}
	return nil
}

// sequence compares the claim with the cards in their sequence.
func (c *comparison) sequence(k *claim, positions []uint64) error {
	for i, position := range positions {
		want, ok := c.cards.is(position, k.values[i])
		if ok {
			continue
		}
		err := fmt.Errorf("%s%s at place %d, where the replay has %s", c.which(k), short(k.values[i].text), i, short([]byte(want)))
		if c.cards.have(positions, k.values) {
			err = fmt.Errorf("the same items in another order: %w", err)
		}
		return err
	}
	return nil
}

// set is sequence for hands and a rest that may have been sorted.
func (c *comparison) set(k *claim, positions []uint64) error {
	if k.part == allParts {
		return c.sequence(k, positions)
	}
	if !c.cards.have(positions, k.values) {
		return errors.New("other cards")
	}
	return nil
}

// which begins a sentence about what a claim has.
func (c *comparison) which(k *claim) string {
	text := "the order given has "
	if k.part != allParts {
		text = fmt.Sprintf("%s of the order given has ", k.part)
	}
	if c.Repeat > 1 {
		text = fmt.Sprintf("shuffle %d: ", k.shuffle+1) + text
	}
	return text
}

// handsGiven returns the hands that the order may be, and the rest; nil if it has none.
func (c *comparison) handsGiven() (hands [][]value, rest []value) {
	if c.answer == nil {
		return [][]value{c.values(c.list)}, nil
	}
	if c.items != nil || c.shuffles != nil || len(c.hands) > len(c.Hands) {
		return nil, nil
	}
	for _, hand := range c.hands {
		list, err := elements(hand)
		if err != nil {
			return nil, nil
		}
		hands = append(hands, c.values(list))
	}
	if c.rest != nil {
		rest = c.values(c.rest)
	}
	return hands, rest
}

// find returns where the hands were dealt: in sequence in the first shuffle that has them so, or
// else in any if they may be sorted. of is the only hand that they may be, if it is not nil.
func (c *comparison) find(hands [][]value, rest []value, of *Part) *Match {
	if len(hands) == 0 {
		return nil
	}
	for _, sorted := range []bool{false, true} {
		if sorted && c.answer != nil && !c.anyOrder {
			break // players sort the hand that they hold, and nobody an answer
		}
		for shuffle := range c.orders {
			parts := c.place(shuffle, hands, rest, of, sorted)
			if parts == nil {
				continue
			}
			m := c.newMatch(sorted)
			m.Parts, m.Cards = parts, len(hands[0])
			if c.Repeat > 1 {
				m.Shuffle = uint64(shuffle) + 1
			}
			return m
		}
	}
	return nil
}

// place returns which parts of a shuffle the hands are, each another; nil unless all are found.
func (c *comparison) place(shuffle int, hands [][]value, rest []value, of *Part, sorted bool) (parts []Part) {
	taken := map[Part]bool{}
	isPart := func(p Part, values []value, sorted bool) bool {
		from, to, _ := c.span(p)
		if sorted && (p > 0 || c.anyOrder) { // the order of the rest, a wall, is the game
			return c.cards.have(c.orders[shuffle][from:to], values)
		}
		return c.cards.are(c.orders[shuffle][from:to], values)
	}
	take := func(values []value, sorted bool) bool {
		for p := range Part(len(c.Hands) + 1) {
			p = (p + 1) % Part(len(c.Hands)+1) // the rest is last
			if !taken[p] && (of == nil || p == *of) && len(values) > 0 && isPart(p, values, sorted) {
				taken[p], parts = true, append(parts, p)
				return true
			}
		}
		return false
	}
	if rest != nil {
		if taken[0] = true; !isPart(0, rest, sorted) {
			return nil
		}
	}
	for _, hand := range hands {
		if !take(hand, false) && (!sorted || !take(hand, true)) {
			return nil
		}
	}
	return parts
}

// span returns a part's place in the result, and whether the deal can have it.
func (c *comparison) span(p Part) (from, to uint64, ok bool) {
	if p == allParts {
		return 0, c.Draw, true
	}
	for i, n := range c.Hands {
		if p == Part(i+1) {
			return from, from + n, true
		}
		from += n
	}
	return from, c.Draw, p == 0 && len(c.Hands) > 0
}

func (c *comparison) values(list []jsontext.Value) []value {
	values := make([]value, len(list))
	for i, text := range list {
		values[i] = c.cards.value(text)
	}
	return values
}
