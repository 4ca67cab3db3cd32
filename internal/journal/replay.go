package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"riffle/internal/ledger"
)

// Errors of a request that carries an idempotency key.
var (
	// ErrInFlight is for a retry whose first attempt is still in flight, or a request whose
	// commitment another request is using.
	ErrInFlight = errors.New("a request for the same thing is in flight")
	// ErrKeyReused is for an idempotency key that was used for a different request.
	ErrKeyReused = errors.New("the idempotency key belongs to another request")
	// ErrOtherCaller is for an idempotency key that another caller has used.
	ErrOtherCaller = errors.New("the idempotency key belongs to another caller")
)

// An IdempotencyKey identifies the retries of one request. It holds digests of the idempotency key and the
// request, and the caller's name. The record's sidecar stores it.
type IdempotencyKey struct {
	key, request [sha256.Size]byte
	caller       string // empty for none; folded into request in a key that was read from a sidecar
}

// NewIdempotencyKey returns the key of a request, given in parts that are hashed in order.
func NewIdempotencyKey(key string, request ...[]byte) *IdempotencyKey {
	k := &IdempotencyKey{key: sha256.Sum256([]byte(key))}
	h := sha256.New()
	for _, part := range request {
		h.Write(part)
	}
	h.Sum(k.request[:0])
	return k
}

// MaxKey is the length of the longest idempotency key, in characters.
const MaxKey = 255

// A key is a string of RFC 9651, 3.3.3, as the IETF draft demands, or the bare characters that most
// clients send. Both forms of a key are equal.
var (
	quotedKey = regexp.MustCompile(`^"((?:[^"\\]|\\["\\])*)"$`)
	unescape  = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
	visible   = regexp.MustCompile(`^[!-~]+$`)
)

// ParseKey reads the values of the header field Idempotency-Key.
func ParseKey(values []string) (key string, ok bool) {
	if len(values) != 1 {
		return "", false
	}
	key = strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		inner := quotedKey.FindStringSubmatch(key)
		if inner == nil {
			return "", false
		}
		key = unescape.Replace(inner[1])
	}
	return key, len(key) <= MaxKey && visible.MatchString(key)
}

// By returns the key for a named caller, so that another caller's request is no retry of it. The
// name may be empty.
func (k *IdempotencyKey) By(name string) *IdempotencyKey {
	return &IdempotencyKey{k.key, k.request, name}
}

const (
	// callerMark begins the request digest of a named caller. Another digest begins with it by
	// chance, once in 2^64 requests.
	callerMark = "caller:\x00"
	// callerSize is the length of the mark and the digest of the caller's name after it.
	callerSize = len(callerMark) + 8
)

// digest returns the request digest to store. For a named caller it is the mark, a digest of the
// name, and a digest of name and request.
func (k *IdempotencyKey) digest() [sha256.Size]byte {
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

// checkFirst returns an error if k is not a retry of the request with the key first: [ErrKeyReused]
// or [ErrOtherCaller]. Any caller may retry a request that had no named caller.
func (k *IdempotencyKey) checkFirst(first *IdempotencyKey) error {
	mine, caller := k.digest(), first.request[:callerSize]
	switch {
	case first.request == mine || first.request == k.request:
		return nil
	case bytes.HasPrefix(caller, []byte(callerMark)) && !bytes.HasPrefix(mine[:], caller):
		return ErrOtherCaller
	}
	return ErrKeyReused
}

// claim names the claim on the key.
func (k *IdempotencyKey) claim() string { return keyClaims + hex.EncodeToString(k.key[:]) }

// claims returns the key's claims. The key may be nil.
func (k *IdempotencyKey) claims() []ledger.Claim {
	if k == nil {
		return nil
	}
	return []ledger.Claim{{Name: k.claim()}}
}

// Once runs a request once for its key. The first attempt runs do; a retry runs replay with the
// first attempt's record, even if another process appended it concurrently. Without a key it runs
// do. The error is [ErrInFlight], [ErrKeyReused], [ErrOtherCaller], a ledger error, or an error of
// do or replay.
func Once[T any](ctx context.Context, j *Journal, key *IdempotencyKey, replay func(*StoredRecord) (T, error), do func() (T, error)) (T, error) {
	var none T
	if key == nil {
		return do()
	}
	done, err := j.Begin(key.claim())
	if err != nil {
		return none, err
	}
	defer done()
	again := func(first *StoredRecord) (T, error) {
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
	if err == nil || j.Log.Err() != nil { // the store of a failed log may not be durable
		return result, err
	}
	// Another process may have handled the request first: used the commitment, say, or taken the
	// last card.
	first, lookup := j.firstAttempt(ctx, key)
	switch {
	case lookup == nil:
		return again(first)
	case Conflicts(err, key.claim()):
		return result, lookup
	}
	return result, err
}

// firstAttempt returns the record that holds the key's claim. The error is [ledger.ErrNotFound],
// [ErrKeyReused], [ErrOtherCaller] or another ledger error.
func (j *Journal) firstAttempt(ctx context.Context, key *IdempotencyKey) (*StoredRecord, error) {
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
	return first, key.checkFirst(sidecar.Key)
}

// Conflicts reports whether an append failed because another record holds the claim.
func Conflicts(err error, claim string) bool {
	conflict, ok := errors.AsType[*ledger.ClaimError](err)
	return ok && conflict.Name == claim
}

// Begin marks a claim as in flight in this process until done is called. The error is
// [ErrInFlight]. It avoids conflicts within the process; other processes do not see it.
func (j *Journal) Begin(claim string) (done func(), err error) {
	if _, begun := j.inFlight.LoadOrStore(claim, nil); begun {
		return nil, ErrInFlight
	}
	return func() { j.inFlight.Delete(claim) }, nil
}
