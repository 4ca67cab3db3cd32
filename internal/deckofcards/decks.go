package deckofcards

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
)

// maxDecks is the most copies in a new deck. A deck that is created by a draw is only limited by
// the shoe's size.
const maxDecks = 20

// update changes the request's deck. decide returns the change for the current deck, or nil for
// none, and is called again if the deck changed concurrently.
func (q *request) update(decide func(*liveshoes.Shoe) (*liveshoes.Change, error)) (*liveshoes.Result, error) {
	if q.id == uuid.Nil {
		return nil, journal.ErrNoShoe
	}
	var now *liveshoes.Shoe
	result, err := q.log.Shoes.Update(q.ctx, q.id, q.key, func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		if s.Status != shoe.Open || !isDeck(s) {
			return nil, journal.ErrNoShoe
		}
		now = s
		return decide(s)
	})
	if errors.Is(err, shoe.ErrTooMany) {
		worn := refuse(http.StatusBadRequest, "A deck has piles with at most %d characters of names, and cards of at most %d shuffles; it is shuffled at most %d times, its piles included. Begin another one at /api/deck/new/shuffle/.", liveshoes.MaxNameBytes, liveshoes.MaxOrders, shoe.MaxOrders)
		err = errors.Join(worn.at(now), err)
	}
	return result, err
}

// look returns the request's deck unchanged.
func (q *request) look() (*liveshoes.Result, error) {
	q.key = nil // a read has nothing to replay
	return q.update(func(*liveshoes.Shoe) (*liveshoes.Change, error) { return nil, nil })
}

// newDeck handles /api/deck/new/: a deck in the order of a new one.
func (q *request) newDeck() (*answer, error) { return q.create(false) }

// newShuffled handles /api/deck/new/shuffle/.
func (q *request) newShuffled() (*answer, error) { return q.create(true) }

func (q *request) create(shuffled bool) (*answer, error) {
	copies, err := q.decks(maxDecks)
	if err != nil {
		return nil, err
	}
	withJokers, _ := q.flag("jokers_enabled")
	r := whole(makeup{true, withJokers, copies}, shuffled)
	if q.named {
		if r, err = partial(q.cards, withJokers, copies, shuffled); err != nil {
			return nil, err
		}
	}
	r.Key = q.key
	return q.deckState(q.log.Shoes.Create(q.ctx, r))
}

// newRequest returns a request for a deck with this API's lifetime.
func newRequest(shuffled bool) *liveshoes.NewShoe {
	r := &liveshoes.NewShoe{TTL: lifetime}
	if !shuffled {
		r.Draw = new(uint64)
	}
	return r
}

// whole returns a request for a full deck. A shuffled one is of a deck type; an unshuffled one is
// of items, because this API orders cards differently.
func whole(m makeup, shuffled bool) *liveshoes.NewShoe {
	r := newRequest(shuffled)
	switch {
	case !shuffled:
		setItems(r, codesOf(m.jokers), m.copies)
	case m.jokers:
		r.Deck, r.Decks = type54, &m.copies
	default:
		r.Deck, r.Decks = type52, &m.copies
	}
	return r
}

// partial returns a request for a deck of the named cards.
func partial(named []string, withJokers bool, copies uint64, shuffled bool) (*liveshoes.NewShoe, error) {
	codes := slices.DeleteFunc(slices.Clone(named), func(code string) bool { return !withJokers && places[code] >= plain })
	switch n := uint64(len(codes)); {
	case n == 0:
		return nil, refuse(http.StatusBadRequest, "A deck has at least one card. Name its cards as in cards=AS,0S,KH; jokers, X1 and X2, need jokers_enabled=true.")
	case n*copies > shoe.MaxCards:
		return nil, refuse(http.StatusBadRequest, "A deck has at most %d cards, and this would have %d. Name fewer, or lower deck_count.", shoe.MaxCards, n*copies)
	}
	r := newRequest(shuffled)
	setItems(r, codes, copies)
	return r, nil
}

// info handles /api/deck/{deck_id}/.
func (q *request) info() (*answer, error) { return q.deckState(q.look()) }

// shuffle handles /api/deck/{deck_id}/shuffle/: it shuffles the remaining cards, or returns all
// cards and shuffles them.
func (q *request) shuffle() (*answer, error) {
	if remaining, _ := q.flag("remaining"); !remaining {
		return q.deckState(q.reset())
	}
	return q.deckState(q.update(func(*liveshoes.Shoe) (*liveshoes.Change, error) {
		return &liveshoes.Change{Kind: audit.KindReshuffle, From: shoe.Deck}, nil
	}))
}

// errReplace ends an update whose deck must be replaced.
var errReplace = errors.New("the deck is to be replaced")

