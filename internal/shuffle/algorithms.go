package shuffle

import "slices"

// properties are all that callers have to know of an algorithm. Its code is in [Order].
type properties struct {
	name  Algorithm
	whole bool // even a draw of a few goes through all elements
	few   bool // a few of many are drawn by [Sparse]
	moves bool // every element moves, so one alone has no order
}

// table has a row for each algorithm, the default first.
var table = []properties{
	{name: AlgorithmFisherYates, few: true},
	{name: AlgorithmDurstenfeld, whole: true},
	{name: AlgorithmInsideOut, whole: true},
	{name: AlgorithmStrikeOut},
	{name: AlgorithmSattolo, moves: true},
}

// Algorithms returns every algorithm, the default first.
func Algorithms() (list []Algorithm) {
	for _, row := range table {
		list = append(list, row.name)
	}
	return list
}

// row returns the algorithm's row, which is empty if riffle/1 has no such algorithm.
func (alg Algorithm) row() (found properties) {
	for _, row := range table {
		if row.name == alg {
			found = row
		}
	}
	return found
}

// Known reports whether the algorithm is one of riffle/1.
func (alg Algorithm) Known() bool { return alg != "" && alg.row().name == alg }

// Orders reports whether the algorithm has an order of that many elements.
func (alg Algorithm) Orders(size uint64) bool { return size != 1 || !alg.row().moves }

// Integers returns the number of integers that a draw of m out of size takes, within a few.
func (alg Algorithm) Integers(size, m uint64) uint64 {
	if alg.row().whole {
		return size
	}
	return m
}

// FisherYates shuffles a in place, head to tail, until the first m places are final: for i = 0, 1,
// ..., swap a[i] with a[i + U(n-i)], where U(b) is a uniform integer below b. Each place draws from
// all that is not yet placed, so every order has probability 1/n · 1/(n-1) · ... = 1/n!.
//
// It is the method of Fisher and Yates in the in-place form of Durstenfeld, run from the head so
// that a draw can stop early. O(m) time, O(1) space.
func FisherYates[T any](a []T, m int, src Source) {
	for len(a) > 1 && m > 0 {
		group := src.Descend(uint64(len(a)))
		group = group[:min(len(group), m)]
		m -= len(group)
		for len(group) >= 4 && len(a) >= 4 { // four at a time, with one bounds check
			next, head := (*[4]uint64)(group), (*[4]T)(a)
			j, k, l := 1+next[1], 2+next[2], 3+next[3]
			head[0], a[next[0]] = a[next[0]], head[0]
			head[1], a[j] = a[j], head[1]
			head[2], a[k] = a[k], head[2]
			head[3], a[l] = a[l], head[3]
			group, a = group[4:], a[4:]
		}
		for _, j := range group {
			a[0], a[j] = a[j], a[0]
			a = a[1:]
		}
	}
}

// Durstenfeld shuffles a in place, tail to head: for i = n-1, ..., 1, swap a[i] with a[U(i+1)].
//
// Durstenfeld, Algorithm 235, CACM 7(7), 1964; Knuth's Algorithm P (TAOCP 2, 3.4.2). O(n) time,
// O(1) space. The head is final last, so a draw costs as much as the whole order.
func Durstenfeld[T any](a []T, src Source) {
	for i := len(a) - 1; i > 0; {
		for _, j := range src.Descend(uint64(i + 1)) {
			a[i], a[j] = a[j], a[i]
			i--
		}
	}
}

// InsideOut returns a shuffled copy of a and leaves a unchanged. It reads a from head to tail: each
// element goes to a random place among those so far and the next, and the element that was there
// moves to the end.
//
// This is the form of Knuth's Algorithm P known as inside-out. O(n) time, O(n) space for the copy.
func InsideOut[T any](a []T, src Source) []T {
	out := make([]T, len(a))
	copy(out, a[:min(1, len(a))])
	for i := 1; i < len(a); {
		for _, j := range src.Ascend(uint64(i+1), uint64(len(a))) {
			out[i] = a[i]
			out[i], out[j] = out[j], out[i]
			i++
		}
	}
	return out
}

