package liveshoes

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// drawAll draws all remaining cards, and appends each version that it is called for.
func drawAll(versions *[]uint64) func(*Shoe) (*Change, error) {
	return func(now *Shoe) (*Change, error) {
		*versions = append(*versions, now.Version)
		c := drawing(now.Deck.Len())
		return &c, nil
	}
}

func TestUpdatePlansAgainAfterAnotherProcessChangedTheShoe(t *testing.T) {
	p, other := newPair(t)
	id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
	apply(t, other, id, drawing(10)) // p has cached version 1
	var versions []uint64
	result, err := p.Update(t.Context(), id, nil, drawAll(&versions))
	assert.Truef(t, err == nil && len(result.Cards) == 42 && result.Shoe.Version == 3 && slices.Equal(versions, []uint64{1, 2}),
		"%+v, %v, planned for versions %d", result, err, versions)
	// The shoe changes twice while the change is decided.
	apply(t, p, id, Change{Kind: audit.KindReshuffle, From: shoe.All})
	versions = nil
	plan := drawAll(&versions)
	result, err = other.Update(t.Context(), id, nil, func(now *Shoe) (*Change, error) {
		if now.Version > 3 && now.Version < 7 {
			apply(t, p, id, drawing(1))
		}
		return plan(now)
	})
	assert.Truef(t, err == nil && len(result.Cards) == 49 && result.Shoe.Version == 8 && slices.Equal(versions, []uint64{2, 4, 5, 6, 7}),
		"%+v, %v, planned for versions %d", result, err, versions)
	p.store.Check(t, p.journal)
}

func TestUpdateOfNothingRecordsNothing(t *testing.T) {
	p, other := newPair(t)
	id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
	var versions []uint64
	nothing := func(now *Shoe) (*Change, error) {
		versions = append(versions, now.Version)
		return nil, nil
	}
	key := journal.NewIdempotencyKey("key")
	drawn := apply(t, other, id, drawing(10)) // p has cached version 1
	before := p.store.Size(t)
	result, err := p.Update(t.Context(), id, key, nothing)
	if err != nil || result.AuditID != drawn.AuditID || result.LogIndex != drawn.LogIndex || result.Shoe.Version != 2 || result.Shoe.Deck.Len() != 42 || result.Record != nil || result.Cards != nil {
		t.Errorf("%+v, %v", result, err)
	}
	assert.Equal(t, []uint64{1, 2}, versions, "planned for versions")
	assert.Equal(t, before, p.store.Size(t), "planned for versions")
	// With a stale state there is nothing to do, but with the stored one there is.
	apply(t, other, id, drawing(10)) // p has cached version 2
	result, err = p.Update(t.Context(), id, key, func(now *Shoe) (*Change, error) {
		if now.Version == 2 {
			return nil, nil
		}
		c := drawing(1)
		return &c, nil
	})
	assert.Truef(t, err == nil && result.Shoe.Version == 4 && len(result.Cards) == 1, "%+v, %v", result, err)
}

func TestUpdateIsReplayedWithoutAPlan(t *testing.T) {
	p, other := newPair(t)
	id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
	var versions []uint64
	key := journal.NewIdempotencyKey("key", []byte("request"))
	first, err := p.Update(t.Context(), id, key, drawAll(&versions))
	require.NoError(t, err)
	apply(t, other, id, Change{Kind: audit.KindReshuffle, From: shoe.All})
	planned := func(*Shoe) (*Change, error) { t.Error("a replay was planned"); return nil, nil }
	for _, by := range []*process{p, other} {
		again, err := by.Update(t.Context(), id, key, planned)
		if err != nil || again.AuditID != first.AuditID || again.Shoe.Version != 2 || !slices.Equal(numbersOf(again.Cards), numbersOf(first.Cards)) {
			t.Errorf("%+v, %v, want %+v", again, err, first)
		}
		_, err = by.Update(t.Context(), id, journal.NewIdempotencyKey("key", []byte("another request")), planned)
		assert.ErrorIs(t, err, journal.ErrKeyReused)
		_, err = by.Update(t.Context(), uuid.New(), nil, planned)
		assert.ErrorIs(t, err, journal.ErrNoShoe)
	}
}

