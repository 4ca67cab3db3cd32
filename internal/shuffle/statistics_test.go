package shuffle_test

import (
	"maps"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"riffle/internal/fairness"
)

// A shuffler returns the first m of a new order of a at each call. It may overwrite a.
type shuffler func(a []uint8, m int) []uint8

// A statistic measures a number of shuffles and returns its p-value: the probability that a fair
// shuffler deviates as far from the expectation. Where possible, a deviation that is too small
// counts as well.
type statistic struct {
	name    string
	samples int
	p       func(s shuffler, samples int) float64
}

// suite has the statistics that a fair shuffler has to pass.
var suite = append(slices.Clip(quickSuite), million)

// million is the one statistic that takes long.
var million = statistic{"collisions, 52", 1_000_000, collisions(52, 11, 0)}

var quickSuite = slices.Concat([]statistic{
	{"all orders of 2", 20_000, measure(2, fairness.NewOrders)},
	{"all orders of 3", 20_000, measure(3, fairness.NewOrders)},
	{"all orders of 4", 20_000, measure(4, fairness.NewOrders)},
	{"all orders of 5", 20_000, measure(5, fairness.NewOrders)},
	{"all orders of 6", 40_000, measure(6, fairness.NewOrders)},
	{"all orders of 7", 100_000, measure(7, fairness.NewOrders)},
	{"card by position, 52", 20_000, measure(52, fairness.NewPositions)},
	{"card by position, 136", 10_000, measure(136, fairness.NewPositions)},
	{"ordered neighbours, 52", 20_000, measure(52, fairness.NewNeighbours)},
	{"ordered neighbours, 136", 10_000, measure(136, fairness.NewNeighbours)},
	{"fixed points, 52", 20_000, measure(52, fairness.NewFixedPoints)},
	{"cycles, 52", 20_000, measure(52, fairness.NewCycles)},
	{"rising sequences, 52", 20_000, measure(52, fairness.NewRisingSequences)},
	{"inversions, 52", 20_000, measure(52, fairness.NewInversions)},
}, ownSuite)

// ownSuite has the statistics that package fairness, which tests the others on mutants, does not have.
var ownSuite = slices.Concat([]statistic{
	{"one shuffle and the next, 4", 20_000, successive(4, 24, fairness.Rank)},
	{"from one shuffle to the next, card by position, 52", 20_000, relative(measure(52, fairness.NewPositions))},
	{"from one shuffle to the next, fixed points, 52", 20_000, relative(measure(52, fairness.NewFixedPoints))},
	{"collisions, 12", 100_000, collisions(12, 12, 0)},
}, drawSuite)

// drawSuite has the statistics of draws, hands and decks with copies.
var drawSuite = []statistic{
	{"3 of 10", 20_000, draws("ABCDEFGHIJ", 3)},
	{"1 of 200", 20_000, draws(string(ascending[uint8](200)), 1)},
	{"all of AABBC", 20_000, draws("AABBC", 5)},
	{"4 of AAABBCDE", 20_000, draws("AAABBCDE", 4)},
	{"13 hearts in a hand of 13 of 52", 20_000, counts(52, 13, below(13), hypergeometric(52, 13, 13))},
	{"28 honours in a hand of 13 of 136", 20_000, counts(136, 13, below(28), hypergeometric(136, 28, 13))},
	{"2 copies in the first 27 of 108", 20_000, counts(108, 27, below(2), hypergeometric(108, 2, 27))},
	{"the aces over four hands of 13", 20_000, aces},
}

// cycleSuite has the statistics that a shuffler into a single cycle has to pass.
var cycleSuite = []statistic{
	{"all cycles of 3", 20_000, measure(3, fairness.NewSingleCycles)},
	{"all cycles of 4", 20_000, measure(4, fairness.NewSingleCycles)},
	{"all cycles of 5", 20_000, measure(5, fairness.NewSingleCycles)},
	{"all cycles of 6", 20_000, measure(6, fairness.NewSingleCycles)},
	{"all cycles of 7", 40_000, measure(7, fairness.NewSingleCycles)},
	{"card by position, 52", 20_000, measure(52, fairness.NewSuccessors)},
	{"card by position, 136", 10_000, measure(136, fairness.NewSuccessors)},
	{"one shuffle and the next, 5", 20_000, successive(5, 24, fairness.CycleRank)},
	{"collisions, 13", 100_000, collisions(13, 13, 1)},
	million,
}

// each calls look with the first m of so many orders of n cards.
func each(s shuffler, n, m, samples int, look func(order []uint8)) {
	sorted, a := ascending[uint8](n), make([]uint8, n)
	for range samples {
		copy(a, sorted)
		look(s(a, m))
	}
}

// poisson is the p-value of a number of rare events, given their expected number.
func poisson(events int, expected float64) float64 {
	fewer, more := mathext.GammaIncRegComp(float64(events+1), expected), 1.0
	if events > 0 {
		more = mathext.GammaIncReg(float64(events), expected)
	}
	return min(1, 2*min(fewer, more))
}

