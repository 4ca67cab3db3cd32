package journal_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
)

// appendReveal appends a reveal, the simplest record, and returns its id.
func appendReveal(j *journal.Journal, e *journal.Addition) (uuid.UUID, error) {
	record := &audit.Record{Kind: audit.KindReveal}
	if err := j.Identify(record); err != nil {
		return uuid.Nil, err
	}
	record.AuditID = record.ID
	e.Record = record
	if _, err := j.Append(context.Background(), e); err != nil {
		return uuid.Nil, err
	}
	return record.ID, nil
}

// An answer is the result of a request.
type answer struct {
	id       uuid.UUID // of its record
	replayed bool
}

// request runs Once with a key. The first attempt calls before, which may be nil.
func request(ctx context.Context, j *journal.Journal, key *journal.IdempotencyKey, before func()) (answer, error) {
	replay := func(first *journal.StoredRecord) (answer, error) { return answer{first.ID, true}, nil }
	return journal.Once(ctx, j, key, replay, func() (answer, error) {
		if before != nil {
			before()
		}
		id, err := appendReveal(j, &journal.Addition{Sidecar: journal.Sidecar{Key: key}})
		return answer{id: id}, err
	})
}

func made(t *testing.T, j *journal.Journal, key *journal.IdempotencyKey) answer {
	t.Helper()
	got, err := request(t.Context(), j, key, nil)
	require.NoErrorf(t, err, "the first attempt got %+v", got)
	require.Falsef(t, got.replayed, "the first attempt got %+v", got)
	return got
}

func TestOnceReplaysTheFirstAttempt(t *testing.T) {
	s := journaltest.New(t)
	j, other := s.Journal(t), s.Journal(t)
	first := made(t, j, journal.NewIdempotencyKey("key", []byte("request")))
	made(t, j, journal.NewIdempotencyKey("another key", []byte("request")))
	for range 2 {
		for _, process := range []*journal.Journal{j, other} {
			got, err := request(t.Context(), process, journal.NewIdempotencyKey("key", []byte("req"), []byte("uest")), nil)
			require.NoErrorf(t, err, "a retry got %+v, %v, want %s replayed", got, err, first.id)
			assert.Equalf(t, (answer{first.id, true}), got, "a retry got %+v, %v, want %s replayed", got, err, first.id)
		}
	}
	assert.EqualValues(t, 2, s.Size(t), "there")
}

// Two processes look up the key before either has appended.
func TestOnceReplaysTheWinnerOfARace(t *testing.T) {
	s := journaltest.New(t)
	j, other := s.Journal(t), s.Journal(t)
	var won answer
	lost, err := request(t.Context(), j, journal.NewIdempotencyKey("key", []byte("request")), func() {
		won = made(t, other, journal.NewIdempotencyKey("key", []byte("request")))
	})
	require.NoErrorf(t, err, "the loser got %+v, %v, want %s replayed", lost, err, won.id)
	assert.Equalf(t, (answer{won.id, true}), lost, "the loser got %+v, %v, want %s replayed", lost, err, won.id)
	got, err := request(t.Context(), j, journal.NewIdempotencyKey("contested", []byte("request")), func() {
		made(t, other, journal.NewIdempotencyKey("contested", []byte("another request")))
	})
	assert.ErrorIsf(t, err, journal.ErrKeyReused, "a loser to another request got %+v", got)
	assert.EqualValues(t, 2, s.Size(t), "there")
}

// The loser of a race may fail before its append: the shoe to close is closed already.
func TestOnceReplaysTheWinnerWhateverTheLoserFailedWith(t *testing.T) {
	s := journaltest.New(t)
	j, other := s.Journal(t), s.Journal(t)
	closed := errors.New("the shoe is closed")
	attempt := func(key, theirs *journal.IdempotencyKey) (answer, error) {
		replay := func(first *journal.StoredRecord) (answer, error) { return answer{first.ID, true}, nil }
		return journal.Once(t.Context(), j, key, replay, func() (answer, error) {
			made(t, other, theirs)
			return answer{}, closed
		})
	}
	got, err := attempt(journal.NewIdempotencyKey("key"), journal.NewIdempotencyKey("key"))
	assert.Truef(t, err == nil && got.replayed, "the loser got %+v, %v", got, err)
	got, err = attempt(journal.NewIdempotencyKey("mine"), journal.NewIdempotencyKey("theirs"))
	assert.ErrorIsf(t, err, closed, "a failure beside a request with another key got %+v", got)
	got, err = attempt(journal.NewIdempotencyKey("reused"), journal.NewIdempotencyKey("reused", []byte("another request")))
	assert.ErrorIsf(t, err, closed, "a failure beside another request with the key got %+v", got)
}

// A record read from a store whose commit failed may not be durable.
func TestOnceReplaysNothingFromALogThatFailed(t *testing.T) {
	s := journaltest.New(t)
	j, other := s.Journal(t), s.Journal(t)
	key := journal.NewIdempotencyKey("key")
	got, err := request(t.Context(), j, key, func() {
		made(t, other, key)
		s.Appending = func() error { return errors.New("the disk failed") }
	})
	assert.ErrorIsf(t, err, ledger.ErrBroken, "%+v", got)
	assert.Falsef(t, got.replayed, "%+v", got)
}

