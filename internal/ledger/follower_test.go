package ledger_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/proof"
)

func TestDamagedRecordIsNotPublished(t *testing.T) {
	tampered := &faultyStore{Store: openStore(t, t.TempDir()), record: func(e *ledger.StoredEntry) { flipIf(e.Index == 2, &e.Record[9]) }}
	l := open(t, tampered, ledger.Options{})
	for i, e := range ledgertest.Entries("read back", 2) {
		appendEntry(t, l, e)
		_, err := l.Prove(t.Context(), uint64(i))
		require.NoError(t, err)
	}
	if _, err := l.Append(ledgertest.Entries("wrong", 1)[0]); err != nil && !errors.Is(err, ledger.ErrBroken) {
		t.Fatal(err)
	}
	<-l.Failed()
	if err := l.Err(); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), "record 2") {
		t.Errorf("the log failed with %v, want it to name record 2", err)
	}
	_, published := l.Sizes()
	assert.EqualValues(t, 2, published, "a checkpoint of")
	_, err := l.Prove(t.Context(), 2)
	assert.ErrorIs(t, err, ledger.ErrBroken, "a proof of the wrong record")
}

func TestRecordsOfOtherProcessesArePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		m.shared = true
		options := ledger.Options{KeyFile: filepath.Join(t.TempDir(), ledger.KeyName)}
		first := open(t, m.Store, options)
		options.Folder = t.TempDir()
		second := open(t, m, options)
		older, err := m.Head(t.Context())
		must(t, err)
		appendEntry(t, first, ledgertest.Entries("others", 1)[0])
		time.Sleep(1100 * time.Millisecond)
		committed, published := second.Sizes()
		assert.Truef(t, committed == 1 && published == 1, "the other log has %d records and has published %d, want 1 and 1", committed, published)
		closeLog(t, second)
		closeLog(t, first)
		// Its checkpoint file has the published checkpoint, which another process signed.
		m.Store, m.head = openStore(t, t.TempDir()), func(h *ledger.Head) { *h = older }
		defer func() { must(t, m.Store.Close()) }()
		l, err := ledger.Open(t.Context(), m, options)
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "a rolled back store: %v", l)
	})
}

func TestUnreadableRecordsMakeTheLogUnhealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStore(t)
		var failing atomic.Bool
		f.called = func(method string) error {
			if method == "Records" && failing.Load() {
				return errors.New("input/output error")
			}
			return nil
		}
		l := open(t, f, ledger.Options{})
		failing.Store(true)
		index := appendEntry(t, l, ledgertest.Entries("unread", 1)[0])
		began := time.Now()
		_, err := l.Prove(t.Context(), index)
		assert.ErrorIs(t, err, ledger.ErrNotPublished, "a proof of it")
		assert.Equal(t, 10*time.Second, time.Since(began), "Prove returned after")
		assert.NoError(t, l.Health(), "health after 10 s")
		time.Sleep(time.Second)
		assert.Error(t, l.Health(), "the log is healthy after 11 s")
		c, err := proof.OpenCheckpoint(l.Checkpoint(t.Context()), verifier(t, l))
		assert.Truef(t, err == nil && c.Size == 0, "the checkpoint is %+v, %v, want the last published one", c, err)
		failing.Store(false)
		time.Sleep(1100 * time.Millisecond)
		assert.NoError(t, l.Health(), "health afterwards")
		_, published := l.Sizes()
		assert.EqualValues(t, 1, published)
	})
}
