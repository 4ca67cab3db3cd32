package audit

import (
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/shoe"
)

// parseShoe parses and checks the members that only the first record of a shoe has.
func (r *Record) parseShoe(w *wireBody) error {
	s := &r.Statement
	if w.AuditID != "" {
		var err error
		if r.AuditID, err = parseUUID(string(w.AuditID)); err != nil {
			return fmt.Errorf("the record's audit_id: %w", err)
		}
	}
	if err := r.parseClient(w); err != nil {
		return err
	}
	if err := r.parseExpiry(w); err != nil {
		return err
	}
	switch {
	case s.Size < 1 || s.Size > shoe.MaxCards:
		return fmt.Errorf("the record is of a shoe of %d cards, and there are 1 to %d", s.Size, shoe.MaxCards)
	case s.Repeat != 1:
		return errors.New("the record is of a shoe that was shuffled more than once")
	case s.Draw == 0 && w.Root == "" && !w.Cut.given && w.CutRange == nil: // it was not shuffled
		return nil
	case s.Draw != s.Size:
		return errors.New("the record is of a shoe that was shuffled in part")
	}
	return r.parseSealing(w)
}

// parseChange parses and checks the members that only a change of a shoe has.
func (r *Record) parseChange(w *wireBody) (err error) {
	if r.AuditID, err = parseUUID(string(w.AuditID)); err != nil {
		return fmt.Errorf("the record's audit_id: %w", err)
	}
	if !w.Version.given || w.Version.n < 2 || w.Version.n > MaxSize {
		return errors.New("the record's version is missing, or not one that a change makes")
	}
	r.Version = w.Version.n
	if err := r.parseExpiry(w); err != nil {
		return err
	}
	switch {
	case r.Kind == KindReshuffle:
		return r.parseReshuffle(w)
	case r.Kind.moves():
		return r.parseMove(w)
	}
	return nil
}

func (r *Record) parseReshuffle(w *wireBody) error {
	s := &r.Statement
	r.From = shoe.Place(w.From)
	_, isPile := r.From.Pile()
	switch {
	case !isPile && r.From != shoe.Deck && r.From != shoe.All:
		return fmt.Errorf("the record's from is %q, and only the deck, a pile or all can be shuffled", w.From)
	case s.Repeat != 1 || s.Draw != s.Size || s.Size > shoe.MaxCards || s.Input != RangeInput:
		return errors.New("the record's statement is not of one shuffle of all the cards that lie somewhere")
	}
	if err := r.parseClient(w); err != nil {
		return err
	}
	if isPile && w.Cut.given {
		return errors.New("the record puts a cut card into a pile, and only the deck has one")
	}
	return r.parseSealing(w)
}

// parseSealing parses and checks the members that only a record has which seals an order.
func (r *Record) parseSealing(w *wireBody) error {
	switch {
	case w.Cut.given:
		if err := r.parseCut(w); err != nil {
			return err
		}
	case w.CutRange != nil:
		return errors.New("the record has a cut_range and no cut")
	}
	return r.parseRoot(w)
}

// parseCut parses and checks where the cut card lies.
func (r *Record) parseCut(w *wireBody) error {
	r.Cut = &shoe.Cut{At: w.Cut.n}
	fits := r.Cut.Fits(r.Statement.Size)
	if w.CutRange != nil {
		if len(w.CutRange) != 2 {
			return fmt.Errorf("the record's cut_range has %d numbers, and a range has 2", len(w.CutRange))
		}
		r.Cut.From, r.Cut.To = uint64(w.CutRange[0]), uint64(w.CutRange[1])
		fits = r.Cut.IsDrawn() && r.Cut.Fits(r.Statement.Size) && r.Cut.From <= r.Cut.At && r.Cut.At <= r.Cut.To
	}
	if !fits {
		return fmt.Errorf("the record's cut, %d, or its cut_range is none of %d cards", r.Cut.At, r.Statement.Size)
	}
	return nil
}

// parseMove parses and checks which cards were taken, from where, and where they were put.
func (r *Record) parseMove(w *wireBody) (err error) {
	s := &r.Statement
	r.From, r.To, r.Put = shoe.Place(w.From), shoe.Place(w.To), shoe.End(w.Put)
	if r.Cards, err = shoe.ParseCards(string(w.Cards)); err != nil {
		return fmt.Errorf("the record's cards: %w", err)
	}
	_, fromPile := r.From.Pile()
	_, toPile := r.To.Pile()
	var fits bool
	switch r.Kind {
	case KindDraw:
		fits = (fromPile || r.From == shoe.Deck) && (toPile || r.To == shoe.Dealt)
	case KindAdd:
		fits = (r.From == shoe.Dealt || r.From == shoe.Out) && toPile && r.Taken == shoe.Named
	default:
		fits = (fromPile || r.From == shoe.Dealt || r.From == shoe.Out) && r.To == shoe.Deck && r.Taken == shoe.Named
	}
	switch {
	case !fits:
		return fmt.Errorf("the record is of a %s from %q to %q, which is no such move", r.Kind, w.From, w.To)
	case r.Cards.Len() == 0 && r.Kind != KindAdd: // an add of no cards creates its pile
		return errors.New("the record moves no cards")
	case (r.To == shoe.Dealt) != (r.Put == "") || r.Put != "" && r.Put != shoe.Top && r.Put != shoe.Bottom:
		return fmt.Errorf("the record's put is %q, which is no end of %q", w.Put, w.To)
	}
	switch r.Taken {
	case shoe.Top, shoe.Bottom, shoe.Named:
		return nil
	case shoe.Random:
	default:
		return fmt.Errorf("the record's taken is %q, which is no way to take cards", w.Taken)
	}
	if s.Repeat != 1 || s.Draw != r.Cards.Len() || s.Size > shoe.MaxCards || s.Input != RangeInput {
		return errors.New("the record's statement is not of one draw of as many cards as it moves")
	}
	return nil
}

func (r *Record) parseExpiry(w *wireBody) (err error) {
	if w.Expires == "" {
		return nil
	}
	if r.Expires, err = parseTime(string(w.Expires)); err != nil {
		return fmt.Errorf("the record's expires: %w", err)
	}
	if !r.Expires.After(r.Time) {
		return errors.New("the record's expires is not after its time")
	}
	return nil
}

func (r *Record) parseRoot(w *wireBody) error {
	raw, err := hex.DecodeString(string(w.Root))
	if err != nil || len(raw) != tlog.HashSize || hex.EncodeToString(raw) != string(w.Root) {
		return errors.New("the record's root is not 64 hex digits in lower case")
	}
	root := tlog.Hash(raw)
	r.Root = &root
	return nil
}
