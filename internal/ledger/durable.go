package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// queueTimeout is how long callers wait in the queue for a commit whose store cannot be reached.
// Then they, and those that come until it can be reached again, get [ErrUnavailable].
const queueTimeout = 10 * time.Second

// confirmRetry is the pause before a head is confirmed again that could not be.
const confirmRetry = 500 * time.Millisecond

var (
	errOutage      = fmt.Errorf("%w for more than %s, and nothing was written", ErrUnavailable, queueTimeout)
	errUnconfirmed = fmt.Errorf("%w: for %s it has not confirmed that its last records survive a failover", ErrUnavailable, maxLag)
)

// rejectQueued rejects the entries in the queue if the commit in flight, which found the store
// unreachable, has waited for longer than queueTimeout. That one goes on waiting, since its outcome
// is unknown.
func (l *Log) rejectQueued() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.commitBegan.IsZero() || l.options.Now().Sub(l.commitBegan) < queueTimeout {
		return
	}
	l.outage = true
	l.queue.err = errOutage
	close(l.queue.done)
	l.queue = newBatch()
}

// awaitDurable waits until the log is durable up to size, or the writer has committed or confirmed
// once more: what was seen in the store may have been lost. It returns [ErrUnavailable] after
// maxLag.
func (l *Log) awaitDurable(ctx context.Context, size uint64) error {
	ctx, cancel := context.WithTimeout(ctx, maxLag)
	defer cancel()
	l.mu.Lock()
	if l.durable.Load().Size >= size {
		l.mu.Unlock()
		return nil
	}
	if l.nextDurable == nil {
		l.nextDurable = make(chan struct{})
	}
	next := l.nextDurable
	l.mu.Unlock()
	signal(l.wake)
	select {
	case <-next:
		return nil
	case <-l.failed:
		return l.Err()
	case <-l.done:
		return ErrClosed
	case <-ctx.Done():
		return errUnconfirmed
	}
}

// confirmForWaiters confirms the head if somebody waits for that. Callers of Append need not wait:
// their own commits confirm what comes before them.
func (l *Log) confirmForWaiters() {
	l.mu.Lock()
	wanted := l.nextDurable != nil
	l.mu.Unlock()
	if !wanted {
		return
	}
	head, err := l.store.Confirm(context.Background())
	if err == nil {
		err = l.catchUp(head)
	}
	switch {
	case errors.Is(err, ErrUnavailable):
		time.AfterFunc(confirmRetry, func() { signal(l.wake) })
	case err != nil:
		l.fail(err)
	}
}

// durably returns the entry that read finds, once it is durable: until then it may get lost, and
// another one may take its place. An entry that no confirmed head covers is [ErrCorrupt].
func (l *Log) durably(ctx context.Context, read func() (*Stored, error)) (*Stored, error) {
	for range 3 {
		e, err := validated(reading(ctx, l.readers, read))
		if err != nil || e.Index < l.durable.Load().Size {
			return e, err
		}
		// The first head may have been confirmed before the entry was read, the second was not.
		for range 2 {
			if err := l.awaitDurable(ctx, e.Index+1); err != nil {
				return nil, err
			}
		}
		same, err := validated(reading(ctx, l.readers, func() (*Stored, error) { return l.store.ByID(ctx, e.ID) }))
		switch {
		case errors.Is(err, ErrNotFound): // it was lost
		case err != nil:
			return nil, err
		case same.Index != e.Index:
		case e.Index < l.durable.Load().Size:
			return e, nil
		default:
			return nil, fmt.Errorf("%w: it has a record behind its end", ErrCorrupt)
		}
	}
	return nil, errUnconfirmed
}

// goneBack is the error for a store that lost durable records. It says what the operator can do.
func goneBack(from, to uint64) error {
	return fmt.Errorf("%w: it has gone back from %d records to %d. Records that were answered are lost here, as after a failover "+
		"to a standby that did not have them. Keep every server and disk that may have them: with the newer store the log goes on. "+
		"If nobody has them, the log ends: `riffle log fork` writes down what was lost and begins the next log. "+
		"Do not remove the checkpoint file", ErrCorrupt, from, to)
}
