package shuffle_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
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
	{"all orders of 2", 20_000, allOrders(2)},
	{"all orders of 3", 20_000, allOrders(3)},
	{"all orders of 4", 20_000, allOrders(4)},
	{"all orders of 5", 20_000, allOrders(5)},
	{"all orders of 6", 40_000, allOrders(6)},
	{"all orders of 7", 100_000, allOrders(7)},
	{"card by position, 52", 20_000, positions(52)},
	{"card by position, 136", 10_000, positions(136)},
	{"ordered neighbours, 52", 20_000, neighbours(52)},
	{"ordered neighbours, 136", 10_000, neighbours(136)},
	{"fixed points, 52", 20_000, counts(52, 52, fixedPoints, fixedPointLaw(52))},
	{"cycles, 52", 20_000, counts(52, 52, cycles, cycleLaw(52))},
	{"rising sequences, 52", 20_000, counts(52, 52, risingSequences, risingSequenceLaw(52))},
	{"inversions, 52", 20_000, counts(52, 52, inversions, inversionLaw(52))},
	{"one shuffle and the next, 4", 20_000, successive(4, 24, rank)},
	{"from one shuffle to the next, card by position, 52", 20_000, relative(positions(52))},
	{"from one shuffle to the next, fixed points, 52", 20_000, relative(counts(52, 52, fixedPoints, fixedPointLaw(52)))},
	{"collisions, 12", 100_000, collisions(12, 12, 0)},
}, drawSuite)

// drawSuite has the statistics of draws, hands and decks with copies.
var drawSuite = []statistic{
	{"3 of 10", 20_000, draws("ABCDEFGHIJ", 3)},
	{"1 of 200", 20_000, draws(string(pack(200)), 1)},
	{"all of AABBC", 20_000, draws("AABBC", 5)},
	{"4 of AAABBCDE", 20_000, draws("AAABBCDE", 4)},
	{"13 hearts in a hand of 13 of 52", 20_000, counts(52, 13, below(13), hypergeometric(52, 13, 13))},
	{"28 honours in a hand of 13 of 136", 20_000, counts(136, 13, below(28), hypergeometric(136, 28, 13))},
	{"2 copies in the first 27 of 108", 20_000, counts(108, 27, below(2), hypergeometric(108, 2, 27))},
	{"the aces over four hands of 13", 20_000, aces},
}

// cycleSuite has the statistics that a shuffler into a single cycle has to pass.
var cycleSuite = []statistic{
	{"all cycles of 3", 20_000, allCycles(3)},
	{"all cycles of 4", 20_000, allCycles(4)},
	{"all cycles of 5", 20_000, allCycles(5)},
	{"all cycles of 6", 20_000, allCycles(6)},
	{"all cycles of 7", 40_000, allCycles(7)},
	{"card by position, 52", 20_000, successors(52)},
	{"card by position, 136", 10_000, successors(136)},
	{"one shuffle and the next, 5", 20_000, successive(5, 24, cycleRank)},
	{"collisions, 13", 100_000, collisions(13, 13, 1)},
	million,
}

// pack returns the cards 0, 1, ..., n-1.
func pack(n int) []uint8 {
	a := make([]uint8, n)
	for i := range a {
		a[i] = uint8(i)
	}
	return a
}

// each calls look with the first m of so many orders of n cards.
func each(s shuffler, n, m, samples int, look func(order []uint8)) {
	sorted, a := pack(n), make([]uint8, n)
	for range samples {
		copy(a, sorted)
		look(s(a, m))
	}
}

// chiSquare is the p-value of x. With few degrees of freedom perfect agreement is likely enough to
// be no sign of anything, and only the upper tail counts.
func chiSquare(x float64, freedom int) float64 {
	d := distuv.ChiSquared{K: float64(freedom)}
	if freedom < 20 {
		return d.Survival(x)
	}
	return min(1, 2*min(d.CDF(x), d.Survival(x)))
}

// uniform is the p-value of counts of equally likely outcomes, Pearson's chi-square.
func uniform(counts []int) float64 {
	sum, x := 0, 0.0
	for _, c := range counts {
		sum += c
	}
	expected := float64(sum) / float64(len(counts))
	for _, c := range counts {
		x += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	return chiSquare(x, len(counts)-1)
}

// fit is the p-value of counts whose outcomes follow the law. Outcomes are pooled with their
// neighbours until ten or more are expected.
func fit(counts []int, law []float64) float64 {
	sum := 0
	for i, c := range counts {
		if law[i] == 0 && c > 0 {
			return 0
		}
		sum += c
	}
	var expected, seen []float64
	enough := true
	for i, c := range counts {
		if enough {
			expected, seen = append(expected, 0), append(seen, 0)
		}
		last := len(expected) - 1
		expected[last] += float64(sum) * law[i]
		seen[last] += float64(c)
		enough = expected[last] >= 10
	}
	if last := len(expected) - 1; !enough && last > 0 {
		expected[last-1] += expected[last]
		seen[last-1] += seen[last]
		expected, seen = expected[:last], seen[:last]
	}
	x := 0.0
	for i := range expected {
		x += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i]
	}
	return chiSquare(x, len(expected)-1)
}

