package disclosure_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/budget"
	"riffle/internal/dealer"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/rng"
)

// service is a Service with the dealer and shoes that make its records.
type service struct {
	*disclosure.Service
	store   *journaltest.Store
	journal *journal.Journal
	dealer  *dealer.Dealer
	shoes   *liveshoes.Service
}

func newService(t *testing.T) *service {
	t.Helper()
	return newServiceOn(t, journaltest.New(t))
}

// newServiceOn returns a service on a store, like another process.
func newServiceOn(t *testing.T, s *journaltest.Store) *service {
	t.Helper()
	j, rules := s.Journal(t), journaltest.Rules(t)
	d := dealer.New(j, rules, dealer.Options{})
	return &service{disclosure.New(j, rules), s, j, d, liveshoes.New(j, d, rules, liveshoes.Options{})}
}

func (s *service) shuffle(t *testing.T, r plan.Request) *dealer.Shuffle {
	t.Helper()
	made, err := s.dealer.Shuffle(t.Context(), &dealer.Request{Request: r})
	require.NoError(t, err)
	return made
}

// revealed reveals a new shuffle and returns the reveal's id.
func (s *service) revealed(t *testing.T, reference string) (*dealer.Shuffle, uuid.UUID) {
	t.Helper()
	made := s.shuffle(t, plan.Request{Deck: "standard52", Reference: reference})
	_, err := s.Reveal(t.Context(), made.ID, made.Statement.Seed, nil)
	require.NoError(t, err)
	reveal, err := s.journal.ByClaim(t.Context(), journal.RevealClaim(made.ID))
	require.NoError(t, err)
	return made, reveal.ID
}

func ptr(n uint64) *uint64 { return &n }

func TestRevealTakesTheSeed(t *testing.T) {
	s := newService(t)
	made := s.shuffle(t, plan.Request{Deck: "standard52", Reference: "table 1"})
	shown := func() rng.Seed {
		a, err := s.Audit(t.Context(), made.ID)
		require.NoError(t, err)
		return a.Seed
	}
	wrong := slices.Clone(made.Statement.Seed)
	wrong[0]++
	for _, seed := range []rng.Seed{nil, wrong, wrong[:32], append(slices.Clone(made.Statement.Seed), 0)} {
		_, err := s.Reveal(t.Context(), made.ID, seed, nil)
		assert.ErrorIsf(t, err, disclosure.ErrWrongSeed, "revealing with %x", seed)
	}
	assert.True(t, shown() == nil && s.store.Size(t) == 1, "a wrong seed revealed something")
	done := make(chan error)
	processes := []*service{s, newServiceOn(t, s.store)}
	for i := range 8 {
		go func() {
			_, err := processes[i%2].Reveal(t.Context(), made.ID, made.Statement.Seed, nil)
			done <- err
		}()
	}
	for range 8 {
		assert.NoError(t, <-done)
	}
	assert.Equal(t, made.Statement.Seed, shown(), "the seed is not shown after the reveal")
	audits, err := s.Audits(t.Context(), "table 1", 0, 10, unlimited)
	require.Truef(t, err == nil && len(audits) == 2 && s.store.Size(t) == 2, "%d audits of the reference, %v, want the shuffle and one reveal", len(audits), err)
	if !bytes.Equal(audits[0].Seed, made.Statement.Seed) || audits[1].Seed != nil {
		t.Errorf("listed with the shuffle is %x, with the reveal %x", audits[0].Seed, audits[1].Seed)
	}
	reveal, err := audit.ParseRecord(audits[1].Record)
	assert.Truef(t, err == nil && reveal.Kind == audit.KindReveal && reveal.AuditID == made.ID && reveal.Commitment == made.Commitment,
		"the reveal is %+v, %v", reveal, err)
	_, err = s.Reveal(t.Context(), audits[1].ID, made.Statement.Seed, nil)
	assert.ErrorIs(t, err, disclosure.ErrNoSeed, "revealing a reveal")
	s.store.Check(t, s.journal)
}

func second[T any](_ T, err error) error { return err }

// unlimited lets a page take any memory.
func unlimited(*disclosure.PublicRecord) error { return nil }

// TestAuditsArePaged lists in pages of more records than are read together, and in one that has too
// little memory.
func TestAuditsArePaged(t *testing.T) {
	const limit = 18
	s := newService(t)
	var want []uuid.UUID
	for range 40 {
		want = append(want, s.shuffle(t, plan.Request{Size: ptr(3), Reference: "game"}).ID)
		s.shuffle(t, plan.Request{Size: ptr(3), Reference: "another game"})
	}
	var got []uuid.UUID
	for from := uint64(0); ; {
		page, err := s.Audits(t.Context(), "game", from, limit, unlimited)
		require.NoError(t, err)
		for _, a := range page {
			got = append(got, a.ID)
		}
		if len(page) < limit {
			break
		}
		from = page[limit-1].LogIndex + 1
	}
	assert.Equal(t, want, got)
	left := 20
	_, err := s.Audits(t.Context(), "game", 0, 40, func(*disclosure.PublicRecord) error {
		if left--; left < 0 {
			return budget.ErrFull
		}
		return nil
	})
	assert.ErrorIs(t, err, budget.ErrFull)
}

