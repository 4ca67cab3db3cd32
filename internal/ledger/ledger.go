// Package ledger is the log behind every audit id: records in one order, durable before anyone is told of them.
//
// Callers hand entries to a [Log] and wait. One writer takes whatever has queued while the last commit ran, with no
// timer, numbers it and has the [Store] commit it in one transaction; only then do the callers go on, each with the
// index of its record. A store holds one engine's SQL and decides nothing.
//
// The log fails closed. A commit that failed in a way that leaves open what is on disk is never tried again: every
// waiting caller gets an error, and so does everyone after them, until the process is started anew and reads what
// is really there. Only a full disk, which changes nothing, is something to recover from.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Errors of a [Log] and of its [Store].
var (
	// ErrBusy is for an entry that found the queue full. Nothing was written.
	ErrBusy = errors.New("the queue of the ledger is full")
	// ErrClosed is for an entry that came after Close. Nothing was written.
	ErrClosed = errors.New("the ledger is closed")
	// ErrNoSpace is for a commit that found no space left. Nothing was written, and reads go on.
	ErrNoSpace = errors.New("the store has no space left")
	// ErrClaimed is for an entry whose claim an earlier record holds. Nothing was written.
	ErrClaimed = errors.New("another record holds the claim")
	// ErrBroken is for everything after a commit that failed for another reason than space.
	ErrBroken = errors.New("the ledger failed and takes no more records")
	// ErrNotFound is for a record that is not in the store.
	ErrNotFound = errors.New("no such record")
	// ErrConflict is a store's answer to a batch for another size than the log has. Nothing was written.
	ErrConflict = errors.New("the log is not at the size that the batch continues")
)

// An Entry is what is kept of one event.
type Entry struct {
	ID        uuid.UUID
	Reference string // the caller's name for the game and round, to find its records by; may be empty
	Claim     string // at most one record of the log holds a claim; empty for none
	Record    []byte // the exact bytes, which are public
	Secret    []byte // the seed; kept beside the record and shown by nobody's leave but the caller's; may be nil
}

// A Stored entry has its place in the log.
type Stored struct {
	Index uint64
	Entry
}

// A Batch is a run of entries; the first gets the index Size.
type Batch struct {
	Size    uint64
	Entries []Entry
}

// A Store keeps entries in order. It decides nothing: numbering and what may be written belong to [Log]. All its
// methods may be called at the same time, but only one Append at a time.
type Store interface {
	// Size returns how many entries there are.
	Size(ctx context.Context) (uint64, error)
	// Append adds the batch whole or not at all. Once it returns nil, the batch survives power loss. ErrConflict: the
	// log is not at batch.Size; ErrNoSpace: there is no room; in both cases nothing changed. After any other error it
	// is unknown whether the batch is there. Nothing of the batch is kept when it returns, but in the store.
	Append(ctx context.Context, batch Batch) error
	// ByID and ByClaim return the one entry that has the id or holds the claim, or ErrNotFound.
	ByID(ctx context.Context, id uuid.UUID) (*Stored, error)
	ByClaim(ctx context.Context, claim string) (*Stored, error)
	// ByReference returns entries of a reference in log order, at most limit, from the index on.
	ByReference(ctx context.Context, reference string, from uint64, limit int) ([]Stored, error)
	// Close releases the store. It is called once, after the last Append.
	Close() error
}

// A Commit is what an observer learns of a batch.
type Commit struct {
	Records  int
	Duration time.Duration
	Err      error
}

// Options of a log. The zero value of a field stands for its default.
type Options struct {
	Queue   int              // how many entries may wait for the next commit; 4,096
	Observe func(Commit)     // called by the writer after each commit; may be nil
	Now     func() time.Time // time.Now
}

// slowCommit is how long a commit may run before the log says that it is not healthy.
const slowCommit = time.Second

// spaceRecheck is for how long after a full disk the log says that it is not healthy. Afterwards it asks for traffic
// again, since only a commit shows whether there is space.
const spaceRecheck = 5 * time.Second

// A Log appends entries to a store. Its methods may be called at the same time.
type Log struct {
	store   Store
	options Options
	size    uint64 // of the log; the writer's alone

	wake   chan struct{} // tells the writer that the queue is no longer empty
	failed chan struct{} // closed when the log breaks
	done   chan struct{} // closed when the writer has ended

	mu      sync.Mutex
	queue   *batch    // what the next commit takes
	closed  bool      // no more entries are taken
	broken  error     // why the log takes nothing any more
	began   time.Time // when the running commit began; zero between commits
	noSpace time.Time // when a commit last found no space; zero after one that did
}

// A batch is what callers of one commit share.
type batch struct {
	entries []Entry
	done    chan struct{} // closed once the outcome below stands
	first   uint64        // the index of the first entry that was written
	err     error         // of the whole batch
	claimed map[int]bool  // entries that were left out because their claim is taken; nil for none
}

