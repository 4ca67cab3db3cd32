package prooffile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/shoe"
)

// Items are a parsed JSON array of the items that were shuffled.
type Items struct {
	values []jsontext.Value  // without white space
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

// compact parses one JSON value and returns it without white space.
func compact(text []byte) (jsontext.Value, error) {
	value := jsontext.Value(bytes.Clone(text))
	if err := value.Compact(); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return value, nil
}

// elements returns the elements of an array without white space, as slices of it.
func elements(array jsontext.Value) ([]jsontext.Value, error) {
	if array.Kind() != '[' {
		return nil, errors.New("not a JSON array")
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(array)) // reads the buffer in place
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var list []jsontext.Value
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		end := d.InputOffset()
		list = append(list, array[end-int64(len(value)):end])
	}
	return list, nil
}

// A match reports whether a value of an answer is the item at a position of the input, and which
// item that is.
type match func(position uint64, answered jsontext.Value) (want string, ok bool)

// items returns the step items, which compares what was shuffled with the input of the record, and
// a match for its items; nil if they are unknown.
func (c *checker) items(given *Given) (Step, match) {
	s := &c.Record.Statement
	switch {
	case c.Record.Kind.ChangesShoe():
		state := Skipped
		if given.Items != nil {
			state = Unchecked
		}
		return newStep(StepItems, state, "the record is of cards by the places where they lay: which they were, the proof of the whole shoe says"), matchNumber
	case given.Items != nil:
		return c.givenItems(given)
	case s.Input == audit.RangeInput:
		return newStep(StepItems, OK, "the numbers from 0 on; there is nothing to compare"), matchNumber
	case strings.HasPrefix(s.Input, "deck "):
		return c.knownDeck(given.Decks)
	}
	return newStep(StepItems, Skipped, "not given; the record has their digest"), nil
}

// givenItems compares the digest of the items given with that in the record.
func (c *checker) givenItems(given *Given) (Step, match) {
	s, rule, items := &c.Record.Statement, c.Record.ItemsDigest, given.Items
	digest := items.digest
	if given.ItemsSalt != "" {
		digest = audit.SaltItems(digest, given.ItemsSalt)
	}
	words := strings.Fields(audit.ItemsInput(digest))
	switch {
	case rule != "" && rule != audit.SaltedItems:
		return newStep(StepItems, Unchecked, "their digest was taken by the rule %s, which is not known here: a later version may be able to check it", rule), nil
	case rule != "" && given.ItemsSalt == "":
		return newStep(StepItems, Unchecked, "their digest is salted, and the salt was not given"), nil
	case rule == "" && given.ItemsSalt != "":
		return newStep(StepItems, Wrong, "a salt was given, and the record says that nothing is salted"), nil
	case s.Input == audit.RangeInput:
		return newStep(StepItems, Wrong, "the record is of a shuffle of the numbers from 0 on, and of no items"), nil
	case !strings.HasSuffix(s.Input, " "+words[1]):
		return newStep(StepItems, Wrong, "the items given have the digest %s, and the record says %s", words[1], s.Input), nil
	case uint64(len(items.values)) != s.Size:
		return newStep(StepItems, Wrong, "the items given are %d, and the record is of %d", len(items.values), s.Size), nil
	}
	same := newStep(StepItems, OK, "the items given have the digest in the record")
	if d := c.deck(given.Decks); d != nil && s.Size%uint64(d.Size()) == 0 {
		// The record's parameters may be forged, so the deck has to have the digest, too.
		words := strings.Fields(s.Input)
		if audit.DeckInput(words[1], s.Size/uint64(d.Size()), d.Codes()) == s.Input {
			return same, matchCards(d)
		}
	}
	return same, func(position uint64, answered jsontext.Value) (string, bool) {
		want := items.values[position]
		return string(want), bytes.Equal(want, answered)
	}
}

// maxCards is the most cards whose digest is calculated, as many as a service can be configured to
// shuffle. A forged record may claim any number.
const maxCards = 1 << 31

// knownDeck compares the digest of a deck that comes with Riffle with that in the record.
func (c *checker) knownDeck(decks *deck.Catalogue) (Step, match) {
	s := &c.Record.Statement
	words := strings.Fields(s.Input)
	d := c.deck(decks)
	if d == nil {
		return newStep(StepItems, Skipped, "there is no such deck type %s here: the codes of its cards can be given as items", words[1]), nil
	}
	copies, err := strconv.ParseUint(strings.TrimPrefix(words[2], "x"), 10, 64)
	switch {
	case err != nil || s.Size%uint64(d.Size()) != 0 || copies != s.Size/uint64(d.Size()):
		return newStep(StepItems, Wrong, "the record is of %d cards, %s, and one deck of %s has %d", s.Size, words[2], words[1], d.Size()), nil
	case s.Size > maxCards:
		return newStep(StepItems, Unchecked, "the digest of %d cards is not taken; at most of %d", s.Size, uint64(maxCards)), nil
	case audit.DeckInput(words[1], copies, d.Codes()) != s.Input:
		return newStep(StepItems, Wrong, "the deck of the record, %s, is not the %s that comes with Riffle", s.Input, words[1]), nil
	}
	return newStep(StepItems, OK, "%s deck(s) of %s, whose cards have the digest in the record", words[2][1:], words[1]), matchCards(d)
}

// deck returns the deck of the record; nil if it has none, or one that does not come with Riffle.
func (c *checker) deck(decks *deck.Catalogue) *deck.Deck {
	words := strings.Fields(c.Record.Statement.Input)
	if words[0] != "deck" || decks == nil {
		return nil
	}
	kind, ok := decks.Type(words[1])
	if !ok {
		return nil
	}
	d, err := kind.Deck(c.Record.Parameters)
	if err != nil || d.Size() == 0 {
		return nil
	}
	return d
}

// matchNumber matches the numbers of a range.
func matchNumber(position uint64, answered jsontext.Value) (string, bool) {
	want := strconv.FormatUint(position, 10)
	return want, want == string(answered)
}

// matchCards matches cards of a deck by their codes, and those that were answered with all details
// by code and instance.
func matchCards(d *deck.Deck) match {
	faces := shoe.NewFaces(d, nil)
	return func(position uint64, answered jsontext.Value) (string, bool) {
		want := `"` + faces.Name(position) + `"`
		if answered.Kind() != '{' {
			return want, want == string(answered)
		}
		var got struct {
			Code     string `json:"code"`
			Instance int    `json:"instance"`
		}
		err := json.Unmarshal(answered, &got)
		c := faces.Face(position).Card
		return fmt.Sprintf("%s, instance %d", want, c.Instance), err == nil && got.Code == c.Code && got.Instance == c.Instance
	}
}
