package ledger

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"
)

// A Store holds the entries in order, and the Merkle tree over them. It decides nothing: numbering,
// hashing, signing and preconditions on records belong to [Log].
//
// All methods may be called concurrently, except that only one Append, AppendNext or Confirm is in
// flight at a time. Each may fail with ErrUnavailable if the engine is reached over a network. A
// method that ends because its context does returns an error other than ErrNotFound and ErrCorrupt.
//
// Entries are returned without their claims, Unique and Besides.
type Store interface {
	// Head returns the head that the last batch set, or the zero Head for a new store.
	Head(ctx context.Context) (Head, error)

	// Confirm returns the head, and everything up to it survives power loss, and a failover where
	// commits wait for a standby. Other methods may return more: a transaction becomes visible
	// without its standby if the wait is canceled or the server restarts. Confirm therefore commits a
	// transaction of its own, which a standby has only after all that was visible before.
	Confirm(ctx context.Context) (Head, error)

	// Append commits the batch in one transaction. Once it returns nil, the batch survives power
	// loss, and a failover as in Confirm, together with all records before it. It does not retain
	// the batch.
	//
	// ErrConflict: the log is not at batch.Size, or has begun and the batch would begin it, or it
	// has one of the ids, or one of the claims exists or is not held by the record that it is to
	// be transferred from. ErrNoSpace: there is no space left. In both cases nothing was written.
	// After any other error it is unknown whether the batch was committed.
	Append(ctx context.Context, batch Batch) error

	// AppendNext calls next with the head and appends the batch that it returns, while no other
	// process can append. It makes progress however often other processes append. If next returns
	// an error, nothing is written and the error is returned. If it returns nil, nothing is written
	// and the head is confirmed as in Confirm. Otherwise errors are those of Append.
	AppendNext(ctx context.Context, next func(Head) (*Batch, error)) error

	// Hashes returns at most n hashes of a level, starting at index from: those of the entries at
	// level 0, those of the nodes above. ErrCorrupt: one is missing among them.
	Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error)

	// Records calls each for at most n entries in log order, starting at index from. The bytes of
	// record are valid only during the call. An error of each ends it and is returned.
	Records(ctx context.Context, from uint64, n int, each func(index uint64, record []byte, hash tlog.Hash) error) error

	// Range returns at most n entries in log order, starting at index from.
	Range(ctx context.Context, from uint64, n int) ([]Stored, error)

	// ByID returns the entry with the id, or ErrNotFound.
	ByID(ctx context.Context, id uuid.UUID) (*Stored, error)

	// ByClaim returns the entry that holds the claim, with that one claim, or ErrNotFound.
	ByClaim(ctx context.Context, claim string) (*Stored, error)

	// ByReference returns at most limit entries of a reference in log order, starting at index
	// from.
	ByReference(ctx context.Context, reference string, from uint64, limit int) ([]Stored, error)

	// Holders returns which entry holds each of the claims. Those that nobody holds are left out.
	Holders(ctx context.Context, claims []string) (map[string]Place, error)

	// Firsts returns the first two entries of each of the references, in log order. References that
	// no entry has are left out. It reads indexes and no records.
	Firsts(ctx context.Context, references []string) (map[string][]Place, error)

	// Claims returns the selected claims, sorted by name, with name, status and due time.
	Claims(ctx context.Context, q ClaimQuery) ([]Claim, error)

	// CountClaims returns how many claims the query selects.
	CountClaims(ctx context.Context, q ClaimQuery) (uint64, error)

	// Readers returns how many reads the store serves at once, from its connections for example. Of
	// these the [Log] sets two aside for itself, and callers wait for the others.
	Readers() int

	// CheckFiles returns an error if a file that the store has open was deleted, replaced or made
	// read-only. It takes microseconds.
	CheckFiles() error

	// CheckRoom returns ErrNoSpace if there is no room for a small commit, as far as this process can
	// tell. It takes microseconds.
	CheckRoom() error

	// Close releases the store. It is called once, after the last Append.
	Close() error
}

// A Batch is a run of entries with what they add to the tree. The first entry gets the index Size.
// A batch without entries begins a log: it adds the first checkpoint to a store that has none.
type Batch struct {
	Size    uint64 // of the log before the batch
	Entries []Entry
	Nodes   []Node
	Head    Head // of the log after the batch
}

// A Node is the hash of a complete subtree of 256^Level records. Level is at least 1: the hashes of
// level 0 are stored with the entries, and those in between are computed from them.
type Node struct {
	Level int
	Index uint64 // counted in subtrees of this level
	Hash  tlog.Hash
}

// A Head is the state of the log after its last batch.
type Head struct {
	Size       uint64 // number of records
	Edge       []byte // roots of the complete subtrees, left to right, 32 bytes each
	Checkpoint []byte // signed note for this size; empty until the log has begun
	SeedKey    []byte // identifies the key that sidecars are encrypted under; empty if none are
	SeedsFrom  uint64 // index of the first entry with an encrypted sidecar; earlier ones are plain
}

// AppendFromHead implements [Store].AppendNext for a store that no other process writes to.
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

// FirstOrNotFound returns the first entry of a list, or [ErrNotFound] if it is empty. An error is
// passed on.
func FirstOrNotFound(list []Stored, err error) (*Stored, error) {
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, ErrNotFound
	}
	return &list[0], nil
}
