package fairness

import "slices"

// FixedPointLaw is the law of the number of fixed points: choose the v that stay, 1/v!, and derange the
// others.
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

// CycleLaw is the law of the number of cycles: the j-th item closes one with probability 1/j (Feller's
// coupling).
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

// InversionLaw is the law of the number of inversions: the j-th item has 0 to j-1 larger ones before it,
// all equally likely.
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
