package shuffle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// TestGoldenOrders compares digests of riffle/1 orders: a line "n m r: a[0] a[1] ..." for each draw
// of m of n in shuffle number r, under the keys 0, 1, ..., 31 and 32, 33, ..., 63. They may never
// change: existing records are checked with these orders.
func TestGoldenOrders(t *testing.T) {
	keys := make([]byte, 2*rng.BlockSize)
	for i := range keys {
		keys[i] = byte(i)
	}
	s, err := rng.NewStream(keys)
	require.NoError(t, err)
	for alg, want := range map[shuffle.Algorithm]string{
		shuffle.AlgorithmFisherYates: "e1d273593083d19f66fb51bd428b1bdbb37a3808290d2fc5723af06999e45d09",
		shuffle.AlgorithmDurstenfeld: "d9d4698280d4ebb8b58d7ecea8d6407ac4e9d5aceb22d7f8e026d38c0e822c6d",
		shuffle.AlgorithmInsideOut:   "5a171c057af5b83812f3978723dad347722f013068064b805c1f43e29adbf546",
		shuffle.AlgorithmStrikeOut:   "a1cf2493bf0a8a426fff699fe8d9f7a10d8534c5414c23efa740d719e3e74f31",
		shuffle.AlgorithmSattolo:     "2bab0354ed3ac437c4e28a83ec010eaf37c9fa0784f8452212a60f3ca8bf56e0",
	} {
		digest := sha256.New()
		for _, v := range []struct {
			n, m int
			r    uint64
		}{{2, 2, 0}, {5, 5, 0}, {52, 52, 0}, {52, 52, 1}, {136, 136, 0}, {136, 13, 1 << 63}, {1100, 1100, 0}, {5000, 5000, 2}} {
			s.Seek(v.r)
			fmt.Fprintf(digest, "%d %d %d:", v.n, v.m, v.r)
			for _, item := range shuffle.Order(alg, ascending[int](v.n), v.m, s) {
				fmt.Fprintf(digest, " %d", item)
			}
			fmt.Fprintln(digest)
		}
		got := hex.EncodeToString(digest.Sum(nil))
		assert.Truef(t, got == want, "%s: %s, want %s", alg, got, want)
	}
}
