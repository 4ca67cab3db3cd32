package dealer

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/ledger"
)

// committing commits to what a request asks for.
func committing(ctx context.Context, d *Dealer, r *Request) (*Commitment, error) {
	plan, err := d.Plan(ctx, r)
	if err != nil {
		return nil, err
	}
	return d.Commit(ctx, plan)
}

// commit commits to a shuffle of five numbers.
func commit(t *testing.T, d *Dealer, call *Call) *Commitment {
	t.Helper()
	c, err := committing(t.Context(), d, &Request{Size: ptr(5), Reference: "committed", Call: call})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A committed shuffle has the statement and the seed of the commitment, which are in the log before it, and a client seed
// that is not.
func TestCommittedShuffle(t *testing.T) {
	d, store := newTampered(t)
	for name, r := range map[string]*Request{
		"deck":  {Deck: "undercover", Parameters: map[string]int{"players": 7}, Decks: ptr(2), Draw: ptr(5), Hands: []uint64{2, 3}, Reference: "table 1"},
		"items": {Items: items(60), Algorithm: "durstenfeld", Repeat: ptr(3)},
		"size":  {Size: ptr(1 << 40), Draw: ptr(3)},
	} {
		c, err := committing(t.Context(), d, r)
		if err != nil {
			t.Fatal(name, err)
		}
		if c.Status != StatusOpen || c.Statement.Seed != nil || c.LogIndex != size(t, d)-1 {
			t.Errorf("%s: the commitment is %+v", name, c)
		}
		if a, err := d.Audit(t.Context(), c.ID); err != nil || a.Seed != nil {
			t.Errorf("%s: the audit of the commitment is %+v, %v", name, a, err)
		}
		use := &Request{CommitmentID: c.ID, ClientSeed: "it came late", Items: r.Items}
		result, err := shuffled(d, use)
		if err != nil {
			t.Fatal(name, err)
		}
		if result.Commitment != c.Hash || result.LogIndex <= c.LogIndex || result.Statement.Commitment() != c.Hash {
			t.Errorf("%s: the result %+v is not of the commitment %+v", name, result, c)
		}
		if seed := stored(t, d, store, c.ID).Sidecar; !bytes.Equal(seed, result.Statement.Seed) {
			t.Errorf("%s: another seed than was committed to", name)
		}
		_, v, err := d.Verify(t.Context(), result.AuditID, 1000)
		if err != nil || !v.OK || v.Steps[len(v.Steps)-1].Name != "committed" || v.Record.ClientSeed != "it came late" {
			t.Errorf("%s: the replay is %+v, %v", name, v, err)
		}
		got, err := d.Commitment(t.Context(), c.ID)
		if err != nil || got.Status != StatusUsed || got.SettledBy != result.AuditID {
			t.Errorf("%s: afterwards the commitment is %+v, %v", name, got, err)
		}
		var settled *SettledError
		if _, err := shuffled(d, use); !errors.As(err, &settled) || settled.Status != StatusUsed || settled.SettledBy != result.AuditID {
			t.Errorf("%s: used again: %v", name, err)
		}
	}
}

func TestCommitmentIsUsedOnce(t *testing.T) {
	d := newDealer(t, rand.Reader)
	for round := range 20 {
		c := commit(t, d, nil)
		if round%2 == 0 {
			d.open.remove(c.ID) // as if another process had made it
		}
		var wait sync.WaitGroup
		outcomes := make([]error, 8)
		for i := range outcomes {
			wait.Go(func() {
				_, outcomes[i] = shuffled(d, &Request{CommitmentID: c.ID, ClientSeed: fmt.Sprint(i)})
			})
		}
		wait.Wait()
		won := 0
		for _, err := range outcomes {
			var settled *SettledError
			switch {
			case err == nil:
				won++
			case !errors.Is(err, ErrRunning) && !errors.As(err, &settled):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Fatalf("%d requests used one commitment", won)
		}
	}
}

// Two dealers over one log are two replicas: each remembers as open what the other uses.
func TestCommitmentIsUsedOnceThroughReplicas(t *testing.T) {
	d := newDealer(t, rand.Reader)
	other := New(d.log, d.decks, d.options)
	late := 0
	other.options.Observe = func(e Event) {
		if e == EventLate {
			late++
		}
	}
	for range 10 {
		c := commit(t, d, nil)
		mine, theirs := d.open.get(c.ID), *d.open.get(c.ID)
		other.open.add(&theirs)
		var wait sync.WaitGroup
		var outcomes [2]error
		for i, one := range []*Dealer{d, other} {
			wait.Go(func() { _, outcomes[i] = shuffled(one, &Request{CommitmentID: mine.record.ID, ClientSeed: "x"}) })
		}
		wait.Wait()
		var settled *SettledError
		failed := outcomes[0]
		if failed == nil {
			failed = outcomes[1]
		}
		if (outcomes[0] == nil) == (outcomes[1] == nil) || !errors.As(failed, &settled) || settled.Status != StatusUsed {
			t.Fatalf("two replicas use one commitment: %v", outcomes)
		}
		if d.open.get(c.ID) != nil && other.open.get(c.ID) != nil {
			t.Error("both remember it as open")
		}
	}
	if late != 0 {
		t.Errorf("%d uses were counted as late", late)
	}
}

func TestCommitmentRunsOut(t *testing.T) {
	d := newDealer(t, rand.Reader)
	events := map[Event]int{}
	var mu sync.Mutex
	d.options.Observe = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		events[e]++
	}
	now := time.Now()
	d.options.Now = func() time.Time { return now }
	d.options.Deadline = time.Minute
	var made []*Commitment
	for range 300 {
		made = append(made, commit(t, d, nil))
	}
	use := func(c *Commitment) error {
		_, err := shuffled(d, &Request{CommitmentID: c.ID, ClientSeed: "x"})
		return err
	}
	now = made[0].Deadline.Add(-time.Microsecond)
	if err := use(made[0]); err != nil {
		t.Errorf("used in the last moment: %v", err)
	}
	if n, err := d.Expire(t.Context()); n != 0 || err != nil {
		t.Errorf("before the deadline %d are void, %v", n, err)
	}
	now = made[0].Deadline
	var settled *SettledError
	if err := use(made[1]); !errors.As(err, &settled) || settled.Status != StatusLate {
		t.Errorf("used at the deadline: %v", err)
	}
	if open, late, err := d.CountCommitments(t.Context()); err != nil || open != 0 || late != 299 {
		t.Errorf("%d open and %d late, %v, want 0 and 299", open, late, err)
	}
	before := size(t, d)
	if n, err := d.Expire(t.Context()); n != 299 || err != nil {
		t.Errorf("after the deadline %d are void, %v, want 299", n, err)
	}
	if n, err := d.Expire(t.Context()); n != 0 || err != nil || size(t, d) != before+299 {
		t.Errorf("a second time %d are void, %v", n, err)
	}
	for _, c := range made[1:] {
		got, err := d.Commitment(t.Context(), c.ID)
		if err != nil || got.Status != StatusVoid {
			t.Fatalf("the commitment is %+v, %v, want it void", got, err)
		}
		a, err := d.Audit(t.Context(), got.SettledBy)
		if err != nil {
			t.Fatal(err)
		}
		void, err := audit.ParseRecord(a.Record)
		if err != nil || void.Kind != audit.KindVoid || void.CommitmentID != c.ID || void.Commitment != c.Hash {
			t.Errorf("the void is %s, %v", a.Record, err)
		}
	}
	if err := use(made[2]); !errors.As(err, &settled) || settled.Status != StatusVoid {
		t.Errorf("used when it is void: %v", err)
	}
	now = made[0].Deadline.Add(-time.Second) // a clock that is set back opens nothing again
	if err := use(made[3]); !errors.As(err, &settled) || settled.Status != StatusVoid {
		t.Errorf("used when it is void, and the clock was set back: %v", err)
	}
	if want := map[Event]int{EventCommitted: 300, EventUsed: 1, EventVoid: 299, EventLate: 3}; fmt.Sprint(events) != fmt.Sprint(want) {
		t.Errorf("counted were %v, want %v", events, want)
	}
}

func TestCommitmentsAreListedByStatus(t *testing.T) {
	d := newDealer(t, rand.Reader)
	now := time.Now()
	d.options.Now = func() time.Time { return now }
	all := map[Status][]uuid.UUID{}
	var order []uuid.UUID
	for i := range 40 {
		now = now.Add(time.Second)
		d.options.Deadline = []time.Duration{time.Hour, time.Minute}[i%2]
		c := commit(t, d, nil)
		order = append(order, c.ID)
		status := []Status{StatusOpen, StatusLate, StatusUsed, StatusVoid}[i%4]
		all[status] = append(all[status], c.ID)
		switch status {
		case StatusOpen, StatusLate:
		case StatusUsed:
			if _, err := shuffled(d, &Request{CommitmentID: c.ID, ClientSeed: "x"}); err != nil {
				t.Fatal(err)
			}
		case StatusVoid:
			if err := d.void(t.Context(), &ledger.Claim{Name: commitmentClaim(c.ID)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	now = now.Add(2 * time.Minute)
	all[""] = order
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
			t.Errorf("of status %q there are %d, want %d in the order they were made", status, len(got), len(want))
		}
	}
	if open, late, err := d.CountCommitments(t.Context()); err != nil || open != 10 || late != 10 {
		t.Errorf("%d open and %d late, %v", open, late, err)
	}
}

func TestWhatDiffersFromTheCommitmentIsNamed(t *testing.T) {
	d := newDealer(t, rand.Reader)
	ask := func(c *Request) func(pointer string, r Request) {
		made, err := committing(t.Context(), d, c)
		if err != nil {
			t.Fatal(err)
		}
		return func(pointer string, r Request) {
			t.Helper()
			r.CommitmentID = made.ID
			if r.ClientSeed == "" && pointer != "/client_seed" {
				r.ClientSeed = "x"
			}
			before := size(t, d)
			_, err := shuffled(d, &r)
			var invalid *Invalid
			if !errors.As(err, &invalid) || invalid.Fields[0].Pointer != pointer {
				t.Errorf("%+v: %v, want an error at %s", r, err, pointer)
			}
			if got, err := d.Commitment(t.Context(), made.ID); err != nil || got.Status != StatusOpen || size(t, d) != before {
				t.Errorf("%s: the commitment is %+v, %v", pointer, got, err)
			}
		}
	}
	ofDeck := ask(&Request{Deck: "standard52", Decks: ptr(2), Draw: ptr(50), Repeat: ptr(2), Hands: []uint64{5}, Reference: "mine"})
	ofDeck("/client_seed", Request{})
	ofDeck("/deck", Request{Deck: "standard54"})
	ofDeck("/deck", Request{Deck: "standard54", Decks: ptr(2)})
	ofDeck("/decks", Request{Deck: "standard52", Decks: ptr(1)})
	ofDeck("/items", Request{Items: items(104)})
	ofDeck("/size", Request{Size: ptr(104)})
	ofDeck("/algorithm", Request{Algorithm: "sattolo"})
	ofDeck("/draw", Request{Draw: ptr(51)})
	ofDeck("/repeat", Request{Repeat: ptr(1)})
	ofDeck("/hands", Request{Hands: []uint64{5, 5}})
	ofDeck("/reference", Request{Reference: "yours"})
	items60 := ask(&Request{Items: items(60)})
	items60("/items", Request{})
	items60("/items", Request{Items: items(59)})
	items60("/items", Request{Items: &Items{Count: 60}})
	items60("/size", Request{Size: ptr(60)})
	items60("/unique_reference", Request{Items: items(60), UniqueReference: true})
	ask(&Request{Deck: "undercover", Parameters: map[string]int{"players": 7}})("/parameters", Request{Deck: "undercover", Parameters: map[string]int{"players": 8}})

	for _, id := range []uuid.UUID{{1}, shuffleID(t, d)} {
		if _, err := shuffled(d, &Request{CommitmentID: id, ClientSeed: "x"}); !errors.Is(err, ErrNoCommitment) {
			t.Errorf("no commitment is used: %v", err)
		}
		if _, err := d.Commitment(t.Context(), id); !errors.Is(err, ErrNoCommitment) {
			t.Errorf("no commitment is shown: %v", err)
		}
	}
}

func shuffleID(t *testing.T, d *Dealer) uuid.UUID {
	t.Helper()
	result, err := shuffled(d, &Request{Size: ptr(3)})
	if err != nil {
		t.Fatal(err)
	}
	return result.AuditID
}

// A seed that was exchanged beside the commitment deals nothing.
func TestCommitmentWithAnotherSeedIsNotUsed(t *testing.T) {
	d, store := newTampered(t)
	c := commit(t, d, nil)
	d.open.remove(c.ID)
	store.change = func(e *ledger.Stored) { e.Sidecar = nil }
	if _, err := shuffled(d, &Request{CommitmentID: c.ID, ClientSeed: "x"}); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("a commitment without its seed is used: %v", err)
	}
}

func TestRememberedCommitmentsAreBounded(t *testing.T) {
	var o openSet
	for i := range mostOpen + 100 {
		o.add(&committed{record: &audit.Record{ID: uuid.UUID{byte(i >> 16), byte(i >> 8), byte(i)}}})
	}
	if len(o.list) != mostOpen {
		t.Errorf("%d commitments are remembered, want %d", len(o.list), mostOpen)
	}
}

func TestRunMakesVoidWhatIsLate(t *testing.T) {
	d := newDealer(t, rand.Reader)
	d.options.Deadline = time.Microsecond
	c := commit(t, d, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	voided := make(chan struct{}, 1)
	d.options.Observe = func(e Event) {
		if e == EventVoid {
			voided <- struct{}{}
		}
	}
	go func() {
		d.Run(ctx, func(err error) { t.Error(err) })
		close(done)
	}()
	<-voided
	cancel()
	<-done
	if got, err := d.Commitment(t.Context(), c.ID); err != nil || got.Status != StatusVoid {
		t.Errorf("the commitment is %+v, %v", got, err)
	}
}

// A retry is dealt what the first attempt was dealt, by whatever process.
func TestRetryIsDealtTheSame(t *testing.T) {
	d := newDealer(t, rand.Reader)
	c := commit(t, d, nil)
	for name, r := range map[string]Request{
		"items":      {Items: items(60), Repeat: ptr(2), ClientSeed: "x"},
		"deck":       {Deck: "undercover", Parameters: map[string]int{"players": 7}, Decks: ptr(2), Hands: []uint64{2, 3}, UniqueReference: true, Reference: "one"},
		"commitment": {CommitmentID: c.ID, ClientSeed: "late"},
	} {
		r.Call = NewCall(name, []byte("the request"))
		if again, err := d.Dealt(t.Context(), r.Call); again != nil || err != nil {
			t.Errorf("%s: before the first attempt: %+v, %v", name, again, err)
		}
		first, err := shuffled(d, &r)
		if err != nil {
			t.Fatal(name, err)
		}
		before := size(t, d)
		again, err := d.Dealt(t.Context(), NewCall(name, []byte("the request")))
		if err != nil {
			t.Fatal(name, err)
		}
		if again.AuditID != first.AuditID || again.LogIndex != first.LogIndex || again.Copies != first.Copies || !slices.Equal(codes(again), codes(first)) ||
			fmt.Sprintf("%+v %s", again.Statement, again.Commitment) != fmt.Sprintf("%+v %s", first.Statement, first.Commitment) {
			t.Errorf("%s: dealt again is %+v, first was %+v", name, again, first)
		}
		for n := range first.Statement.Repeat {
			if !slices.Equal(again.Positions(n, nil), first.Positions(n, nil)) {
				t.Errorf("%s: another order", name)
			}
		}
		if _, err := d.Dealt(t.Context(), NewCall(name, []byte("another request"))); !errors.Is(err, ErrOtherRequest) {
			t.Errorf("%s: another request of the same key: %v", name, err)
		}
		// A process that has not seen the first attempt comes too late with its own.
		if r.CommitmentID == uuid.Nil && !r.UniqueReference {
			late, err := shuffled(d, &r)
			if err != nil || late.AuditID != first.AuditID {
				t.Errorf("%s: at the same time in another process: %+v, %v", name, late, err)
			}
			other := r
			other.Call = NewCall(name, []byte("another request"))
			if _, err := shuffled(d, &other); !errors.Is(err, ErrOtherRequest) {
				t.Errorf("%s: another request at the same time in another process: %v", name, err)
			}
		}
		if size(t, d) != before {
			t.Errorf("%s: a retry made a record", name)
		}
	}
}

func codes(r *Result) []string {
	if r.Deck == nil {
		return nil
	}
	return r.Deck.Codes()
}

func TestRetryOfACommitmentIsTheSame(t *testing.T) {
	d := newDealer(t, rand.Reader)
	first := commit(t, d, NewCall("key", []byte("request")))
	if _, err := shuffled(d, &Request{CommitmentID: first.ID, ClientSeed: "x"}); err != nil {
		t.Fatal(err)
	}
	again, err := d.Committed(t.Context(), NewCall("key", []byte("request")))
	if err != nil || fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", first) {
		t.Errorf("again it is %+v, %v, first it was %+v", again, err, first)
	}
	late := commit(t, d, NewCall("key", []byte("request")))
	if late.ID != first.ID {
		t.Errorf("at the same time in another process it is %+v", late)
	}
	if _, err := d.Committed(t.Context(), NewCall("key", []byte("other"))); !errors.Is(err, ErrOtherRequest) {
		t.Errorf("another request of the same key: %v", err)
	}
}

func TestRetryOfARevealIsTheSame(t *testing.T) {
	d := newDealer(t, rand.Reader)
	one, err := shuffled(d, &Request{Size: ptr(5)})
	if err != nil {
		t.Fatal(err)
	}
	two, err := shuffled(d, &Request{Size: ptr(5)})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a, err := d.Reveal(t.Context(), one.AuditID, one.Statement.Seed, NewCall("key", []byte("one")))
		if err != nil || !bytes.Equal(a.Seed, one.Statement.Seed) || size(t, d) != 3 {
			t.Errorf("the reveal is %+v, %v, with %d records", a, err, size(t, d))
		}
	}
	if _, err := d.Reveal(t.Context(), two.AuditID, two.Statement.Seed, NewCall("key", []byte("two"))); !errors.Is(err, ErrOtherRequest) {
		t.Errorf("another reveal of the same key: %v", err)
	}
	if a, err := d.Audit(t.Context(), two.AuditID); err != nil || a.Seed != nil {
		t.Errorf("it revealed %+v, %v", a, err)
	}
}

// A claim that was moved to the record of another key answers nobody.
func TestForeignKeyAnswersNothing(t *testing.T) {
	d, store := newTampered(t)
	mine, theirs := NewCall("mine"), NewCall("theirs")
	for _, call := range []*Call{mine, theirs} {
		if _, err := shuffled(d, &Request{Size: ptr(5), Call: call}); err != nil {
			t.Fatal(err)
		}
	}
	store.claims = map[string]string{mine.claim(): theirs.claim()}
	if got, err := d.Dealt(t.Context(), mine); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("%+v, %v", got, err)
	}
}