// normal is the p-value of a mean of samples, off from what is expected by so much, each with the
// variance.
func normal(off, variance float64, samples int) float64 {
	return 2 * distuv.UnitNormal.Survival(math.Abs(off)/math.Sqrt(variance/float64(samples)))
}

// poisson is the p-value of a number of rare events of which so many are expected.
func poisson(events int, expected float64) float64 {
	fewer, more := mathext.GammaIncRegComp(float64(events+1), expected), 1.0
	if events > 0 {
		more = mathext.GammaIncReg(float64(events), expected)
	}
	return min(1, 2*min(fewer, more))
}

// rank numbers the orders of 0, 1, ..., n-1 from 0 to n!-1.
func rank(order []uint8) int {
	number := 0
	for i, card := range order {
		smaller := 0
		for _, later := range order[i+1:] {
			if later < card {
				smaller++
			}
		}
		number = number*(len(order)-i) + smaller
	}
	return number
}

func allOrders(n int) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		counts := make([]int, factorial(n))
		each(s, n, n, samples, func(order []uint8) { counts[rank(order)]++ })
		return uniform(counts)
	}
}

// cycleRank numbers the single cycles through 0, 1, ..., n-1 from 0 to (n-1)!-1, by what follows 0.
// It is -1 for an order that is not a single cycle.
func cycleRank(order []uint8) int {
	var visited []uint8
	for card := order[0]; card != 0; card = order[card] {
		visited = append(visited, card-1)
	}
	if len(visited) != len(order)-1 {
		return -1
	}
	return rank(visited)
}

// allCycles is allOrders over single cycles. Any other order is as wrong as can be.
func allCycles(n int) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		counts := make([]int, factorial(n-1))
		other := false
		each(s, n, n, samples, func(order []uint8) {
			if number := cycleRank(order); number >= 0 {
				counts[number]++
			} else {
				other = true
			}
		})
		if other {
			return 0
		}
		return uniform(counts)
	}
}

// collisions counts the pairs of shuffles that agree in the first head of n cards, the last fixed
// of which are settled by the others. Every pair is as likely to agree as any.
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

// positions counts every card at every position. A shuffle adds one to each row and column, so that
// x has the mean n(n-1); x·(n-1)/n is chi-square with (n-1)² degrees of freedom.
func positions(n int) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		counts := make([]int, n*n)
		each(s, n, n, samples, func(order []uint8) {
			for position, card := range order {
				counts[position*n+int(card)]++
			}
		})
		expected := float64(samples) / float64(n)
		x := 0.0
		for _, c := range counts {
			x += (float64(c) - expected) * (float64(c) - expected) / expected
		}
		return chiSquare(x*float64(n-1)/float64(n), (n-1)*(n-1))
	}
}

// arcs is the p-value of how often each of n elements was followed by each other one in random
// cycles through all of them, each pair with probability p = 1/(n-1) a cycle.
//
// In the counts' covariance over p, the part that is the same in both directions has the eigenvalue
// 1, n(n-3)/2 times; the part that changes sign has n/(n-2), (n-1)(n-2)/2 times; the rest is fixed
// by one successor and one predecessor for each. Both parts, scaled to 1, sum to one chi-square.
func arcs(n, samples int, follows []int) float64 {
	expected := float64(samples) / float64(n-1)
	x := 0.0
	for i := range n {
		if follows[i*n+i] > 0 {
			return 0
		}
		for j := range i {
			there, back := float64(follows[i*n+j])-expected, float64(follows[j*n+i])-expected
			same, change := there+back, there-back
			x += (same*same + change*change*float64(n-2)/float64(n)) / (2 * expected)
		}
	}
	return chiSquare(x, n*(n-3)/2+(n-1)*(n-2)/2)
}

// neighbours counts every card after every other. With the edge of the table before the first and
// after the last, an order of n is a cycle through n+1.
func neighbours(n int) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		follows := make([]int, (n+1)*(n+1))
		each(s, n, n, samples, func(order []uint8) {
			before := n
			for _, card := range order {
				follows[before*(n+1)+int(card)]++
				before = int(card)
			}
			follows[before*(n+1)+n]++
		})
		return arcs(n+1, samples, follows)
	}
}

// successors counts every card at every position of orders that are single cycles.
func successors(n int) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		follows := make([]int, n*n)
		each(s, n, n, samples, func(order []uint8) {
			for position, card := range order {
				follows[position*n+int(card)]++
			}
		})
		return arcs(n, samples, follows)
	}
}

