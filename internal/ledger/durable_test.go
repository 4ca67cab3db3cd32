package ledger_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

// An unconfirmedStore shows commits without a standby until a standby confirms or loses them.
type unconfirmedStore struct {
	*faultyStore
	path    string
	standby atomic.Bool // confirms the head
}

// lose removes the records after a head.
func (s *unconfirmedStore) lose(t *testing.T, head ledger.Head) {
	t.Helper()
	db, err := sql.Open("sqlite", s.path)
	must(t, err)
	_, err = db.ExecContext(t.Context(), "DELETE FROM entries WHERE idx >= $1; UPDATE head SET size = $1, edge = $2, checkpoint = $3",
		int64(head.Size), head.Edge, head.Checkpoint)
	must(t, errors.Join(err, db.Close()))
	s.standby.Store(true)
}

// startUnconfirmed opens two logs of a store. The first has written a durable record and then one
// that the second sees and cannot confirm.
func startUnconfirmed(t *testing.T) (s *unconfirmedStore, second *ledger.Log, before ledger.Head, folder string) {
	t.Helper()
	data, folder := t.TempDir(), t.TempDir()
	key := filepath.Join(data, ledger.KeyName)
	s = &unconfirmedStore{faultyStore: &faultyStore{Store: openStore(t, data), shared: true}, path: filepath.Join(data, "riffle.db")}
	s.standby.Store(true)
	s.called = func(method string) error {
		if method == "Confirm" && !s.standby.Load() {
			return fmt.Errorf("%w: the standby did not answer", ledger.ErrUnavailable)
		}
		return nil
	}
	first := open(t, s.Store, ledger.Options{KeyFile: key})
	entries := ledgertest.Entries("some", 2)
	appendEntry(t, first, entries[0])
	second = open(t, s, ledger.Options{KeyFile: key, Folder: folder})
	before, err := s.Head(t.Context())
	must(t, err)
	s.standby.Store(false)
	entries[1].Reference = "game"
	appendEntry(t, first, entries[1])
	return s, second, before, folder
}

func TestRecordIsReadAndPublishedOnceConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, second, before, folder := startUnconfirmed(t)
		id := ledgertest.Entries("some", 2)[1].ID
		for what, read := range map[string]func() error{
			"by id": func() error { _, err := second.ByID(t.Context(), id); return err },
			"by reference": func() error {
				_, err := second.ByReference(t.Context(), "game", 0, 9)
				return err
			},
		} {
			began := time.Now()
			assert.ErrorIs(t, read(), ledger.ErrUnavailable, what)
			assert.Equalf(t, 10*time.Second, time.Since(began), "%s: it took", what)
		}
		committed, published := second.Sizes()
		assert.Truef(t, committed == 1 && published == 1, "%d records are committed and %d published, want the durable one", committed, published)
		copied := readFile(t, filepath.Join(folder, ledger.CheckpointName))
		assert.Equalf(t, string(before.Checkpoint), string(copied),
			"the second copy is %q, want that of the durable head", copied)
		s.standby.Store(true)
		found, err := second.ByID(t.Context(), id)
		assert.Truef(t, err == nil && found.Index == 1, "once it is confirmed: %+v, %v", found, err)
		time.Sleep(1100 * time.Millisecond)
		committed, published = second.Sizes()
		assert.Truef(t, committed == 2 && published == 2, "%d records are committed and %d published, want 2", committed, published)
	})
}

func TestLostRecordIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, second, before, _ := startUnconfirmed(t)
		id := ledgertest.Entries("some", 2)[1].ID
		var wait sync.WaitGroup
		wait.Go(func() {
			found, err := second.ByID(t.Context(), id)
			assert.ErrorIsf(t, err, ledger.ErrNotFound, "the lost record: %+v", found)
		})
		time.Sleep(3 * time.Second)
		s.lose(t, before)
		wait.Wait()
		assert.EqualValues(t, 1, appendEntry(t, second, ledgertest.Entries("next", 1)[0]), "the next record has the index")
	})
}

// The batch in flight waits, since it may have been written. The queue was not.
func TestOutageRejectsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStore(t)
		l := open(t, f, ledger.Options{})
		f.lose(func(f *faultyStore) { f.lostBefore, f.lostHeads = 1, 1<<20 })
		began := time.Now()
		entries := ledgertest.Entries("outage", 4)
		var wait sync.WaitGroup
		appendOne := func(e ledger.Entry, want error, after time.Duration) {
			wait.Go(func() {
				_, err := l.Append(e)
				assert.Truef(t, errors.Is(err, want) && !errors.Is(err, ledger.ErrBroken), "%v, want %v", err, want)
				took := time.Since(began)
				assert.Truef(t, took >= after && took <= after+2*time.Second, "it was answered after %s, want about %s", took, after)
			})
			synctest.Wait()
		}
		appendOne(entries[0], nil, 60*time.Second)
		appendOne(entries[1], ledger.ErrUnavailable, 10*time.Second)
		time.Sleep(5 * time.Second)
		appendOne(entries[2], ledger.ErrUnavailable, 10*time.Second)
		time.Sleep(25 * time.Second)
		appendOne(entries[3], ledger.ErrUnavailable, 30*time.Second)
		time.Sleep(30 * time.Second)
		f.lose(func(f *faultyStore) { f.lostHeads = 0 })
		wait.Wait()
		for _, e := range entries[1:] {
			appendEntry(t, l, e)
		}
		committed, _ := l.Sizes()
		assert.EqualValues(t, 4, committed, "the log")
	})
}
