// Package fairness measures whether a shuffle gives every order equally often.
//
// A [Meter] takes orders one by one and counts what they show. It keeps counts and not the orders, so
// that its memory depends on the number of items alone. Its findings compare the counts with the law
// that a fair shuffle follows, and [Caught] says which of them a fair shuffle would hardly ever give.
// All statistics are chi-square tests or have laws in closed form.
package fairness

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

const (
	// MostItems is the size of the longest order.
	MostItems = 256

	// mostRanked is the largest size at which every order is counted.
	mostRanked = 7

	// leastRepeated is the smallest size at which a repeated order is rare in a million runs.
	leastRepeated = 15

	// enough is the least expected count of the rarest outcome in a chi-square test whose p-value
	// holds far out in the tail.
	enough = 10
)

// Alpha is how likely a fair shuffle is caught by mistake: once in a million reports. With the fewest
// runs that are judged it is a few times that, since the laws of the statistics are approximations.
const Alpha = 1e-6

// A Finding is what one statistic found.
type Finding struct {
	Name    string
	Runs    int     // how many were counted
	Needed  int     // from how many runs on P holds
	X       float64 // chi-square, if Freedom is not 0
	Freedom int     // degrees of freedom
	P       float64 // how likely a fair shuffle deviates as far

	// Mean is the observed mean; Expected is its expectation, or 0 if undefined.
	Mean, Expected float64
}

// Judged reports whether there were enough runs for P to hold.
func (f Finding) Judged() bool { return f.Runs >= f.Needed }

func (f Finding) String() string { return fmt.Sprintf("%s: p = %.3g", f.Name, f.P) }

// Caught returns the findings that are significant when all that could be judged may be wrong together
// with the probability alpha, the least p-value first (Holm, "A simple sequentially rejective multiple
// test procedure", 1979).
func Caught(findings []Finding, alpha float64) []Finding {
	judged := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !f.Judged() })
	slices.SortStableFunc(judged, func(a, b Finding) int { return cmp.Compare(a.P, b.P) })
	for i, f := range judged {
		if f.P > alpha/float64(len(judged)-i) {
			return judged[:i]
		}
	}
	return judged
}

// A statistic counts orders of the items 0, 1, ..., n-1: the item at each place.
type statistic interface {
	Add(order []uint8)
	Finding() Finding
}

// A Meter has all statistics of orders of one size, and by name those that tell more than their
// finding. Those that are nil do not apply.
type Meter struct {
	N, Runs    int
	Positions  *Positions
	Orders     *Orders // up to 7 items, or 8 in a single cycle
	Neighbours *Neighbours
	Cycles     *Values
	Repeats    *Repeats // from 15 items on

	statistics []statistic
}

// NewMeter returns a meter for orders of n items, from 2 to [MostItems], that should be uniform among
// all orders.
func NewMeter(n int) *Meter {
	m := &Meter{
		N: n, Positions: &Positions{N: n, Counts: make([]int, n*n)}, Cycles: NewValues("cycles", Cycles, CycleLaw(n)),
		Neighbours: &Neighbours{n: n, follows: make([]int, (n+1)*(n+1))},
	}
	return m.with(n, Rank, m.Neighbours,
		NewValues("fixed_points", FixedPoints, FixedPointLaw(n)), m.Cycles,
		NewValues("rising_sequences", RisingSequences, RisingSequenceLaw(n)),
		NewValues("inversions", Inversions, InversionLaw(n)), newSuccessive(n))
}

// NewCyclicMeter returns a meter for orders of n items, from 3 to [MostItems], that should be
// uniform among the single cycles through all items, like the orders of Sattolo's algorithm.
func NewCyclicMeter(n int) *Meter {
	law := make([]float64, n+1)
	law[1] = 1 // all have one cycle
	m := &Meter{N: n, Positions: &Positions{N: n, Counts: make([]int, n*n), cyclic: true}, Cycles: NewValues("cycles", Cycles, law)}
	return m.with(n-1, CycleRank, m.Cycles)
}

// with completes a meter of free! orders that rank numbers. The other statistics come after
// positions and orders, and before repeats.
func (m *Meter) with(free int, rank func(order []uint8) int, others ...statistic) *Meter {
	m.statistics = []statistic{m.Positions}
	if free <= mostRanked {
		m.Orders = &Orders{Counts: make([]int, combin.NumPermutations(free, free)), rank: rank}
		m.statistics = append(m.statistics, m.Orders)
	}
	m.statistics = append(m.statistics, others...)
	if free >= leastRepeated {
		m.Repeats = &Repeats{free: free, seen: map[uint64]bool{}}
		m.statistics = append(m.statistics, m.Repeats)
	}
	return m
}

// Add counts one order.
func (m *Meter) Add(order []uint8) {
	m.Runs++
	for _, s := range m.statistics {
		s.Add(order)
	}
}

// Findings returns what each statistic found.
func (m *Meter) Findings() []Finding {
	findings := make([]Finding, len(m.statistics))
	for i, s := range m.statistics {
		findings[i] = s.Finding()
	}
	return findings
}
