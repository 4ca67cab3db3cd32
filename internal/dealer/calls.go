package dealer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/rng"
)

// Errors of a request that carries a key.
var (
	// ErrRunning is for a request whose first attempt is not finished, or that wants a commitment which another request is
	// using at the moment.
	ErrRunning = errors.New("a request of the same key is running")
	// ErrOtherRequest is for a key that came with another request before.
	ErrOtherRequest = errors.New("the key belongs to another request")
)

// A Call is what a caller's retry of a request is known by: the key that the caller chose for it, and what it asks for.
// Both are kept as digests, beside the record that the request made, in the same transaction.
type Call struct{ key, request [sha256.Size]byte }

// NewCall returns the call of a request. The texts are hashed as they are.
func NewCall(key string, request ...[]byte) *Call {
	c := &Call{key: sha256.Sum256([]byte(key))}
	h := sha256.New()
	for _, part := range request {
		h.Write(part)
	}
	h.Sum(c.request[:0])
	return c
}

// callClaims begins the names of claims that calls hold.
const callClaims = "key "

// claim returns the name of the claim that the record of the call holds.
func (c *Call) claim() string { return callClaims + hex.EncodeToString(c.key[:]) }

// claims returns what an entry takes for its call: nothing if it has none.
func (c *Call) claims() []ledger.Claim {
	if c == nil {
		return nil
	}
	return []ledger.Claim{{Name: c.claim()}}
}

// isTaken reports whether an append failed because the call has a record already: by a retry, or by another request with
// the same key, through another process.
func (c *Call) isTaken(err error) bool {
	if c == nil || err == nil {
		return false
	}
	var claimed *ledger.ClaimError
	return errors.As(err, &claimed) && claimed.Name == c.claim()
}

// A running is what requests of this process are at work on, by the names of claims.
type running struct {
	mu    sync.Mutex
	names map[string]bool
}

// begin marks a name until end is called. The error is [ErrRunning].
func (r *running) begin(name string) (end func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names[name] {
		return nil, ErrRunning
	}
	if r.names == nil {
		r.names = map[string]bool{}
	}
	r.names[name] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.names, name)
	}, nil
}

// Begin marks a call as running until end is called; nil is nobody's. The error is [ErrRunning]. A call of another process
// that runs at the same time is not seen; of the two, one gets the record of the other.
func (d *Dealer) Begin(c *Call) (end func(), err error) {
	if c == nil {
		return func() {}, nil
	}
	return d.running.begin(c.claim())
}

// earlier returns the entry that the call has made before, with its record; nil has made none. The error is
// [ledger.ErrNotFound], [ErrOtherRequest] or another of the ledger's.
func (d *Dealer) earlier(ctx context.Context, c *Call) (*ledger.Stored, *audit.Record, error) {
	if c == nil {
		return nil, nil, ledger.ErrNotFound
	}
	stored, err := d.log.ByClaim(ctx, c.claim())
	if err != nil {
		return nil, nil, err
	}
	record, err := parse(stored)
	if err != nil {
		return nil, nil, err
	}
	k, err := d.keptOf(stored, record.Kind)
	switch {
	case err != nil:
		return nil, nil, err
	case k.call == nil || k.call.key != c.key:
		return nil, nil, fmt.Errorf("%w: record %d holds the claim of a key that is not its own", ledger.ErrCorrupt, stored.Index)
	case k.call.request != c.request:
		return nil, nil, ErrOtherRequest
	}
	return stored, record, nil
}

// Dealt returns what the call was dealt before, as it was; nil if this is its first attempt. The error is
// [ErrOtherRequest] or one of the ledger's.
func (d *Dealer) Dealt(ctx context.Context, c *Call) (*Result, error) {
	stored, record, err := d.earlier(ctx, c)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if record.Kind != audit.KindShuffle {
		return nil, fmt.Errorf("%w: record %d is of kind %s, and was answered as a shuffle", ledger.ErrCorrupt, stored.Index, record.Kind)
	}
	seed, err := d.seedOf(ctx, stored, record)
	if err != nil {
		return nil, err
	}
	result := &Result{AuditID: stored.ID, LogIndex: stored.Index, Statement: record.Statement, Commitment: record.Commitment}
	result.Statement.Seed = seed
	if result.Deck, result.Copies, err = d.deckOf(record); err != nil {
		return nil, err
	}
	result.stream, err = stream(seed, record)
	return result, err
}

// A DeckChangedError is for a record of a deck whose type has other cards today.
type DeckChangedError struct {
	AuditID uuid.UUID
	Type    string
}

func (e *DeckChangedError) Error() string {
	return fmt.Sprintf("the deck type %s has changed since the record %s", e.Type, e.AuditID)
}

// deckOf returns the deck of a record and how many copies of it there are; nil if it is of no deck. The error is a
// [*DeckChangedError].
func (d *Dealer) deckOf(record *audit.Record) (*deck.Deck, uint64, error) {
	name, copies, ok := audit.DeckOf(record.Statement.Input)
	if !ok {
		return nil, 0, nil
	}
	changed := &DeckChangedError{record.ID, name}
	kind, ok := d.decks.Type(name)
	if !ok {
		return nil, 0, changed
	}
	cards, err := kind.Deck(record.Parameters)
	if err != nil || d.inputOf(cards, copies) != record.Statement.Input {
		return nil, 0, changed
	}
	return cards, copies, nil
}

// stream returns the keystream of a record.
func stream(seed rng.Seed, record *audit.Record) (*rng.Stream, error) {
	keys, err := rng.Keys(seed, record.Commitment, record.ClientSeed)
	if err != nil {
		return nil, err
	}
	if s, ok := streams.Get().(*rng.Stream); ok {
		return s, s.Rekey(keys)
	}
	return rng.NewStream(keys)
}

// streams are keystreams that nobody reads any more.
var streams sync.Pool
