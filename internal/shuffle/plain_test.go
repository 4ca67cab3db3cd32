package shuffle_test

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/fairness"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// testKeys returns k keys that are different for every label.
func testKeys(t testing.TB, k int, label string) []byte {
	t.Helper()
	var seed rng.Seed
	for i := range k {
		block := sha256.Sum256(fmt.Appendf(nil, "%d %s", i, label))
		seed = append(seed, block[:]...)
	}
	keys, err := rng.Keys(seed, sha256.Sum256([]byte(label)), "")
	require.NoError(t, err)
	return keys
}

func testStream(t testing.TB, k int, label string) *rng.Stream {
	t.Helper()
	s, err := rng.NewStream(testKeys(t, k, label))
	require.NoError(t, err)
	return s
}

// The functions named plain are the table of riffle/1 once more, as an independent reference: all
// bounds of an algorithm, all integers for them, then the steps with one integer each.

// plainBounds returns the bounds that the algorithm asks for, in order.
func plainBounds(alg shuffle.Algorithm, n uint64) (bounds []uint64) {
	switch alg {
	case shuffle.AlgorithmInsideOut:
		for b := uint64(2); b <= n; b++ {
			bounds = append(bounds, b)
		}
	case shuffle.AlgorithmSattolo:
		for b := n; b > 2; b-- {
			bounds = append(bounds, b-1)
		}
	default:
		for b := n; b > 1; b-- {
			bounds = append(bounds, b)
		}
	}
	return bounds
}

// plainIntegers makes an integer below each bound from 64-bit words, group by group.
func plainIntegers(word func() uint64, bounds []uint64) (integers []uint64) {
	number := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	limit, wordSize := number(1<<56), new(big.Int).Lsh(number(1), 64)
	for len(bounds) > 0 {
		product, length := number(bounds[0]), 1
		for ; length < len(bounds); length++ {
			wider := new(big.Int).Mul(product, number(bounds[length]))
			if wider.Cmp(limit) > 0 {
				break
			}
			product = wider
		}
		threshold := new(big.Int).Mod(wordSize, product)
		for accepted := false; !accepted; {
			x := number(word())
			var group []uint64
			for _, b := range bounds[:length] {
				high, low := new(big.Int).DivMod(x.Mul(x, number(b)), wordSize, new(big.Int))
				group, x = append(group, high.Uint64()), low
			}
			if accepted = x.Cmp(threshold) >= 0; accepted {
				integers = append(integers, group...)
			}
		}
		bounds = bounds[length:]
	}
	return integers
}

// plainOrder returns the order of 0, 1, ..., n-1 that the algorithm makes of the integers.
func plainOrder(alg shuffle.Algorithm, n int, integers []uint64) []int {
	below := func(bound int) int { // U
		if bound == 1 {
			return 0
		}
		integer := int(integers[0])
		integers = integers[1:]
		return integer
	}
	a := make([]int, n)
	for i := range a {
		a[i] = i
	}
	switch alg {
	case shuffle.AlgorithmFisherYates:
		for i := 0; i <= n-2; i++ {
			j := i + below(n-i)
			a[i], a[j] = a[j], a[i]
		}
	case shuffle.AlgorithmDurstenfeld:
		for i := n - 1; i >= 1; i-- {
			j := below(i + 1)
			a[i], a[j] = a[j], a[i]
		}
	case shuffle.AlgorithmInsideOut:
		var out []int
		for i := range n {
			j := below(i + 1)
			out = append(out, i)
			out[i], out[j] = out[j], out[i]
		}
		return out
	case shuffle.AlgorithmStrikeOut:
		var out []int
		for left := n; left >= 1; left-- {
			j := below(left)
			out = append(out, a[j])
			a = append(a[:j], a[j+1:]...)
		}
		return out
	case shuffle.AlgorithmSattolo:
		for i := 0; i <= n-2; i++ {
			j := i + 1 + below(n-i-1)
			a[i], a[j] = a[j], a[i]
		}
	}
	return a
}

func plain(t testing.TB, alg shuffle.Algorithm, n int, keys []byte, r uint64) []int {
	t.Helper()
	ref, err := rng.NewReference(keys, r)
	require.NoError(t, err)
	return plainOrder(alg, n, plainIntegers(ref.Word, plainBounds(alg, uint64(n))))
}

func ascending(n int) []int {
	a := make([]int, n)
	for i := range a {
		a[i] = i
	}
	return a
}

