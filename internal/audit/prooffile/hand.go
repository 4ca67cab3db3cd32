package prooffile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// A Hand is cards that were drawn from a shoe, each with what is to prove that it was sealed where it lay.
type Hand struct{ cards []handCard }

// A handCard is a card of a hand, as it was answered.
type handCard struct {
	sealedBy uuid.UUID
	position uint64
	number   *uint64 // of the card; nil if it is not said
	text     string  // what is sealed: the code, or the item or number as JSON without white space
	isCode   bool
	opening  *audit.Opening // nil if it is not there
}

// wireCard is the JSON of a card. Members that prove nothing are passed over.
type wireCard struct {
	Card     jsontext.Value `json:"card"`
	Code     *string        `json:"code"`
	Item     jsontext.Value `json:"item"`
	Position jsontext.Value `json:"position"`
	SealedBy string         `json:"sealed_by"`
	Salt     *string        `json:"salt"`
	Path     *[]string      `json:"path"`
}

// ParseHand reads cards as a shoe answers them: a whole answer, which has cards, an array of cards, or one card alone.
func ParseHand(text []byte) (*Hand, error) {
	value, err := compact(text)
	if err != nil {
		return nil, err
	}
	list := []jsontext.Value{value}
	switch value.Kind() {
	case '[':
		list, err = elements(value)
	case '{':
		var answer struct {
			Cards jsontext.Value `json:"cards"`
		}
		if err = json.Unmarshal(value, &answer); err == nil && answer.Cards != nil {
			list, err = elements(answer.Cards)
		}
	default:
		err = errors.New("neither an answer of a shoe nor cards")
	}
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > shoe.MaxCards {
		return nil, fmt.Errorf("a hand of %d cards, and there are 1 to %d", len(list), shoe.MaxCards)
	}
	h := &Hand{}
	for i, value := range list {
		c, err := parseCard(value)
		if err != nil {
			return nil, fmt.Errorf("card %d, from 0: %w", i, err)
		}
		h.cards = append(h.cards, *c)
	}
	return h, nil
}

func parseCard(value jsontext.Value) (*handCard, error) {
	var w wireCard
	if err := json.Unmarshal(value, &w); err != nil {
		return nil, err
	}
	c := &handCard{}
	var err error
	if c.sealedBy, err = uuid.Parse(w.SealedBy); err != nil || c.sealedBy.String() != w.SealedBy {
		return nil, errors.New("its sealed_by is not the id of a record")
	}
	if c.position, err = strconv.ParseUint(string(w.Position), 10, 53); err != nil {
		return nil, errors.New("its position is not a number from 0 on")
	}
	if w.Card != nil {
		number, err := strconv.ParseUint(string(w.Card), 10, 53)
		if err != nil {
			return nil, errors.New("its card is not a number from 0 on")
		}
		c.number = &number
	}
	switch {
	case (w.Code == nil) == (w.Item == nil):
		return nil, errors.New("it has to have either a code or an item")
	case w.Item != nil:
		c.text = string(w.Item)
	case !isCode(*w.Code):
		return nil, errors.New("its code is none: codes are ASCII letters, digits and hyphens")
	default:
		c.text, c.isCode = *w.Code, true
	}
	c.opening, err = parseOpening(&w)
	return c, err
}