func TestOnceAppendsOneRecordHoweverManyAttemptIt(t *testing.T) {
	s := journaltest.New(t)
	processes := []*journal.Journal{s.Journal(t), s.Journal(t)}
	for round := range 10 {
		key := journal.NewIdempotencyKey(string(rune('a'+round)), []byte("request"))
		answers, outcomes := make([]answer, 16), make([]error, 16)
		var wait sync.WaitGroup
		for i := range answers {
			wait.Go(func() { answers[i], outcomes[i] = request(t.Context(), processes[i%2], key, nil) })
		}
		wait.Wait()
		final, err := request(t.Context(), processes[0], key, nil)
		require.NoErrorf(t, err, "a retry got %+v", final)
		require.Truef(t, final.replayed, "a retry got %+v", final)
		first := 0
		for i, err := range outcomes {
			switch {
			case err == nil && answers[i].id != final.id:
				t.Errorf("attempt %d got %+v, want %s", i, answers[i], final.id)
			case err == nil && !answers[i].replayed:
				first++
			case err != nil && !errors.Is(err, journal.ErrInFlight):
				t.Errorf("attempt %d: %v", i, err)
			}
		}
		require.Truef(t, first == 1 && s.Size(t) == uint64(round+1), "%d attempts were the first, and there are %d records in round %d", first, s.Size(t), round)
	}
}

func TestOnceRefusesARetryInFlight(t *testing.T) {
	j := journaltest.Open(t)
	key := journal.NewIdempotencyKey("key", []byte("request"))
	_, err := request(t.Context(), j, key, func() {
		for _, other := range []string{"another key", "a third key"} {
			for _, same := range []*journal.IdempotencyKey{key, journal.NewIdempotencyKey("key", []byte("another request"))} {
				got, err := request(t.Context(), j, same, nil)
				assert.ErrorIsf(t, err, journal.ErrInFlight, "meanwhile %+v", got)
			}
			made(t, j, journal.NewIdempotencyKey(other))
		}
	})
	require.NoError(t, err)
	got, err := request(t.Context(), j, key, nil)
	assert.Truef(t, err == nil && got.replayed, "afterwards %+v, %v", got, err)
}

func TestOnceAttemptsAgainAfterAFailure(t *testing.T) {
	j := journaltest.Open(t)
	key := journal.NewIdempotencyKey("key")
	failure := errors.New("failure")
	replay := func(*journal.StoredRecord) (int, error) { return 7, failure }
	for range 2 {
		got, err := journal.Once(t.Context(), j, key, replay, func() (int, error) { return 3, failure })
		assert.Truef(t, got == 3 && errors.Is(err, failure), "a failed attempt got %d, %v", got, err)
	}
	// The caller handles conflicts on other claims.
	conflict := &ledger.ClaimError{Name: "shoe"}
	_, err := journal.Once(t.Context(), j, key, replay, func() (int, error) { return 0, conflict })
	assert.ErrorIs(t, err, conflict, "an attempt with another conflict")
	made(t, j, key)
	got, err := journal.Once(t.Context(), j, key, replay, nil)
	assert.Truef(t, got == 7 && errors.Is(err, failure), "a failed replay got %d, %v", got, err)
}

func TestOnceDoesNothingUnlessItKnowsThatItIsFirst(t *testing.T) {
	j := journaltest.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := request(ctx, j, journal.NewIdempotencyKey("key"), func() { t.Error("it was attempted") })
	assert.Errorf(t, err, "without an answer of the store: %+v", got)
}

// keyClaim returns the stored name of the claim on an idempotency key.
func keyClaim(key string) string {
	digest := sha256.Sum256([]byte(key))
	return "key " + hex.EncodeToString(digest[:])
}

func TestClaimMovedToARecordOfAnotherKeyReplaysNothing(t *testing.T) {
	s := journaltest.New(t)
	j := s.Journal(t)
	for _, key := range []string{"mine", "theirs"} {
		made(t, j, journal.NewIdempotencyKey(key))
	}
	made(t, j, nil)
	s.Moved = map[string]string{keyClaim("mine"): keyClaim("theirs")}
	got, err := request(t.Context(), j, journal.NewIdempotencyKey("mine"), nil)
	assert.ErrorIsf(t, err, ledger.ErrCorrupt, "moved to another key: %+v", got)
}

// Only a named caller can retry its requests; anyone can retry an anonymous one.
func TestKeysBelongToTheirCallers(t *testing.T) {
	s := journaltest.New(t)
	j, other := s.Journal(t), s.Journal(t)
	key := func(name, caller, request string) *journal.IdempotencyKey {
		return journal.NewIdempotencyKey(name, []byte(request)).By(caller)
	}
	for first, retries := range map[string]map[[2]string]error{
		"": {
			{"", "request"}: nil, {"a", "request"}: nil, {"b", "request"}: nil,
			{"", "another"}: journal.ErrKeyReused, {"a", "another"}: journal.ErrKeyReused,
		},
		"a": {
			{"a", "request"}: nil, {"a", "another"}: journal.ErrKeyReused,
			{"b", "request"}: journal.ErrOtherCaller, {"b", "another"}: journal.ErrOtherCaller,
			{"", "request"}: journal.ErrOtherCaller, {"", "another"}: journal.ErrOtherCaller,
		},
	} {
		name := "key of " + first
		want := made(t, j, key(name, first, "request"))
		for retry, wantErr := range retries {
			got, err := request(t.Context(), other, key(name, retry[0], retry[1]), func() { t.Error("it was attempted") })
			if !errors.Is(err, wantErr) || err == nil && got.id != want.id {
				t.Errorf("%q of %q after that of %q: %v, %v; want %v", retry[1], retry[0], first, got, err, wantErr)
			}
		}
	}
}

func TestOnceWithoutAKeyNeverReplays(t *testing.T) {
	s := journaltest.New(t)
	j := s.Journal(t)
	first, second := made(t, j, nil), made(t, j, nil)
	assert.NotEqualf(t, second, first, "two requests without a key have the records %s and %s", first.id, second.id)
	assert.EqualValuesf(t, 2, s.Size(t), "two requests without a key have the records %s and %s", first.id, second.id)
}
