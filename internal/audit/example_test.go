package audit_test

import (
	"fmt"

	"riffle/internal/audit"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// The commitment is the SHA-256 of everything that decides an order, as text.
func ExampleStatement_Commitment() {
	s := audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: 3, Draw: 3, Repeat: 1, Input: audit.RangeInput, Reference: "table 7", Seed: make(rng.Seed, 32),
	}
	fmt.Printf("%s", s.Append(nil))
	fmt.Println(s.Commitment())
	// Output:
	// riffle/1
	// algorithm fisher-yates
	// size 3
	// draw 3
	// repeat 1
	// input range
	// reference table 7
	// seed 0000000000000000000000000000000000000000000000000000000000000000
	// 9cdff4f39ed0a3b83bb7213f496afec80d34da5330e5f8b1094c1815cc4b4c57
}

// A sealed order commits to each card by itself: one can be opened without the others.
func ExampleSeal() {
	cards := [][]byte{[]byte("AS"), []byte("KH"), []byte("7C")}
	sealed := audit.Seal(make(rng.Seed, 32), audit.Commitment{}, cards)
	opening := sealed.Open(1)
	fmt.Println(opening.Check(1, 3, []byte("KH"), sealed.Root()))
	fmt.Println(opening.Check(1, 3, []byte("AS"), sealed.Root()))
	// Output:
	// <nil>
	// salt and path do not lead from this card at position 1 to the root
}
