package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

// tail is how many records are read back at start, at least: more than there can be between the last that were read back
// before a crash and the last that were committed, unless the disk was slower to read than to write.
const tail = 4096

// readAtOnce is how many records are read back in one go.
const readAtOnce = tileWidth

// followEvery is how often the follower looks for what other processes have appended.
const followEvery = time.Second

// gather is for how long after a commit the follower waits for others, unless somebody waits for it. A checkpoint costs the
// same to check and to publish over one commit and over many.
const gather = 20 * time.Millisecond

// behindFor is how long records may wait for being read back before the log says that it is not healthy.
const behindFor = 10 * time.Second

// A published checkpoint is one whose records have been read back.
type published struct {
	proof.Checkpoint
	text []byte
}

// A follower reads records back and publishes the checkpoints that they support.
type follower struct {
	tree   Tree          // over what has been read back
	wake   chan struct{} // something was committed
	hurry  chan struct{} // somebody waits for it
	cancel context.CancelFunc
	done   chan struct{} // closed when the follower has ended
}

// beginFollower sets the follower up shortly before the head, so that its cost does not grow with the log, and has it
// read what is left.
func (l *Log) beginFollower(ctx context.Context, c proof.Checkpoint) error {
	from := uint64(0)
	if c.Size > tail {
		from = (c.Size - tail) &^ (tileWidth - 1)
	}
	var err error
	if l.follower.tree, err = prefix(ctx, l.store, c, from); err != nil {
		return err
	}
	if err := l.follow(ctx); err != nil {
		return err
	}
	ctx, l.follower.cancel = context.WithCancel(context.Background())
	l.follower.wake, l.follower.hurry = make(chan struct{}, 1), make(chan struct{}, 1)
	l.follower.done = make(chan struct{})
	go l.keepFollowing(ctx)
	return nil
}

func (l *Log) keepFollowing(ctx context.Context) {
	defer close(l.follower.done)
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var gathered <-chan time.Time // nil as long as nothing was committed
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.failed:
			return
		case <-l.follower.wake:
			if gathered == nil {
				gathered = time.After(gather)
			}
			continue
		case <-gathered:
		case <-l.follower.hurry:
		case <-tick.C:
			if err := l.copy.sync(); err != nil {
				l.fail(err)
				return
			}
		}
		gathered = nil
		l.noteBehind(ctx, l.follow(ctx))
	}
}

// noteBehind takes note of how following went. A store that does not add up ends the log; one that cannot be read at the
// moment is tried again.
func (l *Log) noteBehind(ctx context.Context, err error) {
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
		l.behind, l.unread = time.Time{}, nil
	case l.behind.IsZero():
		l.behind, l.unread = l.options.Now(), err
	}
}

// follow reads back what has been committed since it last did, and publishes the checkpoint.
func (l *Log) follow(ctx context.Context) error {
	head, err := l.store.Head(ctx)
	if err != nil {
		return err
	}
	if p := l.published.Load(); p != nil && string(p.text) == string(head.Checkpoint) {
		return nil
	}
	c, err := proof.OpenCheckpoint(head.Checkpoint, l.key.Verifier)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if c.Size < l.follower.tree.Size() {
		return fmt.Errorf("%w: it has gone back from %d records to %d", ErrCorrupt, l.follower.tree.Size(), c.Size)
	}
	for l.follower.tree.Size() < c.Size {
		if err := l.readBack(ctx, min(readAtOnce, int(c.Size-l.follower.tree.Size()))); err != nil {
			return err
		}
	}
	root, err := l.follower.tree.Root()
	if err != nil {
		return err
	}
	if root != c.Root {
		return fmt.Errorf("%w: the %d records have the root %s, and %s was signed", ErrCorrupt, c.Size, root, c.Root)
	}
	// What others are shown has to be known here after a restart, also where another process has signed it.
	if err := l.copy.write(c.Size, head.Checkpoint); err != nil {
		return err
	}
	l.publish(&published{Checkpoint: c, text: head.Checkpoint})
	return nil
}

// readBack reads the next n records.
func (l *Log) readBack(ctx context.Context, n int) error {
	from := l.follower.tree.Size()
	err := l.store.Records(ctx, from, n, func(index uint64, record []byte, hash tlog.Hash) error {
		if err := intact(index, record, hash, l.follower.tree.Size()); err != nil {
			return err
		}
		l.follower.tree.Add(hash, nil)
		return nil
	})
	if err == nil && l.follower.tree.Size() != from+uint64(n) {
		return fmt.Errorf("%w: of %d records from %d on there are %d", ErrCorrupt, n, from, l.follower.tree.Size()-from)
	}
	return err
}

// intact checks that a record is the one wanted and that it has its hash.
func intact(index uint64, record []byte, hash tlog.Hash, want uint64) error {
	if index != want {
		return fmt.Errorf("%w: record %d is missing", ErrCorrupt, want)
	}
	if tlog.RecordHash(record) != hash {
		return fmt.Errorf("%w: record %d does not have its hash", ErrCorrupt, index)
	}
	return nil
}

func (l *Log) publish(p *published) {
	l.published.Store(p)
	l.mu.Lock()
	close(l.news)
	l.news = make(chan struct{})
	l.mu.Unlock()
}

// awaitPublished returns a published checkpoint that covers the index, which is that of a record.
func (l *Log) awaitPublished(ctx context.Context, index uint64) (*published, error) {
	ctx, cancel := context.WithTimeout(ctx, behindFor)
	defer cancel()
	for {
		l.mu.Lock()
		news := l.news
		l.mu.Unlock()
		if p := l.published.Load(); index < p.Size {
			return p, nil
		}
		wakeUp(l.follower.hurry)
		select {
		case <-news:
		case <-l.failed:
			return nil, l.Err()
		case <-ctx.Done():
			return nil, ErrNotPublished
		}
	}
}

// wakeUp tells a goroutine that there is something to do, if it has not been told already.
func wakeUp(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
