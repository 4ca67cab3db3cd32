// Package ledger is the tamper-evident log behind every audit id: a sequence of records that are
// durable before their callers get a response, under signed checkpoints that reveal any later
// change.
//
// Callers pass an [Entry] to [Log.Append] and wait. One writer takes all entries that queued during
// the last commit, and has the [Store] commit them in one transaction with the new tree hashes and
// the signed checkpoint. Several processes may append to one store: a batch commits only if the log
// still has the batch's start size.
//
// A follower reads every record back from the store and builds a second tree. The log publishes a
// checkpoint only once that tree has the signed root.
//
// A failover may lose a visible record if commits wait for a standby: see [Store.Confirm]. So the
// log has the store confirm what it finds at start, and other processes' records before it
// publishes or returns them.
//
// The log fails closed. If a commit fails with an unknown outcome, every caller gets [ErrBroken]
// until the process restarts and reads the store. Exceptions are a full disk, where nothing was
// written, and a lost database connection, after which the database tells the outcome.
//
// Read store.go first; then log.go and commit.go, which append a record; durable.go, which waits
// until a record is durable; follower.go, which publishes it; and read.go, which returns it.
package ledger

import "errors"

// Errors of a [Log] and its [Store].
var (
	// ErrBusy: the queue is full. Nothing was written.
	ErrBusy = errors.New("the queue of the ledger is full")
	// ErrClosed: the log was closed before. Nothing was written.
	ErrClosed = errors.New("the ledger is closed")
	// ErrReadOnly: the log was opened by [OpenReadOnly]. Nothing was written.
	ErrReadOnly = errors.New("the log takes no more records")
	// ErrNoSpace: the disk is full. Nothing was written, and reads still work.
	ErrNoSpace = errors.New("the store has no space left")
	// ErrClaimed: another record holds a new claim, or another one than From holds a claim to
	// transfer. Nothing was written. A [ClaimError] names the claim.
	ErrClaimed = errors.New("another record holds the claim")
	// ErrTooLong: the record does not fit into an entry bundle. Nothing was written.
	ErrTooLong = errors.New("the record is longer than 65535 bytes")
	// ErrBroken: a commit failed for another reason than [ErrNoSpace], or the store is corrupt.
	// Close the log and open it again.
	ErrBroken = errors.New("the ledger failed and takes no more records")
	// ErrGrown: the store has a record that is later than the view of the log. Look at it again.
	ErrGrown = errors.New("the log has grown since it was opened to read it")
	// ErrNotFound: the record or the part of the tree does not exist.
	ErrNotFound = errors.New("no such record")
	// ErrNotPublished: no published checkpoint covers the record yet.
	ErrNotPublished = errors.New("the record is durable, but its checkpoint is not published yet")
	// ErrNotWitnessed: too few witnesses have cosigned a checkpoint that covers the record yet.
	ErrNotWitnessed = errors.New("the record is durable, but too few witnesses have cosigned its checkpoint yet")
	// ErrNoWitnesses: the log has no witnesses.
	ErrNoWitnesses = errors.New("the log has no witnesses")
	// ErrConflict: the preconditions of [Store.Append] do not hold. Nothing was written.
	ErrConflict = errors.New("the log is not at the size that the batch continues")
	// ErrUnavailable: the store cannot be reached, or cannot confirm a read. After Store.Append the
	// outcome is unknown until a later read; after Log.Append nothing was written.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrOverloaded: too many callers are reading from the store. Nothing was read.
	ErrOverloaded = errors.New("too many callers are reading from the store")
	// ErrNoLog: there is no log yet, and [Options.MustExist] is set or it would only be read.
	ErrNoLog = errors.New("there is no log")
	// ErrInUse: another process has opened a store that allows one.
	ErrInUse = errors.New("another process is writing to this store")
	// ErrCorrupt: the store's content does not match its hashes or signatures.
	ErrCorrupt = errors.New("the store does not hold what was signed")
)
