package prooffile_test

import (
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

func readShoes(t testing.TB) shoeVectors { return read[shoeVectors](t, shoesFile) }
