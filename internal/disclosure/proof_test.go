package disclosure_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/dealer"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// What was changed in the store is not proven. Package api verifies what is.
func TestProveRejectsDamage(t *testing.T) {
	s := newService(t)
	secret := s.shuffle(t, plan.Request{Size: ptr(9)})
	s.store.Tamper = func(e *ledger.StoredEntry) { e.Index = 1 }
	_, err := s.Prove(t.Context(), secret.ID, false)
	assert.ErrorIs(t, err, ledger.ErrCorrupt, "proving a record that is stored under the index of another")
	s.store.Tamper = func(e *ledger.StoredEntry) {
		e.Record = bytes.Replace(e.Record, []byte(`"size":9`), []byte(`"size":8`), 1)
		// The stored leaf hash differs from the tree's.
		e.Hash = tlog.RecordHash(e.Record)
	}
	_, err = s.Prove(t.Context(), secret.ID, false)
	assert.ErrorIs(t, err, ledger.ErrCorrupt, "proving a record that was changed along with its hash")
	s.store.Tamper = func(e *ledger.StoredEntry) { e.Record = e.Record[1:] }
	_, err = s.Prove(t.Context(), secret.ID, false)
	assert.ErrorIs(t, err, ledger.ErrCorrupt, "proving a record that was changed")
}

// A durable record that cannot be read back is not proven until it can.
func TestProveWaitsForTheCheckpoint(t *testing.T) {
	store := journaltest.New(t)
	readable := make(chan struct{})
	store.Reading = func() error {
		select {
		case <-readable:
			return nil
		default:
			return ledger.ErrUnavailable
		}
	}
	s := newServiceOn(t, store)
	made := s.shuffle(t, plan.Request{Size: ptr(9)})
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Prove(short, made.ID, false)
	assert.ErrorIs(t, err, ledger.ErrNotPublished, "proving what is not published")
	close(readable)
	_, err = s.Prove(t.Context(), made.ID, false)
	assert.NoError(t, err)
}

// create makes a shoe of a deck.
func (s *service) create(t *testing.T, r plan.Request) *liveshoes.Result {
	t.Helper()
	made, err := s.shoes.Create(t.Context(), &liveshoes.NewShoe{Request: dealer.Request{Request: r}})
	require.NoError(t, err)
	return made
}

func (s *service) apply(t *testing.T, id uuid.UUID, c liveshoes.Change) *liveshoes.Result {
	t.Helper()
	result, err := s.shoes.Apply(t.Context(), id, &c)
	require.NoError(t, err)
	return result
}

var drawRandom = liveshoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Random, To: shoe.Dealt}

