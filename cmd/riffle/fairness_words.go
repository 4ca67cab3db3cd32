package main

import (
	"fmt"
	"math"
	"slices"

	"riffle/internal/fairness"
)

// What is likely behind a finding.
const (
	causeSame    = "the orders are printed without being shuffled, or each run begins with the same seed."
	causeSattolo = "Sattolo's algorithm, or Fisher-Yates with an off-by-one: the other place is drawn from the places after this one, " +
		"and has to be drawn from this one and those after it. If single cycles are wanted, compare with --cyclic."
	causeNaive = "each place is swapped with any place. Of n items that makes n^n equally likely runs, which n! orders cannot share evenly. " +
		"Draw the other place from this one and those after it."
	causeNever  = "an off-by-one: the range that is drawn from leaves out a place."
	causeNear   = "too few swaps or riffles (52 cards take more than seven), or sorting by a random comparator: items stay near each other."
	causeUneven = "integers that are not uniform, such as a remainder or a product of too few random bits, or a wrong range."
	causeRepeat = "two runs share a seed, or a run begins with the order of the last one instead of the items in order."
)

// explainAll explains what is caught. A cause is named once, and where one of the first tests found a
// certain mistake, the others only show its effects.
func (r *fairnessReport) explainAll(findings []fairness.Finding) {
	certain := map[string]bool{causeSame: true, causeSattolo: true, causeNaive: true, causeNever: true}
	known, named := false, map[string]bool{}
	for i, f := range findings {
		t := &r.Tests[i]
		if !t.Caught {
			continue
		}
		found, likely := r.explain(f)
		t.Found = found
		if !known && !named[likely] {
			t.Likely = likely
		}
		named[likely] = true
		known = known || certain[likely]
	}
}

// explain says what a finding shows, and what it is likely to come from.
func (r *fairnessReport) explain(f fairness.Finding) (found, likely string) {
	switch f.Name {
	case "positions":
		return r.explainPositions()
	case "orders":
		return r.explainOrders()
	case "neighbours":
		return r.explainNeighbours()
	case "cycles":
		return r.explainCycles(f)
	case "fixed_points":
		return fmt.Sprintf("%.3f items stay at their places on average; it should be %.3f.", f.Mean, f.Expected), ""
	case "rising_sequences":
		if f.Mean < 0.99*f.Expected {
			likely = causeNear
		}
		return fmt.Sprintf("An order has %.2f rising sequences on average; it should have %.2f.", f.Mean, f.Expected), likely
	case "inversions":
		return fmt.Sprintf("%.2f pairs of items changed sides on average; it should be %.2f.", f.Mean, f.Expected), ""
	case "successive":
		if f.Mean > f.Expected {
			likely = causeRepeat
		}
		return fmt.Sprintf("Two runs in a row have %.3f items at the same places on average; it should be %.3f.", f.Mean, f.Expected), likely
	}
	return r.explainRepeats()
}

// explainPositions says the most striking of what the matrix shows.
func (r *fairnessReport) explainPositions() (found, likely string) {
	n, s := r.meter.N, r.meter.Positions
	always, never, stays, most := 0, 0, 0, 0
	for cell, c := range s.Counts {
		if c == s.Runs {
			always++
		}
		if c == 0 {
			never++
		}
		if cell%(n+1) == 0 {
			stays += c
		}
		if off := func(cell int) float64 { return math.Abs(float64(s.Counts[cell]) - s.Expected()) }; off(cell) > off(most) {
			most = cell
		}
	}
	times := float64(s.Counts[most]) / s.Expected()
	found = fmt.Sprintf("The largest deviation: item %s at place %d, %.2f times as often as it should be.", r.name(most%n), most/n+1, times)
	switch {
	case always == n:
		return "Every run gives the same order.", causeSame
	case r.Cyclic:
		return found, causeUneven
	case stays == 0:
		return "No item ever stays at its place.", causeSattolo
	case s.FitsNaive():
		return found, causeNaive
	case always > 0 && s.Counts[most] == s.Runs:
		return fmt.Sprintf("Item %s is at place %d in every run.", r.name(most%n), most/n+1), causeNever
	case s.Distance() < 0.97:
		return found, causeNear
	case never > 0 && float64(s.Runs) > 30*float64(n):
		first := slices.Index(s.Counts, 0)
		return fmt.Sprintf("%s of %s pairs of an item and a place never occur: item %s at place %d, for example.",
			comma(never), comma(n*n), r.name(first%n), first/n+1), causeNever
	}
	return found, causeUneven
}

func (r *fairnessReport) explainOrders() (found, likely string) {
	s := r.meter.Orders
	if s.Other > 0 {
		return fmt.Sprintf("%s of %s are not single cycles.", comma(s.Other), plural(s.Runs, "order")), ""
	}
	if never := s.Never(); never > 0 {
		found = fmt.Sprintf("%s of all %s never came up. ", comma(never), plural(len(s.Counts), "order"))
	}
	share := float64(slices.Max(s.Counts)) * float64(len(s.Counts)) / float64(s.Runs)
	return found + fmt.Sprintf("The most frequent came up %.2f times as often as it should.", share), ""
}

func (r *fairnessReport) explainNeighbours() (found, likely string) {
	pairs, expected := r.meter.Neighbours.Joined()
	times := float64(pairs) / expected
	if times > 1.02 {
		return fmt.Sprintf("Items that followed each other before still do so %.2f times as often as they should.", times), causeNear
	}
	return "Some items follow some others too often.", ""
}

func (r *fairnessReport) explainCycles(f fairness.Finding) (found, likely string) {
	single := r.meter.Cycles.Seen[1]
	switch {
	case r.Cyclic:
		return fmt.Sprintf("%s of %s have more than one cycle.", comma(r.Runs-single), plural(r.Runs, "order")), "an algorithm other than Sattolo's."
	case single == r.Runs:
		return "Every order is a single cycle through all items.", causeSattolo
	}
	return fmt.Sprintf("An order has %.3f cycles on average; it should have %.3f.", f.Mean, f.Expected), ""
}

func (r *fairnessReport) explainRepeats() (found, likely string) {
	s := r.meter.Repeats
	found = fmt.Sprintf("%s of %s gave an order that had come up before; of a fair shuffle of %d items, hardly ever one does.",
		comma(s.Repeats), plural(s.Runs, "run"), r.meter.N)
	if s.Repeats == s.Runs-1 {
		return found, causeSame
	}
	orders, _ := math.Lgamma(float64(r.meter.N + 1)) // the logarithm of their number
	return found, fmt.Sprintf("a seed or a generator of about %.0f bits. %d items take %.0f bits to number their orders.",
		math.Log2(s.States()), r.meter.N, math.Ceil(orders/math.Ln2))
}
