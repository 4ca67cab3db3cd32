package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"
)

// A Commit is what an observer learns of a batch.
type Commit struct {
	Records   int
	Conflicts int // how often another process was first, and the batch was sealed anew
	Duration  time.Duration
	Err       error
}

// Options of a log. The zero value of a field stands for its default.
type Options struct {
	Folder  string // where the second copy of the last checkpoint is; it has to be there, and is for one process alone
	KeyFile string // the private key of the log; made with the log, if it is not there; log.key in the folder
	Origin  string // the name of the log, and of a key that is made; riffle/ and random digits

	SeedKey     []byte // encrypts what is kept beside the records, 32 bytes; that of the file if nil
	SeedKeyFile string // made if it is not there and the store has nothing encrypted; seed.key beside KeyFile

	Queue    int              // how many entries may wait for the next commit; 4,096
	Patience time.Duration    // for how long a store is waited for that was lost in the middle of a commit; 30 s
	Observe  func(Commit)     // called by the writer after each commit; may be nil
	Now      func() time.Time // time.Now
	Random   io.Reader        // for a key; crypto/rand.Reader
}

// Names of files in the folder of a log.
const (
	KeyName     = "log.key"
	SeedKeyName = "seed.key"
	CopyName    = "checkpoint"
)

// slowCommit is how long a commit may run before the log says that it is not healthy.
const slowCommit = time.Second

// spaceRecheck is for how long after a full disk the log says that it is not healthy. Afterwards it asks for traffic
// again, since only a commit shows whether there is space.
const spaceRecheck = 5 * time.Second

// A Log appends entries to a store. Its methods may be called at the same time.
type Log struct {
	store   Store
	options Options
	key     *Key
	copy    *secondCopy
	tree    Tree // over what is committed; the writer's alone
	vault   *Vault

	committed atomic.Uint64 // the size of tree
	published atomic.Pointer[published]
	follower  follower

	spare  []Entry       // room for the entries of a queue; the writer's alone
	wake   chan struct{} // tells the writer that the queue is no longer empty
	failed chan struct{} // closed when the log breaks
	done   chan struct{} // closed when the writer has ended

	mu      sync.Mutex
	queue   *batch        // what the next commit takes
	closed  bool          // no more entries are taken
	broken  error         // why the log takes nothing any more
	began   time.Time     // when the running commit began; zero between commits
	noSpace time.Time     // when a commit last found no space; zero after one that did
	behind  time.Time     // since when records cannot be read back; zero if they can
	unread  error         // why they cannot
	news    chan struct{} // closed when a checkpoint is published
}

