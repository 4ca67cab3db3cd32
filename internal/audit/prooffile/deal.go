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
	names := texts(m.Parts)
	text, last := fmt.Sprintf("the %s of %s", audit.Count(m.Cards, m.noun), names[0]), len(names)-1
	if last > 0 {
		text = strings.Join(names[:last], ", ") + " and " + names[last]
	}
	if m.Shuffle > 0 {
		text += fmt.Sprintf(" of shuffle %d", m.Shuffle)
	}
	if m.Sorted {
		return text + " of this deal, in another order than they were dealt"
	}
	return text + " of this deal, in the order dealt"
}

func texts[E fmt.Stringer](list []E) (texts []string) {
	for _, e := range list {
		texts = append(texts, e.String())
	}
	return texts
}

// A comparison compares an order with the replayed positions of a record, by docs/spec.md,
// "Comparing an order or a hand".
type comparison struct {
	*Order
	*audit.Statement
	orders   [][]uint64 // nil if they are more than the order has items
	cards    *cards
	anyOrder bool // hands and the rest may be in any sequence
}

const (
	remaining Part = 0        // the rest of a deal
	whole          = ^Part(0) // of a claim that is about all parts of a shuffle together
)

// A claim is values that an order has, and which part of a shuffle they are said to be.
type claim struct {
	shuffle int
	part    Part
	values  *list
}

// claims are what an order says of each shuffle, or the first reason why it cannot be what was
// dealt.
type claims struct {
	*comparison
	list []claim
	err  error
}

// match returns what the order is. The error says why it is nothing that was dealt.
func (c *comparison) match() (*Match, error) {
	said := c.claims()
	err := said.check(c.checkSequence)
	switch {
	case err == nil && (c.isComplete() || len(c.Hands) == 0):
		return &Match{}, nil
	case err == nil:
		return c.allHands(false), nil
	case len(c.Hands) == 0:
		return nil, err
	case c.anyOrder && said.check(c.checkSet) == nil:
		return c.allHands(true), nil
	}
	hands, rest := c.handsGiven()
	if c.answer["audit_id"] != nil || c.answer != nil && c.Repeat == 1 && len(hands) == len(c.Hands) {
		return nil, err // all hands are compared by their numbers
	}
	if m := c.find(hands, rest, c.parts()); m != nil {
		return m, nil
	}
	if len(hands) > 0 && (c.answer != nil || uint64(hands[0].len()) != c.Draw && c.Repeat == 1) {
		err = errors.New("the file is neither the order nor hands of this deal")
	}
	return nil, err
}

// matchHand is match for an order that is said to be one hand.
func (c *comparison) matchHand(said Part) (*Match, error) {
	hands, rest := c.handsGiven()
	switch {
	case !slices.Contains(c.parts(), said):
		return nil, fmt.Errorf("there is no %s in this deal: it has %s", strings.TrimPrefix(said.String(), "the "), audit.Count(len(c.Hands), "hand"))
	case len(hands) != 1 || rest != nil:
		return nil, fmt.Errorf("the file is not one hand, and %s is", said)
	}
	if m := c.find(hands, nil, []Part{said}); m != nil {
		return m, nil
	}
	if m := c.find(hands, nil, c.parts()); m != nil {
		return nil, fmt.Errorf("it is not %s, but %s", said, m.Parts[0])
	}
	for shuffle := range c.orders {
		if c.cards.areSet(c.positions(shuffle, said), hands[0]) {
			return nil, fmt.Errorf("it has the same items as %s, in another order", said)
		}
	}
	return nil, fmt.Errorf("it is not %s of this deal, nor another hand of it", said)
}

// isComplete reports whether the order leaves nothing out: only the rest beside hands may be
// missing.
func (c *comparison) isComplete() bool {
	return c.answer == nil || c.items != nil || c.rest != nil || c.shuffles != nil
}