// StrikeOut returns the first m of n draws without replacement: of the elements that remain, strike
// out the U(their number)-th and write it down. It overwrites a.
//
// Fisher and Yates, Statistical Tables for Biological, Agricultural and Medical Research, 1938, as
// done on paper. Up to [closeUp] elements, those after the struck one move up: O(m·n) time and O(m)
// space. Above that, a Fenwick tree counts the remaining ones (Fenwick, Software: Practice and
// Experience 24(3), 1994): O(n + m log n) time and O(n) space.
func StrikeOut[T any](a []T, m int, src Source) []T {
	out := make([]T, 0, m)
	remaining := newRemaining(a)
	for left := len(a); left > 1 && len(out) < m; {
		group := src.Descend(uint64(left))
		group = group[:min(len(group), m-len(out))]
		left -= len(group)
		for _, j := range group {
			out = append(out, remaining.strike(int(j)))
		}
	}
	if len(out) < m {
		out = append(out, remaining.strike(0))
	}
	return out
}

// Sattolo shuffles a in place, head to tail, into a single cycle, until the first m places are
// final: for i = 0, 1, ..., swap a[i] with a[i + 1 + U(n-i-1)]. No element stays in its place, and
// each of the (n-1)! cycles is equally likely. One element has no such order, so a of length 1 is
// unchanged.
//
// Sattolo, "An algorithm to generate a random cyclic permutation", Information Processing Letters
// 22(6), 1986. O(m) time, O(1) space.
func Sattolo[T any](a []T, m int, src Source) {
	for len(a) > 2 && m > 0 {
		group := src.Descend(uint64(len(a) - 1))
		group = group[:min(len(group), m)]
		m -= len(group)
		for _, j := range group {
			a[0], a[1+j] = a[1+j], a[0]
			a = a[1:]
		}
	}
	if len(a) == 2 && m > 0 {
		a[0], a[1] = a[1], a[0]
	}
}

// Sparse returns the first m of what [FisherYates] makes of 0, 1, ..., size-1, but stores only the
// places that a swap has touched: O(m) time and space for any size. m is at most size.
func Sparse(size, m uint64, src Source) []uint64 {
	out := make([]uint64, 0, m)
	moved := make(map[uint64]uint64, m) // by place; all other places hold their number
	at := func(place uint64) uint64 {
		if element, ok := moved[place]; ok {
			return element
		}
		return place
	}
	for i := uint64(0); i < m; {
		group := []uint64{0} // the very last place has one candidate and takes no integer
		if size-i > 1 {
			group = src.Descend(size - i)
		}
		for _, j := range group[:min(uint64(len(group)), m-i)] {
			out = append(out, at(i+j))
			moved[i+j] = at(i)
			delete(moved, i)
			i++
		}
	}
	return out
}

// closeUp is the length up to which moving elements over a struck one is faster than a walk down
// the tree.
const closeUp = 4096

// remaining holds the elements that have not been struck out, in their order.
type remaining[T any] struct {
	elements []T
	counts   []int // 1-based Fenwick tree of how many remain; nil up to closeUp
	top      int   // the largest power of two in the tree
}

func newRemaining[T any](a []T) *remaining[T] {
	r := &remaining[T]{elements: a}
	if len(a) <= closeUp {
		return r
	}
	r.counts = make([]int, len(a)+1)
	for i := 1; i < len(r.counts); i++ {
		r.counts[i] = i & -i
	}
	for r.top = 1; 2*r.top <= len(a); r.top *= 2 {
	}
	return r
}

// strike removes and returns the j-th of the remaining elements, counted from 0.
func (r *remaining[T]) strike(j int) T {
	if r.counts == nil {
		element := r.elements[j]
		r.elements = slices.Delete(r.elements, j, j+1)
		return element
	}
	place := 0
	for span := r.top; span > 0; span /= 2 {
		if next := place + span; next < len(r.counts) {
			if r.counts[next] <= j {
				place, j = next, j-r.counts[next]
			} else {
				r.counts[next]-- // the struck element is in this span
			}
		}
	}
	return r.elements[place]
}
