package liveshoes

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// state is a shoe after one of its records. It is immutable.
type state struct {
	base    *base
	id      uuid.UUID // of the record
	index   uint64    // of the record in the log
	layout  *shoe.Layout
	orders  map[uint64]*order // that sealed the deck or cards in the shoe, by version
	status  shoe.Status
	expires time.Time // zero for never

	// owed is the most bytes that the snapshot of the next record may have.
	owed int
}

// base is shared by all states of a shoe.
type base struct {
	id    uuid.UUID // the shoe's secret id
	first *journal.StoredRecord
	start *state        // after the first record
	faces *shoe.Faces   // unusable if changed is not nil
	ttl   time.Duration // from each change; 0 for a fixed expiry

	// changed is a [*plan.DeckChangedError] if the cards of the shoe's deck are no longer known.
	// The shoe can still be closed and expires, which need no cards.
	changed error

	tree atomic.Pointer[tree] // the last one that was made
}

// order is an order of cards that a record sealed.
type order struct {
	id      uuid.UUID // of the record
	numbers []uint16  // of the card at each position; noCard if it has left the shoe's present orders
	whole   bool      // all numbers are there
}

// noCard is the number of a card that is not known. It is above all others.
const noCard = 1<<16 - 1

// tree is the Merkle tree over the cards of the order that a version made.
type tree struct {
	version       uint64
	numbers       []uint16
	*audit.Sealed // nil if the order is not sealed
}

// cost returns the approximate size of a cached state, in bytes.
func (s *state) cost() int {
	const (
		fixed = 1024
		card  = 24 + 32 + 2*32 // its place in the layout, its salt, and its share of a tree
		order = 64
	)
	cost := fixed + s.base.faces.Bytes() + card*int(s.layout.Total) + s.layout.NameBytes()
	for _, o := range s.orders {
		cost += order + 2*len(o.numbers)
	}
	return cost
}