// deckFile is a deck type of two cards, one of them of a code to fill in.
const deckFile = `{
  "type": "mine", "name": {"en": "Mine", "zh": "我的"}, "family": "french", "size": 2,
  "cards": [
    {"code": "X", "name": {"en": "X", "zh": "X"}, "glyph": "x", "attributes": {}},
    {"code": %q, "name": {"en": "Other", "zh": "其他"}, "glyph": "o", "attributes": {}}
  ]
}`

func TestDeckThatHasChangedIsNotDealtAgain(t *testing.T) {
	d := newDealer(t, rand.Reader)
	with := func(codes string) *Dealer {
		decks, err := deck.Builtin()
		if err != nil {
			t.Fatal(err)
		}
		file := fmt.Sprintf(deckFile, codes)
		if err := decks.Load(fstest.MapFS{"mine.json": {Data: []byte(file)}}); err != nil {
			t.Fatal(err)
		}
		return New(d.log, decks, d.options)
	}
	before, after := with("A"), with("B")
	call := NewCall("key")
	result, err := shuffled(before, &Request{Deck: "mine", Call: call})
	if err != nil {
		t.Fatal(err)
	}
	c, err := committing(t.Context(), before, &Request{Deck: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]*Dealer{"other cards": after, "no such deck": d} {
		var changed *DeckChangedError
		if _, err := other.Dealt(t.Context(), call); !errors.As(err, &changed) || changed.AuditID != result.AuditID {
			t.Errorf("a retry with %s: %v", name, err)
		}
		var invalid *Invalid
		if _, err := shuffled(other, &Request{CommitmentID: c.ID, ClientSeed: "x"}); !errors.As(err, &invalid) || invalid.Fields[0].Pointer != "/deck" {
			t.Errorf("a commitment with %s: %v", name, err)
		}
	}
	if again, err := before.Dealt(t.Context(), call); err != nil || again.AuditID != result.AuditID {
		t.Errorf("a retry with the same cards: %+v, %v", again, err)
	}
}

func TestBeginMarksACallAsRunning(t *testing.T) {
	d := newDealer(t, rand.Reader)
	end, err := d.Begin(NewCall("key", []byte("a")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Begin(NewCall("key", []byte("b"))); !errors.Is(err, ErrRunning) {
		t.Errorf("the same key: %v", err)
	}
	other, err := d.Begin(NewCall("other"))
	if err != nil {
		t.Error(err)
	}
	other()
	end()
	if end, err = d.Begin(NewCall("key", []byte("a"))); err != nil {
		t.Errorf("afterwards: %v", err)
	} else {
		end()
	}
}

func TestUniqueReference(t *testing.T) {
	d := newDealer(t, rand.Reader)
	unique := func(r Request) error {
		r.UniqueReference = true
		_, err := shuffled(d, &r)
		return err
	}
	isTaken := func(what string, err error, by uuid.UUID) {
		t.Helper()
		var taken *NotUniqueError
		if !errors.As(err, &taken) || taken.AuditID != by {
			t.Errorf("%s: %v, want that %s was first", what, err, by)
		}
	}
	var invalid *Invalid
	if err := unique(Request{Size: ptr(5)}); !errors.As(err, &invalid) || invalid.Fields[0].Pointer != "/unique_reference" {
		t.Errorf("without a reference: %v", err)
	}
	plain, err := shuffled(d, &Request{Size: ptr(5), Reference: "plain"})
	if err != nil {
		t.Fatal(err)
	}
	isTaken("after a plain one", unique(Request{Size: ptr(5), Reference: "plain"}), plain.AuditID)
	if err := unique(Request{Size: ptr(5), Reference: "alone"}); err != nil {
		t.Errorf("the first: %v", err)
	}
	if _, err := shuffled(d, &Request{Size: ptr(5), Reference: "alone"}); err != nil {
		t.Errorf("one that does not ask to be alone: %v", err)
	}
	c := commit(t, d, nil) // reference "committed"
	isTaken("beside a commitment", unique(Request{Size: ptr(5), Reference: "committed"}), c.ID)
	if err := unique(Request{CommitmentID: c.ID, ClientSeed: "x"}); err != nil {
		t.Errorf("the use of the one commitment: %v", err)
	}
	again := commit(t, d, nil)
	isTaken("a second commitment", unique(Request{CommitmentID: again.ID, ClientSeed: "x"}), c.ID)
	_, err = committing(t.Context(), d, &Request{Size: ptr(5), Reference: "committed", UniqueReference: true})
	isTaken("a commitment that is to be alone", err, c.ID)

	// Of many at once, one gets in, and it is the first.
	var wait sync.WaitGroup
	outcomes := make([]error, 24)
	for i := range outcomes {
		wait.Go(func() {
			r := &Request{Size: ptr(5), Reference: "contested", UniqueReference: i%2 == 0}
			_, outcomes[i] = shuffled(d, r)
		})
	}
	wait.Wait()
	audits, err := d.Audits(t.Context(), "contested", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	won := 0
	for i, err := range outcomes {
		if i%2 == 1 {
			if err != nil {
				t.Errorf("a plain one: %v", err)
			}
			continue
		}
		if err == nil {
			won++
			continue
		}
		isTaken("one of many", err, audits[0].ID)
	}
	if won > 1 || len(audits) != 12+won {
		t.Errorf("%d are alone, among %d", won, len(audits))
	}
}

func TestKeptTextIsReadAsWritten(t *testing.T) {
	for _, k := range []kept{
		{},
		{seed: bytes.Repeat([]byte{1}, 32)},
		{seed: bytes.Repeat([]byte{1}, 96)},
		{call: NewCall("k", []byte("r"))},
		{seed: bytes.Repeat([]byte{1}, 64), call: NewCall("k")},
	} {
		text := k.text()
		got, err := parseKept(text)
		if err != nil || fmt.Sprintf("%x %v", got.seed, got.call) != fmt.Sprintf("%x %v", k.seed, k.call) {
			t.Errorf("%x reads as %+v, %v, want %+v", text, got, err, k)
		}
	}
	for _, text := range []string{"x", strings.Repeat("x", 65), strings.Repeat("x", 33), strings.Repeat("x", 66), strings.Repeat("\x01", 33)} {
		if got, err := parseKept([]byte(text)); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%x reads as %+v, %v", text, got, err)
		}
	}
}
