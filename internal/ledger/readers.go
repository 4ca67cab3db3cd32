package ledger

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// reservedReaders are the store's reads for the log itself, one for the writer and one for the
// follower. They never wait for callers.
const reservedReaders = 2

// maxWaiting is the number of callers that may wait for a reader. A look-up takes less than a
// millisecond, so the last caller waits much less than readerTimeout unless the store is slow.
const maxWaiting = 1024

// readerTimeout is the time that a caller waits for a reader.
const readerTimeout = time.Second

// DefaultReaders returns the number of concurrent reads that a store should serve: two for each
// processor and at least four, plus the reserved ones. More are slower.
func DefaultReaders() int { return max(4, 2*runtime.GOMAXPROCS(0)) + reservedReaders }

// readers is a semaphore of callers that read from the store, with a bounded queue.
type readers struct {
	slots   chan struct{} // has one element for each reading caller
	waiting atomic.Int64
}

func newReaders(store Store) *readers {
	return &readers{slots: make(chan struct{}, max(1, store.Readers()-reservedReaders))}
}

// acquire waits, first come first served, until the caller may read from the store. The caller must
// call release. acquire returns [ErrOverloaded] if maxWaiting callers wait already or after
// readerTimeout, and the error of ctx when ctx is done.
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

// reading calls read between [readers.acquire] and release.
func reading[T any](ctx context.Context, r *readers, read func() (T, error)) (T, error) {
	if err := r.acquire(ctx); err != nil {
		var none T
		return none, err
	}
	defer r.release()
	return read()
}