// A stale cached state is no reason to reject a change.
func TestRefusalsAreOfTheShoeAsItIs(t *testing.T) {
	p, other := newPair(t)
	id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
	drawn := apply(t, p, id, drawing(52))
	back := Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom}
	apply(t, other, id, back)
	result := apply(t, p, id, drawing(1))
	assert.EqualValuesf(t, 51, result.Shoe.Deck.Len(), "drawn from a deck that was empty: %+v", result.Shoe)
	// Each is impossible in p's stale state.
	for name, v := range map[string]struct{ before, then Change }{
		"a card in the deck": {drawing(51), returning(named(numbersOf(drawn.Cards)...))},
		"a pile": {
			Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, To: shoe.OnPile("a"), Put: shoe.Top},
			Change{Kind: audit.KindDraw, From: shoe.OnPile("a"), Taken: shoe.Top, To: shoe.Dealt},
		},
		"a version": {drawing(1), Change{Kind: audit.KindReshuffle, From: shoe.All, IfVersion: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
			apply(t, p, id, drawing(1))
			apply(t, other, id, v.before)
			apply(t, p, id, v.then)
		})
	}
	apply(t, p, id, Change{Kind: audit.KindClose})
	_, err := other.Replace(t.Context(), id, ask(plan.Request{Size: ptr(6)}))
	require.NoError(t, err)
	result = apply(t, p, id, drawing(6))
	assert.EqualValuesf(t, 6, result.Shoe.Size(), "drawn from a shoe that was closed: %+v", result.Shoe)

	// Errors of decide are not final either.
	apply(t, other, id, Change{Kind: audit.KindReshuffle, From: shoe.All})
	empty := errors.New("empty")
	var versions []uint64
	plan := func(now *Shoe) (*Change, error) {
		versions = append(versions, now.Version)
		if now.Deck.Len() == 0 {
			return nil, empty
		}
		c := drawing(now.Deck.Len())
		return &c, nil
	}
	if result, err := p.Update(t.Context(), id, nil, plan); err != nil || len(result.Cards) != 6 || !slices.Equal(versions, []uint64{2, 3}) {
		t.Errorf("%+v, %v, planned for versions %d", result, err, versions)
	}
	versions = nil
	before := p.store.Size(t)
	if result, err := p.Update(t.Context(), id, nil, plan); !errors.Is(err, empty) || result != nil || !slices.Equal(versions, []uint64{4, 4}) || p.store.Size(t) != before {
		t.Errorf("%+v, %v, planned for versions %d", result, err, versions)
	}
}

func TestUpdateGivesUpWithItsCaller(t *testing.T) {
	p, other := newPair(t)
	id := create(t, p, ask(plan.Request{Deck: "standard52"})).Shoe.ID
	ctx, cancel := context.WithCancel(t.Context())
	plans := 0
	result, err := p.Update(ctx, id, nil, func(*Shoe) (*Change, error) {
		if plans++; plans == 5 {
			cancel()
		}
		apply(t, other, id, drawing(1)) // wins each race
		c := drawing(1)
		return &c, nil
	})
	assert.Truef(t, errors.Is(err, context.Canceled) && result == nil && plans == 5, "%+v, %v after %d plans", result, err, plans)
	s := get(t, other, id)
	assert.EqualValuesf(t, 47, s.Deck.Len(), "the shoe is %+v", s)
}

// A replacement takes over the id, and no process deals from the old shoe any more.
func TestReplace(t *testing.T) {
	p, other := newPair(t)
	made := create(t, p, ask(plan.Request{Deck: "standard52"}))
	id := made.Shoe.ID
	apply(t, other, id, drawing(50))
	next, err := p.Replace(t.Context(), id, ask(plan.Request{Deck: "standard54"}))
	require.NoError(t, err)
	require.Truef(t, next.Shoe.ID == id && next.Shoe.Size() == 54 && next.Record.AuditID == made.AuditID && next.Shoe.First.ID == next.AuditID,
		"%+v", next.Shoe)
	drawn := apply(t, other, id, drawing(10))
	assert.Truef(t, drawn.Shoe.Deck.Len() == 44 && drawn.Record.AuditID == next.AuditID, "%+v", drawn)
	a, err := p.disclosed.Audit(t.Context(), made.AuditID)
	assert.Truef(t, err == nil && a.Seed == nil, "the seed of a shoe that was replaced is public: %+v, %v", a, err)
	checkOpen(t, p, 1)
	p.store.Check(t, p.journal)
}

// Replace uses the current shoe, even if others change it concurrently.
func TestReplaceAfterAnotherProcessChangedTheShoe(t *testing.T) {
	p, other := newPair(t)
	made := create(t, p, ask(plan.Request{Deck: "standard52"}))
	id := made.Shoe.ID
	journaltest.Overtake(p.journal, func() { apply(t, other, id, drawing(7)) })
	next, err := p.Replace(t.Context(), id, ask(plan.Request{Deck: "standard54"}))
	require.NoErrorf(t, err, "after a draw: %+v", next)
	require.Equalf(t, made.AuditID, next.Record.AuditID, "after a draw: %+v", next)
	var theirs *Result
	journaltest.Overtake(p.journal, func() {
		theirs, err = other.Replace(t.Context(), id, ask(plan.Request{Size: ptr(3)}))
		assert.NoError(t, err)
	})
	next, err = p.Replace(t.Context(), id, ask(plan.Request{Size: ptr(4)}))
	require.Truef(t, err == nil && next.Record.AuditID == theirs.AuditID, "after a replacement: %+v, %v", next, err)
	// A change that races with a replacement changes the new shoe.
	journaltest.Overtake(other.journal, func() {
		next, err = p.Replace(t.Context(), id, ask(plan.Request{Size: ptr(5)}))
		assert.NoError(t, err)
	})
	drawn := apply(t, other, id, drawing(2))
	assert.Equal(t, next.AuditID, drawn.Record.AuditID, "drawn from")
	p.store.Check(t, p.journal)
}
