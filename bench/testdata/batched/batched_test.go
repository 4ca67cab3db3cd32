package batched

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/lemire/batchedrand"
)

func BenchmarkBatchedrand(b *testing.B) {
	for _, n := range []int{52, 136} {
		b.Run(strconv.Itoa(n)+"-bytes", func(b *testing.B) {
			random := batchedrand.Rand{rand.New(rand.NewChaCha8([32]byte{1}))}
			decks, next := make([][]uint8, 61), 0 // as in internal/shuffle
			for k := range decks {
				decks[k] = make([]uint8, n)
				for i := range n {
					decks[k][i] = uint8(i)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if next++; next == len(decks) {
					next = 0
				}
				a := decks[next]
				random.Shuffle(n, func(i, j int) { a[i], a[j] = a[j], a[i] })
			}
		})
	}
}
