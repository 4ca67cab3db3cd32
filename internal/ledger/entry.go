package ledger

import (
	"cmp"
	"fmt"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"
)

// maxRecord is the maximum length of a record in bytes: an entry bundle has 16 bits for it.
const maxRecord = 1<<16 - 1

// An Entry is one record with what is stored beside it.
type Entry struct {
	ID        uuid.UUID
	Reference string  // the caller's name for the game and round; may be empty
	Claims    []Claim // what the record is to hold once it is written
	Record    []byte  // the exact bytes, which are public; at most 65,535
	Sidecar   []byte  // the seed and other private data; may be nil. A store gets it encrypted

	// Unique rejects the entry with a [NotUniqueError] if the log has another one of the reference
	// already, except the one with the id Besides, which may be [uuid.Nil]. Stores ignore both.
	Unique  bool
	Besides uuid.UUID

	// Trace is handed to [Store.Append] as it is, for a store that traces what requests wait for.
	// Stores do not write it.
	Trace any

	Hash tlog.Hash // of the record as a leaf of the tree; set by [Log.Append]
}

// A Claim is a unique name that at most one record holds at a time: an idempotency key, say, or an
// object whose latest state is in the record that holds it. Of two entries that want a claim from
// the same holder, one is written.
type Claim struct {
	Name   string
	Taken  bool   // transfer the claim from record From; otherwise nobody may hold it yet
	From   uint64 // index of the record that holds the claim now; used only with Taken
	Status string // to list claims by; most have none, which costs no space
	Due    int64  // when the holder needs attention, in microseconds since 1970; 0 for never

	// Unchanged says that Status and Due equal those stored with the claim, so that a store need
	// not update its indexes. Used only with Taken.
	Unchanged bool
}

// A ClaimError is an [ErrClaimed] that says which claim.
type ClaimError struct{ Name string }

func (e *ClaimError) Error() string { return ErrClaimed.Error() + " " + e.Name }

// Unwrap returns [ErrClaimed].
func (e *ClaimError) Unwrap() error { return ErrClaimed }

// A NotUniqueError is for an entry that is to be the only one of its reference.
type NotUniqueError struct{ First uuid.UUID } // id of the first other entry of the reference

func (e *NotUniqueError) Error() string {
	return fmt.Sprintf("the reference has the record %s", e.First)
}

// A ClaimQuery selects claims by a prefix of their names and at most one other condition: DueBy, or
// Done with Status.
type ClaimQuery struct {
	Prefix string
	After  string // only names that sort after this one, which has the prefix; empty for all
	DueBy  int64  // only claims with a Due up to this time; 0 for no such condition
	Done   bool   // only claims without a Due whose status is Status
	Status string
	Limit  int // of the list; ignored when counting
}

// NameBounds returns the exclusive bounds of the names that the query selects.
func (q *ClaimQuery) NameBounds() (after, before string) {
	return cmp.Or(q.After, q.Prefix), q.Prefix + string(unicode.MaxRune)
}

// A Place is where an entry is in the log.
type Place struct {
	Index uint64
	ID    uuid.UUID
}

// A Stored entry is one that has its index in the log.
type Stored struct {
	Index uint64
	Entry
}
