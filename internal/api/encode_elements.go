package api

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"riffle/internal/dealer"
	"riffle/internal/deck"
)

// An appender appends the JSON of elements, with a comma after each: spans of the body, or positions of the
// unshuffled input.
type appender[T any] func(b []byte, elements []T) []byte

// oneByOne returns the appender that calls appendOne for each element.
func oneByOne(appendOne func(b []byte, position uint64) []byte) appender[uint64] {
	return func(b []byte, positions []uint64) []byte {
		for _, p := range positions {
			b = append(appendOne(b, p), ',')
		}
		return b
	}
}

// elementsOf returns the appender of cards or integers.
func elementsOf(q *shuffleRequest, result *dealer.Shuffle) appender[uint64] {
	switch {
	case result.Deck != nil && q.details:
		return encoded(&encodedCards, result.Deck, cardElements)
	case result.Deck != nil:
		return encoded(&encodedCodes, result.Deck, func(d *deck.Deck) appender[uint64] { return codeElements(d.Codes()) })
	}
	return oneByOne(func(b []byte, position uint64) []byte { return strconv.AppendUint(b, position, 10) })
}

// The appenders of shared decks, by *deck.Deck: of whole cards, and of codes.
var encodedCards, encodedCodes sync.Map

// encoded returns the appender that encode makes of a deck, or an earlier one.
func encoded(earlier *sync.Map, d *deck.Deck, encode func(*deck.Deck) appender[uint64]) appender[uint64] {
	if cards, ok := earlier.Load(d); ok {
		return cards.(appender[uint64])
	}
	cards := encode(d)
	// A deck with parameters is made for one request. Caching all of them would be unbounded.
	if shared, err := d.Type().Deck(nil); err == nil && shared == d {
		earlier.Store(d, cards)
	}
	return cards
}

// codeElements appends the codes of cards, which need no escapes. Positions beyond the deck belong to
// further copies.
//
// It is codeElementsPlain of the tests, but copies a whole fixedCode each time: a copy of a fixed length
// takes a few instructions, any other is a call. Without it, shuffling a deck of 52 a thousand times takes
// 13% more instructions.
func codeElements(codes []string) appender[uint64] {
	type fixedCode struct {
		text   [24]byte // a code has at most 16 bytes
		length int
	}
	fixed := make([]fixedCode, len(codes))
	for i, code := range codes {
		fixed[i].length = copy(fixed[i].text[:], `"`+code+`",`)
	}
	size := uint64(len(fixed))
	return func(b []byte, positions []uint64) []byte {
		b = slices.Grow(b, len(positions)*len(fixedCode{}.text))
		end := len(b)
		b = b[:cap(b)]
		for _, p := range positions {
			if p >= size { // a division each time would take as long as the rest of the loop
				p %= size
			}
			code := &fixed[p]
			*(*[len(code.text)]byte)(b[end:]) = code.text
			end += code.length
		}
		return b[:end]
	}
}

// cardElements appends whole cards. Instances continue from copy to copy of the deck, so that no two
// cards are equal.
func cardElements(d *deck.Deck) appender[uint64] {
	cards := d.Cards()
	texts := make([]string, len(cards)) // without the instance
	for i := range cards {
		if i > 0 && cards[i].Code == cards[i-1].Code {
			texts[i] = texts[i-1]
			continue
		}
		texts[i] = cardText(cards[i])
	}
	size := uint64(len(cards))
	return oneByOne(func(b []byte, position uint64) []byte {
		b = append(b, texts[position%size]...)
		return append(strconv.AppendInt(b, int64(d.Instance(position)), 10), '}')
	})
}

// cardText returns the JSON of a card up to its instance, the last member.
func cardText(card deck.Card) string {
	text, err := json.Marshal(card)
	if err != nil {
		panic("api: a card does not marshal: " + err.Error())
	}
	head, last := strings.CutSuffix(string(text), strconv.Itoa(card.Instance)+"}")
	if !last {
		panic("api: the instance of a card is not its last member")
	}
	return head
}
