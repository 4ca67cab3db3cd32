package deckofcards

import (
	"errors"

	"github.com/google/uuid"

	"riffle/internal/dealer"
	"riffle/internal/shoe"
)

// attempts is how often a change is tried while others change the deck at the same moment. Every time one of them is done, so that
// it is not reached.
const attempts = 100

// look returns the deck of the request as it is now. The error is [dealer.ErrNoShoe] or one of the ledger's.
func (a *API) look(q *query) (*dealer.Shoe, error) {
	if q.id == uuid.Nil {
		return nil, dealer.ErrNoShoe
	}
	s, err := a.Dealer.Shoe(q.ctx, q.id)
	if err == nil && (s.Status != dealer.ShoeOpen || !isDeck(s)) {
		err = dealer.ErrNoShoe
	}
	return s, err
}

// act changes the deck of the request by try, which is told how the deck is, and called again if it was changed before try could
// change it. A retry of the request is answered with what the first attempt did.
func (a *API) act(q *query, try func(*dealer.Shoe) (*dealer.Changed, error)) (*dealer.Changed, error) {
	if q.made != nil {
		return q.made, nil
	}
	for attempt := 1; ; attempt++ {
		s, err := a.look(q)
		if err != nil {
			return nil, err
		}
		changed, err := try(s)
		if err == nil || !isPassing(err) || attempt == attempts {
			return changed, err
		}
		if err := dealer.Pause(q.ctx, attempt); err != nil {
			return nil, err
		}
	}
}

// isPassing reports whether an error says that the deck is not as it was looked at.
func isPassing(err error) bool {
	var short *shoe.ShortError
	var cards *dealer.CardsError
	return errors.As(err, &short) || errors.As(err, &cards) || errors.Is(err, shoe.ErrNoPile) || errors.Is(err, dealer.ErrRunning)
}

// asItIs is what has become of a deck to which nothing was to be done: nothing is recorded.
func asItIs(s *dealer.Shoe) *dealer.Changed { return &dealer.Changed{AuditID: s.ChangedBy, Shoe: *s} }

// change does one change to the deck of the request.
func (a *API) change(q *query, c *dealer.Change) (*dealer.Changed, error) {
	c.Call = q.call
	return a.Dealer.Change(q.ctx, q.id, c)
}
