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

// updatePile changes the request's pile, which exists.
func (q *request) updatePile(decide func(*liveshoes.Shoe) (*liveshoes.Change, error)) (*liveshoes.Result, error) {
	return q.update(func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		if !hasPile(s, q.pile) {
			return nil, refuse(http.StatusNotFound, "The pile, %s does not exist.", q.pile).at(s) // the original service's text
		}
		return decide(s)
	})
}

func hasPile(s *liveshoes.Shoe, name string) bool {
	return slices.ContainsFunc(s.Piles, func(p shoe.Pile) bool { return p.Name == name })
}

// addToPile handles /api/deck/{deck_id}/pile/{pile}/add/: it moves cards from outside the deck to
// the pile. It creates a new pile even if no card is moved.
func (q *request) addToPile() (*answer, error) {
	return q.answer(q.update(func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
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
			return &liveshoes.Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, Cards: []liveshoes.CardName{}, To: q.place, Put: shoe.Top}, nil
		}
		return moveCards(audit.KindAdd, shoe.Out, picked, q.place, shoe.Top), nil
	}))
}

// listPile handles /api/deck/{deck_id}/pile/{pile}/list/: the pile's cards from the bottom, and the
// size of each pile.
func (q *request) listPile() (*answer, error) {
	result, err := q.look()
	listed, err := q.answer(result, err)
	if err != nil {
		return nil, err
	}
	cards, err := q.log.Shoes.Cards(q.ctx, &result.Shoe, q.place, false)
	if errors.Is(err, shoe.ErrNoPile) {
		return listed, nil
	} else if err != nil {
		return nil, err
	}
	listed.Piles[q.pile] = pile{Remaining: uint64(len(cards)), Cards: q.show(cards)}
	return listed, nil
}

// shufflePile handles /api/deck/{deck_id}/pile/{pile}/shuffle/.
func (q *request) shufflePile() (*answer, error) {
	return q.answer(q.updatePile(func(*liveshoes.Shoe) (*liveshoes.Change, error) {
		return &liveshoes.Change{Kind: audit.KindReshuffle, From: q.place}, nil
	}))
}

// drawFromPile handles /api/deck/{deck_id}/pile/{pile}/draw/, with or without a location. Named
// cards override location and count. Unlike the deck's draw, it draws all requested cards or none.
func (q *request) drawFromPile() (*answer, error) {
	byName := q.values["cards"] != ""
	result, err := q.updatePile(func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		cards, err := q.log.Shoes.Cards(q.ctx, s, q.place, false)
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
			return moveCards(audit.KindDraw, q.place, pick(cards, q.cards), shoe.Dealt, ""), nil
		}
		count, err := q.count(1)
		if err != nil {
			return nil, err
		}
		if count > uint64(len(cards)) {
			return nil, q.notEnough(http.StatusNotFound).at(s)
		}
		return &liveshoes.Change{Kind: audit.KindDraw, From: q.place, Taken: q.end, Count: &count, To: shoe.Dealt}, nil
	})
	drawn, err := q.answer(result, err)
	if err != nil {
		return nil, err
	}
	cards := slices.Clone(result.Cards)
	if !byName && q.end == shoe.Top { // from the bottom: the top card is the last
		slices.Reverse(cards)
	}
	drawn.Cards, drawn.Remaining = q.show(cards), nil
	return drawn, nil
}

// returnPile handles /api/deck/{deck_id}/pile/{pile}/return/: it moves the named cards, or all, to
// the bottom of the deck.
func (q *request) returnPile() (*answer, error) {
	return q.answer(q.updatePile(func(s *liveshoes.Shoe) (*liveshoes.Change, error) { return q.returnFrom(s, q.place) }))
}