// A seed that was changed in its sidecar is neither shown nor used.
func TestSeedHasToOpenItsCommitment(t *testing.T) {
	for _, v := range []struct {
		name   string
		damage func(seed []byte) []byte
	}{
		{"a bit", func(seed []byte) []byte { seed[0] ^= 1; return seed }},
		{"another seed", func(seed []byte) []byte { clear(seed); return seed }},
		{"cut short", func(seed []byte) []byte { return seed[:len(seed)-1] }},
		{"made longer", func(seed []byte) []byte { return append(seed, 0) }},
		{"no seed", func([]byte) []byte { return nil }},
	} {
		s := newService(t)
		public := s.shuffle(t, plan.Request{Deck: "standard52", Reference: "now", RevealNow: true})
		secret := s.shuffle(t, plan.Request{Deck: "standard52", Reference: "secret"})
		later, reveal := s.revealed(t, "later")
		s.store.Tamper = func(e *ledger.StoredEntry) {
			if e.ID != reveal {
				e.Sidecar = v.damage(slices.Clone(e.Sidecar))
			}
		}
		corrupt := func(what string, err error) {
			t.Helper()
			assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%s: %s", v.name, what)
		}
		for what, made := range map[string]*dealer.Shuffle{"revealed at once": public, "revealed later": later} {
			_, err := s.Audit(t.Context(), made.ID)
			corrupt("showing what was "+what, err)
			_, err = s.Prove(t.Context(), made.ID, false)
			corrupt("proving what was "+what, err)
			_, err = s.Audits(t.Context(), made.Statement.Reference, 0, 10, unlimited)
			corrupt("listing what was "+what, err)
		}
		before := s.store.Size(t)
		_, err := s.Reveal(t.Context(), secret.ID, secret.Statement.Seed, nil)
		corrupt("revealing", err)
		assert.Equal(t, before, s.store.Size(t), v.name)
		// Showing a record does not read a secret seed.
		a, err := s.Audit(t.Context(), secret.ID)
		assert.Truef(t, err == nil && a.Seed == nil, "%s: showing what is secret: %+v, %v", v.name, a, err)
		p, err := s.Prove(t.Context(), secret.ID, false)
		assert.Truef(t, err == nil && p.Seed == nil, "%s: proving what is secret: %+v, %v", v.name, p, err)
	}
}

// A changed sidecar does not allow a reveal with another seed.
func TestRevealIsDecidedByTheCommitment(t *testing.T) {
	s := newService(t)
	made, other := s.shuffle(t, plan.Request{Deck: "standard52"}), s.shuffle(t, plan.Request{Deck: "standard52"})
	s.store.Tamper = func(e *ledger.StoredEntry) { e.Sidecar = slices.Clone(other.Statement.Seed) }
	_, err := s.Reveal(t.Context(), made.ID, other.Statement.Seed, nil)
	assert.ErrorIs(t, err, disclosure.ErrWrongSeed, "revealing with the seed that was put in")
	s.store.Tamper = nil
	a, err := s.Reveal(t.Context(), made.ID, made.Statement.Seed, nil)
	require.NoErrorf(t, err, "revealing with the seed of the answer: %+v", a)
	assert.Equalf(t, made.Statement.Seed, a.Seed, "revealing with the seed of the answer: %+v", a)
}

// A claim that was moved to another record's reveal does not make the seed public.
func TestMovedClaimRevealsNothing(t *testing.T) {
	s := newService(t)
	secret := s.shuffle(t, plan.Request{Deck: "standard52"})
	if a, err := s.Audit(t.Context(), secret.ID); err != nil || a.Seed != nil {
		t.Fatalf("%+v, %v", a, err)
	}
	other, _ := s.revealed(t, "")
	s.store.Moved = map[string]string{journal.RevealClaim(secret.ID): journal.RevealClaim(other.ID)}
	for what, ask := range map[string]func() error{
		"showing":   func() error { return second(s.Audit(t.Context(), secret.ID)) },
		"proving":   func() error { return second(s.Prove(t.Context(), secret.ID, false)) },
		"revealing": func() error { return second(s.Reveal(t.Context(), secret.ID, secret.Statement.Seed, nil)) },
	} {
		assert.ErrorIs(t, ask(), ledger.ErrCorrupt, what)
	}
}

// Concurrent reveals append one record, charged to the first caller even if it leaves.
func TestRevealsAtOnceAreOne(t *testing.T) {
	s := newService(t)
	made := s.shuffle(t, plan.Request{Deck: "standard52"})
	appends, proceed := make(chan struct{}, 10), make(chan struct{})
	s.store.Appending = func() error {
		appends <- struct{}{}
		<-proceed
		return nil
	}
	var observed committed
	reveal := func(ctx context.Context, done chan<- error) {
		_, err := s.Reveal(ctx, made.ID, made.Statement.Seed, nil)
		done <- err
	}
	ctx, cancel := context.WithCancel(journal.Observed(t.Context(), &observed))
	first, others := make(chan error, 1), make(chan error)
	go reveal(ctx, first)
	<-appends
	cancel()
	const callers = 20
	for range callers {
		go reveal(t.Context(), others)
	}
	close(proceed)
	require.NoError(t, <-first, "a caller who left")
	assert.Len(t, observed, 1, "a caller who left")
	for range callers {
		assert.NoError(t, <-others)
	}
	n := len(appends)
	assert.Truef(t, n == 0 && s.store.Size(t) == 2, "%d more appends were attempted; the log has %d records, want 2", n, s.store.Size(t))
	a, err := s.Audit(t.Context(), made.ID)
	require.NoError(t, err, "the seed is not shown after the reveal")
	assert.Equal(t, made.Statement.Seed, a.Seed, "the seed is not shown after the reveal")
}

// committed collects a request's records. It implements [journal.Observer].
type committed []uuid.UUID

func (c *committed) Committed(id uuid.UUID) { *c = append(*c, id) }
func (c *committed) Replayed(uuid.UUID)     {}
