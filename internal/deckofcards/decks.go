package deckofcards

import (
	"errors"
	"net/http"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/shoe"
)

// mostDecks is how many copies a new deck may have; for one that is drawn from at once, it is as many as a shoe holds.
const mostDecks = 20

// newDeck answers /api/deck/new/: a deck in the order of a new one.
func (a *API) newDeck(q *query) (*answer, error) { return a.open(q, false) }

// newShuffled answers /api/deck/new/shuffle/.
func (a *API) newShuffled(q *query) (*answer, error) { return a.open(q, true) }

func (a *API) open(q *query, shuffled bool) (*answer, error) {
	copies, err := q.decks(mostDecks)
	if err != nil {
		return nil, err
	}
	withJokers, _ := q.flag("jokers_enabled")
	named, given, err := q.cards()
	if err != nil {
		return nil, err
	}
	r := whole(makeup{true, withJokers, copies}, shuffled)
	if given {
		if r, err = partial(named, withJokers, copies, shuffled); err != nil {
			return nil, err
		}
	}
	made, err := a.deal(q, r, q.call)
	if err != nil {
		return nil, err
	}
	return answered(made).shuffled(&made.Shoe), nil
}

// whole asks for a deck of all cards. A shuffled one is of a deck type; what was never shuffled has to lie in the order of this API,
// which is not that of the type.
func whole(m makeup, shuffled bool) *dealer.ShoeRequest {
	r := &dealer.ShoeRequest{Unshuffled: !shuffled}
	switch {
	case !shuffled:
		r.Items, r.Values = items(codesOf(m.jokers), m.copies)
	case m.jokers:
		r.Deck, r.Decks = type54, &m.copies
	default:
		r.Deck, r.Decks = type52, &m.copies
	}
	return r
}

// partial asks for a deck of the cards that are named, each as often as it is.
func partial(named []string, withJokers bool, copies uint64, shuffled bool) (*dealer.ShoeRequest, error) {
	var codes []string
	for _, code := range named {
		if withJokers || places[code] < plain {
			codes = append(codes, code)
		}
	}
	switch n := uint64(len(codes)); {
	case n == 0:
		return nil, refuse(http.StatusBadRequest, "A deck has at least one card. Name those that it is to have as in cards=AS,0S,KH; jokers, X1 and X2, need jokers_enabled=true.")
	case n*copies > shoe.MaxCards:
		return nil, refuse(http.StatusBadRequest, "A deck has at most %d cards, and this would have %d. Name fewer, or lower deck_count.", shoe.MaxCards, n*copies)
	}
	r := &dealer.ShoeRequest{Unshuffled: !shuffled}
	r.Items, r.Values = items(codes, copies)
	return r, nil
}

// deal makes a deck.
func (a *API) deal(q *query, r *dealer.ShoeRequest, call *dealer.Call) (*dealer.Changed, error) {
	r.Expires, r.Sliding, r.Call = lifetime, true, call
	plan, err := a.Dealer.PlanShoe(q.ctx, r)
	if err != nil {
		return nil, err
	}
	return a.Dealer.MakeShoe(q.ctx, plan)
}

// info answers /api/deck/{deck_id}/.
func (a *API) info(q *query) (*answer, error) {
	s, err := a.look(q)
	if err != nil {
		return nil, err
	}
	return answered(asItIs(s)).shuffled(s), nil
}