// counts compares the mean, the variance and the whole distribution of a value of the first m of n
// cards with its law: law[v] is the probability of the value v.
func counts(n, m int, value func(order []uint8) int, law []float64) func(shuffler, int) float64 {
	return func(s shuffler, samples int) float64 {
		seen := make([]int, len(law))
		each(s, n, m, samples, func(order []uint8) { seen[value(order)]++ })
		mean, variance, fourth := moments(law)
		first, second := 0.0, 0.0
		for v, c := range seen {
			off := float64(v) - mean
			first += off * float64(c)
			second += off * off * float64(c)
		}
		return min(1, 3*min(
			normal(first/float64(samples), variance, samples),
			normal(second/float64(samples)-variance, fourth-variance*variance, samples),
			fit(seen, law)))
	}
}

// moments returns the mean and the second and fourth central moments.
func moments(law []float64) (mean, variance, fourth float64) {
	for v, p := range law {
		mean += float64(v) * p
	}
	for v, p := range law {
		off := float64(v) - mean
		variance += off * off * p
		fourth += off * off * off * off * p
	}
	return mean, variance, fourth
}

func fixedPoints(order []uint8) (points int) {
	for position, card := range order {
		if position == int(card) {
			points++
		}
	}
	return points
}

// fixedPointLaw: choose the v that stay, 1/v!, and derange the others.
func fixedPointLaw(n int) []float64 {
	law := make([]float64, n+1)
	for v := range law {
		term := 1.0
		for i := 0; i <= n-v; i++ {
			law[v] += term
			term /= -float64(i + 1)
		}
		for i := 2; i <= v; i++ {
			law[v] /= float64(i)
		}
		law[v] = max(0, law[v]) // n-1 of n cannot stay
	}
	return law
}

func cycles(order []uint8) (number int) {
	var seen [256]bool
	for first := range order {
		if seen[first] {
			continue
		}
		number++
		for card := first; !seen[card]; card = int(order[card]) {
			seen[card] = true
		}
	}
	return number
}

// cycleLaw: the j-th card closes a cycle with probability 1/j (Feller's coupling).
func cycleLaw(n int) []float64 {
	law := []float64{1}
	for j := 1; j <= n; j++ {
		p := 1 / float64(j)
		law = convolve(law, []float64{1 - p, p})
	}
	return law
}

// risingSequences is how many hands it takes to pick the cards up in ascending order, going through
// the deck once with each.
func risingSequences(order []uint8) int {
	var place [256]int
	for position, card := range order {
		place[card] = position
	}
	sequences := 1
	for card := 1; card < len(order); card++ {
		if place[card] < place[card-1] {
			sequences++
		}
	}
	return sequences
}

// risingSequenceLaw: the Eulerian numbers over n!.
func risingSequenceLaw(n int) []float64 {
	law := []float64{0, 1}
	for j := 2; j <= n; j++ {
		next := make([]float64, j+1)
		for v := 1; v <= j; v++ {
			next[v] = float64(j-v+1) * law[v-1] / float64(j)
			if v < j {
				next[v] += float64(v) * law[v] / float64(j)
			}
		}
		law = next
	}
	return law
}

func inversions(order []uint8) (pairs int) {
	for i, card := range order {
		for _, later := range order[i+1:] {
			if later < card {
				pairs++
			}
		}
	}
	return pairs
}

// inversionLaw: the j-th card has 0 to j-1 larger ones before it, all equally likely.
func inversionLaw(n int) []float64 {
	law := []float64{1}
	for j := 2; j <= n; j++ {
		law = convolve(law, slices.Repeat([]float64{1 / float64(j)}, j))
	}
	return law
}

func convolve(a, b []float64) []float64 {
	sum := make([]float64, len(a)+len(b)-1)
	for i, p := range a {
		for j, q := range b {
			sum[i+j] += p * q
		}
	}
	return sum
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
		for _, drawn := range sortedKeys(ways) {
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

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
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
		return uniform(counts)
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

// A finding is one p-value and what it is of.
type finding struct {
	of string
	p  float64
}

func (f finding) String() string { return fmt.Sprintf("%s: p = %.3g", f.of, f.p) }

// holm returns the findings that are significant when all of them together may be wrong with
// probability alpha (Holm, "A simple sequentially rejective multiple test procedure", 1979). It
// sorts them, the least p-value first.
func holm(findings []finding, alpha float64) []finding {
	slices.SortStableFunc(findings, func(a, b finding) int { return cmp.Compare(a.p, b.p) })
	for i, f := range findings {
		if f.p > alpha/float64(len(findings)-i) {
			return findings[:i]
		}
	}
	return findings
}
