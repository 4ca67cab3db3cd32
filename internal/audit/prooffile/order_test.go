package prooffile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// answered returns the items of each shuffle of a vector.
func (v *vector) answered(t testing.TB) (shuffles [][]any) {
	t.Helper()
	var items []json.RawMessage
	if v.Items != "" {
		require.NoError(t, json.Unmarshal([]byte(v.Items), &items))
	}
	for _, positions := range v.positions(t) {
		order := []any{}
		for _, p := range positions {
			if items == nil {
				order = append(order, p)
			} else {
				order = append(order, items[p])
			}
		}
		shuffles = append(shuffles, order)
	}
	return shuffles
}

// positions returns what was drawn by each shuffle of a vector.
func (v *vector) positions(t testing.TB) (orders [][]uint64) {
	t.Helper()
	if v.Orders != nil {
		require.NoError(t, json.Unmarshal(v.Orders, &orders))
	}
	return orders
}

// An order may be a whole answer or the list alone, and every value is compared.
func TestOrdersAreCompared(t *testing.T) {
	of := func(name string) vector { return named(t, "proofs", name) }
	once, hands, twice, range4 := of("fisher-yates"), of("hands and a client seed"), of("items with hands, twice"), of("four of very many")
	id := func(v *vector) string {
		t.Helper()
		file, err := prooffile.Parse([]byte(v.Proof))
		require.NoError(t, err)
		record, err := audit.ParseRecord(file.Record)
		require.NoError(t, err)
		return `{"audit_id":"` + record.ID.String() + `",`
	}
	list := func(v *vector, number, from, to int) string {
		t.Helper()
		return compactJSON(t, v.answered(t)[number][from:to])
	}
	handsOf := func(v *vector) string {
		return `"hands":[` + list(v, 0, 0, 13) + "," + list(v, 0, 13, 26) + "," + list(v, 0, 26, 39) + `],"rest":` + list(v, 0, 39, 52)
	}
	first := list(&hands, 0, 0, 13)
	moved := "[" + strings.Trim(list(&hands, 0, 1, 13), "[]") + "," + strings.Trim(list(&hands, 0, 0, 1), "[]") + "]"
	sorted := strings.Replace(handsOf(&hands), first, moved, 1)
	shuffles := func(first, second string) string { return `{"shuffles":[` + first + "," + second + `]}` }
	split := func(n int) string {
		return "[" + list(&twice, n, 0, 2) + "," + list(&twice, n, 2, 4) + "," + list(&twice, n, 4, 5) + "]"
	}
	six := of("six decks, a draw of 5, three times")
	kind, _ := catalogue(t).Type("standard52")
	one, err := kind.Deck(nil)
	require.NoError(t, err)
	six.Items = "" // the deck is known
	detailed := func(offset uint64) string {
		var shuffles [][]map[string]any
		for _, positions := range six.positions(t) {
			var cards []map[string]any
			for _, p := range positions {
				cards = append(cards, map[string]any{"code": one.Codes()[p%52], "instance": p/52 + offset})
			}
			shuffles = append(shuffles, cards)
		}
		return compactJSON(t, shuffles)
	}
	for _, c := range []struct {
		name  string
		of    *vector
		order string
		want  string // what the step says; empty if it holds
	}{
		{"the answer", &once, id(&once) + `"items":` + list(&once, 0, 0, 12) + "}", ""},
		{"an answer of one shuffle in a list", &once, `{"shuffles":[` + list(&once, 0, 0, 12) + "]}", ""},
		{"white space", &once, "{ \"items\" :\n " + strings.ReplaceAll(list(&once, 0, 0, 12), "[1,[]]", "[ 1 , [ ] ]") + "\n}\n", ""},
		{"the answer to another", &once, id(&hands) + `"items":` + list(&once, 0, 0, 12) + "}", "another audit_id than the record"},
		{"one too few", &once, list(&once, 0, 0, 11), "has 11 items, and 12 were dealt"},
		{"none", &once, "[]", "has 0 items, and 12 were dealt"},
		{"another number of the same value", &once, strings.Replace(list(&once, 0, 0, 12), "1.0", "1.00", 1), "has 1.00 at place"},
		{"an escape", &once, strings.Replace(list(&once, 0, 0, 12), `"\u0041"`, `"A"`, 1), ""},
		{"two exchanged", &once, strings.NewReplacer("null", "true", "true", "null").Replace(list(&once, 0, 0, 12)), "at place"},
		{"hands", &hands, "{" + handsOf(&hands) + "}", ""},
		{"hands as one list", &hands, list(&hands, 0, 0, 52), ""},
		{"a sorted hand", &hands, "{" + sorted + "}", "hand 1 has"},
		{"a sorted hand, and shuffles of another number", &hands, "{" + sorted + `,"shuffles":[]}`, "is of 0 shuffles, and there were 1"},
		{"a longer hand", &hands, `{"hands":[` + list(&hands, 0, 0, 14) + "," + list(&hands, 0, 14, 26) + "," + list(&hands, 0, 26, 39) + `],"rest":` + list(&hands, 0, 39, 52) + "}", "hand 1 has 14 items, and 13 were dealt"},
		{"hands without the rest", &hands, `{"hands":[` + first + "," + list(&hands, 0, 13, 26) + "," + list(&hands, 0, 26, 39) + "]}", "only one of hands and rest"},
		{"lines", &hands, strings.NewReplacer(`"`, "", ",", "\r\n", "[", "\ufeff", "]", "\r\n").Replace(list(&hands, 0, 0, 52)), ""},
		{"cards with all their details", &six, detailed(1), ""},
		{"cards of another deck", &six, detailed(2), "instance"},
		{"shuffles beside items", &twice, `{"items":` + list(&twice, 0, 0, 5) + "," + shuffles(split(0), split(1))[1:], "is of 1 shuffle, and there were 2"},
		{"shuffles", &twice, shuffles(split(0), split(1)), ""},
		{"shuffles without hands", &twice, "[" + list(&twice, 0, 0, 5) + "," + list(&twice, 1, 0, 5) + "]", ""},
		{"shuffles exchanged", &twice, shuffles(split(1), split(0)), "shuffle 1: hand 1 has"},
		{"a shuffle too few", &twice, `{"shuffles":[` + split(0) + "]}", "is of 1 shuffle, and there were 2"},
		{"no list", &twice, `[1,2]`, "the order given is of 1 shuffle, and there were 2"},
		{"lines of numbers", &range4, strings.Trim(strings.ReplaceAll(compactJSON(t, range4.positions(t)[0]), ",", "\n"), "[]"), ""},
		{"numbers", &range4, compactJSON(t, range4.positions(t)[0]), ""},
		{"a number as text", &range4, `["1",2,3,4]`, `has "1" at place 0`},
	} {
		v := *c.of
		if strings.HasPrefix(strings.TrimSpace(c.order), "{") {
			v.Answer = c.order
		} else {
			v.Order = c.order
		}
		found := prooffile.Verify([]byte(v.Proof), v.inputs(catalogue(t)))
		failed := found.Steps.Failed()
		switch {
		case c.want == "" && found.Summary["id"] != "order":
			t.Errorf("%s: %+v", c.name, found)
		case c.want != "" && (failed == nil || failed.Name != prooffile.StepOrder || !strings.Contains(failed.Message.String(), c.want)):
			t.Errorf("%s: want the order to fail with %q: %+v", c.name, c.want, found)
		}
	}
}

