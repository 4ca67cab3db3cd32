package prooffile

import (
	"math"
	"strconv"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/rng"
)

// checkReplay adds the steps seed, commitment, keys, order, items and root: the order follows from
// the seed and the record, and is the one that was answered.
//
// A replay takes at most [audit.MaxCost] steps.
func (r *Result) checkReplay() {
	if !r.Record.Deals() {
		of := message.Values{"kind": string(r.Record.Kind)}
		if r.given.Order != nil {
			r.add(StepOrder, Unchecked, "none", of)
		}
		if r.given.Items != nil {
			r.add(StepItems, Unchecked, "none", of)
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

	v := audit.Verify(r.File.Record, r.seed, r.wantedPositions())
	r.cost = v.TooCostly
	shown := whatIsShown(v, r.seed)
	if r.File.Seed == nil {
		shown[StepSeed].Values["source"] = message.New("seed.answer", nil)
	}
	for _, s := range v.Steps[1:] { // the first is the record, which has a step already
		switch {
		case s.Err == nil:
			r.say(s.Name, OK, shown[s.Name])
		case r.cost > 0:
			r.add(s.Name, Unchecked, "order.cost", message.Values{"steps": strconv.FormatUint(uint64(r.cost), 10)})
		default:
			r.reject(s.Name, s.Err)
		}
	}
	if !v.OK && r.cost == 0 {
		return
	}
	cards := r.checkItems()
	if r.cost > 0 {
		return
	}
	r.orders = v.Orders
	if order := r.Find(StepOrder); r.given.Order != nil {
		*order, r.match = r.compareOrder(cards, order.Message)
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
	for _, name := range []string{StepSeed, StepCommitment, StepKeys} {
		r.add(name, Skipped, "held-back", nil)
	}
	if r.given.Order != nil && r.Record.Kind == audit.KindShuffle {
		if err := r.given.Order.names(r); err != nil {
			r.reject(StepOrder, err)
			return
		}
	}
	isProven := r.given.Hand != nil && r.Record.Seals() && r.given.Order == nil // the hand is, which needs no order
	r.add(StepOrder, stateOfMissing(!isProven), "held-back.order", nil)
}

// whatIsShown returns what the steps of a replay show that hold, by their names. A short seed is no
// mistake: its length says how good the generator was, and not whether this order came from it.
func whatIsShown(v *audit.Verification, seed rng.Seed) map[string]message.Message {
	s, of, length := &v.Record.Statement, valuesOf(v.Record), "seed"
	of["blocks"], of["wanted"] = len(seed)/rng.BlockSize, rng.Blocks(s.Size, s.Draw)
	of["bytes"] = len(v.Record.ClientSeed)
	if v.OrderDigest != "" {
		of["digest"] = v.OrderDigest
	}
	if len(seed)/rng.BlockSize < rng.Blocks(s.Size, s.Draw) {
		length = "seed.short"
	}
	if !rng.Exhaustive(s.Draw) {
		of["complete"] = message.New("seed.complete", nil)
	}
	if of["low"] == nil {
		delete(of, "cut") // it was not drawn
	}
	shown := map[string]message.Message{StepSeed: message.New(length, of)}
	for _, step := range []string{StepCommitment, StepKeys, StepOrder} {
		shown[step] = message.New(step, of)
	}
	return shown
}

// compareOrder returns the step order: whether the order given is one that was dealt, and which.
func (r *Result) compareOrder(cards *cards, replayed message.Message) (Step, *Match) {
	order, of := r.given.Order, message.Values{"order": replayed}
	s, orders := r.Record.Statement, r.orders
	switch shoe := r.Record.Kind == audit.KindShoe; {
	case !shoe && r.Record.Kind != audit.KindShuffle, shoe && order.answer != nil:
		return newStep(StepOrder, Unchecked, "order.other", of), nil
	case order.names(r) != nil:
		return Step{Name: StepOrder, State: Wrong, Message: message.Of(order.names(r))}, nil
	case cards == nil:
		return newStep(StepOrder, Unchecked, "order.items", nil), nil
	case shoe && s.Draw == 0: // it was not shuffled
		s.Draw, orders = s.Size, [][]uint64{r.sealing().order}
	}
	match, err := (&comparison{order, &s, orders, cards}).match(r.given.HandOf)
	switch {
	case err != nil:
		return Step{Name: StepOrder, State: Wrong, Message: message.Of(err)}, nil
	case match.Part == whole:
		return newStep(StepOrder, OK, "order.given", of), match
	}
	of["match"] = match.message()
	return newStep(StepOrder, OK, "order.hands", of), match
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
		r.add(StepRoot, Skipped, "root.shoe", nil)
	case r.cards == nil:
		r.add(StepRoot, Skipped, "root.items", nil)
	default:
		r.report(StepRoot, r.sealing().checkRoot(), "root", nil)
	}
}
