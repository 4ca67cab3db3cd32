package prooffile

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// A Hand is cards that were drawn from a shoe, each with the proof that it was sealed at its
// position.
type Hand []handCard

// A handCard is one card of a hand.
type handCard struct {
	sealedBy uuid.UUID
	position uint64
	number   *uint64  // of the card; nil if missing
	instance *uint64  // which of the equal cards of a deck; nil if missing
	texts    []string // one of them is sealed: the code, or the item or number as JSON without white space
	key      string   // as [cards.key]
	isCode   bool
	opening  *audit.Opening // nil if missing
}

// ParseHand parses cards as the service returns them: a whole answer with cards, an array of cards,
// or one card.
func ParseHand(text []byte) (Hand, error) {
	value, err := compact(text)
	if err != nil {
		return nil, err
	}
	answer, _ := members(value) // no error, since it was parsed
	switch {
	case answer["cards"] != nil:
		value = answer["cards"]
	case value.Kind() == '{':
		value = slices.Concat(jsontext.Value("["), value, jsontext.Value("]"))
	case value.Kind() != '[':
		return nil, message.New("why.cards", nil)
	}
	list := elements(value)
	switch {
	case list == nil:
		return nil, message.New("why.json.array", nil)
	case list.len() == 0 || list.len() > shoe.MaxCards:
		return nil, message.New("why.cards.count", message.Values{"cards": list.len(), "most": shoe.MaxCards})
	}
	var hand Hand
	for i, value := range list.all() {
		c, err := parseCard(value)
		if err != nil {
			return nil, message.New("why.card", message.Values{"n": i, "what": message.Of(err)})
		}
		hand = append(hand, c)
	}
	return hand, nil
}

var codeForm = regexp.MustCompile("^[A-Za-z0-9-]+$")

// parseCard parses a card. It ignores members that it does not know.
func parseCard(value jsontext.Value) (c handCard, err error) {
	object, _ := members(value) // no error, since it was parsed
	demand := func(holds bool, id string) { err = cmp.Or(err, message.Rule(holds, "why.card."+id, nil)) }
	demand(value.Kind() == '{', "object")
	number := func(name string, isRequired bool) *uint64 {
		if object[name] == nil && !isRequired {
			return nil
		}
		n, isWhole := wholeNumber(object[name])
		err = cmp.Or(err, message.Rule(isWhole, "why.card.number", message.Values{"name": name}))
		return &n
	}
	c.position = *number("position", true)
	id := unquoted(object["sealed_by"])
	c.sealedBy, _ = uuid.Parse(id)
	demand(c.sealedBy.String() == id, "sealer")
	c.number, c.instance = number("card", false), number("instance", false)

	for _, name := range []string{"code", "salt", "path"} {
		if object[name].Kind() == 'n' {
			delete(object, name)
		}
	}
	code, item, salt, path := object["code"], object["item"], object["salt"], elements(object["path"])
	demand((code == nil) != (item == nil), "text")
	if c.isCode = code != nil; c.isCode {
		c.texts, c.key = []string{unquoted(code)}, `"`+unquoted(code)+`"`
		demand(codeForm.MatchString(unquoted(code)), "code")
	} else if item != nil {
		c.texts, c.key = layouts(item), string(canonical(item))
	}
	isOpen := salt != nil && path != nil && path.len() <= 64 // no tree over a shoe has a longer path
	demand(isOpen || salt == nil && object["path"] == nil, "proof")
	if isOpen {
		hash := func(text jsontext.Value) [32]byte {
			hash, broken := audit.ParseHash(unquoted(text))
			demand(broken == nil, "hash")
			return hash
		}
		c.opening = &audit.Opening{Salt: hash(salt)}
		for _, text := range path.all() {
			c.opening.Path = append(c.opening.Path, hash(text))
		}
	}
	return c, err
}

// layouts returns the texts of an item that may have been sealed: the text unchanged, and with its
// strings escaped as JSON programs do. Other spellings of numbers and orders of members are not
// tried.
func layouts(item jsontext.Value) []string {
	shortest := item.Clone()
	_ = shortest.Format() // no error, since it was parsed
	var ascii []byte
	for _, unit := range utf16.Encode([]rune(string(shortest))) {
		if unit < 0x80 {
			ascii = append(ascii, byte(unit))
		} else {
			ascii = fmt.Appendf(ascii, `\u%04x`, unit)
		}
	}
	return slices.Compact([]string{string(item), string(shortest), string(ascii)})
}

// checkHandAlone adds the step hand for cards that were drawn from a shoe, by the record that sealed
// them: docs/shoes.md, "One hand". It takes no seed.
func (r *Result) checkHandAlone() {
	switch made := r.sealing(); {
	case r.given.Hand == nil:
	case made == nil:
		r.Others = len(r.given.Hand)
		r.add(StepHand, Unchecked, "hand.kind", message.Values{"kind": string(r.Record.Kind)})
	default:
		r.checkHand([]*sealing{made}, false)
	}
}

