// Package ledger is the tamper-evident log behind every audit id: an ordered sequence of records
// that are durable before their callers get an answer, under signed checkpoints that make any later
// change evident.
//
// Callers hand an [Entry] to [Log.Append] and wait. One writer takes everything that queued while
// the last commit was in flight, with no timer, and has the [Store] commit it in one transaction:
// the records, the hashes that they add to the Merkle tree, and the signed checkpoint of the new
// tree. A store holds one engine's SQL and decides nothing: numbering, hashing and signing happen
// here, once for every engine. Several processes may append to one store: a batch is committed only
// if the log still has the size that the batch continues.
//
// Behind the writer a follower reads every record back, from the store and not from memory, and
// builds a second tree. A checkpoint is published, and proofs refer to it, only once that tree has
// the signed root.
//
// What is read from a store may still get lost, if commits wait for a standby: see [Store.Confirm].
// Before the log publishes or returns what another process committed, and at start, it has the
// store confirm it. A commit of its own that succeeded needs no confirmation.
//
// The log fails closed. After a commit that failed with an unknown outcome nothing is appended any
// more: every waiting and every later caller gets [ErrBroken], until the process is restarted and
// reads what is really stored. The log recovers from two failures only: a full disk, where nothing
// was written, and a lost connection to a database, which can be asked afterwards what it holds.
//
// Read entry.go and store.go first, then log.go and commit.go for a record's way in, durable.go for
// what may get lost, follower.go for a record's way to a published checkpoint, and read.go for its
// way out.
package ledger

import "errors"

// Errors of a [Log] and of its [Store].
var (
	// ErrBusy: the queue is full. Nothing was written.
	ErrBusy = errors.New("the queue of the ledger is full")
	// ErrClosed: the log was closed before. Nothing was written.
	ErrClosed = errors.New("the ledger is closed")
	// ErrReadOnly: the log was opened with [Options.ReadOnly]. Nothing was written.
	ErrReadOnly = errors.New("nothing more is written to the log")
	// ErrNoSpace: the commit found no space left. Nothing was written, and reads still work.
	ErrNoSpace = errors.New("the store has no space left")
	// ErrClaimed: the entry has a claim that another record holds, or not the record that it is to
	// be transferred from. Nothing was written. A [ClaimError] says which claim.
	ErrClaimed = errors.New("another record holds the claim")
	// ErrTooLong: the record does not fit into an entry bundle. Nothing was written.
	ErrTooLong = errors.New("the record is longer than 65535 bytes")
	// ErrBroken: this or an earlier commit failed for another reason than [ErrNoSpace], or the
	// store was found to be corrupt. The log has to be closed and opened again.
	ErrBroken = errors.New("the ledger failed and takes no more records")
	// ErrNotFound: there is no such record, or no such part of the tree.
	ErrNotFound = errors.New("no such record")
	// ErrNotPublished: no published checkpoint covers the record yet.
	ErrNotPublished = errors.New("the record is durable, but its checkpoint is not published yet")
	// ErrConflict is returned by a store for a batch whose preconditions do not hold: see
	// [Store.Append]. Nothing was written.
	ErrConflict = errors.New("the log is not at the size that the batch continues")
	// ErrUnavailable: the store cannot be reached, or cannot confirm what was read. After
	// Store.Append it is unknown whether the batch was committed, which a later read tells; after
	// Log.Append nothing was written.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrOverloaded: too many callers are reading from the store. Nothing was read.
	ErrOverloaded = errors.New("too many callers are reading from the store")
	// ErrNoLog: there is no log, and [Options.MustExist] says that there must be one.
	ErrNoLog = errors.New("there is no log")
	// ErrInUse is returned by a store that only one process may open, and another one has.
	ErrInUse = errors.New("another process is writing to this store")
	// ErrCorrupt: what the store holds does not match its hashes or signatures.
	ErrCorrupt = errors.New("the store does not hold what was signed")
)
