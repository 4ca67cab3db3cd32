package prooffile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/audit"
)

// VerifyHand verifies cards that were drawn from a shoe, [Given].Hand, by the proof files of the
// records that sealed them: one for each order that was made of the shoe. It adds the steps of
// docs/shoes.md, "One hand", which take no seed. If a file has a seed, it replays the order as well.
func VerifyHand(texts [][]byte, given *Given) *Result {
	r := checkFiles(texts, given, func(record *audit.Record) State {
		return missing(record.Root == nil && record.Kind != audit.KindShoe) // otherwise only the hand must be proven
	})
	r.inEvery(StepProof, "%d files are well-formed; %s", len(texts), r.trust())
	if !r.Has(StepProof, OK) {
		return r
	}
	r.inEvery(StepRecord, "%d records that sealed cards of the hand", len(texts))
	if len(texts) > 1 {
		r.replayedAll()
	} else {
		for _, name := range []string{StepSeed, "commitment", "keys", StepOrder} {
			r.ofFirst(name)
		}
	}
	r.ofFirst(StepItems)
	r.ofFirst(StepRoot)
	if r.Has(StepRecord, OK) {
		r.handOfRecords()
	}
	r.published()
	return r
}

// ofFirst adds a step of the first file, if it has one, or of another in which it fails.
func (r *Result) ofFirst(name string) {
	from := max(0, slices.IndexFunc(r.files, func(f *Result) bool { return f.Has(name, Wrong) }))
	if step := r.files[from].Find(name); step != nil {
		r.Steps = append(r.Steps, *step)
	}
}

// handOfRecords adds the step hand for records that need not be of one shoe.
func (r *Result) handOfRecords() {
	var sealings []*sealing
	files := map[uuid.UUID]*Result{} // the first of each record
	for _, f := range r.files {
		made := f.sealing()
		if made == nil {
			continue
		}
		if same := files[f.Record.ID]; same == nil {
			files[f.Record.ID] = f
		} else if !f.isOf(same) {
			r.add(StepHand, Wrong, "two different records have the id %s", f.Record.ID)
			return
		}
		// The shoe's first record says which cards they are of.
		if first := files[f.Record.AuditID]; f.Record.Kind == audit.KindReshuffle && first != nil && first.Record.Kind == audit.KindShoe {
			made.input, made.cards = first.Record.Statement.Input, first.cards
		}
		sealings = append(sealings, made)
	}
	if sealings == nil {
		r.Others = len(r.given.Hand.cards)
		r.add(StepHand, Unchecked, "a record of kind %s has sealed no cards: give the proof of the record that sealed_by names", r.Record.Kind)
		return
	}
	r.hand(sealings, func(proven []string) string {
		if len(proven) == 0 {
			return "no card of the hand was sealed by this record: give the proof of the record that sealed_by names"
		}
		return fmt.Sprintf("%s; %d were sealed by other records", r.given.Hand.describe(proven), r.Others)
	})
}

// hand adds the step hand: whether the cards were sealed at their positions. others says what is
// missing if some were sealed elsewhere.
func (r *Result) hand(sealings []*sealing, others func(proven []string) string) {
	h := r.given.Hand
	proven, missing, wrong := h.prove(sealings...)
	r.Proven, r.Others, r.Missing = len(proven), len(h.cards)-len(proven), h.sealers(sealings...)
	switch {
	case wrong != nil:
		r.add(StepHand, Wrong, "%s", wrong)
	case missing != nil:
		r.add(StepHand, Unchecked, "%s", missing)
	case r.Others > 0:
		r.add(StepHand, Unchecked, "%s", others(proven))
	default:
		r.add(StepHand, OK, "%s", h.describe(proven))
	}
}

// sealers returns the records that sealed the cards, except the ones in sealings, each once, in the
// order of the cards. A nil hand has none.
func (h *Hand) sealers(but ...*sealing) (list []uuid.UUID) {
	if h == nil {
		return nil
	}
	for _, c := range h.cards {
		given := slices.ContainsFunc(but, func(s *sealing) bool { return s.record.ID == c.sealedBy })
		if !given && !slices.Contains(list, c.sealedBy) {
			list = append(list, c.sealedBy)
		}
	}
	return list
}

