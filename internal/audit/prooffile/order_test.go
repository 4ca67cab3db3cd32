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

func parseOrder(t testing.TB, text string) *prooffile.Order {
	t.Helper()
	order, err := prooffile.ParseOrder([]byte(text))
	require.NoError(t, err, text)
	return order
}

// An order may be a whole answer or the list alone, and every value is compared.
func TestOrdersAreCompared(t *testing.T) {
	of := func(name string) vector { return named(t, "proofs proofs", name) }
	once, hands, twice, range4 := of("fisher-yates"), of("hands and a client seed"), of("items with hands, twice"), of("four of very many")
	record := func(v *vector) *audit.Record {
		t.Helper()
		r := prooffile.VerifyRecord([]byte(v.Proof), given(t, v.Key, "", commitmentOf(v.Proof, v.CommitmentProof)))
		return r.Record
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
	id := `{"audit_id":"` + record(&once).ID.String() + `",`
	shuffles := func(first, second string) string { return `{"shuffles":[` + first + "," + second + `]}` }
	split := func(n int) string {
		return "[" + list(&twice, n, 0, 2) + "," + list(&twice, n, 2, 4) + "," + list(&twice, n, 4, 5) + "]"
	}
	rest, six := list(&hands, 0, 39, 52), of("six decks, a draw of 5, three times")
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
		{"the answer", &once, id + `"items":` + list(&once, 0, 0, 12) + "}", ""},
		{"an answer of one shuffle in a list", &once, `{"shuffles":[` + list(&once, 0, 0, 12) + "]}", ""},
		{"white space", &once, "{ \"items\" :\n " + strings.ReplaceAll(list(&once, 0, 0, 12), "[1,[]]", "[ 1 , [ ] ]") + "\n}\n", ""},
		{"the answer to another", &once, strings.Replace(id, record(&once).ID.String(), record(&hands).ID.String(), 1) + `"items":` + list(&once, 0, 0, 12) + "}", "another audit_id than the record"},
		{"one too few", &once, list(&once, 0, 0, 11), "has 11 items, and 12 were dealt"},
		{"none", &once, "[]", "has 0 items, and 12 were dealt"},
		{"another number of the same value", &once, strings.Replace(list(&once, 0, 0, 12), "1.0", "1.00", 1), "has 1.00 at place"},
		{"an escape", &once, strings.Replace(list(&once, 0, 0, 12), `"\u0041"`, `"A"`, 1), ""},
		{"two exchanged", &once, strings.NewReplacer("null", "true", "true", "null").Replace(list(&once, 0, 0, 12)), "at place"},
		{"hands", &hands, "{" + handsOf(&hands) + "}", ""},
		{"hands as one list", &hands, list(&hands, 0, 0, 52), ""},
		{"a card in another hand", &hands, strings.Replace("{"+handsOf(&hands)+"}", "],[", ",", 1), "neither the order nor hands of this deal"},
		{"a sorted hand", &hands, "{" + sorted + "}", "hand 1 has"},
		{"a sorted hand, and shuffles of another number", &hands, "{" + sorted + `,"shuffles":[]}`, "is of 0 shuffles, and there were 1"},
		{"a longer hand", &hands, `{"hands":[` + list(&hands, 0, 0, 14) + "," + list(&hands, 0, 14, 26) + "," + list(&hands, 0, 26, 39) + `],"rest":` + list(&hands, 0, 39, 52) + "}", "hand 1 has 14 items, and 13 were dealt"},
		{"a sorted hand, in any order", &hands, "{" + sorted + "}", ""},
		{
			"a sorted hand in items, in any order", &hands, `{"items":` + strings.Replace(list(&hands, 0, 0, 52), strings.Trim(first, "[]"), strings.Trim(moved, "[]"), 1) + "}",
			"the order given has",
		},
		{"the rest as a hand as well", &hands, `{"hands":[` + rest + `],"rest":` + rest + "}", "neither the order nor hands of this deal"},
		{"cards with all their details", &six, detailed(1), ""},
		{"cards of another deck", &six, detailed(2), "instance"},
		{"shuffles beside items", &twice, `{"items":` + list(&twice, 0, 0, 5) + "," + shuffles(split(0), split(1))[1:], "is of 1 shuffle, and there were 2"},
		{"shuffles", &twice, shuffles(split(0), split(1)), ""},
		{"shuffles without hands", &twice, "[" + list(&twice, 0, 0, 5) + "," + list(&twice, 1, 0, 5) + "]", ""},
		{"shuffles exchanged", &twice, shuffles(split(1), split(0)), "shuffle 1: hand 1 has"},
		{"a shuffle too few", &twice, `{"shuffles":[` + split(0) + "]}", "is of 1 shuffle, and there were 2"},
		{"no list", &twice, `[1,2]`, "the order given is of 1 shuffle, and there were 2"},
		{"numbers", &range4, compactJSON(t, range4.positions(t)[0]), ""},
		{"a number as text", &range4, `["1",2,3,4]`, `has "1" at place 0`},
	} {
		g := given(t, c.of.Key, c.of.Items, nil)
		g.Order, g.AnyOrder = parseOrder(t, c.order), strings.HasSuffix(c.name, ", in any order")
		r := prooffile.VerifyRecord([]byte(c.of.Proof), g)
		failed := r.Failed()
		switch {
		case c.want == "" && (failed != nil || r.Unchecked() != nil):
			t.Errorf("%s: %+v", c.name, r.Steps)
		case c.want != "" && (failed == nil || failed.Name != prooffile.StepOrder || !strings.Contains(failed.Message.String(), c.want)):
			t.Errorf("%s: want the order to fail with %q: %+v", c.name, c.want, r.Steps)
		}
	}
}

func TestInvalidOrdersAndItemsAreRejected(t *testing.T) {
	for _, text := range []string{"", "1", `"x"`, "{}", `{"rest":[]}`, "[1,2", "[1] [2]", `{"items":1}`, `{"items":[],"items":[]}`, "\xff"} {
		_, err := prooffile.ParseOrder([]byte(text))
		assert.Errorf(t, err, "%q is an order", text)
		_, err = prooffile.ParseItems([]byte(text))
		assert.Errorf(t, err, "%q are items", text)
	}
}
