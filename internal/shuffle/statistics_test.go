package shuffle_test

import (
	"maps"
	"slices"

	"riffle/internal/fairness"
)

// A shuffler returns the first m of a new order of a at each call. It may overwrite a.
type shuffler func(a []uint8, m int) []uint8

// A statistic measures a number of draws and returns its p-value: the probability that a fair
// shuffler deviates as far from the expectation. Package fairness measures whole orders.
type statistic struct {
	name    string
	samples int
	p       func(s shuffler, samples int) float64
}

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

// each calls look with the first m of so many orders of n cards.
func each(s shuffler, n, m, samples int, look func(order []uint8)) {
	sorted, a := ascending[uint8](n), make([]uint8, n)
	for range samples {
		copy(a, sorted)
		look(s(a, m))
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
