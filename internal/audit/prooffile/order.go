package prooffile

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
)

// An Order is a parsed answer of POST /shuffle, or what somebody claims to be one. All values are
// without white space.
type Order struct {
	auditID   string           // empty if it does not say
	items     []jsontext.Value // the items of one shuffle, or the shuffles of several
	hands     []jsontext.Value // the hands, then the rest; nil without hands
	shuffles  []jsontext.Value // nil unless the answer lists shuffles
	count     uint64           // an upper bound of the number of items
	isAnswer  bool             // an object, not a plain array
	withHands bool
}

// ParseOrder parses a whole answer of POST /shuffle, which is an object with items, hands and rest,
// or shuffles; or the array alone.
func ParseOrder(text []byte) (*Order, error) {
	value, err := compact(text)
	if err != nil {
		return nil, err
	}
	o := &Order{count: uint64(bytes.Count(value, []byte{','})) + 1}
	if value.Kind() == '[' {
		o.items, err = elements(value)
		return o, err
	}
	if value.Kind() != '{' {
		return nil, errors.New("neither an answer of POST /shuffle nor a JSON array")
	}
	return o, o.answer(value)
}

// answer parses the members of an answer.
func (o *Order) answer(value jsontext.Value) error {
	o.isAnswer = true
	members := map[string]jsontext.Value{}
	d := jsontext.NewDecoder(bytes.NewBuffer(value))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		member, err := d.ReadValue()
		if err != nil {
			return err
		}
		members[key] = member.Clone()
	}
	if id := members["audit_id"]; id.Kind() == '"' {
		text, err := jsontext.AppendUnquote(nil, id)
		if err != nil {
			return err
		}
		o.auditID = string(text)
	}
	var err error
	switch {
	case members["shuffles"] != nil:
		o.shuffles, err = elements(members["shuffles"])
		if o.shuffles == nil {
			o.shuffles = []jsontext.Value{}
		}
	case members["hands"] != nil && members["rest"] != nil:
		o.withHands = true
		if o.hands, err = elements(members["hands"]); err == nil {
			o.hands = append(o.hands, members["rest"])
		}
	case members["items"] != nil:
		o.items, err = elements(members["items"])
	default:
		return errors.New("an object without items, hands and rest, or shuffles: not an answer of POST /shuffle")
	}
	return err
}

// compare returns an error unless the order has the items at the replayed positions.
func (o *Order) compare(record *audit.Record, orders [][]uint64, match match) error {
	s := &record.Statement
	if o.auditID != "" && o.auditID != record.ID.String() {
		return fmt.Errorf("the order given is the answer to %s, and not to this record", o.auditID)
	}
	shuffles, err := o.split(s)
	if err != nil {
		return err
	}
	for number, answered := range shuffles {
		if uint64(len(answered)) != s.Draw {
			return fmt.Errorf("%sthe order given has %d items, and %d were drawn", which(s, number), len(answered), s.Draw)
		}
	}
	if len(orders) != len(shuffles) { // the replay returns orders up to count
		return errors.New("the order given is not as long as what was drawn")
	}
	for number, answered := range shuffles {
		for i, position := range orders[number] {
			if want, ok := match(position, answered[i]); !ok {
				return fmt.Errorf("%sthe order given has %s at place %d, where the replay has %s", which(s, number), short(answered[i]), i, short([]byte(want)))
			}
		}
	}
	return nil
}

// which names a shuffle if there are several.
func which(s *audit.Statement, number int) string {
	if s.Repeat == 1 {
		return ""
	}
	return fmt.Sprintf("shuffle %d, from 0: ", number)
}

// short truncates a value to fit on a line.
func short(value []byte) string {
	const most = 60
	text := []rune(string(value))
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// split returns the items of each shuffle of the record.
func (o *Order) split(s *audit.Statement) ([][]jsontext.Value, error) {
	switch {
	case o.withHands && s.Repeat == 1:
		list, err := joinHands(o.hands, s)
		return [][]jsontext.Value{list}, err
	case o.shuffles == nil && !o.withHands && s.Repeat == 1:
		return [][]jsontext.Value{o.items}, nil
	}
	list := o.shuffles
	if !o.isAnswer {
		list = o.items
	}
	if uint64(len(list)) != s.Repeat {
		return nil, fmt.Errorf("the order given is of %d shuffle(s), and there were %d", max(1, len(list)), s.Repeat)
	}
	var shuffles [][]jsontext.Value
	for _, shuffle := range list {
		values, err := elements(shuffle)
		if err == nil && len(s.Hands) > 0 && o.isAnswer {
			values, err = joinHands(values, s)
		}
		if err != nil {
			return nil, fmt.Errorf("a shuffle of the order given: %w", err)
		}
		shuffles = append(shuffles, values)
	}
	return shuffles, nil
}

// joinHands returns the items of the hands and the rest, and checks the sizes of the hands.
func joinHands(hands []jsontext.Value, s *audit.Statement) (all []jsontext.Value, err error) {
	if len(hands) != len(s.Hands)+1 {
		return nil, fmt.Errorf("the order given has %d hands, and %d were dealt", len(hands)-1, len(s.Hands))
	}
	for i, hand := range hands {
		values, err := elements(hand)
		if err != nil {
			return nil, fmt.Errorf("a hand of the order given: %w", err)
		}
		if i < len(s.Hands) && uint64(len(values)) != s.Hands[i] {
			return nil, fmt.Errorf("hand %d, from 0, of the order given has %d items, and %d were dealt", i, len(values), s.Hands[i])
		}
		all = append(all, values...)
	}
	return all, nil
}
