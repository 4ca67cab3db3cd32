package dealer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
)

// commit makes a commitment to a shuffle of five numbers.
func commit(t *testing.T, d *Dealer, key *journal.Key) *Commitment {
	t.Helper()
	c, err := d.Commit(t.Context(), &Request{Request: plan.Request{Size: ptr(5), Reference: "committed"}, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// use uses a commitment to a shuffle.
func use(t *testing.T, d *Dealer, c *Commitment) error {
	t.Helper()
	_, err := d.Shuffle(t.Context(), ask(plan.Request{CommitmentID: c.ID, ClientSeed: "x"}))
	return err
}

// A shuffle that uses a commitment has its statement and seed, and a client seed chosen later.
func TestCommittedShuffle(t *testing.T) {
	d, s := newDealer(t, Options{})
	shown := disclosure.New(d.journal, d.rules)
	for name, r := range map[string]plan.Request{
		"deck":  {Deck: "undercover", Parameters: map[string]int{"players": 7}, Decks: ptr(2), Draw: ptr(5), Hands: []uint64{2, 3}, Reference: "table 1"},
		"items": {Items: items(60), Algorithm: "durstenfeld", Repeat: ptr(3)},
		"size":  {Size: ptr(1 << 40), Draw: ptr(3)},
	} {
		c, err := d.Commit(t.Context(), ask(r))
		if err != nil {
			t.Fatal(name, err)
		}
		if c.Status != StatusOpen || c.Statement.Seed != nil || c.LogIndex != s.Size(t)-1 {
			t.Errorf("%s: the commitment is %+v", name, c)
		}
		if a, err := shown.Audit(t.Context(), c.ID); err != nil || a.Seed != nil {
			t.Errorf("%s: the audit of the commitment is %+v, %v", name, a, err)
		}
		request := ask(plan.Request{CommitmentID: c.ID, ClientSeed: "it came late", Items: r.Items})
		made, err := d.Shuffle(t.Context(), request)
		if err != nil {
			t.Fatal(name, err)
		}
		if made.Commitment != c.Hash || made.LogIndex <= c.LogIndex || made.Statement.Commitment() != c.Hash {
			t.Errorf("%s: the shuffle %+v is not of the commitment %+v", name, made, c)
		}
		stored, err := d.journal.ByID(t.Context(), c.ID)
		if err != nil {
			t.Fatal(name, err)
		}
		if sidecar, err := d.journal.Sidecar(stored); err != nil || !bytes.Equal(sidecar.Seed, made.Statement.Seed) {
			t.Errorf("%s: another seed than was committed to: %+v, %v", name, sidecar, err)
		}
		_, v, err := shown.Verify(t.Context(), made.AuditID, 1000, nil)
		if err != nil || !v.OK || v.Steps[len(v.Steps)-1].Name != "committed" || v.Record.ClientSeed != "it came late" {
			t.Errorf("%s: the replay is %+v, %v", name, v, err)
		}
		got, err := d.Commitment(t.Context(), c.ID)
		if err != nil || got.Status != StatusUsed || got.ClosedBy != made.AuditID {
			t.Errorf("%s: afterwards the commitment is %+v, %v", name, got, err)
		}
		var settled *CommitmentClosedError
		if _, err := d.Shuffle(t.Context(), request); !errors.As(err, &settled) || settled.Status != StatusUsed || settled.ClosedBy != made.AuditID {
			t.Errorf("%s: used again: %v", name, err)
		}
	}
	s.Check(t, d.journal)
}

// A commitment in use is not voided, nor used by another request. After the deadline, a use fails
// before it conflicts.
func TestCommitmentInUse(t *testing.T) {
	d, s := newDealer(t, Options{})
	c := commit(t, d, nil)
	done, err := d.journal.Begin(journal.CommitmentClaim(c.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := use(t, d, c); !errors.Is(err, journal.ErrInFlight) {
		t.Errorf("used while another request uses it: %v", err)
	}
	s.Now = func() time.Time { return c.Deadline }
	if n, err := d.ExpireCommitments(t.Context()); n != 0 || err != nil {
		t.Errorf("%d commitments expired while in use, %v", n, err)
	}
	var settled *CommitmentClosedError
	if err := use(t, d, c); !errors.As(err, &settled) || settled.Status != StatusLate {
		t.Errorf("used after its deadline: %v, want that it is late", err)
	}
	done()
	if n, err := d.ExpireCommitments(t.Context()); n != 1 || err != nil {
		t.Errorf("%d commitments expired afterwards, %v, want 1", n, err)
	}
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
		if !ok {
			t.Fatal("a new commitment is not cached")
		}
		theirs := *cached
		other.open.Put(c.ID, &theirs, 1)
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
		if (outcomes[0] == nil) == (outcomes[1] == nil) || !errors.As(failed, &settled) || settled.Status != StatusUsed {
			t.Fatalf("two replicas use one commitment: %v", outcomes)
		}
		for _, by := range []*Dealer{d, other} {
			if _, ok := by.open.Get(c.ID); ok {
				t.Error("a used commitment is cached as open")
			}
		}
	}
	if late != 0 {
		t.Errorf("%d uses were counted as late", late)
	}
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
	if want := now.UTC().Truncate(time.Microsecond).Add(time.Minute); !made[0].Deadline.Equal(want) {
		t.Errorf("the deadline is %s, want %s", made[0].Deadline, want)
	}
	now = made[0].Deadline.Add(-time.Microsecond)
	if err := use(t, d, made[0]); err != nil {
		t.Errorf("used at the last moment: %v", err)
	}
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
		if err != nil || got.Status != StatusVoid {
			t.Fatalf("the commitment is %+v, %v, want it void", got, err)
		}
		void, err := d.journal.ByID(t.Context(), got.ClosedBy)
		if err != nil {
			t.Fatal(err)
		}
		if void.Kind != audit.KindVoid || void.CommitmentID != c.ID || void.Commitment != c.Hash {
			t.Errorf("the void is %s", void.Bytes)
		}
	}
	if err := use(t, d, made[2]); !errors.As(err, &settled) || settled.Status != StatusVoid {
		t.Errorf("used when it is void: %v", err)
	}
	now = made[0].Deadline.Add(-time.Second) // setting the clock back does not reopen any
	if err := use(t, d, made[3]); !errors.As(err, &settled) || settled.Status != StatusVoid {
		t.Errorf("used when it is void, and the clock was set back: %v", err)
	}
	if want := map[Event]int{Committed: 300, Used: 1, Voided: 299, Late: 3}; fmt.Sprint(events) != fmt.Sprint(want) {
		t.Errorf("counted were %v, want %v", events, want)
	}
	s.Check(t, d.journal)
}

func TestCommitmentsAreListedByStatus(t *testing.T) {
	d, s := newDealer(t, Options{})
	now := time.Now()
	s.Now = func() time.Time { return now }
	all := map[Status][]uuid.UUID{}
	var made []uuid.UUID
	for i := range 40 {
		now = now.Add(time.Second)
		d.options.Deadline = []time.Duration{time.Hour, time.Minute}[i%2]
		c := commit(t, d, nil)
		made = append(made, c.ID)
		status := []Status{StatusOpen, StatusLate, StatusUsed, StatusVoid}[i%4]
		all[status] = append(all[status], c.ID)
		switch status {
		case StatusOpen, StatusLate:
		case StatusUsed:
			if err := use(t, d, c); err != nil {
				t.Fatal(err)
			}
		case StatusVoid:
			if err := d.void(t.Context(), &ledger.Claim{Name: journal.CommitmentClaim(c.ID)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	now = now.Add(2 * time.Minute)
	all[""] = made
	for status, want := range all {
		var got []uuid.UUID
		for after := uuid.Nil; ; {
			page, err := d.Commitments(t.Context(), status, after, 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range page {
				if status != "" && c.Status != status {
					t.Errorf("%s has a commitment that is %s", status, c.Status)
				}
				got = append(got, c.ID)
			}
			if len(page) < 3 {
				break
			}
			after = page[2].ID
		}
		if !slices.Equal(got, want) {
			t.Errorf("of status %q there are %d, want %d in the order in which they were made", status, len(got), len(want))
		}
	}
	if open, late, err := d.CountCommitments(t.Context()); err != nil || open != 10 || late != 10 {
		t.Errorf("%d open and %d late, %v", open, late, err)
	}
}

func TestRefusedUseLeavesTheCommitmentOpen(t *testing.T) {
	d, s := newDealer(t, Options{})
	made, err := d.Commit(t.Context(), ask(plan.Request{Deck: "standard52", Decks: ptr(2), Draw: ptr(50), Reference: "mine"}))
	if err != nil {
		t.Fatal(err)
	}
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
		if !errors.As(err, &invalid) || invalid.Fields[0].Pointer != pointer {
			t.Errorf("%+v: %v, want an error at %s", r, err, pointer)
		}
		if got, err := d.Commitment(t.Context(), made.ID); err != nil || got.Status != StatusOpen || s.Size(t) != before {
			t.Errorf("%s: the commitment is %+v, %v", pointer, got, err)
		}
	}
	shuffled := mustShuffle(t, d, ask(plan.Request{Size: ptr(3)})).AuditID
	for _, id := range []uuid.UUID{{1}, shuffled} {
		if _, err := d.Shuffle(t.Context(), ask(plan.Request{CommitmentID: id, ClientSeed: "x"})); !errors.Is(err, ErrNoCommitment) {
			t.Errorf("no commitment is used: %v", err)
		}
		if _, err := d.Commitment(t.Context(), id); !errors.Is(err, ErrNoCommitment) {
			t.Errorf("no commitment is shown: %v", err)
		}
	}
}

// The seed in the commitment's sidecar was replaced.
func TestCommitmentWithAnotherSeedIsNotUsed(t *testing.T) {
	d, s := newDealer(t, Options{})
	c := commit(t, d, nil)
	d.open.Delete(c.ID)
	s.Tamper = func(e *ledger.Stored) { e.Sidecar = nil }
	if err := use(t, d, c); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("a commitment without its seed is used: %v", err)
	}
}

func TestCommitmentWhoseClaimWasMovedIsCorrupt(t *testing.T) {
	d, s := newDealer(t, Options{})
	c, other := commit(t, d, nil), commit(t, d, nil)
	if err := use(t, d, other); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{journal.CommitmentClaim(other.ID), "nobody's"} {
		s.Moved = map[string]string{journal.CommitmentClaim(c.ID): to}
		if got, err := d.Commitment(t.Context(), c.ID); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("moved to %s: %+v, %v", to, got, err)
		}
	}
}

func TestCachedCommitmentsAreBounded(t *testing.T) {
	d := New(nil, nil, Options{})
	for i := range maxOpen + 100 {
		c := &committed{record: &audit.Record{ID: uuid.UUID{byte(i >> 16), byte(i >> 8), byte(i)}}}
		d.open.Put(c.record.ID, c, 1)
	}
	if n := d.open.Len(); n != maxOpen {
		t.Errorf("%d commitments are cached, want %d", n, maxOpen)
	}
}

func TestRetryOfACommitmentIsReplayed(t *testing.T) {
	d, s := newDealer(t, Options{})
	other := New(s.Journal(t), d.rules, Options{})
	first := commit(t, d, journal.NewKey("key", []byte("request")))
	if err := use(t, d, first); err != nil {
		t.Fatal(err)
	}
	for _, by := range []*Dealer{d, other} {
		if again := commit(t, by, journal.NewKey("key", []byte("request"))); fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", first) {
			t.Errorf("replayed as %+v, first was %+v", again, first)
		}
		reused := &Request{Request: plan.Request{Size: ptr(5)}, Key: journal.NewKey("key", []byte("other"))}
		if _, err := by.Commit(t.Context(), reused); !errors.Is(err, journal.ErrKeyReused) {
			t.Errorf("another request with the key: %v", err)
		}
	}
	var won *Commitment
	overtake(d, func() { won = commit(t, other, journal.NewKey("at once", []byte("request"))) })
	if lost := commit(t, d, journal.NewKey("at once", []byte("request"))); fmt.Sprintf("%+v", lost) != fmt.Sprintf("%+v", won) {
		t.Errorf("at the same moment in another process it is %+v, want %+v", lost, won)
	}
	if n := s.Size(t); n != 3 {
		t.Errorf("there are %d records, want 3", n)
	}
}
