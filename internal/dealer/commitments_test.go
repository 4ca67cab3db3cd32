package dealer

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
)

// commit makes a commitment to a shuffle of five numbers.
func commit(t *testing.T, d *Dealer, key *journal.IdempotencyKey) *Commitment {
	t.Helper()
	c, err := d.Commit(t.Context(), &Request{Request: plan.Request{Size: ptr(5), Reference: "committed"}, Key: key})
	require.NoError(t, err)
	return c
}

// use uses a commitment to a shuffle.
func use(t *testing.T, d *Dealer, c *Commitment) error {
	t.Helper()
	_, err := d.Shuffle(t.Context(), ask(plan.Request{CommitmentID: c.ID, ClientSeed: "x"}))
	return err
}

// A commitment in use is not voided, nor used by another request. After the deadline, a use fails
// before it conflicts.
func TestCommitmentInUse(t *testing.T) {
	d, s := newDealer(t, Options{})
	c := commit(t, d, nil)
	done, err := d.journal.Begin(journal.CommitmentClaim(c.ID))
	require.NoError(t, err)
	assert.ErrorIs(t, use(t, d, c), journal.ErrInFlight, "used while another request uses it")
	s.Now = func() time.Time { return c.Deadline }
	n, err := d.ExpireCommitments(t.Context())
	assert.Truef(t, n == 0 && err == nil, "%d commitments expired while in use, %v", n, err)
	var settled *CommitmentClosedError
	err = use(t, d, c)
	assert.Truef(t, errors.As(err, &settled) && settled.Status == StatusLate, "used after its deadline: %v, want that it is late", err)
	done()
	n, err = d.ExpireCommitments(t.Context())
	assert.Truef(t, n == 1 && err == nil, "%d commitments expired afterwards, %v, want 1", n, err)
}

// Two dealers on one store are two replicas, each with a stale cache.
func TestCommitmentIsUsedOnceThroughReplicas(t *testing.T) {
	d, s := newDealer(t, Options{})
	late := 0
	other := New(s.Journal(t), d.rules, Options{Observe: func(e Event) {
		if e == Late {
			late++
		}
	}})
	for range 10 {
		c := commit(t, d, nil)
		cached, ok := d.open.Get(c.ID)
		require.True(t, ok, "a new commitment is not cached")
		theirs := *cached
		other.open.Add(c.ID, &theirs)
		var wait sync.WaitGroup
		var outcomes [2]error
		for i, by := range []*Dealer{d, other} {
			wait.Go(func() { outcomes[i] = use(t, by, c) })
		}
		wait.Wait()
		var settled *CommitmentClosedError
		failed := outcomes[0]
		if failed == nil {
			failed = outcomes[1]
		}
		require.Truef(t, (outcomes[0] == nil) != (outcomes[1] == nil) && errors.As(failed, &settled) && settled.Status == StatusUsed,
			"two replicas use one commitment: %v", outcomes)
		for _, by := range []*Dealer{d, other} {
			_, ok := by.open.Get(c.ID)
			assert.False(t, ok, "a used commitment is cached as open")
		}
	}
	assert.Equal(t, 0, late)
}

func TestCommitmentExpires(t *testing.T) {
	events := map[Event]int{}
	var mu sync.Mutex
	d, s := newDealer(t, Options{Deadline: time.Minute, Observe: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		events[e]++
	}})
	now := time.Now()
	s.Now = func() time.Time { return now }
	var made []*Commitment
	for range 300 {
		made = append(made, commit(t, d, nil))
	}
	want := now.UTC().Truncate(time.Microsecond).Add(time.Minute)
	assert.Truef(t, made[0].Deadline.Equal(want), "the deadline is %s, want %s", made[0].Deadline, want)
	now = made[0].Deadline.Add(-time.Microsecond)
	assert.NoError(t, use(t, d, made[0]), "used at the last moment")
	if n, err := d.ExpireCommitments(t.Context()); n != 0 || err != nil {
		t.Errorf("before the deadline %d are void, %v", n, err)
	}
	now = made[0].Deadline
	var settled *CommitmentClosedError
	if err := use(t, d, made[1]); !errors.As(err, &settled) || settled.Status != StatusLate {
		t.Errorf("used at the deadline: %v", err)
	}
	if err := use(t, New(s.Journal(t), d.rules, Options{}), made[1]); !errors.As(err, &settled) || settled.Status != StatusLate {
		t.Errorf("used at the deadline through a process that has not cached it: %v", err)
	}
	if open, late, err := d.CountCommitments(t.Context()); err != nil || open != 0 || late != 299 {
		t.Errorf("%d open and %d late, %v, want 0 and 299", open, late, err)
	}
	before := s.Size(t)
	if n, err := d.ExpireCommitments(t.Context()); n != 299 || err != nil {
		t.Errorf("after the deadline %d are void, %v, want 299", n, err)
	}
	if n, err := d.ExpireCommitments(t.Context()); n != 0 || err != nil || s.Size(t) != before+299 {
		t.Errorf("a second time %d are void, %v", n, err)
	}
	for _, c := range made[1:] {
		got, err := d.Commitment(t.Context(), c.ID)
		require.NoErrorf(t, err, "the commitment is %+v", got)
		require.Equalf(t, StatusVoid, got.Status, "the commitment is %+v", got)
		void, err := d.journal.ByID(t.Context(), got.ClosedBy)
		require.NoError(t, err)
		assert.Truef(t, void.Kind == audit.KindVoid && void.CommitmentID == c.ID && void.Commitment == c.Commitment, "the void is %s", void.Bytes)
	}
	err := use(t, d, made[2])
	assert.Truef(t, errors.As(err, &settled) && settled.Status == StatusVoid, "used when it is void: %v", err)
	now = made[0].Deadline.Add(-time.Second) // setting the clock back does not reopen any
	err = use(t, d, made[3])
	assert.Truef(t, errors.As(err, &settled) && settled.Status == StatusVoid, "used when it is void, and the clock was set back: %v", err)
	assert.Equal(t, map[Event]int{Committed: 300, Used: 1, Voided: 299, Late: 3}, events)
	s.Check(t, d.journal)
}

