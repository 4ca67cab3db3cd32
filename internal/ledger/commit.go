package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A Commit describes a batch to [Options].Observe.
type Commit struct {
	Records   int           // number of written records
	Conflicts int           // attempts that failed because another process was first
	Duration  time.Duration // of all attempts
	Err       error
}

// commit appends the batch to the store and sets its outcome. No caller's context can cancel it.
func (l *Log) commit(b *batch) {
	c := Commit{}
	began := time.Now()
	c.Records, c.Conflicts, b.err = l.append(context.Background(), b)
	if b.err == nil {
		signal(l.follower.committed)
	}
	c.Duration, c.Err = time.Since(began), b.err
	l.options.Observe(c)
}

// append attempts the batch until its outcome is known.
//
//   - After a conflict it retries once with other processes locked out and claims looked up, so
//     that it can reject the conflicting entries by name.
//   - After a lost connection it confirms the head and looks up the first id: either the store has
//     the batch, or append retries. The batch cannot be written twice, since two batches with one
//     size or one id conflict.
func (l *Log) append(ctx context.Context, b *batch) (records, conflicts int, err error) {
	deadline := time.Now().Add(l.options.Patience)
	uncertain := false // an earlier attempt may have committed
	var retry backoff
	for {
		entries, err := l.attempt(ctx, b, conflicts > 0)
		inTime := time.Now().Before(deadline)
		switch {
		case err == nil:
			return len(entries), conflicts, nil
		case errors.Is(err, ErrUnavailable) && inTime:
			uncertain = true
			l.rejectQueued()
		// With other processes locked out, a conflict means a duplicate id. That is final, unless
		// an earlier attempt may have committed the id.
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
		retry.wait() // even if reads work: the server may be a read-only standby
		head, err := l.confirm(ctx, deadline)
		if err == nil {
			err = l.catchUp(head)
		}
		if err != nil {
			return 0, conflicts, err
		}
		if len(entries) > 0 {
			if found, err := l.isCommitted(ctx, b, entries[0].ID); found || err != nil {
				return len(entries), conflicts, err
			}
		}
	}
}

// attempt appends the batch's admissible entries once and returns them. Without locking, the store
// finds claims that are still held, and the error is [ErrConflict]. With locking, attempt looks
// them up while no other process can append.
func (l *Log) attempt(ctx context.Context, b *batch, locking bool) (entries []Entry, err error) {
	var next Tree
	var signed Batch
	prepare := func() (*Batch, error) {
		var err error
		b.first = next.Size()
		if entries, err = l.admit(ctx, b, locking); err != nil || len(entries) == 0 {
			return nil, err
		}
		signed, err = next.NextBatch(entries, l.key)
		signed.Head.SeedKey = l.vault.name
		return &signed, err
	}
	if locking {
		err := l.writer.AppendNext(ctx, func(head Head) (*Batch, error) {
			var err error
			if next, err = l.validateExtension(head); err != nil {
				return nil, err
			}
			signed.Head = head
			return prepare()
		})
		if err != nil {
			return entries, err
		}
	} else {
		next = l.tree
		batch, err := prepare()
		if err == nil && batch != nil {
			err = l.writer.Append(ctx, *batch)
		}
		if err != nil || batch == nil {
			return entries, err
		}
	}
	return entries, l.advance(next, signed.Head)
}

// isCommitted reports whether the store has the batch, given the id of its first written entry, and
// the batch is durable.
func (l *Log) isCommitted(ctx context.Context, b *batch, first uuid.UUID) (bool, error) {
	found, err := FirstOrNotFound(l.store.Select(ctx, ByID(first)))
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnavailable) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	b.first = found.Index
	// Otherwise it became visible after the head was confirmed, and the next attempt conflicts.
	return found.Index < l.tree.Size(), nil
}

// confirm returns the confirmed head. It retries an unreachable store until the deadline.
func (l *Log) confirm(ctx context.Context, deadline time.Time) (Head, error) {
	var retry backoff
	head, err := l.writer.Confirm(ctx)
	for errors.Is(err, ErrUnavailable) && time.Now().Before(deadline) && ctx.Err() == nil {
		l.rejectQueued()
		retry.wait()
		head, err = l.writer.Confirm(ctx)
	}
	return head, err
}

// catchUp continues from a confirmed head, which other processes may have advanced.
func (l *Log) catchUp(head Head) error {
	tree, err := l.validateExtension(head)
	if err != nil {
		return err
	}
	return l.advance(tree, head)
}

// validateExtension validates a head of the store and returns its tree. ErrCorrupt: the head is
// unsigned or lacks durable records.
func (l *Log) validateExtension(head Head) (Tree, error) {
	tree, c, err := openHead(head, l.key.Verifier)
	if err != nil {
		return tree, err
	}
	if c.Size < l.tree.Size() {
		return tree, rolledBack(l.tree.Size(), c.Size)
	}
	if c.Size == l.tree.Size() && c.Root != l.tree.Root() {
		return tree, fmt.Errorf("%w: its %d records are not those that it had before", ErrCorrupt, c.Size)
	}
	return tree, l.vault.check(head)
}

// advance sets the tree to a durable head's and saves its checkpoint.
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

// A backoff is the next pause before a retry. It starts at 10 ms and doubles up to one second.
type backoff time.Duration

func (b *backoff) wait() {
	*b = min(max(*b, backoff(10*time.Millisecond)), backoff(time.Second))
	time.Sleep(time.Duration(*b))
	*b *= 2
}
