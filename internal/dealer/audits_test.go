package dealer

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/rng"
)

// A tamperedStore changes entries on their way out, as somebody could who can write to the database.
type tamperedStore struct {
	ledger.Store
	change  func(*ledger.Stored) // of an entry that is looked up; may be nil
	claims  map[string]string    // claims that were moved to the record that holds another
	reading func() error         // before records are read back; may be nil
}

func (s *tamperedStore) changed(e *ledger.Stored, err error) (*ledger.Stored, error) {
	if err == nil && s.change != nil {
		s.change(e)
	}
	return e, err
}

func (s *tamperedStore) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	return s.changed(s.Store.ByID(ctx, id))
}

func (s *tamperedStore) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	moved, ok := s.claims[claim]
	if !ok {
		return s.changed(s.Store.ByClaim(ctx, claim))
	}
	return s.Store.ByClaim(ctx, moved)
}

func (s *tamperedStore) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	list, err := s.Store.ByReference(ctx, reference, from, limit)
	for i := range list {
		if _, err := s.changed(&list[i], nil); err != nil {
			return nil, err
		}
	}
	return list, err
}

func (s *tamperedStore) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	if s.reading != nil {
		if err := s.reading(); err != nil {
			return err
		}
	}
	return s.Store.Records(ctx, from, n, each)
}

// newTampered returns a dealer over a store that can be tampered with.
func newTampered(t *testing.T) (*Dealer, *tamperedStore) {
	t.Helper()
	store := &tamperedStore{}
	return newDealerOn(t, rand.Reader, func(sound ledger.Store) ledger.Store {
		store.Store = sound
		return store
	}), store
}

// stored returns the entry of a record as the store has it, but for the secret, which is decrypted.
func stored(t *testing.T, d *Dealer, s ledger.Store, id uuid.UUID) *ledger.Stored {
	t.Helper()
	list, err := s.Range(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list, func(e ledger.Stored) bool { return e.ID == id })
	if at < 0 {
		t.Fatalf("there is no record %s", id)
	}
	if list[at].Sidecar, err = d.log.Sidecar(&list[at]); err != nil {
		t.Fatal(err)
	}
	return &list[at]
}

// revealed deals a shuffle, reveals it and returns the id of the reveal.
func revealed(t *testing.T, d *Dealer, reference string) (*Result, uuid.UUID) {
	t.Helper()
	result, err := shuffled(d, &Request{Deck: "standard52", Reference: reference})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Reveal(t.Context(), result.AuditID, result.Statement.Seed, nil); err != nil {
		t.Fatal(err)
	}
	reveal, err := d.log.ByClaim(t.Context(), revealClaim(result.AuditID))
	if err != nil {
		t.Fatal(err)
	}
	return result, reveal.ID
}

