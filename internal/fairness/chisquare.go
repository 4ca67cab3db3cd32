package fairness

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ChiSquare returns the p-value of x. With few degrees of freedom perfect agreement is likely enough
// to be no sign of anything, and only the upper tail counts.
func ChiSquare(x float64, freedom int) float64 {
	if freedom < 20 {
		return UpperTail(x, freedom)
	}
	return min(1, 2*min(mathext.GammaIncReg(float64(freedom)/2, x/2), UpperTail(x, freedom)))
}

// UpperTail returns the probability of a chi-square of at least x.
func UpperTail(x float64, freedom int) float64 {
	if freedom < 1 && !math.IsInf(x, 1) {
		return 1
	}
	return mathext.GammaIncRegComp(float64(max(1, freedom))/2, x/2)
}

// pearson returns Pearson's chi-square of counts that are all expected to be the same.
func pearson(counts []int, expected float64) (x float64) {
	for _, c := range counts {
		x += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	return x
}

// Fit compares counts with the law of their outcomes. Outcomes are pooled with their neighbours until
// ten or more are expected. An outcome that cannot be makes x infinite.
func Fit(counts []int, law []float64) (x float64, freedom int, p float64) {
	sum := 0
	for i, c := range counts {
		if law[i] == 0 && c > 0 {
			x = math.Inf(1)
		}
		sum += c
	}
	var expected, seen []float64
	full := true
	for i, c := range counts {
		if full {
			expected, seen = append(expected, 0), append(seen, 0)
		}
		last := len(expected) - 1
		expected[last] += float64(sum) * law[i]
		seen[last] += float64(c)
		full = expected[last] >= enough
	}
	if last := len(expected) - 1; !full && last > 0 {
		expected[last-1] += expected[last]
		seen[last-1] += seen[last]
		expected, seen = expected[:last], seen[:last]
	}
	for i := range expected {
		x += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i]
	}
	return x, len(expected) - 1, ChiSquare(x, len(expected)-1)
}

// normal returns the p-value of a mean of runs, off from what is expected by so much, each with the
// variance.
func normal(off, variance float64, runs int) float64 {
	if variance < 1e-9 { // the value is the same in all orders, except for rounding
		return 1
	}
	return math.Erfc(math.Abs(off) / math.Sqrt(2*variance/float64(runs)))
}

// repeated returns the p-value of a number of rare events, given their expected number. Few events
// are never suspicious.
func repeated(events int, expected float64) float64 {
	if events == 0 {
		return 1
	}
	return mathext.GammaIncReg(float64(events), expected)
}

// arcs compares how often each of n elements was followed by each other one, in random cycles through
// all of them, with the same probability 1/(n-1) for each pair. An element after itself makes x
// infinite.
//
// In the counts' covariance over that probability, the part that is the same in both directions has the
// eigenvalue 1, n(n-3)/2 times; the part that changes sign has n/(n-2), (n-1)(n-2)/2 times; the rest is
// fixed by one successor and one predecessor for each. Both parts, scaled to 1, sum to one chi-square.
func arcs(n, runs int, follows []int) (x float64, freedom int) {
	freedom = n*(n-3)/2 + (n-1)*(n-2)/2
	expected := float64(runs) / float64(n-1)
	for i := range n {
		if follows[i*n+i] > 0 {
			return math.Inf(1), freedom
		}
		for j := range i {
			there, back := float64(follows[i*n+j])-expected, float64(follows[j*n+i])-expected
			same, change := there+back, there-back
			x += (same*same + change*change*float64(n-2)/float64(n)) / (2 * expected)
		}
	}
	return x, freedom
}
