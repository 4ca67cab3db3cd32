package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// entry returns a record's entry and its decrypted sidecar.
func entry(t *testing.T, s *journaltest.Store, j *journal.Journal, id uuid.UUID) *ledger.StoredEntry {
	t.Helper()
	list, err := s.Select(t.Context(), ledger.Range(0, 1000))
	require.NoError(t, err)
	at := slices.IndexFunc(list, func(e ledger.StoredEntry) bool { return e.ID == id })
	require.Truef(t, at >= 0, "there is no record %s", id)
	list[at].Sidecar, err = j.Log.Sidecar(&list[at])
	require.NoError(t, err)
	return &list[at]
}

// checkers returns a checker with Decrypt and one without.
func checkers() (whole, blind *journal.Checker) {
	return &journal.Checker{Decrypt: func(e *ledger.StoredEntry) ([]byte, error) { return e.Sidecar, nil }}, &journal.Checker{}
}

// visit visits an entry and checks the one that it builds on.
func visit(t *testing.T, s *journaltest.Store, c *journal.Checker, e *ledger.StoredEntry) ([]ledger.Claim, error) {
	t.Helper()
	v, err := c.Visit(e)
	if err == nil && v.Origin != uuid.Nil {
		origin, lookup := ledger.FirstOrNotFound(s.Select(t.Context(), ledger.ByID(v.Origin)))
		if lookup != nil {
			require.ErrorIs(t, lookup, ledger.ErrNotFound)
		}
		err = v.CheckOrigin(origin)
	}
	return v.Claims, err
}

// checkSound checks the claims that each entry must have begun or taken. Without the key, those on
// idempotency keys are unknown.
func checkSound(t *testing.T, s *journaltest.Store, j *journal.Journal, claims map[uuid.UUID][]ledger.Claim) {
	t.Helper()
	whole, blind := checkers()
	for id, want := range claims {
		got, err := visit(t, s, whole, entry(t, s, j, id))
		assert.Truef(t, err == nil && slices.Equal(got, want), "a sound entry has the claims %v, %v, want %v", got, err, want)
		want = slices.DeleteFunc(want, func(c ledger.Claim) bool { return strings.HasPrefix(c.Name, "key ") })
		if got, err := visit(t, s, blind, entry(t, s, j, id)); err != nil || !slices.EqualFunc(got, want, alike) {
			t.Errorf("a sound entry has, without the key, the claims %v, %v, want %v", got, err, want)
		}
	}
	s.Check(t, j)
}

// alike reports whether the claims are equal, as far as got is known.
func alike(got, want ledger.Claim) bool {
	if got.Unchanged {
		want.Status, want.Due, want.Unchanged = "", 0, true
	}
	return got == want
}

// A damage changes one entry.
type damage struct {
	name, detail string // the change, and part of the error
	id           uuid.UUID
	hidden       bool // only the sidecar reveals it
	do           func(*ledger.StoredEntry)
}

// checkDamages checks that each damage is found.
func checkDamages(t *testing.T, s *journaltest.Store, j *journal.Journal, damages []damage) {
	t.Helper()
	whole, blind := checkers()
	for _, d := range damages {
		e := entry(t, s, j, d.id)
		d.do(e)
		if _, err := visit(t, s, whole, e); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), d.detail) {
			t.Errorf("%s: %v, want ... %s ...", d.name, err, d.detail)
		}
		_, err := visit(t, s, blind, e)
		assert.Equalf(t, d.hidden, (err == nil), "%s, without the key: %v", d.name, err)
	}
}

