package fairness_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/fairness"
	"riffle/internal/shuffle/shuffletest"
)

// A shuffler puts a, which is in order, into another order.
type shuffler func(a []uint8)

// measure counts so many shuffles.
func measure(m *fairness.Meter, runs int, s shuffler) *fairness.Meter {
	a := make([]uint8, m.N)
	for range runs {
		for i := range a {
			a[i] = uint8(i)
		}
		s(a)
		m.Add(a)
	}
	return m
}

func names(findings []fairness.Finding) (list []string) {
	for _, f := range findings {
		list = append(list, f.Name)
	}
	return list
}

// Package shuffle holds the algorithms of the service to most of these statistics.
func TestFairShufflesAreNotCaught(t *testing.T) {
	for n, runs := range map[int]int{2: 10_000, 3: 20_000, 5: 20_000, 7: 60_000, 52: 30_000, 136: 3000, 256: 2600} {
		meters := map[string]*fairness.Meter{"fair": measure(fairness.NewMeter(n), runs, integers(fisherYates)(fmt.Sprint("fair ", n)))}
		if n > 2 { // two items have one cycle
			meters["cycles"] = measure(fairness.NewCyclicMeter(n), runs, integers(sattolo)(fmt.Sprint("cycles ", n)))
		}
		for name, m := range meters {
			findings := m.Findings()
			caught := fairness.Caught(findings, 0.001)
			assert.Emptyf(t, caught, "%s, %d items: caught by %v", name, n, caught)
			for _, f := range findings {
				assert.Truef(t, f.Judged(), "%s, %d items: %v needs %d runs", name, n, f, f.Needed)
			}
		}
	}
}

// integers is an algorithm, right or wrong, over right integers, which are fast ones here.
func integers(order func(a []uint8, below func(n int) int)) func(label string) shuffler {
	return func(label string) shuffler {
		src := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(label))))
		return func(a []uint8) { order(a, src.IntN) }
	}
}

// fisherYates is right, over integers that may not be.
func fisherYates(a []uint8, below func(n int) int) {
	for i := range len(a) - 1 {
		j := i + below(len(a)-i)
		a[i], a[j] = a[j], a[i]
	}
}

func riffle(a []uint8, below func(n int) int) {
	cut := 0
	for range a {
		cut += below(2)
	}
	left, right := slices.Clone(a[:cut]), slices.Clone(a[cut:])
	for at := range a {
		if below(len(left)+len(right)) < len(left) {
			a[at], left = left[0], left[1:]
		} else {
			a[at], right = right[0], right[1:]
		}
	}
}

// mutants are wrong shuffles, each with runs that suffice to catch it and a statistic that does.
var mutants = []struct {
	name    string
	n, runs int
	by      string
	make    func(label string) shuffler
}{
	{"no shuffle", 52, 2, "repeats", integers(func([]uint8, func(int) int) {})},
	{"no shuffle", 5, 100, "fixed_points", integers(func([]uint8, func(int) int) {})},
	{"any place with any", 3, 5000, "orders", integers(anyPlace)},
	{"any place with any", 52, 2000, "positions", integers(anyPlace)},
	{"off by one: no item may stay", 52, 520, "fixed_points", integers(sattolo)},
	{"off by one: no item may stay", 52, 520, "positions", integers(sattolo)},
	{"off by one: no item may stay", 4, 300, "cycles", integers(sattolo)},
	{"off by one: the last item stays", 52, 520, "positions", integers(lastStays)},
	{"random comparator", 52, 520, "positions", integers(comparator)},
	{"100 random swaps", 52, 5000, "fixed_points", integers(func(a []uint8, below func(int) int) {
		for range 100 {
			i, j := below(len(a)), below(len(a))
			a[i], a[j] = a[j], a[i]
		}
	})},
	{"three riffles", 52, 100, "rising_sequences", integers(riffles(3))},
	{"five riffles", 52, 1000, "rising_sequences", integers(riffles(5))},
	{"seven riffles", 52, 20_000, "rising_sequences", integers(riffles(7))},
	{"nine-bit words, modulo", 52, 50_000, "inversions", integers(func(a []uint8, below func(int) int) {
		fisherYates(a, func(n int) int { return below(512) % n })
	})},
	{"a seed of 32 bits", 52, 300_000, "repeats", func(label string) shuffler {
		generator := &rand.PCG{}
		src, seeds := rand.New(generator), rand.New(rand.NewChaCha8(sha256.Sum256([]byte(label))))
		return func(a []uint8) {
			generator.Seed(uint64(seeds.Uint32()), 0)
			fisherYates(a, src.IntN)
		}
	}},
	{"every order twice", 10, 200, "successive", func(label string) shuffler {
		src, again, last := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(label)))), false, make([]uint8, 10)
		return func(a []uint8) {
			if !again {
				copy(last, a)
				fisherYates(last, src.IntN)
			}
			again = !again
			copy(a, last)
		}
	}},
	{"a riffle of the last order", 52, 5000, "successive", func(label string) shuffler {
		src, last := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(label)))), []uint8(nil)
		return func(a []uint8) {
			if last == nil {
				last = slices.Clone(a)
			}
			riffle(last, src.IntN)
			copy(a, last)
		}
	}},
	{"neighbours stay together", 52, 1000, "neighbours", integers(func(a []uint8, below func(int) int) {
		pairs := make([]uint8, len(a)/2)
		for i := range pairs {
			pairs[i] = uint8(i)
		}
		fisherYates(pairs, below)
		for i, pair := range pairs {
			flip := uint8(below(2))
			a[2*i], a[2*i+1] = 2*pair+flip, 2*pair+1-flip
		}
	})},
}

