package fairness

// FitsNaive reports whether the counts are not uniform but fit swapping each place with any: from
// the first or from the last on, of orders or of their inverses.
func (s *Positions) FitsNaive() bool {
	uniform := s.Finding()
	law, least := naivePositions(s.N), uniform.X
	for _, reversed := range []bool{false, true} {
		for _, inverse := range []bool{false, true} {
			x := 0.0
			for place := range s.N {
				for item := range s.N {
					p, i := place, item
					if reversed {
						p, i = s.N-1-p, s.N-1-i
					}
					if inverse {
						p, i = i, p
					}
					expected := law[p*s.N+i] * float64(s.Runs)
					off := float64(s.Counts[place*s.N+item]) - expected
					x += off * off / expected
				}
			}
			least = min(least, x*float64(s.N-1)/float64(s.N))
		}
	}
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
