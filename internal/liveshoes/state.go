package liveshoes

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// state is a shoe after one of its records. It is immutable.
type state struct {
	base *base
	*journal.ShoeState
	id    uuid.UUID // of the record
	index uint64    // of the record in the log
}

// base is shared by all states of a shoe.
type base struct {
	id    uuid.UUID // the shoe's secret id
	first *journal.StoredRecord
	faces *shoe.Faces // unusable if changed is not nil

	// changed is a [*plan.DeckChangedError] if the cards of the shoe's deck are no longer known. The
	// shoe can still be closed and expires, which need no cards.
	changed error

	seals sync.Map // *sealing by version; filled when read
}

// sealing is an order of cards that a record committed to.
type sealing struct {
	id    uuid.UUID                    // of the record
	order []uint32                     // card number at each position
	tree  atomic.Pointer[audit.Sealed] // nil before it is first needed
}

// cost returns the approximate size of a cached state, in bytes.
func (s *state) cost() int {
	const (
		fixed = 1024
		card  = 4 + 32 + 2*32 // its number in the order, its salt, and its share of the tree
	)
	cost := fixed + s.base.faces.Bytes()
	for i := range s.Layout.Piles {
		cost += len(s.Layout.Piles[i].Name)
	}
	for i := range s.Layout.Seals {
		cost += card * int(s.Layout.Seals[i].Size)
	}
	return cost
}

// loads are the shoes that may be read together: each takes some four times [MaxItemBytes].
var loads = semaphore.NewWeighted(4)

// overdue reports whether an open shoe's expiry has passed.
func (s *state) overdue(now time.Time) bool {
	return s.Status == shoe.Open && !s.Expires.IsZero() && !now.Before(s.Expires)
}

// cached returns the last state seen by this process, or nil. It may be stale, which the next
// change detects when it is appended.
func (s *Service) cached(id uuid.UUID) *state {
	found, _ := s.states.Get(id)
	return found
}

// store caches a state if no newer one is cached.
func (s *Service) store(new *state) {
	s.caching.Lock()
	defer s.caching.Unlock()
	if old := s.cached(new.base.id); old != nil && old.index > new.index {
		return
	}
	s.states.Remove(new.base.id) // replacing it would not make room
	s.states.Add(new.base.id, new)
	for s.room -= new.cost(); s.room < 0; {
		s.states.RemoveOldest()
	}
}

// read reads a shoe's state from the store. The error is [journal.ErrNoShoe] or a ledger error.
func (s *Service) read(ctx context.Context, id uuid.UUID) (*state, error) {
	if s.cached(id) == nil { // it may be once others have read it
		if err := loads.Acquire(ctx, s.load); err != nil {
			return nil, err
		}
		defer loads.Release(s.load)
	}
	if old := s.cached(id); old != nil {
		last, err := s.journal.LastOfShoe(ctx, old.base.first.ID)
		if err != nil {
			return nil, err
		}
		if !last.ReplacesShoe(old.base.first.ID) {
			return s.stateAfter(old.base, last)
		}
	}
	first, last, err := s.journal.EndsOfShoe(ctx, id)
	if err != nil {
		return nil, err
	}
	whole, err := s.journal.At(ctx, first.Index)
	if err != nil {
		return nil, err
	}
	b, err := s.readBase(whole)
	if err != nil {
		return nil, err
	}
	if first.Kind != audit.KindShoe || b.id != id {
		return nil, fmt.Errorf("%w: record %d holds the claim of a shoe that it does not begin", ledger.ErrCorrupt, first.Index)
	}
	return s.stateAfter(b, last)
}

// stateAfter returns the state after a shoe's last record, and caches it.
func (s *Service) stateAfter(b *base, last *journal.StoredRecord) (*state, error) {
	saved, err := s.stateOf(last)
	if err != nil {
		return nil, err
	}
	if !last.IsOfShoe(b.first.ID) {
		return nil, fmt.Errorf("%w: record %d holds the claim of the shoe %s and has not changed it", ledger.ErrCorrupt, last.Index, b.first.ID)
	}
	found := &state{base: b, ShoeState: saved, id: last.ID, index: last.Index}
	s.store(found)
	return found, nil
}

// readBase returns the base of a shoe, given its first record.
func (s *Service) readBase(first *journal.StoredRecord) (*base, error) {
	initial, err := s.stateOf(first)
	if err != nil {
		return nil, err
	}
	return s.newBase(first, initial)
}

// newBase returns the base of a shoe with its first record and initial state.
func (s *Service) newBase(first *journal.StoredRecord, saved *journal.ShoeState) (*base, error) {
	cards, changed := s.rules.DeckOf(first.Record)
	b := &base{id: saved.ID, first: first.Public(), faces: shoe.NewFaces(cards, saved.Items), changed: changed}
	return b, b.addSealing(1, first.ID, saved)
}

