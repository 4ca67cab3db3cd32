package liveshoes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// process is one of several processes over a store.
type process struct {
	*Service
	store     *journaltest.Store
	disclosed *disclosure.Service
}

func newProcess(t *testing.T) *process {
	t.Helper()
	return newProcessOn(t, journaltest.New(t))
}

func newProcessOn(t *testing.T, s *journaltest.Store) *process {
	t.Helper()
	j, rules := s.Journal(t), journaltest.Rules(t)
	d := dealer.New(j, rules, dealer.Options{})
	return &process{New(j, d, rules, Options{}), s, disclosure.New(j, rules)}
}

// other returns another process on the same store, without shared memory.
func (p *process) other(t *testing.T) *process {
	t.Helper()
	return newProcessOn(t, p.store)
}

// newPair returns two processes on the same new store.
func newPair(t *testing.T) (p, other *process) {
	t.Helper()
	p = newProcess(t)
	return p, p.other(t)
}

func ptr(n uint64) *uint64 { return &n }

func items(n uint64) *plan.Items { return &plan.Items{Count: n, Digest: sha256.Sum256([]byte("[]"))} }

func ask(r plan.Request) *NewShoe { return &NewShoe{Request: dealer.Request{Request: r}} }

// keyed returns a request with an idempotency key.
func keyed(key string, r plan.Request) *NewShoe {
	request := ask(r)
	request.Key = journal.NewIdempotencyKey(key)
	return request
}

func create(t *testing.T, p *process, r *NewShoe) *Result {
	t.Helper()
	made, err := p.Create(t.Context(), r)
	require.NoError(t, err)
	return made
}

func apply(t *testing.T, p *process, id uuid.UUID, c Change) *Result {
	t.Helper()
	result, err := p.Apply(t.Context(), id, &c)
	require.NoError(t, err)
	return result
}

func get(t *testing.T, p *process, id uuid.UUID) *Shoe {
	t.Helper()
	shown, err := p.Get(t.Context(), id)
	require.NoError(t, err)
	return shown
}

// checkOpen checks how many shoes are open.
func checkOpen(t *testing.T, p *process, want int) {
	t.Helper()
	n, err := p.Count(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, want, n, "open shoes")
}

// checkExpires expires overdue shoes, and checks how many those are.
func checkExpires(t *testing.T, p *process, want int) {
	t.Helper()
	n, err := p.Expire(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, want, n, "expired shoes")
}

// drawing takes cards from the top of the deck.
func drawing(count uint64) Change {
	return Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, Count: &count, To: shoe.Dealt}
}

// drawOpen takes cards from the top of the deck, and returns them with their openings.
func drawOpen(t *testing.T, p *process, id uuid.UUID, count uint64) *Result {
	t.Helper()
	drawn := apply(t, p, id, drawing(count))
	require.NoError(t, p.Open(t.Context(), &drawn.Shoe, drawn.Cards, &atOnce{}))
	return drawn
}

// atOnce is the pace of openings that need not wait.
type atOnce struct {
	cost  OpeningCost
	waits int
	err   error // of Wait
}

func (a *atOnce) Admit(c OpeningCost) error { a.cost = c; return nil }

func (a *atOnce) Wait(context.Context) error { a.waits++; return a.err }

// cardAt returns the card at a position with its opening.
func cardAt(t *testing.T, p *process, id, sealedBy uuid.UUID, position uint64) (*Card, error) {
	t.Helper()
	return p.Card(t.Context(), id, sealedBy, position, &atOnce{})
}

// returning puts named cards back under the deck.
func returning(cards []CardName) Change {
	return Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, Cards: cards, To: shoe.Deck, Put: shoe.Bottom}
}

// named names cards by their numbers.
func named(numbers ...uint64) (names []CardName) {
	for _, n := range numbers {
		names = append(names, CardName{Number: &n})
	}
	return names
}

func numbersOf(cards []Card) (numbers []uint64) {
	for i := range cards {
		numbers = append(numbers, cards[i].Number)
	}
	return numbers
}

