// Package dealer takes one request from seed to sealed record to result.
//
// The order of things is the promise. A request is checked whole before anything is drawn; a seed is drawn fresh for
// it; the statement is committed to and its record is durable in the ledger; only then is there a [Result], from which
// the orders follow by calculation alone. Whatever fails on the way, no result exists.
package dealer

import (
	"encoding/binary"
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

// A Dealer deals shuffles and answers for their records.
type Dealer struct {
	log    *ledger.Log
	decks  *deck.Catalogue
	random io.Reader // the operating system's generator
	now    func() time.Time
	limits Limits
}

// maxHands bounds the list of hands, which is part of the record.
const maxHands = 1000

// New returns a dealer. random has to be the operating system's generator.
func New(log *ledger.Log, decks *deck.Catalogue, random io.Reader, now func() time.Time, limits Limits) *Dealer {
	return &Dealer{log: log, decks: decks, random: random, now: now, limits: limits}
}

// Limits returns the limits that plans are checked against.
func (d *Dealer) Limits() Limits { return d.limits }

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

// Deal carries a plan out. The error is one of the ledger or of the source of randomness; then nothing was dealt.
func (d *Dealer) Deal(plan *Plan) (*Result, error) {
	request, statement := plan.request, plan.statement
	var err error
	statement.Seed, err = rng.NewSeed(d.random, rng.Blocks(statement.Size, statement.Draw))
	if err != nil {
		return nil, err
	}
	now := d.now()
	id, err := newID(now, d.random)
	if err != nil {
		return nil, err
	}
	record := audit.Record{
		ID: id, Time: now, Kind: audit.KindShuffle, Statement: statement, Commitment: statement.Commitment(),
		ClientSeed: request.ClientSeed, RevealNow: request.RevealNow,
	}
	if plan.deck != nil {
		record.Parameters = plan.deck.Parameters()
	}
	keys, err := rng.Keys(statement.Seed, record.Commitment, request.ClientSeed)
	if err != nil {
		return nil, err
	}
	stream, err := rng.NewStream(keys)
	if err != nil {
		return nil, err
	}
	buf := records.Get().(*[]byte)
	*buf = record.Append((*buf)[:0])
	index, err := d.log.Append(ledger.Entry{ID: id, Reference: statement.Reference, Record: *buf, Secret: statement.Seed})
	records.Put(buf) // the store keeps a copy
	if err != nil {
		return nil, err
	}
	return &Result{
		AuditID: id, LogIndex: index, Statement: statement, Commitment: record.Commitment,
		Deck: plan.deck, Copies: plan.copies, stream: stream,
	}, nil
}

// records are buffers for records on their way to the ledger.
var records = sync.Pool{New: func() any { return new([]byte) }}

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

// Positions returns the drawn part of shuffle number r, as positions in the unshuffled input. It may use scratch, which
// may be an earlier result or nil. A result is not to be used by several goroutines at once.
func (r *Result) Positions(number uint64, scratch []uint64) []uint64 {
	r.stream.Seek(number)
	return shuffle.Positions(r.Statement.Algorithm, r.Statement.Size, r.Statement.Draw, r.stream, scratch)
}
