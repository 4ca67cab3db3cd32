package liveshoes

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

func TestLockIsOfOneShoe(t *testing.T) {
	p := newProcess(t)
	release, err := p.lock(t.Context(), uuid.UUID{1})
	require.NoError(t, err)
	other, err := p.lock(t.Context(), uuid.UUID{2}) // does not wait
	require.NoError(t, err)
	other()
	next := make(chan func())
	go func() {
		release, err := p.lock(t.Context(), uuid.UUID{1})
		assert.NoError(t, err)
		next <- release
	}()
	select {
	case <-next:
		t.Error("two callers have the lock of a shoe")
	case <-time.After(20 * time.Millisecond):
		release()
		(<-next)()
	}
}

func TestChangesWaitForTheLock(t *testing.T) {
	p := newProcess(t)
	id := create(t, p, ask(plan.Request{Size: ptr(5)})).Shoe.ID
	release, err := p.lock(t.Context(), id)
	require.NoError(t, err)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := drawing(1)
	_, err = p.Apply(ctx, id, &c)
	assert.ErrorIs(t, err, context.Canceled, "a draw while the shoe is locked")
	_, err = p.Replace(ctx, id, ask(plan.Request{Size: ptr(5)}))
	assert.ErrorIs(t, err, context.Canceled, "a replacement while the shoe is locked")
	if s := get(t, p, id); s.Version != 1 { // a query does not wait
		t.Errorf("the shoe is %+v", s)
	}
}

// TestShoesAreReadOneAfterTheOther has a shoe that is being read while another one is asked for.
// That is read beside it by default, and waits in a process with little memory.
func TestShoesAreReadOneAfterTheOther(t *testing.T) {
	p := newProcess(t)
	id := create(t, p, ask(plan.Request{Size: ptr(5)})).Shoe.ID
	require.True(t, loads.TryAcquire(1))
	defer loads.Release(1)
	for share, want := range map[int]error{0: nil, 16: nil, 32: context.DeadlineExceeded, 76: context.DeadlineExceeded} {
		ctx, cancel := t.Context(), func() {}
		if want != nil {
			ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
		}
		_, err := New(p.journal, p.dealer, p.rules, Options{CacheShare: share}).Get(ctx, id)
		cancel()
		assert.ErrorIsf(t, err, want, "with share %d", share)
	}
}

func TestCacheHoldsTheNewestState(t *testing.T) {
	p := newProcess(t)
	made := create(t, p, ask(plan.Request{Size: ptr(5)}))
	id := made.Shoe.ID
	old := p.cached(id)
	apply(t, p, id, drawing(1))
	if got := p.cached(id); got == nil || got.Layout.Version != 2 {
		t.Fatalf("cached is %+v", got)
	}
	p.Service.store(old)
	got := p.cached(id)
	assert.EqualValuesf(t, 2, got.Layout.Version, "cached after an older state was read is %+v", got)
}

// States that are not cached are read from the store.
func TestShoesWithoutACache(t *testing.T) {
	p := newProcess(t)
	p.room = 1
	id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
	require.Equal(t, 0, p.states.Len(), "a shoe is cached that costs more than the cache may")
	apply(t, p, id, opening(3))
	apply(t, p, id, Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, Count: ptr(5), To: shoe.OnPile("a"), Put: shoe.Top})
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.OnPile("a")})
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	hand := apply(t, p, id, opening(3))
	s := get(t, p, id)
	assert.Truef(t, s.Deck.Len() == 41 && s.Dealt.Len() == 6 && s.Version == 6, "the shoe is %+v", s)
	for _, card := range hand.Cards {
		sealed, err := p.journal.ByID(t.Context(), card.SealedBy)
		require.NoError(t, err)
		err = card.Opening.Check(card.Position, sealed.Statement.Size, []byte(card.Card.Code), *sealed.Root)
		assert.NoError(t, err)
	}
}

func TestCostGrowsWithTheShoe(t *testing.T) {
	p := newProcess(t)
	cost := func(r *NewShoe) int { return p.cached(create(t, p, r).Shoe.ID).cost() }
	small, large := cost(ask(plan.Request{Size: ptr(10)})), cost(ask(plan.Request{Size: ptr(1010)}))
	assert.Equal(t, 1000*100, large-small, "1000 cards more cost")
	words := &NewShoe{Request: ask(plan.Request{Items: items(10)}).Request}
	for range 10 {
		words.Items = append(words.Items, `"`+strings.Repeat("x", 998)+`"`)
	}
	assert.Equal(t, 10_000, cost(words)-small, "10,000 bytes of items cost")
	id := create(t, p, ask(plan.Request{Size: ptr(10)})).Shoe.ID
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	assert.Equal(t, 10*100, p.cached(id).cost()-small, "a second sealing of 10 cards costs")
}

