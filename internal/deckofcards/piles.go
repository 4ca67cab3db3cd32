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

// place returns the request's pile as a place.
func (q *request) place() (shoe.Place, error) {
	if !shoe.IsName(q.pile) {
		return "", refuse(http.StatusNotFound, "A pile is named by 1 to %d letters, digits, hyphens and underscores.", shoe.MaxName)
	}
	return shoe.OnPile(q.pile), nil
}

// updatePile changes an existing pile. decide receives the deck and the pile's place.
func (a *API) updatePile(q *request, decide func(*liveshoes.Shoe, shoe.Place) (*liveshoes.Change, error)) (*liveshoes.Result, error) {
	place, err := q.place()
	if err != nil {
		return nil, err
	}
	return a.update(q, func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		if !hasPile(s, q.pile) {
			return nil, refuse(http.StatusNotFound, noPile, q.pile).at(s)
		}
		return decide(s, place)
	})
}

func hasPile(s *liveshoes.Shoe, name string) bool {
	return slices.ContainsFunc(s.Piles, func(p liveshoes.Pile) bool { return p.Name == name })
}

// addToPile handles /api/deck/{deck_id}/pile/{pile}/add/: it moves cards from outside the deck to
// the pile. It creates a new pile even if no card is moved.
func (a *API) addToPile(q *request) (*answer, error) {
	place, err := q.place()
	if err != nil {
		return nil, err
	}
	named, given, err := q.cards()
	if err != nil {
		return nil, err
	}
	var now *liveshoes.Shoe
	result, err := a.update(q, func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		now = s
		if !given {
			return nil, refuse(http.StatusNotFound, noCardNamed).at(s)
		}
		cards, err := q.log.Shoes.Cards(q.ctx, s, shoe.Out, false)
		if err != nil {
			return nil, err
		}
		picked := pick(cards, named)
		if len(picked) == 0 && !hasPile(s, q.pile) { // creates an empty pile
			return &liveshoes.Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, Cards: []liveshoes.CardName{}, To: place, Put: shoe.Top}, nil
		}
		return moveCards(audit.KindAdd, shoe.Out, picked, place, shoe.Top), nil
	})
	if errors.Is(err, shoe.ErrTooMany) {
		return nil, refuse(http.StatusBadRequest, "A deck has at most %d piles. Use one of those.", shoe.MaxPiles).at(now)
	} else if err != nil {
		return nil, err
	}
	return newAnswer(result).remaining(&result.Shoe).piles(&result.Shoe), nil
}

// listPile handles /api/deck/{deck_id}/pile/{pile}/list/: the pile's cards from the bottom, and the
// size of each pile.
func (a *API) listPile(q *request) (*answer, error) {
	place, err := q.place()
	if err != nil {
		return nil, err
	}
	result, err := a.look(q)
	if err != nil {
		return nil, err
	}
	listed := newAnswer(result).remaining(&result.Shoe).piles(&result.Shoe)
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
func (a *API) shufflePile(q *request) (*answer, error) {
	var now *liveshoes.Shoe
	result, err := a.updatePile(q, func(s *liveshoes.Shoe, place shoe.Place) (*liveshoes.Change, error) {
		now = s
		return &liveshoes.Change{Kind: audit.KindReshuffle, From: place}, nil
	})
	if errors.Is(err, shoe.ErrTooMany) {
		return nil, worn(now)
	} else if err != nil {
		return nil, err
	}
	return newAnswer(result).remaining(&result.Shoe).piles(&result.Shoe), nil
}

// drawFromPile handles /api/deck/{deck_id}/pile/{pile}/draw/, with or without a location. Named
// cards override location and count. Unlike the deck's draw, it draws all requested cards or none.
func (a *API) drawFromPile(q *request) (*answer, error) {
	named, _, err := q.cards()
	if err != nil {
		return nil, err
	}
	byName := q.values["cards"] != ""
	result, err := a.updatePile(q, func(s *liveshoes.Shoe, place shoe.Place) (*liveshoes.Change, error) {
		cards, err := q.log.Shoes.Cards(q.ctx, s, place, false)
		if err != nil {
			return nil, err
		}
		if byName {
			picked := pick(cards, named)
			if lacks(picked, q.values["cards"]) {
				return nil, refuse(http.StatusNotFound, notInPile, q.pile).at(s)
			}
			return moveCards(audit.KindDraw, place, picked, shoe.Dealt, ""), nil
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
	return newAnswer(result).cards(q, cards).piles(&result.Shoe), nil
}

// lacks reports whether a code of the list is not among the cards. Like the original service, it
// ignores other spellings of ten.
func lacks(cards []liveshoes.Card, list string) bool {
	count := map[string]int{}
	for i := range cards {
		count[nameOf(&cards[i])]++
	}
	for code := range strings.SplitSeq(strings.ToUpper(list), ",") {
		if _, isCode := places[code]; isCode {
			if count[code]--; count[code] < 0 {
				return true
			}
		}
	}
	return false
}

// returnPile handles /api/deck/{deck_id}/pile/{pile}/return/: it moves the named cards, or all, to
// the bottom of the deck.
func (a *API) returnPile(q *request) (*answer, error) {
	named, given, err := q.cards()
	if err != nil {
		return nil, err
	}
	result, err := a.updatePile(q, func(s *liveshoes.Shoe, place shoe.Place) (*liveshoes.Change, error) {
		cards, err := q.log.Shoes.Cards(q.ctx, s, place, false)
		if err != nil {
			return nil, err
		}
		if given {
			cards = pick(cards, named)
		}
		return moveCards(audit.KindReturn, place, cards, shoe.Deck, shoe.Bottom), nil
	})
	if err != nil {
		return nil, err
	}
	return newAnswer(result).remaining(&result.Shoe).piles(&result.Shoe), nil
}