// stateOf decrypts the shoe state of a record.
func (s *Service) stateOf(stored *journal.StoredRecord) (*journal.ShoeState, error) {
	sidecar, err := s.journal.Sidecar(stored)
	if err != nil {
		return nil, err
	}
	if sidecar.Shoe == nil {
		return nil, fmt.Errorf("%w: record %d is not of a shoe", ledger.ErrCorrupt, stored.Index)
	}
	sidecar.Shoe.SetIndex(stored.Index)
	return sidecar.Shoe, nil
}

// addSealing caches the order sealed by a record. The error is [ledger.ErrCorrupt].
func (b *base) addSealing(version uint64, id uuid.UUID, saved *journal.ShoeState) error {
	seal, found := saved.Layout.Seal(version)
	if !found || uint64(len(saved.Order)) != seal.Size {
		return fmt.Errorf("%w: the sidecar of the record %s does not have the order that it sealed", ledger.ErrCorrupt, id)
	}
	for _, number := range saved.Order {
		if uint64(number) >= b.first.Statement.Size {
			return fmt.Errorf("%w: the sidecar of the record %s has cards that the shoe does not have", ledger.ErrCorrupt, id)
		}
	}
	b.seals.Store(version, &sealing{id: id, order: saved.Order})
	return nil
}

// sealing returns the order sealed at a version of the shoe.
func (s *Service) sealing(ctx context.Context, current *state, version uint64) (*sealing, error) {
	b := current.base
	if found, ok := b.seals.Load(version); ok {
		return found.(*sealing), nil
	}
	for i := range current.Layout.Seals {
		if current.Layout.Seals[i].Version != version || i >= len(current.Seals) {
			continue
		}
		stored, err := s.journal.At(ctx, current.Seals[i])
		if err != nil {
			return nil, err
		}
		saved, err := s.stateOf(stored)
		if err != nil {
			return nil, err
		}
		if !stored.IsOfShoe(b.first.ID) {
			break
		}
		if err := b.addSealing(version, stored.ID, saved); err != nil {
			return nil, err
		}
		return s.sealing(ctx, current, version)
	}
	return nil, fmt.Errorf("%w: the shoe %s has no record of its sealing %d", ledger.ErrCorrupt, b.first.ID, version)
}

// tree returns the Merkle tree over a sealing's cards.
func (s *Service) tree(ctx context.Context, b *base, sealed *sealing) (*audit.Sealed, error) {
	if found := sealed.tree.Load(); found != nil {
		return found, nil
	}
	stored, err := s.journal.ByID(ctx, sealed.id)
	if err != nil {
		return nil, err
	}
	seed, err := s.journal.Seed(ctx, stored)
	if err != nil {
		return nil, err
	}
	tree := audit.Seal(seed, stored.Commitment, b.faces.Texts(sealed.order))
	if stored.Root == nil || tree.Root() != *stored.Root {
		return nil, fmt.Errorf("%w: the order in the sidecar of the record %s is not the one that it sealed", ledger.ErrCorrupt, sealed.id)
	}
	sealed.tree.Store(tree)
	return tree, nil
}

// locate returns a reference's sealing and card number.
func (s *Service) locate(ctx context.Context, current *state, ref shoe.Ref) (*sealing, uint64, error) {
	found, err := s.sealing(ctx, current, ref.Seal)
	if err != nil {
		return nil, 0, err
	}
	if ref.Position >= uint64(len(found.order)) {
		return nil, 0, fmt.Errorf("%w: the shoe %s has no card %d in its sealing %d", ledger.ErrCorrupt, current.base.first.ID, ref.Position, ref.Seal)
	}
	return found, uint64(found.order[ref.Position]), nil
}

// numbers returns the cards' numbers.
func (s *Service) numbers(ctx context.Context, current *state, cards shoe.Cards) ([]uint64, error) {
	numbers := make([]uint64, 0, cards.Len())
	for ref := range cards.All() {
		_, number, err := s.locate(ctx, current, ref)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

// mostLocks is the number of shoes that have a lock: those that were changed last.
const mostLocks = 1 << 10

// lock waits until the caller may change the shoe id, or ctx is done. It serializes the changes of
// a shoe within this process, in their order, which avoids conflicts on its claim.
func (s *Service) lock(ctx context.Context, id uuid.UUID) (release func(), err error) {
	turn, known := s.locks.Get(id)
	if !known {
		turn = semaphore.NewWeighted(1)
		if other, found, _ := s.locks.PeekOrAdd(id, turn); found {
			turn = other
		}
	}
	return func() { turn.Release(1) }, turn.Acquire(ctx, 1)
}
