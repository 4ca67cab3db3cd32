package audit_test

import (
	"crypto/aes"
	"encoding/hex"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// specFile is the specification. Its examples are made from vectors.
const specFile = "../../docs/spec.md"

// TestSpecificationExamples checks the numbers of the two worked examples, so that a reader can
// rely on them.
func TestSpecificationExamples(t *testing.T) {
	text, err := os.ReadFile(specFile)
	require.NoError(t, err)
	_, one, ok := strings.Cut(string(text), "\n## Example: one block\n")
	one, two, cut := strings.Cut(one, "\n## Example: two blocks and a client seed\n")
	require.True(t, ok, "the examples are not where they were")
	require.True(t, cut, "the examples are not where they were")
	for name, example := range map[string]string{"worked-one-block": one, "worked-two-blocks": two} {
		v := vectorNamed(t, name)
		has := func(want string) {
			t.Helper()
			assert.Containsf(t, example, want, "%s: the specification does not show", name)
		}
		has("    " + strings.ReplaceAll(strings.TrimSuffix(v.Statement, "\n"), "\n", "\n    ") + "\n")
		has(hex.EncodeToString(v.Commitment))
		for i, key := range v.Keys {
			has(fmt.Sprintf("key_%d    %x\n", i, []byte(key)))
		}
		has(v.OrdersSHA256)
	}
	unbroken := strings.NewReplacer("\n", "", " ", "").Replace(one)
	v := vectorNamed(t, "worked-one-block")
	for _, want := range []string{hex.EncodeToString([]byte(v.Statement)), v.Record, fmt.Sprintf("%x%x", "riffle/1 key\n", []byte(v.Commitment))} {
		assert.Contains(t, unbroken, want, "the specification does not show")
	}
	x := uint64(0)
	_, err = fmt.Sscanf(v.Words[0][0], "%x", &x)
	require.NoError(t, err)
	a := []uint64{0, 1, 2, 3, 4}
	for i := range uint64(4) {
		b := 5 - i
		j, left := bits.Mul64(x, b)
		a[i], a[i+j] = a[i+j], a[i]
		row := fmt.Sprintf("| %d | `%016x` | `%x %016x` | %d | `%016x` | swap a[%d], a[%d] | %s |\n",
			b, x, j, left, j, left, i, i+j, strings.Trim(strings.ReplaceAll(fmt.Sprint(a), " ", ", "), "[]"))
		assert.Contains(t, one, row, "the specification does not show the row")
		x = left
	}
	v = vectorNamed(t, "worked-two-blocks")
	for i, key := range v.Keys {
		c, err := aes.NewCipher(key)
		require.NoError(t, err)
		var first, second [16]byte
		c.Encrypt(first[:], make([]byte, 16))
		c.Encrypt(second[:], append(make([]byte, 15), 1))
		row := fmt.Sprintf("key_%d    %x %x  %x %x\n", i, first[:8], first[8:], second[:8], second[8:])
		assert.Contains(t, two, row, "the specification does not show the row")
	}
	row := fmt.Sprintf("XOR      %s %s  %s %s\n", v.Words[0][0], v.Words[0][1], v.Words[0][2], v.Words[0][3])
	assert.Contains(t, two, row, "the specification does not show the row")
	for i, from := range []uint64{52, 42, 32, 21, 6} {
		word := uint64(0)
		_, err := fmt.Sscanf(v.Words[0][i], "%x", &word)
		require.NoError(t, err)
		once := rng.Reference{Bits: 64, Word: func() uint64 { return word }}
		group := once.Descend(from)
		last, product := from-uint64(len(group))+1, uint64(1)
		left := word
		for b := from; b >= last; b-- {
			left, product = left*b, product*b
		}
		row := fmt.Sprintf("| %d..%d | %d | %d | `%016x` | %s | `%016x` |\n",
			from, last, product, -product%product, word, strings.Trim(fmt.Sprint(group), "[]"), left)
		assert.Contains(t, two, row, "the specification does not show the row")
	}
}

// TestSpecificationExampleOfTheAlgorithms goes through the steps as the specification lists them,
// and compares the last with what the algorithms make of the same word.
func TestSpecificationExampleOfTheAlgorithms(t *testing.T) {
	text, err := os.ReadFile(specFile)
	require.NoError(t, err)
	_, example, found := strings.Cut(string(text), "\n## Example: the five algorithms\n")
	require.True(t, found, "the example is not where it was")
	const n, word = 5, 0xc43fefa369e8dbbd
	once := rng.Reference{Bits: 64, Word: func() uint64 { return word }}
	list := func(numbers []uint64) string { return strings.Trim(fmt.Sprint(numbers), "[]") }
	swaps := func(integers []uint64, places func(step int, u uint64) (i, j uint64)) (states []string) {
		a := []uint64{0, 1, 2, 3, 4}
		for step, u := range integers {
			i, j := places(step, u)
			a[i], a[j] = a[j], a[i]
			states = append(states, list(a))
		}
		return states
	}
	down, up := once.Descend(n), once.Ascend(2, n)
	left, order := []uint64{0, 1, 2, 3, 4}, []uint64{}
	var struck []string
	for _, u := range append(slices.Clone(down), 0) {
		order, left = append(order, left[u]), slices.Delete(left, int(u), int(u)+1)
		struck = append(struck, list(order))
	}
	for _, v := range []struct {
		algorithm shuffle.Algorithm
		bounds    string
		integers  []uint64
		states    []string
	}{
		{shuffle.AlgorithmFisherYates, "5, 4, 3, 2", down, swaps(down, func(i int, u uint64) (uint64, uint64) { return uint64(i), uint64(i) + u })},
		{shuffle.AlgorithmDurstenfeld, "5, 4, 3, 2", down, swaps(down, func(i int, u uint64) (uint64, uint64) { return uint64(n - 1 - i), u })},
		{shuffle.AlgorithmInsideOut, "2, 3, 4, 5", up, swaps(up, func(i int, u uint64) (uint64, uint64) { return uint64(i + 1), u })},
		{shuffle.AlgorithmStrikeOut, "5, 4, 3, 2", down, struck},
		{shuffle.AlgorithmSattolo, "4, 3, 2", once.Descend(n - 1), swaps(append(once.Descend(n-1), 0), func(i int, u uint64) (uint64, uint64) { return uint64(i), uint64(i) + 1 + u })},
	} {
		row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", v.algorithm, v.bounds, strings.ReplaceAll(list(v.integers), " ", ", "), strings.Join(v.states, "; "))
		assert.Contains(t, example, row, "the specification does not show the row")
		got := list(shuffle.Positions(v.algorithm, n, n, once, nil))
		assert.Equalf(t, v.states[len(v.states)-1], got,
			"%s makes the order %s, and the steps result in %s", v.algorithm, got, v.states)
	}
}