// shuffle answers /api/deck/{deck_id}/shuffle/: of what remains, or of all cards, which come back from wherever they lie.
func (a *API) shuffle(q *query) (*answer, error) {
	try := func(*dealer.Shoe) (*dealer.Changed, error) {
		return a.change(q, &dealer.Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	}
	if remaining, _ := q.flag("remaining"); !remaining {
		copies, err := q.decks(mostDecks)
		if err != nil {
			return nil, err
		}
		named, given, err := q.cards()
		if err != nil {
			return nil, err
		}
		try = func(s *dealer.Shoe) (*dealer.Changed, error) { return a.reset(q, s, named, given, copies) }
	}
	changed, err := a.act(q, try)
	if err != nil {
		return nil, err
	}
	return answered(changed).shuffled(&changed.Shoe), nil
}

// reset shuffles all cards. If they are to be others than before, a new shoe takes the place of the deck. It has as many copies as
// the deck; of one whose cards were named that is not known, and the request says it.
func (a *API) reset(q *query, s *dealer.Shoe, named []string, given bool, copies uint64) (*dealer.Changed, error) {
	was := makeupOf(s)
	withJokers, said := q.flag("jokers_enabled")
	if !said {
		withJokers = was.jokers
	}
	if was.whole {
		copies = was.copies
	}
	var r *dealer.ShoeRequest
	var err error
	switch {
	case given:
		if r, err = partial(named, withJokers, copies, true); err != nil {
			return nil, err
		}
	case was.whole && withJokers != was.jokers:
		r = whole(makeup{true, withJokers, copies}, true)
	default:
		changed, err := a.change(q, &dealer.Change{Kind: audit.KindReshuffle, From: shoe.All})
		if !errors.Is(err, shoe.ErrTooMany) {
			return changed, err
		}
		if !was.whole {
			return nil, worn(s)
		}
		r = whole(was, true)
	}
	r.Replaces = s.ID
	return a.deal(q, r, q.call)
}

// worn is for a deck that was shuffled as often as a shoe can be.
func worn(s *dealer.Shoe) error {
	return refuse(http.StatusBadRequest, "A deck and its piles are shuffled at most %d times. Begin another one at /api/deck/new/shuffle/.", shoe.MaxSeals).of(s)
}

// newDraw answers /api/deck/new/draw/: a new shuffled deck and its first cards.
func (a *API) newDraw(q *query) (*answer, error) {
	count, err := q.count(0)
	if err != nil {
		return nil, err
	}
	withJokers, _ := q.flag("jokers_enabled")
	copies, err := q.decks(int64(shoe.MaxCards / len(codesOf(withJokers))))
	if err != nil {
		return nil, err
	}
	if q.made == nil {
		made, err := a.deal(q, whole(makeup{true, withJokers, copies}, true), q.callOf(" deck"))
		if err != nil {
			return nil, err
		}
		q.id = made.Shoe.ID
	}
	return a.take(q, count)
}

// draw answers /api/deck/{deck_id}/draw/, and the same with an end or at random.
func (a *API) draw(q *query) (*answer, error) {
	count, err := q.count(0)
	if err != nil {
		return nil, err
	}
	return a.take(q, count)
}

// take draws cards from the deck, or as many as there are.
func (a *API) take(q *query, count uint64) (*answer, error) {
	changed, err := a.drawn(q, count)
	if err != nil {
		return nil, err
	}
	drawn := answered(changed).cards(q, changed.Cards).remaining(&changed.Shoe)
	if uint64(len(changed.Cards)) < count {
		drawn.Success, drawn.Error = false, refuse(http.StatusOK, notEnough, count).text
	}
	return drawn, nil
}

// drawn draws cards. A deck that this process knows is not looked at before: the dealer finds out what is left.
func (a *API) drawn(q *query, count uint64) (*dealer.Changed, error) {
	draw := func() (*dealer.Changed, error) {
		return a.change(q, &dealer.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: q.end, Count: &count, AtMost: true, To: shoe.Dealt})
	}
	short := (*shoe.ShortError)(nil)
	if known := a.Dealer.Recall(q.id); known != nil && isDeck(known) && count > 0 && q.made == nil {
		if changed, err := draw(); !errors.As(err, &short) {
			return changed, err
		}
	}
	return a.act(q, func(s *dealer.Shoe) (*dealer.Changed, error) {
		if count == 0 || s.Remaining == 0 {
			return asItIs(s), nil
		}
		return draw()
	})
}

// giveBack answers /api/deck/{deck_id}/return/: cards that were drawn and lie on no pile go to the bottom of the deck.
func (a *API) giveBack(q *query) (*answer, error) {
	named, given, err := q.cards()
	if err != nil {
		return nil, err
	}
	changed, err := a.act(q, func(s *dealer.Shoe) (*dealer.Changed, error) {
		lying, err := a.Dealer.Lying(q.ctx, s, shoe.Dealt, false)
		if err != nil {
			return nil, err
		}
		list := amongst(named, lying)
		if !given {
			inOrder(lying)
			list = namesOf(lying)
		}
		return a.move(q, s, &dealer.Change{Kind: audit.KindReturn, From: shoe.Dealt, Cards: list, To: shoe.Deck, Put: shoe.Bottom})
	})
	if err != nil {
		return nil, err
	}
	return answered(changed).remaining(&changed.Shoe), nil
}

// move moves the named cards of a change; if there are none, the deck stays as it is.
func (a *API) move(q *query, s *dealer.Shoe, c *dealer.Change) (*dealer.Changed, error) {
	if len(c.Cards) == 0 {
		return asItIs(s), nil
	}
	c.Taken = shoe.Named
	return a.change(q, c)
}

// amongst returns the names of those cards that lie there, each as often as it does. The others are passed over. Cards are named
// by their codes and not as those copies, so that the change is right however the deck is changed in between.
func amongst(codes []string, lying []dealer.ShoeCard) (list []dealer.CardName) {
	there := map[string]int{}
	for i := range lying {
		there[nameOf(&lying[i])]++
	}
	for _, code := range codes {
		if there[code] > 0 {
			there[code]--
			list = append(list, dealer.CardName{Code: code, First: true})
		}
	}
	return list
}

// namesOf names cards in their order.
func namesOf(lying []dealer.ShoeCard) []dealer.CardName {
	var codes []string
	for i := range lying {
		codes = append(codes, nameOf(&lying[i]))
	}
	return amongst(codes, lying)
}
