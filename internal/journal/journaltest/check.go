package journaltest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/journal"
	"riffle/internal/ledger"
)

// Check checks every entry of the store, with and without its sidecar, and that the store holds no
// claims besides the entries'.
func (s *Store) Check(t *testing.T, j *journal.Journal) {
	t.Helper()
	for _, decrypt := range []func(*ledger.Stored) ([]byte, error){j.Log.Sidecar, nil} {
		c := &journal.Checker{Decrypt: decrypt, ByID: j.Log.ByID, ByClaim: j.Log.ByClaim}
		held := uint64(0)
		for i := range s.Size(t) {
			held += checkEntry(t, j, c, i)
		}
		all := count(t, j, "")
		if c.Unchecked() != "" {
			all -= count(t, j, c.Unchecked())
		}
		assert.Equal(t, all, held, "the records hold")
	}
}

// checkEntry checks one entry and returns the number of its claims.
func checkEntry(t *testing.T, j *journal.Journal, c *journal.Checker, index uint64) uint64 {
	t.Helper()
	e, err := j.Log.At(t.Context(), index)
	require.NoError(t, err)
	claims, err := c.Entry(t.Context(), e)
	require.NoError(t, err)
	for _, want := range claims {
		holder, err := j.Log.ByClaim(t.Context(), want.Name)
		require.NoErrorf(t, err, "record %d does not hold %+v", index, want)
		if got := holder.Claims[0]; holder.Index != index || got.Due != want.Due || got.Status != want.Status {
			t.Fatalf("record %d does not hold %+v: record %d holds %+v", index, want, holder.Index, got)
		}
	}
	return uint64(len(claims))
}

func count(t *testing.T, j *journal.Journal, prefix string) uint64 {
	t.Helper()
	n, err := j.Log.CountClaims(t.Context(), ledger.ClaimQuery{Prefix: prefix})
	require.NoError(t, err)
	return n
}
