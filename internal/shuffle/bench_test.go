package shuffle_test

import (
	crand "crypto/rand"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"riffle/internal/shuffle"
)

// Decks are many copies of a deck, used in turn. A single copy may lie a multiple of 4 KiB from
// what the generator writes; processors then mistake one address for the other (4K aliasing), which
// can change the time by a fifth.
type decks[T any] struct {
	all  [][]T
	next int
}

func newDecks[T any](a []T) *decks[T] {
	d := &decks[T]{}
	for room := slices.Repeat(a, 61); len(room) > 0; room = room[len(a):] {
		d.all = append(d.all, room[:len(a):len(a)])
	}
	return d
}

func (d *decks[T]) deck() []T {
	if d.next++; d.next == len(d.all) {
		d.next = 0
	}
	return d.all[d.next]
}

// benchmarkDeck compares shuffles of one deck by riffle/1 and by other generators.
func benchmarkDeck[T any](b *testing.B, a []T) {
	decks := newDecks(a)
	b.Run("riffle", func(b *testing.B) {
		s := testStream(b, 2, "bench")
		b.ReportAllocs()
		for b.Loop() {
			shuffle.FisherYates(decks.deck(), len(a), s)
		}
	})
	b.Run("chacha8", func(b *testing.B) {
		random := rand.New(rand.NewChaCha8([32]byte{1})) // the fastest cryptographic generator of the standard library
		b.ReportAllocs()
		for b.Loop() {
			a := decks.deck()
			random.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
		}
	})
	b.Run("crypto-rand-int", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a := decks.deck()
			for i := len(a) - 1; i > 0; i-- {
				integer, err := crand.Int(crand.Reader, big.NewInt(int64(i+1)))
				require.NoError(b, err)
				j := integer.Int64()
				a[i], a[j] = a[j], a[i]
			}
		}
	})
}

func BenchmarkDeck(b *testing.B) {
	names := make([]string, 52)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	b.Run("52-bytes", func(b *testing.B) { benchmarkDeck(b, ascending[uint8](52)) })
	b.Run("52-strings", func(b *testing.B) { benchmarkDeck(b, names) })
	b.Run("136-bytes", func(b *testing.B) { benchmarkDeck(b, ascending[uint8](136)) })
}
