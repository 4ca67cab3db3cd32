package fairness

import (
	"math/bits"
	"slices"
)

// leastMoments is the least number of runs for comparing a value's mean and variance with the normal law.
// Below it, the law's tails are too thin for lopsided values such as fixed points.
const leastMoments = 20_000

// Values counts the orders with each value of a property, such as their number of cycles.
type Values struct {
	Name  string
	Runs  int
	Value func(order []uint8) int
	Seen  []int     // by value
	Law   []float64 // by value, of a fair shuffle
}

// NewValues returns the statistic of a value: law[v] is the probability of the value v.
func NewValues(name string, value func(order []uint8) int, law []float64) *Values {
	return &Values{Name: name, Value: value, Seen: make([]int, len(law)), Law: law}
}

// Add counts one order.
func (s *Values) Add(order []uint8) {
	s.Runs++
	s.Seen[s.Value(order)]++
}

// Finding compares the whole distribution with the law and, from 20,000 runs on, mean and variance
// as well. p is then three times the least of the three; x is the distribution's statistic.
func (s *Values) Finding() Finding {
	f := Finding{Name: s.Name, Runs: s.Runs, Needed: s.needed()}
	f.X, f.Freedom, f.P = Fit(s.Seen, s.Law)
	mean, variance, fourth := Moments(s.Law)
	first, second, runs := 0.0, 0.0, float64(s.Runs)
	for v, c := range s.Seen {
		off := float64(v) - mean
		first += off * float64(c)
		second += off * off * float64(c)
	}
	f.Mean, f.Expected = mean+first/runs, mean
	if s.Runs >= leastMoments {
		f.P = min(1, 3*min(f.P, normal(first/runs, variance, s.Runs), normal(second/runs-variance, fourth-variance*variance, s.Runs)))
	}
	return f
}

// needed returns the least number of runs at which two outcomes are expected often enough.
func (s *Values) needed() int {
	most := slices.Max(s.Law)
	if most == 1 {
		return 1
	}
	return int(2*enough/(1-most)) + 1
}

// Moments returns the mean and the second and fourth central moments of a law.
func Moments(law []float64) (mean, variance, fourth float64) {
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

// successive counts the places with the same item as in the previous run. If the shuffle is fair,
// the permutation from each order to the next is a fair shuffle too, and its fixed points are these
// places.
type successive struct {
	Values
	before []uint8
}

// newSuccessive returns the statistic for orders of n items.
func newSuccessive(n int) *successive {
	s := &successive{Values: *NewValues("successive", nil, FixedPointLaw(n))}
	s.Value = func(order []uint8) (same int) {
		for place, item := range order {
			if s.before[place] == item {
				same++
			}
		}
		return same
	}
	return s
}

// Add counts one order, with the one before it.
func (s *successive) Add(order []uint8) {
	if s.before != nil {
		s.Values.Add(order)
	}
	s.before = append(s.before[:0], order...)
}

// FixedPoints returns the number of items at their own place.
func FixedPoints(order []uint8) (points int) {
	for place, item := range order {
		if place == int(item) {
			points++
		}
	}
	return points
}

// Cycles returns the number of the permutation's cycles.
func Cycles(order []uint8) (number int) {
	var seen [MostItems]bool
	for first := range order {
		if seen[first] {
			continue
		}
		number++
		for item := first; !seen[item]; item = int(order[item]) {
			seen[item] = true
		}
	}
	return number
}

// RisingSequences returns the number of passes through the deck that pick up all items in ascending
// order.
func RisingSequences(order []uint8) int {
	var place [MostItems]int
	for position, item := range order {
		place[item] = position
	}
	sequences := 1
	for item := 1; item < len(order); item++ {
		if place[item] < place[item-1] {
			sequences++
		}
	}
	return sequences
}

// Inversions returns the number of pairs of items in descending order.
func Inversions(order []uint8) (pairs int) {
	var seen [MostItems / 64]uint64
	for _, item := range order {
		word := int(item / 64)
		pairs += bits.OnesCount64(seen[word] >> (item % 64))
		for _, larger := range seen[word+1:] {
			pairs += bits.OnesCount64(larger)
		}
		seen[word] |= 1 << (item % 64)
	}
	return pairs
}

// FixedPointLaw is the law of the number of fixed points: choose the v that stay, 1/v!, and derange
// the others.
func FixedPointLaw(n int) []float64 {
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
	}
	law[n-1] = 0 // n-1 of n cannot stay
	return law
}

// CycleLaw is the law of the number of cycles: the j-th item closes one with probability 1/j
// (Feller's coupling).
func CycleLaw(n int) []float64 {
	law := []float64{1}
	for j := 1; j <= n; j++ {
		p := 1 / float64(j)
		law = convolve(law, []float64{1 - p, p})
	}
	return law
}

// RisingSequenceLaw is the law of the number of rising sequences: the Eulerian numbers over n!.
func RisingSequenceLaw(n int) []float64 {
	law := []float64{0, 1}
	for j := 2; j <= n; j++ {
		law = append(law, 0)
		for v := j; v >= 1; v-- { // downwards, since each is made of the smaller one before it
			law[v] = float64(j-v+1)*law[v-1]/float64(j) + float64(v)*law[v]/float64(j)
		}
	}
	return law
}

// InversionLaw is the law of the number of inversions: the j-th item has 0 to j-1 larger ones
// before it, all equally likely.
func InversionLaw(n int) []float64 {
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