func TestCheckerFindsWhatDoesNotAgreeWithTheRecord(t *testing.T) {
	s := journaltest.New(t)
	j, rules := s.Journal(t), journaltest.Rules(t)
	d, shown := dealer.New(j, rules, dealer.Options{}), disclosure.New(j, rules)
	size := uint64(5)
	shuffle := func(r dealer.Request) *dealer.Shuffle {
		t.Helper()
		made, err := d.Shuffle(t.Context(), &r)
		require.NoError(t, err)
		return made
	}
	revealed := func(reference string) (*dealer.Shuffle, uuid.UUID) {
		t.Helper()
		made := shuffle(dealer.Request{Request: plan.Request{Deck: "standard52", Reference: reference}})
		_, err := shown.Reveal(t.Context(), made.ID, made.Statement.Seed, nil)
		require.NoError(t, err)
		reveal, err := j.ByClaim(t.Context(), journal.RevealClaim(made.ID))
		require.NoError(t, err)
		return made, reveal.ID
	}
	commit := func(by *dealer.Dealer, key *journal.IdempotencyKey) *dealer.Commitment {
		t.Helper()
		c, err := by.Commit(t.Context(), &dealer.Request{Request: plan.Request{Size: &size, Reference: "committed"}, Key: key})
		require.NoError(t, err)
		return c
	}
	first, firstReveal := revealed("table 1")
	second, secondReveal := revealed("table 2")
	public := shuffle(dealer.Request{Request: plan.Request{Size: &size, RevealNow: true}})
	keyed := shuffle(dealer.Request{Request: plan.Request{Size: &size}, Key: journal.NewIdempotencyKey("key", []byte("request"))})
	open, used := commit(d, nil), commit(d, journal.NewIdempotencyKey("commit"))
	use := shuffle(dealer.Request{Request: plan.Request{CommitmentID: used.ID, ClientSeed: "late"}})
	hurried := dealer.New(j, rules, dealer.Options{Deadline: time.Microsecond})
	void := commit(hurried, nil)
	s.Now = func() time.Time { return void.Deadline }
	n, err := hurried.ExpireCommitments(t.Context())
	require.Truef(t, n == 1 && err == nil, "%d commitments expired, %v", n, err)
	voided, err := d.Commitment(t.Context(), void.ID)
	require.NoError(t, err)

	whole, blind := checkers()
	assert.Equal(t, "", whole.Unchecked(), "unchecked are claims")
	assert.Equal(t, "key ", blind.Unchecked(), "unchecked are claims")
	checkSound(t, s, j, map[uuid.UUID][]ledger.Claim{
		first.ID: nil, second.ID: nil, public.ID: nil,
		firstReveal:     {{Name: "reveal " + first.ID.String()}},
		secondReveal:    {{Name: "reveal " + second.ID.String()}},
		keyed.ID:        {{Name: keyClaim("key")}},
		open.ID:         {{Name: "commitment " + open.ID.String(), Due: open.Deadline.UnixMicro()}},
		used.ID:         {{Name: "commitment " + used.ID.String(), Due: used.Deadline.UnixMicro()}, {Name: keyClaim("commit")}},
		use.ID:          {{Name: "commitment " + used.ID.String(), Taken: true}},
		void.ID:         {{Name: "commitment " + void.ID.String(), Due: void.Deadline.UnixMicro()}},
		voided.ClosedBy: {{Name: "commitment " + void.ID.String(), Taken: true, Status: "void"}},
	})
	sidecar := func(b []byte) func(*ledger.StoredEntry) { return func(e *ledger.StoredEntry) { e.Sidecar = b } }
	replace := func(old, replacement string) func(*ledger.StoredEntry) {
		return func(e *ledger.StoredEntry) { e.Record = bytes.Replace(e.Record, []byte(old), []byte(replacement), 1) }
	}
	checkDamages(t, s, j, []damage{
		{"another id", "under another id", first.ID, false, func(e *ledger.StoredEntry) { e.ID = second.ID }},
		{"another reference", "under another reference", first.ID, false, func(e *ledger.StoredEntry) { e.Reference = "table 2" }},
		{"no reference", "under another reference", first.ID, false, func(e *ledger.StoredEntry) { e.Reference = "" }},
		{"a reference too many", "under another reference", public.ID, false, func(e *ledger.StoredEntry) { e.Reference = "table 1" }},
		{"a commitment's reference", "under another reference", open.ID, false, func(e *ledger.StoredEntry) { e.Reference = "table 1" }},
		{"another seed", "does not open", first.ID, true, sidecar(second.Statement.Seed)},
		{"a bit of the seed", "does not open", first.ID, true, func(e *ledger.StoredEntry) { e.Sidecar[len(e.Sidecar)-1] ^= 1 }},
		{"half a seed", "does not open", first.ID, true, func(e *ledger.StoredEntry) { e.Sidecar = e.Sidecar[:rng.BlockSize] }},
		{"no seed", "does not open", first.ID, true, sidecar(nil)},
		{"no public seed", "does not open", public.ID, true, sidecar(nil)},
		{"a commitment without a seed", "does not open", open.ID, true, sidecar(nil)},
		{"a byte too many", "the sidecar", first.ID, true, func(e *ledger.StoredEntry) { e.Sidecar = append(e.Sidecar, 7) }},
		{"two bytes too many", "the sidecar", first.ID, true, func(e *ledger.StoredEntry) { e.Sidecar = append(e.Sidecar, 1, 1) }},
		{"another reveal's id", "under another id", firstReveal, false, func(e *ledger.StoredEntry) { e.ID = secondReveal }},
		{"a reveal with a seed", "has a seed", firstReveal, true, sidecar(first.Statement.Seed)},
		{"a void with a seed", "has a seed", voided.ClosedBy, true, sidecar(first.Statement.Seed)},
		{"a use with a seed", "has a seed", use.ID, true, sidecar(first.Statement.Seed)},
		{"a use before its commitment", "does not agree with its commitment", use.ID, false, func(e *ledger.StoredEntry) { e.Index = 0 }},
		{"a use of another commitment", "does not agree with its commitment", use.ID, false, replace(used.ID.String(), void.ID.String())},
		{"a use of a shuffle", "does not agree with its commitment", use.ID, false, replace(used.ID.String(), first.ID.String())},
		{"a use of nothing", "not in the log", use.ID, false, replace(used.ID.String(), strings.Repeat("0", 8)+used.ID.String()[8:])},
		{"another record", "under another id", first.ID, false, func(e *ledger.StoredEntry) { e.Record = entry(t, s, j, second.ID).Record }},
		{"no record", "", first.ID, false, func(e *ledger.StoredEntry) { e.Record = nil }},
		{"a record cut short", "", first.ID, false, func(e *ledger.StoredEntry) { e.Record = e.Record[:len(e.Record)-1] }},
		{"a record of no kind", "", first.ID, false, replace(`"kind":"shuffle"`, `"kind":"joke"`)},
	})
}

