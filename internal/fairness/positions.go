package fairness

// Positions counts every item at every place.
type Positions struct {
	N, Runs int
	Counts  []int // place*N + item

	cyclic bool // the orders are single cycles, in which no item stays
}

// Add counts one order.
func (s *Positions) Add(order []uint8) {
	s.Runs++
	for place, item := range order {
		s.Counts[place*s.N+int(item)]++
	}
}

// Expected returns the expected count of each item at each place; in single cycles, at each place except
// its own.
func (s *Positions) Expected() float64 {
	if s.cyclic {
		return float64(s.Runs) / float64(s.N-1)
	}
	return float64(s.Runs) / float64(s.N)
}

// Distance returns the average distance of items from their places, divided by the expected one.
func (s *Positions) Distance() float64 {
	sum := 0
	for cell, c := range s.Counts {
		sum += c * max(cell/s.N-cell%s.N, cell%s.N-cell/s.N)
	}
	return float64(sum) / float64(s.Runs) * 3 / float64(s.N*s.N-1)
}

// Finding compares the counts with the law. An order adds one to each row and column, so that x has the
// mean n(n-1); x·(n-1)/n is chi-square with (n-1)² degrees of freedom.
func (s *Positions) Finding() Finding {
	f := Finding{Name: "positions", Runs: s.Runs, Needed: enough * s.N}
	if s.cyclic {
		f.X, f.Freedom = arcs(s.N, s.Runs, s.Counts)
	} else {
		f.X, f.Freedom = pearson(s.Counts, s.Expected())*float64(s.N-1)/float64(s.N), (s.N-1)*(s.N-1)
	}
	f.P = ChiSquare(f.X, f.Freedom)
	return f
}

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
// swapped with any. What is at the place of a swap goes anywhere, and what is elsewhere goes there
// with probability 1/n.
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

// Neighbours counts every item after every other. With the edge of the table before the first and after
// the last, an order of n is a cycle through n+1.
type Neighbours struct {
	n, runs int
	follows []int
}

// Add counts one order.
func (s *Neighbours) Add(order []uint8) {
	s.runs++
	before := s.n
	for _, item := range order {
		s.follows[before*(s.n+1)+int(item)]++
		before = int(item)
	}
	s.follows[before*(s.n+1)+s.n]++
}

// Finding compares the counts with the law.
func (s *Neighbours) Finding() Finding {
	x, freedom := arcs(s.n+1, s.runs, s.follows)
	return Finding{Name: "neighbours", Runs: s.runs, Needed: enough * s.n, X: x, Freedom: freedom, P: ChiSquare(x, freedom)}
}

// Joined returns the count of items that the next item followed, and the expected count.
func (s *Neighbours) Joined() (pairs int, expected float64) {
	for item := range s.n - 1 {
		pairs += s.follows[item*(s.n+1)+item+1]
	}
	return pairs, float64(s.runs) * float64(s.n-1) / float64(s.n)
}