// Open starts the log on a store and takes the store over: the log's Close closes it.
func Open(ctx context.Context, store Store, options Options) (*Log, error) {
	if options.Queue == 0 {
		options.Queue = 4096
	}
	if options.Observe == nil {
		options.Observe = func(Commit) {}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	size, err := store.Size(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the size of the log: %w", err)
	}
	l := &Log{
		store: store, options: options, size: size,
		wake: make(chan struct{}, 1), failed: make(chan struct{}), done: make(chan struct{}),
		queue: newBatch(),
	}
	go l.write()
	return l, nil
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// Append writes the entry and returns its index once it survives power loss. It does not end before the outcome is
// known, which a full queue (ErrBusy) is at once; afterwards the entry's bytes are the caller's again. Other errors are ErrClosed, ErrNoSpace, ErrClaimed and ErrBroken.
func (l *Log) Append(e Entry) (uint64, error) {
	b, place, err := l.enqueue(e)
	if err != nil {
		return 0, err
	}
	<-b.done
	switch {
	case b.err != nil:
		return 0, b.err
	case b.claimed[place]:
		return 0, ErrClaimed
	}
	index := b.first + uint64(place)
	for left := range b.claimed {
		if left < place {
			index--
		}
	}
	return index, nil
}

func (l *Log) enqueue(e Entry) (*batch, int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.broken != nil:
		return nil, 0, l.broken
	case l.closed:
		return nil, 0, ErrClosed
	case len(l.queue.entries) >= l.options.Queue:
		return nil, 0, ErrBusy
	}
	b, place := l.queue, len(l.queue.entries)
	b.entries = append(b.entries, e)
	if place == 0 {
		l.wake <- struct{}{}
	}
	return b, place, nil
}

// write is the writer: it commits what has queued until the log is closed and empty, or broken.
func (l *Log) write() {
	defer close(l.done)
	for range l.wake {
		// Whoever is about to append does so first and shares the commit. When nobody is, this takes no time.
		runtime.Gosched()
		if b := l.take(); len(b.entries) > 0 {
			l.commit(b)
			l.settle(b)
		}
		if l.ended() {
			return
		}
	}
}

// ended reports whether the writer has nothing more to do, ever.
func (l *Log) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken != nil || l.closed && len(l.queue.entries) == 0
}

// take takes the queue over.
func (l *Log) take() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.queue
	l.queue = newBatch()
	l.queue.entries = make([]Entry, 0, len(b.entries))
	l.began = l.options.Now()
	return b
}

// commit has the store append the batch and notes the outcome in it. It is not given up when a caller leaves.
func (l *Log) commit(b *batch) {
	ctx := context.Background()
	began := l.options.Now()
	entries := b.entries
	if b.claimed, b.err = l.takenClaims(ctx, b.entries); b.err == nil && len(b.claimed) > 0 {
		entries = make([]Entry, 0, len(b.entries))
		for i, e := range b.entries {
			if !b.claimed[i] {
				entries = append(entries, e)
			}
		}
	}
	b.first = l.size
	if b.err == nil && len(entries) > 0 {
		b.err = l.store.Append(ctx, Batch{Size: l.size, Entries: entries})
	}
	if b.err == nil {
		l.size += uint64(len(entries))
	}
	l.options.Observe(Commit{Records: len(entries), Duration: l.options.Now().Sub(began), Err: b.err})
}

// takenClaims returns the places of entries whose claim is held by a record of the log or by an entry before them.
// The answer stands until the log grows, and only this writer makes it grow.
func (l *Log) takenClaims(ctx context.Context, entries []Entry) (map[int]bool, error) {
	var taken map[int]bool
	var claims map[string]bool
	for i, e := range entries {
		if e.Claim == "" {
			continue
		}
		_, err := l.store.ByClaim(ctx, e.Claim)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("looking up a claim: %w", err)
		}
		if err == nil || claims[e.Claim] {
			if taken == nil {
				taken = make(map[int]bool)
			}
			taken[i] = true
		}
		if claims == nil {
			claims = make(map[string]bool)
		}
		claims[e.Claim] = true
	}
	return taken, nil
}

// settle makes the outcome known, first to the log and then to the batch's callers.
func (l *Log) settle(b *batch) {
	l.mu.Lock()
	l.began = time.Time{}
	switch {
	case b.err == nil:
		l.noSpace = time.Time{}
	case errors.Is(b.err, ErrNoSpace):
		l.noSpace = l.options.Now()
	default:
		b.err = fmt.Errorf("%w: %w", ErrBroken, b.err)
		l.broken = b.err
		l.queue.err = b.err
		close(l.queue.done)
		close(l.failed)
	}
	l.mu.Unlock()
	close(b.done)
}

// Store returns the store, for reading.
func (l *Log) Store() Store { return l.store }

// Failed returns a channel that is closed when the log breaks. The process should then end: see [Log.Err].
func (l *Log) Failed() <-chan struct{} { return l.failed }

// Err returns why the log broke, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// Queued returns how many entries wait for the next commit, and how many may.
func (l *Log) Queued() (depth, capacity int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue.entries), l.options.Queue
}

// Health returns nil if an entry that came now would be committed in good time, and otherwise what is in its way.
func (l *Log) Health() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.options.Now()
	switch {
	case l.broken != nil:
		return l.broken
	case l.closed:
		return ErrClosed
	case len(l.queue.entries) >= l.options.Queue:
		return ErrBusy
	case !l.began.IsZero() && now.Sub(l.began) > slowCommit:
		return fmt.Errorf("a commit has been running for more than %s", slowCommit)
	case !l.noSpace.IsZero() && now.Sub(l.noSpace) < spaceRecheck:
		return ErrNoSpace
	}
	return nil
}

// Close takes no more entries, commits those that wait, and closes the store.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	l.closed = true
	if len(l.queue.entries) == 0 {
		l.wake <- struct{}{} // a queue that is not empty has woken the writer already
	}
	l.mu.Unlock()
	<-l.done
	return l.store.Close()
}
