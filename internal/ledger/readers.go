package ledger

import (
	"cmp"
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
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
	slots   *semaphore.Weighted
	waiting atomic.Int64
}

func newReaders(store Store) *readers {
	return &readers{slots: semaphore.NewWeighted(int64(max(1, store.Readers()-reservedReaders)))}
}

// acquire waits, first come first served, until the caller may read from the store. The caller must
// call release. acquire returns [ErrOverloaded] if maxWaiting callers wait already or after
// readerTimeout, and the error of ctx when ctx is done.
func (r *readers) acquire(ctx context.Context) error {
	if r.slots.TryAcquire(1) {
		return nil
	}
	defer r.waiting.Add(-1)
	if r.waiting.Add(1) > maxWaiting {
		return ErrOverloaded
	}
	limited, cancel := context.WithTimeout(ctx, readerTimeout)
	defer cancel()
	if r.slots.Acquire(limited, 1) != nil {
		return cmp.Or(ctx.Err(), ErrOverloaded)
	}
	return nil
}

func (r *readers) release() { r.slots.Release(1) }

// reading calls read between [readers.acquire] and release.
func reading[T any](ctx context.Context, r *readers, read func() (T, error)) (T, error) {
	if err := r.acquire(ctx); err != nil {
		var none T
		return none, err
	}
	defer r.release()
	return read()
}
