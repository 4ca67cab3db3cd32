package prooffile

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/shoe"
)

// Items are a parsed JSON array of the items that were shuffled.
type Items struct {
	values *list             // without white space
	digest [sha256.Size]byte // of the array without white space
}

// ParseItems parses a JSON array. White space outside strings does not matter; every other byte
// does.
func ParseItems(text []byte) (*Items, error) {
	array, err := compact(text)
	if err != nil {
		return nil, err
	}
	values, err := elements(array)
	if err != nil {
		return nil, err
	}
	return &Items{values: values, digest: sha256.Sum256(array)}, nil
}

// salted returns the digest with a salt, which may be empty.
func (i *Items) salted(salt string) [sha256.Size]byte {
	if salt == "" {
		return i.digest
	}
	return audit.SaltItems(i.digest, salt)
}

// areOf reports whether the items have the digest in a record.
func (i *Items) areOf(record *audit.Record, salt string) bool {
	if record == nil || !record.States() {
		return false
	}
	if record.ItemsDigest != audit.SaltedItems {
		salt = ""
	}
	_, digest, _ := strings.Cut(audit.ItemsInput(i.salted(salt)), " ")
	return strings.HasSuffix(record.Statement.Input, " "+digest)
}

// cards are what was shuffled, by their numbers: their positions in the input.
type cards struct {
	size     uint64
	text     func(number uint64) []byte // what a seal commits to: the code, or the JSON without white space
	instance func(number uint64) int    // which of the equal cards of a deck; nil if they are of none
	keys     []string                   // of the items that were asked for; see key
}

// isDeck reports whether the cards are a deck's, and have codes.
func (c *cards) isDeck() bool { return c.instance != nil }

// key returns one text for all layouts of an answered card.
func (c *cards) key(number uint64) string {
	if c.isDeck() {
		return `"` + string(c.text(number)) + `"`
	}
	if c.keys == nil {
		return string(c.text(number)) // the numbers of a range
	}
	if c.keys[number] == "" {
		c.keys[number] = string(canonical(c.text(number)))
	}
	return c.keys[number]
}

// A card has the content of a value of an answer, whatever its layout.
type card struct {
	key      string // as [cards.key]; empty for no card of a deck
	instance uint64 // of a card with all its details; 0 for any
}

// said returns the card that a value of an answer says. It is not stored beside the value, since an
// order of millions would take several times its text.
func (c *cards) said(value jsontext.Value) card {
	if !c.isDetailed(value) {
		return card{key: string(canonical(value))}
	}
	var got struct {
		Code     string         `json:"code"`
		Instance jsontext.Value `json:"instance"`
	}
	err := json.Unmarshal(value, &got)
	if instance, isWhole := wholeNumber(got.Instance); err == nil && isWhole && instance > 0 {
		return card{`"` + got.Code + `"`, instance}
	}
	return card{}
}

// is reports whether a value is the card.
func (c *cards) is(number uint64, value jsontext.Value) bool {
	said := c.said(value)
	return said.key == c.key(number) && (!c.isDetailed(value) || said.instance == uint64(c.instance(number)))
}

// isDetailed reports whether a value is a card with all its details.
func (c *cards) isDetailed(value jsontext.Value) bool { return c.isDeck() && value.Kind() == '{' }

// name returns the card as a value would name it.
func (c *cards) name(number uint64, value jsontext.Value) string {
	if c.isDetailed(value) {
		return fmt.Sprintf("%s, instance %d", c.key(number), c.instance(number))
	}
	return c.key(number)
}

// firstOther returns the first place where a value is not the card of the number; -1 for none.
func (c *cards) firstOther(numbers []uint64, values *list) int {
	return values.indexFunc(func(i int, value jsontext.Value) bool { return !c.is(numbers[i], value) })
}

// areSequence reports whether values are the cards of the numbers, in their sequence.
func (c *cards) areSequence(numbers []uint64, values *list) bool {
	return len(numbers) == values.len() && c.firstOther(numbers, values) < 0
}

// areSet reports whether values are the cards of the numbers, each as often and in any order.
func (c *cards) areSet(numbers []uint64, values *list) bool {
	if len(numbers) != values.len() {
		return false
	}
	left := map[card]int{}
	for _, number := range numbers {
		left[card{key: c.key(number)}]++
		if c.isDeck() {
			left[card{c.key(number), uint64(c.instance(number))}]++
		}
	}
	for _, value := range values.all() {
		said := c.said(value)
		left[card{key: said.key}]--
		if said.instance > 0 {
			left[said]--
		}
		if left[card{key: said.key}] < 0 || left[said] < 0 {
			return false
		}
	}
	return true
}

// numbers are the cards of a range.
func numbers(size uint64) *cards {
	return &cards{size: size, text: func(number uint64) []byte { return strconv.AppendUint(nil, number, 10) }}
}

