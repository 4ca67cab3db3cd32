package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

// startupTail is the minimum number of records to read back at start. It exceeds the number that a
// crash can leave unread, unless the disk reads slower than it writes.
const startupTail = 4096

const readBatch = tileWidth

// pollInterval is the interval at which the follower looks for other processes' records.
const pollInterval = time.Second

// publishDelay is the time that the follower waits for more commits after a commit, unless a caller
// waits for the checkpoint. Publishing costs the same for one commit and for many.
const publishDelay = 20 * time.Millisecond

// maxLag is the time that records may stay unread before the log is unhealthy.
const maxLag = 10 * time.Second

// A follower reads records back and publishes their checkpoints.
type follower struct {
	tree      Tree          // of the records read back
	committed chan struct{} // signals a commit
	flush     chan struct{} // signals that a caller waits for a checkpoint
	cancel    context.CancelFunc
}

// published is a checkpoint whose records have been read back.
type published struct {
	proof.Checkpoint
	text []byte // the signed note
}

// startFollower reads back the last records of c's tree, at a cost that does not grow with the log,
// and then follows the log in a goroutine.
func (l *Log) startFollower(ctx context.Context, head Head, c proof.Checkpoint) error {
	if err := l.readTail(ctx, c); err != nil {
		return err
	}
	if err := l.followTo(ctx, head); err != nil {
		return err
	}
	ctx, l.follower.cancel = context.WithCancel(context.Background())
	l.follower.committed, l.follower.flush = make(chan struct{}, 1), make(chan struct{}, 1)
	l.guards.Go(func() { l.runFollower(ctx) })
	return nil
}

// readTail reads back the last records of c's tree.
func (l *Log) readTail(ctx context.Context, c proof.Checkpoint) (err error) {
	from := (max(c.Size, startupTail) - startupTail) &^ (tileWidth - 1)
	if l.follower.tree, err = prefix(ctx, l.store, c, from); err == nil {
		err = l.readTo(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("checking the last records of the log: %w. Run `riffle log check` on a copy of the store to see what is wrong", err)
	}
	return nil
}

// runFollower follows the log until ctx is done or the log breaks.
func (l *Log) runFollower(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var delayed <-chan time.Time // nil if nothing was committed since the last read
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.failed:
			return
		case <-l.follower.committed:
			if delayed == nil {
				delayed = time.After(publishDelay)
			}
			continue
		case <-delayed:
		case <-l.follower.flush:
		case <-tick.C:
			if err := l.checkpoint.sync(); err != nil {
				l.fail(err)
				return
			}
		}
		delayed = nil
		l.setReadable(ctx, l.follow(ctx))
	}
}

// setReadable applies the outcome of a read: ErrCorrupt breaks the log, and other errors are
// retried.
func (l *Log) setReadable(ctx context.Context, err error) {
	if errors.Is(err, ErrCorrupt) {
		l.fail(err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err == nil:
		l.unreadSince, l.unreadErr = time.Time{}, nil
	case l.unreadSince.IsZero():
		l.unreadSince, l.unreadErr = time.Now(), err
	}
}

// follow reads back new records and publishes their checkpoint. It waits until other processes'
// records are durable. ErrCorrupt: the records do not lead to the signed root.
func (l *Log) follow(ctx context.Context) error {
	head, err := l.store.Head(ctx)
	if err != nil {
		return err
	}
	if head.Size > l.durable.Load().Size {
		if err := l.awaitDurable(ctx, head.Size); err != nil {
			return err
		}
		head = *l.durable.Load()
	}
	return l.followTo(ctx, head)
}

// followTo reads back the records up to a durable head and publishes its checkpoint.
func (l *Log) followTo(ctx context.Context, head Head) error {
	if p := l.published.Load(); p != nil && string(p.text) == string(head.Checkpoint) {
		return nil
	}
	c, err := proof.OpenCheckpoint(head.Checkpoint, l.key.Verifier)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err := l.readTo(ctx, c); err != nil {
		return err
	}
	// Another process may have signed it, and a restarted process must extend what it published.
	if err := l.checkpoint.write(c.Size, head.Checkpoint); err != nil {
		return err
	}
	l.publish(&l.published, &published{Checkpoint: c, text: head.Checkpoint})
	return nil
}

// readTo reads back the records up to a checkpoint, which must have their root.
func (l *Log) readTo(ctx context.Context, c proof.Checkpoint) error {
	tree := &l.follower.tree
	if c.Size < tree.Size() {
		return rolledBack(tree.Size(), c.Size)
	}
	for tree.Size() < c.Size {
		if err := l.readBack(ctx, min(readBatch, int(c.Size-tree.Size()))); err != nil {
			return err
		}
	}
	if root := tree.Root(); root != c.Root {
		return fmt.Errorf("%w: the %d records have the root %s, and %s was signed", ErrCorrupt, c.Size, root, c.Root)
	}
	return nil
}

// publish replaces the published or the witnessed checkpoint.
func (l *Log) publish(at *atomic.Pointer[published], p *published) {
	at.Store(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.nextPublished)
	l.nextPublished = make(chan struct{})
}

// readBack adds the store's next n records to the follower's tree. After an error it adds none,
// since a former primary may have sent them.
func (l *Log) readBack(ctx context.Context, n int) error {
	tree := l.follower.tree
	from := tree.Size()
	err := l.store.Records(ctx, from, n, func(index uint64, record []byte, hash tlog.Hash) error {
		if err := checkRecord(index, record, hash, tree.Size()); err != nil {
			return err
		}
		tree.Add(hash, nil)
		return nil
	})
	if err == nil && tree.Size() != from+uint64(n) {
		return fmt.Errorf("%w: of %d records from %d on there are %d", ErrCorrupt, n, from, tree.Size()-from)
	}
	if err == nil {
		l.follower.tree = tree
	}
	return err
}

// checkRecord returns [ErrCorrupt] unless the record has the wanted index and the given hash.
func checkRecord(index uint64, record []byte, hash tlog.Hash, want uint64) error {
	if index != want {
		return fmt.Errorf("%w: record %d is missing", ErrCorrupt, want)
	}
	if tlog.RecordHash(record) != hash {
		return fmt.Errorf("%w: record %d does not have its hash", ErrCorrupt, index)
	}
	return nil
}

// await waits for the published or the witnessed checkpoint. It returns late after maxLag or when
// ctx is done.
func (l *Log) await(ctx context.Context, index uint64, at *atomic.Pointer[published], late error) (*published, error) {
	ctx, cancel := context.WithTimeout(ctx, maxLag)
	defer cancel()
	for {
		l.mu.Lock()
		next := l.nextPublished
		l.mu.Unlock()
		if p := at.Load(); index < p.Size {
			return p, nil
		}
		if l.readOnly && at == &l.published {
			return nil, ErrGrown
		}
		signal(l.follower.flush)
		select {
		case <-next:
		case <-l.failed:
			return nil, l.Err()
		case <-ctx.Done():
			return nil, late
		}
	}
}
