package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/sqlite"
)

func newStore(t *testing.T) *faultyStore {
	t.Helper()
	return &faultyStore{Store: openStore(t, t.TempDir())}
}

func openStore(t *testing.T, folder string) ledger.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
	require.NoError(t, err)
	return s
}

// open opens a store's log until the end of the test, in a new folder unless the options have one.
func open(t *testing.T, s ledger.Store, o ledger.Options) *ledger.Log {
	t.Helper()
	if o.Folder == "" {
		o.Folder = t.TempDir()
	}
	l, err := ledger.Open(t.Context(), s, o)
	require.NoError(t, err)
	t.Cleanup(func() { closeLog(t, l) })
	return l
}

func openFolder(t *testing.T, folder string) *ledger.Log {
	t.Helper()
	return open(t, openStore(t, folder), ledger.Options{Folder: folder})
}

func closeLog(t *testing.T, l *ledger.Log) {
	t.Helper()
	if err := l.Close(); err != nil && !errors.Is(err, ledger.ErrClosed) {
		t.Error(err)
	}
}

func appendEntry(t *testing.T, l *ledger.Log, e ledger.Entry) (index uint64) {
	t.Helper()
	index, err := l.Append(e)
	require.NoError(t, err)
	return index
}

func grow(t *testing.T, folder, label string, n int) {
	t.Helper()
	l := openFolder(t, folder)
	for _, e := range ledgertest.Entries(label, n) {
		appendEntry(t, l, e)
	}
	closeLog(t, l)
}

// wantOpenError opens a folder's log and checks that the error contains the texts.
func wantOpenError(t *testing.T, folder string, o ledger.Options, texts ...string) {
	t.Helper()
	s := openStore(t, folder)
	o.Folder = folder
	l, err := ledger.Open(t.Context(), s, o)
	if err == nil {
		closeLog(t, l)
		t.Fatalf("the log opened; want an error with %q", texts)
	}
	for _, text := range texts {
		assert.Containsf(t, err.Error(), text, "the error is %q, want it to contain", err)
	}
	must(t, s.Close())
}

func begun(t *testing.T, entries []ledger.Entry) (ledger.Store, *ledgertest.Chain) {
	t.Helper()
	s, c := openStore(t, t.TempDir()), ledgertest.NewChain(t)
	t.Cleanup(func() { must(t, s.Close()) })
	c.Append(s)
	c.Append(s, entries...)
	return s, c
}

func verifier(t *testing.T, l *ledger.Log) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(l.Verifier())
	require.NoError(t, err)
	return v
}

func must(t *testing.T, err error) {
	t.Helper()
	require.NoError(t, err)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(path, data, 0o600))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	writeFile(t, to, readFile(t, from))
}
