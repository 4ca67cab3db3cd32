package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"riffle/internal/ledger"
)

// Errors of a request that carries an idempotency key.
var (
	// ErrInFlight is for a request whose first attempt is still in flight, or that needs a
	// commitment or a shoe which another request is using at the moment.
	ErrInFlight = errors.New("a request for the same thing is in flight")
	// ErrKeyReused is for an idempotency key that came with a different request before.
	ErrKeyReused = errors.New("the idempotency key belongs to another request")
	// ErrOtherCaller is for an idempotency key that another caller has used.
	ErrOtherCaller = errors.New("the idempotency key belongs to another caller")
)

// A Key identifies the retries of one request: the digests of its idempotency key and of all that
// the request says, and the name of its caller. It is stored in the sidecar of the record that the
// request made.
type Key struct {
	key, request [sha256.Size]byte
	caller       string // empty for none; in request, if the key was read from a sidecar
}

// NewKey returns the key of a request, whose parts are hashed one after the other.
func NewKey(key string, request ...[]byte) *Key {
	k := &Key{key: sha256.Sum256([]byte(key))}
	h := sha256.New()
	for _, part := range request {
		h.Write(part)
	}
	h.Sum(k.request[:0])
	return k
}

// By returns the key of a request of the caller with a name, which may be empty, so that no other
// caller's request is a retry of it.
func (k *Key) By(name string) *Key { return &Key{k.key, k.request, name} }

const (
	// callerMark begins the digest of a request whose caller has a name. Any other begins so once in
	// 2^64 requests.
	callerMark = "caller:\x00"
	// callerSize is where the digest of the name ends that follows the mark.
	callerSize = len(callerMark) + 8
)

// digest returns the stored digest of the request. If the caller has a name it is the mark, a digest
// of the name, and one of name and request.
func (k *Key) digest() [sha256.Size]byte {
	if k.caller == "" {
		return k.request
	}
	caller := sha256.Sum256([]byte(k.caller))
	digest := sha256.Sum256(append(caller[:], k.request[:]...))
	copy(digest[callerSize:], digest[:])
	copy(digest[:], callerMark)
	copy(digest[len(callerMark):callerSize], caller[:])
	return digest
}

// checkFirst returns nil if k is the key of a retry of the request with the key first. The error is
// [ErrKeyReused] or [ErrOtherCaller]. Where the first caller had no name, a retry may come from any.
func (k *Key) checkFirst(first *Key) error {
	mine, caller := k.digest(), first.request[:callerSize]
	switch {
	case first.request == mine || first.request == k.request:
		return nil
	case bytes.HasPrefix(caller, []byte(callerMark)) && !bytes.HasPrefix(mine[:], caller):
		return ErrOtherCaller
	}
	return ErrKeyReused
}

// claim returns the name of the claim that the record of the request holds.
func (k *Key) claim() string { return keyClaims + hex.EncodeToString(k.key[:]) }

// claims returns the claims of a key, which may be nil.
func (k *Key) claims() []ledger.Claim {
	if k == nil {
		return nil
	}
	return []ledger.Claim{{Name: k.claim()}}
}

// Once answers a request exactly once for its key, which may be nil. The first attempt runs do. A
// retry runs replay with the record that the first attempt appended, also where that was through
// another process at the same moment. The error is [ErrInFlight], [ErrKeyReused],
// [ErrOtherCaller], one of the ledger's, or that of do or replay.
func Once[T any](ctx context.Context, j *Journal, key *Key, replay func(*Stored) (T, error), do func() (T, error)) (T, error) {
	var none T
	if key == nil {
		return do()
	}
	done, err := j.Begin(key.claim())
	if err != nil {
		return none, err
	}
	defer done()
	again := func(first *Stored) (T, error) {
		if o := observerOf(ctx); o != nil {
			o.Replayed(first.ID)
		}
		return replay(first)
	}
	first, err := j.firstAttempt(ctx, key)
	switch {
	case err == nil:
		return again(first)
	case !errors.Is(err, ledger.ErrNotFound):
		return none, err
	}
	result, err := do()
	if err == nil || j.Log.Err() != nil { // a log that failed may not hold what can be read from it
		return result, err
	}
	// Whatever do failed with, the cause may be that another process has answered the request: it
	// has used the commitment, taken the last card or closed the shoe.
	first, lookup := j.firstAttempt(ctx, key)
	switch {
	case lookup == nil:
		return again(first)
	case Conflicts(err, key.claim()):
		return result, lookup
	}
	return result, err
}

// firstAttempt returns the record that holds the claim of a key. The error is [ledger.ErrNotFound],
// [ErrKeyReused], [ErrOtherCaller] or another of the ledger's.
func (j *Journal) firstAttempt(ctx context.Context, key *Key) (*Stored, error) {
	first, err := j.ByClaim(ctx, key.claim())
	if err != nil {
		return nil, err
	}
	sidecar, err := j.Sidecar(first)
	switch {
	case err != nil:
		return nil, err
	case sidecar.Key == nil || sidecar.Key.key != key.key:
		return nil, fmt.Errorf("%w: record %d holds the claim of an idempotency key that is not its own", ledger.ErrCorrupt, first.Index)
	}
	if err := key.checkFirst(sidecar.Key); err != nil {
		return nil, err
	}
	return first, nil
}

// Conflicts reports whether an append failed because another record holds the claim.
func Conflicts(err error, claim string) bool {
	var conflict *ledger.ClaimError
	return errors.As(err, &conflict) && conflict.Name == claim
}

// inFlight holds the claims that requests of this process are working on.
type inFlight struct {
	mu     sync.Mutex
	claims map[string]bool
}

// Begin marks a claim as in flight in this process until done is called. The error is
// [ErrInFlight]. It spares two requests at once a race for the claim; other processes do not see
// it.
func (j *Journal) Begin(claim string) (done func(), err error) {
	f := &j.inFlight
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.claims[claim] {
		return nil, ErrInFlight
	}
	if f.claims == nil {
		f.claims = map[string]bool{}
	}
	f.claims[claim] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.claims, claim)
	}, nil
}
