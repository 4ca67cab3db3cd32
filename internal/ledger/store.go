package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"
)

// maxRecord is the maximum length of a record in bytes, which an entry bundle stores in 16 bits.
const maxRecord = 1<<16 - 1

// An Entry is one record with the data stored beside it.
type Entry struct {
	ID        uuid.UUID
	Reference string  // the caller's name for the game and round; may be empty
	Claims    []Claim // to acquire with the record
	Record    []byte  // public; at most 65,535 bytes
	Sidecar   []byte  // the seed and other private data; may be nil. Stores get it encrypted

	// Unique rejects the entry with a [NotUniqueError] if another entry has its reference. Besides
	// is the id of one exception, or [uuid.Nil]. Stores ignore both.
	Unique  bool
	Besides uuid.UUID

	// Context is the request's, for stores that trace requests. It cancels nothing, and may be nil.
	Context context.Context

	Hash tlog.Hash // leaf hash of the record in the tree; set by [Log.Append]
}

// A Claim is a unique name that at most one record holds: an idempotency key, say, or an object
// whose latest state its holder has. If two entries transfer a claim from the same holder, one
// succeeds.
type Claim struct {
	Name   string
	Taken  bool   // transfer the claim from record From; otherwise it must be new
	From   uint64 // index of the current holder; used only with Taken
	Status string // to list claims by; usually empty, which uses no space
	Due    int64  // when the holder needs attention, in microseconds since 1970; 0 for never

	// Unchanged says that Status and Due equal the stored ones, so that a store can skip their
	// indexes. Used only with Taken.
	Unchanged bool
}

// A ClaimError is an [ErrClaimed] with the claim's name.
type ClaimError struct{ Name string }

func (e *ClaimError) Error() string { return ErrClaimed.Error() + " " + e.Name }

// Unwrap returns [ErrClaimed].
func (e *ClaimError) Unwrap() error { return ErrClaimed }

// A NotUniqueError rejects an entry whose reference must be unique.
type NotUniqueError struct{ First uuid.UUID } // first other entry of the reference

func (e *NotUniqueError) Error() string {
	return fmt.Sprintf("the reference has the record %s", e.First)
}

// A ClaimQuery selects claims by a name prefix and at most one other condition: DueBy, or Done with
// Status.
type ClaimQuery struct {
	Prefix string
	After  string // only names that sort after this one; empty for all
	DueBy  int64  // only claims with a Due up to this time; 0 for all
	Done   bool   // only claims without a Due whose status is Status
	Status string
	Limit  int // of the list; CountClaims ignores it
}

// NameBounds returns the exclusive bounds of the selected names.
func (q *ClaimQuery) NameBounds() (after, before string) {
	return cmp.Or(q.After, q.Prefix), q.Prefix + string(unicode.MaxRune)
}

// An EntryQuery selects entries. It is made by [ByID], [ByClaim], [ByReference] or [Range].
type EntryQuery struct {
	By    string // the name of the function
	ID    uuid.UUID
	Name  string // the claim or the reference
	From  uint64
	Limit int
}

// ByID selects the entry with an id.
func ByID(id uuid.UUID) EntryQuery { return EntryQuery{By: "ByID", ID: id} }

// ByClaim selects the holder of a claim.
func ByClaim(name string) EntryQuery { return EntryQuery{By: "ByClaim", Name: name} }

// ByReference selects at most limit entries of a reference, from an index on.
func ByReference(reference string, from uint64, limit int) EntryQuery {
	return EntryQuery{By: "ByReference", Name: reference, From: from, Limit: limit}
}

// Range selects at most n entries, from an index on.
func Range(from uint64, n int) EntryQuery { return EntryQuery{By: "Range", From: from, Limit: n} }

// A Position is where in the log an entry is.
type Position struct {
	Index uint64
	ID    uuid.UUID
}

// A Holder is the entry that holds a claim, with the claim's state.
type Holder struct {
	Position
	Status string
	Due    int64
}

// A StoredEntry has its index in the log.
type StoredEntry struct {
	Index uint64
	Entry
}

// A Store holds the log's entries in order and the Merkle tree over them. It decides nothing: [Log]
// numbers, hashes, signs and checks preconditions.
//
// All methods may be called concurrently, but only one Append, AppendNext or Confirm is in flight at a
// time.
type Store interface {
	Inspector
	Engine

	// Confirm returns the head once it is durable: it survives power loss, and a failover if
	// commits wait for a standby. Other methods may return more, since a transaction becomes
	// visible without its standby if the wait is canceled or the server restarts. So Confirm
	// commits a transaction, which a standby receives only after all that was visible before.
	Confirm(ctx context.Context) (Head, error)

	// Append commits the batch in one transaction. Once it returns nil, the batch and all earlier
	// records are durable, as in Confirm. It does not retain the batch.
	//
	// ErrConflict: the log is not at batch.Size, has an id of the batch, or is not new although the
	// batch begins it; or a new claim exists, or a claim to transfer has another holder.
	// ErrNoSpace: there is no space left. Neither writes anything. After any other error it is
	// unknown whether the batch was committed.
	Append(ctx context.Context, batch Batch) error

	// AppendNext calls next with the head and appends the returned batch while no other process can
	// append, so it succeeds however often others append. If next returns an error, AppendNext
	// writes nothing and returns that error. If next returns nil, it confirms the head as in
	// Confirm. Its other errors are Append's.
	AppendNext(ctx context.Context, next func(Head) (*Batch, error)) error
}