func TestAlgorithmsMatchTheSpecifiedTable(t *testing.T) {
	for _, alg := range shuffle.Algorithms() {
		t.Run(string(alg), func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{
				0, 1, 2, 3, 4, 5, 17, 18, 19, 20, 21, 52, 54, 108, 136,
				1000, 1023, 1024, 1025, 1026, 1100, 4096, 4097, 5000, 8192, 20000,
			} {
				for k := 1; k <= 4; k++ {
					keys := testKeys(t, k, fmt.Sprint(alg, n))
					s, err := rng.NewStream(keys)
					require.NoError(t, err)
					for _, r := range []uint64{0, 1, 1 << 40} {
						if n > 1100 && (k > 1 || r > 1) {
							continue
						}
						s.Seek(r)
						got := shuffle.Order(alg, ascending(n), n, s)
						want := plain(t, alg, n, keys, r)
						require.Truef(t, slices.Equal(got, want), "n = %d, %d keys, shuffle %d: %d, want %d", n, k, r, head(got), head(want))
					}
				}
			}
		})
	}
}

// head is what an error message shows of a long order.
func head(a []int) []int { return a[:min(60, len(a))] }

// oneByOne is a source of given integers, one for each call.
type oneByOne struct {
	t        testing.TB
	integers []uint64
}

func (o *oneByOne) take(b uint64) []uint64 {
	assert.Truef(o.t, b >= 2, "asked for an integer below %d", b)
	require.NotEmptyf(o.t, o.integers, "asked for an integer too many, below %d", b)
	one := o.integers[:1]
	o.integers = o.integers[1:]
	assert.Truef(o.t, one[0] < b, "asked for an integer below %d where the table does not", b)
	return one
}

func (o *oneByOne) Descend(from uint64) []uint64 { return o.take(from) }

func (o *oneByOne) Ascend(from, last uint64) []uint64 {
	assert.Truef(o.t, from <= last, "asked for an integer below %d, beyond %d", from, last)
	return o.take(from)
}

// A fair algorithm makes each order in exactly one run, so that equally likely integers make
// equally likely orders.
func TestEveryOrderHasExactlyOneRun(t *testing.T) {
	for _, alg := range shuffle.Algorithms() {
		for n := 0; n <= 7; n++ {
			runs, orders := 0, map[string]int{}
			var next func(integers, bounds []uint64)
			next = func(integers, bounds []uint64) {
				if len(bounds) == 0 {
					src := &oneByOne{t, integers}
					order := shuffle.Order(alg, pack(n), n, src)
					require.Emptyf(t, src.integers, "%s, n = %d: left %d unused", alg, n, src.integers)
					runs++
					orders[string(order)]++
					return
				}
				for integer := range bounds[0] {
					next(append(slices.Clip(integers), integer), bounds[1:])
				}
			}
			next(nil, plainBounds(alg, uint64(n)))
			want := 1 // n!, or (n-1)! cycles
			for i := 2; i <= n; i++ {
				want *= i
			}
			if alg == shuffle.AlgorithmSattolo {
				want /= max(1, n)
			}
			assert.Truef(t, runs == want && len(orders) == want, "%s, n = %d: %d runs make %d orders, want %d", alg, n, runs, len(orders), want)
			for order := range orders {
				if alg == shuffle.AlgorithmSattolo && n > 0 && fairness.Cycles([]uint8(order)) != 1 {
					t.Errorf("%s makes %d, which is more than one cycle", alg, []uint8(order))
				}
			}
		}
	}
}

func TestDrawIsAPrefixOfTheWholeOrder(t *testing.T) {
	for _, alg := range shuffle.Algorithms() {
		t.Run(string(alg), func(t *testing.T) {
			t.Parallel()
			s := testStream(t, 2, "prefix")
			for _, n := range []int{0, 1, 2, 3, 4, 17, 18, 19, 20, 52, 136, 1000, 5000} {
				s.Seek(uint64(n))
				whole := shuffle.Order(alg, ascending(n), n, s)
				for m := 0; m <= n; m++ {
					if n > 136 && m > 20 && m < n-2 && m%(n/10) > 1 {
						continue
					}
					s.Seek(uint64(n))
					got := shuffle.Order(alg, ascending(n), m, s)
					require.Truef(t, slices.Equal(got, whole[:m]), "%d of %d: %d, want %d", m, n, head(got), head(whole[:m]))
				}
			}
		})
	}
}

func TestNothingDrawnMovesNothing(t *testing.T) {
	for n := range 5 {
		a, none := ascending(n), &oneByOne{t: t}
		shuffle.FisherYates(a, 0, none)
		shuffle.Sattolo(a, 0, none)
		drawn := shuffle.StrikeOut(a, 0, none)
		assert.Truef(t, len(drawn) == 0 && slices.Equal(a, ascending(n)), "none of %d are %d, and leave %d", n, drawn, a)
	}
}

// counted is a source that counts the calls for groups.
type counted struct {
	shuffle.Source
	groups int
}

func (c *counted) Descend(from uint64) []uint64 {
	c.groups++
	return c.Source.Descend(from)
}

