package prooffile

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/rng"
)

// An Order is what somebody says was dealt: an answer of POST /shuffle, everything that was dealt
// as a list, or one hand of it. All values are without white space.
type Order struct {
	answer map[string]jsontext.Value // the members of an answer; nil for a list
	lists  map[string]*list          // the members that are arrays
	array  *list                     // the list alone; nil for an answer
	isHand bool                      // the list is one hand
	count  uint64                    // an upper bound of the number of items
}

// answerMembers are the members of an answer. None of them is ignored.
var answerMembers = []string{"items", "hands", "rest", "shuffles", "audit_id", "log_index", "algorithm", "commitment", "round", "seed"}

// ParseAnswer parses an answer of POST /shuffle: an object with items, hands or shuffles.
func ParseAnswer(text []byte) (*Order, error) {
	value, err := compact(text)
	if err != nil {
		return nil, err
	}
	o := &Order{lists: map[string]*list{}, count: uint64(bytes.Count(value, []byte{','})) + 1}
	o.answer, _ = members(value) // no error, since it was parsed
	has := func(name string) bool { return o.answer[name] != nil }
	demand := func(holds bool, id, name string) {
		err = cmp.Or(err, message.Rule(holds, id, message.Values{"name": name}))
	}
	demand(value.Kind() == '{', "why.answer", "")
	demand(has("items") || has("hands") || has("shuffles"), "why.answer.empty", "")
	for _, name := range answerMembers[:4] {
		if has(name) {
			o.lists[name] = elements(o.answer[name])
			demand(o.lists[name] != nil, "why.answer.array", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.answer)) {
		demand(slices.Contains(answerMembers, name), "why.answer.member", message.Short(name))
	}
	return o, err
}

// ParseOrder parses a list of dealt cards or items. If it is of a range, lines of digits are numbers.
func ParseOrder(text []byte, isRange bool) (*Order, error) {
	value, err := parseList(text, isRange)
	if err != nil {
		return nil, err
	}
	array := elements(value)
	return &Order{array: array, count: uint64(bytes.Count(value, []byte{','})) + 1}, nil
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
		return message.Rule(isSame || o.answer[name] == nil, "why.answer.other", message.Values{"name": name})
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
		return 0, message.New("why.part", message.Values{"text": text})
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

// message names a part.
func (p Part) message() message.Message {
	switch p {
	case remaining:
		return message.New("part.rest", nil)
	case whole:
		return message.New("part.whole", nil)
	}
	return message.New("part", message.Values{"n": uint64(p)})
}

// A Match says what an order turned out to be: everything that was dealt, or a part of it.
type Match struct {
	Part    Part
	Cards   uint64 // of the part
	Shuffle uint64 // the number of its shuffle, from 1; 0 for the only one and for all
	Sorted  bool   // they are in another sequence than dealt
	noun    string // what was dealt: card or item
}

// message names the part.
func (m *Match) message() message.Message {
	id, of := "match", message.Values{"parts": message.New("match."+m.noun+"s", message.Values{"cards": m.Cards, "part": m.Part.message()})}
	if m.Shuffle > 0 {
		of["shuffle"] = m.Shuffle
	}
	if m.Sorted {
		id = "match.sorted"
	}
	return message.New(id, of)
}

// A comparison compares an order with the replayed positions of a record, by docs/spec.md,
// "Comparing an order or a hand".
type comparison struct {
	*Order
	*audit.Statement
	orders [][]uint64 // nil if they are more than the order has items
	cards  *cards
}

// A claim is values that an order has, and which part of a shuffle they are said to be.
type claim struct {
	shuffle int
	part    Part
	values  *list
}

// match returns what the order is. said is the hand that it is said to be, if that is said. The
// error says why it is not what was dealt.
func (c *comparison) match(said *Part) (*Match, error) {
	if c.isHand {
		return c.matchHand(said)
	}
	claims, err := c.claims()
	if err != nil {
		return nil, err
	}
	for _, check := range []func(claim) error{c.checkCount, c.checkSequence} { // of orders that are unknown, there are too few
		for _, k := range claims {
			if err := check(k); err != nil && c.Repeat > 1 {
				return nil, message.New("why.order.shuffle", message.Values{"n": k.shuffle + 1, "what": message.Of(err)})
			} else if err != nil {
				return nil, err
			}
		}
	}
	return &Match{Part: whole}, nil
}

// matchHand is match for one hand.
func (c *comparison) matchHand(said *Part) (*Match, error) {
	parts := c.parts()
	if said == nil {
		if m := c.find(parts); m != nil {
			return m, nil
		}
		return nil, message.New("why.hand", message.Values{"hands": len(c.Hands)})
	}
	if !slices.Contains(parts, *said) {
		return nil, message.New("why.hand.file", message.Values{"part": said.message(), "hands": len(c.Hands)})
	}
	if m := c.find([]Part{*said}); m != nil {
		return m, nil
	}
	if m := c.find(parts); m != nil {
		return nil, message.New("why.hand.other", message.Values{"part": said.message(), "other": m.Part.message()})
	}
	return nil, message.New("why.hand.none", message.Values{"part": said.message()})
}

// find returns the first of the parts that the hand is: in sequence in any shuffle, or else sorted,
// as players hold their cards. The rest may be a wall, whose order is the game.
func (c *comparison) find(parts []Part) *Match {
	for _, sorted := range []bool{false, true} {
		for shuffle := range c.orders {
			for _, part := range parts {
				k := claim{shuffle, part, c.array}
				if c.checkCount(k) != nil || sorted && (part == remaining || !c.cards.areSet(c.dealt(k), k.values)) || !sorted && c.checkSequence(k) != nil {
					continue
				}
				m := &Match{Part: part, Cards: uint64(c.array.len()), Sorted: sorted, noun: c.cards.noun}
				if c.Repeat > 1 {
					m.Shuffle = uint64(shuffle) + 1
				}
				return m
			}
		}
	}
	return nil
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
	isOther := func(_ int, value jsontext.Value) bool { return value.Kind() != '[' }
	isOfShuffles := c.Repeat == 1 || shuffles != nil && len(c.lists) < 2 && (c.answer != nil || shuffles.indexFunc(isOther) < 0)
	if err = cmp.Or(
		message.Rule(isOfShuffles, "why.order.shuffles", message.Values{"given": 1, "repeat": c.Repeat}),
		message.Rule(hands == nil || hands.len() == len(c.Hands), "why.order.hands", message.Values{"given": hands.len(), "dealt": len(c.Hands)}),
		message.Rule(shuffles == nil || uint64(shuffles.len()) == c.Repeat, "why.order.shuffles", message.Values{"given": shuffles.len(), "repeat": c.Repeat}),
		message.Rule((hands == nil) == (c.lists["rest"] == nil), "why.order.rest", nil),
	); err != nil {
		return nil, err
	}
	add := func(shuffle int, part Part, values *list) {
		err = cmp.Or(err, message.Rule(values != nil, "why.json.array", nil))
		claims = append(claims, claim{shuffle, part, values})
	}
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
		if c.answer == nil || len(c.Hands) == 0 || parts == nil {
			add(shuffle, whole, parts)
			continue
		}
		err = cmp.Or(err, message.Rule(parts.len() == len(c.Hands)+1, "why.order.parts", message.Values{"n": shuffle + 1, "hands": len(c.Hands)}))
		for i, values := range parts.all() {
			add(shuffle, Part((i+1)%parts.len()), elements(values)) // the last is the rest
		}
	}
	if err != nil {
		return nil, err
	}
	return claims, nil
}

// checkCount checks that a claim has as many values as were dealt.
func (c *comparison) checkCount(k claim) error {
	from, to := c.span(k.part)
	if given := uint64(k.values.len()); given != to-from {
		return message.New("why.dealt.count", message.Values{"part": k.part.message(), "given": given, "dealt": to - from})
	}
	return nil
}

// dealt returns the positions that a claim is about.
func (c *comparison) dealt(k claim) []uint64 {
	from, to := c.span(k.part)
	return c.orders[k.shuffle][from:to]
}

// checkSequence checks the values of a claim, which are as many as were dealt.
func (c *comparison) checkSequence(k claim) error {
	dealt := c.dealt(k)
	i := c.cards.firstOther(dealt, k.values)
	if i < 0 {
		return nil
	}
	value, names := k.values.at(i), c.cards.names(dealt[i])
	if value.Kind() != '{' {
		names = names[:1]
	}
	return message.New("why.dealt.item", message.Values{"part": k.part.message(), "item": message.Short(value), "place": i, "replayed": message.Short(names[len(names)-1])})
}

// parts returns the parts that a hand can be: the hands of the deal and the rest, unless that is
// empty. A record without hands has none.
func (c *comparison) parts() (parts []Part) {
	for i := range c.Hands {
		parts = append(parts, Part(i+1))
	}
	if from, to := c.span(remaining); len(c.Hands) > 0 && from < to {
		parts = append(parts, remaining)
	}
	return parts
}

// span returns the places of a part in what a shuffle dealt, from one up to another.
func (c *comparison) span(part Part) (from, to uint64) {
	for i, n := range c.Hands {
		if part == Part(i+1) {
			return from, from + n
		}
		from += n
	}
	if part == whole {
		from = 0
	}
	return from, c.Draw // without hands, the rest is all
}