// An input that is not in its form is refused by its name.
func TestInputsAreRefused(t *testing.T) {
	v := named(t, "proofs", "hands and a client seed")
	for _, c := range []struct{ input, text, why string }{
		{"answer", "", "not JSON"},
		{"answer", `["AS"]`, "not an answer"},
		{"answer", "{}", "an object without items"},
		{"answer", `{"rest":[]}`, "an object without items"},
		{"answer", `{"items":1}`, "items are not an array"},
		{"answer", `{"items":[],"items":[]}`, "there twice"},
		{"order", "[1,2", "not JSON"},
		{"order", "[1] [2]", "not JSON"},
		{"order", "\xff", "not JSON"},
		{"items", "[1,2", "not JSON"},
		{"items", "[\"\xff\"]", "not JSON"},
		{"hand_of", "1", "no hand to compare"},
		{"salt", "0123456789abcdef", "without the items"},
		{"key", otherKey + "x", "key"},
		{"policy", "quorum", "policy"},
	} {
		in := prooffile.Inputs{Key: []byte(v.Key)}
		to := map[string]*[]byte{"answer": &in.Answer, "order": &in.Order, "items": &in.Items, "hand_of": &in.HandOf, "salt": &in.Salt, "key": &in.Key, "policy": &in.Policy}[c.input]
		*to = []byte(c.text)
		found := prooffile.Verify([]byte(v.Proof), &in)
		assert.Equal(t, map[string]any{"id": "refused", "input": c.input}, found.Summary, "%q: %+v", c.text, found)
		assert.Contains(t, found.Headline, "Not checked: the "+c.input+": ", c.text)
		assert.Contains(t, found.Headline, c.why, c.text)
	}
	two := &prooffile.Inputs{Order: []byte("AS"), Hand: []byte("AS")}
	assert.Equal(t, "order", prooffile.Verify([]byte(v.Proof), two).Summary["input"])
}