// collisions counts the pairs of shuffles that agree in the first head of n cards, whose last fixed
// cards follow from the others. Every pair is as likely to agree as any.
func collisions(n, head, fixed int) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		keys := make([]uint64, 0, samples)
		each(s, n, n, samples, func(order []uint8) {
			key := uint64(0) // in base n: 12¹², 13¹³ and 52¹¹ are below 2⁶⁴
			for _, card := range order[:head] {
				key = key*uint64(n) + uint64(card)
			}
			keys = append(keys, key)
		})
		slices.Sort(keys)
		pairs, same := 0, 0
		for i := 1; i < len(keys); i++ {
			if keys[i] == keys[i-1] {
				same++
				pairs += same
			} else {
				same = 0
			}
		}
		expected := float64(samples) * float64(samples-1) / 2
		for i := range head - fixed {
			expected /= float64(n - fixed - i)
		}
		return poisson(pairs, expected)
	}
}

// measure is the p-value of a statistic of orders of n cards.
func measure[S fairness.Statistic](n int, statistic func(n int) S) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		st := statistic(n)
		each(s, n, n, samples, st.Add)
		return st.Finding().P
	}
}

// counts is the p-value of a value of the first m of n cards: law[v] is the probability of the value v.
func counts(n, m int, value func(order []uint8) int, law []float64) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		st := fairness.NewValues("", value, law)
		each(s, n, m, samples, st.Add)
		return st.Finding().P
	}
}

// fit is the p-value of counts whose outcomes follow the law.
func fit(counts []int, law []float64) float64 {
	_, _, p := fairness.Fit(counts, law)
	return p
}

// below returns the value "how many cards are below this one".
func below(marked uint8) func([]uint8) int {
	return func(order []uint8) (number int) {
		for _, card := range order {
			if card < marked {
				number++
			}
		}
		return number
	}
}

// hypergeometric: how many of the marked ones are among those drawn.
func hypergeometric(size, marked, drawn int) []float64 {
	law := make([]float64, drawn+1)
	for v := range law {
		law[v] = choose(marked, v) * choose(size-marked, drawn-v) / choose(size, drawn)
	}
	return law
}

func choose(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	product := 1.0
	for i := range k {
		product = product * float64(n-i) / float64(i+1)
	}
	return product
}

// draws compares what the first m of some cards, among them equal ones, look like with all ways of
// drawing m of them.
func draws(cards string, m int) func(shuffler, int) float64 {
	ways := map[string]int{}
	used := make([]bool, len(cards))
	var draw func(drawn string)
	draw = func(drawn string) {
		if len(drawn) == m {
			ways[drawn]++
			return
		}
		for i := range len(cards) {
			if !used[i] {
				used[i] = true
				draw(drawn + cards[i:i+1])
				used[i] = false
			}
		}
	}
	draw("")
	all := 0
	for _, w := range ways {
		all += w
	}
	return func(s shuffler, samples int) float64 {
		seen := map[string]int{}
		for range samples {
			seen[string(s([]uint8(cards), m))]++
		}
		counts, law := make([]int, 0, len(ways)), make([]float64, 0, len(ways))
		for _, drawn := range slices.Sorted(maps.Keys(ways)) {
			counts = append(counts, seen[drawn])
			law = append(law, float64(ways[drawn])/float64(all))
			delete(seen, drawn)
		}
		if len(seen) > 0 {
			return 0
		}
		return fit(counts, law)
	}
}

// aces deals a deck of 52 to four and counts how the cards 0 to 3 fall to the hands.
func aces(s shuffler, samples int) float64 {
	seen := make([]int, 5*5*5*5)
	each(s, 52, 52, samples, func(order []uint8) {
		cell := 0
		for hand := range 4 {
			cell = 5*cell + below(4)(order[13*hand:13*hand+13])
		}
		seen[cell]++
	})
	law := make([]float64, len(seen))
	for cell := range law {
		ways, left := 1.0, 4
		for digits, hand := cell, 0; hand < 4; digits, hand = digits/5, hand+1 {
			ways *= choose(13, digits%5)
			left -= digits % 5
		}
		if left == 0 {
			law[cell] = ways / choose(52, 4)
		}
	}
	return fit(seen, law)
}

// successive counts the pairs of an order of n and the one right after it, numbered from 0 to
// kinds-1, all kinds² equally likely.
func successive(n, kinds int, number func(order []uint8) int) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		counts := make([]int, kinds*kinds)
		before, other := -1, false
		each(s, n, n, 2*samples, func(order []uint8) {
			switch this := number(order); {
			case this < 0:
				other = true
			case before < 0:
				before = this
			default:
				counts[before*kinds+this]++
				before = -1
			}
		})
		if other {
			return 0
		}
		_, _, p := fairness.Fit(counts, slices.Repeat([]float64{1 / float64(len(counts))}, len(counts)))
		return p
	}
}

// relative measures the permutation that leads from each shuffle to the next. It is uniform if the
// shuffles are independent.
func relative(p func(shuffler, int) float64) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		return p(func(a []uint8, m int) []uint8 {
			before := s(slices.Clone(a), len(a))
			after := s(slices.Clone(a), len(a))
			for position, card := range before {
				a[card] = after[position]
			}
			return a[:m]
		}, samples)
	}
}
