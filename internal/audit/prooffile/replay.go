package prooffile

import (
	"fmt"

	"riffle/internal/audit"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// A dealing is what one proof file shows about a record that deals cards.
type dealing struct {
	orders [][]uint64 // the replayed positions of a record of a shoe; nil if they are unknown
	cards  *cards     // of a shoe's first record; nil if they are unknown
}

// replay adds the steps seed, commitment, keys, order, items and root: the order follows from the
// seed and the record, and is the one that was answered. heldBack is the state of the step order if
// there is no seed and nothing to compare.
//
// A replay takes as long as the record says that the shuffle took. A forged one may never end.
func (c *checker) replay(given *Given, heldBack State) (d dealing) {
	if !c.Record.Deals() {
		why := "a record of kind " + string(c.Record.Kind) + " has none"
		if given.Order != nil {
			c.add(StepOrder, Unchecked, "%s", why)
		}
		if given.Items != nil {
			c.add(StepItems, Unchecked, "%s", why)
		}
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

	keep := uint64(0)
	if given.Order != nil {
		keep = given.Order.count
	}
	if c.Record.Kind != audit.KindShuffle {
		keep = max(keep, shoe.MaxCards)
	}
	v, _ := audit.Verify(c.File.Record, c.File.Seed, keep, nil) // nothing interrupts it
	for _, s := range v.Steps[1:] {                             // the first is the record, which has a step already
		state := OK
		switch {
		case s.Name == StepSeed:
			s.Detail = c.seedLength(answered != nil)
		case !s.OK && s.Name == StepOrder && v.OrderDigest == "": // it is too long for this program
			state = Unchecked
		case !s.OK:
			state = Wrong
		}
		c.add(s.Name, state, "%s", s.Detail)
	}
	if !v.OK {
		return d
	}
	items, cards := c.identify(given, &d)
	order := c.Find(StepOrder)
	order.Detail += "; the SHA-256 of the positions is " + v.OrderDigest
	if given.Order != nil {
		*order = c.compare(given.Order, v.Orders, cards, order.Detail)
	}
	*c.Steps = append(*c.Steps, items)
	if c.Record.Kind != audit.KindShuffle {
		d.orders = v.Orders
	}
	c.root(&d)
	return d
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
	text := fmt.Sprintf("%d block(s) of 256 bits; riffle/1 asks for %d", got, want)
	if got < want {
		text = fmt.Sprintf("warning: %d block(s) of 256 bits, and riffle/1 asks for %d", got, want)
	}
	if !rng.Exhaustive(s.Draw) {
		text += "; computationally, not exhaustively, complete"
	}
	if isAnswered {
		text += "; it is that of the answer, for the file has none"
	}
	return text
}

// compare returns the step order: whether the order given is the one that was replayed.
func (c *checker) compare(order *Order, orders [][]uint64, cards *cards, replayed string) Step {
	if err := order.names(c.Entry); err != nil {
		return newStep(StepOrder, Wrong, "%s", err)
	}
	if cards == nil {
		return newStep(StepOrder, Unchecked, "replayed, but it takes the items of the record to compare it with the order given")
	}
	if err := order.compare(&c.Record.Statement, orders, cards); err != nil {
		return newStep(StepOrder, Wrong, "%s", err)
	}
	return newStep(StepOrder, OK, "%s; it is the order given", replayed)
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

// root checks that the root in the record is that of the cards in their order.
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

// sealed returns an error unless the cards in the order have the root in the record.
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
