// Package shuffle holds the algorithms that turn uniform integers into orders: five fair ones, in place where the
// method is, over any element type.
//
// An [Algorithm] asks a [Source] for integers below bounds that run down or up one by one; what it does with them
// is the table of riffle/1, and each function's comment names where the method comes from and what it costs.
// [Order] picks the algorithm by name. [Positions] shuffles plain
// numbers, and draws a few out of very many in the memory of the few.
//
// The package is pure: it holds no randomness of its own, and the same integers always give the same order.
package shuffle

import "slices"

// A Source answers an algorithm's calls for uniform integers. It may answer several calls at once: the calls
// of one shuffle are for bounds that follow each other, and a Source that serves them in groups, as riffle/1 does,
// hands out a group at a time. What it returns stands until the next call.
type Source interface {
	// Descend returns one or more integers, below from, from-1, and so on; none for a bound under 2.
	Descend(from uint64) []uint64
	// Ascend returns one or more integers, below from, from+1, and so on; none for a bound over last.
	Ascend(from, last uint64) []uint64
}

// An Algorithm is the name of a shuffle in a statement.
type Algorithm string

// The algorithms of riffle/1.
const (
	AlgorithmFisherYates Algorithm = "fisher-yates"
	AlgorithmDurstenfeld Algorithm = "durstenfeld"
	AlgorithmInsideOut   Algorithm = "inside-out"
	AlgorithmStrikeOut   Algorithm = "strike-out"
	AlgorithmSattolo     Algorithm = "sattolo"
)

// Algorithms returns every algorithm, the default first.
func Algorithms() []Algorithm {
	return []Algorithm{AlgorithmFisherYates, AlgorithmDurstenfeld, AlgorithmInsideOut, AlgorithmStrikeOut, AlgorithmSattolo}
}

// Known reports whether the algorithm is one of riffle/1.
func (alg Algorithm) Known() bool { return slices.Contains(Algorithms(), alg) }

// Order shuffles a by the algorithm and returns the first m of the new order: m is from 0 to len(a). The result
// stands in a or in a slice of its own; either way what a holds afterwards is not to be used. Source calls are
// those of the whole order up to where the first m are settled, so that a draw is a prefix of the full order. It
// panics if the algorithm is not known.
func Order[T any](alg Algorithm, a []T, m int, src Source) []T {
	switch alg {
	case AlgorithmFisherYates:
		FisherYates(a, m, src)
	case AlgorithmDurstenfeld:
		Durstenfeld(a, src)
	case AlgorithmInsideOut:
		a = InsideOut(a, src)
	case AlgorithmStrikeOut:
		return StrikeOut(a, m, src)
	case AlgorithmSattolo:
		Sattolo(a, m, src)
	default:
		panic("shuffle: unknown algorithm " + string(alg))
	}
	return a[:m]
}

// Few reports whether a draw of m out of size takes the memory and time of what is drawn, by [Sparse], and not of what it
// is drawn from.
func Few(alg Algorithm, size, m uint64) bool { return alg == AlgorithmFisherYates && m < size/16 }

// Positions returns the first m of the order of 0, 1, ..., size-1: [Order] over the numbers themselves. A
// [AlgorithmFisherYates] of few out of many is a [Sparse] one. It may use scratch for the numbers; nil will do.
func Positions(alg Algorithm, size, m uint64, src Source, scratch []uint64) []uint64 {
	if Few(alg, size, m) {
		return Sparse(size, m, src)
	}
	if scratch == nil || uint64(cap(scratch)) < size {
		scratch = make([]uint64, size)
	}
	a := scratch[:size]
	for i := range a {
		a[i] = uint64(i)
	}
	return Order(alg, a, int(m), src)
}
