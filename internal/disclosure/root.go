package disclosure

import (
	"context"
	"errors"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// checkRoot seals a record's cards again and compares the root.
func (s *Service) checkRoot(ctx context.Context, stored *journal.Stored, seed rng.Seed) error {
	first, err := stored.FirstOfShoe(ctx)
	if err != nil {
		return err
	}
	begun, err := s.journal.Sidecar(first)
	if err != nil {
		return err
	}
	sealed, err := s.journal.Sidecar(stored)
	if err != nil {
		return err
	}
	if begun.Shoe == nil || sealed.Shoe == nil {
		return errors.New("the record is not of a shoe")
	}
	cards, _, err := s.rules.DeckOf(first.Record)
	if err != nil {
		return err
	}
	for _, number := range sealed.Shoe.Order {
		if uint64(number) >= first.Statement.Size {
			return errors.New("the order has cards that the shoe does not have")
		}
	}
	faces := shoe.NewFaces(cards, begun.Shoe.Items)
	if audit.Seal(seed, stored.Commitment, faces.Texts(sealed.Shoe.Order)).Root() != *stored.Root {
		return errors.New("the cards in this order do not have the root in the record")
	}
	return nil
}
