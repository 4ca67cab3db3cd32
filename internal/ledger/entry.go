package ledger

import (
	"cmp"
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

	// Rest are appended right after the entry, or not at all. No two of them take the same claim, and
	// none is unique.
	Rest []Entry
	// Copied says that other attempts append the same entry. All but the first fail with [ErrClaimed], so it
	// has a claim.
	Copied bool

	// Trace is passed to [Store.Append], for stores that trace requests. Stores do not write it.
	Trace any

	// Needs is the version that the store must have for the record; 0 for any.
	Needs Version

	Hash tlog.Hash // leaf hash of the record in the tree; set by [Log.Append]
}

// EndClaim is the claim of the entry that ends a log: nothing follows it, whichever process appends.
const EndClaim = "log-end"

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

// A Place is an entry's position in the log.
type Place struct {
	Index uint64
	ID    uuid.UUID
}

// A Holder is the entry that holds a claim, with the claim's state.
type Holder struct {
	Place
	Status string
	Due    int64
}

// A Stored entry has its index in the log.
type Stored struct {
	Index uint64
	Entry
	// Forgotten says that the store keeps no sidecars any more.
	Forgotten bool

	log *Log // that returned it
}

// Log returns the log that has the entry, which may be one that the log it was read from follows.
func (e *Stored) Log() *Log { return e.log }
