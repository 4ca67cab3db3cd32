package liveshoes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// state is a shoe after one of its records. It never changes.
type state struct {
	base *base
	*journal.ShoeState
	id    uuid.UUID // of the record
	index uint64    // of the record in the log
}

// base is what all states of a shoe share.
type base struct {
	id    uuid.UUID // the secret id of the shoe
	first *audit.Record
	index uint64 // of the first record in the log
	faces *shoe.Faces

	mu    sync.Mutex
	seals map[uint64]*sealing // by version, as far as they were read
}

// sealing is an order of cards that a record committed to.
type sealing struct {
	id    uuid.UUID // of the record
	order []uint32  // the number of the card at each position
	tree  *audit.Sealed
}

// cost returns about how many bytes a state takes in the cache.
func (s *state) cost() int {
	const (
		fixed = 1024
		card  = 4 + 32 + 2*32 // its number in the order, its salt, and the hashes over it
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

// overdue reports whether the time of an open shoe has passed.
func (s *state) overdue(now time.Time) bool {
	return s.Status == shoe.Open && !s.Expires.IsZero() && !now.Before(s.Expires)
}

// cached returns the state of a shoe as this process last saw it, or nil. It is only a hint:
// another process may have changed the shoe since, which the append of the next change detects.
func (s *Service) cached(id uuid.UUID) *state {
	found, _ := s.states.Get(id)
	return found
}

// store caches a state, unless a newer one is cached.
func (s *Service) store(new *state) {
	if old := s.cached(new.base.id); old == nil || old.index <= new.index {
		s.states.Put(new.base.id, new, new.cost())
	}
}

// read reads the state of a shoe from the store. The error is [journal.ErrNoShoe] or one of the
// ledger's.
func (s *Service) read(ctx context.Context, id uuid.UUID) (*state, error) {
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
	b, err := s.baseOf(id, first)
	if err != nil {
		return nil, err
	}
	return s.stateAfter(b, last)
}

// baseOf returns the base of the shoe with the id, which a record has to begin.
func (s *Service) baseOf(id uuid.UUID, first *journal.Stored) (*base, error) {
	held, err := s.stateOf(first)
	if err != nil {
		return nil, err
	}
	if first.Kind != audit.KindShoe || held.ID != id {
		return nil, fmt.Errorf("%w: record %d holds the claim of a shoe that it does not begin", ledger.ErrCorrupt, first.Index)
	}
	return s.newBase(first, held)
}

// stateAfter returns the state of a shoe after its last record, and caches it.
func (s *Service) stateAfter(b *base, last *journal.Stored) (*state, error) {
	held, err := s.stateOf(last)
	if err != nil {
		return nil, err
	}
	if !last.IsOfShoe(b.first.ID) {
		return nil, fmt.Errorf("%w: record %d holds the claim of the shoe %s and has not changed it", ledger.ErrCorrupt, last.Index, b.first.ID)
	}
	found := &state{base: b, ShoeState: held, id: last.ID, index: last.Index}
	s.store(found)
	return found, nil
}

// newBase returns the base of the shoe that a record begins.
func (s *Service) newBase(first *journal.Stored, held *journal.ShoeState) (*base, error) {
	cards, _, err := s.rules.DeckOf(first.Record)
	if err != nil {
		return nil, err
	}
	b := &base{
		id: held.ID, first: first.Record, index: first.Index,
		faces: shoe.NewFaces(cards, held.Items), seals: map[uint64]*sealing{},
	}
	return b, b.addSealing(1, first.ID, held)
}

// stateOf returns the state of a shoe in the sidecar of one of its records.
func (s *Service) stateOf(stored *journal.Stored) (*journal.ShoeState, error) {
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

// addSealing remembers the order that a record sealed. The error is [ledger.ErrCorrupt].
func (b *base) addSealing(version uint64, id uuid.UUID, held *journal.ShoeState) error {
	seal, found := held.Layout.Seal(version)
	if !found || uint64(len(held.Order)) != seal.Size {
		return fmt.Errorf("%w: the sidecar of the record %s does not have the order that it sealed", ledger.ErrCorrupt, id)
	}
	for _, number := range held.Order {
		if uint64(number) >= b.first.Statement.Size {
			return fmt.Errorf("%w: the sidecar of the record %s has cards that the shoe does not have", ledger.ErrCorrupt, id)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seals[version] = &sealing{id: id, order: held.Order}
	return nil
}

// sealing returns the order that a version of the shoe sealed.
func (s *Service) sealing(ctx context.Context, of *state, version uint64) (*sealing, error) {
	b := of.base
	b.mu.Lock()
	found := b.seals[version]
	b.mu.Unlock()
	if found != nil {
		return found, nil
	}
	for i := range of.Layout.Seals {
		if of.Layout.Seals[i].Version != version || i >= len(of.Seals) {
			continue
		}
		stored, err := s.journal.At(ctx, of.Seals[i])
		if err != nil {
			return nil, err
		}
		held, err := s.stateOf(stored)
		if err != nil {
			return nil, err
		}
		if !stored.IsOfShoe(b.first.ID) {
			break
		}
		if err := b.addSealing(version, stored.ID, held); err != nil {
			return nil, err
		}
		return s.sealing(ctx, of, version)
	}
	return nil, fmt.Errorf("%w: the shoe %s has no record of its sealing %d", ledger.ErrCorrupt, b.first.ID, version)
}

// tree returns the tree over the cards of a sealing.
func (s *Service) tree(ctx context.Context, b *base, of *sealing) (*audit.Sealed, error) {
	b.mu.Lock()
	found := of.tree
	b.mu.Unlock()
	if found != nil {
		return found, nil
	}
	stored, err := s.journal.ByID(ctx, of.id)
	if err != nil {
		return nil, err
	}
	seed, err := s.journal.Seed(ctx, stored)
	if err != nil {
		return nil, err
	}
	tree := audit.Seal(seed, stored.Commitment, b.faces.Texts(of.order))
	if stored.Root == nil || tree.Root() != *stored.Root {
		return nil, fmt.Errorf("%w: the order in the sidecar of the record %s is not the one that it sealed", ledger.ErrCorrupt, of.id)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of.tree = tree
	return tree, nil
}

// locate returns the sealing that a reference is to, and the number of its card.
func (s *Service) locate(ctx context.Context, of *state, ref shoe.Ref) (*sealing, uint64, error) {
	found, err := s.sealing(ctx, of, ref.Seal)
	if err != nil {
		return nil, 0, err
	}
	if ref.Position >= uint64(len(found.order)) {
		return nil, 0, fmt.Errorf("%w: the shoe %s has no card %d in its sealing %d", ledger.ErrCorrupt, of.base.first.ID, ref.Position, ref.Seal)
	}
	return found, uint64(found.order[ref.Position]), nil
}

// numbers returns the numbers of cards.
func (s *Service) numbers(ctx context.Context, of *state, cards shoe.Cards) ([]uint64, error) {
	numbers := make([]uint64, 0, cards.Len())
	for ref := range cards.All() {
		_, number, err := s.locate(ctx, of, ref)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}
