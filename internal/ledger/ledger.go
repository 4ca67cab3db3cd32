// Package ledger is the tamper-evident log behind every audit id: records in one order, durable before anyone is told
// of them, under checkpoints that make every later change show.
//
// Callers hand entries to a [Log] and wait. One writer takes whatever has queued while the last commit ran, with no
// timer, and has the [Store] commit it in one transaction: the records, the hashes by which they join the Merkle tree,
// and the signed checkpoint of the tree. Only then do the callers go on, each with the index of its record. A store
// holds one engine's SQL and decides nothing: numbering, hashing and signing are done here, once for every engine.
// Several processes may append to one store; a batch goes in only where the log has the size that the batch continues.
//
// Behind the writer a follower reads every record back, from the store and not from memory, and grows a tree of its
// own. A checkpoint is published, and proofs refer to it, only once that tree has the signed root.
//
// The log fails closed. A commit that failed in a way that leaves open what is on disk is never tried again: every
// waiting caller gets an error, and so does everyone after them, until the process is started anew and reads what
// is really there. What is recovered from is a full disk, which changes nothing, and a lost connection to a database,
// which can be asked afterwards what it holds.
package ledger

import (
	"cmp"
	"context"
	"errors"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"
)

// Errors of a [Log] and of its [Store].
var (
	// ErrBusy is for an entry that found the queue full. Nothing was written.
	ErrBusy = errors.New("the queue of the ledger is full")
	// ErrClosed is for an entry that came after Close. Nothing was written.
	ErrClosed = errors.New("the ledger is closed")
	// ErrNoSpace is for a commit that found no space left. Nothing was written, and reads go on.
	ErrNoSpace = errors.New("the store has no space left")
	// ErrClaimed is for an entry that wants a claim which another record holds. Nothing was written. See [ClaimError].
	ErrClaimed = errors.New("another record holds the claim")
	// ErrPrecondition is for an entry that an earlier record of its reference rules out. Nothing was written.
	ErrPrecondition = errors.New("an earlier record of the reference rules this one out")
	// ErrTooLong is for a record that the log could not serve. Nothing was written.
	ErrTooLong = errors.New("the record is longer than a log entry can be")
	// ErrBroken is for everything after a commit that failed for another reason than space.
	ErrBroken = errors.New("the ledger failed and takes no more records")
	// ErrNotFound is for a record, or a part of the tree, that is not there.
	ErrNotFound = errors.New("no such record")
	// ErrNotPublished is for a record that no published checkpoint covers yet.
	ErrNotPublished = errors.New("the record is durable, and its checkpoint is not published yet")
	// ErrConflict is a store's answer to a batch for another size than the log has. Nothing was written.
	ErrConflict = errors.New("the log is not at the size that the batch continues")
	// ErrUnavailable is a store's answer when it cannot be reached. After an Append it is unknown whether the batch is
	// there; once the store can be reached again, reading tells.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrInUse is for a store that another process has, and that takes only one.
	ErrInUse = errors.New("another process is writing to this store")
	// ErrCorrupt is for a store whose content does not add up.
	ErrCorrupt = errors.New("the store does not hold what was signed")
)

// maxRecord is the longest record, in bytes: a log entry is served behind a length of 16 bits.
const maxRecord = 1<<16 - 1

// An Entry is what is kept of one event.
type Entry struct {
	ID        uuid.UUID
	Reference string  // the caller's name for the game and round, to find its records by; may be empty
	Claims    []Claim // what the entry takes
	Record    []byte  // the exact bytes, which are public; at most 65,535
	Sidecar    []byte  // the seed and what else is nobody's but the caller's; may be nil. A store has it encrypted

	// Conflicts reports whether an earlier record of the same reference rules the entry out; nil if none does. The store
	// does not see it.
	Conflicts func(earlier []byte) bool

	Hash tlog.Hash // the record's as a leaf of the tree; [Log.Append] sets it
}

// A Claim is a name that one record of the log holds at a time: that of a request which is answered once, or of something
// that goes from record to record. Of two entries that take a claim from the same holder, one gets in.
type Claim struct {
	Name   string
	Taken  bool   // it is taken from another record; otherwise nobody may hold it
	From   uint64 // the index of that record
	Status string // what some claims are listed by; empty for most, which costs nothing
	Due    int64  // when something is to be done about it, in microseconds since 1970; 0 for never
	Unchanged  bool   // status and due are as the record that it is taken from has them, so that a store need not write them
}

// A ClaimError is an [ErrClaimed] that says which claim.
type ClaimError struct{ Name string }

func (e *ClaimError) Error() string { return ErrClaimed.Error() + " " + e.Name }

// Unwrap returns [ErrClaimed].
func (e *ClaimError) Unwrap() error { return ErrClaimed }

// A ClaimQuery selects claims by the start of their names: all, those that are due by some time, or those that are never due
// and of a status.
type ClaimQuery struct {
	Prefix string
	After  string // only names behind this one, which has the prefix; empty for all
	DueBy  int64  // only claims that are due at this time; 0 for no such condition
	Done   bool   // only claims that are never due, and of the status
	Status string
	Limit  int
}

