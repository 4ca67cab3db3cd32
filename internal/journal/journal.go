// Package journal stores audit records in the ledger, each with an encrypted sidecar.
//
// A record is public. Its [Sidecar] holds secrets for the caller: the seed, the digest of the
// request's idempotency key and what the record of a shoe lacks. Record, sidecar and claims are
// written in one transaction.
//
// Start with [Journal.Append], which writes an [Addition], and [Once], which makes a request
// idempotent by its key.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/rng"
)

// A Journal appends records to a ledger and finds them again. It may be used concurrently.
type Journal struct {
	Log    *ledger.Log
	Random io.Reader        // the operating system's generator, for seeds and ids
	Now    func() time.Time // time.Now, except in tests

	// TraceAppend may be nil. It is called before each append with the request's context; traced is
	// passed to the store, and end receives the error of the append.
	TraceAppend func(ctx context.Context) (traced context.Context, end func(error))

	inFlight sync.Map // claims in use by this process's requests
}

// New returns the journal of a log.
func New(log *ledger.Log, random io.Reader, now func() time.Time) *Journal {
	return &Journal{Log: log, Random: random, Now: now}
}

// An Addition is a record to append, with its sidecar and claims.
type Addition struct {
	Record    *audit.Record
	Reference string // index key of the record; may be empty
	Sidecar   Sidecar
	Claims    []ledger.Claim // in addition to the claim on the sidecar's key
	Unique    bool           // reject if another attempt has the reference
}

// A StoredRecord is a record with its position in the log.
type StoredRecord struct {
	*audit.Record
	Index     uint64
	Reference string
	Bytes     []byte // the record's exact bytes in the log

	entry *ledger.StoredEntry
}

// Identify gives a record a new id and the current time.
func (j *Journal) Identify(r *audit.Record) (err error) {
	r.Time = j.Now().UTC().Truncate(time.Microsecond) // the precision of the record's text
	r.ID, err = newID(r.Time, j.Random)
	return err
}

// NewSeed draws a seed with enough blocks for a draw from size items.
func (j *Journal) NewSeed(size, draw uint64) (rng.Seed, error) {
	return rng.NewSeed(j.Random, rng.Blocks(size, draw))
}