// Neither records nor disclosures leak the order of undrawn cards. A drawn card is proven alone;
// closing the shoe proves all of them.
func TestShoeIsSealed(t *testing.T) {
	p := newProcess(t)
	made := create(t, p, ask(plan.Request{Deck: "standard52", ClientSeed: "c", Reference: "sealed"}))
	id := made.Shoe.ID
	if a, err := p.disclosed.Audit(t.Context(), made.AuditID); err != nil || a.Seed != nil || bytes.Contains(a.Record, []byte(id.String())) {
		t.Fatalf("the audit is %+v, %v", a, err)
	}
	_, err := p.disclosed.Reveal(t.Context(), made.AuditID, []byte("x"), nil)
	assert.ErrorIs(t, err, disclosure.ErrNoSeed)
	hand := drawOpen(t, p, id, 5)
	for i := range hand.Cards {
		card := &hand.Cards[i]
		assert.Equalf(t, uint64(i), card.Position, "card %d is at", i)
		assert.Equalf(t, made.AuditID, card.SealedBy, "card %d is at", i)
		assert.NoError(t, card.Opening.Check(card.Position, 52, []byte(card.Card.Code), *made.Record.Root))
		assert.True(t, card.Opening.Check(card.Position, 52, []byte("AS"), *made.Record.Root) != nil || card.Card.Code == "AS", "another card is proven")
	}
	plain := apply(t, p, id, drawing(1))
	assert.Nil(t, plain.Cards[0].Opening, "an opening that was not asked for")
	apply(t, p, id, Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, Cards: named(numbersOf(hand.Cards)[0]), To: shoe.Deck, Put: shoe.Top})
	other := p.other(t)
	for _, position := range []uint64{4, 6, 51, 52} {
		card, err := cardAt(t, other, id, uuid.Nil, position)
		switch {
		case position == 4 && (err != nil || card.Number != hand.Cards[4].Number || card.Opening.Check(4, 52, []byte(card.Card.Code), *made.Record.Root) != nil):
			t.Errorf("%+v %v", card, err)
		case position == 6 && !errors.Is(err, ErrNotSeen), position == 51 && !errors.Is(err, ErrNotSeen), position == 52 && !errors.Is(err, ledger.ErrNotFound):
			t.Errorf("position %d: %v", position, err)
		}
	}
	for _, place := range []shoe.Place{shoe.Deck, shoe.All} {
		cards, err := get(t, p, id).Cards(place)
		assert.ErrorIsf(t, err, ErrNotSeen, "the cards of %s: %v", place, cards)
	}
	cards, err := get(t, p, id).Cards(shoe.OnPile("a"))
	assert.ErrorIsf(t, err, shoe.ErrNoPile, "the cards of no pile: %v", cards)
	resealed := apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	_, err = cardAt(t, p, id, made.AuditID, 7)
	assert.ErrorIs(t, err, ErrNotSeen)
	drawn := apply(t, p, id, drawing(1))
	if card, err := cardAt(t, other, id, uuid.Nil, 0); err != nil || card.Number != drawn.Cards[0].Number || card.SealedBy != resealed.AuditID {
		t.Errorf("the first card of the last sealing is %+v, %v", card, err)
	}
	_, err = cardAt(t, p, id, hand.AuditID, 0)
	assert.ErrorIs(t, err, ledger.ErrNotFound, "a card sealed by a draw")
	closed := apply(t, p, id, Change{Kind: audit.KindClose})
	assert.Equal(t, shoe.Closed, closed.Shoe.Status)
	if a, err := p.disclosed.Audit(t.Context(), made.AuditID); err != nil || a.Seed == nil {
		t.Error(a, err)
	}
	if card, err := cardAt(t, p, id, made.AuditID, 51); err != nil || card.Opening == nil {
		t.Error(err)
	}
	var over *ClosedError
	for _, c := range []Change{drawing(1), {Kind: audit.KindClose}, {Kind: audit.KindExpire}} {
		_, err := other.Apply(t.Context(), id, &c)
		assert.Truef(t, errors.As(err, &over) && over.Status == shoe.Closed && over.AuditID == closed.AuditID, "%s of a closed shoe: %v", c.Kind, err)
	}
	p.store.Check(t, p.journal)
}

