package api

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/httpjson"
)

// plainElements encodes elements of a deck by encoding/json, each followed by a comma.
func plainElements(t *testing.T, d *deck.Deck, positions []uint64, details bool) (out []byte) {
	t.Helper()
	count := map[string]int{}
	for _, code := range d.Codes() {
		count[code]++
	}
	for _, p := range positions {
		card := d.Cards()[p%uint64(d.Size())]
		card.Instance += int(p) / d.Size() * count[card.Code]
		var value any = card.Code
		if details {
			value = card
		}
		text, err := json.Marshal(value)
		require.NoError(t, err)
		out = append(append(out, text...), ',')
	}
	return out
}

// Encoded decks equal what encoding/json writes, as codes and as cards, over four copies of each
// deck.
func TestEncodedDecksMatchEncodingJSON(t *testing.T) {
	catalogue, err := deck.Builtin()
	require.NoError(t, err)
	for _, kind := range catalogue.Types() {
		decks := []*deck.Deck{}
		for _, parameters := range []map[string]int{nil, {"players": 9}} {
			if parameters != nil && len(kind.Parameters) == 0 {
				continue
			}
			d, err := kind.Deck(parameters)
			require.NoError(t, err)
			decks = append(decks, d)
		}
		for _, d := range decks {
			for _, n := range []int{0, 1, 2, d.Size(), 3*d.Size() + 1, 1025} {
				positions := make([]uint64, n)
				for i := range positions {
					positions[i] = uint64(i) * 7 % uint64(4*d.Size()) // over four copies
				}
				for range 2 { // the second time from the cache
					for _, details := range []bool{false, true} {
						write := elementsOf(&shuffleRequest{details: details}, &dealer.Shuffle{Deck: d})
						assert.Equalf(t, plainElements(t, d, positions, details), write(nil, positions), "%s, %d", kind.Name, n)
					}
				}
			}
		}
	}
}

// codeElementsPlain is the reference of codeElements.
func codeElementsPlain(codes []string) appender[uint64] {
	return oneByOne(func(b []byte, position uint64) []byte {
		return append(append(append(b, '"'), codes[position%uint64(len(codes))]...), '"')
	})
}

// Codes of every length are encoded as by the reference.
func TestCodeElementsMatchTheReference(t *testing.T) {
	var codes []string
	var positions []uint64
	for n := range 16 {
		codes = append(codes, "0123456789-ABCDE"[:n+1])
		positions = append(positions, uint64(n), uint64(n)*37)
	}
	for n := range len(positions) + 1 {
		got, want := codeElements(codes)([]byte("x"), positions[:n]), codeElementsPlain(codes)([]byte("x"), positions[:n])
		assert.Equalf(t, want, got, "%d codes", n)
	}
}

// Items are copied verbatim, in any order and more than once.
func TestItemsAreCopied(t *testing.T) {
	body := []byte(`["a", 1,{"b":[]} ,""]`)
	items := []httpjson.Span{{From: 18, To: 20}, {From: 1, To: 4}, {From: 8, To: 16}, {From: 6, To: 7}, {From: 1, To: 4}}
	want := `"",` + `"a",` + `{"b":[]},` + `1,` + `"a",`
	got := itemsOf(body)([]byte("x"), items)
	assert.Equalf(t, "x"+want, string(got), "%s", got)
}
