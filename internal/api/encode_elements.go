package api

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"riffle/internal/dealer"
	"riffle/internal/deck"
)

// An element appends the JSON of what is at a position of the unshuffled input.
type element func(b []byte, position uint64) []byte

// elementsOf returns the elements of what was shuffled, unless it was the caller's items.
func elementsOf(q *shuffleRequest, result *dealer.Shuffle) element {
	switch {
	case result.Deck != nil && q.details:
		return encodedDeck(result.Deck).cards()
	case result.Deck != nil:
		return encodedDeck(result.Deck).codes()
	}
	return func(b []byte, position uint64) []byte { return strconv.AppendUint(b, position, 10) }
}

// elements returns an encoder of the elements at positions, with a comma behind each.
func (s *stream) elements(e element) func(positions []uint64) {
	return func(positions []uint64) {
		for _, p := range positions {
			s.flush() // before an element, so that the last comma is still in the buffer
			s.buf = append(e(s.buf, p), ',')
		}
	}
}

// encodedCards are the cards of a deck as JSON, in each of the two forms once it is asked for.
type encodedCards struct{ codes, cards func() element }

// encodedDecks holds the encoded cards of the decks that all requests share, by their *deck.Deck.
var encodedDecks sync.Map

// encodedDeck returns the encoded cards of a deck.
func encodedDeck(d *deck.Deck) *encodedCards {
	if cards, ok := encodedDecks.Load(d); ok {
		return cards.(*encodedCards)
	}
	cards := &encodedCards{
		codes: sync.OnceValue(func() element { return codeElements(d.Codes()) }),
		cards: sync.OnceValue(func() element { return cardElements(d.Cards()) }),
	}
	// A deck with parameters is made for one request, and there is no limit to their number.
	if shared, err := d.Type().Deck(nil); err == nil && shared == d {
		encodedDecks.Store(d, cards)
	}
	return cards
}

// codeElements are the codes of cards, which need no escapes. Positions beyond the deck are those of further copies.
func codeElements(codes []string) element {
	quoted := make([]string, len(codes))
	for i, code := range codes {
		quoted[i] = `"` + code + `"`
	}
	size := uint64(len(codes))
	return func(b []byte, position uint64) []byte { return append(b, quoted[position%size]...) }
}

// cardElements are whole cards. Instances are counted on from copy to copy of the deck, so that no two cards are the same.
func cardElements(cards []deck.Card) element {
	count := map[string]int{}
	for i := range cards {
		count[cards[i].Code]++
	}
	texts := make([]string, len(cards)) // without the instance
	for i := range cards {
		if i > 0 && cards[i].Code == cards[i-1].Code {
			texts[i] = texts[i-1]
			continue
		}
		texts[i] = cardText(cards[i])
	}
	size := uint64(len(cards))
	return func(b []byte, position uint64) []byte {
		i, copies := position%size, int(position/size)
		b = append(b, texts[i]...)
		instance := cards[i].Instance
		if copies > 0 {
			instance += copies * count[cards[i].Code]
		}
		return append(strconv.AppendInt(b, int64(instance), 10), '}')
	}
}

// cardText is the JSON of a card up to its instance, which is the last member.
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
