package journaltest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/journal"
	"riffle/internal/ledger"
)

// Check checks every entry of the store, with and without its sidecar, and that the store has no
// claims besides the entries'.
func (s *Store) Check(t *testing.T, j *journal.Journal) {
	t.Helper()
	verifier, err := note.NewVerifier(j.Log.Verifier())
	require.NoError(t, err)
	for _, decrypt := range []func(*ledger.StoredEntry) ([]byte, error){j.Log.Sidecar, nil} {
		c := &journal.Checker{Decrypt: decrypt}
		result, err := ledger.Check{Verifier: verifier, Visit: c.Visit, Except: c.Unchecked()}.Run(t.Context(), s)
		require.NoError(t, err)
		assert.Empty(t, result.Findings)
	}
}
