package ledger

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// A Log appends entries to a store and reads them back. Its methods may be called concurrently.
type Log struct {
	store      Reader
	writer     Store // the same store; nil if readOnly
	readOnly   bool  // the log is one head: see OpenReadOnly
	options    Options
	key        *SigningKey
	vault      *Vault
	checkpoint *checkpointFile
	readers    *readers // for callers; the log itself reads from store directly
	tree       Tree     // of the durable head; used only by the writer

	durable   atomic.Pointer[Head] // a failover loses nothing up to here; see Store.Confirm
	published atomic.Pointer[published]
	witnessed atomic.Pointer[published] // cosigned by enough witnesses; nil if none is asked, of no size until they did
	follower  follower

	wake   chan struct{}  // tells the writer to look at queue, nextDurable and closed
	failed chan struct{}  // closed when the log breaks
	done   chan struct{}  // closed when the writer has ended
	guards sync.WaitGroup // of the goroutine that checks files, and the follower

	mu            sync.Mutex
	queue         *batch        // entries for the next commit
	closed        bool          // entries are rejected
	broken        error         // why the log broke; nil if it did not
	commitBegan   time.Time     // when the commit in flight began, or zero
	noSpaceAt     time.Time     // when the last commit found no space, or zero
	unreadSince   time.Time     // when reading back began to fail, or zero
	unreadErr     error         // why it fails
	outage        bool          // the commit in flight has waited longer than queueTimeout
	nextDurable   chan struct{} // closed when durable is set; nil if nobody waits for that
	nextPublished chan struct{} // closed and replaced when a checkpoint is published
}

// A batch is the entries of one commit and its outcome.
type batch struct {
	entries []Entry

	done     chan struct{} // closed when the following fields are final
	err      error         // of the whole batch
	first    uint64        // index of the first written entry
	rejected map[int]error // by position in entries; nil for none
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// result returns the index of the entry at a position, or the reason why it has none.
func (b *batch) result(place int) (uint64, error) {
	if b.err != nil {
		return 0, b.err
	}
	if err := b.rejected[place]; err != nil {
		return 0, err
	}
	index := b.first
	for p := range place {
		if b.rejected[p] == nil {
			index++
		}
	}
	return index, nil
}

// Append writes the entry and returns its index once the record is durable. It cannot be canceled:
// it returns when the outcome is known. Then the caller may reuse the entry's bytes.
//
// ErrBusy and ErrReadOnly are returned immediately. After ErrUnavailable nothing was written. Other
// errors are ErrClosed, ErrNoSpace, ErrClaimed, [*NotUniqueError], ErrTooLong and ErrBroken.
func (l *Log) Append(e Entry) (uint64, error) {
	if len(e.Record) > maxRecord {
		return 0, ErrTooLong
	}
	e.Hash = tlog.RecordHash(e.Record)
	e.Sidecar = l.vault.encrypt(e.Hash, e.Sidecar)
	b, place, err := l.enqueue(e)
	if err != nil {
		return 0, err
	}
	<-b.done
	return b.result(place)
}

// enqueue adds the entry to the next batch and returns its position.
func (l *Log) enqueue(e Entry) (b *batch, place int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.broken != nil:
		return nil, 0, l.broken
	case l.closed:
		return nil, 0, ErrClosed
	case l.readOnly:
		return nil, 0, ErrReadOnly
	case len(l.queue.entries) >= l.options.Queue:
		return nil, 0, ErrBusy
	case l.outage:
		return nil, 0, errOutage
	}
	b, place = l.queue, len(l.queue.entries)
	b.entries = append(b.entries, e)
	if place == 0 {
		signal(l.wake)
	}
	return b, place, nil
}

// write is the writer's goroutine. It commits queued entries, and confirms the head if a caller
// waits for that, until the log breaks or is closed with an empty queue.
func (l *Log) write() {
	defer close(l.done)
	for range l.wake {
		// Let callers that are about to append share the commit. Without such callers this takes no
		// time.
		runtime.Gosched()
		if b := l.dequeue(); len(b.entries) > 0 {
			l.commit(b)
			l.finish(b)
		} else {
			l.confirmForWaiters()
		}
		if l.finished() {
			return
		}
	}
}

func (l *Log) dequeue() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.queue
	l.queue = newBatch()
	if len(b.entries) > 0 {
		l.commitBegan = time.Now()
	}
	return b
}

// finish applies a commit's outcome to the log and then wakes the batch's callers.
func (l *Log) finish(b *batch) {
	l.mu.Lock()
	l.commitBegan, l.outage = time.Time{}, false
	switch {
	case b.err == nil:
		l.noSpaceAt = time.Time{}
	case errors.Is(b.err, ErrNoSpace):
		l.noSpaceAt = time.Now()
	default:
		b.err = l.failLocked(b.err)
	}
	l.mu.Unlock()
	close(b.done)
}

func (l *Log) finished() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken != nil || l.closed && len(l.queue.entries) == 0
}

func (l *Log) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.failLocked(err)
}

// failLocked breaks the log and returns the error for all waiting and later callers. l.mu must be
// held.
func (l *Log) failLocked(err error) error {
	if l.broken != nil {
		return l.broken
	}
	if lost := l.checkFiles(); lost != nil { // the likely cause of other errors
		err = lost
	}
	l.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	l.queue.err = l.broken
	close(l.queue.done)
	l.queue = newBatch()
	close(l.failed)
	signal(l.wake)
	return l.broken
}

// Failed returns a channel that is closed when the log breaks. The process should then end: see
// [Log.Err].
func (l *Log) Failed() <-chan struct{} { return l.failed }

// Err returns why the log broke, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// Close rejects further entries, commits the queued ones, and closes the store.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	l.closed = true
	l.mu.Unlock()
	if l.readOnly {
		return l.store.Close()
	}
	signal(l.wake)
	<-l.done
	l.follower.cancel()
	l.guards.Wait()
	return errors.Join(l.checkpoint.close(), l.store.Close())
}

// signal wakes the receiver of a channel of capacity 1. Unreceived signals merge.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// slowCommit is the time that a commit may be in flight before the log is unhealthy.
const slowCommit = time.Second

// spaceRecheck is the time that the log stays unhealthy after ErrNoSpace. Then traffic may return:
// with a quota or a database, only a commit can tell whether there is space.
const spaceRecheck = 5 * time.Second

// Queued returns the number of queued entries and the capacity of the queue.
func (l *Log) Queued() (depth, capacity int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue.entries), l.options.Queue
}

// Health returns nil if the log would commit a new entry soon, or the reason why not.
func (l *Log) Health() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case l.broken != nil:
		return l.broken
	case l.closed:
		return ErrClosed
	case l.readOnly:
		return nil
	case len(l.queue.entries) >= l.options.Queue:
		return ErrBusy
	case !l.commitBegan.IsZero() && now.Sub(l.commitBegan) > slowCommit:
		return fmt.Errorf("a commit has been running for more than %s", slowCommit)
	case !l.noSpaceAt.IsZero() && now.Sub(l.noSpaceAt) < spaceRecheck:
		return ErrNoSpace
	case !l.unreadSince.IsZero() && now.Sub(l.unreadSince) > maxLag:
		return fmt.Errorf("records have not been read back for more than %s: %w", maxLag, l.unreadErr)
	}
	return l.writer.CheckRoom()
}