func TestDrawMakesNoMoreIntegersThanItNeeds(t *testing.T) {
	keys := testKeys(t, 1, "needs")
	reference := func() shuffle.Source { // which returns one group at a time
		r, err := rng.NewReference(keys, 1)
		require.NoError(t, err)
		return r
	}
	for _, alg := range []shuffle.Algorithm{shuffle.AlgorithmFisherYates, shuffle.AlgorithmStrikeOut, shuffle.AlgorithmSattolo} {
		// Of a thousand, five share a word: 1000·999·998·997·996 is below 2⁵⁶, and 1000 times as
		// much is not.
		for m, want := range map[int]int{0: 0, 1: 1, 5: 1, 6: 2, 10: 2, 11: 3} {
			src := &counted{Source: reference()}
			shuffle.Order(alg, ascending(1000), m, src)
			assert.Truef(t, src.groups == want, "%s: %d of 1000 asks for %d groups, want %d", alg, m, src.groups, want)
		}
	}
	src := &counted{Source: reference()}
	shuffle.Sparse(1e9, 10, src)
	assert.Truef(t, src.groups == 10, "10 of 1,000,000,000 asks for %d groups, want 10", src.groups)
}

func TestSparseMatchesFisherYates(t *testing.T) {
	s := testStream(t, 1, "sparse")
	check := func(size, m int) {
		t.Helper()
		s.Seek(uint64(size))
		want := shuffle.Order(shuffle.AlgorithmFisherYates, ascending(size), m, s)
		s.Seek(uint64(size))
		got := shuffle.Sparse(uint64(size), uint64(m), s)
		require.Truef(t, len(got) == m, "%d of %d are %d", m, size, len(got))
		for i := range got {
			require.Truef(t, got[i] == uint64(want[i]), "%d of %d: place %d holds %d, want %d", m, size, i, got[i], want[i])
		}
	}
	for size := 0; size <= 60; size++ {
		for m := 0; m <= size; m++ {
			check(size, m)
		}
	}
	for size := 61; size <= 2000; size++ {
		check(size, size/3)
		if size%37 == 0 || size == 2000 {
			check(size, size)
		}
	}
	check(20000, 20000)
	check(1000000, 1000)
}

// The expected element of a place follows from undoing the swaps, last to first.
func TestSparseOfVeryMany(t *testing.T) {
	for _, size := range []uint64{1e9, 1<<32 + 1, 1<<53 - 1} {
		const m = 1000
		keys := testKeys(t, 3, "very many")
		s, err := rng.NewStream(keys)
		require.NoError(t, err)
		ref, err := rng.NewReference(keys, 0)
		require.NoError(t, err)
		var bounds []uint64
		for i := range uint64(m) {
			bounds = append(bounds, size-i)
		}
		integers := plainIntegers(ref.Word, bounds)
		seen := map[uint64]bool{}
		for i, got := range shuffle.Sparse(size, m, s) {
			want := uint64(i)
			for k := i; k >= 0; k-- {
				switch from, to := uint64(k), uint64(k)+integers[k]; want {
				case from:
					want = to
				case to:
					want = from
				}
			}
			require.Truef(t, got == want && !seen[got] && got < size, "size %d: number %d is %d, want %d", size, i, got, want)
			seen[got] = true
		}
	}
}

func TestInsideOutLeavesItsInputUnchanged(t *testing.T) {
	a := ascending(52)
	shuffle.InsideOut(a, testStream(t, 2, "input"))
	assert.Truef(t, slices.Equal(a, ascending(52)), "the input is now %d", a)
}

func TestUnknownAlgorithmPanics(t *testing.T) {
	for _, alg := range []shuffle.Algorithm{"", "naive", "Fisher-Yates", "fisher-yates "} {
		assert.Falsef(t, alg.Known(), "%q is known", alg)
		func() {
			defer func() {
				assert.NotNilf(t, recover(), "%q shuffles", alg)
			}()
			shuffle.Order(alg, ascending(3), 3, testStream(t, 1, "unknown"))
		}()
	}
	for _, alg := range shuffle.Algorithms() {
		assert.Truef(t, alg.Known(), "%q is not known", alg)
	}
}

func TestShufflingInPlaceAllocatesNothing(t *testing.T) {
	s := testStream(t, 2, "allocations")
	cards, names := make([]uint8, 52), make([]string, 52)
	r := uint64(0)
	for name, once := range map[string]func(){
		"fisher-yates":          func() { shuffle.FisherYates(cards, 52, s) },
		"fisher-yates, strings": func() { shuffle.FisherYates(names, 52, s) },
		"durstenfeld":           func() { shuffle.Durstenfeld(cards, s) },
		"durstenfeld, strings":  func() { shuffle.Durstenfeld(names, s) },
		"sattolo":               func() { shuffle.Sattolo(cards, 52, s) },
		"sattolo, strings":      func() { shuffle.Sattolo(names, 52, s) },
		"by name":               func() { shuffle.Order(shuffle.AlgorithmFisherYates, cards, 52, s) },
	} {
		if n := testing.AllocsPerRun(500, func() {
			r++
			s.Seek(r)
			once()
		}); n != 0 {
			t.Errorf("%s: %v allocations a shuffle, want none", name, n)
		}
	}
}
