package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A Commit is what [Options].Observe gets to know about a batch.
type Commit struct {
	Records   int           // how many were written
	Conflicts int           // attempts that failed because another process was first
	Duration  time.Duration // of all attempts
	Err       error
}

// commit appends the batch to the store and sets its outcome. It is never abandoned: its context is
// no caller's.
func (l *Log) commit(b *batch) {
	c := Commit{}
	began := l.options.Now()
	c.Records, c.Conflicts, b.err = l.append(context.Background(), b)
	if b.err == nil {
		signal(l.follower.committed)
	}
	c.Duration, c.Err = l.options.Now().Sub(began), b.err
	l.options.Observe(c)
}

// append attempts the batch until its outcome is known.
//
//   - After a conflict it attempts the batch once more, with other processes locked out and claims
//     looked up, so that the entries in conflict are rejected by name.
//   - After a lost connection it asks the store for the first id, once the head is confirmed: either
//     the batch is there, or it can be attempted again. It cannot be written twice, since two
//     batches for one size, or with one id, conflict.
func (l *Log) append(ctx context.Context, b *batch) (records, conflicts int, err error) {
	deadline := l.options.Now().Add(l.options.Patience)
	uncertain := false // an earlier attempt may have been committed
	var retry backoff
	for {
		entries, err := l.attempt(ctx, b, conflicts > 0)
		inTime := l.options.Now().Before(deadline)
		switch {
		case err == nil:
			return len(entries), conflicts, nil
		case errors.Is(err, ErrUnavailable) && inTime:
			uncertain = true
			l.rejectQueued()
		// With other processes locked out, a conflict means that an id is in the log twice. That is
		// final, unless the id may be that of an earlier attempt.
		case errors.Is(err, ErrConflict) && (conflicts == 0 || uncertain && inTime):
			conflicts++
		case uncertain:
			// Not wrapped: errors like ErrNoSpace promise that nothing was written.
			return 0, conflicts, fmt.Errorf("after an attempt of unknown outcome: %s", err.Error())
		default:
			return 0, conflicts, err
		}
		if !uncertain {
			continue
		}
		retry.wait() // also if the store can be read: it may be a standby, which cannot be written
		head, err := l.confirm(ctx, deadline)
		if err == nil {
			err = l.catchUp(head)
		}
		if err != nil {
			return 0, conflicts, err
		}
		if len(entries) > 0 {
			if arrived, err := l.arrived(ctx, b, entries[0].ID); arrived || err != nil {
				return len(entries), conflicts, err
			}
		}
	}
}

// attempt appends the admissible entries of the batch once, and returns them. Without locking, it
// leaves it to the store to find claims that the log does not let go; the error is then
// [ErrConflict]. With locking, it looks claims up while no other process can append.
func (l *Log) attempt(ctx context.Context, b *batch, locking bool) (entries []Entry, err error) {
	var next Tree
	var signed Batch
	prepare := func() error {
		var err error
		b.first = next.Size()
		if entries, err = l.admit(ctx, b, locking); err != nil || len(entries) == 0 {
			return err
		}
		signed, err = next.NextBatch(entries, l.key)
		l.vault.identify(&signed.Head)
		return err
	}
	if locking {
		err = l.store.AppendNext(ctx, func(head Head) (*Batch, error) {
			var err error
			if next, err = l.continued(head); err != nil {
				return nil, err
			}
			signed.Head = head
			if err := prepare(); err != nil || len(entries) == 0 {
				return nil, err
			}
			return &signed, nil
		})
	} else {
		next = l.tree
		if err = prepare(); err != nil || len(entries) == 0 {
			return entries, err
		}
		err = l.store.Append(ctx, signed)
	}
	if err != nil {
		return entries, err
	}
	return entries, l.advance(next, signed.Head)
}

// arrived reports whether the store has the batch whose first written entry has the id, and it is
// durable.
func (l *Log) arrived(ctx context.Context, b *batch, first uuid.UUID) (bool, error) {
	found, err := l.store.ByID(ctx, first)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnavailable) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	b.first = found.Index
	// Otherwise it became visible after the head was confirmed. The next attempt then conflicts.
	return found.Index < l.tree.Size(), nil
}

// confirm returns the confirmed head. It waits for a store that cannot be reached until the
// deadline.
func (l *Log) confirm(ctx context.Context, deadline time.Time) (Head, error) {
	var retry backoff
	head, err := l.store.Confirm(ctx)
	for errors.Is(err, ErrUnavailable) && l.options.Now().Before(deadline) && ctx.Err() == nil {
		l.rejectQueued()
		retry.wait()
		head, err = l.store.Confirm(ctx)
	}
	return head, err
}

// catchUp continues from a confirmed head, which other processes may have advanced.
func (l *Log) catchUp(head Head) error {
	tree, err := l.continued(head)
	if err != nil {
		return err
	}
	return l.advance(tree, head)
}

// continued validates a head of the store and returns its tree. ErrCorrupt: it is not signed, or
// lacks durable records.
func (l *Log) continued(head Head) (Tree, error) {
	tree, c, err := openHead(head, l.key.Verifier)
	if err != nil {
		return tree, err
	}
	if c.Size < l.tree.Size() {
		return tree, goneBack(l.tree.Size(), c.Size)
	}
	if root, err := l.tree.Root(); err != nil {
		return tree, err
	} else if c.Size == l.tree.Size() && c.Root != root {
		return tree, fmt.Errorf("%w: its %d records are not those that it had before", ErrCorrupt, c.Size)
	}
	return tree, l.vault.adopt(head)
}

// advance sets the tree to that of a durable head, and saves its checkpoint.
func (l *Log) advance(tree Tree, head Head) error {
	if err := l.checkpoint.write(tree.Size(), head.Checkpoint); err != nil {
		return err
	}
	l.tree = tree
	l.durable.Store(&head)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nextDurable != nil {
		close(l.nextDurable)
		l.nextDurable = nil
	}
	return nil
}

// A backoff is the next pause before a retry. The zero value starts at 10 ms; each pause is twice
// as long as the one before, up to one second.
type backoff time.Duration

func (b *backoff) wait() {
	*b = min(max(*b, backoff(10*time.Millisecond)), backoff(time.Second))
	time.Sleep(time.Duration(*b))
	*b *= 2
}
