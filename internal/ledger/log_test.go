package ledger_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

func TestFullQueueReturnsErrBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.release = make(chan struct{})
		l := open(t, s, ledger.Options{Queue: 3})
		var wait sync.WaitGroup
		appendOne := func(e ledger.Entry, want error) {
			wait.Go(func() {
				if _, err := l.Append(e); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		entries := ledgertest.Entries("queue", 6)
		for _, e := range entries[:4] { // one is in flight, three are queued
			appendOne(e, nil)
		}
		if depth, capacity := l.Queued(); depth != 3 || capacity != 3 {
			t.Errorf("%d of %d are queued, want 3 of 3", depth, capacity)
		}
		began := time.Now()
		appendOne(entries[4], ledger.ErrBusy)
		if took := time.Since(began); took != 0 {
			t.Errorf("ErrBusy took %s", took)
		}
		if err := l.Health(); !errors.Is(err, ledger.ErrBusy) {
			t.Errorf("health with a full queue: %v", err)
		}
		s.release <- struct{}{}
		s.release <- struct{}{}
		wait.Wait()
		if err := l.Health(); err != nil {
			t.Errorf("health afterwards: %v", err)
		}
	})
}

func TestSlowCommitMakesTheLogUnhealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.release = make(chan struct{})
		l := open(t, s, ledger.Options{})
		done := make(chan error)
		go func() {
			_, err := l.Append(ledgertest.Entries("slow", 1)[0])
			done <- err
		}()
		time.Sleep(900 * time.Millisecond)
		if err := l.Health(); err != nil {
			t.Errorf("health after 0.9 s: %v", err)
		}
		time.Sleep(200 * time.Millisecond)
		if err := l.Health(); err == nil {
			t.Error("the log is healthy although a commit has taken 1.1 s")
		}
		s.release <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := l.Health(); err != nil {
			t.Errorf("health afterwards: %v", err)
		}
	})
}

// After any error except a full disk, no entry gets an index.
func TestFailedCommitBreaksTheLog(t *testing.T) {
	for name, fail := range map[string]func(*faultyStore, error){
		"nothing written": func(f *faultyStore, err error) { f.before = err },
		"written":         func(f *faultyStore, err error) { f.after = err },
		"conflict":        func(f *faultyStore, _ error) { f.before = ledger.ErrConflict },
	} {
		t.Run(name, func(t *testing.T) {
			f := newStore(t)
			l := open(t, f, ledger.Options{})
			entries := ledgertest.Entries("failing", 3)
			appendEntry(t, l, entries[0])
			fail(f, errors.New("input/output error"))
			if _, err := l.Append(entries[1]); !errors.Is(err, ledger.ErrBroken) {
				t.Errorf("the entry of the failed commit: %v, want ErrBroken", err)
			}
			<-l.Failed()
			f.before, f.after = nil, nil
			if _, err := l.Append(entries[2]); !errors.Is(err, ledger.ErrBroken) {
				t.Errorf("a later entry: %v, want ErrBroken", err)
			}
			if l.Err() == nil || l.Health() == nil {
				t.Error("Err or Health is nil for a broken log")
			}
			if _, err := l.ByID(t.Context(), entries[0].ID); err != nil {
				t.Errorf("reading an acknowledged entry: %v", err)
			}
		})
	}
}

func TestFailedCommitFailsQueuedEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.release, s.before = make(chan struct{}), errors.New("input/output error")
		l := open(t, s, ledger.Options{})
		var wait sync.WaitGroup
		for _, e := range ledgertest.Entries("queued", 4) {
			wait.Go(func() {
				if _, err := l.Append(e); !errors.Is(err, ledger.ErrBroken) {
					t.Errorf("%v, want ErrBroken", err)
				}
			})
			synctest.Wait() // the first is in flight, and the others are queued
		}
		s.release <- struct{}{}
		wait.Wait()
	})
}

func TestFullDiskRecovers(t *testing.T) {
	f := newStore(t)
	now := time.Unix(0, 0)
	l := open(t, f, ledger.Options{Now: func() time.Time { return now }})
	entries := ledgertest.Entries("space", 3)
	f.before = fmt.Errorf("%w: database or disk is full", ledger.ErrNoSpace)
	if _, err := l.Append(entries[0]); !errors.Is(err, ledger.ErrNoSpace) {
		t.Errorf("%v, want ErrNoSpace", err)
	}
	if err := l.Health(); !errors.Is(err, ledger.ErrNoSpace) {
		t.Errorf("health: %v, want ErrNoSpace", err)
	}
	now = now.Add(6 * time.Second)
	if err := l.Health(); err != nil {
		t.Errorf("health after 6 s: %v, want nil so that traffic comes back", err)
	}
	f.before = nil
	for want, e := range entries[1:] {
		if index, err := l.Append(e); err != nil || index != uint64(want) {
			t.Errorf("once there is space: index %d, %v, want %d", index, err, want)
		}
	}
}

// A conflict names the claim, and the entry gets none of its claims.
func TestClaimIsTransferredOnce(t *testing.T) {
	l := open(t, newStore(t), ledger.Options{})
	entries := ledgertest.Entries("prize", 2)
	entries[0].Claims = []ledger.Claim{{Name: "the prize"}}
	entries[1].Claims = []ledger.Claim{{Name: "the prize", Taken: true, From: 0}}
	for _, e := range entries {
		appendEntry(t, l, e)
	}
	for what, claim := range map[string]ledger.Claim{
		"transferring a claim again":             {Name: "the prize", Taken: true, From: 0},
		"transferring a claim that nobody holds": {Name: "nobody's", Taken: true, From: 0},
		"a claim that has a holder":              {Name: "the prize"},
	} {
		e := ledgertest.Entries(what, 1)[0]
		e.Claims = []ledger.Claim{{Name: "own"}, claim}
		if got := outcome(l.Append(e)); got != claim.Name {
			t.Errorf("%s: %s, want the claim", what, got)
		}
	}
	if holder, err := l.ByClaim(t.Context(), "own"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a claim of rejected entries is held by %+v, %v", holder, err)
	}
}

func TestCloseCommitsQueuedEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStore(t)
		f.release = make(chan struct{})
		l := open(t, f, ledger.Options{})
		entries := ledgertest.Entries("closing", 10)
		var wait sync.WaitGroup
		for _, e := range entries { // the first is in flight, and the others share the next batch
			wait.Go(func() {
				if _, err := l.Append(e); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wait.Go(func() { closeLog(t, l) })
		synctest.Wait()
		if err := l.Health(); !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("health while closing: %v, want ErrClosed", err)
		}
		f.release <- struct{}{}
		f.release <- struct{}{}
		wait.Wait()
		if _, err := l.Append(entries[0]); !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("after Close: %v, want ErrClosed", err)
		}
		if err := l.Close(); !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("a second Close: %v, want ErrClosed", err)
		}
	})
}
