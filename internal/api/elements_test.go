package api

import (
	"bytes"
	"encoding/json"
	"testing"

	"riffle/internal/deck"
)

// plainElements are the elements of a deck as encoding/json writes them, one by one, each with a comma behind it.
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
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, text...), ',')
	}
	return out
}

// inParts appends all elements, as many at a time as e does, and fails where it appends none or too many.
func inParts(t *testing.T, e element, positions []uint64) (out []byte) {
	t.Helper()
	var b []byte
	for len(positions) > 0 {
		left := len(positions)
		if b, positions = e(b, positions); len(positions) >= left {
			t.Fatalf("%d positions are left of %d", len(positions), left)
		}
		if len(b) > 2*part {
			t.Fatalf("%d bytes at once", len(b))
		}
		out = append(out, b...)
		b = b[:0]
	}
	return out
}

func TestRenderedDecksAreThoseOfEncodingJSON(t *testing.T) {
	catalogue, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range catalogue.Types() {
		decks := []*deck.Deck{}
		for _, parameters := range []map[string]int{nil, {"players": 9}} {
			if parameters != nil && len(kind.Parameters) == 0 {
				continue
			}
			d, err := kind.Deck(parameters)
			if err != nil {
				t.Fatal(err)
			}
			decks = append(decks, d)
		}
		for _, d := range decks {
			for _, n := range []int{0, 1, 2, d.Size(), 3*d.Size() + 1, codesAtOnce, 2*codesAtOnce + 1} {
				positions := make([]uint64, n)
				for i := range positions {
					positions[i] = uint64(i) * 7 % uint64(4*d.Size()) // over four copies
				}
				for range 2 { // made, then found
					r := renderedOf(d)
					if got, want := inParts(t, r.codes(), positions), plainElements(t, d, positions, false); !bytes.Equal(got, want) {
						t.Errorf("%s, %d codes: %.200s, want %.200s", kind.Name, n, got, want)
					}
					if got, want := inParts(t, r.cards(), positions), plainElements(t, d, positions, true); !bytes.Equal(got, want) {
						t.Errorf("%s, %d cards: %.200s, want %.200s", kind.Name, n, got, want)
					}
				}
			}
		}
	}
}

// The longest code is copied whole, with its quotes and comma.
func TestLongestCodeFits(t *testing.T) {
	if got, _ := codeElements([]string{"0123456789-ABCDE"})(nil, []uint64{0, 1}); string(got) != `"0123456789-ABCDE","0123456789-ABCDE",` {
		t.Errorf("%s", got)
	}
}

// Decks with parameters are as many as requests like, and are not kept.
func TestOnlySharedDecksAreKept(t *testing.T) {
	catalogue, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := catalogue.Type("undercover")
	for _, parameters := range []map[string]int{nil, {"players": 9}} {
		d, err := kind.Deck(parameters)
		if err != nil {
			t.Fatal(err)
		}
		renderedOf(d)
		if _, kept := decksRendered.Load(d); kept != (parameters == nil) {
			t.Errorf("undercover with %v: kept is %v", parameters, kept)
		}
	}
}

// A deck of 52 as codes and as cards, over and over in one buffer.
func BenchmarkRendered(b *testing.B) {
	catalogue, err := deck.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	kind, _ := catalogue.Type("standard52")
	d, err := kind.Deck(nil)
	if err != nil {
		b.Fatal(err)
	}
	positions := make([]uint64, 52)
	for i := range positions {
		positions[i] = uint64(i) * 7 % 52
	}
	for name, e := range map[string]element{"codes": renderedOf(d).codes(), "cards": renderedOf(d).cards()} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = e(buf[:0], positions)
			}
		})
	}
}
