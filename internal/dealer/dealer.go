// Package dealer takes one request from seed to sealed record to result.
//
// The order of things is the promise. A request is checked whole before anything is drawn; a seed is drawn fresh for
// it; the statement is committed to and its record is durable in the ledger; only then is there a [Result], from which
// the orders follow by calculation alone. Whatever fails on the way, no result exists.
//
// A [Commitment] does the first half beforehand: seed and statement are fixed and logged, and the shuffle that uses them
// brings a client seed that nobody knew then. A [Call] makes a request one that can be repeated: what it was answered is
// kept in the transaction that logs it, and a retry is answered from there.
package dealer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// Limits bound what one request may ask for.
type Limits struct {
	Items   uint64 // how many items can be shuffled, and how many drawn
	Results uint64 // repeat times draw
}

// An Event is something that a dealer counts.
type Event int

// The events of commitments.
const (
	EventCommitted Event = iota // a commitment was made
	EventUsed                   // one was used
	EventVoid                   // one was logged as void
	EventLate                   // somebody wanted to use one after its deadline
)

// The events of shoes.
const (
	EventShoeMade Event = iota + 100
	EventShoeDrawn
	EventShoeAdded
	EventShoeReturned
	EventShoeReshuffled
	EventShoeClosed
	EventShoeExpired
)

// Options of a dealer. Random and Limits are needed; the zero value of another field stands for its default.
type Options struct {
	Random   io.Reader        // the operating system's generator
	Now      func() time.Time // time.Now
	Limits   Limits
	Deadline time.Duration // how long a commitment can be used; 10 minutes
	Observe  func(Event)   // is told of events; may be nil
}

// DefaultDeadline is how long a commitment can be used unless the operator says otherwise.
const DefaultDeadline = 10 * time.Minute

// A Dealer deals shuffles and answers for their records. Its methods may be called at the same time.
type Dealer struct {
	log     *ledger.Log
	decks   *deck.Catalogue
	options Options
	running running
	open    openSet
	tables  tables
	inputs  sync.Map // what statements say of single decks: their digests take longer than most of a small shuffle
}

// maxHands bounds the list of hands, which is part of the record.
const maxHands = 1000

// New returns a dealer.
func New(log *ledger.Log, decks *deck.Catalogue, options Options) *Dealer {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Deadline == 0 {
		options.Deadline = DefaultDeadline
	}
	return &Dealer{log: log, decks: decks, options: options}
}

// Limits returns the limits that plans are checked against.
func (d *Dealer) Limits() Limits { return d.options.Limits }

func (d *Dealer) observe(e Event) {
	if d.options.Observe != nil {
		d.options.Observe(e)
	}
}

// A Result is a shuffle whose record is durable.
type Result struct {
	AuditID    uuid.UUID
	LogIndex   uint64
	Statement  audit.Statement // with its seed
	Commitment audit.Commitment
	Deck       *deck.Deck // nil unless a deck was shuffled
	Copies     uint64     // of the deck
	stream     *rng.Stream
}

// Deal carries a plan out. A retry of its call is dealt what it was dealt the first time. The error is one of the ledger or
// of the source of randomness, [ErrRunning], [ErrOtherRequest], a [*SettledError] or a [*NotUniqueError]; then nothing was
// dealt.
func (d *Dealer) Deal(ctx context.Context, plan *Plan) (*Result, error) {
	seed, err := d.seedFor(plan)
	if err != nil {
		return nil, err
	}
	record := shuffleRecords.Get().(*audit.Record)
	defer func() {
		*record = audit.Record{}
		shuffleRecords.Put(record)
	}()
	if err := d.beginRecord(record, audit.KindShuffle); err != nil {
		return nil, err
	}
	plan.state(record, seed)
	record.RevealNow = plan.request.RevealNow
	stream, err := stream(seed, record)
	if err != nil {
		return nil, err
	}
	call := plan.request.Call
	index, err := d.appendOrder(ctx, plan, record, kept{seed: seed, call: call}, nil)
	if call.isTaken(err) {
		return d.Dealt(ctx, call)
	} else if err != nil {
		return nil, err
	}
	return &Result{
		AuditID: record.ID, LogIndex: index, Statement: record.Statement, Commitment: record.Commitment,
		Deck: plan.deck, Copies: plan.copies, stream: stream,
	}, nil
}

// seedFor returns the seed of a plan: the one that was committed to, or a new one.
func (d *Dealer) seedFor(plan *Plan) (rng.Seed, error) {
	if plan.committed != nil {
		return plan.committed.seed, nil
	}
	return d.newSeed(plan)
}

// state has a record state what is planned, from a seed.
func (p *Plan) state(record *audit.Record, seed rng.Seed) {
	record.Statement, record.Parameters, record.ClientSeed = p.statement, p.parameters(), p.request.ClientSeed
	record.Statement.Seed = seed
	if p.committed != nil {
		record.CommitmentID, record.Commitment = p.committed.record.ID, p.committed.record.Commitment
	} else {
		record.Commitment = record.Statement.Commitment()
	}
}

