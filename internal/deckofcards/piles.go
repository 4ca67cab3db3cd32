package deckofcards

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
)

// onPile returns a handler of a pile, which gets its place.
func onPile(answered func(q *request, place shoe.Place) (*answer, error)) func(*request) (*answer, error) {
	return func(q *request) (*answer, error) {
		if !shoe.IsName(q.pile) {
			return nil, refuse(http.StatusNotFound, "A pile is named by 1 to %d letters, digits, hyphens and underscores.", shoe.MaxName)
		}
		return answered(q, shoe.OnPile(q.pile))
	}
}

// updatePile changes the request's pile, which exists.
func (a *API) updatePile(q *request, decide func(*liveshoes.Shoe) (*liveshoes.Change, error)) (*liveshoes.Result, error) {
	return a.update(q, func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		if !hasPile(s, q.pile) {
			return nil, refuse(http.StatusNotFound, "The pile, %s does not exist.", q.pile).at(s) // the original service's text
		}
		return decide(s)
	})
}

func hasPile(s *liveshoes.Shoe, name string) bool {
	return slices.ContainsFunc(s.Piles, func(p liveshoes.Pile) bool { return p.Name == name })
}

// addToPile handles /api/deck/{deck_id}/pile/{pile}/add/: it moves cards from outside the deck to
// the pile. It creates a new pile even if no card is moved.
func (a *API) addToPile(q *request, place shoe.Place) (*answer, error) {
	return pileState(a.update(q, func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		isNew := !hasPile(s, q.pile)
		switch {
		case !q.named:
			return nil, refuse(http.StatusNotFound, "You must specify cards to add to the pile.").at(s) // the original service's text
		case isNew && len(s.Piles) == shoe.MaxPiles:
			return nil, refuse(http.StatusBadRequest, "A deck has at most %d piles. Use one of those.", shoe.MaxPiles).at(s)
		}
		cards, err := q.log.Shoes.Cards(q.ctx, s, shoe.Out, false)
		if err != nil {
			return nil, err
		}
		picked := pick(cards, q.cards)
		if len(picked) == 0 && isNew { // creates an empty pile
			return &liveshoes.Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, Cards: []liveshoes.CardName{}, To: place, Put: shoe.Top}, nil
		}
		return moveCards(audit.KindAdd, shoe.Out, picked, place, shoe.Top), nil
	}))
}

// listPile handles /api/deck/{deck_id}/pile/{pile}/list/: the pile's cards from the bottom, and the
// size of each pile.
func (a *API) listPile(q *request, place shoe.Place) (*answer, error) {
	result, err := a.look(q)
	if err != nil {
		return nil, err
	}
	listed := newAnswer(result).piles(&result.Shoe)
	cards, err := q.log.Shoes.Cards(q.ctx, &result.Shoe, place, false)
	if errors.Is(err, shoe.ErrNoPile) {
		return listed, nil
	} else if err != nil {
		return nil, err
	}
	listed.Piles[q.pile] = pile{Remaining: uint64(len(cards)), Cards: q.show(cards)}
	return listed, nil
}

// shufflePile handles /api/deck/{deck_id}/pile/{pile}/shuffle/.
func (a *API) shufflePile(q *request, place shoe.Place) (*answer, error) {
	return pileState(a.updatePile(q, func(*liveshoes.Shoe) (*liveshoes.Change, error) {
		return &liveshoes.Change{Kind: audit.KindReshuffle, From: place}, nil
	}))
}

// drawFromPile handles /api/deck/{deck_id}/pile/{pile}/draw/, with or without a location. Named
// cards override location and count. Unlike the deck's draw, it draws all requested cards or none.
func (a *API) drawFromPile(q *request, place shoe.Place) (*answer, error) {
	byName := q.values["cards"] != ""
	result, err := a.updatePile(q, func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		cards, err := q.log.Shoes.Cards(q.ctx, s, place, false)
		if err != nil {
			return nil, err
		}
		if byName {
			// Like the original service, this ignores other spellings of ten.
			wanted := slices.DeleteFunc(strings.Split(strings.ToUpper(q.values["cards"]), ","), func(word string) bool {
				_, isCode := places[word]
				return !isCode
			})
			if len(pick(cards, wanted)) < len(wanted) {
				return nil, refuse(http.StatusNotFound, "The pile, %s does not contain the requested cards.", q.pile).at(s) // the original service's text
			}
			return moveCards(audit.KindDraw, place, pick(cards, q.cards), shoe.Dealt, ""), nil
		}
		count, err := q.count(1)
		if err != nil {
			return nil, err
		}
		if count > uint64(len(cards)) {
			return nil, q.notEnough(http.StatusNotFound).at(s)
		}
		return &liveshoes.Change{Kind: audit.KindDraw, From: place, Taken: q.end, Count: &count, To: shoe.Dealt}, nil
	})
	if err != nil {
		return nil, err
	}
	cards := slices.Clone(result.Cards)
	if !byName && q.end == shoe.Top { // from the bottom: the top card is the last
		slices.Reverse(cards)
	}
	drawn := newAnswer(result).piles(&result.Shoe)
	drawn.Cards, drawn.Remaining = q.show(cards), nil
	return drawn, nil
}

// returnPile handles /api/deck/{deck_id}/pile/{pile}/return/: it moves the named cards, or all, to
// the bottom of the deck.
func (a *API) returnPile(q *request, place shoe.Place) (*answer, error) {
	return pileState(a.updatePile(q, func(s *liveshoes.Shoe) (*liveshoes.Change, error) { return q.returnFrom(s, place) }))
}