// newID returns a UUIDv7 (RFC 9562, 5.7) whose other 74 bits are random, so that ids cannot be
// guessed from each other.
func newID(now time.Time, random io.Reader) (id uuid.UUID, err error) {
	if _, err := io.ReadFull(random, id[6:]); err != nil {
		return uuid.Nil, fmt.Errorf("reading randomness for an id: %w", err)
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	return id, nil
}

// The sizes of most records, and of each hash in a path as hex digits between quotes, in bytes.
const recordSize, hashSize = 1024, 2*sha256.Size + len(`"",`)

// Append writes an entry and returns its log index once the record is durable. The error is one of
// the ledger's: a [*ledger.NotUniqueError] names the first attempt at the reference, a
// [*ledger.ClaimError] the conflicting claim.
//
// A shuffle and its commitment are one attempt: an entry is unique if only its commitment has the
// same reference.
//
// Like [ledger.Log.Append] it cannot be canceled; ctx only names the request (see [Observed]).
func (j *Journal) Append(ctx context.Context, e *Addition) (index uint64, err error) {
	if j.TraceAppend != nil {
		var end func(error)
		ctx, end = j.TraceAppend(ctx)
		defer func() { end(err) }()
	}
	entry := e.encode()
	entry.Context = ctx
	index, err = j.Log.Append(entry)
	if o := observerOf(ctx); o != nil && err == nil {
		o.Committed(e.Record.ID)
	}
	return index, err
}

// AppendNew identifies the entry's record and appends it. It fails like Append.
func (j *Journal) AppendNew(ctx context.Context, e *Addition) error {
	err := j.Identify(e.Record)
	if err == nil {
		_, err = j.Append(ctx, e)
	}
	return err
}

// encode returns the entry as the ledger takes it.
func (e *Addition) encode() ledger.Entry {
	return ledger.Entry{
		ID: e.Record.ID, Reference: e.Reference, Sidecar: e.Sidecar.encode(),
		Claims: append(e.Claims, e.Sidecar.Key.claims()...),
		Record: e.Record.Append(make([]byte, 0, recordSize+len(e.Record.Path)*hashSize)),
		Unique: e.Unique, Besides: e.Record.CommitmentID,
	}
}

// An Observer is notified of the records that a request commits or replays, before its response
// begins. Records that the service appends on its own have no observer.
type Observer interface {
	Committed(id uuid.UUID) // the record is durable
	Replayed(id uuid.UUID)  // the request is a retry; its first attempt committed the record
}

type observerKey struct{}

// Observed returns a request's context with an observer.
func Observed(ctx context.Context, o Observer) context.Context {
	return context.WithValue(ctx, observerKey{}, o)
}

// observerOf returns the request's observer, or nil.
func observerOf(ctx context.Context) Observer {
	o, _ := ctx.Value(observerKey{}).(Observer)
	return o
}

// ByID returns the record with an id. The error is [ledger.ErrNotFound] or another ledger error.
func (j *Journal) ByID(ctx context.Context, id uuid.UUID) (*StoredRecord, error) {
	return parse(j.Log.ByID(ctx, id))
}

// At returns the record at a log index. It fails like ByID.
func (j *Journal) At(ctx context.Context, index uint64) (*StoredRecord, error) {
	return parse(j.Log.At(ctx, index))
}

// Public returns the record without its sidecar, to hold for longer.
func (s *StoredRecord) Public() *StoredRecord {
	return &StoredRecord{s.Record, s.Index, s.Reference, s.Bytes, nil}
}

// ByClaim returns the record that holds a claim. It fails like ByID.
func (j *Journal) ByClaim(ctx context.Context, claim string) (*StoredRecord, error) {
	return parse(j.Log.ByClaim(ctx, claim))
}

// Holder returns the record that holds a claim which was begun. The error is a ledger error.
func (j *Journal) Holder(ctx context.Context, claim string) (*StoredRecord, error) {
	holder, err := j.ByClaim(ctx, claim)
	if errors.Is(err, ledger.ErrNotFound) {
		err = fmt.Errorf("%w: no record holds the claim %s", ledger.ErrCorrupt, claim)
	}
	return holder, err
}

// ErrNoShoe is for an unknown shoe id.
var ErrNoShoe = errors.New("there is no such shoe")

// FirstOfShoe returns the first record of the shoe with a secret id. The error is [ErrNoShoe] or a
// ledger error.
func (j *Journal) FirstOfShoe(ctx context.Context, id uuid.UUID) (*StoredRecord, error) {
	first, err := j.ByClaim(ctx, OwnerClaim(id))
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, ErrNoShoe
	}
	return first, err
}

// ShoeOf returns the first record of the shoe that a record begins or changes. It fails like ByID.
func (j *Journal) ShoeOf(ctx context.Context, s *StoredRecord) (*StoredRecord, error) {
	if s.Kind == audit.KindShoe {
		return s, nil
	}
	return j.ByID(ctx, s.AuditID)
}

// LastOfShoe returns the record that holds the claim on a shoe, named by its first record: its last
// change, or the first record of the shoe that replaced it.
func (j *Journal) LastOfShoe(ctx context.Context, first uuid.UUID) (*StoredRecord, error) {
	return j.Holder(ctx, ShoeClaim(first))
}

// EndsOfShoe returns the first record of the shoe with a secret id, without its sidecar, and the
// last, and reads again if the shoe is replaced in between. The error is [ErrNoShoe] or a ledger
// error.
func (j *Journal) EndsOfShoe(ctx context.Context, id uuid.UUID) (first, last *StoredRecord, err error) {
	for replaced := uuid.Nil; ; replaced = first.ID {
		if first, err = j.FirstOfShoe(ctx, id); err != nil {
			return nil, nil, err
		}
		first = first.Public()
		if first.ID == replaced {
			return nil, nil, fmt.Errorf("%w: the claim of the shoe's owner leads to a shoe that was replaced", ledger.ErrCorrupt)
		}
		if last, err = j.LastOfShoe(ctx, first.ID); err != nil {
			return nil, nil, err
		}
		if !last.ReplacesShoe(first.ID) {
			return first, last, nil
		}
	}
}