func TestCheckerFindsWhatDoesNotGoWithTheRecord(t *testing.T) {
	d, store := newTampered(t)
	first, firstReveal := revealed(t, d, "table 1")
	second, secondReveal := revealed(t, d, "table 2")
	now, err := shuffled(d, &Request{Size: ptr(5), RevealNow: true})
	if err != nil {
		t.Fatal(err)
	}
	called, err := shuffled(d, &Request{Size: ptr(5), Call: NewCall("key", []byte("request"))})
	if err != nil {
		t.Fatal(err)
	}
	open, used, void := commit(t, d, nil), commit(t, d, NewCall("commit")), commit(t, d, nil)
	use, err := shuffled(d, &Request{CommitmentID: used.ID, ClientSeed: "late"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.void(t.Context(), &ledger.Claim{Name: commitmentClaim(void.ID)}); err != nil {
		t.Fatal(err)
	}
	voided, err := d.Commitment(t.Context(), void.ID)
	if err != nil {
		t.Fatal(err)
	}
	check := &Checker{Secret: func(e *ledger.Stored) ([]byte, error) { return e.Sidecar, nil }, ByID: d.log.ByID, ByClaim: d.log.ByClaim}
	blind := &Checker{ByID: d.log.ByID, ByClaim: d.log.ByClaim}
	if check.Unknown() != "" || blind.Unknown() != "key " {
		t.Errorf("unknown are claims %q and %q", check.Unknown(), blind.Unknown())
	}
	deadline := open.Deadline.UnixMicro()
	for id, want := range map[uuid.UUID][]ledger.Claim{
		first.AuditID: nil, second.AuditID: nil, now.AuditID: nil,
		firstReveal:      {{Name: "reveal " + first.AuditID.String()}},
		secondReveal:     {{Name: "reveal " + second.AuditID.String()}},
		called.AuditID:   NewCall("key").claims(),
		open.ID:          {{Name: "commitment " + open.ID.String(), Due: deadline}},
		used.ID:          NewCall("commit").claims(),
		use.AuditID:      {{Name: "commitment " + used.ID.String()}},
		void.ID:          nil,
		voided.SettledBy: {{Name: "commitment " + void.ID.String(), Status: "void"}},
	} {
		if got, err := check.Entry(t.Context(), stored(t, d, store, id)); err != nil || !slices.Equal(got, want) {
			t.Errorf("a sound entry has the claims %v, %v, want %v", got, err, want)
		}
		want = slices.DeleteFunc(want, func(c ledger.Claim) bool { return strings.HasPrefix(c.Name, "key ") })
		if got, err := blind.Entry(t.Context(), stored(t, d, store, id)); err != nil || !slices.Equal(got, want) {
			t.Errorf("a sound entry has, without the key, the claims %v, %v, want %v", got, err, want)
		}
	}
	for _, v := range []struct {
		name, detail string
		id           uuid.UUID
		secret       bool // it takes the key to find
		change       func(*ledger.Stored)
	}{
		{"another id", "under another id", first.AuditID, false, func(e *ledger.Stored) { e.ID = second.AuditID }},
		{"another reference", "under another reference", first.AuditID, false, func(e *ledger.Stored) { e.Reference = "table 2" }},
		{"no reference", "under another reference", first.AuditID, false, func(e *ledger.Stored) { e.Reference = "" }},
		{"a reference too many", "under another reference", now.AuditID, false, func(e *ledger.Stored) { e.Reference = "table 1" }},
		{"a commitment's reference", "under another reference", open.ID, false, func(e *ledger.Stored) { e.Reference = "table 1" }},
		{"another seed", "does not open", first.AuditID, true, func(e *ledger.Stored) { e.Sidecar = second.Statement.Seed }},
		{"a bit of the seed", "does not open", first.AuditID, true, func(e *ledger.Stored) { e.Sidecar[len(e.Sidecar)-1] ^= 1 }},
		{"half a seed", "does not open", first.AuditID, true, func(e *ledger.Stored) { e.Sidecar = e.Sidecar[:rng.BlockSize] }},
		{"no seed", "does not open", first.AuditID, true, func(e *ledger.Stored) { e.Sidecar = nil }},
		{"no public seed", "does not open", now.AuditID, true, func(e *ledger.Stored) { e.Sidecar = nil }},
		{"a commitment without a seed", "does not open", open.ID, true, func(e *ledger.Stored) { e.Sidecar = nil }},
		{"a byte too many", "kept beside", first.AuditID, true, func(e *ledger.Stored) { e.Sidecar = append(e.Sidecar, 7) }},
		{"two bytes too many", "kept beside", first.AuditID, true, func(e *ledger.Stored) { e.Sidecar = append(e.Sidecar, 1, 1) }},
		{"another reveal's id", "under another id", firstReveal, false, func(e *ledger.Stored) { e.ID = secondReveal }},
		{"a reveal with a seed", "has a seed", firstReveal, true, func(e *ledger.Stored) { e.Sidecar = first.Statement.Seed }},
		{"a void with a seed", "has a seed", voided.SettledBy, true, func(e *ledger.Stored) { e.Sidecar = first.Statement.Seed }},
		{"a use with a seed", "has a seed", use.AuditID, true, func(e *ledger.Stored) { e.Sidecar = first.Statement.Seed }},
		{"a use that is moved before", "did not keep to its commitment", use.AuditID, false, func(e *ledger.Stored) { e.Index = 0 }},
		{"a use of another commitment", "did not keep to its commitment", use.AuditID, false, func(e *ledger.Stored) {
			e.Record = bytes.Replace(e.Record, []byte(used.ID.String()), []byte(void.ID.String()), 1)
		}},
		{"a use of what is no commitment", "did not keep to its commitment", use.AuditID, false, func(e *ledger.Stored) {
			e.Record = bytes.Replace(e.Record, []byte(used.ID.String()), []byte(first.AuditID.String()), 1)
		}},
		{"a use of nothing", "not there", use.AuditID, false, func(e *ledger.Stored) {
			e.Record = bytes.Replace(e.Record, []byte(used.ID.String()), []byte(strings.Repeat("0", 8)+used.ID.String()[8:]), 1)
		}},
		{"another record", "under another id", first.AuditID, false, func(e *ledger.Stored) { e.Record = stored(t, d, store, second.AuditID).Record }},
		{"no record", "", first.AuditID, false, func(e *ledger.Stored) { e.Record = nil }},
		{"a record cut short", "", first.AuditID, false, func(e *ledger.Stored) { e.Record = e.Record[:len(e.Record)-1] }},
		{"a record of no kind", "", first.AuditID, false, func(e *ledger.Stored) {
			e.Record = bytes.Replace(e.Record, []byte(`"kind":"shuffle"`), []byte(`"kind":"joke"`), 1)
		}},
	} {
		e := stored(t, d, store, v.id)
		v.change(e)
		if _, err := check.Entry(t.Context(), e); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), v.detail) {
			t.Errorf("%s: %v, want ... %s ...", v.name, err, v.detail)
		}
		if _, err := blind.Entry(t.Context(), e); (err == nil) != v.secret {
			t.Errorf("%s, without the key: %v", v.name, err)
		}
	}
	for words, claims := range map[string]map[string]string{
		"without having used it": {commitmentClaim(used.ID): commitmentClaim(void.ID)},
		"nobody holds its claim": {commitmentClaim(used.ID): "nobody's"},
	} {
		store.claims = claims
		if _, err := check.Entry(t.Context(), stored(t, d, store, used.ID)); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), words) {
			t.Errorf("a commitment whose claim was moved: %v, want ... %s ...", err, words)
		}
	}
}