// reset shuffles all cards of a deck. A new shoe replaces the deck if its cards change, or if it
// was shuffled too often.
func (q *request) reset() (*liveshoes.Result, error) {
	copies, err := q.decks(maxDecks)
	if err != nil {
		return nil, err
	}
	var was makeup
	var replacement *liveshoes.NewShoe
	result, err := q.update(func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		was = makeupOf(s)
		withJokers, said := q.flag("jokers_enabled")
		if !said {
			withJokers = was.jokers
		}
		if was.whole { // the number of copies of a partial deck is unknown
			copies = was.copies
		}
		switch {
		case q.named:
			var err error
			replacement, err = partial(q.cards, withJokers, copies, true)
			return nil, cmp.Or(err, errReplace)
		case was.whole && withJokers != was.jokers:
			replacement = whole(makeup{true, withJokers, copies}, true)
			return nil, errReplace
		}
		return &liveshoes.Change{Kind: audit.KindReshuffle, From: shoe.All}, nil
	})
	if errors.Is(err, shoe.ErrTooMany) && was.whole {
		replacement, err = whole(was, true), errReplace
	}
	if !errors.Is(err, errReplace) {
		return result, err
	}
	replacement.Key = q.key
	return q.log.Shoes.Replace(q.ctx, q.id, replacement)
}

// newDraw handles /api/deck/new/draw/: it shuffles a new deck and draws cards.
func (q *request) newDraw() (*answer, error) {
	if _, err := q.count(0); err != nil { // before there is a deck
		return nil, err
	}
	withJokers, _ := q.flag("jokers_enabled")
	copies, err := q.decks(int64(shoe.MaxCards / len(codesOf(withJokers))))
	if err != nil {
		return nil, err
	}
	r := whole(makeup{true, withJokers, copies}, true)
	r.Key = q.keyFor(newDeckKey)
	created, err := q.log.Shoes.Create(q.ctx, r)
	if err != nil {
		return nil, err
	}
	q.id = created.Shoe.ID
	return q.draw()
}

// draw handles /api/deck/{deck_id}/draw/, with or without a location. It draws all cards if fewer remain
// than the request asks for.
func (q *request) draw() (*answer, error) {
	count, err := q.count(0)
	if err != nil {
		return nil, err
	}
	result, err := q.update(func(s *liveshoes.Shoe) (*liveshoes.Change, error) {
		n := min(count, s.Deck.Len())
		if n == 0 {
			return nil, nil
		}
		return &liveshoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: q.end, Count: &n, To: shoe.Dealt}, nil
	})
	drawn, err := q.answer(result, err)
	if err != nil {
		return nil, err
	}
	drawn.Cards = q.show(result.Cards)
	if uint64(len(result.Cards)) < count {
		drawn.Success, drawn.Error = false, q.notEnough(http.StatusOK).text
	}
	return drawn, nil
}

// returnToDeck handles /api/deck/{deck_id}/return/: drawn cards that are on no pile go to the
// bottom of the deck.
func (q *request) returnToDeck() (*answer, error) {
	return q.answer(q.update(func(s *liveshoes.Shoe) (*liveshoes.Change, error) { return q.returnFrom(s, shoe.Dealt) }))
}

// returnFrom returns the change that moves the named cards of a place, or all, to the bottom of the
// deck. Drawn cards that are not named get the order of a new deck.
func (q *request) returnFrom(s *liveshoes.Shoe, from shoe.Place) (*liveshoes.Change, error) {
	cards, err := s.Cards(from)
	if err != nil {
		return nil, err
	}
	if q.named {
		cards = pick(cards, q.cards)
	} else if from == shoe.Dealt {
		sortCards(cards)
	}
	return moveCards(audit.KindReturn, from, cards, shoe.Deck, shoe.Bottom), nil
}

// moveCards returns the change that moves cards, or nil for no cards.
func moveCards(kind audit.Kind, from shoe.Place, cards []liveshoes.Card, to shoe.Place, put shoe.End) *liveshoes.Change {
	if len(cards) == 0 {
		return nil
	}
	c := &liveshoes.Change{Kind: kind, From: from, Taken: shoe.Named, To: to, Put: put}
	for i := range cards {
		c.Cards = append(c.Cards, liveshoes.CardName{Number: &cards[i].Number})
	}
	return c
}

// pick returns the cards with the given codes, in the order of the codes. Each code picks one card;
// unknown codes are skipped.
func pick(cards []liveshoes.Card, codes []string) (picked []liveshoes.Card) {
	byCode := map[string][]liveshoes.Card{}
	for i := range cards {
		code := nameOf(&cards[i])
		byCode[code] = append(byCode[code], cards[i])
	}
	for _, code := range codes {
		if rest := byCode[code]; len(rest) > 0 {
			picked = append(picked, rest[0])
			byCode[code] = rest[1:]
		}
	}
	return picked
}

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
		cards, err := s.Cards(shoe.Out)
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
	cards, err := result.Shoe.Cards(q.place)
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
		cards, err := s.Cards(q.place)
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