// Two processes handle one request concurrently. The second cannot repeat the change, because the
// shoe is closed or empty by then.
func TestRetriesAtTheSameMomentAreReplayed(t *testing.T) {
	p, other := newPair(t)
	var won *Result
	journaltest.Overtake(p.journal, func() { won = create(t, other, keyed("shoe", plan.Request{Deck: "standard52"})) })
	lost := create(t, p, keyed("shoe", plan.Request{Deck: "standard52"}))
	assert.Truef(t, lost.AuditID == won.AuditID && lost.Shoe.ID == won.Shoe.ID, "created are %s and %s", lost.AuditID, won.AuditID)
	id := won.Shoe.ID
	all := drawing(52)
	all.Key = journal.NewIdempotencyKey("draw")
	journaltest.Overtake(p.journal, func() { won = apply(t, other, id, all) })
	if lost := apply(t, p, id, all); lost.AuditID != won.AuditID || !slices.Equal(numbersOf(lost.Cards), numbersOf(won.Cards)) {
		t.Errorf("drawn by %s and %s", lost.AuditID, won.AuditID)
	}
	closing := Change{Kind: audit.KindClose, Key: journal.NewIdempotencyKey("close")}
	journaltest.Overtake(p.journal, func() { won = apply(t, other, id, closing) })
	lost = apply(t, p, id, closing)
	assert.Truef(t, lost.AuditID == won.AuditID && lost.Shoe.Status == shoe.Closed, "closed by %s and %s", lost.AuditID, won.AuditID)
	journaltest.Overtake(p.journal, func() {
		var err error
		won, err = other.Replace(t.Context(), id, keyed("replace", plan.Request{Deck: "standard54"}))
		assert.NoError(t, err)
	})
	lost, err := p.Replace(t.Context(), id, keyed("replace", plan.Request{Deck: "standard54"}))
	assert.Truef(t, err == nil && lost.AuditID == won.AuditID, "replaced by %+v, %v, and %s", lost, err, won.AuditID)
	p.store.Check(t, p.journal)
}

func TestCreateRefuses(t *testing.T) {
	p := newProcess(t)
	made := create(t, p, ask(plan.Request{Size: ptr(3)}))
	before := p.store.Size(t)
	var unfit *plan.Invalid
	for name, v := range map[string]struct {
		pointer string
		r       *NewShoe
	}{
		"hands":      {"/commitment_id", ask(plan.Request{Deck: "standard52", Hands: []uint64{13}})},
		"draw":       {"/commitment_id", ask(plan.Request{Deck: "standard52", Draw: ptr(3)})},
		"repeat":     {"/commitment_id", ask(plan.Request{Deck: "standard52", Repeat: ptr(3)})},
		"large":      {"", ask(plan.Request{Size: ptr(shoe.MaxCards + 1)})},
		"empty":      {"", ask(plan.Request{Size: ptr(0)})},
		"no deck":    {"/deck", ask(plan.Request{Deck: "standard53"})},
		"items":      {"/items", &NewShoe{Request: ask(plan.Request{Items: items(2)}).Request, Items: []string{strings.Repeat("1", MaxItemBytes), "2"}}},
		"expiry":     {"/expires_in", &NewShoe{Request: ask(plan.Request{Size: ptr(3)}).Request, Expires: MaxExpiry + time.Second}},
		"past":       {"/expires_in", &NewShoe{Request: ask(plan.Request{Size: ptr(3)}).Request, Expires: -time.Second}},
		"fraction":   {"/expires_in", &NewShoe{Request: ask(plan.Request{Size: ptr(3)}).Request, Expires: time.Millisecond}},
		"long life":  {"/expires_in", &NewShoe{Request: ask(plan.Request{Size: ptr(3)}).Request, TTL: MaxExpiry + time.Second}},
		"no life":    {"/expires_in", &NewShoe{Request: ask(plan.Request{Size: ptr(3)}).Request, TTL: -time.Second}},
		"short life": {"/expires_in", &NewShoe{Request: ask(plan.Request{Size: ptr(3)}).Request, TTL: time.Millisecond}},
	} {
		_, createErr := p.Create(t.Context(), v.r)
		_, replaceErr := p.Replace(t.Context(), made.Shoe.ID, v.r)
		for _, err := range []error{createErr, replaceErr} {
			assert.Truef(t, errors.As(err, &unfit), "%s: %v, want an error at", name, err)
			assert.Equalf(t, v.pointer, unfit.Pointer, "%s: %v, want an error at", name, err)
		}
	}
	assert.Equal(t, before, p.store.Size(t), "something was recorded")
	create(t, p, &NewShoe{Request: ask(plan.Request{Items: items(2)}).Request, Items: []string{"1", strings.Repeat("2", MaxItemBytes-1)}, Expires: MaxExpiry})
	create(t, p, ask(plan.Request{Size: ptr(shoe.MaxCards)}))
}

