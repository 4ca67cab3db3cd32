package shuffle_test

import (
	"crypto/sha256"
	"fmt"
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

// plain returns an order as the table of riffle/1 has it, from the integers of the reference: an
// independent one, with one integer for each step.
func plain(t testing.TB, alg shuffle.Algorithm, n int, keys []byte, r uint64) []int {
	t.Helper()
	ref, err := rng.NewReference(keys, r)
	require.NoError(t, err)
	var group []uint64
	below := func(bound int) int { // U
		switch {
		case bound == 1:
			return 0
		case len(group) == 0 && alg == shuffle.AlgorithmInsideOut:
			group = ref.Ascend(uint64(bound), uint64(n))
		case len(group) == 0:
			group = ref.Descend(uint64(bound))
		}
		integer := int(group[0])
		group = group[1:]
		return integer
	}
	a := ascending[int](n)
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

func ascending[T uint8 | int](n int) []T {
	a := make([]T, n)
	for i := range a {
		a[i] = T(i)
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
						got := shuffle.Order(alg, ascending[int](n), n, s)
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

// A run is a source of the integers of one of all runs, which its number has as digits, one for each
// call.
type run struct {
	rest, runs uint64 // of the number; of the calls until now
}

func (r *run) Descend(from uint64) []uint64 { return r.Ascend(from, from) }

func (r *run) Ascend(from, _ uint64) []uint64 {
	integer := r.rest % from
	r.rest, r.runs = r.rest/from, r.runs*from
	return []uint64{integer}
}

// A fair algorithm makes each order in exactly one run, so that equally likely integers make
// equally likely orders.
func TestEveryOrderHasExactlyOneRun(t *testing.T) {
	for _, alg := range shuffle.Algorithms() {
		runs := uint64(1) // n!, or (n-1)! cycles
		for n := 0; n <= 7; n++ {
			if alg == shuffle.AlgorithmSattolo {
				runs *= uint64(max(1, n-1))
			} else {
				runs *= uint64(max(1, n))
			}
			orders := map[string]bool{}
			for number := range runs {
				src := &run{number, 1}
				order := shuffle.Order(alg, ascending[uint8](n), n, src)
				require.Equalf(t, run{0, runs}, *src, "%s, n = %d: run %d", alg, n, number)
				require.Falsef(t, orders[string(order)], "%s, n = %d: run %d makes %d again", alg, n, number, order)
				orders[string(order)] = true
				if alg == shuffle.AlgorithmSattolo && n > 0 && fairness.Cycles(order) != 1 {
					t.Errorf("%s makes %d, which is more than one cycle", alg, order)
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
				whole := shuffle.Order(alg, ascending[int](n), n, s)
				for m := 0; m <= n; m++ {
					if n > 136 && m > 20 && m < n-2 && m%(n/10) > 1 {
						continue
					}
					s.Seek(uint64(n))
					got := shuffle.Order(alg, ascending[int](n), m, s)
					require.Truef(t, slices.Equal(got, whole[:m]), "%d of %d: %d, want %d", m, n, head(got), head(whole[:m]))
				}
			}
		})
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
			shuffle.Order(alg, ascending[int](1000), m, src)
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
		want := shuffle.Order(shuffle.AlgorithmFisherYates, ascending[int](size), m, s)
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
		var integers []uint64
		for len(integers) < m {
			integers = append(integers, ref.Descend(size-uint64(len(integers)))...)
		}
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
	a := ascending[int](52)
	shuffle.InsideOut(a, testStream(t, 2, "input"))
	assert.Truef(t, slices.Equal(a, ascending[int](52)), "the input is now %d", a)
}

func TestUnknownAlgorithmPanics(t *testing.T) {
	for _, alg := range []shuffle.Algorithm{"", "naive", "Fisher-Yates", "fisher-yates "} {
		assert.Falsef(t, alg.Known(), "%q is known", alg)
		func() {
			defer func() {
				assert.NotNilf(t, recover(), "%q shuffles", alg)
			}()
			shuffle.Order(alg, ascending[int](3), 3, testStream(t, 1, "unknown"))
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