// Between returns what the names of the claims lie between, neither of which is a name.
func (q *ClaimQuery) Between() (after, before string) {
	return cmp.Or(q.After, q.Prefix), q.Prefix + string(unicode.MaxRune)
}

// A Stored entry has its place in the log.
type Stored struct {
	Index uint64
	Entry
}

// A Node is the hash over a complete subtree of 256^Level records, Level being at least 1. Those of level 0 are the
// hashes of the entries, and those between can be calculated.
type Node struct {
	Level int
	Index uint64 // counted in subtrees of this level
	Hash  tlog.Hash
}

// A Head is where the log has got to.
type Head struct {
	Size       uint64 // how many records there are
	Edge       []byte // hashes of the complete subtrees that the tree is made of, from the left, 32 bytes each
	Checkpoint []byte // the signed note of this size; empty in a store whose log has not begun
	SeedKey    []byte // names the key that secrets are encrypted under; empty as long as there is none
	SeedsFrom  uint64 // the first entry whose secret is encrypted; those before are from before there was a key
}

// A Batch is a run of entries with what they add to the tree. The first entry gets the index Size. A batch without
// entries begins a log: it signs a store that has no checkpoint.
type Batch struct {
	Size    uint64
	Entries []Entry
	Nodes   []Node
	Head    Head // after the batch
}

// A Store keeps entries in order, and the tree over them. It decides nothing: numbering, hashing, signing and what may
// be written belong to [Log]. All its methods may be called at the same time, but only one Append or AppendNext at a
// time. Each may fail with ErrUnavailable where the engine is one that is reached over a network.
type Store interface {
	// Head returns where the log has got to: what the last batch has said. It is the zero Head in a new store.
	Head(ctx context.Context) (Head, error)
	// Append adds the batch whole or not at all. Once it returns nil, the batch survives power loss. ErrConflict: the
	// log is not at batch.Size, or it has begun and the batch would begin it, or one of the ids is in it, or one of the
	// claims is not held by whom it is to be taken from;
	// ErrNoSpace: there is no room; in all these cases nothing changed. After any other error it is unknown whether
	// the batch is there. Nothing of the batch is kept when it returns, but in the store.
	Append(ctx context.Context, batch Batch) error
	// AppendNext has next make a batch from the head and appends it, with other processes kept out in between. Who was
	// second with Append gets in this way, however fast the others are. If next returns no batch, or an error, which is
	// passed on, nothing is written. Other errors are those of Append.
	AppendNext(ctx context.Context, next func(Head) (*Batch, error)) error
	// Hashes returns hashes of a level from an index on, at most n: of entries at level 0, of nodes above.
	Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error)
	// Records calls each for entries in log order from an index on, at most n, with what the tree is made of: the index, the
	// record, whose bytes are the store's again afterwards, and the hash. It passes on an error of each.
	Records(ctx context.Context, from uint64, n int, each func(index uint64, record []byte, hash tlog.Hash) error) error
	// Range returns entries in log order from an index on, at most n. Here and in what follows entries come without what
	// they took.
	Range(ctx context.Context, from uint64, n int) ([]Stored, error)
	// ByID and ByClaim return the one entry that has the id or holds the claim, or ErrNotFound. ByClaim adds the one claim.
	ByID(ctx context.Context, id uuid.UUID) (*Stored, error)
	ByClaim(ctx context.Context, claim string) (*Stored, error)
	// ByReference returns entries of a reference in log order, at most limit, from the index on.
	ByReference(ctx context.Context, reference string, from uint64, limit int) ([]Stored, error)
	// Claims returns claims by name, and CountClaims how many there are. They come without Taken and From.
	Claims(ctx context.Context, q ClaimQuery) ([]Claim, error)
	CountClaims(ctx context.Context, q ClaimQuery) (uint64, error)
	// Close releases the store. It is called once, after the last Append.
	Close() error
}

// AppendAlone is the AppendNext of a store that no other process writes to.
func AppendAlone(ctx context.Context, store Store, next func(Head) (*Batch, error)) error {
	head, err := store.Head(ctx)
	if err != nil {
		return err
	}
	batch, err := next(head)
	if err != nil || batch == nil {
		return err
	}
	return store.Append(ctx, *batch)
}

// FirstOf returns the first entry of a reference that the function picks, or [ErrNotFound].
func FirstOf(ctx context.Context, store Store, reference string, pick func(*Stored) bool) (*Stored, error) {
	const page = 100
	for from := uint64(0); ; {
		list, err := store.ByReference(ctx, reference, from, page)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if pick(&list[i]) {
				return &list[i], nil
			}
		}
		if len(list) < page {
			return nil, ErrNotFound
		}
		from = list[len(list)-1].Index + 1
	}
}

// First returns the first entry of those that were found, or [ErrNotFound].
func First(list []Stored, err error) (*Stored, error) {
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, ErrNotFound
	}
	return &list[0], nil
}
