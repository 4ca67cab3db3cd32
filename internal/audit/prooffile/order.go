package prooffile

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/rng"
)

// An Order is a parsed answer of POST /shuffle, or what somebody claims to be one. All values are
// without white space.
type Order struct {
	answer map[string]jsontext.Value // the members of an answer; nil for an array
	count  uint64                    // an upper bound of the number of items

	// The elements of an array alone, or of the members of an answer; nil if it has no such member.
	list, items, hands, rest, shuffles *list
}

// ParseOrder parses an answer of POST /shuffle, which is an object with items, hands or shuffles; or
// an array alone.
func ParseOrder(text []byte) (*Order, error) {
	value, err := compact(text)
	if err != nil {
		return nil, err
	}
	o := &Order{count: uint64(bytes.Count(value, []byte{','})) + 1}
	if value.Kind() == '[' {
		o.list, err = elements(value)
		return o, err
	}
	if value.Kind() != '{' {
		return nil, errors.New("neither an answer of POST /shuffle nor a JSON array")
	}
	o.answer, _, _ = members(value) // no error, since it was parsed
	for _, m := range []struct {
		name string
		to   **list
	}{{"items", &o.items}, {"hands", &o.hands}, {"rest", &o.rest}, {"shuffles", &o.shuffles}} {
		if o.answer[m.name] == nil {
			continue
		}
		if *m.to, err = elements(o.answer[m.name]); err != nil {
			return nil, fmt.Errorf("an answer whose %s are not an array", m.name)
		}
	}
	if o.items == nil && o.shuffles == nil && o.hands == nil {
		return nil, errors.New("an object without items, hands or shuffles: not an answer of POST /shuffle")
	}
	for _, name := range slices.Sorted(maps.Keys(o.answer)) {
		if !slices.Contains(answerMembers, name) {
			return nil, fmt.Errorf("an answer with the member %s, which no answer of POST /shuffle has", short([]byte(name)))
		}
	}
	return o, nil
}

// answerMembers are the members of an answer. None of them is ignored.
var answerMembers = []string{"audit_id", "log_index", "algorithm", "items", "hands", "rest", "shuffles", "commitment", "seed"}

// text returns a member of the answer that is a string; empty for any other.
func (o *Order) text(name string) string { return unquoted(o.answer[name]) }

// seedOf returns the seed that an answer to the request of the record has; nil for none.
func (o *Order) seedOf(record *audit.Record) rng.Seed {
	if o == nil || o.answer["audit_id"] != nil && o.text("audit_id") != record.ID.String() {
		return nil
	}
	return parseSeed(o.text("seed"))
}

// names checks that the answer's members agree with the record: id, place in the log, algorithm,
// commitment and seed.
func (o *Order) names(r *Result) error {
	agrees := func(name, want string) error {
		return audit.Rule(o.answer[name] == nil || o.text(name) == want, "the answer has the %s %s, and the record has %s", name, short(o.answer[name]), want)
	}
	isSeed := r.File.Seed == nil || o.answer["seed"] == nil || o.text("seed") == hex.EncodeToString(r.File.Seed)
	at := o.answer["log_index"]
	index, isWhole := wholeNumber(at)
	return cmp.Or(
		agrees("audit_id", r.Record.ID.String()),
		agrees("algorithm", string(r.Record.Statement.Algorithm)),
		agrees("commitment", r.Record.Commitment.String()),
		audit.Rule(isSeed, "the answer has another seed than the file"),
		audit.Rule(at == nil || isWhole && index == r.File.Inclusion.Index, "the answer has the log_index %s, and the record has %d", short(at), r.File.Inclusion.Index),
	)
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
