package shuffle_test

import (
	crand "crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"riffle/internal/rng"
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
				if err != nil {
					b.Fatal(err)
				}
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
	b.Run("52-bytes", func(b *testing.B) { benchmarkDeck(b, pack(52)) })
	b.Run("52-strings", func(b *testing.B) { benchmarkDeck(b, names) })
	b.Run("136-bytes", func(b *testing.B) { benchmarkDeck(b, pack(136)) })
}

// BenchmarkAlgorithms includes the time of copying the unshuffled elements.
func BenchmarkAlgorithms(b *testing.B) {
	for _, n := range []int{52, 1_000_000} {
		for _, alg := range shuffle.Algorithms() {
			b.Run(fmt.Sprintf("%s/%d-ints", alg, n), func(b *testing.B) {
				s, a, sorted := testStream(b, 2, "bench"), make([]int, n), ascending(n)
				b.ReportAllocs()
				for b.Loop() {
					copy(a, sorted)
					shuffle.Order(alg, a, n, s)
				}
			})
		}
	}
}

func BenchmarkSparse10Of1000000000(b *testing.B) {
	s := testStream(b, 2, "bench")
	b.ReportAllocs()
	for b.Loop() {
		shuffle.Sparse(1e9, 10, s)
	}
}

// BenchmarkSetUp measures what a shuffle costs before its first card: the keys of two blocks, their
// ciphers, one word.
func BenchmarkSetUp(b *testing.B) {
	seed := make(rng.Seed, 2*rng.BlockSize)
	seed[0] = 1 // a seed of two equal blocks is invalid
	commitment := sha256.Sum256([]byte("bench"))
	b.ReportAllocs()
	for b.Loop() {
		keys, err := rng.Keys(seed, commitment, "")
		if err != nil {
			b.Fatal(err)
		}
		s, err := rng.NewStream(keys)
		if err != nil {
			b.Fatal(err)
		}
		s.Uint64()
	}
}

// BenchmarkSeekAndShuffle measures each further shuffle of a request with repeat.
func BenchmarkSeekAndShuffle(b *testing.B) {
	for _, n := range []int{52, 136} {
		b.Run(fmt.Sprintf("%d-bytes", n), func(b *testing.B) {
			s, decks, r := testStream(b, 2, "bench"), newDecks(pack(n)), uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				s.Seek(r)
				r++
				shuffle.FisherYates(decks.deck(), n, s)
			}
		})
	}
}
