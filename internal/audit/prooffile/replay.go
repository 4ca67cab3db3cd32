package prooffile

import (
	"fmt"
	"math"

	"riffle/internal/audit"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// A dealing is what one proof file shows about a record that deals cards.
type dealing struct {
	orders [][]uint64 // the replayed positions of a record of a shoe; nil if they are unknown
	cards  *cards     // of a shoe's first record; nil if they are unknown
	match  *Match     // what the order given is; nil if it was not compared or does not match
	cost   uint64     // of a replay that takes too long; 0 for others
}

// replay adds the steps seed, commitment, keys, order, items and root: the order follows from the
// seed and the record, and is the one that was answered. heldBack is the state of the step order if
// there is no seed and nothing to compare.
//
// A replay takes at most [audit.MaxCost] steps.
func (c *checker) replay(given *Given, heldBack State) (d dealing) {
	if !c.Record.Deals() {
		c.dealsNone(given)
		return d
	}
	answered := given.Order.seedOf(c.Record)
	if c.File.Seed == nil {
		c.File.Seed = answered
	} else {
		answered = nil
	}
	if c.File.Seed == nil {
		c.heldBack(given, heldBack)
		items, _ := c.identify(given, &d)
		*c.Steps = append(*c.Steps, items)
		return d
	}

	v, _ := audit.Verify(c.File.Record, c.File.Seed, c.wantedPositions(given.Order), nil) // nothing interrupts it
	for _, s := range v.Steps[1:] {                                                       // the first is the record, which has a step already
		state := OK
		switch {
		case s.Name == StepSeed:
			s.Detail = c.seedLength(answered != nil)
		case !s.OK && v.TooCostly > 0:
			state, d.cost = Unchecked, uint64(v.TooCostly)
		case !s.OK:
			state = Wrong
		}
		c.add(s.Name, state, "%s", s.Detail)
	}
	if !v.OK && d.cost == 0 {
		return d
	}
	items, cards := c.identify(given, &d)
	*c.Steps = append(*c.Steps, items)
	if d.cost > 0 {
		return d
	}
	order := c.Find(StepOrder)
	order.Detail += "; the SHA-256 of the positions is " + v.OrderDigest
	if given.Order != nil {
		*order, d.match = c.compare(given, v.Orders, cards, order.Detail)
	}
	if c.Record.Kind != audit.KindShuffle {
		d.orders = v.Orders
	}
	c.root(&d)
	return d
}

// dealsNone adds the steps of a record without an order.
func (c *checker) dealsNone(given *Given) {
	why := "a record of kind " + string(c.Record.Kind) + " has none"
	if given.Order != nil {
		c.add(StepOrder, Unchecked, "%s", why)
	}
	if given.Items != nil {
		c.add(StepItems, Unchecked, "%s", why)
	}
}

// wantedPositions returns the number of replayed positions up to which the orders are needed.
func (c *checker) wantedPositions(order *Order) (n uint64) {
	if order != nil {
		n = order.count
		if c.Record.Statement.Hands != nil {
			n = math.MaxUint64 // order may be any hand
		}
	}
	if c.Record.Kind != audit.KindShuffle {
		n = max(n, shoe.MaxCards)
	}
	return n
}

// heldBack adds the steps up to order of a record whose seed is secret.
func (c *checker) heldBack(given *Given, order State) {
	for _, name := range []string{StepSeed, "commitment", "keys"} {
		c.add(name, Skipped, "the seed is held back")
	}
	if given.Order != nil {
		if err := given.Order.names(c.Entry); err != nil {
			c.add(StepOrder, Wrong, "%s", err)
			return
		}
		order = Unchecked // nobody can compare it
	}
	c.add(StepOrder, order, "the seed is held back, and the order follows from it")
}

// seedLength says how long the seed is and should be.
func (c *checker) seedLength(isAnswered bool) string {
	s := &c.Record.Statement
	got, want := len(c.File.Seed)/rng.BlockSize, rng.Blocks(s.Size, s.Draw)
	text := fmt.Sprintf("%s of 256 bits; riffle/1 asks for %d", audit.Count(got, "block"), want)
	if got < want {
		text = fmt.Sprintf("warning: %s of 256 bits, and riffle/1 asks for %d", audit.Count(got, "block"), want)
	}
	if !rng.Exhaustive(s.Draw) {
		text += "; computationally, not exhaustively, complete"
	}
	if isAnswered {
		text += "; it is that of the answer, for the file has none"
	}
	return text
}

// compare returns the step order: whether the order given is one that was dealt, and which.
func (c *checker) compare(given *Given, orders [][]uint64, cards *cards, replayed string) (Step, *Match) {
	order := given.Order
	if err := order.names(c.Entry); err != nil {
		return newStep(StepOrder, Wrong, "%s", err), nil
	}
	if cards == nil {
		return newStep(StepOrder, Unchecked, "replayed, but it takes the items of the record to compare it with the order given"), nil
	}
	match, err := (&comparison{order, &c.Record.Statement, orders, cards}).match(given.HandOf)
	switch {
	case c.Record.Kind != audit.KindShuffle && (err != nil || c.Record.Kind != audit.KindShoe):
		return newStep(StepOrder, Unchecked, "%s; the order given is not the whole order of the cards that were sealed first, and cards without salt and path prove nothing", replayed), nil
	case err != nil:
		return newStep(StepOrder, Wrong, "%s", err), nil
	case match.Parts == nil:
		return newStep(StepOrder, OK, "%s; it is the order given", replayed), match
	}
	return newStep(StepOrder, OK, "%s; given are %s", replayed, match), match
}

// identify returns the step items and the cards; nil if they are unknown. For a shoe it sets those
// of the dealing.
func (c *checker) identify(given *Given, d *dealing) (Step, *cards) {
	items, cards := c.items(given)
	if c.Record.Kind == audit.KindShoe {
		d.cards = cards
	}
	return items, cards
}

// root adds the step root: the root in the record commits to the cards in their order.
func (c *checker) root(d *dealing) {
	switch {
	case c.Record.Root == nil:
	case c.Record.Kind == audit.KindReshuffle:
		c.add(StepRoot, Skipped, "which cards lay there, only the proof of the whole shoe says")
	case d.cards == nil:
		c.add(StepRoot, Skipped, "the cards are not known, for the items were not given")
	default:
		err := c.sealed(d.orders[0], d.cards)
		c.check(StepRoot, err, "salts from the seed and the cards in this order have the root in the record")
	}
}

// sealed checks that the root in the record commits to the cards in this order.
func (e *Entry) sealed(order []uint64, of *cards) error {
	texts := make([][]byte, len(order))
	for i, number := range order {
		if number >= of.size {
			return fmt.Errorf("there is no card %d: the record is of %d", number, of.size)
		}
		texts[i] = of.text(number)
	}
	if root := audit.Seal(e.File.Seed, e.Record.Commitment, texts).Root(); root != *e.Record.Root {
		return fmt.Errorf("the cards in this order have the root %x, and the record has %x", root[:], e.Record.Root[:])
	}
	return nil
}
