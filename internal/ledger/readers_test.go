package ledger_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

// newSlowLog returns a log whose store serves one caller at a time, and is serving the look-up of an
// id until the test calls end. Later look-ups send to entered and receive from release.
func newSlowLog(t *testing.T) (l *ledger.Log, entered, release chan struct{}, id uuid.UUID, end func()) {
	t.Helper()
	entered, release = make(chan struct{}), make(chan struct{})
	s := newStore(t)
	s.readers = 3 // two are reserved
	s.called = func(method string) error {
		if method == "ByID" {
			entered <- struct{}{}
			<-release
		}
		return nil
	}
	l = open(t, s, ledger.Options{})
	e := ledgertest.Entries("slow", 1)[0]
	appendEntry(t, l, e)
	done := make(chan error)
	go func() {
		_, err := l.ByID(t.Context(), e.ID)
		done <- err
	}()
	<-entered
	return l, entered, release, e.ID, func() {
		release <- struct{}{}
		assert.NoError(t, <-done)
	}
}

func TestReadersAreBounded(t *testing.T) {
	t.Parallel()
	l, entered, release, id, end := newSlowLog(t)
	reads := map[string]func(context.Context) error{
		"ByID":        func(ctx context.Context) error { _, err := l.ByID(ctx, id); return err },
		"At":          func(ctx context.Context) error { _, err := l.At(ctx, 0); return err },
		"ByClaim":     func(ctx context.Context) error { _, err := l.ByClaim(ctx, "claim"); return err },
		"ByReference": func(ctx context.Context) error { _, err := l.ByReference(ctx, "game", 0, 1); return err },
		"Claims":      func(ctx context.Context) error { _, err := l.Claims(ctx, ledger.ClaimQuery{Limit: 1}); return err },
		"CountClaims": func(ctx context.Context) error { _, err := l.CountClaims(ctx, ledger.ClaimQuery{}); return err },
		"Prove":       func(ctx context.Context) error { _, err := l.Prove(ctx, 0); return err },
		"Tile":        func(ctx context.Context) error { _, err := l.Tile(ctx, 0, 0, 1); return err },
		"Entries":     func(ctx context.Context) error { _, err := l.Entries(ctx, 0, 1); return err },
	}
	_, err := l.Prove(t.Context(), 0)
	assert.ErrorIs(t, err, ledger.ErrOverloaded, "a caller waited for a reader, and then")
	for name, read := range reads {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		assert.ErrorIsf(t, read(ctx), context.DeadlineExceeded, "%s, whose caller stops waiting for a reader", name)
		cancel()
	}
	// The log itself and calls that need no store do not wait.
	appendEntry(t, l, ledgertest.Entries("another", 1)[0])
	size, _ := l.Sizes()
	assert.Truef(t, size == 2 && len(l.Checkpoint(t.Context())) != 0, "the log has %d records, want 2", size)
	end()
	go func() { <-entered; release <- struct{}{} }()
	for name, read := range reads {
		err := read(t.Context())
		assert.Falsef(t, errors.Is(err, ledger.ErrOverloaded), "%s after the reader was released: %v", name, err)
	}
}

func TestWaitersForReadersAreBounded(t *testing.T) {
	t.Parallel()
	l, _, _, _, end := newSlowLog(t)
	const waiting = 1024
	var group sync.WaitGroup
	outcomes := make(chan error, waiting+100)
	for range waiting + 100 {
		group.Go(func() {
			_, err := l.At(t.Context(), 0)
			outcomes <- err
		})
	}
	for range 100 {
		assert.ErrorIs(t, <-outcomes, ledger.ErrOverloaded, "a caller beyond those who may wait")
	}
	end()
	group.Wait()
}
