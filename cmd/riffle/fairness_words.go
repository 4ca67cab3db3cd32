package main

import (
	"math"
	"slices"
	"strings"

	"riffle/internal/fairness"
)

// certainCauses are mistakes that explain the findings of all later tests.
var certainCauses = []string{"same", "sattolo", "naive", "never"}

// explainAll explains what is caught. A cause is named once, and where one of the first tests found a
// certain mistake, the others only show its effects.
func (r *fairnessReport) explainAll(findings []fairness.Finding) {
	var named []string
	for i, f := range findings {
		t := &r.Tests[i]
		if !t.Caught {
			continue
		}
		found, cause := &finding{f, r, r.meter}, ""
		t.Found, cause, _ = strings.Cut(words(f.Name, found), "\n")
		isKnown := func(name string) bool { return name == cause || slices.Contains(certainCauses, name) }
		if cause != "" && !slices.ContainsFunc(named, isKnown) {
			t.Likely = words(cause, found)
		}
		named = append(named, cause)
	}
}

// A finding is one that is caught, with what the words about it need.
type finding struct {
	fairness.Finding
	Report *fairnessReport
	Meter  *fairness.Meter
}

// A matrix tells the most striking of the counts of items at places.
type matrix struct {
	IsOneOrder, IsAlways bool // all runs are the same, or have Most
	Most, First          pair // the one that deviates most, and the first that never occurs
	Times                float64
	Stays, Never, Pairs  int // items at their places, and pairs that never occur although each should have often
}

// A pair is an item at a place, from 1.
type pair struct {
	Item  string
	Place int
}

// Matrix looks at the counts of items at places.
func (f *finding) Matrix() (m matrix) {
	n, s := f.Meter.N, f.Meter.Positions
	pairAt := func(cell int) pair { return pair{f.Report.name(cell % n), cell/n + 1} }
	off := func(cell int) float64 { return math.Abs(float64(s.Counts[cell]) - s.Expected()) }
	always, most := 0, 0
	for cell, c := range s.Counts {
		if c == s.Runs {
			always++
		}
		if c == 0 && s.Runs > 30*n {
			m.Never++
		}
		if cell%(n+1) == 0 {
			m.Stays += c
		}
		if off(cell) > off(most) {
			most = cell
		}
	}
	m.IsOneOrder, m.IsAlways, m.Most, m.Pairs = always == n, s.Counts[most] == s.Runs, pairAt(most), n*n
	m.Times = float64(s.Counts[most]) / s.Expected()
	if m.Never > 0 {
		m.First = pairAt(slices.Index(s.Counts, 0))
	}
	return m
}

// MostFrequent returns the count of the most frequent order, divided by the expected one.
func (f *finding) MostFrequent() float64 {
	s := f.Meter.Orders
	return float64(slices.Max(s.Counts)) * float64(len(s.Counts)) / float64(s.Runs)
}

// Joined returns the count of items that still follow each other, divided by the expected one.
func (f *finding) Joined() float64 {
	pairs, expected := f.Meter.Neighbours.Joined()
	return float64(pairs) / expected
}

// SeveralCycles returns the number of orders that are not a single cycle.
func (f *finding) SeveralCycles() int { return f.Meter.Runs - f.Meter.Cycles.Seen[1] }

// IsFarBelow reports whether the mean is lower than it should be by more than a hundredth.
func (f *finding) IsFarBelow() bool { return f.Mean < 0.99*f.Expected }

// IsOneRepeated reports whether all runs gave one order.
func (f *finding) IsOneRepeated() bool { return f.Meter.Repeats.Repeats == f.Meter.Repeats.Runs-1 }

// SeedBits returns the number of bits, about, of a seed that repeats as often.
func (f *finding) SeedBits() float64 { return math.Log2(f.Meter.Repeats.States()) }

// OrderBits returns the number of bits that it takes to number the orders.
func (f *finding) OrderBits() float64 {
	orders, _ := math.Lgamma(float64(f.Meter.N + 1)) // the logarithm of their number
	return math.Ceil(orders / math.Ln2)
}
