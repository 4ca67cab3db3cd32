package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

// An unconfirmedStore shows commits without a standby until a standby confirms or loses them.
type unconfirmedStore struct {
	*memoryStore
	standby bool // confirms the head
}

func (s *unconfirmedStore) set(standby bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standby = standby
}

func (s *unconfirmedStore) lose(head ledger.Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head, s.entries, s.standby = head, s.entries[:head.Size], true
}

func (s *unconfirmedStore) Confirm(context.Context) (ledger.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.standby {
		return ledger.Head{}, fmt.Errorf("%w: the standby did not answer", ledger.ErrUnavailable)
	}
	return s.head, nil
}

// startUnconfirmed opens two logs of a store. The first has written a durable record and then one
// that the second sees and cannot confirm.
func startUnconfirmed(t *testing.T) (s *unconfirmedStore, second *ledger.Log, before ledger.Head, folder string) {
	t.Helper()
	m := &memoryStore{}
	key := filepath.Join(t.TempDir(), ledger.KeyName)
	s, folder = &unconfirmedStore{memoryStore: m, standby: true}, t.TempDir()
	first := open(t, m, ledger.Options{KeyFile: key})
	entries := ledgertest.Entries("some", 2)
	appendEntry(t, first, entries[0])
	second = open(t, s, ledger.Options{KeyFile: key, Folder: folder})
	before = m.head
	s.set(false)
	appendEntry(t, first, entries[1])
	return s, second, before, folder
}

func TestRecordIsReadAndPublishedOnceConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, second, before, folder := startUnconfirmed(t)
		id := ledgertest.Entries("some", 2)[1].ID
		for what, read := range map[string]func() error{
			"by id":        func() error { _, err := second.ByID(t.Context(), id); return err },
			"by reference": func() error { _, err := second.ByReference(t.Context(), s.entries[1].Reference, 0, 9); return err },
		} {
			began := time.Now()
			if err := read(); !errors.Is(err, ledger.ErrUnavailable) {
				t.Errorf("%s: %v, want ErrUnavailable", what, err)
			}
			if took := time.Since(began); took != 10*time.Second {
				t.Errorf("%s: it took %s, want 10 s", what, took)
			}
		}
		if committed, published := second.Sizes(); committed != 1 || published != 1 {
			t.Errorf("%d records are committed and %d published, want the durable one", committed, published)
		}
		if copied := readFile(t, filepath.Join(folder, ledger.CheckpointName)); string(copied) != string(before.Checkpoint) {
			t.Errorf("the second copy is %q, want that of the durable head", copied)
		}
		s.set(true)
		if found, err := second.ByID(t.Context(), id); err != nil || found.Index != 1 {
			t.Errorf("once it is confirmed: %+v, %v", found, err)
		}
		time.Sleep(1100 * time.Millisecond)
		if committed, published := second.Sizes(); committed != 2 || published != 2 {
			t.Errorf("%d records are committed and %d published, want 2", committed, published)
		}
	})
}

func TestLostRecordIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, second, before, _ := startUnconfirmed(t)
		id := ledgertest.Entries("some", 2)[1].ID
		var wait sync.WaitGroup
		wait.Go(func() {
			if found, err := second.ByID(t.Context(), id); !errors.Is(err, ledger.ErrNotFound) {
				t.Errorf("the lost record: %+v, %v, want ErrNotFound", found, err)
			}
		})
		time.Sleep(3 * time.Second)
		s.lose(before)
		wait.Wait()
		if index := appendEntry(t, second, ledgertest.Entries("next", 1)[0]); index != 1 {
			t.Errorf("the next record has the index %d, want 1", index)
		}
	})
}

// The batch in flight waits, since it may have been written. The queue was not.
func TestOutageRejectsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faultyStore{Store: &memoryStore{}}
		l := open(t, f, ledger.Options{})
		f.lose(func(f *faultyStore) { f.lostBefore, f.lostHeads = 1, 1<<20 })
		began := time.Now()
		entries := ledgertest.Entries("outage", 4)
		var wait sync.WaitGroup
		appendOne := func(e ledger.Entry, want error, after time.Duration) {
			wait.Go(func() {
				if _, err := l.Append(e); !errors.Is(err, want) || errors.Is(err, ledger.ErrBroken) {
					t.Errorf("%v, want %v", err, want)
				}
				if took := time.Since(began); took < after || took > after+2*time.Second {
					t.Errorf("it was answered after %s, want about %s", took, after)
				}
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
		if committed, _ := l.Sizes(); committed != 4 {
			t.Errorf("the log has %d records, want 4", committed)
		}
	})
}