// ByReference returns at most limit records of a reference in log order, starting at an index.
func (j *Journal) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]*StoredRecord, error) {
	entries, err := j.Log.ByReference(ctx, reference, from, limit)
	if err != nil {
		return nil, err
	}
	list := make([]*StoredRecord, len(entries))
	for i := range entries {
		if list[i], err = parse(&entries[i], nil); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// parse parses an entry's record. The error is [ledger.ErrCorrupt] if it is malformed.
func parse(e *ledger.StoredEntry, err error) (*StoredRecord, error) {
	if err != nil {
		return nil, err
	}
	record, err := audit.ParseRecord(e.Record)
	if err != nil {
		return nil, fmt.Errorf("%w: record %d: %w", ledger.ErrCorrupt, e.Index, err)
	}
	return &StoredRecord{Record: record, Index: e.Index, Reference: e.Reference, Bytes: e.Record, entry: e}, nil
}

// Sidecar decrypts a record's sidecar. The error is [ledger.ErrCorrupt].
func (j *Journal) Sidecar(s *StoredRecord) (*Sidecar, error) {
	text, err := j.Log.Sidecar(s.entry)
	if err != nil {
		return nil, err
	}
	return decodeSidecar(s.Kind, text)
}

// Seed returns a record's seed, which is in the commitment's sidecar if the record used one. The
// log proves records but not sidecars, so Seed checks the seed against the record's commitment. The
// error is [ledger.ErrCorrupt] if they do not match.
func (j *Journal) Seed(ctx context.Context, s *StoredRecord) (rng.Seed, error) {
	holder := s
	if s.UsesCommitment() {
		var err error
		if holder, err = j.ByID(ctx, s.CommitmentID); errors.Is(err, ledger.ErrNotFound) {
			return nil, corrupt(s, "used a commitment that is not in the log")
		} else if err != nil {
			return nil, err
		}
	}
	sidecar, err := j.Sidecar(holder)
	if err != nil {
		return nil, err
	}
	seed := sidecar.Seed
	if s.Round > 0 {
		seed = audit.RoundSeed(seed, s.Round)
	}
	return seed, s.Opens(seed)
}

// Opens returns [ledger.ErrCorrupt] unless the seed opens the record's commitment.
func (s *StoredRecord) Opens(seed rng.Seed) error {
	if s.CheckSeed(seed) != nil {
		return fmt.Errorf("%w: the seed of record %d does not open its commitment", ledger.ErrCorrupt, s.Index)
	}
	return nil
}

// checkCommitted returns an error if record, at a log index, does not agree with its commitment, or
// was logged before it.
func checkCommitted(commitment *StoredRecord, record *audit.Record, index uint64) error {
	if err := record.CheckCommitted(commitment.Record); err != nil {
		return err
	}
	if commitment.Index >= index {
		return fmt.Errorf("the commitment is record %d, which is not before this one", commitment.Index)
	}
	return nil
}

// Previous returns the record of a shoe before one that changed it. The error is a ledger error.
func (j *Journal) Previous(ctx context.Context, s *StoredRecord) (*StoredRecord, error) {
	sidecar, err := j.Sidecar(s)
	if err != nil {
		return nil, err
	}
	return j.Before(ctx, s, sidecar)
}

// Before returns the same as Previous, given the record's sidecar.
func (j *Journal) Before(ctx context.Context, s *StoredRecord, sidecar *Sidecar) (*StoredRecord, error) {
	if sidecar.Shoe.Previous >= s.Index {
		return nil, corrupt(s, "does not lead back to the first of its shoe")
	}
	return j.At(ctx, sidecar.Shoe.Previous)
}