func isCode(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// maxPath is more hashes than there are on the way through any tree over a shoe.
const maxPath = 64

// parseOpening reads what is to prove a card; nil if nothing is there.
func parseOpening(w *wireCard) (*audit.Opening, error) {
	if w.Salt == nil && w.Path == nil {
		return nil, nil
	}
	if w.Salt == nil || w.Path == nil || len(*w.Path) > maxPath {
		return nil, errors.New("it takes both salt and path to prove it")
	}
	o := &audit.Opening{}
	if !decodeHash(o.Salt[:], *w.Salt) {
		return nil, errors.New("its salt is not 64 hex digits in lower case")
	}
	for _, text := range *w.Path {
		var hash tlog.Hash
		if !decodeHash(hash[:], text) {
			return nil, errors.New("a hash of its path is not 64 hex digits in lower case")
		}
		o.Path = append(o.Path, hash)
	}
	return o, nil
}

// decodeHash fills in what lower-case hex says, if it is as long.
func decodeHash(to []byte, text string) bool {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(to) || hex.EncodeToString(raw) != text {
		return false
	}
	copy(to, raw)
	return true
}

// A sealing is an order of cards that a record has sealed, as far as it is known.
type sealing struct {
	record  *audit.Record
	ofCodes *bool    // whether codes of a deck were sealed, or else items and numbers; nil if the record does not say
	order   []uint64 // the number of the card at each position; nil if it is not known
	text    text     // nil if the cards are not known
}

// sealing returns what the record has sealed; nil if it is of a kind that seals nothing.
func (r *Result) sealing() *sealing {
	s := &sealing{record: r.Record, text: r.text}
	switch r.Record.Kind {
	case audit.KindReshuffle: // of which cards, only the first record of the shoe says
		return s
	case audit.KindShoe:
	default:
		return nil
	}
	ofCodes := strings.HasPrefix(r.Record.Statement.Input, "deck ")
	s.ofCodes = &ofCodes
	switch {
	case r.Record.Root == nil: // they lie as the input has them
		for i := range r.Record.Statement.Size {
			s.order = append(s.order, i)
		}
	case r.orders != nil:
		s.order = r.orders[0]
	}
	return s
}

// errNoOpening is for a card without salt and path.
var errNoOpening = errors.New("it has no salt and path: ask for it with proof=true")

// errNoCards is for a card of an order that was never sealed, of which it is not known what it holds.
var errNoCards = errors.New("the shoe was not shuffled, and what it is of was not given")

// check returns an error unless the card was sealed at its position.
func (c *handCard) check(s *sealing) error {
	size := s.record.Statement.Size
	switch {
	case s.ofCodes != nil && *s.ofCodes != c.isCode:
		return fmt.Errorf("the record is of %s, and it is none of those", s.record.Statement.Input)
	case c.position >= size:
		return fmt.Errorf("only %d cards were sealed", size)
	case s.record.Root != nil && c.opening == nil:
		return errNoOpening
	case s.record.Root == nil && s.text == nil:
		return errNoCards
	}
	if s.record.Root != nil {
		if err := c.opening.Check(c.position, size, []byte(c.text), *s.record.Root); err != nil {
			return err
		}
	} else if !bytes.Equal(s.text(c.position), []byte(c.text)) {
		return errors.New("the input of the shoe has another card there")
	}
	if s.order != nil && c.number != nil && s.order[c.position] != *c.number {
		return fmt.Errorf("it says that it is card %d, and card %d lay there", *c.number, s.order[c.position])
	}
	return nil
}

// hand compares the hand given with what was sealed. Of a whole shoe, every card has to be of it.
func (r *Result) hand(h *Hand, sealings []*sealing, whole bool) {
	by := map[uuid.UUID]*sealing{}
	for _, s := range sealings {
		by[s.record.ID] = s
	}
	type place struct {
		sealedBy uuid.UUID
		position uint64
	}
	there := map[place]bool{}
	var held []string
	var unchecked error
	for i := range h.cards {
		c := &h.cards[i]
		at := place{c.sealedBy, c.position}
		if there[at] {
			r.note(StepHand, Wrong, "two cards of the hand are to have been at position %d of %s", c.position, c.sealedBy)
			return
		}
		there[at] = true
		s := by[c.sealedBy]
		if s == nil {
			continue
		}
		name := short([]byte(c.text)) + " at position " + strconv.FormatUint(c.position, 10)
		switch err := c.check(s); {
		case errors.Is(err, errNoOpening) || errors.Is(err, errNoCards):
			unchecked = fmt.Errorf("%s: %w", name, err)
		case err != nil:
			r.note(StepHand, Wrong, "%s: %s", name, err)
			return
		}
		held = append(held, name)
	}
	others := len(h.cards) - len(held)
	switch {
	case unchecked != nil:
		r.note(StepHand, Unchecked, "%s", unchecked)
	case len(held) == 0 && !whole:
		r.note(StepHand, Unchecked, "no card of the hand was sealed by this record: give the proof of the record that sealed_by names")
	case others > 0 && whole:
		r.note(StepHand, Unchecked, "%d card(s) of the hand were sealed by no record of this shoe", others)
	default:
		const most = 13
		list := strings.Join(held[:min(len(held), most)], ", ")
		if len(held) > most {
			list += ", ..."
		}
		r.Proven, r.Others = len(held), others
		r.note(StepHand, OK, "%d of the %d card(s) of the hand were sealed there: %s", len(held), len(h.cards), list)
	}
}

// ofHand compares the hand, if one was given, with what this record alone has sealed.
func (r *Result) ofHand(given *Given) {
	if given.Hand == nil {
		return
	}
	s := r.sealing()
	if s == nil {
		r.note(StepHand, Unchecked, "a record of kind %s has sealed no cards: give the proof of the record that sealed_by names", r.Record.Kind)
		return
	}
	r.hand(given.Hand, []*sealing{s}, false)
}

// A text says what is sealed of a card by its number, which is its position in the unshuffled input.
type text func(number uint64) []byte

// texts returns what is sealed of the cards of a record's input, all of which are known.
func (r *Result) texts(given *Given) text {
	input := r.Record.Statement.Input
	ofDeck := strings.HasPrefix(input, "deck ")
	switch {
	case input == audit.RangeInput:
		return func(number uint64) []byte { return strconv.AppendUint(nil, number, 10) }
	case given.Items == nil:
		codes := r.known(given.Decks).Codes()
		return func(number uint64) []byte { return []byte(codes[number%uint64(len(codes))]) }
	}
	values := given.Items.values
	return func(number uint64) []byte {
		if code, err := jsontext.AppendUnquote(nil, values[number]); ofDeck && err == nil {
			return code
		}
		return slices.Clone(values[number])
	}
}

// root checks that the root in the record is that of the cards in their order.
func (r *Result) root() {
	switch {
	case r.Record.Root == nil:
	case r.Record.Kind == audit.KindReshuffle:
		r.note(StepRoot, Skipped, "which cards lay there, only the proof of the whole shoe says")
	case r.text == nil:
		r.note(StepRoot, Skipped, "the cards are not known, for the items were not given")
	default:
		err := sealedAs(r, r.orders[0], r.text)
		r.step(StepRoot, err, "salts from the seed and the cards in this order have the root in the record")
	}
}

// sealedAs returns an error unless the cards in an order have the root in the record of a file.
func sealedAs(r *Result, order []uint64, card text) error {
	cards := make([][]byte, len(order))
	for i, number := range order {
		cards[i] = card(number)
	}
	if root := audit.Seal(r.File.Seed, r.Record.Commitment, cards).Root(); root != *r.Record.Root {
		return fmt.Errorf("the cards in this order have the root %x, and the record has %x", root[:], r.Record.Root[:])
	}
	return nil
}
