package liveshoes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	if got := p.cached(id); got == nil || got.layout.Version != 2 {
		t.Fatalf("cached is %+v", got)
	}
	p.Service.store(old)
	got := p.cached(id)
	assert.EqualValuesf(t, 2, got.layout.Version, "cached after an older state was read is %+v", got)
}

// States that are not cached are read from the store.
func TestShoesWithoutACache(t *testing.T) {
	p := newProcess(t)
	p.room = 1
	id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
	require.Equal(t, 0, p.states.Len(), "a shoe is cached that costs more than the cache may")
	drawOpen(t, p, id, 3)
	apply(t, p, id, Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, Count: ptr(5), To: shoe.OnPile("a"), Put: shoe.Top})
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.OnPile("a")})
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	hand := drawOpen(t, p, id, 3)
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
	assert.Equal(t, 1000*122, large-small, "1000 cards more cost")
	words := &NewShoe{Request: ask(plan.Request{Items: items(10)}).Request}
	for range 10 {
		words.Items = append(words.Items, `"`+strings.Repeat("x", 998)+`"`)
	}
	assert.Equal(t, 10_000, cost(words)-small, "10,000 bytes of items cost")
	id := create(t, p, ask(plan.Request{Size: ptr(10)})).Shoe.ID
	apply(t, p, id, drawing(1))
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	assert.Equal(t, 64+9*2, p.cached(id).cost()-small, "a second order, of 9 cards, costs")
}

// A change adds at most 2 kB to the store on average, however the cards lie and however often they
// were shuffled, and few records are read back.
func TestShoeCostsWhatItsChangesSay(t *testing.T) {
	p := newProcess(t)
	pile := func(i int) shoe.Place { return shoe.OnPile(fmt.Sprintf("%0*d", MaxNameBytes/shoe.MaxPiles, i)) }
	shuffled := func(place shoe.Place) Change { return Change{Kind: audit.KindReshuffle, From: place} }
	scattered := func(size uint64) uuid.UUID {
		id := create(t, p, ask(plan.Request{Size: &size})).Shoe.ID
		apply(t, p, id, Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Random, Count: ptr(size - 200), To: pile(0), Put: shoe.Top})
		return id
	}
	for name, v := range map[string]struct {
		id     uuid.UUID
		change func(i int) Change
	}{
		"a pile shuffled": {scattered(250), func(int) Change { return shuffled(pile(0)) }},
		"many cards": {scattered(shoe.MaxCards), func(i int) Change {
			return Change{Kind: audit.KindDraw, From: pile(i / 2), Taken: shoe.Random, Count: ptr(2), To: pile(i/2 + i%2), Put: shoe.Top}
		}},
		"many orders": {scattered(500), func(i int) Change {
			if i%2 == 0 {
				return Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Random, To: pile(i % 200), Put: shoe.Top}
			}
			return shuffled([]shoe.Place{shoe.Deck, shoe.All}[(i+1)/100%2])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			const changes = 300
			before, most := p.store.Size(t), 0
			for i := range changes {
				last := apply(t, p, v.id, v.change(i))
				stored, err := p.journal.ByID(t.Context(), last.AuditID)
				require.NoError(t, err)
				for read := 0; ; read++ {
					sidecar, err := p.journal.Sidecar(stored)
					require.NoError(t, err)
					if most = max(most, read); sidecar.Shoe.Snapshot != nil || stored.Version <= 1 {
						break
					}
					stored, err = p.journal.Previous(t.Context(), stored)
					require.NoError(t, err)
				}
			}
			bytes := 0
			for from := before; from < before+changes; {
				list, err := p.store.Select(t.Context(), ledger.Range(from, changes))
				require.NoError(t, err)
				for _, e := range list {
					bytes += len(e.Record) + len(e.Sidecar)
				}
				from += uint64(len(list))
			}
			assert.LessOrEqual(t, bytes/changes, 2<<10, "bytes of a change")
			assert.LessOrEqual(t, most, 128, "records that are read back")
			want := get(t, p, v.id)
			assert.Equal(t, want.Layout, get(t, p.other(t), v.id).Layout, "as read back")
		})
	}
	p.store.Check(t, p.journal)
}