// prove compares every card with the sealing that it names, and returns those that are proven.
// missing says why a card of one of the sealings cannot be checked; wrong says which card was not
// sealed there.
func (h *Hand) prove(sealings ...*sealing) (proven []string, missing, wrong error) {
	by := map[uuid.UUID]*sealing{}
	for _, s := range slices.Backward(sealings) { // of several files of a record, one with a seed comes first
		by[s.record.ID] = s
	}
	seen := map[string]bool{}
	for i := range h.cards {
		c := &h.cards[i]
		at := fmt.Sprintf("position %d of %s", c.position, c.sealedBy)
		if seen[at] {
			return nil, nil, fmt.Errorf("two cards of the hand claim %s", at)
		}
		seen[at] = true
		s := by[c.sealedBy]
		if s == nil {
			continue
		}
		name := short([]byte(c.texts[0])) + " at position " + strconv.FormatUint(c.position, 10)
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
	return fmt.Sprintf("%d of the %s of the hand, sealed there: %s", len(proven), audit.Count(len(h.cards), "card"), list)
}

// A sealing is an order of cards that a record commits to, or its known part.
type sealing struct {
	record *audit.Record
	input  string   // of the shoe; empty if unknown
	order  []uint64 // the number of the card at each position; nil if unknown
	cards  *cards   // of the shoe; nil if unknown
}

// sealing returns the sealing of the record; nil if its kind has none.
func (r *Result) sealing() *sealing {
	s := &sealing{record: r.Record, cards: r.cards}
	switch r.Record.Kind {
	case audit.KindShoe:
		s.input = r.Record.Statement.Input
	case audit.KindReshuffle: // the shoe's first record says which cards
		return s
	default:
		return nil
	}
	if r.Record.Root == nil { // it was not shuffled
		for i := range r.Record.Statement.Size {
			s.order = append(s.order, i)
		}
	} else if r.orders != nil {
		s.order = r.orders[0]
	}
	return s
}

// Reasons why a card cannot be checked.
var (
	// errNoOpening is for a card without salt and path.
	errNoOpening = errors.New("it has no salt and path: ask for it with proof=true")
	// errNoCards is for a shoe that was not shuffled and has no root, where the items are not known
	// either.
	errNoCards = errors.New("the shoe was not shuffled, and its cards were not given")
)

// check checks that the card was sealed at its position.
func (s *sealing) check(c *handCard) error {
	size := s.record.Statement.Size
	err := cmp.Or(
		audit.Rule(s.input == "" || strings.HasPrefix(s.input, "deck ") == c.isCode, "the record is of %s, and it is none of those", s.record.Statement.Input),
		audit.Rule(c.position < size, "only %d cards were sealed", size),
	)
	switch {
	case err != nil:
		return err
	case s.record.Root != nil && c.opening == nil:
		return errNoOpening
	case s.record.Root == nil && s.cards == nil:
		return errNoCards
	case s.record.Root != nil: // salt and path lead to it from one of the card's layouts
		for _, text := range c.texts {
			if err = c.opening.Check(c.position, size, []byte(text), *s.record.Root); err == nil {
				break
			}
		}
	default:
		err = audit.Rule(s.cards.lies(c.position, c), "the input of the shoe has another card there")
	}
	return cmp.Or(err, s.numbered(c))
}

// numbered checks the card's number and instance, which are not sealed, where they are known.
func (s *sealing) numbered(c *handCard) error {
	number := c.number
	if s.order != nil {
		lay := s.order[c.position]
		if number != nil && lay != *number {
			return fmt.Errorf("it says that it is card %d, and card %d lay there", *number, lay)
		}
		number = &lay
	}
	if number == nil || s.cards == nil {
		return nil
	}
	switch {
	case *number >= s.cards.size || !s.cards.lies(*number, c):
		return fmt.Errorf("it says that it is card %d of the shoe, which is a different card", *number)
	case c.instance != nil && s.cards.isDeck() && uint64(s.cards.instance(*number)) != *c.instance:
		return fmt.Errorf("it says that it is instance %d, and card %d is instance %d", *c.instance, *number, s.cards.instance(*number))
	}
	return nil
}

// lies reports whether the card of that number is the hand's.
func (c *cards) lies(number uint64, card *handCard) bool {
	if c.isDeck() {
		return string(c.text(number)) == card.texts[0]
	}
	return c.key(number) == string(canonical(jsontext.Value(card.texts[0])))
}
