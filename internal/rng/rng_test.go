package rng

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testSeed returns k blocks that are different for every label.
func testSeed(k int, label string) Seed {
	var seed Seed
	for i := range k {
		block := sha256.Sum256([]byte{byte(i), byte(i >> 8), ':'})
		mixed := sha256.Sum256(append(block[:], label...))
		seed = append(seed, mixed[:]...)
	}
	return seed
}

func testKeys(t testing.TB, k int, label string) []byte {
	t.Helper()
	keys, err := Keys(testSeed(k, label), sha256.Sum256([]byte(label)), "")
	require.NoError(t, err)
	return keys
}

func testStream(t testing.TB, keys []byte) *Stream {
	t.Helper()
	s, err := NewStream(keys)
	require.NoError(t, err)
	return s
}

// matchesReference compares the next words of a stream with the first of the reference.
func matchesReference(t testing.TB, s *Stream, keys []byte, r uint64, words int) {
	t.Helper()
	ref := testReference(t, keys, r)
	for i := range words {
		got, want := s.Uint64(), ref.Word()
		require.Truef(t, got == want, "%d keys, shuffle %d, word %d of %d: %016x, want %016x", len(keys)/BlockSize, r, i, words, got, want)
	}
}

func testReference(t testing.TB, keys []byte, shuffle uint64) Reference {
	t.Helper()
	r, err := NewReference(keys, shuffle)
	require.NoError(t, err)
	return r
}

func TestStreamOfTheZeroKey(t *testing.T) {
	// NIST's AESAVS, VarTxt and KeySbox for AES-256 share the all-zero key and block:
	// dc95c078a2408989ad48a21492842087.
	s := testStream(t, make([]byte, 32))
	for i, want := range []uint64{0xdc95c078a2408989, 0xad48a21492842087} {
		got := s.Uint64()
		assert.Truef(t, got == want, "word %d is %016x, want %016x", i, got, want)
	}
}

func TestKeysAreHMACOfTheSpecifiedMessage(t *testing.T) {
	seed := testSeed(3, "keys")
	commitment := sha256.Sum256([]byte("a statement"))
	keys, err := Keys(seed, commitment, "client ♠")
	require.NoError(t, err)
	for i := range 3 {
		mac := hmac.New(sha256.New, seed[32*i:32*i+32])
		_, _ = io.WriteString(mac, "riffle/1 key\n"+string(commitment[:])+"client ♠")
		got, want := keys[32*i:32*i+32], mac.Sum(nil)
		assert.Equalf(t, got, want, "key %d is %x, want %x", i, got, want)
	}
}

func TestInvalidSeedsAreRejected(t *testing.T) {
	twice := append(testSeed(1, "x"), testSeed(2, "x")...)
	for name, seed := range map[string]Seed{
		"empty":        {},
		"short":        make(Seed, 31),
		"not whole":    testSeed(2, "y")[:63],
		"too long":     testSeed(MaxBlocks+1, "z"),
		"equal blocks": twice,
	} {
		_, err := Keys(seed, [32]byte{}, "")
		assert.ErrorIs(t, err, ErrSeed, name)
	}
	_, err := NewStream(make([]byte, 33))
	assert.ErrorIs(t, err, ErrSeed, "a key and a byte")
	_, err = Keys(testSeed(MaxBlocks, "w"), [32]byte{}, "")
	assert.NoError(t, err, "the longest seed")
}

type constant byte

