package deckofcards

import (
	"errors"
	"net/http"
	"slices"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/shoe"
)

// place returns the place of the request's pile.
func (q *query) place() (shoe.Place, error) {
	if !shoe.IsName(q.pile) {
		return "", refuse(http.StatusNotFound, "A pile is named by 1 to %d letters, digits, hyphens and underscores.", shoe.MaxName)
	}
	return shoe.OnPile(q.pile), nil
}

// has returns an error unless the deck has the request's pile.
func (q *query) has(s *dealer.Shoe) error {
	if !slices.ContainsFunc(s.Piles, func(p dealer.PileSize) bool { return p.Name == q.pile }) {
		return refuse(http.StatusNotFound, noPile, q.pile).of(s)
	}
	return nil
}

// onPile does something to a pile that has to be there, and answers with all piles.
func (a *API) onPile(q *query, try func(*dealer.Shoe, shoe.Place) (*dealer.Changed, error)) (*dealer.Changed, error) {
	place, err := q.place()
	if err != nil {
		return nil, err
	}
	return a.act(q, func(s *dealer.Shoe) (*dealer.Changed, error) {
		if err := q.has(s); err != nil {
			return nil, err
		}
		return try(s, place)
	})
}

// addToPile answers /api/deck/{deck_id}/pile/{pile}/add/: cards come onto the pile from wherever they lie out of the deck.
func (a *API) addToPile(q *query) (*answer, error) {
	place, err := q.place()
	if err != nil {
		return nil, err
	}
	named, given, err := q.cards()
	if err != nil {
		return nil, err
	}
	changed, err := a.act(q, func(s *dealer.Shoe) (*dealer.Changed, error) {
		if !given {
			return nil, refuse(http.StatusNotFound, noCardNamed).of(s)
		}
		lying, err := a.Dealer.Lying(q.ctx, s, shoe.Out, false)
		if err != nil {
			return nil, err
		}
		c := &dealer.Change{Kind: audit.KindAdd, From: shoe.Out, Cards: amongst(named, lying), To: place, Put: shoe.Top}
		changed, err := a.move(q, s, c)
		if errors.Is(err, shoe.ErrTooMany) {
			return nil, refuse(http.StatusBadRequest, "A deck has at most %d piles. Use one of those.", shoe.MaxPiles).of(s)
		}
		return changed, err
	})
	if err != nil {
		return nil, err
	}
	added := answered(changed).remaining(&changed.Shoe).piles(&changed.Shoe)
	if _, found := added.Piles[q.pile]; !found { // no card was there to add, and an empty pile is none here
		added.Piles[q.pile] = pile{}
	}
	return added, nil
}

// listPile answers /api/deck/{deck_id}/pile/{pile}/list/: its cards from the bottom, and how many each pile has.
func (a *API) listPile(q *query) (*answer, error) {
	place, err := q.place()
	if err != nil {
		return nil, err
	}
	s, err := a.look(q)
	if err != nil {
		return nil, err
	}
	listed := answered(asItIs(s)).remaining(s).piles(s)
	lying, err := a.Dealer.Lying(q.ctx, s, place, false)
	if errors.Is(err, shoe.ErrNoPile) {
		return listed, nil
	} else if err != nil {
		return nil, err
	}
	listed.Piles[q.pile] = pile{Remaining: uint64(len(lying)), Cards: shown(q, lying)}
	return listed, nil
}

// shufflePile answers /api/deck/{deck_id}/pile/{pile}/shuffle/.
func (a *API) shufflePile(q *query) (*answer, error) {
	changed, err := a.onPile(q, func(s *dealer.Shoe, place shoe.Place) (*dealer.Changed, error) {
		changed, err := a.change(q, &dealer.Change{Kind: audit.KindReshuffle, From: place})
		if errors.Is(err, shoe.ErrTooMany) {
			return nil, worn(s)
		}
		return changed, err
	})
	if err != nil {
		return nil, err
	}
	return answered(changed).remaining(&changed.Shoe).piles(&changed.Shoe), nil
}

// drawFromPile answers /api/deck/{deck_id}/pile/{pile}/draw/, and the same with an end or at random. Named cards go before both.
// Unlike from the deck, all of the cards are drawn or none.
func (a *API) drawFromPile(q *query) (*answer, error) {
	named, _, err := q.cards()
	if err != nil {
		return nil, err
	}
	byName := q.values["cards"] != ""
	changed, err := a.onPile(q, func(s *dealer.Shoe, place shoe.Place) (*dealer.Changed, error) {
		if byName {
			return a.pick(q, s, place, named)
		}
		count, err := q.count(1)
		if err != nil {
			return nil, err
		}
		changed, err := a.change(q, &dealer.Change{Kind: audit.KindDraw, From: place, Taken: q.end, Count: &count, To: shoe.Dealt})
		if short := (*shoe.ShortError)(nil); errors.As(err, &short) {
			return nil, refuse(http.StatusNotFound, notEnough, count).of(s)
		}
		return changed, err
	})
	if err != nil {
		return nil, err
	}
	if !byName && q.end == shoe.Top { // as they lay: the top one is the last
		changed.Cards = slices.Clone(changed.Cards)
		slices.Reverse(changed.Cards)
	}
	return answered(changed).cards(q, changed.Cards).piles(&changed.Shoe), nil
}

// pick draws named cards from a pile, which has to have them all.
func (a *API) pick(q *query, s *dealer.Shoe, place shoe.Place, named []string) (*dealer.Changed, error) {
	var list []dealer.CardName
	for _, code := range named {
		list = append(list, dealer.CardName{Code: code, First: true})
	}
	changed, err := a.move(q, s, &dealer.Change{Kind: audit.KindDraw, From: place, Cards: list, To: shoe.Dealt})
	if cards := (*dealer.CardsError)(nil); errors.As(err, &cards) {
		return nil, refuse(http.StatusNotFound, notInPile, q.pile).of(s)
	}
	return changed, err
}

// returnPile answers /api/deck/{deck_id}/pile/{pile}/return/: all cards of the pile, or those that are named, go to the bottom of
// the deck.
func (a *API) returnPile(q *query) (*answer, error) {
	named, given, err := q.cards()
	if err != nil {
		return nil, err
	}
	changed, err := a.onPile(q, func(s *dealer.Shoe, place shoe.Place) (*dealer.Changed, error) {
		lying, err := a.Dealer.Lying(q.ctx, s, place, false)
		if err != nil {
			return nil, err
		}
		list := namesOf(lying)
		if given {
			list = amongst(named, lying)
		}
		return a.move(q, s, &dealer.Change{Kind: audit.KindReturn, From: place, Cards: list, To: shoe.Deck, Put: shoe.Bottom})
	})
	if err != nil {
		return nil, err
	}
	return answered(changed).remaining(&changed.Shoe).piles(&changed.Shoe), nil
}