// The cards in a shoe are of a bounded number of orders, and their openings are made one order
// after the other, also by a process that has seen none of them.
func TestOpeningsOfManyOrders(t *testing.T) {
	p := newProcess(t)
	id := create(t, p, ask(plan.Request{Size: ptr(100)})).Shoe.ID
	for range MaxOrders - 1 {
		apply(t, p, id, drawing(1))
		apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	}
	apply(t, p, id, drawing(1))
	other := p.other(t)
	s := get(t, other, id)
	cards, err := s.Cards(shoe.Dealt)
	require.NoError(t, err)
	var pace atOnce
	require.NoError(t, other.Open(t.Context(), s, cards, &pace))
	// Most are read back.
	assert.Truef(t, pace.cost.Leaves > 64*100+32*readLeaves && pace.cost.Bytes == 100*leafBytes+readBytes, "%+v", pace.cost)
	assert.Equal(t, MaxOrders, pace.waits)
	stopped := atOnce{err: errors.New("stop")}
	assert.ErrorIs(t, other.Open(t.Context(), s, cards, &stopped), stopped.err)
	assert.Equal(t, 1, stopped.waits)
	for _, card := range cards {
		sealed, err := p.journal.ByID(t.Context(), card.SealedBy)
		require.NoError(t, err)
		require.NoError(t, card.Opening.Check(card.Position, sealed.Statement.Size, []byte(card.Item), *sealed.Root))
	}
	_, err = other.Apply(t.Context(), id, &Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	require.ErrorIs(t, err, shoe.ErrTooMany)
	apply(t, other, id, Change{Kind: audit.KindReshuffle, From: shoe.All})
}

func TestNamesOfPilesAreBoundedTogether(t *testing.T) {
	p := newProcess(t)
	id := create(t, p, ask(plan.Request{Size: ptr(5)})).Shoe.ID
	empty := func(i int) Change {
		name := fmt.Sprintf("%0*d", shoe.MaxName, i)
		return Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, Cards: []CardName{}, To: shoe.OnPile(name), Put: shoe.Top}
	}
	for i := range MaxNameBytes / shoe.MaxName {
		apply(t, p, id, empty(i))
	}
	more := empty(1000)
	_, err := p.Apply(t.Context(), id, &more)
	require.ErrorIs(t, err, shoe.ErrTooMany)
	apply(t, p, id, empty(0))
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

// Sidecars have snapshots and seeds that others than the service wrote.
func TestShoeWithAForgedSidecarIsCorrupt(t *testing.T) {
	p := newProcess(t)
	reshuffle := Change{Kind: audit.KindReshuffle, From: shoe.Deck}
	forge := func(of Change, change func(*journal.Sidecar, *journal.Snapshot)) uuid.UUID {
		t.Helper()
		id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
		apply(t, p, id, reshuffle)
		before, last := p.cached(id), apply(t, p, id, of)
		sidecar := journal.Sidecar{Seed: make([]byte, 32), Shoe: &journal.ShoeSidecar{Previous: before.index}}
		var saved journal.Snapshot
		require.NoError(t, json.Unmarshal(p.cached(id).snapshot(), &saved))
		if change(&sidecar, &saved); of.Kind == audit.KindDraw {
			text, err := json.Marshal(saved)
			require.NoError(t, err)
			sidecar.Seed, sidecar.Shoe.Snapshot = nil, text
		}
		forged := *last.Record
		forged.ID = uuid.Must(uuid.NewV7())
		claim := sidecar.Shoe.Claim(&forged)
		claim.From = last.LogIndex
		_, err := p.journal.Append(t.Context(), &journal.Addition{Record: &forged, Sidecar: sidecar, Claims: []ledger.Claim{claim}})
		require.NoError(t, err)
		return id
	}
	nothing := func(*journal.Sidecar, *journal.Snapshot) {}
	drawOpen(t, p.other(t), forge(drawing(1), nothing), 1)
	swapped := forge(drawing(1), func(_ *journal.Sidecar, s *journal.Snapshot) {
		s.Numbers[0], s.Numbers[1], s.Numbers[2], s.Numbers[3] = s.Numbers[2], s.Numbers[3], s.Numbers[0], s.Numbers[1]
	})
	other := p.other(t)
	drawn := apply(t, other, swapped, drawing(1))
	assert.ErrorIs(t, other.Open(t.Context(), &drawn.Shoe, drawn.Cards, &atOnce{}), ledger.ErrCorrupt, "two cards swapped")
	for name, id := range map[string]uuid.UUID{
		"a card too few":   forge(drawing(1), func(_ *journal.Sidecar, s *journal.Snapshot) { s.Numbers = s.Numbers[2:] }),
		"an unknown card":  forge(drawing(1), func(_ *journal.Sidecar, s *journal.Snapshot) { s.Numbers[7*2+1] = 52 }),
		"no order":         forge(drawing(1), func(_ *journal.Sidecar, s *journal.Snapshot) { s.Orders = nil }),
		"a short order":    forge(drawing(1), func(_ *journal.Sidecar, s *journal.Snapshot) { s.Orders[0].Size = 51 }),
		"no layout":        forge(drawing(1), func(_ *journal.Sidecar, s *journal.Snapshot) { s.Layout = nil }),
		"another version":  forge(drawing(1), func(_ *journal.Sidecar, s *journal.Snapshot) { s.Layout.Version++ }),
		"another seed":     forge(reshuffle, nothing),
		"another previous": forge(reshuffle, func(s *journal.Sidecar, _ *journal.Snapshot) { s.Shoe.Previous = 1 << 40 }),
	} {
		got, err := p.other(t).Get(t.Context(), id)
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%s: %+v", name, got)
	}
}
