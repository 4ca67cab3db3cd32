package prooffile

import (
	"fmt"
	"math"

	"riffle/internal/audit"
	"riffle/internal/rng"
)

// checkReplay adds the steps seed, commitment, keys, order, items and root: the order follows from
// the seed and the record, and is the one that was answered.
//
// A replay takes at most [audit.MaxCost] steps.
func (r *Result) checkReplay() {
	if !r.Record.Deals() {
		const none = "a record of kind %s has none"
		if r.given.Order != nil {
			r.add(StepOrder, Unchecked, none, r.Record.Kind)
		}
		if r.given.Items != nil {
			r.add(StepItems, Unchecked, none, r.Record.Kind)
		}
		return
	}
	if r.seed = r.File.Seed; r.seed == nil {
		r.seed = r.given.Order.seedOf(r.Record)
	}
	if r.seed == nil {
		r.addWithheld()
		r.checkItems()
		return
	}

	// Nothing interrupts it, so there is no error.
	v, _ := audit.Verify(r.File.Record, r.seed, r.wantedPositions(), nil)
	r.cost = v.TooCostly
	for _, s := range v.Steps[1:] { // the first is the record, which has a step already
		state, detail := OK, s.Detail
		switch {
		case s.Name == StepSeed:
			detail = r.seedLength()
		case r.cost > 0 && !s.OK:
			state = Unchecked
		case !s.OK:
			state = Wrong
		}
		r.add(s.Name, state, "%s", detail)
	}
	if !v.OK && r.cost == 0 {
		return
	}
	cards := r.checkItems()
	if r.cost > 0 {
		return
	}
	order := r.Find(StepOrder)
	order.Detail += "; the SHA-256 of the positions is " + v.OrderDigest
	r.orders = v.Orders
	if r.given.Order != nil {
		*order, r.match = r.compareOrder(cards, order.Detail)
	}
	r.checkRoot()
}

// wantedPositions returns the number of replayed positions up to which the orders are needed.
func (r *Result) wantedPositions() uint64 {
	switch order, isShuffle := r.given.Order, r.Record.Kind == audit.KindShuffle; {
	case isShuffle && order == nil:
		return 0
	case isShuffle && r.Record.Statement.Hands == nil:
		return order.count
	}
	return math.MaxUint64 // order may be any hand, and a shoe is small
}

// addWithheld adds the steps up to order of a record whose seed is secret.
func (r *Result) addWithheld() {
	for _, name := range []string{StepSeed, "commitment", "keys"} {
		r.add(name, Skipped, "the seed is held back")
	}
	if r.given.Order != nil {
		if err := r.given.Order.names(r); err != nil {
			r.add(StepOrder, Wrong, "%s", err)
			return
		}
	}
	isProven := r.given.Hand != nil && r.Record.Seals() && r.given.Order == nil // the hand is, which needs no order
	r.add(StepOrder, missing(!isProven), "the seed is held back, and the order follows from it")
}

// seedLength says how long the seed is and should be.
func (r *Result) seedLength() string {
	s := &r.Record.Statement
	got, want := len(r.seed)/rng.BlockSize, rng.Blocks(s.Size, s.Draw)
	text := fmt.Sprintf("%s of 256 bits; riffle/1 asks for %d", audit.Count(got, "block"), want)
	if got < want {
		text = fmt.Sprintf("warning: %s of 256 bits, and riffle/1 asks for %d", audit.Count(got, "block"), want)
	}
	if !rng.Exhaustive(s.Draw) {
		text += "; computationally, not exhaustively, complete"
	}
	if r.File.Seed == nil {
		text += "; the answer gave it, and the file has none"
	}
	return text
}

// compareOrder returns the step order: whether the order given is one that was dealt, and which.
func (r *Result) compareOrder(cards *cards, replayed string) (Step, *Match) {
	order := r.given.Order
	if err := order.names(r); err != nil {
		return newStep(StepOrder, Wrong, "%s", err), nil
	}
	if cards == nil {
		return newStep(StepOrder, Unchecked, "replayed, but comparing it with the order given needs the items of the record"), nil
	}
	c := &comparison{order, &r.Record.Statement, r.orders, cards, r.given.AnyOrder}
	match, err := c.match()
	if r.given.HandOf != nil {
		match, err = c.matchHand(*r.given.HandOf)
	}
	switch {
	case r.Record.Kind != audit.KindShuffle && (err != nil || r.Record.Kind != audit.KindShoe):
		return newStep(StepOrder, Unchecked, "%s; the order given is not the whole order of the cards that were sealed first, and cards without salt and path prove nothing", replayed), nil
	case err != nil:
		return newStep(StepOrder, Wrong, "%s", err), nil
	case match.Parts == nil:
		return newStep(StepOrder, OK, "%s; it is the order given", replayed), match
	}
	return newStep(StepOrder, OK, "%s; given are %s", replayed, match), match
}

// checkItems adds the step items and returns the cards; nil if they are unknown.
func (r *Result) checkItems() *cards {
	items, cards := r.compareItems()
	r.Steps = append(r.Steps, items)
	if r.Record.Kind == audit.KindShoe {
		r.cards = cards
	}
	return cards
}

// checkRoot adds the step root: the root in the record commits to the cards in their order.
func (r *Result) checkRoot() {
	switch {
	case r.Record.Root == nil:
	case r.Record.Kind == audit.KindReshuffle:
		r.add(StepRoot, Skipped, "only the proof of the whole shoe says which cards were there")
	case r.cards == nil:
		r.add(StepRoot, Skipped, "the cards are not known, for the items were not given")
	default:
		r.report(StepRoot, r.sealing().checkRoot(), "salts from the seed and the cards in this order have the root in the record")
	}
}