func (c constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

func TestNewSeedFailsClosed(t *testing.T) {
	broken := errors.New("no entropy")
	if seed, err := NewSeed(io.MultiReader(bytes.NewReader(make([]byte, 40)), &failing{broken}), 2); !errors.Is(err, broken) || seed != nil {
		t.Errorf("a source that fails half-way: %x, %v", seed, err)
	}
	if seed, err := NewSeed(bytes.NewReader(make([]byte, 40)), 2); !errors.Is(err, io.ErrUnexpectedEOF) || seed != nil {
		t.Errorf("a source that ends: %x, %v", seed, err)
	}
	if seed, err := NewSeed(constant(7), 2); !errors.Is(err, ErrSeed) || seed != nil {
		t.Errorf("a source stuck at one value: %x, %v", seed, err)
	}
	for _, k := range []int{0, -1, MaxBlocks + 1} {
		_, err := NewSeed(constant(7), k)
		assert.ErrorIsf(t, err, ErrSeed, "%d blocks", k)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// exactBlocks is the formula of riffle/1 in integers: k is the least with n!/(n-m)! · 2^64 <=
// 2^(256 k).
func exactBlocks(n, m uint64) int {
	results := big.NewInt(1)
	for i := n - m + 1; i <= n && m > 0; i++ {
		results.Mul(results, new(big.Int).SetUint64(i))
	}
	results.Lsh(results, 64)
	results.Sub(results, big.NewInt(1)) // so that an exact power of two counts as its exponent
	return max(1, (results.BitLen()+255)/256)
}

func TestBlocks(t *testing.T) {
	for n := uint64(0); n <= 1024; n++ {
		assert.Equalf(t, exactBlocks(n, n), Blocks(n, n), "Blocks(%d, %d)", n, n)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := random.Uint64N(1<<53) >> random.UintN(53)
		m := min(n, random.Uint64N(1025))
		assert.Equalf(t, exactBlocks(n, m), Blocks(n, m), "Blocks(%d, %d)", n, m)
	}
	// The facts that the design states.
	for _, v := range []struct {
		n, m uint64
		k    int
	}{{1, 1, 1}, {52, 52, 2}, {46, 46, 1}, {136, 136, 4}, {1024, 1024, 35}, {1025, 1025, 1}, {1e9, 10, 2}, {1<<53 - 1, 1024, MaxBlocks}} {
		assert.Equalf(t, v.k, Blocks(v.n, v.m), "Blocks(%d, %d)", v.n, v.m)
	}
	assert.True(t, math.Ceil(log2Factorial[57]) <= 256 && log2Factorial[58] >= 256, "256 bits cover all orders up to 57 items and no further")
}

// The stream.

func TestStreamMatchesReference(t *testing.T) {
	for _, k := range []int{1, 2, 4, 7} {
		keys := testKeys(t, k, "stream")
		s := testStream(t, keys)
		for _, r := range []uint64{0, 1, 2, 1 << 40, math.MaxUint64, 0} {
			s.Seek(r)
			matchesReference(t, s, keys, r, 700) // over the head, and several parts of the bulk
		}
	}
}

// However much of one shuffle was read, the next starts at its own first word.
func TestSeekStartsTheShuffleAfresh(t *testing.T) {
	for _, k := range []int{1, 2, 5} {
		keys := testKeys(t, k, "seek")
		s := testStream(t, keys)
		numbers := []uint64{0, 1, 2, 3, 1<<32 - 1, 1 << 32, math.MaxUint64 - 1, math.MaxUint64}
		for words := range 40 { // none, within the first part, the head, and beyond it
			for _, r := range numbers {
				s.Seek(r)
				matchesReference(t, s, keys, r, words)
			}
		}
	}
}

func TestIntegersMatchReference(t *testing.T) {
	for _, n := range []uint64{2, 3, 17, 18, 19, 52, 136, 1000, 1023, 1024, 1025, 1026, 3000} {
		keys := testKeys(t, 2, "integers")
		s := testStream(t, keys)
		ref := testReference(t, keys, 5)
		s.Seek(5)
		for b := n; b >= 2; {
			got := s.Descend(b)
			want := descend(ref, b, len(got))
			require.Truef(t, slices.Equal(got, want), "n = %d: Descend(%d) = %d, want %d", n, b, got, want)
			b -= uint64(len(got))
		}
		for b := uint64(2); b <= n; {
			got, want := s.Ascend(b, n), ref.Ascend(b, n)
			require.Truef(t, slices.Equal(got, want), "n = %d: Ascend(%d) = %d, want %d", n, b, got, want)
			b += uint64(len(got))
		}
	}
}

// descend returns n integers of the reference, from as many groups as that takes.
func descend(ref Reference, from uint64, n int) (integers []uint64) {
	for len(integers) < n {
		integers = append(integers, ref.Descend(from-uint64(len(integers)))...)
	}
	return integers
}

// TestPairsOfGroupsMatchReference shuffles enough decks for words to be rejected in either place of
// a pair.
func TestPairsOfGroupsMatchReference(t *testing.T) {
	keys := testKeys(t, 2, "pairs")
	s := testStream(t, keys)
	first, second := 0, 0 // rejected words, by place
	for r := range uint64(20_000) {
		s.Seek(r)
		ref := testReference(t, keys, r)
		drawn, word := 0, ref.Word
		ref.Word = func() uint64 { drawn++; return word() }
		for b := uint64(52); b >= 2; {
			got := s.Descend(b)
			before := drawn
			want := slices.Clone(ref.Descend(b))
			if drawn > before+1 {
				first++
			}
			if len(got) > len(want) {
				want = append(want, ref.Descend(b-uint64(len(want)))...)
			} else if b > uint64(len(got))+1 && drawn == before+1 {
				second++
			}
			require.Truef(t, slices.Equal(got, want), "shuffle %d: Descend(%d) = %d, want %d", r, b, got, want)
			b -= uint64(len(got))
		}
	}
	assert.Truef(t, first != 0 && second != 0, "%d and %d words were rejected, want some of each", first, second)
	t.Logf("rejected %d words in the first place of a pair, and %d in the second", first, second)
}

// wordFor returns the word whose low word after a group of the product is low: word·product = low
// modulo 2⁶⁴.
func wordFor(low, product uint64) uint64 {
	twos := bits.TrailingZeros64(product)
	odd := product >> twos
	inverse := odd // correct in three bits, and in twice as many after each step
	for range 5 {
		inverse *= 2 - odd*inverse
	}
	return (low >> twos) * inverse & (1<<(64-twos) - 1)
}

// TestPairsAreRejectedBelowTheThreshold puts words into either place of a pair whose last low word
// is the smallest that is accepted, and the largest that is rejected.
func TestPairsAreRejectedBelowTheThreshold(t *testing.T) {
	s := testStream(t, testKeys(t, 1, "edge"))
	const good = 1<<63 + 12345
	for from := uint64(20); from < tabled; from++ {
		g := descents[from]
		h := descents[from-uint64(g.bounds)]
		edge := func(g group) (accepted, rejected uint64) {
			threshold, step := -g.product%g.product, uint64(1)<<bits.TrailingZeros64(g.product)
			return wordFor(threshold, g.product), wordFor(threshold-step, g.product)
		}
		acceptedFirst, rejectedFirst := edge(g)
		acceptedSecond, rejectedSecond := edge(h)
		for _, v := range []struct {
			x, y uint64
			want int // integers
			read int // words
		}{
			{good, good, g.bounds + h.bounds, 2},
			{acceptedFirst, acceptedSecond, g.bounds + h.bounds, 2},
			{acceptedFirst, rejectedSecond, g.bounds, 2},
			{rejectedFirst, good, g.bounds, 2},
		} {
			s.Seek(0)
			s.end = 24
			for i, w := range []uint64{v.x, v.y, good} {
				binary.BigEndian.PutUint64(s.words[8*i:], w)
			}
			ref := Reference{Bits: 64, Word: func() (w uint64) { w, v.x, v.y = v.x, v.y, good; return w }}
			got := s.Descend(from)
			if want := descend(ref, from, len(got)); len(got) != v.want || s.next != 8*v.read || !slices.Equal(got, want) {
				t.Fatalf("Descend(%d) = %d after %d bytes, want %d, which are %d, after %d", from, got, s.next, want, v.want, 8*v.read)
			}
		}
	}
}

func TestWideBoundsMatchReference(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	keys := testKeys(t, 1, "wide")
	s := testStream(t, keys)
	ref := testReference(t, keys, 0)
	for range 5000 {
		b := max(3, random.Uint64()>>random.UintN(62))
		got := s.Descend(b)
		want := descend(ref, b, len(got))
		require.Truef(t, slices.Equal(got, want), "Descend(%d) = %d, want %d", b, got, want)
		if got, want := s.Ascend(b, b+2), ref.Ascend(b, b+2); b < math.MaxUint64-2 && !slices.Equal(got, want) {
			t.Fatalf("Ascend(%d) = %d, want %d", b, got, want)
		}
	}
}

// Rejections are rare with 64-bit words, so this test writes the words.
func TestRejectedWordIsReplaced(t *testing.T) {
	s := testStream(t, testKeys(t, 1, "rejected"))
	// The last low word of x = 0 is 0, which is rejected unless B is a power of two.
	put := func(words ...uint64) {
		s.Seek(0)
		s.end = 8 * len(words)
		for i, w := range words {
			binary.BigEndian.PutUint64(s.words[8*i:], w)
		}
	}
	put(0, 1<<63+1)
	got := s.Descend(3)
	assert.Truef(t, slices.Equal(got, []uint64{1, 1}) && s.next == 16, "Descend(3) = %d after %d bytes, want [1 1] after 16", got, s.next)
	put(0, 0, 1<<63+1)
	n := s.Uint64n(10)
	assert.Truef(t, n == 5 && s.next == 24, "Uint64n(10) = %d after %d bytes, want 5 after 24", n, s.next)
	put(0)
	got = s.Descend(2)
	assert.Truef(t, slices.Equal(got, []uint64{0}) && s.next == 8, "Descend(2) = %d after %d bytes: a power of two rejects nothing", got, s.next)
	// 2⁶⁴ mod 3 is 1, which is the low word of x·3 for x = 2⁶⁴·2/3 rounded up.
	put(0xaaaaaaaaaaaaaaab)
	n = s.Uint64n(3)
	assert.Truef(t, n == 2 && s.next == 8, "Uint64n(3) = %d after %d bytes, want 2 after 8", n, s.next)
}

// With B = 6 the low words below 2⁶⁴ mod 6 = 4 are rejected, and all are even; with B = 10, those
// below 6. The words are multiples of the inverses of 3 and 5 modulo 2⁶³.
func TestRejectionEndsAtTheThreshold(t *testing.T) {
	const third, fifth = 0x2aaaaaaaaaaaaaab, 0x4ccccccccccccccd
	for _, v := range []struct {
		name     string
		x        uint64
		rejected bool
		serve    func(s *Stream)
	}{
		{"Descend(3), low word 2", third, true, func(s *Stream) { s.Descend(3) }},
		{"Descend(3), low word 4", 2 * third, false, func(s *Stream) { s.Descend(3) }},
		{"Ascend(2, 3), low word 2", third, true, func(s *Stream) { s.Ascend(2, 3) }},
		{"Ascend(2, 3), low word 4", 2 * third, false, func(s *Stream) { s.Ascend(2, 3) }},
		{"Uint64n(10), low word 4", 2 * fifth, true, func(s *Stream) { s.Uint64n(10) }},
		{"Uint64n(10), low word 6", 3 * fifth, false, func(s *Stream) { s.Uint64n(10) }},
	} {
		s := testStream(t, testKeys(t, 1, "edge"))
		s.end = 16
		binary.BigEndian.PutUint64(s.words, v.x)
		binary.BigEndian.PutUint64(s.words[8:], 1<<63+1)
		v.serve(s)
		assert.Equalf(t, v.rejected, s.next == 16, "%s: rejected", v.name)
	}
}

// TestPooledStreamMatchesReference takes streams that were released in the head and in the bulk,
// under more keys and fewer.
func TestPooledStreamMatchesReference(t *testing.T) {
	for i, k := range []int{1, 7, 2, 3, 1, 5} {
		keys := testKeys(t, k, fmt.Sprint("pooled", i))
		pooled := testStream(t, keys)
		for number := range uint64(3) {
			if number > 0 { // it starts at 0
				pooled.Seek(number)
			}
			matchesReference(t, pooled, keys, number, 10+100*(i%2))
		}
		pooled.Release()
	}
}

// A released stream has no keys, so using it panics instead of returning words of another shuffle.
func TestReleasedStreamCannotBeRead(t *testing.T) {
	s := testStream(t, testKeys(t, 2, "released"))
	s.Uint64()
	s.Release()
	defer func() {
		assert.NotNil(t, recover(), "a released stream was read")
	}()
	s.Uint64()
}

func TestShuffleOfAStreamAllocatesNothing(t *testing.T) {
	s := testStream(t, testKeys(t, 2, "allocations"))
	r := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		r++
		s.Seek(r)
		for b := uint64(52); b >= 2; {
			b -= uint64(len(s.Descend(b)))
		}
	}); n != 0 {
		t.Errorf("%v allocations a shuffle, want none", n)
	}
}
