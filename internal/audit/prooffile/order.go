package prooffile

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/rng"
)

// An Order is a parsed answer of POST /shuffle, or what somebody claims to be one. All values are
// without white space.
type Order struct {
	answer map[string]jsontext.Value // the members of an answer; nil for an array
	lists  map[string]*list          // the members that are arrays
	array  *list                     // the array alone; nil for an answer
	count  uint64                    // an upper bound of the number of items
}

// answerMembers are the members of an answer. None of them is ignored.
var answerMembers = []string{"items", "hands", "rest", "shuffles", "audit_id", "log_index", "algorithm", "commitment", "round", "seed"}

// ParseOrder parses an answer of POST /shuffle, which is an object with items, hands or shuffles; or
// an array alone.
func ParseOrder(text []byte) (*Order, error) {
	value, err := compact(text)
	if err != nil {
		return nil, err
	}
	o := &Order{array: elements(value), lists: map[string]*list{}, count: uint64(bytes.Count(value, []byte{','})) + 1}
	if o.array != nil {
		return o, nil
	}
	o.answer, _ = members(value) // no error, since it was parsed
	has := func(name string) bool { return o.answer[name] != nil }
	demand := func(holds bool, broken string, args ...any) { err = cmp.Or(err, audit.Rule(holds, broken, args...)) }
	demand(value.Kind() == '{', "neither an answer of POST /shuffle nor a JSON array")
	demand(has("items") || has("hands") || has("shuffles"), "an object without items, hands or shuffles: not an answer of POST /shuffle")
	for _, name := range answerMembers[:4] {
		if has(name) {
			o.lists[name] = elements(o.answer[name])
			demand(o.lists[name] != nil, "an answer whose %s are not an array", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.answer)) {
		demand(slices.Contains(answerMembers, name), "an answer with the member %s, which no answer of POST /shuffle has", short(name))
	}
	return o, err
}

// text returns a member of the answer that is a string; empty for any other.
func (o *Order) text(name string) string { return unquoted(o.answer[name]) }

// seedOf returns the seed that an answer to the request of the record has; nil for none.
func (o *Order) seedOf(record *audit.Record) rng.Seed {
	if o == nil || o.answer["audit_id"] != nil && o.text("audit_id") != record.ID.String() {
		return nil
	}
	return parseSeed(o.text("seed"))
}

// names checks that the answer's members agree with the record: id, algorithm, commitment, round,
// seed and place in the log.
func (o *Order) names(r *Result) error {
	agrees := func(name string, isSame bool) error {
		return audit.Rule(isSame || o.answer[name] == nil, "the answer has another %s than the record", name)
	}
	index, isWhole := wholeNumber(o.answer["log_index"])
	round, isRound := wholeNumber(o.answer["round"])
	return cmp.Or(
		agrees("audit_id", o.text("audit_id") == r.Record.ID.String()),
		agrees("algorithm", o.text("algorithm") == string(r.Record.Statement.Algorithm)),
		agrees("commitment", o.text("commitment") == r.Record.Commitment.String()),
		agrees("round", isRound && round > 0 && round == r.Record.Round),
		agrees("seed", r.seed == nil || o.text("seed") == hex.EncodeToString(r.seed)),
		agrees("log_index", isWhole && index == r.File.Inclusion.Index),
	)
}

// short truncates a value to fit on a line.
func short[T ~string | ~[]byte](value T) string {
	const most = 60
	text := []rune(string(value))
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// A Part is a hand of a deal, by its number from 1, or the rest, which is 0.
type Part uint64

const (
	remaining Part = 0        // the rest of a deal
	whole          = ^Part(0) // all parts of a shuffle together
)

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
	if p == remaining {
		return []byte(`"rest"`), nil
	}
	return strconv.AppendUint(nil, uint64(p), 10), nil
}

func (p Part) String() string {
	if p == whole {
		return "the order given"
	}
	return p.message().String()
}

// message names one part.
func (p Part) message() Message {
	if p == remaining {
		return newMessage("part.rest", nil)
	}
	return newMessage("part", values{"n": uint64(p)})
}

// A Match says what an order turned out to be: the whole order, or hands of a deal.
type Match struct {
	Parts   []Part // the hands, in the order given; nil for the whole order
	Cards   int    // of the only hand
	Shuffle uint64 // number of their shuffle, from 1; 0 for the only one and for all
	Sorted  bool   // they are in another sequence than dealt
	noun    string // what was dealt: card or item
}

// message names the hands.
func (m *Match) message() Message {
	var names []any
	for _, part := range m.Parts {
		names = append(names, part.message())
	}
	id, last := "match", len(names)-1
	of := values{"parts": newMessage("match."+m.noun+"s", values{"cards": m.Cards, "part": names[0]})}
	if last > 0 {
		of["parts"] = newMessage("match.parts", values{"parts": names[:last], "last": names[last]})
	}
	if m.Shuffle > 0 {
		of["shuffle"] = m.Shuffle
	}
	if m.Sorted {
		id = "match.sorted"
	}
	return newMessage(id, of)
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

// A claim is values that an order has, and which part of a shuffle they are said to be.
type claim struct {
	shuffle int
	part    Part
	values  *list // nil for no array
}

// match returns what the order is: first everything that was dealt, then that with its hands
// sorted, and last some of its hands. The error says why it is nothing that was dealt.
func (c *comparison) match() (*Match, error) {
	claims, err := c.claims()
	err = cmp.Or(err, c.checkAll(claims, false))
	all := c.parts()[:len(c.Hands)]
	switch {
	case err == nil && (len(all) == 0 || !c.lacksRest()):
		return &Match{}, nil
	case err == nil:
		return c.newMatch(all, false), nil
	case len(all) == 0:
		return nil, err
	case c.anyOrder && claims != nil && c.checkAll(claims, true) == nil:
		return c.newMatch(all, true), nil
	}
	hands := c.handsGiven()
	if c.answer["audit_id"] != nil || c.answer != nil && c.Repeat == 1 && len(hands) == len(c.Hands) {
		return nil, err // all hands are compared by their numbers
	}
	if m := c.find(hands, c.parts()); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("the file is neither the order nor hands of this deal: %w", err)
}

// checkAll checks claims up to the first that does not hold.
func (c *comparison) checkAll(claims []claim, isSet bool) error {
	for _, k := range claims {
		if err := c.check(k, isSet); err != nil && c.Repeat > 1 {
			return fmt.Errorf("shuffle %d: %w", k.shuffle+1, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// matchHand is match for an order that is said to be one hand.
func (c *comparison) matchHand(said Part) (*Match, error) {
	hands, parts := c.handsGiven(), c.parts()
	if len(hands) != 1 || c.lists["rest"] != nil || !slices.Contains(parts, said) {
		return nil, fmt.Errorf("the file is not one hand, or %s is not of this deal, which has %s", said, audit.Count(len(c.Hands), "hand"))
	}
	if m := c.find(hands, []Part{said}); m != nil {
		return m, nil
	}
	if m := c.find(hands, parts); m != nil {
		return nil, fmt.Errorf("it is not %s, but %s", said, m.Parts[0])
	}
	return nil, fmt.Errorf("it is not %s of this deal, nor another hand of it", said)
}

// claims returns what the order says of each shuffle, in every form that it has. The error says why
// it cannot be what was dealt, whatever its values are.
func (c *comparison) claims() (claims []claim, err error) {
	items, hands, shuffles := c.lists["items"], c.lists["hands"], c.lists["shuffles"]
	if c.answer == nil && c.Repeat == 1 {
		items = c.array
	} else if c.answer == nil {
		shuffles = c.array
	}
	hasRest := !c.lacksRest() || c.answer["audit_id"] == nil && (len(c.Hands) > 0 || c.Draw == 0)
	if err = cmp.Or(
		audit.Rule(c.orders != nil, "the order given has fewer items than were dealt: at most %d", c.count),
		audit.Rule(c.Repeat == 1 || shuffles != nil && len(c.lists) < 2, "the order given is of 1 shuffle, and there were %d", c.Repeat),
		audit.Rule(shuffles == nil || uint64(shuffles.len()) == c.Repeat,
			"the order given is of %s, and there were %d", audit.Count(shuffles.len(), "shuffle"), c.Repeat),
		audit.Rule(hands == nil || hands.len() == len(c.Hands), "the order given has %d hands, and %d were dealt", hands.len(), len(c.Hands)),
		audit.Rule(hasRest, "the order given has no rest"),
	); err != nil {
		return nil, err
	}
	add := func(shuffle int, part Part, values *list) { claims = append(claims, claim{shuffle, part, values}) }
	if items != nil {
		add(0, whole, items)
	}
	for i, hand := range hands.all() {
		add(0, Part(i+1), elements(hand))
	}
	if rest := c.lists["rest"]; rest != nil {
		add(0, remaining, rest)
	}
	for shuffle, text := range shuffles.all() {
		parts := elements(text)
		if c.answer == nil || len(c.Hands) == 0 {
			add(shuffle, whole, parts)
			continue
		}
		if parts.len() != len(c.Hands)+1 {
			return nil, fmt.Errorf("shuffle %d of the order given is not %d hands and the rest", shuffle+1, len(c.Hands))
		}
		for i, values := range parts.all() {
			add(shuffle, Part((i+1)%parts.len()), elements(values)) // the last is the rest
		}
	}
	return claims, nil
}

// lacksRest reports whether the order has hands and nothing else.
func (c *comparison) lacksRest() bool { return c.lists["hands"] != nil && len(c.lists) == 1 }

// check checks a claim. Hands may be sorted if isSet says so. The rest may be sorted only if any
// order was asked for: it may be a wall, whose order is the game.
func (c *comparison) check(k claim, isSet bool) error {
	dealt, n := c.dealt(k.shuffle, k.part), k.values.len()
	if k.values == nil || n != len(dealt) {
		return fmt.Errorf("%s has %s, and %d were dealt", k.part, audit.Count(n, "item"), len(dealt))
	}
	if isSet && k.part != whole && (k.part != remaining || c.anyOrder) {
		return audit.Rule(c.cards.areSet(dealt, k.values), "%s has other items than were dealt", k.part)
	}
	if i := c.cards.firstOther(dealt, k.values); i >= 0 {
		names := c.cards.names(dealt[i])
		return fmt.Errorf("%s has %s at place %d, where the replay has %s", k.part, short(k.values.at(i)), i, short(names[len(names)-1]))
	}
	return nil
}

// handsGiven returns what may be hands of one shuffle; none if the order has another form.
func (c *comparison) handsGiven() (hands []*list) {
	given := c.lists["hands"]
	switch {
	case c.answer == nil:
		return []*list{c.array}
	case c.lists["items"] != nil || c.lists["shuffles"] != nil || given.len() > len(c.Hands):
		return nil
	}
	for _, hand := range given.all() {
		hands = append(hands, elements(hand))
	}
	return hands
}

// find returns where the hands were dealt, each as another of the parts: in sequence in the first
// shuffle that has them so, or else in any if they may be sorted.
func (c *comparison) find(hands []*list, parts []Part) *Match {
	for _, sorted := range []bool{false, true} {
		if sorted && c.answer != nil && !c.anyOrder {
			return nil // players sort the hand that they hold, and nobody an answer
		}
		for shuffle := range c.orders {
			if found := c.place(shuffle, hands, slices.Clone(parts), sorted); found != nil {
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
func (c *comparison) place(shuffle int, hands []*list, parts []Part, sorted bool) (found []Part) {
	if rest := c.lists["rest"]; rest != nil {
		if c.check(claim{shuffle, remaining, rest}, sorted) != nil {
			return nil
		}
		parts = slices.DeleteFunc(parts, func(part Part) bool { return part == remaining })
	}
	for _, hand := range hands {
		at := slices.IndexFunc(parts, func(part Part) bool { return c.check(claim{shuffle, part, hand}, false) == nil })
		if at < 0 && sorted {
			at = slices.IndexFunc(parts, func(part Part) bool { return c.check(claim{shuffle, part, hand}, true) == nil })
		}
		if at < 0 {
			return nil
		}
		found, parts = append(found, parts[at]), slices.Delete(parts, at, at+1)
	}
	return found
}

func (c *comparison) newMatch(parts []Part, sorted bool) *Match {
	return &Match{Parts: parts, Cards: len(c.dealt(0, parts[0])), Sorted: sorted, noun: c.cards.noun}
}

// parts returns the parts that a hand can be: the hands of the deal and the rest, unless that is
// empty. A record without hands has none.
func (c *comparison) parts() (parts []Part) {
	for i := range c.Hands {
		parts = append(parts, Part(i+1))
	}
	if len(c.Hands) > 0 && len(c.dealt(0, remaining)) > 0 {
		parts = append(parts, remaining)
	}
	return parts
}

// dealt returns what a shuffle dealt to a part.
func (c *comparison) dealt(shuffle int, part Part) []uint64 {
	order := c.orders[shuffle]
	if part == whole {
		return order
	}
	for i, n := range c.Hands {
		if part == Part(i+1) {
			return order[:n]
		}
		order = order[n:]
	}
	return order // without hands, the rest is all
}
