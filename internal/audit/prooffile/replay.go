package prooffile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// A dealing is what one proof file shows about a record that deals cards.
type dealing struct {
	orders [][]uint64 // the replayed positions of a record of a shoe; nil if they are unknown
	texts  texts      // the cards of a shoe's first record; nil if they are unknown
}

// texts returns what a seal commits to for a card. Its number is its position in the unshuffled
// input.
type texts func(number uint64) []byte

// replay adds the steps seed, commitment, keys, order, items and root: the order follows from the
// seed and the record, and is the one that was answered. heldBack is the state of the step order if
// the file has no seed.
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
	if c.File.Seed == nil {
		for _, name := range []string{"seed", "commitment", "keys"} {
			c.add(name, Skipped, "the seed is held back")
		}
		c.add(StepOrder, heldBack, "the seed is held back, and the order follows from it")
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
		if !s.OK {
			state = Wrong
		}
		c.add(s.Name, state, "%s", s.Detail)
	}
	if !v.OK {
		return d
	}
	items, match := c.identify(given, &d)
	order := c.Find(StepOrder)
	order.Detail += "; the SHA-256 of the positions is " + v.OrderDigest
	switch {
	case given.Order == nil:
	case match == nil:
		*order = newStep(StepOrder, Unchecked, "replayed, but it takes the items of the record to compare it with the order given")
	default:
		if err := given.Order.compare(c.Record, v.Orders, match); err != nil {
			*order = newStep(StepOrder, Wrong, "%s", err)
		} else {
			order.Detail += "; it is the order given"
		}
	}
	*c.Steps = append(*c.Steps, items)
	if c.Record.Kind != audit.KindShuffle {
		d.orders = v.Orders
	}
	c.root(&d)
	return d
}

// identify returns the step items and a match for the items; nil if they are unknown. For a shoe it
// sets the texts.
func (c *checker) identify(given *Given, d *dealing) (Step, match) {
	items, match := c.items(given)
	if match != nil && c.Record.Kind == audit.KindShoe {
		d.texts = c.texts(given)
	}
	return items, match
}

// texts returns the cards of the record's input, which is known.
func (c *checker) texts(given *Given) texts {
	if given.Items == nil {
		return shoe.NewFaces(c.deck(given.Decks), nil).Text
	}
	values := given.Items.values
	ofDeck := strings.HasPrefix(c.Record.Statement.Input, "deck ")
	return func(number uint64) []byte {
		if code, err := jsontext.AppendUnquote(nil, values[number]); ofDeck && err == nil {
			return code
		}
		return slices.Clone(values[number])
	}
}

// root checks that the root in the record is that of the cards in their order.
func (c *checker) root(d *dealing) {
	switch {
	case c.Record.Root == nil:
	case c.Record.Kind == audit.KindReshuffle:
		c.add(StepRoot, Skipped, "which cards lay there, only the proof of the whole shoe says")
	case d.texts == nil:
		c.add(StepRoot, Skipped, "the cards are not known, for the items were not given")
	default:
		err := c.sealed(d.orders[0], d.texts)
		c.check(StepRoot, err, "salts from the seed and the cards in this order have the root in the record")
	}
}

// sealed returns an error unless the cards in the order have the root in the record.
func (e *Entry) sealed(order []uint64, texts texts) error {
	cards := make([][]byte, len(order))
	for i, number := range order {
		cards[i] = texts(number)
	}
	if root := audit.Seal(e.File.Seed, e.Record.Commitment, cards).Root(); root != *e.Record.Root {
		return fmt.Errorf("the cards in this order have the root %x, and the record has %x", root[:], e.Record.Root[:])
	}
	return nil
}
