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

// A Shoe is a shoe as its owner may see it, at one version.
type Shoe struct {
	ID        uuid.UUID     // known to the owner alone
	First     *audit.Record // its first record
	LogIndex  uint64        // of the first record
	ChangedBy uuid.UUID     // audit id of the record that made this version
	Version   uint64
	Status    shoe.Status
	Size      uint64 // cards, wherever they are
	Remaining uint64 // cards in the deck
	Dealt     uint64 // cards that were drawn and are on no pile
	Piles     []Pile
	Shuffled  bool      // whether the deck was ever shuffled
	Cut       *shoe.Cut // the cut card in the order of the deck; nil for none
	AtCut     bool      // whether it was reached
	Expires   time.Time // zero for never

	state *state
}

// A Pile is the name of a pile and the number of its cards.
type Pile struct {
	Name  string
	Cards uint64
}

// A Card is a card that the owner of a shoe has seen.
type Card struct {
	shoe.Face
	Number   uint64         // its place in the shoe's input, which never changes
	SealedBy uuid.UUID      // the record that sealed it where it was drawn
	Position uint64         // in the order which that record sealed
	Opening  *audit.Opening // proves that it was sealed there; nil unless asked for
}

// shoe returns a state as the owner may see it at a time.
func (s *Service) shoe(of *state, now time.Time) *Shoe {
	l := of.Layout
	shown := &Shoe{
		ID: of.base.id, First: of.base.first, LogIndex: of.base.index, ChangedBy: of.id, Version: l.Version, Status: of.Status,
		Size: l.Size(), Remaining: l.Deck.Len(), Dealt: l.Dealt.Len(), Shuffled: of.Shuffled, Expires: of.Expires, state: of,
	}
	shown.Cut, shown.AtCut = l.Cut()
	if of.overdue(now) {
		shown.Status = shoe.Expired
	}
	for i := range l.Piles {
		shown.Piles = append(shown.Piles, Pile{l.Piles[i].Name, l.Piles[i].Cards.Len()})
	}
	return shown
}

// Get returns the shoe with the id. The error is [journal.ErrNoShoe], an [*order.DeckChangedError]
// or one of the ledger's.
func (s *Service) Get(ctx context.Context, id uuid.UUID) (*Shoe, error) {
	current, err := s.read(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.shoe(current, s.journal.Now()), nil
}

// Cards returns the cards at a place of a shoe which its owner has seen: [shoe.Dealt], [shoe.Out]
// or a pile. The error is [shoe.ErrNoPile], [ErrNotSeen] or one of the ledger's.
func (s *Service) Cards(ctx context.Context, of *Shoe, place shoe.Place, openings bool) ([]Card, error) {
	cards, err := of.state.Layout.At(place)
	if err != nil {
		return nil, err
	}
	if place == shoe.Deck || place == shoe.All {
		return nil, ErrNotSeen
	}
	return s.cards(ctx, of.state, cards, openings)
}

// cards returns the cards that references are to.
func (s *Service) cards(ctx context.Context, of *state, cards shoe.Cards, openings bool) ([]Card, error) {
	list := make([]Card, 0, cards.Len())
	for ref := range cards.All() {
		from, number, err := s.locate(ctx, of, ref)
		if err != nil {
			return nil, err
		}
		card := Card{Face: of.base.faces.Face(number), Number: number, SealedBy: from.id, Position: ref.Position}
		sealed := of.base.first.Root != nil || ref.Seal > 1 // cards in the order of the input are not
		if openings && sealed {
			tree, err := s.tree(ctx, of.base, from)
			if err != nil {
				return nil, err
			}
			card.Opening = tree.Open(ref.Position)
		}
		list = append(list, card)
	}
	return list, nil
}

// Card returns the card at a position of a sealing, with its opening. The sealing is named by its
// record; Nil stands for the last one of the deck. Cards that were not drawn are shown once the
// shoe is closed. The error is [journal.ErrNoShoe], [ErrNotSeen], [ledger.ErrNotFound] if no record
// of the shoe sealed that position, or another of the ledger's.
func (s *Service) Card(ctx context.Context, id, sealedBy uuid.UUID, position uint64) (*Card, error) {
	current, err := s.read(ctx, id)
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

// sealedVersion returns the version of a shoe that a record sealed; for Nil that of the last
// sealing of the deck.
func (s *Service) sealedVersion(ctx context.Context, of *state, sealedBy uuid.UUID) (version uint64, err error) {
	switch sealedBy {
	case uuid.Nil:
		for i := range of.Layout.Seals {
			if !of.Layout.Seals[i].OfPile {
				version = of.Layout.Seals[i].Version
			}
		}
		return version, nil
	case of.base.first.ID:
		return 1, nil
	}
	stored, err := s.journal.ByID(ctx, sealedBy)
	if err != nil {
		return 0, err
	}
	if !stored.IsOfShoe(of.base.first.ID) || stored.Root == nil {
		return 0, ledger.ErrNotFound
	}
	return stored.Version, nil
}

// Count returns how many shoes are open.
func (s *Service) Count(ctx context.Context) (uint64, error) {
	return journal.CountShoes(ctx, s.journal.Log, s.journal.Now())
}

// Expire logs overdue shoes as expired and returns how many there were.
func (s *Service) Expire(ctx context.Context) (expired int, err error) {
	return s.journal.Expire(ctx, journal.Shoes, s.expire)
}

// expire logs that the time of the shoe of a claim has passed. The error is [ledger.ErrClaimed] if
// the shoe was changed at the last moment.
func (s *Service) expire(ctx context.Context, claim *ledger.Claim) error {
	first, err := journal.ClaimID(claim, journal.Shoes)
	if err != nil {
		return err
	}
	stored, err := s.journal.ByID(ctx, first)
	if err != nil {
		return err
	}
	held, err := s.stateOf(stored)
	if err != nil {
		return err
	}
	_, err = s.update(ctx, held.ID, func(now *state) (*Change, error) {
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
