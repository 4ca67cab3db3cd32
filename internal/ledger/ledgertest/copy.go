package ledgertest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger"
)

// Copied returns a copy whose visits return the chain's claims.
func (c *Chain) Copied() ledger.Copy {
	return ledger.Copy{Verifier: c.Verify, Visit: func(e *ledger.StoredEntry) (v ledger.Visited, _ error) {
		v.Claims = append(v.Claims, c.Entries[e.Index].Claims...)
		return v, nil
	}}
}

// manyClaims returns entries that begin claims and take them from each other, in every batch anew.
func manyClaims(label string, n int, from uint64) []ledger.Entry {
	entries := Entries(label, n)
	for i := range entries {
		name := fmt.Sprint("thing ", i%7)
		index := from + uint64(i)
		entries[i].Claims = []ledger.Claim{
			{Name: name, Taken: index >= 7, From: index - 7, Status: []string{"", "open"}[i%2], Due: int64(i % 3)},
			{Name: fmt.Sprint(label, i)},
		}
		entries[i].Reference = fmt.Sprint("game ", i%5)
	}
	return entries
}

// testCopy copies a log that grows, in parts, and with interruptions.
func testCopy(t *testing.T, e Engine) {
	from, c := e.newLog(t)
	to := e.open(t, e.New(t))
	batches := func(label string, n int) {
		for i := range n { // a batch can take a claim once
			c.Append(from, manyClaims(fmt.Sprint(label, i, " "), 7, uint64(len(c.Entries)))...)
		}
	}
	copyAll := func() {
		t.Helper()
		require.NoError(t, c.Copied().Run(t.Context(), from, to))
		c.CheckLog(to)
	}
	copyAll() // of an empty log
	batches("first ", 3)
	copyAll()
	copyAll() // of nothing new

	batches("second ", 200)
	interrupted, cancel := context.WithCancel(t.Context())
	k := c.Copied()
	k.Progress = func(uint64, uint64) { cancel() }
	require.ErrorIs(t, k.Run(interrupted, from, to), context.Canceled)
	wantUnfinished(t, to)
	k = c.Copied()
	k.Ahead = true
	require.NoError(t, k.Run(t.Context(), from, to))
	wantUnfinished(t, to)
	batches("third ", 1)
	copyAll()
}

// wantUnfinished checks that no log can be opened on a store.
func wantUnfinished(t *testing.T, s ledger.Store) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, ledger.KeyName), []byte(PrivateKey+"\n"), 0o600))
	_, err := ledger.Open(t.Context(), s, ledger.Options{Folder: folder})
	require.ErrorContains(t, err, "it is a copy that is not finished")
}

// testCopyRefuses copies to stores of other logs, and from stores that are not what was signed.
func testCopyRefuses(t *testing.T, e Engine) {
	from, c := e.newLog(t)
	to, other := e.newLog(t)
	c.Append(from, Entries("one", 1500)...)
	other.Append(to, Entries("another", 2)...)
	err := c.Copied().Run(t.Context(), from, to)
	assert.ErrorIs(t, err, ledger.ErrOtherLog)
	assert.ErrorContains(t, err, "the first 2 differ")
	err = other.Copied().Run(t.Context(), to, from)
	assert.ErrorIs(t, err, ledger.ErrOtherLog)
	assert.ErrorContains(t, err, "it has 1500, and the source has 2")
	k := c.Copied()
	_, public, err := note.GenerateKey(rand.Reader, "ledgertest")
	require.NoError(t, err)
	k.Verifier, err = note.NewVerifier(public)
	require.NoError(t, err)
	err = k.Run(t.Context(), from, e.open(t, e.New(t)))
	assert.ErrorIs(t, err, ledger.ErrCorrupt, "with the key of another log")

	invalid := "record 3: " + ledger.ErrCorrupt.Error()
	for name, damage := range map[string]func(*ledger.StoredEntry){
		"record 3 does not have its hash":              func(e *ledger.StoredEntry) { e.Record = []byte("{}") },
		"the 1500 records have another root":           func(e *ledger.StoredEntry) { *e = other.stored(0, 3) },
		"record 3 is missing":                          func(e *ledger.StoredEntry) { e.Index = 4 },
		"record 3 took the claim x, which no record h": nil,
		invalid: nil,
	} {
		empty, k := e.open(t, e.New(t)), c.Copied()
		if damage == nil {
			k.Visit = func(e *ledger.StoredEntry) (v ledger.Visited, err error) {
				if e.Index == 3 && name == invalid {
					return v, ledger.ErrCorrupt
				} else if e.Index == 3 {
					v.Claims = []ledger.Claim{{Name: "x", Taken: true}}
				}
				return v, nil
			}
		}
		err := k.Run(t.Context(), damagedReader{from, damage}, empty)
		assert.ErrorIs(t, err, ledger.ErrCorrupt, name)
		assert.ErrorContains(t, err, name)
		head, err := empty.Head(t.Context())
		require.NoError(t, err)
		assert.Less(t, head.Size, uint64(1500), name)
	}
}

// stored returns an entry of the chain with another index.
func (c *Chain) stored(i int, index uint64) ledger.StoredEntry {
	return ledger.StoredEntry{Index: index, Entry: c.Entries[i]}
}

// A damagedReader changes record 3.
type damagedReader struct {
	ledger.Inspector
	damage func(*ledger.StoredEntry)
}

func (r damagedReader) Select(ctx context.Context, q ledger.EntryQuery) ([]ledger.StoredEntry, error) {
	list, err := r.Inspector.Select(ctx, q)
	if q.From == 0 && err == nil && r.damage != nil {
		r.damage(&list[3])
	}
	return list, err
}
