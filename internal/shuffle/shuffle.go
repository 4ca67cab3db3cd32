// Package shuffle holds the five fair algorithms of riffle/1, from uniform integers to orders.
//
// An [Algorithm] asks a [Source] for integers below bounds that count down or up one by one.
// [Order] applies the algorithm of a name to elements of any type. [Positions] shuffles the numbers
// 0 to size-1, and draws a few of very many in the memory of the few. The comment of each algorithm
// names its source and its cost.
//
// The package is pure: the same integers always give the same order.
package shuffle

// A Source returns uniform integers for the bounds of a shuffle. As the bounds of one shuffle are
// consecutive, it may return the integers for several of them together: riffle/1 makes them in
// groups. The result of a call is valid until the next call.
type Source interface {
	// Descend returns one or more integers below from, from-1, ...; none for a bound under 2.
	Descend(from uint64) []uint64
	// Ascend returns one or more integers below from, from+1, ...; none for a bound over last.
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

// Order shuffles a by the algorithm and returns the first m elements of the new order; m is from 0
// to len(a). The result may share memory with a, whose contents are unspecified afterwards. A draw
// is a prefix of the whole order: src is called as for the whole order, until the first m places
// are final. It panics if the algorithm is unknown.
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

// Few reports whether a draw of m out of size takes memory and time in proportion to m, by
// [Sparse], and not to size.
func Few(alg Algorithm, size, m uint64) bool { return alg.row().few && m < size/16 }

// Positions returns the first m of the new order of 0, 1, ..., size-1. It is [Order] over the
// numbers, or [Sparse] where [Few] allows it. It uses scratch for the numbers if that is large
// enough; nil is fine.
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