// overdue reports whether an open shoe's expiry has passed.
func (s *state) overdue(now time.Time) bool {
	return s.status == shoe.Open && !s.expires.IsZero() && !now.Before(s.expires)
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

// loads are the shoes that may be read together: each takes some four times [MaxItemBytes].
var loads = semaphore.NewWeighted(4)

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
		switch {
		case err != nil:
			return nil, err
		case last.Index == old.index:
			return old, nil
		case !last.ReplacesShoe(old.base.first.ID):
			return s.readFrom(ctx, old, last)
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
	if first.Kind == audit.KindShoe {
		b, err := s.readBase(ctx, whole)
		if err != nil {
			return nil, err
		}
		if b.id == id {
			return s.readFrom(ctx, b.start, last)
		}
	}
	return nil, fmt.Errorf("%w: record %d holds the claim of a shoe that it does not begin", ledger.ErrCorrupt, first.Index)
}

// readFrom returns the state after a shoe's last record, given an earlier one, and caches it.
func (s *Service) readFrom(ctx context.Context, from *state, last *journal.StoredRecord) (*state, error) {
	found, err := s.stateAfter(ctx, from, last)
	if err == nil {
		s.store(found)
	}
	return found, err
}

// readBase returns the base of a shoe, given its first record.
func (s *Service) readBase(ctx context.Context, first *journal.StoredRecord) (*base, error) {
	sidecar, err := s.journal.Sidecar(first)
	if err != nil {
		return nil, err
	}
	if sidecar.Shoe == nil {
		return nil, fmt.Errorf("%w: record %d is not of a shoe", ledger.ErrCorrupt, first.Index)
	}
	seed, err := s.journal.Seed(ctx, first)
	if err != nil {
		return nil, err
	}
	return s.newBase(first, sidecar.Shoe, seed), nil
}

// newBase returns the base of a shoe, given its first record.
func (s *Service) newBase(first *journal.StoredRecord, sidecar *journal.ShoeSidecar, seed rng.Seed) *base {
	cards, changed := s.rules.DeckOf(first.Record)
	b := &base{
		id: sidecar.ID, first: first.Public(), faces: shoe.NewFaces(cards, sidecar.Items), changed: changed,
		ttl: time.Duration(sidecar.TTL) * time.Second,
	}
	size, shuffled := first.Statement.Size, first.Statement.Draw > 0
	b.start = &state{
		base: b, id: first.ID, index: first.Index, layout: shoe.New(size, shuffled).WithCut(first.Cut),
		orders: map[uint64]*order{1: {first.ID, newOrder(first.Record, seed), true}}, status: shoe.Open, expires: sidecar.Expires,
	}
	return b
}

// stateAfter returns the state after a record of a shoe: the replay of the records since an earlier
// state or, if that is later, a snapshot.
func (s *Service) stateAfter(ctx context.Context, from *state, of *journal.StoredRecord) (*state, error) {
	type change struct {
		*journal.StoredRecord
		seed rng.Seed
	}
	var changes []change
	if of.Index < from.index {
		from = from.base.start
	}
	for of.Index != from.index {
		if !of.IsOfShoe(from.base.first.ID) || of.Index < from.index {
			return nil, fmt.Errorf("%w: record %d is not a change of the shoe %s after record %d", ledger.ErrCorrupt, of.Index, from.base.first.ID, from.index)
		}
		sidecar, err := s.journal.Sidecar(of)
		if err != nil {
			return nil, err
		}
		snapshot, err := sidecar.Shoe.ReadSnapshot(of)
		if err != nil {
			return nil, err
		}
		if snapshot != nil {
			if from, err = from.restore(of, sidecar.Shoe, snapshot); err != nil {
				return nil, err
			}
			break
		}
		if of.Kind == audit.KindReshuffle {
			if err := of.Opens(sidecar.Seed); err != nil {
				return nil, err
			}
		}
		changes = append(changes, change{of.Public(), sidecar.Seed})
		if of, err = s.journal.Before(ctx, of, sidecar); err != nil {
			return nil, err
		}
	}
	for _, c := range slices.Backward(changes) {
		next, err := from.after(c.Record, c.seed)
		if err != nil {
			return nil, fmt.Errorf("%w: record %d is no change of its shoe: %w", ledger.ErrCorrupt, c.Index, err)
		}
		next.index, from = c.Index, next
	}
	return from, nil
}

// after returns the state after a change, given its record and seed. Its index is not set. It fails
// like [shoe.Layout.Apply] and [shoe.Layout.Shuffle].
func (s *state) after(r *audit.Record, seed rng.Seed) (*state, error) {
	next := *s
	next.id, next.status, next.owed = r.ID, statusAfter(r.Kind), s.owed+snapshotShare+len(r.Cards.Append(nil))
	if !r.Expires.IsZero() {
		next.expires = r.Expires
	}
	var err error
	switch r.Kind {
	case audit.KindClose, audit.KindExpire:
		next.layout, next.expires = s.layout.End(), time.Time{}
	case audit.KindReshuffle:
		if next.layout, err = s.layout.Shuffle(r.From); err == nil {
			next.layout = next.layout.WithCut(r.Cut)
			err = next.seal(s, r, seed)
		}
	default:
		next.layout, err = s.layout.Apply(&shoe.Move{From: r.From, Cards: r.Cards, To: r.To, Put: r.Put})
		if err == nil && len(next.layout.Piles) > len(s.layout.Piles) && next.layout.NameBytes() > MaxNameBytes {
			err = shoe.ErrTooMany
		}
	}
	return &next, err
}

// statusAfter returns the status of a shoe after a record of a kind.
func statusAfter(kind audit.Kind) shoe.Status {
	switch kind { //nolint:exhaustive // the others change cards
	case audit.KindClose:
		return shoe.Closed
	case audit.KindExpire:
		return shoe.Expired
	}
	return shoe.Open
}

// snapshotShare is the average number of bytes that a change may add to the store for snapshots,
// besides the length of its record.
const snapshotShare = 512

// seal adds the order that a record made of a shoe, and removes those that no card has left.
func (s *state) seal(before *state, r *audit.Record, seed rng.Seed) error {
	cards, err := before.layout.At(r.From)
	if err != nil {
		return err
	}
	numbers, lying := make([]uint16, 0, cards.Len()), before.numbers(cards)
	for _, position := range draw(r, seed) {
		numbers = append(numbers, uint16(lying[position]))
	}
	all := maps.Clone(before.orders)
	all[s.layout.Version] = &order{r.ID, numbers, true}
	s.orders = map[uint64]*order{}
	for _, version := range s.layout.Sealed() {
		s.orders[version] = all[version]
	}
	if len(s.orders) > MaxOrders {
		return shoe.ErrTooMany
	}
	return nil
}

// snapshot returns the JSON of a [journal.Snapshot].
func (s *state) snapshot() []byte {
	all, _ := s.layout.At(shoe.All)
	saved := journal.Snapshot{Layout: s.layout, Numbers: make([]byte, 0, 2*all.Len())}
	for _, number := range s.numbers(all) {
		saved.Numbers = binary.BigEndian.AppendUint16(saved.Numbers, uint16(number))
	}
	for _, version := range slices.Sorted(maps.Keys(s.orders)) {
		o := s.orders[version]
		saved.Orders = append(saved.Orders, journal.ShoeOrder{Version: version, Size: uint64(len(o.numbers)), ID: o.id})
	}
	text, err := json.Marshal(saved)
	if err != nil {
		panic("liveshoes: a snapshot does not marshal: " + err.Error())
	}
	return text
}

// restore returns the state after a later record, given its snapshot. The error is
// [ledger.ErrCorrupt].
func (s *state) restore(of *journal.StoredRecord, sidecar *journal.ShoeSidecar, saved *journal.Snapshot) (*state, error) {
	b, known := s.base, s.orders
	s = &state{base: b, id: of.ID, index: of.Index, layout: saved.Layout, orders: map[uint64]*order{}, status: statusAfter(of.Kind), expires: sidecar.Expires}
	for _, o := range saved.Orders {
		s.orders[o.Version] = &order{id: o.ID, numbers: slices.Repeat([]uint16{noCard}, int(min(o.Size, shoe.MaxCards)))}
	}
	all, _ := saved.Layout.At(shoe.All)
	i := 0
	for ref := range all.All() {
		number := binary.BigEndian.Uint16(saved.Numbers[i:])
		o := s.orders[ref.Seal]
		if o == nil || ref.Position >= uint64(len(o.numbers)) || uint64(number) >= b.start.layout.Total {
			return nil, fmt.Errorf("%w: the snapshot of record %d has cards that the shoe does not have", ledger.ErrCorrupt, of.Index)
		}
		o.numbers[ref.Position] = number
		i += 2
	}
	for version, o := range s.orders {
		o.whole = !slices.Contains(o.numbers, noCard)
		if before := known[version]; before != nil && before.whole {
			s.orders[version] = before
		}
	}
	return s, nil
}

// number returns the number of a card in the shoe.
func (s *state) number(ref shoe.Ref) uint64 { return uint64(s.orders[ref.Seal].numbers[ref.Position]) }

// numbers returns the numbers of cards in the shoe.
func (s *state) numbers(cards shoe.Cards) []uint64 {
	numbers := make([]uint64, 0, cards.Len())
	for ref := range cards.All() {
		numbers = append(numbers, s.number(ref))
	}
	return numbers
}

// tree returns the tree over the cards of the order that a version sealed in the record with an id.
func (s *Service) tree(ctx context.Context, current *state, version uint64, id uuid.UUID) (*tree, error) {
	b := current.base
	if found := b.tree.Load(); found != nil && found.version == version {
		return found, nil
	}
	sealed, err := s.journal.ByID(ctx, id)
	if err != nil {
		return nil, err
	}
	o := current.orders[version]
	if o == nil || !o.whole {
		after, err := s.stateAfter(ctx, b.start, sealed)
		if err != nil {
			return nil, err
		}
		if o = after.orders[version]; o == nil || !o.whole {
			return nil, fmt.Errorf("%w: record %d has not sealed an order of its shoe", ledger.ErrCorrupt, sealed.Index)
		}
	}
	if version == 1 && b.first.Root == nil { // cards in input order
		return &tree{version, o.numbers, nil}, nil
	}
	seed, err := s.journal.Seed(ctx, sealed)
	if err != nil {
		return nil, err
	}
	made := &tree{version, o.numbers, audit.Seal(seed, sealed.Commitment, b.faces.Texts(o.numbers))}
	if sealed.Root == nil || made.Root() != *sealed.Root {
		return nil, fmt.Errorf("%w: the order of record %d is not the one that it sealed", ledger.ErrCorrupt, sealed.Index)
	}
	b.tree.Store(made)
	return made, nil
}

// open returns the opening of a position, or nil if the order is not sealed.
func (t *tree) open(position uint64) *audit.Opening {
	if t.Sealed == nil {
		return nil
	}
	return t.Open(position)
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
