package shuffle_test

import (
	"fmt"

	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// Every algorithm takes its integers from a source, here a keystream with a fixed seed.
func ExampleOrder() {
	keys, err := rng.Keys(make(rng.Seed, 32), [32]byte{}, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, algorithm := range shuffle.Algorithms() {
		stream, _ := rng.NewStream(keys)
		players := []string{"ann", "bob", "cyn", "dan"}
		fmt.Println(algorithm, shuffle.Order(algorithm, players, 2, stream))
	}
	// Output:
	// fisher-yates [bob dan]
	// durstenfeld [ann dan]
	// inside-out [bob ann]
	// strike-out [bob dan]
	// sattolo [cyn ann]
}

// A draw of few positions out of very many takes memory for the few.
func ExampleSparse() {
	keys, _ := rng.Keys(make(rng.Seed, 32), [32]byte{}, "")
	stream, _ := rng.NewStream(keys)
	fmt.Println(shuffle.Sparse(1<<50, 3, stream))
	// Output:
	// [541474262763695 464286429835433 970633865717340]
}
