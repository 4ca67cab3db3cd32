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
)

// Items are the things that were shuffled, as a JSON array.
type Items struct {
	values []jsontext.Value // without white space
	input  string           // what a record has to say of them
}

// ParseItems reads a JSON array. White space outside strings does not matter; every other byte does.
func ParseItems(text []byte) (*Items, error) {
	array, err := compact(text)
	if err != nil {
		return nil, err
	}
	values, err := elements(array)
	if err != nil {
		return nil, err
	}
	return &Items{values: values, input: audit.ItemsInput(sha256.Sum256(array))}, nil
}

// compact checks that the text is one JSON value, and returns it without white space.
func compact(text []byte) (jsontext.Value, error) {
	value := jsontext.Value(bytes.Clone(text))
	if err := value.Compact(); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return value, nil
}

// elements returns where the elements of an array stand. The array has no white space.
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

// A card says whether a value of an answer is what stands at a position of the unshuffled input, and what stands there.
type card func(position uint64, answered jsontext.Value) (want string, ok bool)

// items compares what was shuffled with the input of the record. It returns how to tell the things, or nil if they are
// not known.
func (r *Result) items(given *Given) card {
	s := &r.Record.Statement
	switch {
	case r.Record.Kind.ChangesShoe():
		state := Skipped
		if given.Items != nil {
			state = Unchecked
		}
		r.note(StepItems, state, "the record is of cards by the places where they lay: which they were, the proof of the whole shoe says")
		return number
	case given.Items != nil:
		return r.givenItems(given.Items, given.Decks)
	case s.Input == audit.RangeInput:
		r.note(StepItems, OK, "the numbers from 0 on; there is nothing to compare")
		return number
	case strings.HasPrefix(s.Input, "deck "):
		return r.deck(given.Decks)
	}
	r.note(StepItems, Skipped, "not given; the record has their digest")
	return nil
}

func (r *Result) givenItems(items *Items, decks *deck.Catalogue) card {
	s := &r.Record.Statement
	words := strings.Fields(items.input)
	switch {
	case s.Input == audit.RangeInput:
		r.note(StepItems, Wrong, "the record is of a shuffle of the numbers from 0 on, and of no items")
		return nil
	case !strings.HasSuffix(s.Input, " "+words[1]):
		r.note(StepItems, Wrong, "the items given have the digest %s, and the record says %s", words[1], s.Input)
		return nil
	case uint64(len(items.values)) != s.Size:
		r.note(StepItems, Wrong, "the items given are %d, and the record is of %d", len(items.values), s.Size)
		return nil
	}
	r.note(StepItems, OK, "the items given have the digest in the record")
	if d := r.known(decks); d != nil && s.Size%uint64(d.Size()) == 0 {
		words := strings.Fields(s.Input)
		if audit.DeckInput(words[1], s.Size/uint64(d.Size()), d.Codes()) == s.Input { // and not of parameters that were changed
			return details(d)
		}
	}
	return func(position uint64, answered jsontext.Value) (string, bool) {
		want := items.values[position]
		return string(want), bytes.Equal(want, answered)
	}
}

// maxCards is how many cards the digest of a deck is taken of at most, which is as many as a service can be set to
// shuffle. A record may claim any number.
const maxCards = 1 << 31

// deck compares a deck that comes with Riffle.
func (r *Result) deck(decks *deck.Catalogue) card {
	s := &r.Record.Statement
	words := strings.Fields(s.Input)
	d := r.known(decks)
	if d == nil {
		r.note(StepItems, Skipped, "there is no such deck type %s here: the codes of its cards can be given as items", words[1])
		return nil
	}
	copies, err := strconv.ParseUint(strings.TrimPrefix(words[2], "x"), 10, 64)
	if err != nil || s.Size%uint64(d.Size()) != 0 || copies != s.Size/uint64(d.Size()) {
		r.note(StepItems, Wrong, "the record is of %s cards, %s, and one deck of %s has %d", strconv.FormatUint(s.Size, 10), words[2], words[1], d.Size())
		return nil
	}
	if s.Size > maxCards {
		r.note(StepItems, Unchecked, "the digest of %d cards is not taken; at most of %d", s.Size, uint64(maxCards))
		return nil
	}
	if audit.DeckInput(words[1], copies, d.Codes()) != s.Input {
		r.note(StepItems, Wrong, "the deck of the record, %s, is not the %s that comes with Riffle", s.Input, words[1])
		return nil
	}
	r.note(StepItems, OK, "%s deck(s) of %s, whose cards have the digest in the record", words[2][1:], words[1])
	return details(d)
}

// known returns the deck of the record, or nil if it has none or one that does not come with Riffle.
func (r *Result) known(decks *deck.Catalogue) *deck.Deck {
	words := strings.Fields(r.Record.Statement.Input)
	if words[0] != "deck" || decks == nil {
		return nil
	}
	kind, ok := decks.Type(words[1])
	if !ok {
		return nil
	}
	d, err := kind.Deck(r.Record.Parameters)
	if err != nil || d.Size() == 0 {
		return nil
	}
	return d
}

// number tells the numbers of a range.
func number(position uint64, answered jsontext.Value) (string, bool) {
	want := strconv.FormatUint(position, 10)
	return want, want == string(answered)
}

// details tells cards of a deck by their codes, and those that were answered with all details by code and instance.
func details(d *deck.Deck) card {
	cards := d.Cards()
	count := map[string]int{}
	for i := range cards {
		count[cards[i].Code]++
	}
	return func(position uint64, answered jsontext.Value) (string, bool) {
		c := &cards[position%uint64(len(cards))]
		want := `"` + c.Code + `"`
		if answered.Kind() != '{' {
			return want, want == string(answered)
		}
		var got struct {
			Code     string `json:"code"`
			Instance int    `json:"instance"`
		}
		err := json.Unmarshal(answered, &got)
		instance := c.Instance + int(position/uint64(len(cards)))*count[c.Code]
		return fmt.Sprintf("%s, instance %d", want, instance), err == nil && got.Code == c.Code && got.Instance == instance
	}
}
