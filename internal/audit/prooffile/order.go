package prooffile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/rng"
)

// An Order is a parsed answer of POST /shuffle, or what somebody claims to be one. All values are
// without white space.
type Order struct {
	list   []jsontext.Value          // the elements of an array
	answer map[string]jsontext.Value // the members of an answer; nil for an array
	count  uint64                    // an upper bound of the number of items
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
		list, err := elements(value)
		o.list = list
		return o, err
	}
	if value.Kind() != '{' {
		return nil, errors.New("neither an answer of POST /shuffle nor a JSON array")
	}
	if o.answer, _, err = members(value); err != nil {
		return nil, err
	}
	if o.answer["items"] == nil && o.answer["shuffles"] == nil && (o.answer["hands"] == nil || o.answer["rest"] == nil) {
		return nil, errors.New("an object without items, hands and rest, or shuffles: not an answer of POST /shuffle")
	}
	for _, name := range []string{"items", "hands", "rest", "shuffles"} {
		if value := o.answer[name]; value != nil && value.Kind() != '[' {
			return nil, fmt.Errorf("an answer whose %s are not an array", name)
		}
	}
	return o, nil
}

// text returns a member of the answer that is a string; empty for any other.
func (o *Order) text(name string) string {
	text, err := jsontext.AppendUnquote(nil, o.answer[name])
	if err != nil {
		return ""
	}
	return string(text)
}

// seedOf returns the seed that an answer to the request of the record has; nil for none.
func (o *Order) seedOf(record *audit.Record) rng.Seed {
	if o == nil || o.answer["audit_id"] != nil && o.text("audit_id") != record.ID.String() {
		return nil
	}
	return parseSeed(o.text("seed"))
}

// names returns an error unless an answer names the record, as far as it says: by its id, its place
// in the log, its algorithm, its commitment and its seed.
func (o *Order) names(e *Entry) error {
	for _, m := range []struct{ name, want string }{
		{"audit_id", e.Record.ID.String()},
		{"algorithm", string(e.Record.Statement.Algorithm)},
		{"commitment", e.Record.Commitment.String()},
		{"seed", hex.EncodeToString(e.File.Seed)},
	} {
		if o.answer[m.name] == nil || m.name == "seed" && e.File.Seed == nil || o.text(m.name) == m.want {
			continue
		}
		if m.name == "seed" {
			return errors.New("the answer has another seed than the file")
		}
		return fmt.Errorf("the answer has the %s %s, and the record has %s", m.name, short(o.answer[m.name]), m.want)
	}
	if value := o.answer["log_index"]; value != nil {
		if index, ok := whole(value); !ok || index != e.File.Inclusion.Index {
			return fmt.Errorf("the answer has the log_index %s, and the record has %d", short(value), e.File.Inclusion.Index)
		}
	}
	return nil
}

// compare returns an error unless the order has the cards at the replayed positions, in every form
// in which the answer has them.
func (o *Order) compare(s *audit.Statement, orders [][]uint64, cards *cards) error {
	forms, err := o.forms(s)
	if err != nil {
		return err
	}
	for _, shuffles := range forms {
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
				if want, ok := cards.match(position, answered[i]); !ok {
					return fmt.Errorf("%sthe order given has %s at place %d, where the replay has %s", which(s, number), short(answered[i]), i, short([]byte(want)))
				}
			}
		}
	}
	return nil
}

// forms returns the items of each shuffle of the record, once for every form in which the order has
// them: the array alone, items, hands and rest, shuffles.
func (o *Order) forms(s *audit.Statement) (forms [][][]jsontext.Value, err error) {
	add := func(shuffles [][]jsontext.Value, err error) error {
		forms = append(forms, shuffles)
		return err
	}
	if o.answer == nil {
		if s.Repeat == 1 {
			return [][][]jsontext.Value{{o.list}}, nil
		}
		return forms, add(split(o.list, s, false))
	}
	items, hands, rest, shuffles := o.answer["items"], o.answer["hands"], o.answer["rest"], o.answer["shuffles"]
	if s.Repeat > 1 && shuffles == nil {
		return nil, fmt.Errorf("the order given is of 1 shuffle(s), and there were %d", s.Repeat)
	}
	if items != nil && s.Repeat == 1 {
		list, err := elements(items)
		if err := add([][]jsontext.Value{list}, err); err != nil {
			return nil, err
		}
	}
	if hands != nil && rest != nil && s.Repeat == 1 {
		list, err := elements(hands)
		if err == nil {
			list, err = joinHands(append(slices.Clip(list), rest), s)
		}
		if err := add([][]jsontext.Value{list}, err); err != nil {
			return nil, err
		}
	}
	if shuffles != nil {
		list, err := elements(shuffles)
		if err != nil {
			return nil, err
		}
		if err := add(split(list, s, len(s.Hands) > 0)); err != nil {
			return nil, err
		}
	}
	return forms, nil
}

// split returns the items of several shuffles, each of which may be dealt to hands.
func split(list []jsontext.Value, s *audit.Statement, dealt bool) (shuffles [][]jsontext.Value, err error) {
	if uint64(len(list)) != s.Repeat {
		return nil, fmt.Errorf("the order given is of %d shuffle(s), and there were %d", len(list), s.Repeat)
	}
	for _, shuffle := range list {
		values, err := elements(shuffle)
		if err == nil && dealt {
			values, err = joinHands(values, s)
		}
		if err != nil {
			return nil, fmt.Errorf("a shuffle of the order given: %w", err)
		}
		shuffles = append(shuffles, values)
	}
	return shuffles, nil
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
