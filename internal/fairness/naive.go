package fairness

// FitsNaive reports whether the counts are not uniform but fit swapping each place with any: from
// the first or from the last on, of orders or of their inverses.
func (s *Positions) FitsNaive() bool {
	uniform, law, n := s.Finding(), naivePositions(s.N), s.N
	var x [2]float64 // of orders and of inverses; swaps from the last place on undo those from the first
	for cell, count := range s.Counts {
		for i, other := range []int{cell, cell%n*n + cell/n} {
			expected := law[other] * float64(s.Runs)
			off := float64(count) - expected
			x[i] += off * off / expected
		}
	}
	least := min(uniform.X, min(x[0], x[1])*float64(n-1)/float64(n))
	return uniform.P < Alpha && ChiSquare(least, uniform.Freedom) > Alpha
}

// naivePositions returns how likely each item comes to each place, place*n + item, if each place is
// swapped with any. What is at the place of a swap goes anywhere, and what is elsewhere goes there with
// probability 1/n.
func naivePositions(n int) []float64 {
	law := make([]float64, n*n)
	at := make([]float64, n)
	for item := range n {
		clear(at)
		at[item] = 1
		for place := range n {
			here := at[place]
			for other := range n {
				if other != place {
					at[other] += (here - at[other]) / float64(n)
				}
			}
			at[place] = 1 / float64(n)
		}
		for place, p := range at {
			law[place*n+item] = p
		}
	}
	return law
}
