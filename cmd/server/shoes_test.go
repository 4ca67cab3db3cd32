package main_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *server) newShoe(body string) (made shoe) {
	s.t.Helper()
	s.read(s.post("/shoes", body), &made)
	return made
}

// newDraws returns n draws of two cards from a shoe, each with its own idempotency key.
func newDraws(shoe, label string, n int) (list []*keyed) {
	for i := range n {
		list = append(list, &keyed{path: "/shoes/" + shoe + "/draw?proof=true", body: `{"count": 2}`, key: fmt.Sprintf("%s-%d", label, i)})
	}
	return list
}

// dealtOnce checks that the answers to the draws together have each card of the shoe exactly once.
func dealtOnce(t *testing.T, list []*keyed, size int) {
	t.Helper()
	drawn := map[int]int{} // how often, by number
	for _, d := range list {
		var answer shoe
		require.NoErrorf(t, json.Unmarshal(d.first, &answer), "a draw was answered %s", d.first)
		require.Lenf(t, answer.Cards, 2, "a draw was answered %s", d.first)
		for _, c := range answer.Cards {
			drawn[c.Number]++
		}
	}
	for n := range size {
		assert.Equalf(t, 1, drawn[n], "card %d was drawn", n)
	}
	assert.Len(t, drawn, size)
}

// A shoe is an answer about a shoe or a draw.
type shoe struct {
	ID    string `json:"shoe_id"`
	Dealt int    `json:"dealt"`
	Cards []struct {
		Number int `json:"card"`
	} `json:"cards"`
}