// cardsOf are the cards of copies of a deck.
func cardsOf(d *deck.Deck, size uint64) *cards {
	faces := shoe.NewFaces(d, nil)
	return &cards{size: size, text: faces.Text, instance: func(number uint64) int { return faces.Face(number).Card.Instance }}
}

// cards are the items themselves or, if they are the codes of all cards of a deck, those cards.
func (i *Items) cards(ofDeck bool) *cards {
	if !ofDeck {
		return &cards{size: uint64(i.values.len()), text: func(number uint64) []byte { return i.values.at(int(number)) }, keys: make([]string, i.values.len())}
	}
	codes, instances, count := make([][]byte, i.values.len()), make([]int, i.values.len()), map[string]int{}
	for number, value := range i.values.all() {
		code, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			code = value
		}
		count[string(code)]++
		codes[number], instances[number] = code, count[string(code)]
	}
	return &cards{
		size: uint64(len(codes)), text: func(number uint64) []byte { return codes[number] },
		instance: func(number uint64) int { return instances[number] },
	}
}

// items returns the step items, which compares what was shuffled with the input of the record, and
// the cards; nil if they are unknown.
func (r *Result) items() (Step, *cards) {
	s := &r.Record.Statement
	switch {
	case r.Record.Kind.ChangesShoe():
		return newStep(StepItems, missing(r.given.Items != nil), "the record names cards by their places: only the proof of the whole shoe says which cards they were"), numbers(s.Size)
	case r.given.Items != nil:
		return r.givenItems()
	case s.Input == audit.RangeInput:
		return newStep(StepItems, OK, "the numbers from 0 on; there is nothing to compare"), numbers(s.Size)
	case strings.HasPrefix(s.Input, "deck "):
		return r.knownDeck(r.given.Decks)
	}
	return newStep(StepItems, Skipped, "not given; the record has their digest"), nil
}

// givenItems compares the digest of the items given with that in the record.
func (r *Result) givenItems() (Step, *cards) {
	s, rule, items := &r.Record.Statement, r.Record.ItemsDigest, r.given.Items
	digest := items.salted(r.given.ItemsSalt)
	words := strings.Fields(audit.ItemsInput(digest))
	switch {
	case rule != "" && rule != audit.SaltedItems:
		return newStep(StepItems, Unchecked, "their digest was taken by the rule %s, which is not known here: a later version may be able to check it", rule), nil
	case rule != "" && r.given.ItemsSalt == "":
		return newStep(StepItems, Unchecked, "their digest is salted, and the salt was not given"), nil
	case rule == "" && r.given.ItemsSalt != "":
		return newStep(StepItems, Wrong, "a salt was given, and the record says that nothing is salted"), nil
	case s.Input == audit.RangeInput:
		return newStep(StepItems, Wrong, "the record is of a shuffle of the numbers from 0 on, without items"), nil
	case !strings.HasSuffix(s.Input, " "+words[1]):
		return newStep(StepItems, Wrong, "the items given have the digest %s, and the record says %s", words[1], s.Input), nil
	case uint64(items.values.len()) != s.Size:
		return newStep(StepItems, Wrong, "the items given are %d, and the record is of %d", items.values.len(), s.Size), nil
	}
	return newStep(StepItems, OK, "the items given have the digest in the record"), items.cards(strings.HasPrefix(s.Input, "deck "))
}

// knownDeck compares the digest of a deck that comes with Riffle with that in the record.
func (r *Result) knownDeck(decks *deck.Catalogue) (Step, *cards) {
	s := &r.Record.Statement
	name, copies, _ := audit.DeckOf(s.Input)
	d := deckOf(decks, name, r.Record.Parameters)
	switch {
	case d == nil:
		return newStep(StepItems, Skipped, "there is no such deck type %s here: the codes of its cards can be given as items", name), nil
	case s.Size%uint64(d.Size()) != 0 || copies != s.Size/uint64(d.Size()):
		return newStep(StepItems, Wrong, "the record is of %d cards, x%d, and one deck of %s has %d", s.Size, copies, name, d.Size()), nil
	case s.Size > audit.MaxDeck:
		return newStep(StepItems, Unchecked, "the digest of %d cards is not computed; the limit is %d", s.Size, uint64(audit.MaxDeck)), nil
	case audit.DeckInput(name, copies, d.Codes()) != s.Input:
		return newStep(StepItems, Wrong, "the deck of the record, %s, is not the %s that comes with Riffle", s.Input, name), nil
	}
	return newStep(StepItems, OK, "%s of %s, whose cards have the digest in the record", audit.Count(copies, "deck"), name), cardsOf(d, s.Size)
}

// deckOf returns a deck that comes with Riffle; nil if no such deck is known.
func deckOf(decks *deck.Catalogue, name string, parameters map[string]int) *deck.Deck {
	if decks == nil {
		return nil
	}
	if kind, isKnown := decks.Type(name); isKnown {
		if d, err := kind.Deck(parameters); err == nil && d.Size() > 0 {
			return d
		}
	}
	return nil
}
