package audit_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
)

// rootOf returns the root of a tree by the recursive definition of RFC 6962.
func rootOf(leaves [][]byte) []byte {
	hash := func(parts ...[]byte) []byte {
		h := sha256.Sum256(bytes.Join(parts, nil))
		return h[:]
	}
	switch n := len(leaves); n {
	case 0:
		return hash()
	case 1:
		return hash([]byte{0}, leaves[0])
	default:
		k := 1
		for 2*k < n {
			k *= 2
		}
		return hash([]byte{1}, rootOf(leaves[:k]), rootOf(leaves[k:]))
	}
}

// This test calculates salts, leaves and roots as the specification defines them, and opens every
// position.
func TestSealMatchesTheSpecification(t *testing.T) {
	var c audit.Commitment
	for i := range c {
		c[i] = byte(7 * i)
	}
	for _, blocks := range []int{1, 2} {
		seed := testSeed(blocks)
		for n := range 20 {
			var cards, leaves [][]byte
			for i := range n {
				card := []byte{byte('A' + i%3), '5'} // some are alike
				mac := hmac.New(sha256.New, seed)
				mac.Write([]byte("riffle/1 salt\n"))
				mac.Write(c[:])
				mac.Write(binary.BigEndian.AppendUint64(nil, uint64(i)))
				leaf := sha256.Sum256(append(binary.BigEndian.AppendUint64(mac.Sum(nil), uint64(i)), card...))
				cards, leaves = append(cards, card), append(leaves, leaf[:])
			}
			sealed := audit.Seal(seed, c, cards)
			root := sealed.Root()
			require.Equalf(t, rootOf(leaves), root[:], "the root of %d", n)
			for i := range uint64(n) {
				o := sealed.Open(i)
				for k := range uint64(n) + 1 {
					for _, card := range []string{"A5", "B5", "C5", "A6"} {
						want := k == i && card == string(cards[i])
						err := o.Check(k, uint64(n), []byte(card), root)
						require.Equalf(t, want, (err == nil), "%s at %d, opened with %d of %d: %v", card, k, i, n, err)
					}
				}
				other := root
				other[3] ^= 1
				require.Errorf(t, o.Check(i, uint64(n), cards[i], other), "position %d of %d opens another root", i, n)
				o.Salt[0] ^= 1
				require.Errorf(t, o.Check(i, uint64(n), cards[i], root),
					"position %d of %d opens with another salt", i, n)
			}
		}
	}
}

// This root may never change.
func TestGoldenRoot(t *testing.T) {
	root := audit.Seal(testSeed(1), audit.Commitment{1}, [][]byte{[]byte("AS"), []byte("KH"), []byte(`"x"`)}).Root()
	assert.Equal(t, "0a69c950a1da432a67e949f2a454efbc1d34426541d92c086a762d84df748fca", hex.EncodeToString(root[:]),
		"the root")
}

// TestBookMatchesTheSpecification calculates seeds, commitments and roots of books as the
// specification defines them, and asks for the paths of rounds in and out of their order.
func TestBookMatchesTheSpecification(t *testing.T) {
	seed := bytes.Repeat([]byte{1, 2, 3, 4}, 16)
	seed[63]++ // no two blocks are equal
	for _, rounds := range []uint64{2, 3, 31, 32, 33, 63, 64, 65, 96, 100, 1000, audit.MaxRounds} {
		s := audit.Statement{Algorithm: "fisher-yates", Size: 52, Draw: 52, Repeat: 1, Input: audit.RangeInput, Seed: seed}
		var leaves [][]byte
		for round := range rounds {
			one := s
			one.Seed = nil
			for _, block := range [][]byte{seed[:32], seed[32:]} {
				mac := hmac.New(sha256.New, block)
				mac.Write(binary.BigEndian.AppendUint64([]byte("riffle/1 round\n"), round+1))
				one.Seed = mac.Sum(one.Seed)
			}
			require.Equal(t, one.Seed, audit.RoundSeed(seed, round+1))
			c := one.Commitment()
			leaves = append(leaves, c[:])
		}
		book := audit.NewBook(&s, rounds)
		root := book.Root()
		require.Equalf(t, rootOf(leaves), root[:], "%d rounds", rounds)
		for _, step := range []uint64{1, 37} {
			for i := range rounds {
				round := i * step % rounds
				leaf := tlog.RecordHash(leaves[round])
				require.NoErrorf(t, tlog.CheckRecord(book.Path(round+1), int64(rounds), root, int64(round), leaf), "round %d of %d", round+1, rounds)
			}
		}
	}
}
