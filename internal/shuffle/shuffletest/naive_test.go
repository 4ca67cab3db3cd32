package shuffletest_test

import (
	"fmt"

	"riffle/internal/shuffle/shuffletest"
)

// digits is a source of the digits of a number, so that counting up enumerates all runs.
type digits uint64

func (d *digits) Uint64n(n uint64) uint64 {
	digit := uint64(*d) % n
	*d /= digits(n)
	return digit
}

// All 27 runs for three cards are equally likely. A fair shuffle would give each order 4.5 runs.
func ExampleShuffle() {
	runs := map[string]int{}
	for run := range digits(27) {
		cards := []byte("ABC")
		shuffletest.Shuffle(cards, &run)
		runs[string(cards)]++
	}
	for _, order := range []string{"ABC", "ACB", "BAC", "BCA", "CAB", "CBA"} {
		fmt.Printf("%s %d/27\n", order, runs[order])
	}
	// Output:
	// ABC 4/27
	// ACB 5/27
	// BAC 5/27
	// BCA 5/27
	// CAB 4/27
	// CBA 4/27
}
