package liveshoes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// A Shoe is the owner's view of a shoe at one version.
type Shoe struct {
	*shoe.Layout
	ID        uuid.UUID     // secret
	First     *audit.Record // its first record
	LogIndex  uint64        // of the first record
	ChangedBy uuid.UUID     // audit id of the record of this version
	Status    shoe.Status
	Shuffled  bool      // whether the deck was ever shuffled
	Expires   time.Time // zero for never

	state *state
}

// A Card is a card that the owner has seen.
type Card struct {
	shoe.Face
	Number   uint64         // its constant position in the shoe's input
	SealedBy uuid.UUID      // the record that sealed it before it was drawn
	Position uint64         // in the order sealed by that record
	Opening  *audit.Opening // proves the position; nil if not requested

	version uint64 // of the shoe, that the record of SealedBy made
}

// shoe returns the owner's view of a state at a time.
func (s *Service) shoe(current *state, now time.Time) *Shoe {
	first := current.base.first
	shown := &Shoe{
		Layout: current.layout, ID: current.base.id, First: first.Record, LogIndex: first.Index, ChangedBy: current.id,
		Status: current.status, Shuffled: first.Statement.Draw > 0 || current.layout.Order.Version > 1, Expires: current.expires, state: current,
	}
	if current.overdue(now) {
		shown.Status = shoe.Expired
	}
	return shown
}

// Get returns the shoe with an id. The error is [journal.ErrNoShoe], a [*plan.DeckChangedError] or
// a ledger error.
func (s *Service) Get(ctx context.Context, id uuid.UUID) (*Shoe, error) {
	current, err := s.read(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.shoe(current, s.journal.Now()), current.base.changed
}

// Cards returns the seen cards at a place of a shoe: [shoe.Dealt], [shoe.Out] or a pile. The error
// is [shoe.ErrNoPile], [ErrNotSeen] or a [*plan.DeckChangedError].
func (s *Shoe) Cards(place shoe.Place) ([]Card, error) {
	cards, err := s.At(place)
	if err != nil {
		return nil, err
	}
	if place == shoe.Deck || place == shoe.All {
		return nil, ErrNotSeen
	}
	return s.state.cards(cards)
}

// cards returns the referenced cards, which are in the shoe.
func (s *state) cards(cards shoe.Cards) ([]Card, error) {
	list := make([]Card, 0, cards.Len())
	if s.base.changed != nil && cards.Len() > 0 {
		return nil, s.base.changed
	}
	for ref := range cards.All() {
		number := s.number(ref)
		list = append(list, Card{
			Face: s.base.faces.Face(number), Number: number, SealedBy: s.orders[ref.Seal].id, Position: ref.Position, version: ref.Seal,
		})
	}
	return list, nil
}

// An OpeningCost says how much work and memory it takes to open cards.
type OpeningCost struct {
	Leaves uint64 // of the trees to make, and what it takes to read orders back, in leaves
	Bytes  int64  // of memory
}

const (
	leafBytes  = 256 // of memory, for its card, its salt, and its share of a tree
	readLeaves = 8192
	readBytes  = 1 << 20
)

// openingCost returns what it takes to open cards of the orders that versions sealed, one after the
// other.
func (s *state) openingCost(versions ...uint64) (c OpeningCost) {
	for _, version := range versions {
		if known := s.base.tree.Load(); known != nil && known.version == version {
			continue
		}
		o := s.orders[version]
		bytes := int64(s.layout.Total)*leafBytes + int64(s.base.faces.Bytes())
		if c.Leaves += s.layout.Total; o == nil || !o.whole {
			c.Leaves += readLeaves
			bytes += readBytes
		}
		c.Bytes = max(c.Bytes, bytes)
	}
	return c
}

// A Pace admits and slows down the work of opening cards.
type Pace interface {
	Admit(OpeningCost) error    // before the work; the error cancels it
	Wait(context.Context) error // before each tree; the error cancels the rest
}

// Open adds the openings of cards of a shoe. The error is one of pace, or a ledger error.
func (s *Service) Open(ctx context.Context, current *Shoe, cards []Card, pace Pace) error {
	ofVersion := map[uint64][]*Card{}
	for i := range cards {
		version := cards[i].version
		ofVersion[version] = append(ofVersion[version], &cards[i])
	}
	versions := slices.Sorted(maps.Keys(ofVersion))
	if err := pace.Admit(current.state.openingCost(versions...)); err != nil {
		return err
	}
	for _, version := range versions {
		if err := pace.Wait(ctx); err != nil {
			return err
		}
		t, err := s.tree(ctx, current.state, version, ofVersion[version][0].SealedBy)
		if err != nil {
			return err
		}
		for _, card := range ofVersion[version] {
			card.Opening = t.open(card.Position)
		}
	}
	return nil
}

// Card returns the card at a position with its opening. sealedBy names the record that sealed the
// position; Nil means the deck's last sealing. Until the shoe is closed, the card must be there,
// seen, as that record sealed it. The error is [journal.ErrNoShoe], [ErrNotSeen],
// [ledger.ErrNotFound] if the record sealed no such position, one of pace, or another ledger error.
func (s *Service) Card(ctx context.Context, id, sealedBy uuid.UUID, position uint64, pace Pace) (*Card, error) {
	current, err := s.read(ctx, id)
	if err == nil {
		err = current.base.changed
	}
	if err != nil {
		return nil, err
	}
	if sealedBy == uuid.Nil {
		sealedBy = current.orders[current.layout.Order.Version].id
	}
	sealed, err := s.journal.ByID(ctx, sealedBy)
	if err != nil {
		return nil, err
	}
	version := max(1, sealed.Version)
	if !sealed.IsOfShoe(current.base.first.ID) || !sealed.Seals() || position >= sealed.Statement.Size {
		return nil, ledger.ErrNotFound
	}
	if current.status != shoe.Closed && !current.layout.IsSeen(shoe.Ref{Seal: version, Position: position}) {
		return nil, ErrNotSeen
	}
	if err := pace.Admit(current.openingCost(version)); err != nil {
		return nil, err
	}
	t, err := s.tree(ctx, current, version, sealedBy)
	if err != nil {
		return nil, err
	}
	number := uint64(t.numbers[position])
	return &Card{Face: current.base.faces.Face(number), Number: number, SealedBy: sealedBy, Position: position, Opening: t.open(position)}, nil
}

// Count returns the number of open shoes.
func (s *Service) Count(ctx context.Context) (uint64, error) {
	return journal.CountShoes(ctx, s.journal.Log, s.journal.Now())
}

// Expire logs overdue shoes as expired and returns their number.
func (s *Service) Expire(ctx context.Context) (expired int, err error) {
	return s.journal.Expire(ctx, journal.Shoes, s.expire)
}

// expire logs a claim's shoe as expired. The error is [ledger.ErrClaimed] if the shoe was changed
// meanwhile.
func (s *Service) expire(ctx context.Context, claim *ledger.Claim) error {
	first, err := journal.ClaimID(claim, journal.Shoes)
	if err != nil {
		return err
	}
	stored, err := s.journal.ByID(ctx, first)
	if err != nil {
		return err
	}
	sidecar, err := s.journal.Sidecar(stored)
	if err != nil {
		return err
	}
	_, err = s.update(ctx, sidecar.Shoe.ID, func(now *state) (*Change, error) {
		if now.base.first.ID != first || !now.overdue(s.journal.Now()) {
			return nil, ledger.ErrClaimed
		}
		return &Change{Kind: audit.KindExpire}, nil
	})
	if errors.Is(err, journal.ErrNoShoe) {
		return ledger.ErrClaimed
	}
	return err
}
