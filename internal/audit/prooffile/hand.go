package prooffile

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"riffle/internal/audit"
)

// A HandResult is what [VerifyHand] found.
type HandResult struct {
	Steps
	Entry
	Proven int // how many cards of the hand the record proves; 0 if the step hand does not hold
	Others int // how many were sealed by other records, and are not proven
}

// VerifyHand verifies cards that were drawn from a shoe, [Given].Hand, by the proof file of the
// record that sealed them. It adds the steps of docs/shoes.md, "One hand", which take no seed. If
// the file has a seed, it replays the order as well.
func VerifyHand(text []byte, given *Given) *HandResult {
	r := &HandResult{}
	c := &checker{Steps: &r.Steps, Entry: &r.Entry}
	if !c.proof(text, given.Key) {
		return r
	}
	known := c.record()
	if known {
		heldBack := Unchecked
		if r.Record.Root != nil {
			heldBack = Skipped // the hand is what is to be proven
		}
		r.hand(given.Hand, c.replay(given, heldBack))
	}
	c.inclusion()
	c.signature()
	if known {
		c.committed(given.Commitment)
	}
	return r
}

// hand checks that the cards were sealed by the record at their positions.
func (r *HandResult) hand(h *Hand, d dealing) {
	s := r.sealing(d)
	if s == nil {
		r.add(StepHand, Unchecked, "a record of kind %s has sealed no cards: give the proof of the record that sealed_by names", r.Record.Kind)
		return
	}
	proven, missing, wrong := h.prove(s)
	switch {
	case wrong != nil:
		r.add(StepHand, Wrong, "%s", wrong)
	case missing != nil:
		r.add(StepHand, Unchecked, "%s", missing)
	case len(proven) == 0:
		r.add(StepHand, Unchecked, "no card of the hand was sealed by this record: give the proof of the record that sealed_by names")
	default:
		r.Proven, r.Others = len(proven), len(h.cards)-len(proven)
		r.add(StepHand, OK, "%s", h.describe(proven))
	}
}

// prove compares every card with the sealing that it names, and returns those that are proven.
// missing says why a card of one of the sealings cannot be checked; wrong says which card was not
// sealed there.
func (h *Hand) prove(sealings ...*sealing) (proven []string, missing, wrong error) {
	by := map[uuid.UUID]*sealing{}
	for _, s := range sealings {
		by[s.record.ID] = s
	}
	type place struct {
		sealedBy uuid.UUID
		position uint64
	}
	seen := map[place]bool{}
	for i := range h.cards {
		c := &h.cards[i]
		at := place{c.sealedBy, c.position}
		if seen[at] {
			return nil, nil, fmt.Errorf("two cards of the hand are to have been at position %d of %s", c.position, c.sealedBy)
		}
		seen[at] = true
		s := by[c.sealedBy]
		if s == nil {
			continue
		}
		name := short([]byte(c.text)) + " at position " + strconv.FormatUint(c.position, 10)
		switch err := s.check(c); {
		case errors.Is(err, errNoOpening) || errors.Is(err, errNoCards):
			missing = fmt.Errorf("%s: %w", name, err)
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		default:
			proven = append(proven, name)
		}
	}
	return proven, missing, nil
}

// describe lists the proven cards.
func (h *Hand) describe(proven []string) string {
	const most = 13
	list := strings.Join(proven[:min(len(proven), most)], ", ")
	if len(proven) > most {
		list += ", ..."
	}
	return fmt.Sprintf("%d of the %d card(s) of the hand were sealed there: %s", len(proven), len(h.cards), list)
}

// A sealing is an order of cards that a record commits to, as far as it is known.
type sealing struct {
	record *audit.Record
	input  string   // of the shoe; empty if unknown
	order  []uint64 // the number of the card at each position; nil if unknown
	texts  texts    // nil if unknown
}

// sealing returns the sealing of the record; nil if its kind has none.
func (e *Entry) sealing(d dealing) *sealing {
	s := &sealing{record: e.Record, texts: d.texts}
	switch {
	case e.Record.Kind == audit.KindReshuffle: // the first record of the shoe says of which cards
	case e.Record.Kind != audit.KindShoe:
		return nil
	default:
		s.input = e.Record.Statement.Input
		if e.Record.Root == nil { // it was not shuffled
			for i := range e.Record.Statement.Size {
				s.order = append(s.order, i)
			}
		} else if d.orders != nil {
			s.order = d.orders[0]
		}
	}
	return s
}

// Reasons why a card cannot be checked.
var (
	// errNoOpening is for a card without salt and path.
	errNoOpening = errors.New("it has no salt and path: ask for it with proof=true")
	// errNoCards is for a shoe that was not shuffled and has no root, where the items are not known
	// either.
	errNoCards = errors.New("the shoe was not shuffled, and what it is of was not given")
)

// check returns an error unless the card was sealed at its position.
func (s *sealing) check(c *handCard) error {
	size := s.record.Statement.Size
	switch {
	case s.input != "" && strings.HasPrefix(s.input, "deck ") != c.isCode:
		return fmt.Errorf("the record is of %s, and it is none of those", s.record.Statement.Input)
	case c.position >= size:
		return fmt.Errorf("only %d cards were sealed", size)
	case s.record.Root != nil && c.opening == nil:
		return errNoOpening
	case s.record.Root == nil && s.texts == nil:
		return errNoCards
	}
	if s.record.Root != nil {
		if err := c.opening.Check(c.position, size, []byte(c.text), *s.record.Root); err != nil {
			return err
		}
	} else if !bytes.Equal(s.texts(c.position), []byte(c.text)) {
		return errors.New("the input of the shoe has another card there")
	}
	if s.order != nil && c.number != nil && s.order[c.position] != *c.number {
		return fmt.Errorf("it says that it is card %d, and card %d lay there", *c.number, s.order[c.position])
	}
	return nil
}