// Closing a shoe makes its seeds public; the seed of a random draw always is.
func TestSeedsOfAShoeArePublicOnceItIsClosed(t *testing.T) {
	s := newService(t)
	made := s.create(t, plan.Request{Deck: "standard52"})
	id := made.Shoe.ID
	drawn := s.apply(t, id, drawRandom)
	reshuffled := s.apply(t, id, liveshoes.Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	check := func(of *liveshoes.Result, public bool) {
		t.Helper()
		a, err := s.Audit(t.Context(), of.AuditID)
		assert.Truef(t, err == nil && (a.Seed != nil) == public, "showing a %s: %+v, %v, want its seed to be public: %v", of.Record.Kind, a, err, public)
		p, err := s.Prove(t.Context(), of.AuditID, false)
		assert.Truef(t, err == nil && (p.Seed != nil) == public, "proving a %s: %+v, %v", of.Record.Kind, p, err)
		_, err = s.Reveal(t.Context(), of.AuditID, a.Seed, nil)
		assert.ErrorIsf(t, err, disclosure.ErrNoSeed, "revealing a %s", of.Record.Kind)
	}
	check(made, false)
	check(drawn, true)
	check(reshuffled, false)
	s.store.Moved = map[string]string{journal.ShoeClaim(made.AuditID): "nobody's"}
	a, err := s.Audit(t.Context(), made.AuditID)
	assert.ErrorIsf(t, err, ledger.ErrCorrupt, "a shoe whose claim was removed: %+v", a)
	s.store.Moved = nil
	other := s.create(t, plan.Request{Deck: "standard52"})
	s.apply(t, other.Shoe.ID, liveshoes.Change{Kind: audit.KindClose})
	s.store.Moved = map[string]string{journal.ShoeClaim(made.AuditID): journal.ShoeClaim(other.AuditID)}
	check(made, false) // the claim was moved to the close of another shoe
	s.store.Moved = nil
	s.apply(t, id, liveshoes.Change{Kind: audit.KindExpire})
	check(made, false)
	s.apply(t, id, liveshoes.Change{Kind: audit.KindClose})
	check(made, true)
	check(drawn, true)
	check(reshuffled, true)
}

// recordOf returns the record of a proof.
func recordOf(t *testing.T, p *prooffile.File) *audit.Record {
	t.Helper()
	record, err := audit.ParseRecord(p.Record)
	require.NoError(t, err)
	return record
}

// provenOf returns the ids of a shoe's proofs, in their order.
func (s *service) provenOf(t *testing.T, id uuid.UUID) (list []uuid.UUID, err error) {
	t.Helper()
	err = s.ProveShoe(t.Context(), id, false, journaltest.Unlimited{}, func(p *prooffile.File) error {
		list = append(list, recordOf(t, p).ID)
		return nil
	})
	return list, err
}

// forge appends a record, changed after it was stored, with its sidecar.
func (s *service) forge(t *testing.T, id uuid.UUID, claim ledger.Claim, change func(*journal.Sidecar)) uuid.UUID {
	t.Helper()
	stored, err := s.journal.ByID(t.Context(), id)
	require.NoError(t, err)
	sidecar, err := s.journal.Sidecar(stored)
	require.NoError(t, err)
	change(sidecar)
	forged := *stored.Record
	forged.ID = uuid.Must(uuid.NewV7())
	if claim.Name == "" {
		claim.Name = journal.ShoeClaim(forged.ID)
	}
	_, err = s.journal.Append(t.Context(), &journal.Addition{Record: &forged, Sidecar: *sidecar, Claims: []ledger.Claim{claim}})
	require.NoError(t, err)
	return forged.ID
}

func TestProveShoeGoesThroughItsRecords(t *testing.T) {
	s := newService(t)
	made := s.create(t, plan.Request{Deck: "standard52"})
	other := s.create(t, plan.Request{Deck: "standard52"})
	id := made.Shoe.ID
	want := []uuid.UUID{made.AuditID}
	for _, c := range []liveshoes.Change{drawRandom, {Kind: audit.KindReshuffle, From: shoe.All}, drawRandom, {Kind: audit.KindClose}} {
		s.apply(t, other.Shoe.ID, drawRandom)
		want = append(want, s.apply(t, id, c).AuditID)
	}
	got, err := s.provenOf(t, id)
	assert.Truef(t, err == nil && slices.Equal(got, want), "proven are %s, %v, want %s", got, err, want)
	stop := errors.New("stop")
	calls := 0
	err = s.ProveShoe(t.Context(), id, false, journaltest.Unlimited{}, func(*prooffile.File) error { calls++; return stop })
	assert.Truef(t, errors.Is(err, stop) && calls == 1, "stopped after %d proofs: %v", calls, err)
	got, err = s.provenOf(t, made.AuditID)
	assert.Truef(t, errors.Is(err, journal.ErrNoShoe) && got == nil, "by its public id: %s, %v", got, err)
	s.store.Moved = map[string]string{journal.ShoeClaim(made.AuditID): journal.ShoeClaim(other.AuditID)}
	got, err = s.provenOf(t, id)
	assert.Truef(t, errors.Is(err, ledger.ErrCorrupt) && got == nil, "with the claim moved to another shoe: %s, %v", got, err)
	s.store.Moved = nil
}

func TestProveShoeFollowsAReplacement(t *testing.T) {
	s := newService(t)
	key := journal.NewIdempotencyKey("key")
	made, err := s.shoes.Create(t.Context(), &liveshoes.NewShoe{Request: dealer.Request{Request: plan.Request{Deck: "standard52"}, Key: key}})
	require.NoError(t, err)
	id := made.Shoe.ID
	var replacement *liveshoes.Result
	s.store.Tamper = func(*ledger.StoredEntry) { // after the lookup of the first record
		s.store.Tamper = nil
		replacement, err = s.shoes.Replace(t.Context(), id, &liveshoes.NewShoe{Request: dealer.Request{Request: plan.Request{Deck: "standard54"}}})
		assert.NoError(t, err)
	}
	got, err := s.provenOf(t, id)
	assert.Truef(t, err == nil && slices.Equal(got, []uuid.UUID{replacement.AuditID}), "proven are %s, %v, want %s", got, err, replacement.AuditID)
	// The owner's claim was moved back to the replaced shoe, whose first record now holds only
	// its key's claim.
	keys, err := s.store.Claims(t.Context(), ledger.ClaimQuery{Prefix: "key ", Limit: 10})
	require.NoError(t, err)
	keys = slices.DeleteFunc(keys, func(c ledger.Claim) bool { return journal.IsShoeClaim(c.Name) })
	s.store.Moved = map[string]string{journal.OwnerClaim(id): keys[0].Name}
	got, err = s.provenOf(t, id)
	assert.ErrorIsf(t, err, ledger.ErrCorrupt, "with the claim of the owner moved back: %s", got)
}

func TestProveShoeNeedsRecordsThatLeadBack(t *testing.T) {
	s := newService(t)
	made := s.create(t, plan.Request{Deck: "standard52"})
	drawn := s.apply(t, made.Shoe.ID, drawRandom)
	claim := ledger.Claim{Name: journal.ShoeClaim(made.AuditID), Taken: true, From: drawn.LogIndex}
	s.forge(t, drawn.AuditID, claim, func(sidecar *journal.Sidecar) { sidecar.Shoe.Previous = s.store.Size(t) }) // its own index
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := s.ProveShoe(ctx, made.Shoe.ID, false, journaltest.Unlimited{}, func(*prooffile.File) error { return nil })
	assert.ErrorIs(t, err, ledger.ErrCorrupt)
}
