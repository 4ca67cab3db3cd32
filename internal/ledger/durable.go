package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// queueTimeout is the time that callers wait in the queue for a commit to an unreachable store.
// After it they and new callers get [ErrUnavailable] until the store is reachable.
const queueTimeout = 10 * time.Second

// confirmRetry is the pause before the head's confirmation is retried.
const confirmRetry = 500 * time.Millisecond

var (
	errOutage      = fmt.Errorf("%w for more than %s, and nothing was written", ErrUnavailable, queueTimeout)
	errUnconfirmed = fmt.Errorf("%w: for %s it has not confirmed that its last records survive a failover", ErrUnavailable, maxLag)
)

// rejectQueued rejects the queued entries if the commit in flight has waited for an unreachable
// store for queueTimeout. That commit still waits, since its outcome is unknown.
func (l *Log) rejectQueued() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.commitBegan.IsZero() || time.Since(l.commitBegan) < queueTimeout {
		return
	}
	l.outage = true
	l.queue.err = errOutage
	close(l.queue.done)
	l.queue = newBatch()
}

// awaitDurable waits until the log is durable up to size, or until the writer has committed or
// confirmed once, since a failover may have removed what was seen. It returns [ErrUnavailable]
// after maxLag.
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
	if l.readOnly {
		return ErrGrown
	}
	signal(l.wake)
	select {
	case <-next:
		return nil
	case <-l.failed:
		return l.Err()
	case <-l.done:
		return cmp.Or(l.Err(), ErrClosed)
	case <-ctx.Done():
		return errUnconfirmed
	}
}

// confirmForWaiters confirms the head if a caller waits for that. Callers of Append need not wait:
// their own commits confirm all earlier ones.
func (l *Log) confirmForWaiters() {
	l.mu.Lock()
	wanted := l.nextDurable != nil
	l.mu.Unlock()
	if !wanted {
		return
	}
	head, err := l.writer.Confirm(context.Background())
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

// readDurable returns the entry that q selects once it is durable. Before that a failover may
// replace it. An entry beyond every confirmed head is [ErrCorrupt].
func (l *Log) readDurable(ctx context.Context, q EntryQuery) (*StoredEntry, error) {
	for range 3 {
		e, err := l.first(ctx, q)
		if err != nil || e.Index < l.durable.Load().Size {
			return e, err
		}
		// The first head may have been confirmed before the entry was read, the second was not.
		for range 2 {
			if err := l.awaitDurable(ctx, e.Index+1); err != nil {
				return nil, err
			}
		}
		same, err := l.first(ctx, ByID(e.ID))
		switch {
		case errors.Is(err, ErrNotFound): // a failover removed it
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

// rolledBack is the error for a store that lost durable records. It tells the operator what to do.
func rolledBack(from, to uint64) error {
	return fmt.Errorf("%w: it has gone back from %d records to %d. Records that were answered are lost here, as after a failover "+
		"to a standby that did not have them. Keep every server and disk that may have them: with the newer store the log goes on. "+
		"If nobody has them, this log cannot go on: keep its folder, publish its last checkpoint, and begin a new log in an empty folder. "+
		"Do not remove the checkpoint file", ErrCorrupt, from, to)
}