// claims returns what the order says of each shuffle, in every form that it has: the array alone,
// items, hands and rest, shuffles.
func (c *comparison) claims() *claims {
	said := &claims{comparison: c}
	switch {
	case c.answer == nil && c.Repeat == 1:
		said.add(0, whole, c.list)
	case c.answer == nil:
		said.addShuffles(c.list, false)
	case c.Repeat > 1 && (c.shuffles == nil || c.items != nil || c.hands != nil || c.rest != nil):
		said.fail("the order given is of 1 shuffle, and there were %d", c.Repeat)
	}
	if c.items != nil {
		said.add(0, whole, c.items)
	}
	if c.hands != nil {
		said.addHands(0, c.hands, "")
	}
	if c.rest != nil {
		said.add(0, remaining, c.rest)
	}
	if c.shuffles != nil {
		said.addShuffles(c.shuffles, len(c.Hands) > 0)
	}
	if len(said.list) == 0 && c.Draw > 0 { // there is only an empty array of hands
		said.fail("the order given has no items, and %d were dealt", c.Draw)
	}
	if c.answer["audit_id"] != nil && !c.isComplete() {
		said.fail("the order given has no rest, and an answer with an audit_id is compared whole")
	}
	return said
}

// fail sets the reason, unless there is one.
func (k *claims) fail(reason string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf(reason, args...)
	}
}

func (k *claims) add(shuffle int, part Part, list *list) {
	k.list = append(k.list, claim{shuffle, part, list})
}

// addShuffles adds several shuffles: the order of each or, if they are dealt, its hands and then
// its rest.
func (k *claims) addShuffles(list *list, isDealt bool) {
	if uint64(list.len()) != k.Repeat {
		k.fail("the order given is of %s, and there were %d", audit.Count(list.len(), "shuffle"), k.Repeat)
	}
	const of = "a shuffle of the order given: "
	for shuffle, text := range list.all() {
		parts := k.elements(of, text)
		switch last := parts.len() - 1; {
		case !isDealt:
			k.add(shuffle, whole, parts)
		case last < 0:
			k.fail(of + "it has no rest")
		default:
			rest := k.elements(of, parts.at(last))
			k.addHands(shuffle, parts.first(last), of)
			k.add(shuffle, remaining, rest)
		}
	}
}

// addHands adds all hands of a shuffle. of begins the reason why they cannot be those.
func (k *claims) addHands(shuffle int, hands *list, of string) {
	if hands.len() != len(k.Hands) {
		k.fail(of+"the order given has %s, and %d were dealt", audit.Count(hands.len(), "hand"), len(k.Hands))
	}
	for i, hand := range hands.all() {
		k.add(shuffle, Part(i+1), k.elements(of+"a hand of the order given: ", hand))
	}
}

// elements returns the elements of an array, and fails if it is none.
func (k *claims) elements(of string, array jsontext.Value) *list {
	list, err := elements(array)
	if err != nil {
		k.fail(of+"%w", err)
	}
	return list
}

// check compares each claim with its part, in length and then as compare does.
func (k *claims) check(compare func(claim, []uint64) error) error {
	for _, said := range k.list {
		if from, to := k.span(said.part); uint64(said.values.len()) != to-from {
			k.fail("%s%s, and %d were dealt", k.which(said), audit.Count(said.values.len(), "item"), to-from)
		}
	}
	if uint64(len(k.orders)) != k.Repeat {
		k.fail("the order given and the draw differ in length")
	}
	if k.err != nil {
		return k.err
	}
	for _, said := range k.list {
		if err := compare(said, k.positions(said.shuffle, said.part)); err != nil {
			return err
		}
	}
	return nil
}

// checkSequence compares the claim with the cards in their sequence.
func (c *comparison) checkSequence(k claim, positions []uint64) error {
	if i := c.cards.firstOther(positions, k.values); i >= 0 {
		position, value := positions[i], k.values.at(i)
		err := fmt.Errorf("%s%s at place %d, where the replay has %s", c.which(k), short(value), i, short([]byte(c.cards.name(position, value))))
		if c.cards.areSet(positions, k.values) {
			err = fmt.Errorf("the same items in another order: %w", err)
		}
		return err
	}
	return nil
}

// checkSet is checkSequence for hands and a rest that may have been sorted.
func (c *comparison) checkSet(k claim, positions []uint64) error {
	if k.part == whole {
		return c.checkSequence(k, positions)
	}
	return audit.Rule(c.cards.areSet(positions, k.values), "other cards")
}

