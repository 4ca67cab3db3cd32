package prooffile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
)

// Items are a parsed JSON array of the items that were shuffled.
type Items struct {
	values *list             // without white space
	digest [sha256.Size]byte // of the array without white space
}

// ParseItems parses a list of items. White space outside strings does not matter; every other byte
// does.
func ParseItems(text []byte) (*Items, error) {
	array, err := parseList(text, false)
	if err != nil {
		return nil, err
	}
	return &Items{elements(array), sha256.Sum256(array)}, nil
}

// Lines returns the lines of a text, which end with LF or CR LF.
func Lines(text string) []string {
	lines := strings.Split(strings.TrimPrefix(text, byteOrderMark), "\n")
	last := len(lines) - 1
	for i, line := range lines[:last] {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	if lines[last] == "" { // nothing follows the last line feed
		lines = lines[:last]
	}
	return lines
}

// parseList returns a JSON array without white space: the one in a text, or its lines as strings. If
// they are of a range, lines of digits are numbers.
func parseList(text []byte, isRange bool) (jsontext.Value, error) {
	array, err := compact(text)
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(withoutMark(text), whiteSpace), []byte("[")):
		return array, err
	case !utf8.Valid(text):
		return nil, message.New("why.json", nil)
	}
	array = []byte{'['}
	for i, line := range Lines(string(text)) {
		if i > 0 {
			array = append(array, ',')
		}
		if isRange && isDigits(line) {
			array = append(array, cmp.Or(strings.TrimLeft(line, "0"), "0")...)
		} else {
			array, _ = jsontext.AppendQuote(array, line) // no error, since it is UTF-8
		}
	}
	return append(array, ']'), nil
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// sum returns the digest with a salt, which may be empty, as an input has it.
func (i *Items) sum(salt string) string {
	digest := i.digest
	if salt != "" {
		digest = audit.SaltItems(digest, salt)
	}
	return fmt.Sprintf("sha256:%x", digest)
}

// areOf reports whether the items have the digest in a record.
func (i *Items) areOf(record *audit.Record, salt string) bool {
	if record.ItemsDigest != audit.SaltedDigest {
		salt = ""
	}
	return strings.HasSuffix(record.Statement.Input, " "+i.sum(salt))
}

// cards are what was shuffled, by their numbers: their positions in the input.
type cards struct {
	size     uint64
	noun     string                     // item, or card of a deck
	text     func(number uint64) []byte // what a seal commits to: the code, or the JSON without white space
	instance func(number uint64) uint64 // which of the equal cards of a deck, from 1; nil if they are of none
	keys     []string                   // of the items that were asked for; see key
}

// numbers are the cards of a range.
func numbers(size uint64) *cards {
	return &cards{size: size, noun: "item", text: func(number uint64) []byte { return strconv.AppendUint(nil, number, 10) }}
}

// deckOf returns the cards of copies of a deck.
func deckOf(codes []string, size uint64) *cards {
	n, instances, copies := uint64(len(codes)), make([]uint64, len(codes)), map[string]uint64{}
	for i, code := range codes {
		copies[code]++
		instances[i] = copies[code]
	}
	return &cards{
		size: size, noun: "card",
		text:     func(number uint64) []byte { return []byte(codes[number%n]) },
		instance: func(number uint64) uint64 { return instances[number%n] + number/n*copies[codes[number%n]] },
	}
}

// cards are the items themselves or, if they are the codes of all cards of a deck, those cards.
func (i *Items) cards(ofDeck bool) *cards {
	n := i.values.len()
	if !ofDeck {
		text := func(number uint64) []byte { return i.values.at(int(number)) }
		return &cards{size: uint64(n), noun: "item", text: text, keys: make([]string, n)}
	}
	codes := make([]string, n)
	for number, value := range i.values.all() {
		codes[number] = string(value)
		if value.Kind() == '"' {
			codes[number] = unquoted(value)
		}
	}
	return deckOf(codes, uint64(n))
}

// isDeck reports whether the cards are a deck's, and have codes.
func (c *cards) isDeck() bool { return c.instance != nil }

// key returns one text for all layouts of an answered card.
func (c *cards) key(number uint64) string {
	switch {
	case c.isDeck():
		return `"` + string(c.text(number)) + `"`
	case c.keys == nil: // the numbers of a range
		return string(c.text(number))
	case c.keys[number] == "":
		c.keys[number] = string(canonical(c.text(number)))
	}
	return c.keys[number]
}

// names returns the texts by which an order may name the card: its key and, of a deck's, its key
// with its instance.
func (c *cards) names(number uint64) []string {
	key := c.key(number)
	if !c.isDeck() {
		return []string{key}
	}
	return []string{key, detailed(key, c.instance(number))}
}