func TestReserveComesBeforeTheShoe(t *testing.T) {
	p := newProcess(t)
	made := create(t, p, ask(plan.Request{Size: ptr(3)}))
	full := errors.New("the memory is used up")
	calls := 0
	request := ask(plan.Request{Deck: "standard52"})
	request.Reserve = func(s *audit.Statement) error {
		n := plan.Elements(s)
		if calls++; n != 52 {
			t.Errorf("reserved are %d elements, want 52", n)
		}
		return full
	}
	_, createErr := p.Create(t.Context(), request)
	_, replaceErr := p.Replace(t.Context(), made.Shoe.ID, request)
	assert.Truef(t, errors.Is(createErr, full) && errors.Is(replaceErr, full) && calls == 2, "%v, %v after %d calls", createErr, replaceErr, calls)
	if s := get(t, p, made.Shoe.ID); s.First.ID != made.AuditID || p.store.Size(t) != 1 {
		t.Errorf("the shoe is %+v, and there are %d records", s, p.store.Size(t))
	}
	// It is called once, even if the shoe changes meanwhile.
	other := p.other(t)
	full, calls = nil, 0
	journaltest.Overtake(p.journal, func() { apply(t, other, made.Shoe.ID, drawing(1)) })
	_, err := p.Replace(t.Context(), made.Shoe.ID, request)
	assert.Truef(t, err == nil && calls == 1, "%v after %d calls", err, calls)
}