// which begins a sentence about what a claim has.
func (c *comparison) which(k claim) string {
	text := "the order given has "
	if k.part != whole {
		text = k.part.String() + " of " + text
	}
	if c.Repeat > 1 {
		text = fmt.Sprintf("shuffle %d: ", k.shuffle+1) + text
	}
	return text
}

// handsGiven returns the hands that the order may be, and the rest; nil if it has none.
func (c *comparison) handsGiven() (hands []*list, rest *list) {
	if c.answer == nil {
		return []*list{c.list}, nil
	}
	said := &claims{comparison: c}
	for _, hand := range c.hands.all() {
		hands = append(hands, said.elements("", hand))
	}
	if said.err != nil || c.items != nil || c.shuffles != nil || c.hands.len() > len(c.Hands) {
		return nil, nil
	}
	return hands, c.rest
}

// find returns where the hands were dealt, each as another of the parts: in sequence in the first
// shuffle that has them so, or else in any if they may be sorted.
func (c *comparison) find(hands []*list, rest *list, parts []Part) *Match {
	for _, sorted := range []bool{false, true} {
		if sorted && c.answer != nil && !c.anyOrder {
			return nil // players sort the hand that they hold, and nobody an answer
		}
		for shuffle := range c.orders {
			if found := c.place(shuffle, hands, rest, slices.Clone(parts), sorted); found != nil {
				m := c.newMatch(found, sorted)
				if c.Repeat > 1 {
					m.Shuffle = uint64(shuffle) + 1
				}
				return m
			}
		}
	}
	return nil
}

// place returns which parts of a shuffle the hands are, each another; nil unless all are found. A
// hand that may be sorted is nevertheless the part that it equals in sequence, if there is one.
func (c *comparison) place(shuffle int, hands []*list, rest *list, parts []Part, sorted bool) (found []Part) {
	if rest != nil {
		if !c.isPart(shuffle, remaining, rest, sorted) {
			return nil
		}
		parts = slices.DeleteFunc(parts, func(part Part) bool { return part == remaining })
	}
	for _, hand := range hands {
		at := slices.IndexFunc(parts, func(part Part) bool { return c.isPart(shuffle, part, hand, false) })
		if at < 0 && sorted {
			at = slices.IndexFunc(parts, func(part Part) bool { return c.isPart(shuffle, part, hand, true) })
		}
		if at < 0 {
			return nil
		}
		found, parts = append(found, parts[at]), slices.Delete(parts, at, at+1)
	}
	return found
}

// isPart reports whether values are the part of a shuffle. The rest may be sorted only if any order
// was asked for: it may be a wall, whose order is the game.
func (c *comparison) isPart(shuffle int, part Part, values *list, sorted bool) bool {
	if sorted && (part != remaining || c.anyOrder) {
		return c.cards.areSet(c.positions(shuffle, part), values)
	}
	return c.cards.areSequence(c.positions(shuffle, part), values)
}

func (c *comparison) allHands(sorted bool) *Match {
	return c.newMatch(c.parts()[:len(c.Hands)], sorted)
}

func (c *comparison) newMatch(parts []Part, sorted bool) *Match {
	from, to := c.span(parts[0])
	m := &Match{Parts: parts, Cards: int(to - from), Sorted: sorted, noun: "item"}
	if c.cards.isDeck() {
		m.noun = "card"
	}
	return m
}

// parts returns the parts that a hand can be: the hands of the deal and the rest, unless that is
// empty. A record without hands has none.
func (c *comparison) parts() (parts []Part) {
	for i := range c.Hands {
		parts = append(parts, Part(i+1))
	}
	if from, to := c.span(remaining); from < to && len(c.Hands) > 0 {
		parts = append(parts, remaining)
	}
	return parts
}

// positions returns what a shuffle dealt to a part.
func (c *comparison) positions(shuffle int, part Part) []uint64 {
	from, to := c.span(part)
	return c.orders[shuffle][from:to]
}

// span returns a part's place in the result.
func (c *comparison) span(part Part) (from, to uint64) {
	if part == whole {
		return 0, c.Draw
	}
	for i, n := range c.Hands {
		if part == Part(i+1) {
			return from, from + n
		}
		from += n
	}
	return from, c.Draw
}