func TestCheckerFindsWhatDoesNotAgreeWithAShoe(t *testing.T) {
	s := journaltest.New(t)
	j, rules := s.Journal(t), journaltest.Rules(t)
	service := liveshoes.New(j, dealer.New(j, rules, dealer.Options{}), rules, liveshoes.Options{})
	create := func(lifetime time.Duration) *liveshoes.Result {
		t.Helper()
		made, err := service.Create(t.Context(), &liveshoes.NewShoe{Request: dealer.Request{Request: plan.Request{Deck: "standard52"}}, Expires: lifetime})
		require.NoError(t, err)
		return made
	}
	apply := func(of *liveshoes.Result, c liveshoes.Change) *liveshoes.Result {
		t.Helper()
		made, err := service.Apply(t.Context(), of.Shoe.ID, &c)
		require.NoError(t, err)
		return made
	}
	draw := liveshoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, To: shoe.Dealt}
	other, made := create(0), create(time.Hour)
	drawn := apply(made, draw)
	sealed := apply(made, liveshoes.Change{Kind: audit.KindReshuffle, From: shoe.All})
	last := apply(made, draw)
	closed := apply(other, liveshoes.Change{Kind: audit.KindClose})
	expiring := create(time.Minute)

	due := made.Shoe.Expires.UnixMicro()
	shoeClaim, owner := journal.ShoeClaim(made.AuditID), journal.OwnerClaim(made.Shoe.ID)
	checkSound(t, s, j, map[uuid.UUID][]ledger.Claim{
		made.AuditID:     {{Name: shoeClaim, Due: due}, {Name: owner}},
		drawn.AuditID:    {{Name: shoeClaim, Due: due, Taken: true}},
		sealed.AuditID:   {{Name: shoeClaim, Due: due, Taken: true}},
		last.AuditID:     {{Name: shoeClaim, Due: due, Taken: true}},
		other.AuditID:    {{Name: journal.ShoeClaim(other.AuditID), Status: "open"}, {Name: journal.OwnerClaim(other.Shoe.ID)}},
		closed.AuditID:   {{Name: journal.ShoeClaim(other.AuditID), Taken: true}},
		expiring.AuditID: {{Name: journal.ShoeClaim(expiring.AuditID), Due: expiring.Shoe.Expires.UnixMicro()}, {Name: journal.OwnerClaim(expiring.Shoe.ID)}},
	})
	checkDamages(t, s, j, []damage{
		{"the snapshot of another version", "another version", last.AuditID, true, func(e *ledger.StoredEntry) {
			e.Sidecar = bytes.Replace(e.Sidecar, []byte(`"version":4`), []byte(`"version":5`), 1)
		}},
		{"a card too few in a snapshot", "of 52 cards", last.AuditID, true, func(e *ledger.StoredEntry) {
			e.Sidecar = bytes.Replace(e.Sidecar, []byte(`"numbers":"`), []byte(`"numbers":"","x":"`), 1)
			binary.BigEndian.PutUint32(e.Sidecar, binary.BigEndian.Uint32(e.Sidecar)+uint32(len(`","x":"`)))
		}},
		{"a seed cut off", "does not open", sealed.AuditID, true, func(e *ledger.StoredEntry) { e.Sidecar = e.Sidecar[:len(e.Sidecar)-rng.BlockSize] }},
		{"a draw with a seed", "has a seed", drawn.AuditID, true, func(e *ledger.StoredEntry) { e.Sidecar = append(e.Sidecar, make([]byte, rng.BlockSize)...) }},
		{"no state", "the sidecar", drawn.AuditID, true, func(e *ledger.StoredEntry) { e.Sidecar = nil }},
		{"a change before its shoe", "begins after it", drawn.AuditID, false, func(e *ledger.StoredEntry) { e.Index = 0 }},
		{"a change of no shoe", "not in the log", drawn.AuditID, false, func(e *ledger.StoredEntry) {
			e.Record = bytes.Replace(e.Record, []byte(made.AuditID.String()), []byte(strings.Repeat("0", 8)+made.AuditID.String()[8:]), 1)
		}},
	})
}
