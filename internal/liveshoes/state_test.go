package liveshoes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/cache"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

func TestLockIsHeldByOneAtATimeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l locks
		var order []int
		acquired := make(chan func(), 5)
		acquire := func(i int) {
			go func() {
				release, err := l.acquire(t.Context(), uuid.UUID{1})
				if err != nil {
					t.Error(err)
				}
				order = append(order, i)
				acquired <- release
			}()
			synctest.Wait()
		}
		acquire(0)
		acquire(1) // waits
		acquire(2)
		other, err := l.acquire(t.Context(), uuid.UUID{2}) // does not wait
		if err != nil {
			t.Fatal(err)
		}
		other()
		for i := range 5 {
			if len(acquired) != 1 || len(order) != i+1 {
				t.Fatalf("%d hold the lock, after it was acquired by %d", len(acquired), order)
			}
			(<-acquired)()
			synctest.Wait() // the next waiter holds the lock
			if i < 2 {
				acquire(3 + i) // waits
			}
		}
		if !slices.IsSorted(order) || len(l.list) != 0 {
			t.Errorf("the lock was acquired by %d, and %d locks are left that nobody holds", order, len(l.list))
		}
	})
}

func TestLockIsNotWaitedForOnceTheCallerLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l locks
		id := uuid.UUID{1}
		release, err := l.acquire(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		outcome := make(chan error, 1)
		go func() {
			_, err := l.acquire(ctx, id)
			outcome <- err
		}()
		synctest.Wait()
		if found := l.list[id]; found.refs != 2 {
			t.Errorf("the lock has %d holders and waiters, want 2", found.refs)
		}
		cancel()
		if err := <-outcome; !errors.Is(err, context.Canceled) {
			t.Errorf("a waiter whose caller left: %v", err)
		}
		release()
		if len(l.list) != 0 {
			t.Errorf("%d locks are left that nobody holds", len(l.list))
		}
		if release, err = l.acquire(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		release()
	})
}

func TestChangesWaitForTheLock(t *testing.T) {
	p := newProcess(t)
	id := create(t, p, ask(plan.Request{Size: ptr(5)})).Shoe.ID
	release, err := p.locks.acquire(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := drawing(1)
	if _, err := p.Apply(ctx, id, &c); !errors.Is(err, context.Canceled) {
		t.Errorf("a draw while the shoe is locked: %v", err)
	}
	if _, err := p.Replace(ctx, id, ask(plan.Request{Size: ptr(5)})); !errors.Is(err, context.Canceled) {
		t.Errorf("a replacement while the shoe is locked: %v", err)
	}
	if s := get(t, p, id); s.Version != 1 { // a query does not wait
		t.Errorf("the shoe is %+v", s)
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
	if got := p.cached(id); got.Layout.Version != 2 {
		t.Errorf("cached after an older state was read is %+v", got)
	}
}

// States that are not cached are read from the store.
func TestShoesWithoutACache(t *testing.T) {
	p := newProcess(t)
	p.states = cache.New[uuid.UUID, *state](1)
	id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
	if p.states.Len() != 0 {
		t.Fatal("a shoe is cached that costs more than the cache may")
	}
	apply(t, p, id, opening(3))
	apply(t, p, id, Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, Count: ptr(5), To: shoe.OnPile("a"), Put: shoe.Top})
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.OnPile("a")})
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	hand := apply(t, p, id, opening(3))
	s := get(t, p, id)
	if s.Remaining != 41 || s.Dealt != 6 || s.Version != 6 {
		t.Errorf("the shoe is %+v", s)
	}
	for _, card := range hand.Cards {
		sealed, err := p.journal.ByID(t.Context(), card.SealedBy)
		if err != nil {
			t.Fatal(err)
		}
		if err := card.Opening.Check(card.Position, sealed.Statement.Size, []byte(card.Card.Code), *sealed.Root); err != nil {
			t.Error(err)
		}
	}
}

func TestCostGrowsWithTheShoe(t *testing.T) {
	p := newProcess(t)
	cost := func(r *Request) int {
		return p.cached(create(t, p, r).Shoe.ID).cost()
	}
	small, large := cost(ask(plan.Request{Size: ptr(10)})), cost(ask(plan.Request{Size: ptr(1010)}))
	if large-small != 1000*100 {
		t.Errorf("1000 cards more cost %d bytes more, want 100 each", large-small)
	}
	words := &Request{Request: ask(plan.Request{Items: items(10)}).Request}
	for range 10 {
		words.Items = append(words.Items, `"`+strings.Repeat("x", 998)+`"`)
	}
	if got := cost(words); got-small != 10_000 {
		t.Errorf("10,000 bytes of items cost %d bytes more", got-small)
	}
	id := create(t, p, ask(plan.Request{Size: ptr(10)})).Shoe.ID
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	if got := p.cached(id).cost(); got-small != 10*100 {
		t.Errorf("a second sealing of 10 cards costs %d bytes more", got-small)
	}
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
		if got, err := fresh.Get(t.Context(), id); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: the shoe is %+v, %v", name, got, err)
		}
		if got, err := fresh.Apply(t.Context(), id, &c); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: drawn is %+v, %v", name, got, err)
		}
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
	if _, err := p.Replace(t.Context(), id, ask(plan.Request{Size: ptr(6)})); err != nil {
		t.Fatal(err)
	}
	keys, err := p.store.Claims(t.Context(), ledger.ClaimQuery{Prefix: "key ", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	forge := func(change func(*journal.ShoeState)) uuid.UUID {
		t.Helper()
		forged := *stored.Record
		forged.ID = uuid.Must(uuid.NewV7())
		sidecar, err := p.journal.Sidecar(stored)
		if err != nil {
			t.Fatal(err)
		}
		sidecar.Shoe.ID, sidecar.Shoe.Seals[0] = uuid.New(), p.store.Size(t)
		change(sidecar.Shoe)
		_, err = p.journal.Append(t.Context(), &journal.Entry{
			Record: &forged, Sidecar: *sidecar,
			Claims: []ledger.Claim{{Name: journal.OwnerClaim(sidecar.Shoe.ID)}, {Name: journal.ShoeClaim(forged.ID)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return sidecar.Shoe.ID
	}
	withOpenings := opening(1)
	apply(t, p, forge(func(*journal.ShoeState) {}), withOpenings)
	swapped := forge(func(s *journal.ShoeState) { s.Order[0], s.Order[1] = s.Order[1], s.Order[0] })
	if got, err := p.Apply(t.Context(), swapped, &withOpenings); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("two cards swapped: %+v, %v", got, err)
	}
	for name, change := range map[string]func(*journal.ShoeState){
		"a card too few":  func(s *journal.ShoeState) { s.Order = s.Order[:51] },
		"a card too many": func(s *journal.ShoeState) { s.Order = append(s.Order, 0) },
		"no order":        func(s *journal.ShoeState) { s.Order = nil },
		"an unknown card": func(s *journal.ShoeState) { s.Order[7] = 52 },
		"no sealing":      func(s *journal.ShoeState) { s.Layout.Seals = nil },
	} {
		if got, err := p.Get(t.Context(), forge(change)); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
