package liveshoes

import (
	"context"
	"errors"
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
}

// shoe returns the owner's view of a state at a time.
func (s *Service) shoe(current *state, now time.Time) *Shoe {
	shown := &Shoe{
		Layout: current.Layout, ID: current.base.id, First: current.base.first.Record, LogIndex: current.base.first.Index, ChangedBy: current.id,
		Status: current.Status, Shuffled: current.Shuffled, Expires: current.Expires, state: current,
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
// is [shoe.ErrNoPile], [ErrNotSeen] or a ledger error.
func (s *Service) Cards(ctx context.Context, current *Shoe, place shoe.Place, openings bool) ([]Card, error) {
	cards, err := current.At(place)
	if err != nil {
		return nil, err
	}
	if place == shoe.Deck || place == shoe.All {
		return nil, ErrNotSeen
	}
	return s.cards(ctx, current.state, cards, openings)
}

// cards returns the referenced cards.
func (s *Service) cards(ctx context.Context, current *state, cards shoe.Cards, openings bool) ([]Card, error) {
	list := make([]Card, 0, cards.Len())
	if b := current.base; b.changed != nil && cards.Len() > 0 {
		return nil, b.changed
	}
	for ref := range cards.All() {
		from, number, err := s.locate(ctx, current, ref)
		if err != nil {
			return nil, err
		}
		card := Card{Face: current.base.faces.Face(number), Number: number, SealedBy: from.id, Position: ref.Position}
		sealed := current.base.first.Root != nil || ref.Seal > 1 // cards in input order are not sealed
		if openings && sealed {
			tree, err := s.tree(ctx, current.base, from)
			if err != nil {
				return nil, err
			}
			card.Opening = tree.Open(ref.Position)
		}
		list = append(list, card)
	}
	return list, nil
}

// Card returns the card at a position with its opening. sealedBy names the record that sealed the
// position; Nil means the deck's last sealing. Undrawn cards are shown once the shoe is closed. The
// error is [journal.ErrNoShoe], [ErrNotSeen], [ledger.ErrNotFound] if the record sealed no such
// position, or another ledger error.
func (s *Service) Card(ctx context.Context, id, sealedBy uuid.UUID, position uint64) (*Card, error) {
	current, err := s.read(ctx, id)
	if err == nil {
		err = current.base.changed
	}
	if err != nil {
		return nil, err
	}
	version, err := s.sealedVersion(ctx, current, sealedBy)
	if err != nil {
		return nil, err
	}
	ref := shoe.Ref{Seal: version, Position: position}
	seal, found := current.Layout.Seal(version)
	if !found || position >= seal.Size {
		return nil, ledger.ErrNotFound
	}
	if current.Status != shoe.Closed && !current.Layout.IsSeen(ref) {
		return nil, ErrNotSeen
	}
	list, err := s.cards(ctx, current, shoe.List([]shoe.Ref{ref}), true)
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}

// sealedVersion returns the version whose record has the id sealedBy; for Nil, the version of the
// deck's last sealing.
func (s *Service) sealedVersion(ctx context.Context, current *state, sealedBy uuid.UUID) (uint64, error) {
	switch sealedBy {
	case uuid.Nil:
		return current.Layout.LastOfDeck().Version, nil
	case current.base.first.ID:
		return 1, nil
	}
	stored, err := s.journal.ByID(ctx, sealedBy)
	if err != nil {
		return 0, err
	}
	if !stored.IsOfShoe(current.base.first.ID) || stored.Root == nil {
		return 0, ledger.ErrNotFound
	}
	return stored.Version, nil
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
	initial, err := s.stateOf(stored)
	if err != nil {
		return err
	}
	_, err = s.update(ctx, initial.ID, func(now *state) (*Change, error) {
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