// appendOrder appends the record of a planned order, as append does. One that uses a commitment takes it, and its seed stays beside
// the commitment alone.
func (d *Dealer) appendOrder(ctx context.Context, plan *Plan, record *audit.Record, k kept, claims []ledger.Claim) (uint64, error) {
	if plan.committed != nil {
		k.seed = nil
		return d.use(ctx, plan, record, k, claims)
	}
	return d.append(ctx, plan.request, record, k, claims)
}

// append appends the record of a request, with what is kept beside it and the claims that it takes besides that of its
// call. The error is one of the ledger's or a [*NotUniqueError].
func (d *Dealer) append(ctx context.Context, request *Request, record *audit.Record, k kept, claims []ledger.Claim) (uint64, error) {
	entry := ledger.Entry{
		ID: record.ID, Reference: record.Statement.Reference, Claims: append(claims, k.call.claims()...),
		Sidecar: k.text(),
	}
	if request.UniqueReference {
		entry.Conflicts = func(earlier []byte) bool { return isOtherAttempt(earlier, record) }
		if err := d.unique(ctx, record); err != nil { // which is found here more cheaply than by the ledger's writer
			return 0, err
		}
	}
	buf := records.Get().(*[]byte)
	*buf = record.Append((*buf)[:0])
	entry.Record = *buf
	index, err := d.log.Append(entry)
	records.Put(buf) // the store keeps a copy
	if errors.Is(err, ledger.ErrPrecondition) {
		if found := d.unique(ctx, record); found != nil {
			return 0, found
		}
	}
	return index, err
}

// A NotUniqueError is for a request for the only shuffle of its reference, of which there is one.
type NotUniqueError struct{ AuditID uuid.UUID } // of the first

func (e *NotUniqueError) Error() string {
	return fmt.Sprintf("the reference has the record %s", e.AuditID)
}

// unique returns a [*NotUniqueError] if there is another attempt at the reference of a record.
func (d *Dealer) unique(ctx context.Context, record *audit.Record) error {
	first, err := d.log.FirstByReference(ctx, record.Statement.Reference, func(e *ledger.Stored) bool {
		return isOtherAttempt(e.Record, record)
	})
	if errors.Is(err, ledger.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	return &NotUniqueError{first.ID}
}

// isOtherAttempt reports whether an earlier record of the same reference is another attempt than the record is or belongs
// to: a shuffle, or the commitment to one. That a shuffle used a commitment of its own makes them one attempt.
func isOtherAttempt(earlier []byte, record *audit.Record) bool {
	other, err := audit.ParseRecord(earlier)
	switch {
	case err != nil:
		return true // it is no shuffle that anyone could have meant to leave out
	case other.Kind == audit.KindCommitment:
		return other.ID != record.CommitmentID
	case other.Kind == audit.KindShuffle || other.Kind == audit.KindShoe:
		return other.CommitmentID == uuid.Nil || other.CommitmentID != record.CommitmentID
	}
	return false
}

// shuffleRecords are records of shuffles, which nothing refers to once they are in the ledger.
var shuffleRecords = sync.Pool{New: func() any { return new(audit.Record) }}

// records are buffers for records on their way to the ledger.
var records = sync.Pool{New: func() any { return new([]byte) }}

// newSeed draws a seed for a plan.
func (d *Dealer) newSeed(plan *Plan) (rng.Seed, error) {
	return rng.NewSeed(d.options.Random, rng.Blocks(plan.statement.Size, plan.statement.Draw))
}

// newRecord returns a record of a kind that is made now.
func (d *Dealer) newRecord(kind audit.Kind) (*audit.Record, error) {
	r := &audit.Record{}
	return r, d.beginRecord(r, kind)
}

// beginRecord gives an empty record what every record has.
func (d *Dealer) beginRecord(r *audit.Record, kind audit.Kind) (err error) {
	r.Time, r.Kind = d.options.Now().UTC().Truncate(time.Microsecond), kind // as it is written
	r.ID, err = newID(r.Time, d.options.Random)
	return err
}

// newID returns a UUIDv7 (RFC 9562, 5.7) whose 74 free bits are all random, so that ids cannot be guessed from each
// other.
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

// Release lets others have what the result took up. The result is not to be used afterwards.
func (r *Result) Release() {
	streams.Put(r.stream)
	r.stream = nil
}

// Held returns how many elements have to be in memory at once to shuffle.
func (r *Result) Held() uint64 { return held(&r.Statement) }

// Positions returns the drawn part of shuffle number r, as positions in the unshuffled input. It may use scratch, which
// may be an earlier result or nil. A result is not to be used by several goroutines at once.
func (r *Result) Positions(number uint64, scratch []uint64) []uint64 {
	r.stream.Seek(number)
	return shuffle.Positions(r.Statement.Algorithm, r.Statement.Size, r.Statement.Draw, r.stream, scratch)
}

// Order returns the drawn part of shuffle number r of what stands in a, as many as the statement's size: what stands at
// its [Result.Positions]. It may use a for it; either way what a holds afterwards is not to be used.
func Order[T any](r *Result, number uint64, a []T) []T {
	r.stream.Seek(number)
	return shuffle.Order(r.Statement.Algorithm, a, int(r.Statement.Draw), r.stream)
}
