package fairness_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/fairness"
)

// TestLaws compares the laws with published moments and with all orders of seven.
func TestLaws(t *testing.T) {
	for _, v := range []struct {
		name           string
		law            []float64
		mean, variance float64
	}{
		{"fixed points", fairness.FixedPointLaw(52), 1, 1},
		{"cycles", fairness.CycleLaw(52), 4.538, 2.912},
		{"rising sequences", fairness.RisingSequenceLaw(52), 26.5, 4.417},
		{"inversions", fairness.InversionLaw(52), 663, 63.36 * 63.36},
		{"fixed points of the most items", fairness.FixedPointLaw(fairness.MostItems), 1, 1},
	} {
		sum := 0.0
		for _, p := range v.law {
			sum += p
		}
		mean, variance, _ := fairness.Moments(v.law)
		assert.Truef(t, math.Abs(sum-1) <= 1e-12 && math.Abs(mean-v.mean) <= 1e-3*v.mean && math.Abs(variance-v.variance) <= 1e-3*v.variance,
			"%s: sum %v, mean %v, variance %v, want 1, %v, %v", v.name, sum, mean, variance, v.mean, v.variance)
	}
	for _, v := range []struct {
		name  string
		value func([]uint8) int
		law   []float64
	}{
		{"fixed points", fairness.FixedPoints, fairness.FixedPointLaw(7)},
		{"cycles", fairness.Cycles, fairness.CycleLaw(7)},
		{"rising sequences", fairness.RisingSequences, fairness.RisingSequenceLaw(7)},
		{"inversions", fairness.Inversions, fairness.InversionLaw(7)},
	} {
		seen, ranks := make([]int, len(v.law)), map[int]bool{}
		permute([]uint8{0, 1, 2, 3, 4, 5, 6}, 0, func(order []uint8) {
			seen[v.value(order)]++
			ranks[fairness.Rank(order)] = true
		})
		for value, c := range seen {
			want := v.law[value] * 5040
			assert.Truef(t, math.Abs(float64(c)-want) <= 1e-9, "%s: %d of the orders of seven have %d, want %v", v.name, c, value, want)
		}
		assert.Len(t, ranks, 5040)
	}
}

// permute visits every order of a[from:].
func permute(a []uint8, from int, visit func([]uint8)) {
	if from == len(a) {
		visit(a)
		return
	}
	for i := from; i < len(a); i++ {
		a[from], a[i] = a[i], a[from]
		permute(a, from+1, visit)
		a[from], a[i] = a[i], a[from]
	}
}

func TestCaught(t *testing.T) {
	findings := []fairness.Finding{{Name: "a", P: 0.04}, {Name: "b", P: 0.001}, {Name: "c", P: 0.011}, {Name: "d", P: 0.03}, {Name: "e", Needed: 1}}
	// 0.001 <= 0.05/4 and 0.011 <= 0.05/3, but 0.03 > 0.05/2, and nothing after it counts. Of e there are
	// not enough runs.
	assert.Equal(t, []string{"b", "c"}, names(fairness.Caught(findings, 0.05)), "caught")
	got := names(fairness.Caught([]fairness.Finding{{Name: "a", P: 0.01}, {Name: "b", P: 0.04}}, 0.05))
	assert.Equal(t, []string{"a", "b"}, got, "caught")
}

// TestPValuesAreUniform measures a fair shuffle again and again with the least number of runs that can be
// judged: about one in a hundred p-values is below 0.01, and one in a thousand below 0.001.
func TestPValuesAreUniform(t *testing.T) {
	const times = 4000
	for _, n := range []int{3, 5, 12} {
		below := map[string][2]int{}
		s := integers(fisherYates)("uniform")
		for range times {
			for _, f := range measure(fairness.NewMeter(n), map[int]int{3: 60, 5: 1200, 12: 120}[n], s).Findings() {
				counts := below[f.Name]
				if f.P < 0.01 {
					counts[0]++
				}
				if f.P < 0.001 {
					counts[1]++
				}
				below[f.Name] = counts
			}
		}
		for name, counts := range below {
			if t.Logf("%s of %d: %v of %d", name, n, counts, times); counts[0] > 2*times/100 || counts[1] > 4*times/1000 {
				t.Errorf("%s of %d: %d of %d p-values are below 0.01, and %d below 0.001", name, n, counts[0], times, counts[1])
			}
		}
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	for _, n := range []int{9, fairness.MostItems} {
		m, s, a := fairness.NewMeter(n), integers(fisherYates)("memory"), make([]uint8, n)
		for i := range a {
			a[i] = uint8(i)
		}
		m.Add(a)
		if allocations := testing.AllocsPerRun(1000, func() {
			s(a)
			m.Add(a)
		}); allocations > 0 {
			t.Errorf("%d items: an order allocates %v times", n, allocations)
		}
	}
}