// A batch is what callers of one commit share.
type batch struct {
	entries []Entry
	done    chan struct{} // closed once the outcome below stands
	first   uint64        // the index of the first entry that was written
	err     error         // of the whole batch
	left    map[int]error // entries that were left out, and why; nil for none
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// Append writes the entry and returns its index once it survives power loss. It does not end before the outcome is
// known, which a full queue (ErrBusy) is at once; afterwards the entry's bytes are the caller's again. Other errors are
// ErrClosed, ErrNoSpace, ErrClaimed, ErrPreceded, ErrTooLong and ErrBroken.
func (l *Log) Append(e Entry) (uint64, error) {
	if len(e.Record) > maxRecord {
		return 0, ErrTooLong
	}
	e.Hash = tlog.RecordHash(e.Record)
	e.Sidecar = l.vault.seal(e.Hash, e.Sidecar)
	b, place, err := l.enqueue(e)
	if err != nil {
		return 0, err
	}
	<-b.done
	if b.err != nil {
		return 0, b.err
	}
	if err := b.left[place]; err != nil {
		return 0, err
	}
	index := b.first + uint64(place)
	for left := range b.left {
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
		wakeUp(l.wake)
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
			clear(b.entries)
			b.entries, l.spare = nil, b.entries[:0]
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
	l.queue.entries, l.spare = l.spare, nil
	if len(b.entries) > 0 {
		l.began = l.options.Now()
	}
	return b
}

// commit has the store append the batch and notes the outcome in it. It is not given up when a caller leaves.
func (l *Log) commit(b *batch) {
	c := Commit{}
	began := l.options.Now()
	c.Records, c.Conflicts, b.err = l.append(context.Background(), b)
	if b.err == nil {
		wakeUp(l.follower.wake)
	}
	c.Duration, c.Err = l.options.Now().Sub(began), b.err
	l.options.Observe(c)
}

// append seals the batch and has it stored. Where another process was first, or a claim is not free, that is done once
// more with the others kept out and the claims looked up. Of a connection that was lost in the middle the store is asked
// afterwards, by id: either the batch is there, or it can go in again, for two attempts at one size cannot both succeed,
// and neither can two with one id.
func (l *Log) append(ctx context.Context, b *batch) (records, conflicts int, err error) {
	deadline := l.options.Now().Add(l.options.Patience)
	lost := false // whether the outcome of an attempt is not known
	pause := 10 * time.Millisecond
	for {
		entries, err := l.attempt(ctx, b, conflicts > 0)
		switch {
		case err == nil:
			return len(entries), conflicts, nil
		case errors.Is(err, ErrUnavailable) && l.options.Now().Before(deadline):
			lost = true
		// A conflict with the others kept out is one with nobody: an id is in the log twice. After an attempt of unknown
		// outcome it may be with that.
		case errors.Is(err, ErrConflict) && (conflicts == 0 || lost && l.options.Now().Before(deadline)):
			conflicts++
		case lost:
			return 0, conflicts, fmt.Errorf("an attempt of unknown outcome was followed by this: %s", err.Error()) // not wrapped: that nothing was written is not known
		default:
			return 0, conflicts, err
		}
		if !lost {
			continue
		}
		time.Sleep(pause) // a store may be there to be read and not to be written
		pause = min(2*pause, time.Second)
		if err := l.refresh(ctx, deadline); err != nil {
			return 0, conflicts, err
		}
		if len(entries) > 0 {
			if arrived, err := l.arrived(ctx, b, entries[0].ID); arrived || err != nil {
				return len(entries), conflicts, err
			}
		}
	}
}

// attempt seals the entries of the batch that can be written, and has them stored: right away, as if no claim were taken,
// which the store would tell; or with other processes kept out. It returns the entries, as far as it has come to them.
func (l *Log) attempt(ctx context.Context, b *batch, alone bool) (entries []Entry, err error) {
	next := l.tree
	var sealed Batch
	seal := func() error {
		var err error
		b.first = l.tree.Size()
		if entries, err = l.admit(ctx, b, alone); err == nil && len(entries) > 0 {
			next = l.tree
			sealed, err = next.Seal(entries, l.key)
			l.vault.mark(&sealed.Head)
		}
		return err
	}
	if alone {
		err = l.store.AppendNext(ctx, func(head Head) (*Batch, error) {
			if err := l.catchUp(head); err != nil {
				return nil, err
			}
			if err := seal(); err != nil || len(entries) == 0 {
				return nil, err
			}
			return &sealed, nil
		})
	} else if err = seal(); err == nil && len(entries) > 0 {
		err = l.store.Append(ctx, sealed)
	}
	if err != nil || len(entries) == 0 {
		return entries, err
	}
	return entries, l.advance(next, sealed.Head)
}

// arrived reports whether the store has the batch after all, of which the id is the first.
func (l *Log) arrived(ctx context.Context, b *batch, first uuid.UUID) (bool, error) {
	found, err := l.store.ByID(ctx, first)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnavailable) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	b.first = found.Index
	return true, nil
}

// advance takes note of a batch that was stored.
func (l *Log) advance(tree Tree, head Head) error {
	l.tree = tree
	l.committed.Store(tree.Size())
	return l.copy.write(tree.Size(), head.Checkpoint)
}

// refresh learns where other processes have taken the log. A store that cannot be reached is waited for.
func (l *Log) refresh(ctx context.Context, deadline time.Time) error {
	pause := 10 * time.Millisecond
	head, err := l.store.Head(ctx)
	for errors.Is(err, ErrUnavailable) && l.options.Now().Before(deadline) {
		time.Sleep(pause)
		pause = min(2*pause, time.Second)
		head, err = l.store.Head(ctx)
	}
	if err != nil {
		return err
	}
	return l.catchUp(head)
}

// catchUp takes the log to where the store has it.
func (l *Log) catchUp(head Head) error {
	tree, c, err := openHead(head, l.key.Verifier)
	if err != nil {
		return err
	}
	if c.Size < l.tree.Size() {
		return fmt.Errorf("%w: it has gone back from %d records to %d", ErrCorrupt, l.tree.Size(), c.Size)
	}
	if err := l.vault.follow(head); err != nil {
		return err
	}
	return l.advance(tree, head)
}

// admit returns the entries of the batch that can be written, and notes the others in it. Whether claims are free is left
// to the store unless they are to be looked up. The answer stands until the log grows, which a batch that goes by it then
// conflicts with.
func (l *Log) admit(ctx context.Context, b *batch, lookUp bool) ([]Entry, error) {
	b.left = nil
	taken := map[string]bool{} // claims of this batch
	for i := range b.entries {
		e := &b.entries[i]
		if e.Conflicts == nil && (len(e.Claims) == 0 || !lookUp) {
			continue
		}
		err := l.preceded(ctx, b, i)
		if err == nil && lookUp {
			err = l.claim(ctx, e, taken)
		}
		if errors.Is(err, ErrClaimed) || errors.Is(err, ErrPrecondition) {
			if b.left == nil {
				b.left = map[int]error{}
			}
			b.left[i] = err
		} else if err != nil {
			return nil, err
		}
	}
	if len(b.left) == 0 {
		return b.entries, nil
	}
	var entries []Entry
	for i, e := range b.entries {
		if b.left[i] == nil {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// claim returns [ErrClaimed] unless all the claims of the entry are held by whom they are to be taken from. Those that an
// entry before it in the batch has taken are not.
func (l *Log) claim(ctx context.Context, e *Entry, taken map[string]bool) error {
	for _, c := range e.Claims {
		if taken[c.Name] {
			return &ClaimError{c.Name}
		}
		holder, err := l.store.ByClaim(ctx, c.Name)
		free := !c.Taken
		switch {
		case err == nil:
			// An entry may be its own holder: an attempt that was given up for lost was not.
			free = holder.ID == e.ID || c.Taken && holder.Index == c.From
		case !errors.Is(err, ErrNotFound):
			return fmt.Errorf("looking up a claim: %w", err)
		}
		if !free {
			return &ClaimError{c.Name}
		}
	}
	for _, c := range e.Claims {
		taken[c.Name] = true
	}
	return nil
}

// preceded returns [ErrPrecondition] if a record of the log, or one before it in the batch, rules out the entry at this place.
func (l *Log) preceded(ctx context.Context, b *batch, place int) error {
	e := &b.entries[place]
	if e.Conflicts == nil {
		return nil
	}
	for i := range b.entries[:place] {
		if before := &b.entries[i]; b.left[i] == nil && before.Reference == e.Reference && e.Conflicts(before.Record) {
			return ErrPrecondition
		}
	}
	_, err := FirstOf(ctx, l.store, e.Reference, func(s *Stored) bool { return s.ID != e.ID && e.Conflicts(s.Record) })
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("looking up a reference: %w", err)
	}
	return ErrPrecondition
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
		b.err = l.breakDown(b.err)
	}
	l.mu.Unlock()
	close(b.done)
}

// fail ends the log for a reason that is found outside of a commit.
func (l *Log) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.breakDown(err)
}

// breakDown ends the log: whoever waits or comes gets the error that it returns. l.mu is held.
func (l *Log) breakDown(err error) error {
	if l.broken != nil {
		return l.broken
	}
	l.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	l.queue.err = l.broken
	close(l.queue.done)
	l.queue = newBatch()
	close(l.failed)
	wakeUp(l.wake)
	return l.broken
}

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
	case !l.behind.IsZero() && now.Sub(l.behind) > behindFor:
		return fmt.Errorf("records have not been read back for more than %s: %w", behindFor, l.unread)
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
	l.mu.Unlock()
	wakeUp(l.wake)
	<-l.done
	l.follower.cancel()
	<-l.follower.done
	return errors.Join(l.copy.close(), l.store.Close())
}
