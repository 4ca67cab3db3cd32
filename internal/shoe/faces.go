package shoe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"riffle/internal/deck"
)

// Faces are what is on the cards of a shoe: copies of a deck, items of the caller, or numbers. The
// number of a card is its position in the unshuffled input, from 0. Faces are immutable and safe
// for concurrent use.
type Faces struct {
	deck  *deck.Deck // nil unless the cards are a deck's
	items []string   // nil unless the cards are items
}

// A Face is the value of one card. One of the fields is set.
type Face struct {
	Card *deck.Card // its instance counts over all copies of the deck
	Item string     // the JSON of the number, or of the item as the caller sent it
}

// NewFaces returns the faces of a shoe of one or more copies of d, or of items, which are JSON, or
// of numbers if both are nil.
func NewFaces(d *deck.Deck, items []string) *Faces { return &Faces{d, items} }

// Text returns what a seal commits to for the card: its code, or the item or number as JSON without
// white space. It panics if the item is not JSON.
func (f *Faces) Text(number uint64) []byte {
	switch {
	case f.deck != nil:
		return []byte(f.code(number))
	case f.items != nil:
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(f.items[number])); err != nil {
			panic(fmt.Sprintf("shoe: item %d is not JSON: %v", number, err))
		}
		return compact.Bytes()
	}
	return strconv.AppendUint(nil, number, 10)
}

// Texts returns the text of each card, in the order of the numbers.
func (f *Faces) Texts(numbers []uint16) [][]byte {
	texts := make([][]byte, len(numbers))
	for i, number := range numbers {
		texts[i] = f.Text(uint64(number))
	}
	return texts
}

// Face returns the card.
func (f *Faces) Face(number uint64) Face {
	switch {
	case f.deck != nil:
		card := f.deck.Cards()[number%uint64(f.deck.Size())]
		card.Instance = f.deck.Instance(number)
		return Face{Card: &card}
	case f.items != nil:
		return Face{Item: f.items[number]}
	}
	return Face{Item: strconv.FormatUint(number, 10)}
}

// Name returns what a caller may name the card by instead of its number: the code of a deck's card,
// or the text of an item that is a string. It is empty for other items and for numbers. Equal cards
// share a name.
func (f *Faces) Name(number uint64) string {
	if f.deck != nil {
		return f.code(number)
	}
	var text string
	if f.items == nil || json.Unmarshal([]byte(f.items[number]), &text) != nil {
		return ""
	}
	return text
}

// Resolve returns the [Faces.Name] of an alias: TS for 10S and 0S. It returns any other name
// unchanged.
func (f *Faces) Resolve(name string) string {
	if f.deck != nil {
		if card, found := f.deck.Type().Face(name); found {
			return card.Code
		}
	}
	return name
}

// Bytes returns the total length of the items, most of the memory that faces take. A deck is
// shared.
func (f *Faces) Bytes() int {
	n := 0
	for _, item := range f.items {
		n += len(item)
	}
	return n
}

func (f *Faces) code(number uint64) string {
	codes := f.deck.Codes()
	return codes[number%uint64(len(codes))]
}
