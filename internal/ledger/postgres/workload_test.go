package postgres

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

// openLog opens a database's log as a replica with a separate folder.
func openLog(t *testing.T, url, keyFile string) *ledger.Log {
	t.Helper()
	return openLogWithin(t, timeout, url, keyFile)
}

// openLogWithin is openLog with another time limit for the writer's statements.
func openLogWithin(t *testing.T, limit time.Duration, url, keyFile string) *ledger.Log {
	t.Helper()
	s := open(t, url)
	s.writer.timeout = limit
	l, err := ledger.Open(t.Context(), s, ledger.Options{Folder: t.TempDir(), KeyFile: keyFile})
	if err != nil {
		closeStore(t, s)
		t.Fatal(err)
	}
	return l
}

func newKeyFile(t *testing.T) string { return filepath.Join(t.TempDir(), "log.key") }

// A workload appends entries and remembers the acknowledged ones.
type workload struct {
	t       *testing.T
	mu      sync.Mutex
	indexes map[string]uint64 // of acknowledged entries, by id
}

func newWorkload(t *testing.T) *workload {
	return &workload{t: t, indexes: map[string]uint64{}}
}

// append appends an entry and reports whether that succeeded, as it must unless the server is away for
// longer than a log waits. Then nothing was written, and it tries again.
func (w *workload) append(l *ledger.Log, e ledger.Entry) bool {
	index, err := l.Append(e)
	for err != nil && strings.Contains(err.Error(), "for more than 10s, and nothing was written") {
		time.Sleep(10 * time.Millisecond)
		index, err = l.Append(e)
	}
	if err != nil {
		w.t.Errorf("appending: %v", err)
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.indexes[e.ID.String()] = index
	return true
}

// check closes the logs, and checks that the store has exactly the acknowledged entries.
func (w *workload) check(url string, logs ...*ledger.Log) {
	w.t.Helper()
	verifier, err := note.NewVerifier(logs[0].Verifier())
	require.NoError(w.t, err)
	for _, l := range logs {
		closeStore(w.t, l)
	}
	s := open(w.t, url)
	defer closeStore(w.t, s)
	size := ledgertest.CheckLog(w.t, s, verifier)
	assert.Truef(w.t, size == uint64(len(w.indexes)), "%d entries were acknowledged, and the log has %d", len(w.indexes), size)
	list, err := s.Select(w.t.Context(), ledger.Range(0, int(size)+1))
	require.NoError(w.t, err)
	for _, e := range list {
		index, ok := w.indexes[e.ID.String()]
		assert.Truef(w.t, ok && index == e.Index, "entry %d was acknowledged with the index %d (%t)", e.Index, index, ok)
	}
	w.t.Logf("%d entries", size)
}