// said returns the names of the card that a value of an order says, the most exact one last. They
// are not stored beside the value, since an order of millions would take several times its text.
func (c *cards) said(value jsontext.Value) []string {
	if c.isDeck() && value.Kind() == '{' {
		card, _ := members(value) // no error, since it was parsed
		if instance, _ := wholeNumber(card["instance"]); card["code"].Kind() == '"' && instance > 0 {
			key := `"` + unquoted(card["code"]) + `"`
			return []string{key, detailed(key, instance)}
		}
	}
	return []string{string(canonical(value))}
}

func detailed(key string, instance uint64) string {
	return `{"code":` + key + `,"instance":` + strconv.FormatUint(instance, 10) + "}"
}

// firstOther returns the first place where a value is not the card of the number; -1 for none.
// There are as many values as numbers, and so for areSet.
func (c *cards) firstOther(numbers []uint64, values *list) int {
	return values.indexFunc(func(i int, value jsontext.Value) bool {
		said := c.said(value)
		return !slices.Contains(c.names(numbers[i]), said[len(said)-1])
	})
}

// areSet reports whether values are the cards of the numbers, each as often and in any order.
func (c *cards) areSet(numbers []uint64, values *list) bool {
	left := map[string]int{}
	for _, number := range numbers {
		for _, name := range c.names(number) {
			left[name]++
		}
	}
	return values.indexFunc(func(_ int, value jsontext.Value) bool {
		return slices.ContainsFunc(c.said(value), func(name string) bool {
			left[name]--
			return left[name] < 0
		})
	}) < 0
}

// compareItems returns the step items, which compares what was shuffled with the input of the
// record, and the cards; nil if they are unknown.
func (r *Result) compareItems() (Step, *cards) {
	s, rule, given, salt := &r.Record.Statement, r.Record.ItemsDigest, r.given.Items, r.given.ItemsSalt
	isDeck := strings.HasPrefix(s.Input, "deck ")
	switch {
	case r.Record.Kind.ChangesShoe():
		return newStep(StepItems, stateOfMissing(given != nil), "items.places", nil), numbers(s.Size)
	case given == nil && s.Input == audit.RangeInput:
		return newStep(StepItems, OK, "items.range", nil), numbers(s.Size)
	case given == nil && isDeck:
		return r.compareDeck()
	case given == nil:
		return newStep(StepItems, Skipped, "items.missing", nil), nil
	case rule != "" && rule != audit.SaltedDigest:
		return newStep(StepItems, Unchecked, "items.rule", message.Values{"rule": rule}), nil
	case rule != "" && salt == "":
		return newStep(StepItems, Unchecked, "items.salt", nil), nil
	case rule == "" && salt != "":
		return newStep(StepItems, Wrong, "why.items.salt", nil), nil
	case !given.areOf(r.Record, salt):
		return newStep(StepItems, Wrong, "why.items.digest", message.Values{"digest": given.sum(salt), "input": s.Input}), nil
	case uint64(given.values.len()) != s.Size:
		return newStep(StepItems, Wrong, "why.items.count", message.Values{"given": given.values.len(), "size": s.Size}), nil
	}
	return newStep(StepItems, OK, "items", nil), given.cards(isDeck)
}

// compareDeck compares the digest of a deck that comes with Riffle with that in the record.
func (r *Result) compareDeck() (Step, *cards) {
	s := &r.Record.Statement
	name, copies, _ := audit.DeckOf(s.Input)
	var codes []string
	if decks := r.given.Decks; decks != nil {
		if kind, isKnown := decks.Type(name); isKnown {
			if d, err := kind.Deck(r.Record.Parameters); err == nil {
				codes = d.Codes()
			}
		}
	}
	switch n := uint64(len(codes)); {
	case n == 0:
		return newStep(StepItems, Skipped, "items.deck.unknown", message.Values{"type": name}), nil
	case s.Size%n != 0 || copies != s.Size/n:
		return newStep(StepItems, Wrong, "why.deck.size", message.Values{"size": s.Size, "input": s.Input, "type": name, "cards": n}), nil
	case s.Size > audit.MaxCheckedDeck:
		return newStep(StepItems, Unchecked, "items.deck.large", message.Values{"size": s.Size, "most": uint64(audit.MaxCheckedDeck)}), nil
	case audit.DeckInput(name, copies, codes) != s.Input:
		return newStep(StepItems, Wrong, "why.deck", message.Values{"input": s.Input, "type": name}), nil
	}
	return newStep(StepItems, OK, "items.deck", message.Values{"decks": copies, "type": name}), deckOf(codes, s.Size)
}
