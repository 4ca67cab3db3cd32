package fairness

import (
	"hash/fnv"
	"math"
)

// Orders counts each of all orders.
type Orders struct {
	Runs, Other int   // Other are runs that gave an order that cannot be
	Counts      []int // by rank

	rank func(order []uint8) int // from 0; -1 for an order that cannot be
}

// Add counts one order.
func (s *Orders) Add(order []uint8) {
	s.Runs++
	if rank := s.rank(order); rank >= 0 {
		s.Counts[rank]++
	} else {
		s.Other++
	}
}

// Finding compares the counts with the law.
func (s *Orders) Finding() Finding {
	f := Finding{Name: "orders", Runs: s.Runs, Needed: enough * len(s.Counts), X: math.Inf(1), Freedom: len(s.Counts) - 1}
	if s.Other == 0 {
		f.X = pearson(s.Counts, float64(s.Runs)/float64(len(s.Counts)))
		f.P = ChiSquare(f.X, f.Freedom)
	}
	return f
}

// Never returns the number of orders that never came up.
func (s *Orders) Never() (orders int) {
	for _, c := range s.Counts {
		if c == 0 {
			orders++
		}
	}
	return orders
}

// Rank numbers the orders of 0, 1, ..., n-1 from 0 to n!-1.
func Rank(order []uint8) int {
	number := 0
	for i, item := range order {
		smaller := 0
		for _, later := range order[i+1:] {
			if later < item {
				smaller++
			}
		}
		number = number*(len(order)-i) + smaller
	}
	return number
}

// CycleRank numbers the single cycles through 0, 1, ..., n-1 from 0 to (n-1)!-1, by what follows 0. It
// is -1 for an order that is not a single cycle.
func CycleRank(order []uint8) int {
	var visited []uint8
	for item := order[0]; item != 0; item = order[item] {
		visited = append(visited, item-1)
	}
	if len(visited) != len(order)-1 {
		return -1
	}
	return Rank(visited)
}

// mostRemembered is the number of runs that are compared with each other.
const mostRemembered = 1 << 20

// Repeats counts runs that gave an order that had come up before, among the first 2²⁰ runs: with a small
// seed that happens early. It remembers 64 bits of a hash of each, which a fair shuffle repeats once in
// thirty million times.
type Repeats struct {
	Runs, Repeats int

	free int // there are free! orders
	seen map[uint64]bool
}

// Add counts one order.
func (s *Repeats) Add(order []uint8) {
	if s.Runs == mostRemembered {
		return
	}
	s.Runs++
	hash := fnv.New64a()
	_, _ = hash.Write(order) // never fails
	if s.seen[hash.Sum64()] {
		s.Repeats++
	}
	s.seen[hash.Sum64()] = true
}

// Finding compares the number with the law: each pair of runs is the same once in free! times.
func (s *Repeats) Finding() Finding {
	expected := float64(s.Runs) * float64(s.Runs-1) / 2
	for i := range s.free {
		expected /= float64(i + 1)
	}
	return Finding{Name: "repeats", Runs: s.Runs, Needed: 2, P: repeated(s.Repeats, expected), Mean: float64(s.Repeats), Expected: expected}
}

// States returns about how many different orders a generator has that repeats as often, or 0 if there
// were no repeats.
func (s *Repeats) States() float64 {
	if s.Repeats == 0 {
		return 0
	}
	return float64(s.Runs) * float64(s.Runs) / 2 / float64(s.Repeats)
}