// The log proves records and not what is kept beside them. A seed that was changed there is not shown, and not used.
func TestSeedHasToOpenItsCommitment(t *testing.T) {
	for _, v := range []struct {
		name   string
		damage func(seed []byte) []byte
	}{
		{"a bit", func(seed []byte) []byte { seed[0] ^= 1; return seed }},
		{"another seed", func(seed []byte) []byte { clear(seed); return seed }},
		{"cut short", func(seed []byte) []byte { return seed[:len(seed)-1] }},
		{"made longer", func(seed []byte) []byte { return append(seed, 0) }},
		{"gone", func([]byte) []byte { return nil }},
	} {
		d, store := newTampered(t)
		public, err := shuffled(d, &Request{Deck: "standard52", Reference: "now", RevealNow: true})
		if err != nil {
			t.Fatal(err)
		}
		held, err := shuffled(d, &Request{Deck: "standard52", Reference: "held"})
		if err != nil {
			t.Fatal(err)
		}
		later, reveal := revealed(t, d, "later")
		store.change = func(e *ledger.Stored) {
			if e.ID != reveal {
				e.Sidecar = v.damage(slices.Clone(e.Sidecar))
			}
		}
		corrupt := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, ledger.ErrCorrupt) {
				t.Errorf("%s: %s: %v", v.name, what, err)
			}
		}
		for what, result := range map[string]*Result{"revealed at once": public, "revealed later": later} {
			_, err = d.Audit(t.Context(), result.AuditID)
			corrupt("showing what was "+what, err)
			_, err = d.Prove(t.Context(), result.AuditID)
			corrupt("proving what was "+what, err)
			_, err = d.Audits(t.Context(), result.Statement.Reference, 0, 10)
			corrupt("listing what was "+what, err)
			_, _, err = d.Verify(t.Context(), result.AuditID, 0)
			corrupt("replaying what was "+what, err)
		}
		before := size(t, d)
		_, err = d.Reveal(t.Context(), held.AuditID, held.Statement.Seed, nil)
		corrupt("revealing", err)
		if after := size(t, d); after != before {
			t.Errorf("%s: %d records, and %d before a reveal that has nothing to show", v.name, after, before)
		}
		// What is held back is shown as before: the seed is not looked at.
		if a, err := d.Audit(t.Context(), held.AuditID); err != nil || a.Seed != nil {
			t.Errorf("%s: showing what is held back: %+v, %v", v.name, a, err)
		}
		if p, err := d.Prove(t.Context(), held.AuditID); err != nil || p.Seed != nil {
			t.Errorf("%s: proving what is held back: %+v, %v", v.name, p, err)
		}
		if _, result, err := d.Verify(t.Context(), held.AuditID, 0); err != nil || result.OK {
			t.Errorf("%s: replaying what is held back: %+v, %v; it is not to hold", v.name, result, err)
		}
	}
}