func TestRefusedUseLeavesTheCommitmentOpen(t *testing.T) {
	d, s := newDealer(t, Options{})
	made, err := d.Commit(t.Context(), ask(plan.Request{Deck: "standard52", Decks: ptr(2), Draw: ptr(50), Reference: "mine"}))
	require.NoError(t, err)
	before := s.Size(t)
	for pointer, r := range map[string]plan.Request{
		"/client_seed": {},
		"/decks":       {ClientSeed: "x", Deck: "standard52", Decks: ptr(1)},
		"/size":        {ClientSeed: "x", Size: ptr(104)},
		"/draw":        {ClientSeed: "x", Draw: ptr(51)},
		"/reference":   {ClientSeed: "x", Reference: "yours"},
	} {
		r.CommitmentID = made.ID
		_, err := d.Shuffle(t.Context(), ask(r))
		var invalid *plan.Invalid
		assert.Truef(t, errors.As(err, &invalid), "%+v: %v, want an error at", r, err)
		assert.Equalf(t, pointer, invalid.Pointer, "%+v: %v, want an error at", r, err)
		got, err := d.Commitment(t.Context(), made.ID)
		assert.Truef(t, err == nil && got.Status == StatusOpen && s.Size(t) == before, "%s: the commitment is %+v, %v", pointer, got, err)
	}
	shuffled := mustShuffle(t, d, ask(plan.Request{Size: ptr(3)})).ID
	for _, id := range []uuid.UUID{{1}, shuffled} {
		_, err := d.Shuffle(t.Context(), ask(plan.Request{CommitmentID: id, ClientSeed: "x"}))
		assert.ErrorIs(t, err, ErrNoCommitment, "no commitment is used")
		_, err = d.Commitment(t.Context(), id)
		assert.ErrorIs(t, err, ErrNoCommitment, "no commitment is shown")
	}
}

// The seed in the commitment's sidecar was replaced.
func TestCommitmentWithAnotherSeedIsNotUsed(t *testing.T) {
	d, s := newDealer(t, Options{})
	c := commit(t, d, nil)
	d.open.Remove(c.ID)
	s.Tamper = func(e *ledger.StoredEntry) { e.Sidecar = nil }
	assert.ErrorIs(t, use(t, d, c), ledger.ErrCorrupt, "a commitment without its seed is used")
}

func TestCommitmentWhoseClaimWasMovedIsCorrupt(t *testing.T) {
	d, s := newDealer(t, Options{})
	c, other := commit(t, d, nil), commit(t, d, nil)
	require.NoError(t, use(t, d, other))
	for _, to := range []string{journal.CommitmentClaim(other.ID), "nobody's"} {
		s.Moved = map[string]string{journal.CommitmentClaim(c.ID): to}
		got, err := d.Commitment(t.Context(), c.ID)
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "moved to %s: %+v", to, got)
	}
	book := openBook(t, d, 3)
	s.Moved = map[string]string{journal.CommitmentClaim(book.ID): "nobody's"}
	assert.ErrorIs(t, use(t, d, book), ledger.ErrCorrupt)
}

func TestCachedCommitmentsAreBounded(t *testing.T) {
	d := New(nil, nil, Options{})
	for i := range maxOpen + 100 {
		c := &committed{record: &audit.Record{ID: uuid.UUID{byte(i >> 16), byte(i >> 8), byte(i)}}}
		d.open.Add(c.record.ID, c)
	}
	assert.Equal(t, maxOpen, d.open.Len())
}
