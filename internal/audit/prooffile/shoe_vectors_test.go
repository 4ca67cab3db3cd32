package prooffile_test

import (
	"bytes"
	"fmt"
	"testing"
)

// shoesFile is shared by the verifiers in all languages; testdata/riffle1/README.md describes it.
const shoesFile = "../../../testdata/riffle1/shoes.json"

// shoeVectors is the content of the file.
type shoeVectors struct {
	Shoes []shoeVector `json:"shoes"`
	Hands []shoeVector `json:"hands"`
	Wrong []shoeVector `json:"wrong"`
}

// A shoeVector is a whole shoe, or one of its records, perhaps with a hand.
type shoeVector struct {
	Name   string              `json:"name"`
	Proofs string              `json:"proofs"`
	Items  *string             `json:"items"`
	Hand   *string             `json:"hand"`
	Key    string              `json:"key"`
	Expect string              `json:"expect,omitempty"`
	Orders map[string][]uint64 `json:"orders,omitempty"`
	Step   string              `json:"step,omitempty"`
}

// vectorOf makes the vector of a whole shoe.
func vectorOf(t testing.TB, b *dealtShoe, hand []wireCard) shoeVector {
	t.Helper()
	_, key := logKey(t, origin, 1)
	text := handText(t, hand)
	v := shoeVector{Name: b.name, Proofs: string(bytes.Join(textsOf(b.files()), nil)), Hand: &text, Key: key, Expect: "open"}
	if isClosed(b) {
		v.Expect, v.Orders = "verified", map[string][]uint64{}
		for version, order := range b.orders {
			if order == nil {
				order = []uint64{}
			}
			v.Orders[fmt.Sprint(version)] = order
		}
	}
	if b.input.items != "" {
		v.Items = &b.input.items
	}
	return v
}

func buildShoes(t testing.TB) (all shoeVectors) {
	t.Helper()
	list, hands := dealtShoes(t)
	by := map[string]*dealtShoe{}
	for _, b := range list {
		by[b.name] = b
		all.Shoes = append(all.Shoes, vectorOf(t, b, hands[b.name]))
	}
	for _, h := range []struct {
		of      string
		version int
		cards   int
	}{{"items, open", 1, 2}, {"every change", 1, 5}, {"every change", 13, 7}, {"one card", 1, 1}, {"not shuffled", 3, 4}} {
		var hand []wireCard // those that this record has sealed
		for _, card := range hands[h.of][:h.cards] {
			if card.SealedBy == by[h.of].sealers[uint64(h.version)].ID.String() {
				hand = append(hand, card)
			}
		}
		v := vectorOf(t, by[h.of], hand)
		v.Name = fmt.Sprintf("%s, the hand of version %d", h.of, h.version)
		v.Proofs, v.Expect, v.Orders = string(by[h.of].files()[h.version-1].Text()), "hand", nil
		if h.version > 1 {
			v.Items = nil
		}
		all.Hands = append(all.Hands, v)
	}
	for _, w := range shoeForgeries(t, by) {
		all.Wrong = append(all.Wrong, w.forge(t, by[w.of], hands[w.of]))
	}
	return all
}

func readShoes(t testing.TB) shoeVectors { return read[shoeVectors](t, shoesFile) }
