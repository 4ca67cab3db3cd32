package ledger

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// ownReaders is how many of the store's reads are set aside for the log itself: one for the writer
// and one for the follower. They never wait for callers.
const ownReaders = 2

// maxWaiting is how many callers may wait for a reader. A look-up takes less than a millisecond, so
// the last of them waits for a fraction of readerTimeout unless the store is slow.
const maxWaiting = 1024

// readerTimeout is how long a caller waits for a reader.
const readerTimeout = time.Second

// DefaultReaders returns how many reads a store should serve at once: two for each processor, and
// at least four, besides those of the log itself. More of them are slower.
func DefaultReaders() int { return max(4, 2*runtime.GOMAXPROCS(0)) + ownReaders }

// readers limits how many callers read from the store at the same time, and how many wait to.
type readers struct {
	slots   chan struct{} // holds one element for each caller who reads
	waiting atomic.Int64
}

func newReaders(store Store) *readers {
	return &readers{slots: make(chan struct{}, max(1, store.Readers()-ownReaders))}
}

// acquire waits until the caller may read from the store, who then has to call release. Callers are
// served in the order in which they came. It returns [ErrOverloaded] at once if maxWaiting callers
// wait already, and after readerTimeout; and the error of ctx when that is done.
func (r *readers) acquire(ctx context.Context) error {
	select {
	case r.slots <- struct{}{}:
		return nil
	default:
	}
	defer r.waiting.Add(-1)
	if r.waiting.Add(1) > maxWaiting {
		return ErrOverloaded
	}
	timer := time.NewTimer(readerTimeout)
	defer timer.Stop()
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-timer.C:
		return ErrOverloaded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *readers) release() { <-r.slots }

// reading calls read, which reads from the store, when a reader is free: see [readers.acquire].
func reading[T any](ctx context.Context, r *readers, read func() (T, error)) (T, error) {
	if err := r.acquire(ctx); err != nil {
		var none T
		return none, err
	}
	defer r.release()
	return read()
}