// The commitment alone says which seed reveals: whoever can change the one beside the record cannot let in another.
func TestRevealGoesByTheCommitment(t *testing.T) {
	d, store := newTampered(t)
	result, err := shuffled(d, &Request{Deck: "standard52"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := shuffled(d, &Request{Deck: "standard52"})
	if err != nil {
		t.Fatal(err)
	}
	store.change = func(e *ledger.Stored) { e.Sidecar = slices.Clone(other.Statement.Seed) }
	if _, err := d.Reveal(t.Context(), result.AuditID, other.Statement.Seed, nil); !errors.Is(err, ErrNotTheSeed) {
		t.Errorf("revealing with the seed that was put in: %v", err)
	}
	store.change = nil
	a, err := d.Reveal(t.Context(), result.AuditID, result.Statement.Seed, nil)
	if err != nil || !bytes.Equal(a.Seed, result.Statement.Seed) {
		t.Errorf("revealing with the seed of the answer: %+v, %v", a, err)
	}
}

// A claim that was moved in the store to another reveal does not reveal what nobody has revealed.
func TestForeignClaimRevealsNothing(t *testing.T) {
	d, store := newTampered(t)
	held, err := shuffled(d, &Request{Deck: "standard52"})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := d.Audit(t.Context(), held.AuditID); err != nil || a.Seed != nil {
		t.Fatalf("%+v, %v", a, err)
	}
	other, _ := revealed(t, d, "")
	store.claims = map[string]string{revealClaim(held.AuditID): revealClaim(other.AuditID)}
	for what, ask := range map[string]func() error{
		"showing":   func() error { _, err := d.Audit(t.Context(), held.AuditID); return err },
		"proving":   func() error { _, err := d.Prove(t.Context(), held.AuditID); return err },
		"replaying": func() error { _, _, err := d.Verify(t.Context(), held.AuditID, 10); return err },
		"revealing": func() error { _, err := d.Reveal(t.Context(), held.AuditID, held.Statement.Seed, nil); return err },
	} {
		if err := ask(); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestProve(t *testing.T) {
	d, store := newTampered(t)
	verifier, err := note.NewVerifier(d.log.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	result, reveal := revealed(t, d, "table 1")
	held, err := shuffled(d, &Request{Size: ptr(9), ClientSeed: "the players"})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		id         uuid.UUID
		index      uint64
		seed       rng.Seed
		clientSeed string
	}{{result.AuditID, 0, result.Statement.Seed, ""}, {reveal, 1, nil, ""}, {held.AuditID, 2, nil, "the players"}} {
		p, err := d.Prove(t.Context(), v.id)
		if err != nil {
			t.Fatal(err)
		}
		if p.ID != v.id || p.LogIndex != v.index || p.Inclusion.Index != v.index || !bytes.Equal(p.Seed, v.seed) || p.ClientSeed != v.clientSeed ||
			p.LogKey != d.log.Verifier() {
			t.Errorf("record %d: %+v", v.index, p)
		}
		if c, err := p.Inclusion.Check(p.Record, verifier); err != nil || c.Size <= v.index {
			t.Errorf("record %d: %+v, %v", v.index, c, err)
		}
	}

	if _, err := d.Prove(t.Context(), uuid.New()); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("proving what is not there: %v", err)
	}
	store.change = func(e *ledger.Stored) { e.Index = 1 }
	if _, err := d.Prove(t.Context(), held.AuditID); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("proving a record that is kept under the index of another: %v", err)
	}
	store.change = func(e *ledger.Stored) {
		e.Record = bytes.Replace(e.Record, []byte(`"size":9`), []byte(`"size":8`), 1)
		e.Hash = tlog.RecordHash(e.Record) // which the store has beside the record, and not from the tree
	}
	if _, err := d.Prove(t.Context(), held.AuditID); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("proving a record that was changed along with its hash: %v", err)
	}
	store.change = func(e *ledger.Stored) { e.Record = e.Record[1:] }
	if _, err := d.Prove(t.Context(), held.AuditID); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("proving a record that was changed: %v", err)
	}
}

// A record that cannot be read back is durable and not proven. Once it can be, the proof is there.
func TestProveWaitsForTheCheckpoint(t *testing.T) {
	d, store := newTampered(t)
	unreadable := make(chan struct{})
	store.reading = func() error {
		select {
		case <-unreadable:
			return nil
		default:
			return ledger.ErrUnavailable
		}
	}
	result, err := shuffled(d, &Request{Size: ptr(9)})
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.Prove(gone, result.AuditID); !errors.Is(err, ledger.ErrNotPublished) {
		t.Errorf("proving what is not published: %v", err)
	}
	close(unreadable)
	if _, err := d.Prove(t.Context(), result.AuditID); err != nil {
		t.Error(err)
	}
}
