package rng

import "math/bits"

const (
	// maxGroup is the most bounds that share a word: 2·3·…·18 is below 2⁵⁶, and one factor more is
	// not.
	maxGroup = 17

	// groupLimit is the largest product of bounds that share a word. The 8 bits between it and the
	// word make rejections rarer than one in 256.
	groupLimit = 1 << 56
)

// Uint64n returns a uniform integer in [0, n). It panics if n is 0.
//
// It is Lemire's multiply-and-reject (ACM TOMACS 29(1), 2019): the high word of x·n is the
// candidate; the 2⁶⁴ mod n smallest low words would favour some results, so those x are drawn
// again.
func (s *Stream) Uint64n(n uint64) uint64 {
	if n == 0 {
		panic("rng: no integer below 0")
	}
	for {
		integer, low := bits.Mul64(s.Uint64(), n)
		if low >= n || low >= -n%n {
			return integer
		}
	}
}

// down is the step of bounds that count down: -1.
const down = ^uint64(0)

// Descend returns uniform integers below the bounds from, from-1, ... for one group of them or two.
// A group is as many bounds, down to 2, as have a product of at most 2⁵⁶, and at least one. from is
// at least 2. The result is valid until the next call.
//
// A group is made from one word x: for each bound b the high word of x·b is the integer, and the
// low word becomes x. All results of the group are equally likely if the 2⁶⁴ mod B smallest last x
// are rejected, B being the product of the bounds (Brackett-Rozinsky and Lemire, "Batched Ranged
// Random Integer Generation", 2024).
func (s *Stream) Descend(from uint64) []uint64 {
	if from >= tabled {
		g := span(from, 2, down)
		return s.serve(from, down, &g)
	}
	g := &descents[from]
	if next := from - uint64(g.bounds); next >= 2 {
		return s.serveTwo(from, g, &descents[next])
	}
	return s.serve(from, down, g)
}

// Ascend is [Stream.Descend] for the bounds from, from+1, ..., up to last. from is at least 2.
func (s *Stream) Ascend(from, last uint64) []uint64 {
	if from < tabled {
		if g := &ascents[from]; from+uint64(g.bounds)-1 <= last {
			return s.serve(from, 1, g)
		}
	}
	g := span(from, last, 1)
	return s.serve(from, 1, &g)
}

// A group is a run of bounds that share a word.
type group struct {
	product uint64
	bounds  int
}

// tabled is the first bound whose group is not in a table.
const tabled = 1025

// descents and ascents hold the group that starts at each bound, precomputed for the sizes of
// common decks.
var descents, ascents = func() (descending, ascending [tabled]group) {
	for from := uint64(2); from < tabled; from++ {
		descending[from] = span(from, 2, down)
		ascending[from] = span(from, tabled+maxGroup, 1)
	}
	return descending, ascending
}()

// span returns the group of the bounds from, from+step, ..., up to last. A step of [down] counts
// down.
func span(from, last, step uint64) group {
	g := group{product: from, bounds: 1}
	for b := from; b != last; g.bounds++ {
		b += step
		high, product := bits.Mul64(g.product, b)
		if high > 0 || product > groupLimit {
			break
		}
		g.product = product
	}
	return g
}

// serve draws words until one is accepted for the group of the bounds from, from+step, ...
func (s *Stream) serve(from, step uint64, g *group) []uint64 {
	out := s.integers[:g.bounds]
	for {
		x, b := s.Uint64(), from
		i := 0
		for ; i+3 < len(out); i += 4 {
			four := (*[4]uint64)(out[i:])
			four[0], x = bits.Mul64(x, b)
			four[1], x = bits.Mul64(x, b+step)
			four[2], x = bits.Mul64(x, b+2*step)
			four[3], x = bits.Mul64(x, b+3*step)
			b += 4 * step
		}
		for ; i < len(out); i++ {
			out[i], x = bits.Mul64(x, b)
			b += step
		}
		if x >= g.product || x >= -g.product%g.product {
			return out
		}
	}
}

// serveTwo draws two words for the group g of the bounds from, from-1, ... and the group h that
// follows it. Each product of a group depends on the one before it but not on the other group, so
// the processor computes both groups in the time of one.
func (s *Stream) serveTwo(from uint64, g, h *group) []uint64 {
	x := s.Uint64()
	y := s.Uint64()
	b, c := from, from-uint64(g.bounds)
	first, second := s.integers[:g.bounds], s.integers[g.bounds:g.bounds+h.bounds]
	i := 0
	for ; i+3 < min(len(first), len(second)); i += 4 {
		p, q := (*[4]uint64)(first[i:]), (*[4]uint64)(second[i:])
		p[0], x = bits.Mul64(x, b)
		q[0], y = bits.Mul64(y, c)
		p[1], x = bits.Mul64(x, b-1)
		q[1], y = bits.Mul64(y, c-1)
		p[2], x = bits.Mul64(x, b-2)
		q[2], y = bits.Mul64(y, c-2)
		p[3], x = bits.Mul64(x, b-3)
		q[3], y = bits.Mul64(y, c-3)
		b -= 4
		c -= 4
	}
	for k := i; k < len(first); k++ {
		first[k], x = bits.Mul64(x, b)
		b--
	}
	for k := i; k < len(second); k++ {
		second[k], y = bits.Mul64(y, c)
		c--
	}
	switch {
	case x < g.product && x < -g.product%g.product:
		s.next -= 8 // the word drawn for h is the next one for g
		return s.serve(from, down, g)
	case y < h.product && y < -h.product%h.product:
		return first
	}
	return s.integers[:g.bounds+h.bounds]
}
