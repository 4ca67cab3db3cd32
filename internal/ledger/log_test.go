package ledger_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

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
				_, err := l.Append(e)
				assert.ErrorIs(t, err, want)
			})
			synctest.Wait()
		}
		entries := ledgertest.Entries("queue", 6)
		for _, e := range entries[:4] { // one is in flight, three are queued
			appendOne(e, nil)
		}
		depth, capacity := l.Queued()
		assert.Truef(t, depth == 3 && capacity == 3, "%d of %d are queued, want 3 of 3", depth, capacity)
		began := time.Now()
		appendOne(entries[4], ledger.ErrBusy)
		assert.EqualValues(t, 0, time.Since(began), "ErrBusy took")
		assert.ErrorIs(t, l.Health(), ledger.ErrBusy, "health with a full queue")
		s.release <- struct{}{}
		s.release <- struct{}{}
		wait.Wait()
		assert.NoError(t, l.Health(), "health afterwards")
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
		assert.NoError(t, l.Health(), "health after 0.9 s")
		time.Sleep(200 * time.Millisecond)
		assert.Error(t, l.Health(), "the log is healthy although a commit has taken 1.1 s")
		s.release <- struct{}{}
		assert.NoError(t, <-done)
		assert.NoError(t, l.Health(), "health afterwards")
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
			_, err := l.Append(entries[1])
			assert.ErrorIs(t, err, ledger.ErrBroken, "the entry of the failed commit")
			<-l.Failed()
			f.before, f.after = nil, nil
			_, err = l.Append(entries[2])
			assert.ErrorIs(t, err, ledger.ErrBroken, "a later entry")
			assert.Error(t, l.Err(), "Err or Health is nil for a broken log")
			assert.Error(t, l.Health(), "Err or Health is nil for a broken log")
			_, err = l.ByID(t.Context(), entries[0].ID)
			assert.NoError(t, err, "reading an acknowledged entry")
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
				_, err := l.Append(e)
				assert.ErrorIs(t, err, ledger.ErrBroken)
			})
			synctest.Wait() // the first is in flight, and the others are queued
		}
		s.release <- struct{}{}
		wait.Wait()
	})
}

func TestFullDiskRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStore(t)
		l := open(t, f, ledger.Options{})
		entries := ledgertest.Entries("space", 3)
		f.before = fmt.Errorf("%w: database or disk is full", ledger.ErrNoSpace)
		_, err := l.Append(entries[0])
		assert.ErrorIs(t, err, ledger.ErrNoSpace)
		assert.ErrorIs(t, l.Health(), ledger.ErrNoSpace, "health")
		time.Sleep(6 * time.Second)
		assert.NoError(t, l.Health(), "health after 6 s")
		f.before = nil
		for want, e := range entries[1:] {
			index, err := l.Append(e)
			assert.Truef(t, err == nil && index == uint64(want), "once there is space: index %d, %v, want %d", index, err, want)
		}
	})
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
		assert.Equal(t, claim.Name, outcome(l.Append(e)), what)
	}
	holder, err := l.ByClaim(t.Context(), "own")
	assert.ErrorIsf(t, err, ledger.ErrNotFound, "a claim of rejected entries is held by %+v", holder)
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
				_, err := l.Append(e)
				assert.NoError(t, err)
			})
			synctest.Wait()
		}
		wait.Go(func() { closeLog(t, l) })
		synctest.Wait()
		assert.ErrorIs(t, l.Health(), ledger.ErrClosed, "health while closing")
		f.release <- struct{}{}
		f.release <- struct{}{}
		wait.Wait()
		_, err := l.Append(entries[0])
		assert.ErrorIs(t, err, ledger.ErrClosed, "after Close")
		assert.ErrorIs(t, l.Close(), ledger.ErrClosed, "a second Close")
	})
}