func anyPlace(a []uint8, below func(int) int) { shuffletest.Shuffle(a, source(below)) }

// source is a shuffletest.Source.
type source func(int) int

func (s source) Uint64n(n uint64) uint64 { return uint64(s(int(n))) }

func sattolo(a []uint8, below func(int) int) {
	for i := range len(a) - 1 {
		j := i + 1 + below(len(a)-i-1)
		a[i], a[j] = a[j], a[i]
	}
}

func lastStays(a []uint8, below func(int) int) {
	for i := range len(a) - 1 {
		j := i + below(len(a)-i-1)
		a[i], a[j] = a[j], a[i]
	}
}

func comparator(a []uint8, below func(int) int) {
	slices.SortStableFunc(a, func(uint8, uint8) int { return 2*below(2) - 1 })
}

func riffles(times int) func(a []uint8, below func(int) int) {
	return func(a []uint8, below func(int) int) {
		for range times {
			riffle(a, below)
		}
	}
}

func TestMutantsAreCaught(t *testing.T) {
	catches := map[string]bool{}
	for _, mutant := range mutants {
		findings := measure(fairness.NewMeter(mutant.n), mutant.runs, mutant.make(mutant.name)).Findings()
		caught := names(fairness.Caught(findings, fairness.Alpha))
		t.Logf("%s, %d runs of %d: %v", mutant.name, mutant.runs, mutant.n, caught)
		assert.Truef(t, slices.Contains(caught, mutant.by),
			"%s, %d runs of %d: caught by %v, want %s", mutant.name, mutant.runs, mutant.n, caught, mutant.by)
		catches[mutant.by] = true
	}
	for _, f := range slices.Concat(fairness.NewMeter(5).Findings(), fairness.NewMeter(52).Findings()) {
		assert.Truef(t, catches[f.Name], "%s catches no mutant", f.Name)
	}
}

func TestSattoloIsCaughtUnlessCyclesAreWanted(t *testing.T) {
	for _, n := range []int{4, 8, 52} {
		s := integers(sattolo)("sattolo")
		caught := names(fairness.Caught(measure(fairness.NewMeter(n), 60_000, s).Findings(), fairness.Alpha))
		assert.Truef(t, slices.Contains(caught, "cycles"), "%d items: caught by %v, want cycles", n, caught)
		assert.Emptyf(t, fairness.Caught(measure(fairness.NewCyclicMeter(n), 60_000, s).Findings(), 0.001), "%d items, among cycles", n)
		caught = names(fairness.Caught(measure(fairness.NewCyclicMeter(n), 1000, integers(fisherYates)("fair")).Findings(), fairness.Alpha))
		assert.Truef(t, slices.Contains(caught, "cycles"), "%d items, uniform: caught by %v, want cycles", n, caught)
	}
}

// TestNaiveIsRecognized measures the naive shuffle from both ends, with its inverse, and others.
func TestNaiveIsRecognized(t *testing.T) {
	fromEnd := func(a []uint8, below func(int) int) {
		for i := len(a) - 1; i >= 0; i-- {
			j := below(len(a))
			a[i], a[j] = a[j], a[i]
		}
	}
	inverse := func(a []uint8, below func(int) int) {
		order := slices.Clone(a)
		anyPlace(order, below)
		for place, item := range order {
			a[item] = uint8(place)
		}
	}
	for name, v := range map[string]struct {
		order func(a []uint8, below func(int) int)
		want  bool
	}{"naive": {anyPlace, true}, "from the end": {fromEnd, true}, "inverse": {inverse, true}, "sattolo": {sattolo, false}, "riffles": {riffles(4), false}, "fair": {fisherYates, false}} {
		for _, n := range []int{3, 10, 52} {
			got := measure(fairness.NewMeter(n), 30_000, integers(v.order)(name)).Positions.FitsNaive()
			assert.Equalf(t, v.want, got, "%s of %d: recognized as naive", name, n)
		}
	}
}