// checkHand adds the step hand: whether the cards were sealed at their positions, in a whole shoe
// or by one record of it.
func (r *Result) checkHand(sealings []*sealing, isShoe bool) {
	h := r.given.Hand
	proven, missing, wrong := h.prove(sealings)
	r.Proven, r.Others, r.Missing = len(proven), len(h)-len(proven), h.sealers(sealings...)
	of := message.Values{"proven": r.Proven, "cards": len(h), "list": proven}
	if len(proven) > 13 { // the others are not listed
		of["list"] = append(proven[:13], "...")
	}
	switch {
	case wrong != nil:
		r.reject(StepHand, wrong)
	case missing.ID != "":
		r.say(StepHand, Unchecked, missing)
	case isShoe && r.Others > 0:
		r.add(StepHand, Unchecked, "hand.shoe", message.Values{"cards": r.Others})
	case r.Proven == 0:
		r.add(StepHand, Unchecked, "hand.none", nil)
	case r.Others > 0:
		of["others"] = r.Others
		r.add(StepHand, Unchecked, "hand", of)
	default:
		r.add(StepHand, OK, "hand", of)
	}
}

// sealers returns the records that sealed the cards, except the ones in sealings, each once, in the
// order of the cards.
func (h Hand) sealers(but ...*sealing) (list []uuid.UUID) {
	for _, c := range h {
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
func (h Hand) prove(sealings []*sealing) (proven []any, missing message.Message, wrong error) {
	for i, c := range h {
		if slices.ContainsFunc(h[:i], func(other handCard) bool { return other.position == c.position && other.sealedBy == c.sealedBy }) {
			return nil, missing, message.New("why.sealed.twice", message.Values{"position": c.position, "id": c.sealedBy.String()})
		}
		at := slices.IndexFunc(sealings, func(s *sealing) bool { return s.record.ID == c.sealedBy })
		if at < 0 {
			continue
		}
		name := message.New("hand.card", message.Values{"card": message.Short(c.texts[0]), "position": c.position})
		switch unknown, why := sealings[at].check(&c); {
		case why != nil:
			return nil, missing, message.New("why.sealed", message.Values{"card": name, "what": message.Of(why)})
		case unknown != "":
			missing = message.New(unknown, message.Values{"card": name})
		default:
			proven = append(proven, name)
		}
	}
	return proven, missing, nil
}

// A sealing is an order of cards that a record commits to, or its known part.
type sealing struct {
	record *audit.Record
	seed   rng.Seed // nil if it is held back
	input  string   // of the shoe; empty if unknown
	order  []uint64 // the number of the card at each position; nil if unknown
	cards  *cards   // of the shoe; nil if unknown
}

// sealing returns the sealing of the record; nil if its kind has none. What is sealed anew, the
// shoe's first record says.
func (r *Result) sealing() *sealing {
	s := &sealing{record: r.Record, seed: r.seed}
	switch {
	case !r.Record.Seals():
		return nil
	case r.Record.Kind == audit.KindReshuffle:
		return s
	case r.Record.Root == nil: // it was not shuffled
		for i := range r.Record.Statement.Size {
			s.order = append(s.order, i)
		}
	case r.orders != nil:
		s.order = r.orders[0]
	}
	s.input, s.cards = r.Record.Statement.Input, r.cards
	return s
}

// checkRoot checks that the root in the record commits to the cards in their order, all known.
func (s *sealing) checkRoot() error {
	texts := make([][]byte, len(s.order))
	for i, number := range s.order {
		texts[i] = s.cards.text(number)
	}
	root := audit.Seal(s.seed, s.record.Commitment, texts).Root()
	return message.Rule(root == *s.record.Root, "why.root", message.Values{"root": hex.EncodeToString(root[:]), "sealed": hex.EncodeToString(s.record.Root[:])})
}

// check returns the id of the message why the card cannot be checked, or why it was not sealed at
// its position. Its number and its instance, which are not sealed, are checked where they are
// known. In a shoe that was not shuffled, the position is the number.
func (s *sealing) check(c *handCard) (unknown string, wrong error) {
	size, root := s.record.Statement.Size, s.record.Root
	opens := func(text string) bool { return c.opening.Check(c.position, size, []byte(text), *root) == nil }
	switch {
	case s.input != "" && strings.HasPrefix(s.input, "deck ") != c.isCode:
		return "", message.New("why.sealed.input", message.Values{"input": s.input})
	case c.position >= size:
		return "", message.New("why.sealed.size", message.Values{"size": size})
	case root != nil && c.opening == nil:
		return "hand.proof", nil
	case root == nil && s.cards == nil:
		return "hand.unshuffled", nil
	case root != nil && !slices.ContainsFunc(c.texts, opens):
		return "", message.New("why.sealed.path", nil)
	}
	number := c.number
	if s.order != nil {
		number = &s.order[c.position]
	}
	switch of := s.cards; {
	case number == nil:
	case c.number != nil && *c.number != *number,
		of != nil && (*number >= of.size || of.key(*number) != c.key),
		of != nil && of.isDeck() && c.instance != nil && *c.instance != of.instance(*number):
		return "", message.New("why.sealed.card", nil)
	}
	return "", nil
}
