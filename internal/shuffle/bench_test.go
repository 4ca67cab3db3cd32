package shuffle_test

import (
	crand "crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// chacha8 is the fastest generator of the standard library that was made for secrets.
func chacha8() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{1})) }

// Decks are many of one, side by side, to be taken in turn. A single one may come to lie a multiple of 4 KiB from what the
// generator writes, which processors take for the same place for a while: a fifth of the time would be an accident.
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

// The same deck from a ready stream, beside what else Go has.

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
		random := chacha8()
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

// BenchmarkDeckAgainstChaCha8 takes turns in small batches, so that whatever else the machine does falls on both, and
// reports the median of the batches' ratios: on one long keystream as ChaCha8 has, and on one keystream a shuffle.
func BenchmarkDeckAgainstChaCha8(b *testing.B) {
	s, a, r := testStream(b, 2, "bench"), pack(52), uint64(0)
	b.Run("ready", func(b *testing.B) {
		againstChaCha8(b, a, func() { shuffle.FisherYates(a, len(a), s) })
	})
	b.Run("seek", func(b *testing.B) {
		againstChaCha8(b, a, func() {
			s.Seek(r)
			r++
			shuffle.FisherYates(a, len(a), s)
		})
	})
}

func againstChaCha8(b *testing.B, a []uint8, riffle func()) {
	random := chacha8()
	times := alternate(b, 200, riffle, func() {
		random.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
	})
	ratios := make([]float64, len(times[0]))
	for i := range ratios {
		ratios[i] = times[0][i] / times[1][i]
	}
	b.ReportMetric(median(ratios), "x-of-chacha8")
	b.ReportMetric(median(times[0]), "riffle-ns")
	b.ReportMetric(median(times[1]), "chacha8-ns")
}

// alternate runs a batch of each in turn, as often as b says, and returns for each its batches' times in ns a run.
func alternate(b *testing.B, batch int, each ...func()) [][]float64 {
	times := make([][]float64, len(each))
	for b.Loop() {
		for i, once := range each {
			start := time.Now()
			for range batch {
				once()
			}
			times[i] = append(times[i], float64(time.Since(start))/float64(batch))
		}
	}
	b.ReportMetric(0, "ns/op") // leaves it out: the time of a round of batches means nothing
	return times
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// Every algorithm, with setting the elements out anew.
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

// What a shuffle costs before its first card: the keys of two blocks, their ciphers, the first word.
func BenchmarkSetUp(b *testing.B) {
	seed := make(rng.Seed, 2*rng.BlockSize)
	seed[0] = 1 // two equal blocks are no seed
	commitment := sha256.Sum256([]byte("bench"))
	setUp := func() {
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
	b.ReportMetric(testing.AllocsPerRun(100, setUp), "allocs")
	b.ReportMetric(median(alternate(b, 20, setUp)[0]), "median-ns")
}

// One more shuffle of a request with repeat.
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