// A shoe expires at a fixed time, or some time after its last change. It can still be closed.
func TestShoeExpires(t *testing.T) {
	p, other := newPair(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p.store.Now = func() time.Time { return now }
	events := map[audit.Kind]int{}
	p.observe = func(e audit.Kind) { events[e]++ }
	fixed := create(t, p, &NewShoe{Request: ask(plan.Request{Size: ptr(5)}).Request, Expires: time.Minute})
	sliding := create(t, p, &NewShoe{Request: ask(plan.Request{Size: ptr(5)}).Request, TTL: time.Minute})
	lasting := create(t, p, ask(plan.Request{Size: ptr(5)}))
	if !fixed.Shoe.Expires.Equal(now.Add(time.Minute)) || !sliding.Shoe.Expires.Equal(now.Add(time.Minute)) || !lasting.Shoe.Expires.IsZero() {
		t.Errorf("they expire at %s, %s, %s", fixed.Shoe.Expires, sliding.Shoe.Expires, lasting.Shoe.Expires)
	}
	now = now.Add(time.Minute - time.Microsecond)
	apply(t, p, fixed.Shoe.ID, drawing(1))
	apply(t, p, sliding.Shoe.ID, drawing(1))
	checkOpen(t, p, 3)
	now = now.Add(time.Microsecond)
	var over *ClosedError
	c := drawing(1)
	_, err := p.Apply(t.Context(), fixed.Shoe.ID, &c)
	assert.Truef(t, errors.As(err, &over) && over.Status == shoe.Expired && over.AuditID == uuid.Nil, "%v", err)
	assert.Equal(t, shoe.Expired, get(t, p, fixed.Shoe.ID).Status)
	checkOpen(t, p, 2)
	p.store.Check(t, p.journal)
	checkExpires(t, p, 1)
	_, err = p.Apply(t.Context(), fixed.Shoe.ID, &c)
	assert.Truef(t, errors.As(err, &over) && over.AuditID != uuid.Nil, "%v", err)
	apply(t, p, sliding.Shoe.ID, drawing(1))
	apply(t, p, lasting.Shoe.ID, drawing(1))
	closed := apply(t, p, fixed.Shoe.ID, Change{Kind: audit.KindClose})
	assert.Equal(t, shoe.Closed, closed.Shoe.Status)
	now = now.Add(time.Minute)
	checkExpires(t, other, 0)
	now = now.Add(time.Minute / 100)
	checkExpires(t, other, 1)
	ended := apply(t, p, lasting.Shoe.ID, Change{Kind: audit.KindExpire})
	assert.Equal(t, shoe.Expired, ended.Shoe.Status)
	checkOpen(t, p, 0)
	if a, err := p.disclosed.Audit(t.Context(), lasting.AuditID); err != nil || a.Seed != nil {
		t.Error("an expired shoe is revealed", err)
	}
	want := map[audit.Kind]int{audit.KindShoe: 3, audit.KindDraw: 4, audit.KindExpire: 2, audit.KindClose: 1}
	assert.Equalf(t, fmt.Sprint(want), fmt.Sprint(events), "observed were %v, want %v", events, want)
	p.store.Check(t, p.journal)
}

// A change moves the expiry only once a hundredth of the time to live has passed.
func TestTTLMovesTheExpiryNowAndThen(t *testing.T) {
	p := newProcess(t)
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := start
	p.store.Now = func() time.Time { return now }
	made := create(t, p, &NewShoe{Request: ask(plan.Request{Size: ptr(50)}).Request, TTL: 100 * time.Second})
	assert.Truef(t, made.Record.Expires.Equal(start.Add(100*time.Second)),
		"the record says that it expires at %s", made.Record.Expires)
	last := 100 * time.Second
	for _, v := range []struct{ at, expires time.Duration }{
		{0, 100 * time.Second},
		{time.Second, 102 * time.Second},
		{time.Second + time.Second/2, 102 * time.Second},
		{2 * time.Second, 102 * time.Second},
		{2*time.Second + time.Microsecond, 103*time.Second + time.Microsecond},
		{90 * time.Second, 191 * time.Second},
	} {
		now = start.Add(v.at)
		drawn := apply(t, p, made.Shoe.ID, drawing(1))
		assert.Truef(t, drawn.Shoe.Expires.Equal(start.Add(v.expires)),
			"after a change at %s it expires at %s, want %s", v.at, drawn.Shoe.Expires.Sub(start), v.expires)
		if moved := v.expires != last; drawn.Record.Expires.IsZero() == moved || moved && !drawn.Record.Expires.Equal(drawn.Shoe.Expires) {
			t.Errorf("the record of a change at %s says that the shoe expires at %s", v.at, drawn.Record.Expires)
		}
		last = v.expires
	}
	p.store.Check(t, p.journal)
	closed := apply(t, p, made.Shoe.ID, Change{Kind: audit.KindClose})
	assert.Truef(t, closed.Shoe.Expires.IsZero(), "a closed shoe expires at %s", closed.Shoe.Expires)
	assert.Truef(t, closed.Record.Expires.IsZero(), "a closed shoe expires at %s", closed.Shoe.Expires)
	p.store.Check(t, p.journal)
}

// Two processes expire the same shoes while one of them is replaced.
func TestExpireLeavesWhatOthersChanged(t *testing.T) {
	p, other := newPair(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p.store.Now = func() time.Time { return now }
	var made []*Result
	for range 20 {
		made = append(made, create(t, p, &NewShoe{Request: ask(plan.Request{Size: ptr(5)}).Request, Expires: time.Minute}))
	}
	now = now.Add(time.Minute)
	_, err := other.Replace(t.Context(), made[0].Shoe.ID, ask(plan.Request{Size: ptr(6)}))
	require.NoError(t, err)
	var wait sync.WaitGroup
	counts, outcomes := make([]int, 2), make([]error, 2)
	for i, by := range []*process{p, other} {
		wait.Go(func() { counts[i], outcomes[i] = by.Expire(t.Context()) })
	}
	wait.Wait()
	require.NoErrorf(t, errors.Join(outcomes...), "%d expired", counts)
	assert.Equalf(t, 19, counts[0]+counts[1], "%d expired", counts)
	s := get(t, p, made[0].Shoe.ID)
	assert.Truef(t, s.Status == shoe.Open && s.Size() == 6, "the shoe that was replaced is %+v", s)
	assert.ErrorIs(t, p.expire(t.Context(), &ledger.Claim{Name: journal.ShoeClaim(made[0].AuditID)}), ledger.ErrClaimed,
		"expiring a shoe that was replaced")
	now = now.Add(time.Minute)
	_, err = p.Replace(t.Context(), made[1].Shoe.ID, &NewShoe{Request: ask(plan.Request{Size: ptr(6)}).Request, Expires: time.Second})
	require.NoError(t, err)
	now = now.Add(time.Second) // now its replacement is overdue
	assert.ErrorIs(t, p.expire(t.Context(), &ledger.Claim{Name: journal.ShoeClaim(made[1].AuditID)}), ledger.ErrClaimed,
		"expiring a shoe that was replaced by one that is overdue")
	p.store.Check(t, p.journal)
}

// The operator restarts the service without the deck types that overdue shoes were made of.
func TestShoesOfLostDecksExpire(t *testing.T) {
	p := newProcess(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p.store.Now = func() time.Time { return now }
	made := create(t, p, &NewShoe{Request: ask(plan.Request{Deck: "standard52"}).Request, Expires: time.Minute})
	now = now.Add(time.Minute)
	bare := New(p.store.Journal(t), nil, &plan.Rules{Decks: &deck.Catalogue{}}, Options{})
	expired, err := bare.Expire(t.Context())
	assert.Truef(t, err == nil && expired == 1, "%d expired, %v", expired, err)
	var changed *plan.DeckChangedError
	_, err = bare.Get(t.Context(), made.Shoe.ID)
	require.ErrorAs(t, err, &changed)
	closed, err := bare.Apply(t.Context(), made.Shoe.ID, &Change{Kind: audit.KindClose})
	assert.Truef(t, err == nil && closed.Shoe.Status == shoe.Closed, "%+v, %v", closed, err)
}

// A shoe uses a commitment once, and a committed shoe verifies.
func TestCommittedShoe(t *testing.T) {
	p := newProcess(t)
	commit := func(r plan.Request) *dealer.Commitment {
		t.Helper()
		c, err := p.dealer.Commit(t.Context(), &dealer.Request{Request: r})
		require.NoError(t, err)
		return c
	}
	c := commit(plan.Request{Deck: "standard52", Reference: "fixed"})
	use := func(c *dealer.Commitment) (*Result, error) {
		return p.Create(t.Context(), ask(plan.Request{CommitmentID: c.ID, ClientSeed: "late"}))
	}
	made, err := use(c)
	require.NoError(t, err)
	if shown, err := p.dealer.Commitment(t.Context(), c.ID); err != nil || shown.Status != dealer.StatusUsed || shown.ClosedBy != made.AuditID {
		t.Error(shown, err)
	}
	var settled *dealer.CommitmentClosedError
	_, err = use(c)
	assert.ErrorAs(t, err, &settled)
	_, err = p.dealer.Shuffle(t.Context(), &dealer.Request{Request: plan.Request{CommitmentID: c.ID, ClientSeed: "x"}})
	assert.ErrorAs(t, err, &settled)
	for _, by := range []*process{p, p.other(t)} {
		hand := drawOpen(t, by, made.Shoe.ID, 3)
		card := &hand.Cards[2]
		assert.NoError(t, card.Opening.Check(card.Position, 52, []byte(card.Card.Code), *made.Record.Root))
	}
	var unfit *plan.Invalid
	_, err = use(commit(plan.Request{Deck: "standard52", Hands: []uint64{5}}))
	assert.ErrorAs(t, err, &unfit)
	apply(t, p, made.Shoe.ID, Change{Kind: audit.KindClose})
	a, err := p.disclosed.Audit(t.Context(), made.AuditID)
	assert.Truef(t, err == nil && a.Seed != nil, "%v", err)
	p.store.Check(t, p.journal)
}

// A draw of 0 leaves the cards in input order, neither secret nor sealed.
func TestDrawOfNothingLeavesTheCardsInOrder(t *testing.T) {
	p, other := newPair(t)
	made := create(t, p, ask(plan.Request{Deck: "standard52", Draw: ptr(0)}))
	id := made.Shoe.ID
	assert.Truef(t, !made.Shoe.Shuffled && made.Record.Root == nil && made.Shoe.Deck.Len() == 52, "the shoe is %+v, with the root %v", made.Shoe, made.Record.Root)
	hand := drawOpen(t, p, id, 5)
	for i, card := range hand.Cards {
		assert.Truef(t, card.Number == uint64(i) && card.Opening == nil, "card %d is %+v", i, card)
	}
	if card, err := cardAt(t, other, id, uuid.Nil, 51); err != nil || card.Number != 51 || card.Opening != nil {
		t.Errorf("a card that was not drawn is %+v, %v", card, err)
	}
	resealed := apply(t, other, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	assert.Truef(t, resealed.Shoe.Shuffled && resealed.Record.Root != nil, "after a reshuffle it is %+v", resealed.Shoe)
	_, err := cardAt(t, p, id, uuid.Nil, 46)
	assert.ErrorIs(t, err, ErrNotSeen, "a card that was not drawn since")
	drawn := drawOpen(t, p, id, 5)
	assert.NotNil(t, drawn.Cards[0].Opening, "a sealed card has no opening")
	piled := create(t, p, ask(plan.Request{Deck: "standard52", Draw: ptr(0)})).Shoe.ID
	apply(t, p, piled, Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, Count: ptr(3), To: shoe.OnPile("a"), Put: shoe.Top})
	shuffled := apply(t, p, piled, Change{Kind: audit.KindReshuffle, From: shoe.OnPile("a")})
	assert.False(t, shuffled.Shoe.Shuffled, "after a pile was reshuffled the deck counts as shuffled")
	card, err := cardAt(t, other, piled, uuid.Nil, 10)
	assert.Truef(t, err == nil && card.Number == 10, "the card of the deck after a pile was reshuffled is %+v, %v", card, err)
	p.store.Check(t, p.journal)
}

func TestSealingsOfAnotherShoeAreNotFound(t *testing.T) {
	p := newProcess(t)
	var made, resealed [2]*Result
	for i := range made {
		made[i] = create(t, p, ask(plan.Request{Deck: "standard52"}))
		resealed[i] = apply(t, p, made[i].Shoe.ID, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
		drawn := apply(t, p, made[i].Shoe.ID, drawing(1))
		card, err := cardAt(t, p, made[i].Shoe.ID, resealed[i].AuditID, 0)
		assert.Truef(t, err == nil && card.Number == drawn.Cards[0].Number, "%+v, %v", card, err)
	}
	for _, sealedBy := range []uuid.UUID{resealed[1].AuditID, made[1].AuditID, uuid.New()} {
		card, err := cardAt(t, p, made[0].Shoe.ID, sealedBy, 0)
		assert.ErrorIsf(t, err, ledger.ErrNotFound, "%+v", card)
	}
}

func TestCardsAreNamedByCode(t *testing.T) {
	p := newProcess(t)
	made := create(t, p, ask(plan.Request{Deck: "standard52", Decks: ptr(2), Draw: ptr(0)}))
	id := made.Shoe.ID
	apply(t, p, id, drawing(104))
	find := func(code string, instance int) uint64 {
		t.Helper()
		dealt, err := get(t, p, id).Cards(shoe.Dealt)
		require.NoError(t, err)
		for _, c := range dealt {
			if c.Card.Code == code && c.Card.Instance == instance {
				return c.Number
			}
		}
		t.Fatalf("%s %d is not dealt", code, instance)
		return 0
	}
	ten := find("TS", 1)
	var wrong *CardsError
	c := returning([]CardName{{Code: "10S"}})
	if _, err := p.Apply(t.Context(), id, &c); !errors.As(err, &wrong) || !wrong.Ambiguous || wrong.Index != 0 {
		t.Errorf("a code that two cards have: %v", err)
	}
	// After one of the two is named by number, the code is unambiguous.
	c = returning(append(named(ten), CardName{Code: "10S"}))
	back := apply(t, p, id, c)
	assert.Truef(t, len(back.Cards) == 2 && back.Cards[0].Number == ten && back.Cards[1].Card.Code == "TS" && back.Cards[1].Number != ten,
		"returned are %+v", back.Cards)
	if _, err := p.Apply(t.Context(), id, &c); !errors.As(err, &wrong) || wrong.Ambiguous || wrong.Index != 0 {
		t.Errorf("cards that are back in the deck: %v", err)
	}

	words := &NewShoe{Request: ask(plan.Request{Items: items(4), Draw: ptr(0)}).Request, Items: []string{`"a"`, `1`, `"b"`, `"a"`}}
	id = create(t, p, words).Shoe.ID
	apply(t, p, id, drawing(4))
	c = returning([]CardName{{Code: "b"}})
	back = apply(t, p, id, c)
	assert.Truef(t, back.Cards[0].Number == 2 && back.Cards[0].Item == `"b"`, "returned are %+v", back.Cards)
	for code, ambiguous := range map[string]bool{"a": true, "1": false, "": false} {
		c = returning([]CardName{{Code: code}})
		_, err := p.Apply(t.Context(), id, &c)
		assert.Truef(t, errors.As(err, &wrong) && wrong.Ambiguous == ambiguous, "an item named %q: %v", code, err)
	}
}

// The store keeps cut cards and empty piles.
func TestCutsAndEmptyPilesAreStored(t *testing.T) {
	p := newProcess(t)
	r := ask(plan.Request{Deck: "standard52"})
	r.Cut = &shoe.Cut{From: 20, To: 30}
	made := create(t, p, r)
	id := made.Shoe.ID
	cut, _ := made.Shoe.Cut()
	apply(t, p, id, Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, Cards: []CardName{}, To: shoe.OnPile("burn"), Put: shoe.Top})
	other := p.other(t)
	for _, by := range []*process{p, other, p.other(t)} {
		shown := get(t, by, id)
		if c, reached := shown.Cut(); c == nil || *c != *cut || reached || len(shown.Piles) != 1 || shown.Piles[0].Name != "burn" || shown.Piles[0].Cards.Len() != 0 {
			t.Errorf("the shoe is %+v with the cut card %+v, want %+v and an empty pile", shown, c, cut)
		}
	}
	drawn := apply(t, other, id, drawing(cut.At)).Shoe
	for _, after := range []*Shoe{&drawn, get(t, p, id)} {
		_, reached := after.Cut()
		assert.True(t, reached, "the cut card is not reached by the draw of all cards before it")
	}
	again := apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.All})
	if c, _ := get(t, other, id).Cut(); c == nil || c.From != 20 || c.To != 30 || *c != *again.Record.Cut {
		t.Errorf("the cut card is %+v after a reshuffle, want %+v", c, again.Record.Cut)
	}
}
