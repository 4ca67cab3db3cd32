package main

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKernelTimesRead(t *testing.T) {
	const out = `goos: linux
goarch: amd64
pkg: riffle/internal/shuffle
BenchmarkDeck/52-bytes/riffle         	 8123456	       147.3 ns/op	       0 B/op	       0 allocs/op
BenchmarkDeck/52-bytes/chacha8        	 1234567	       654 ns/op
BenchmarkDeckAgainstChaCha8/ready     	     100	       500.0 chacha8-ns	       130.0 riffle-ns
BenchmarkSplit 	       5	 210000000 ns/op	  61.90 MB/s
--- BENCH: BenchmarkDeck/52-bytes/riffle
Benchmarks are run in turn, ns/op
PASS
ok  	riffle/internal/shuffle	3.210s
`
	got := kernelTimes{"Split": {1}}
	if err := got.read([]byte(out)); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Deck/52-bytes/riffle": "[147.3]", "Deck/52-bytes/chacha8": "[654.0]", "Split": "[1.0 210000000.0]"}
	for name, times := range want {
		if text := fmt.Sprintf("%.1f", got[name]); text != times {
			t.Errorf("%s: read %s, want %s", name, text, times)
		}
	}
	if len(got) != len(want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if err := got.read([]byte("PASS\n")); err == nil {
		t.Error("benchmarks that print no times pass")
	}
}

// A batcher shuffles as math/rand/v2 does, but takes several integers from one word:
// Brackett-Rozinsky and Lemire, "Batched Ranged Random Integer Generation", 2024. It is measured
// beside the module of one of the authors, for machines that cannot download it.
type batcher struct{ random *rand.Rand }

// batches are how many integers one word yields: count of them while the bound is at most most.
// They are the paper's.
var batches = []struct{ count, most uint64 }{{6, 1 << 9}, {5, 1 << 11}, {4, 1 << 14}, {3, 1 << 19}, {2, 1 << 30}, {1, 1<<64 - 1}}

func (b *batcher) shuffle(n int, swap func(i, j int)) {
	for left := uint64(n); left > 1; {
		i := 0
		for left > batches[i].most {
			i++
		}
		count := min(batches[i].count, left-1)
		b.batch(left, count, swap)
		left -= count
	}
}

// batch shuffles the last count of the first left places.
func (b *batcher) batch(left, count uint64, swap func(i, j int)) {
	var to [6]uint64
	product := uint64(1)
	for k := range count {
		product *= left - k
	}
	for least, computed := uint64(0), false; ; {
		x := b.random.Uint64()
		for k := range count {
			to[k], x = bits.Mul64(x, left-k)
		}
		if x >= product {
			break
		}
		if !computed {
			least, computed = -product%product, true // 2⁶⁴ mod product
		}
		if x >= least {
			break
		}
	}
	for k := range count {
		swap(int(left-k)-1, int(to[k]))
	}
}

// TestBatcherShuffles checks that what is measured is a shuffle: every order of five things is as
// frequent as the others.
func TestBatcherShuffles(t *testing.T) {
	b := batcher{rand.New(rand.NewChaCha8([32]byte{1}))}
	const runs = 120_000
	seen := map[[5]uint8]int{}
	for range runs {
		a := [5]uint8{0, 1, 2, 3, 4}
		b.shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
		seen[a]++
	}
	squares := 0.0
	for _, count := range seen {
		d := float64(count) - runs/120
		squares += d * d / (runs / 120)
	}
	if len(seen) != 120 || squares > 190 { // 119 degrees of freedom: more in one of 30,000 seeds
		t.Errorf("%d orders, whose chi-squared is %.1f", len(seen), squares)
	}
	long := make([]int, 5000)
	for i := range long {
		long[i] = i
	}
	b.shuffle(len(long), func(i, j int) { long[i], long[j] = long[j], long[i] })
	if slices.IsSorted(long) {
		t.Error("5000 numbers are still sorted")
	}
	slices.Sort(long)
	for i, v := range long {
		if v != i {
			t.Fatalf("number %d is at %d", v, i)
		}
	}
}

// words is a source of these words, which repeats the last.
type words []uint64

func (w *words) Uint64() uint64 {
	word := (*w)[0]
	if len(*w) > 1 {
		*w = (*w)[1:]
	}
	return word
}

// TestBatcherRejects checks that words which would favour some orders are rejected: 2⁶⁴ is 16 more
// than a multiple of the 120 orders of five things, so the least 16 of the last products are too
// many.
func TestBatcherRejects(t *testing.T) {
	source := words{0, 0, 1 << 63, 7}
	b := batcher{rand.New(&source)}
	b.shuffle(5, func(int, int) {})
	if len(source) != 1 {
		t.Errorf("%d words remain, want 1", len(source))
	}
}

func BenchmarkBatched(b *testing.B) {
	for _, n := range []int{52, 136} {
		b.Run(fmt.Sprintf("%d-bytes", n), func(b *testing.B) {
			// Decks are shuffled in turn, as in the benchmarks of internal/shuffle.
			random, decks, next := batcher{rand.New(rand.NewChaCha8([32]byte{1}))}, make([][]uint8, 61), 0
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
				random.shuffle(n, func(i, j int) { a[i], a[j] = a[j], a[i] })
			}
		})
	}
}
