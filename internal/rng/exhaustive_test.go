package rng

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rule makes integers for a group of bounds from a word, or rejects the word.
type rule func(x uint64, bounds []uint64) ([]uint64, bool)

// enumerate applies the rule to all words. It checks that every tuple of results comes from
// floor(2^bits / B) words: all are equally likely, and no word is rejected needlessly.
func enumerate(bits uint, bounds []uint64, serve rule) error {
	product := uint64(1)
	for _, b := range bounds {
		product *= b
	}
	counts := make([]uint64, product)
	for x := range uint64(1) << bits {
		integers, ok := serve(x, bounds)
		if !ok {
			continue
		}
		tuple := uint64(0)
		for i, b := range bounds {
			if integers[i] >= b {
				return fmt.Errorf("bounds %d: the word %d gives %d", bounds, x, integers)
			}
			tuple = tuple*b + integers[i]
		}
		counts[tuple]++
	}
	for tuple, n := range counts {
		if want := uint64(1) << bits / product; n != want {
			return fmt.Errorf("bounds %d: result number %d comes from %d words, want %d", bounds, tuple, n, want)
		}
	}
	return nil
}

// groups returns groups to enumerate: every single bound up to 300 and wider ones, all descending
// and ascending runs that the algorithms ask for, and runs whose product is far above the limit,
// where rejections are frequent.
func groups(bits uint) [][]uint64 {
	var all [][]uint64
	for b := uint64(2); b <= 300; b++ {
		all = append(all, []uint64{b})
	}
	all = append(all, []uint64{1000}, []uint64{4099}, []uint64{1<<(bits-1) + 1}, []uint64{1<<bits - 1})
	for from := uint64(2); from <= 60; from++ {
		var down, up []uint64
		product := uint64(1)
		for b := from; b >= 2 && product*b <= 1<<(bits-1); b-- {
			down, product = append(down, b), product*b
			all = append(all, append([]uint64(nil), down...))
		}
		product = 1
		for b := from; product*b <= 1<<(bits-1); b++ {
			up, product = append(up, b), product*b
			all = append(all, append([]uint64(nil), up...))
		}
	}
	return all
}

func TestAllResultsAreEquallyLikely(t *testing.T) {
	for _, bits := range []uint{12, 16} {
		r := Reference{Bits: bits}
		all := groups(bits)
		for _, bounds := range all {
			assert.NoError(t, enumerate(bits, bounds, r.serve))
		}
		t.Logf("%d groups of bounds over all %d-bit words", len(all), bits)
	}
}

// Each mutant differs from the reference in one place, and the enumeration has to catch it.
func TestEnumerationCatchesMutants(t *testing.T) {
	const bits = 12
	r := Reference{Bits: bits}
	word := func(x uint64, bounds []uint64) (integers []uint64, low, product uint64) {
		product = 1
		for _, b := range bounds {
			integers = append(integers, x*b>>bits)
			x = x * b & (1<<bits - 1)
			product *= b
		}
		return integers, x, product
	}
	mutants := map[string]rule{
		"no threshold": func(x uint64, bounds []uint64) ([]uint64, bool) {
			integers, _, _ := word(x, bounds)
			return integers, true
		},
		"threshold + 1": func(x uint64, bounds []uint64) ([]uint64, bool) {
			integers, low, product := word(x, bounds)
			return integers, low >= (1<<bits)%product+1
		},
		"threshold - 1": func(x uint64, bounds []uint64) ([]uint64, bool) {
			integers, low, product := word(x, bounds)
			return integers, low+1 >= (1<<bits)%product
		},
		"off-by-one bound": func(x uint64, bounds []uint64) ([]uint64, bool) {
			smaller := append([]uint64(nil), bounds...)
			smaller[len(smaller)-1]--
			return r.serve(x, smaller)
		},
		"threshold of the last bound alone": func(x uint64, bounds []uint64) ([]uint64, bool) {
			integers, low, _ := word(x, bounds)
			return integers, low >= (1<<bits)%bounds[len(bounds)-1]
		},
		"modulo": func(x uint64, bounds []uint64) ([]uint64, bool) {
			var integers []uint64
			for _, b := range bounds {
				integers = append(integers, x%b)
				x /= b
			}
			return integers, true
		},
	}
	for name, mutant := range mutants {
		caught := 0
		all := groups(bits)
		for _, bounds := range all {
			if enumerate(bits, bounds, mutant) != nil {
				caught++
			}
		}
		assert.Truef(t, caught != 0, "%s: not caught", name)
		t.Logf("%s: caught by %d of %d groups", name, caught, len(all))
	}
}

// The reference is one rule for all word sizes, and enumerated for small ones. This test shows that
// the fast path uses its groups, and that the 64-bit threshold leaves a multiple of B words, for
// every group in the tables.
func TestThresholdsOfTabledGroupsAreExact(t *testing.T) {
	r := Reference{Bits: 64}
	for from := uint64(3); from < tabled; from++ {
		g := span(from, 2, ^uint64(0))
		require.Truef(t, g == descents[from], "table entry %d is %v, want %v", from, descents[from], g)
		threshold := -g.product % g.product
		if threshold >= g.product || g.product*((^uint64(0)-threshold+1)/g.product)+threshold != 0 {
			t.Fatalf("bounds from %d: the number of accepted words is no multiple of %d", from, g.product)
		}
		var bounds []uint64
		for b := from; len(bounds) < g.bounds; b-- {
			bounds = append(bounds, b)
		}
		_, ok := r.serve(0, bounds)
		require.Truef(t, ok == (threshold == 0), "bounds %d: the word 0 is rejected: %v", bounds, !ok)
	}
}
