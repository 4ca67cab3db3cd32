package rng

import "math/bits"

const (
	// maxGroup is the most bounds that one word serves: 2·3·…·18 is below 2⁵⁶, one factor more is not.
	maxGroup = 17

	// groupLimit is the largest product of bounds that share a word. The 8 bits between it and the word keep
	// refusals below one in 256.
	groupLimit = 1 << 56
)

// Uint64n returns a uniform integer in [0, n). It panics if n is 0.
//
// It is Lemire's multiply-and-reject (ACM TOMACS 29(1), 2019): the high word of x·n is the candidate; the
// 2⁶⁴ mod n smallest low words would favour some results, so those x are drawn again.
func (s *Stream) Uint64n(n uint64) uint64 {
	if n == 0 {
		panic("rng: no integer below 0")
	}
	for {
		integer, left := bits.Mul64(s.Uint64(), n)
		if left >= n || left >= -n%n {
			return integer
		}
	}
}

// down is the step of bounds that count down: -1.
const down = ^uint64(0)

// Descend returns the integers of a group, for the bounds from, from-1, ...: for as many bounds, down to 2, as
// have a product of at most 2⁵⁶, but for at least one; and those of the next group as well, if it is at hand. from is at
// least 2. They stand until the next call.
//
// A group is served from one word x: for each bound b the high word of x·b is the integer, and the low word
// becomes x. All results of the group are equally likely once the 2⁶⁴ mod B smallest last x are refused, B being
// the product of the bounds (Brackett-Rozinsky and Lemire, "Batched Ranged Random Integer Generation", 2024).
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

// A group is a run of bounds that one word serves.
type group struct {
	product uint64
	bounds  int
}

// tabled is the first bound whose group is not kept in a table.
const tabled = 1025

// descents and ascents hold the group that starts at each bound, so that the common decks are dealt without
// forming groups anew.
var descents, ascents = func() (down, up [tabled]group) {
	for from := uint64(2); from < tabled; from++ {
		down[from] = span(from, 2, ^uint64(0))
		up[from] = span(from, tabled+maxGroup, 1)
	}
	return down, up
}()

// span forms the group of the bounds from, from+step, ..., last; a step of 2⁶⁴-1 counts down.
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

// serve draws words until one serves the group of bounds from, from+step, ....
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

// serveTwo draws two words at once for the group of bounds from, from-1, ... and the group h behind it. Each product of a
// group has to wait for the one before, and not for those of the other, so the processor makes two in the time of one.
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
		s.next -= 8 // the word that was drawn for the other group is the next for this one
		return s.serve(from, down, g)
	case y < h.product && y < -h.product%h.product:
		return first
	}
	return s.integers[:g.bounds+h.bounds]
}
