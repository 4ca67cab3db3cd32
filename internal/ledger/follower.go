package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

// startupTail is the least number of records that are read back at start. It is more than there can
// be between the last record that was read back before a crash and the last one that was committed,
// unless the disk was slower to read than to write.
const startupTail = 4096

// readBatch is how many records are read back in one query.
const readBatch = tileWidth

// pollInterval is how often the follower looks for records of other processes.
const pollInterval = time.Second

// publishDelay is how long after a commit the follower waits for more commits, unless a caller
// waits for the checkpoint. Checking and publishing cost the same for one commit and for many.
const publishDelay = 20 * time.Millisecond

// maxLag is how long records may wait to be read back before the log is unhealthy.
const maxLag = 10 * time.Second

// A follower reads records back and publishes the checkpoints that they confirm.
type follower struct {
	tree      Tree          // of what has been read back
	committed chan struct{} // signals that a batch was committed
	flush     chan struct{} // signals that a caller waits for a checkpoint
	cancel    context.CancelFunc
	done      chan struct{} // closed when the follower has ended
}

// A published checkpoint is one whose records have been read back.
type published struct {
	proof.Checkpoint
	text []byte // the signed note
}

// startFollower reads back the last records of the tree of c, so that the cost of a start does not
// grow with the log, and then follows the log in a goroutine.
func (l *Log) startFollower(ctx context.Context, head Head, c proof.Checkpoint) error {
	from := uint64(0)
	if c.Size > startupTail {
		from = (c.Size - startupTail) &^ (tileWidth - 1)
	}
	var err error
	if l.follower.tree, err = prefix(ctx, l.store, c, from); err != nil {
		return err
	}
	if err := l.followTo(ctx, head); err != nil {
		return err
	}
	ctx, l.follower.cancel = context.WithCancel(context.Background())
	l.follower.committed, l.follower.flush = make(chan struct{}, 1), make(chan struct{}, 1)
	l.follower.done = make(chan struct{})
	go l.runFollower(ctx)
	return nil
}

// runFollower is the follower's goroutine.
func (l *Log) runFollower(ctx context.Context) {
	defer close(l.follower.done)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var delayed <-chan time.Time // nil if nothing was committed since the last look
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

// setReadable applies the outcome of a look at the store: a corrupt one breaks the log, and one
// that cannot be read is tried again.
func (l *Log) setReadable(ctx context.Context, err error) {
	switch {
	case errors.Is(err, ErrCorrupt):
		l.fail(err)
		return
	case ctx.Err() != nil:
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.unreadSince, l.unreadErr = time.Time{}, nil
	case l.unreadSince.IsZero():
		l.unreadSince, l.unreadErr = l.options.Now(), err
	}
}

// follow reads back the records that were committed since the last call, and publishes their
// checkpoint. It waits until those of other processes are durable. ErrCorrupt: they do not lead to
// the signed root.
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

// followTo reads back the records up to a durable head, and publishes its checkpoint.
func (l *Log) followTo(ctx context.Context, head Head) error {
	if p := l.published.Load(); p != nil && string(p.text) == string(head.Checkpoint) {
		return nil
	}
	c, err := proof.OpenCheckpoint(head.Checkpoint, l.key.Verifier)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	tree := &l.follower.tree
	if c.Size < tree.Size() {
		return goneBack(tree.Size(), c.Size)
	}
	for tree.Size() < c.Size {
		if err := l.readBack(ctx, min(readBatch, int(c.Size-tree.Size()))); err != nil {
			return err
		}
	}
	root, err := tree.Root()
	if err != nil {
		return err
	}
	if root != c.Root {
		return fmt.Errorf("%w: the %d records have the root %s, and %s was signed", ErrCorrupt, c.Size, root, c.Root)
	}
	// Another process may have signed it. After a restart this one must still know what it
	// published.
	if err := l.checkpoint.write(c.Size, head.Checkpoint); err != nil {
		return err
	}
	l.published.Store(&published{Checkpoint: c, text: head.Checkpoint})
	l.mu.Lock()
	close(l.nextPublished)
	l.nextPublished = make(chan struct{})
	l.mu.Unlock()
	return nil
}

// readBack adds the next n records of the store to the follower's tree. After an error it adds
// none: those that were read may be of a server that is no longer the primary.
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

// checkRecord returns [ErrCorrupt] unless the record has the wanted index and its own hash.
func checkRecord(index uint64, record []byte, hash tlog.Hash, want uint64) error {
	if index != want {
		return fmt.Errorf("%w: record %d is missing", ErrCorrupt, want)
	}
	if tlog.RecordHash(record) != hash {
		return fmt.Errorf("%w: record %d does not have its hash", ErrCorrupt, index)
	}
	return nil
}

// awaitPublished waits for a published checkpoint that covers the record at index. It returns
// [ErrNotPublished] after maxLag, or when ctx is done.
func (l *Log) awaitPublished(ctx context.Context, index uint64) (*published, error) {
	ctx, cancel := context.WithTimeout(ctx, maxLag)
	defer cancel()
	for {
		l.mu.Lock()
		next := l.nextPublished
		l.mu.Unlock()
		if p := l.published.Load(); index < p.Size {
			return p, nil
		}
		signal(l.follower.flush)
		select {
		case <-next:
		case <-l.failed:
			return nil, l.Err()
		case <-ctx.Done():
			return nil, ErrNotPublished
		}
	}
}