// Claims were moved in the store.
func TestShoeWhoseClaimsWereMovedIsCorrupt(t *testing.T) {
	p := newProcess(t)
	made, other := create(t, p, keyed("key", plan.Request{Size: ptr(5)})), create(t, p, ask(plan.Request{Size: ptr(5)}))
	id := made.Shoe.ID
	apply(t, p, id, drawing(1))
	apply(t, p, other.Shoe.ID, drawing(1))
	check := func(name string) {
		t.Helper()
		fresh := newProcessOn(t, p.store)
		c := drawing(1)
		got, err := fresh.Get(t.Context(), id)
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%s: the shoe is %+v", name, got)
		_, err = fresh.Apply(t.Context(), id, &c)
		assert.ErrorIs(t, err, ledger.ErrCorrupt, name)
	}
	owner, last := journal.OwnerClaim(id), journal.ShoeClaim(made.AuditID)
	for name, moved := range map[string]map[string]string{
		"the owner's to another shoe":  {owner: journal.OwnerClaim(other.Shoe.ID)},
		"the owner's to a draw":        {owner: last},
		"the last one to another shoe": {last: journal.ShoeClaim(other.AuditID)},
		"the last one to nobody":       {last: "nobody's"},
	} {
		p.store.Moved = moved
		check(name)
	}
	p.store.Moved = nil
	_, err := p.Replace(t.Context(), id, ask(plan.Request{Size: ptr(6)}))
	require.NoError(t, err)
	keys, err := p.store.Claims(t.Context(), ledger.ClaimQuery{Prefix: "key ", Limit: 10})
	require.NoError(t, err)
	keys = slices.DeleteFunc(keys, func(c ledger.Claim) bool { return journal.IsShoeClaim(c.Name) })
	// The first record of the replaced shoe holds it.
	p.store.Moved = map[string]string{owner: keys[0].Name}
	check("the owner's back to the shoe that was replaced")
}

// A sidecar has another order than was sealed.
func TestShoeWithAnotherOrderIsCorrupt(t *testing.T) {
	p := newProcess(t)
	made := create(t, p, ask(plan.Request{Deck: "standard52"}))
	stored, err := p.journal.ByID(t.Context(), made.AuditID)
	require.NoError(t, err)
	forge := func(change func(*journal.ShoeState)) uuid.UUID {
		t.Helper()
		forged := *stored.Record
		forged.ID = uuid.Must(uuid.NewV7())
		sidecar, err := p.journal.Sidecar(stored)
		require.NoError(t, err)
		sidecar.Shoe.ID, sidecar.Shoe.Seals[0] = uuid.New(), p.store.Size(t)
		change(sidecar.Shoe)
		_, err = p.journal.Append(t.Context(), &journal.Addition{
			Record: &forged, Sidecar: *sidecar,
			Claims: []ledger.Claim{{Name: journal.OwnerClaim(sidecar.Shoe.ID)}, {Name: journal.ShoeClaim(forged.ID)}},
		})
		require.NoError(t, err)
		return sidecar.Shoe.ID
	}
	withOpenings := opening(1)
	apply(t, p, forge(func(*journal.ShoeState) {}), withOpenings)
	swapped := forge(func(s *journal.ShoeState) { s.Order[0], s.Order[1] = s.Order[1], s.Order[0] })
	got, err := p.Apply(t.Context(), swapped, &withOpenings)
	assert.ErrorIsf(t, err, ledger.ErrCorrupt, "two cards swapped: %+v", got)
	for name, change := range map[string]func(*journal.ShoeState){
		"a card too few":  func(s *journal.ShoeState) { s.Order = s.Order[:51] },
		"a card too many": func(s *journal.ShoeState) { s.Order = append(s.Order, 0) },
		"no order":        func(s *journal.ShoeState) { s.Order = nil },
		"an unknown card": func(s *journal.ShoeState) { s.Order[7] = 52 },
		"no sealing":      func(s *journal.ShoeState) { s.Layout.Seals = nil },
	} {
		got, err := p.Get(t.Context(), forge(change))
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%s: %+v", name, got)
	}
}