// An Engine is what keeps a store: the program, its files and its disk.
type Engine interface {
	// Leave says for good that the log goes on in another store: no process can append to this one
	// any more, or open it as a Store.
	Leave(ctx context.Context) error

	// Readers returns the number of concurrent reads that the store serves, such as its number of
	// connections. [Log] reserves two of them for itself.
	Readers() int

	// CheckFiles returns an error if an open file of the store was deleted, replaced or made
	// read-only. It takes microseconds.
	CheckFiles() error

	// CheckRoom returns ErrNoSpace if this process can tell that a small commit does not fit. It
	// takes microseconds.
	CheckRoom() error
}

// A Reader reads a store, which another process may be writing. A store reached over a network may
// return ErrUnavailable from each method. A method whose context ends returns neither ErrNotFound
// nor ErrCorrupt.
//
// Returned entries lack Claims, Unique and Besides.
type Reader interface {
	// Head returns the last committed head, or the zero Head of a new store.
	Head(ctx context.Context) (Head, error)

	// Hashes returns at most n hashes of a level, from index on: entry hashes at level 0, node
	// hashes above. ErrCorrupt: a hash is missing.
	Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error)

	// Records calls each for at most n entries in log order, from index on. The bytes of record are
	// valid only during the call. Records stops at an error of each and returns it.
	Records(ctx context.Context, from uint64, n int, each func(index uint64, record []byte, hash tlog.Hash) error) error

	// Select returns the selected entries in log order. One that is found by its claim has that
	// claim.
	Select(ctx context.Context, q EntryQuery) ([]StoredEntry, error)

	// Holders returns the holder of each claim that has one.
	Holders(ctx context.Context, claims []string) (map[string]Holder, error)

	// Firsts returns the first two entries of each reference that has entries, in log order. It
	// reads indexes and no records.
	Firsts(ctx context.Context, references []string) (map[string][]Position, error)

	// Claims returns the selected claims with name, status and due time, sorted by name.
	Claims(ctx context.Context, q ClaimQuery) ([]Claim, error)

	// CountClaims counts the selected claims.
	CountClaims(ctx context.Context, q ClaimQuery) (uint64, error)

	// Close releases the store. It is called once, after all other methods.
	Close() error
}

// An Inspector also reads what only [Check] and [Copy] look at: what belongs together at the same
// moment, and whether the indexes of a store lead to all of its entries.
type Inspector interface {
	Reader

	// Snapshot returns the head and the number of claims at the same moment. It does not count claims
	// with a prefix, unless that is empty.
	Snapshot(ctx context.Context, except string) (h Head, claims uint64, err error)

	// Status returns the version of the store's tables, and whether the log goes on in another store.
	Status(ctx context.Context) (version int64, moved bool, err error)

	// ByIDs returns the entries with the ids that exist.
	ByIDs(ctx context.Context, ids []uuid.UUID) ([]StoredEntry, error)

	// Found calls each for at most n entries in log order, from index on, with the indexes of the
	// entries that ByID and ByReference select for it, or -1. It reads indexes and no records.
	Found(ctx context.Context, from uint64, n int, each func(index uint64, byID, byReference int64)) error
}

// A Batch is a run of entries with the nodes that they add to the tree. The first entry gets index
// Size. A batch without entries begins a log: it adds the first checkpoint to a new store.
type Batch struct {
	Size    uint64 // before the batch
	Entries []Entry
	Nodes   []Node
	Head    Head // after the batch
}

// A Node is the hash of a complete subtree of 256^Level records. Level is at least 1: entries store
// the hashes of level 0, and those in between are computed.
type Node struct {
	Level int
	Index uint64 // counts subtrees of this level
	Hash  tlog.Hash
}

// A Head is the log's state after its last batch.
type Head struct {
	Size       uint64 // number of records
	Edge       []byte // roots of the complete subtrees, left to right, 32 bytes each
	Checkpoint []byte // signed note for this size; empty until the log has begun
	SeedKey    []byte // identifies the key that encrypts sidecars; empty until the log has begun
}

// AppendFromHead implements [Store].AppendNext for a store with one writing process.
func AppendFromHead(ctx context.Context, store Store, next func(Head) (*Batch, error)) error {
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

// FirstOrNotFound returns err, the first entry of the list, or [ErrNotFound] if the list is empty.
func FirstOrNotFound(list []StoredEntry, err error) (*StoredEntry, error) {
	if err != nil || len(list) == 0 {
		return nil, cmp.Or(err, ErrNotFound)
	}
	return &list[0], nil
}

// Version is the version of the tables, which every store says. [Inspector].Status returns it.
const Version = 1

// CheckStatus returns an error if the tables of a store have another version, or if the log was moved.
func CheckStatus(version int64, moved bool) error {
	switch {
	case version != Version:
		return fmt.Errorf("the store has version %d, and this program knows version %d: start the program that wrote it", version, Version)
	case moved:
		return errors.New("the log was moved to another store: start the service on that one")
	}
	return nil
}
