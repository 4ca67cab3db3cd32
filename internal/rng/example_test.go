package rng_test

import (
	"bytes"
	"fmt"

	"riffle/internal/rng"
)

// A seed of enough blocks gives the keys of a stream, and the stream gives unbiased integers.
func Example() {
	blocks := rng.Blocks(52, 52) // to reach every order of 52 cards
	random := bytes.NewReader([]byte("the operating system's generator, whenever the result matters. For an example, text."))
	seed, err := rng.NewSeed(random, blocks)
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := rng.Keys(seed, [32]byte{1}, "a client's seed")
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, err := rng.NewStream(keys)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(blocks, "blocks; a die:", 1+stream.Uint64n(6))
	// Output:
	// 2 blocks; a die: 4
}

// Two equal blocks would cancel out, so such a seed is refused.
func ExampleNewSeed() {
	stuck := bytes.NewReader(make([]byte, 64))
	_, err := rng.NewSeed(stuck, 2)
	fmt.Println(err)
	// Output:
	// the source of randomness repeats itself: a seed is 1 to 213 blocks of 32 bytes, no two of them equal
}
