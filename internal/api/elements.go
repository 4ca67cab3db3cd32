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

// An element appends what stands at the first of the positions, one at least, in the unshuffled input, as JSON and each
// with a comma behind it. It returns the positions that are left, so that a long answer can be sent in parts.
type element func(b []byte, positions []uint64) (out []byte, left []uint64)

// elements returns the elements of what was shuffled, unless it was the caller's items.
func elements(q *shuffleRequest, result *dealer.Shuffle) element {
	switch {
	case result.Deck != nil && q.details:
		return renderedOf(result.Deck).cards()
	case result.Deck != nil:
		return renderedOf(result.Deck).codes()
	}
	return oneByOne(func(b []byte, position uint64) []byte { return strconv.AppendUint(b, position, 10) })
}

// oneByOne appends element by element, until there is enough to send.
func oneByOne(appendOne func(b []byte, position uint64) []byte) element {
	return func(b []byte, positions []uint64) ([]byte, []uint64) {
		for i, p := range positions {
			b = append(appendOne(b, p), ',')
			if len(b) >= part {
				return b, positions[i+1:]
			}
		}
		return b, nil
	}
}

// rendered is a deck as answers show it, each form made when it is first asked for.
type rendered struct{ codes, cards func() element }

// decksRendered holds the decks that all requests share, by their *deck.Deck.
var decksRendered sync.Map

func renderedOf(d *deck.Deck) *rendered {
	if r, ok := decksRendered.Load(d); ok {
		return r.(*rendered)
	}
	r := &rendered{
		codes: sync.OnceValue(func() element { return codeElements(d.Codes()) }),
		cards: sync.OnceValue(func() element { return cardElements(d.Cards()) }),
	}
	// A deck with parameters is made for one request, and there is no end of them.
	if shared, err := d.Type().Deck(nil); err == nil && shared == d {
		decksRendered.Store(d, r)
	}
	return r
}

// A fragment is a code of at most 16 bytes in quotes, with its comma. It is copied whole, whatever its length: a copy of
// a fixed length is a few instructions, and any other a call.
type fragment struct {
	text   [24]byte
	length int
}

// codesAtOnce is how many codes are appended before what there is may be sent.
const codesAtOnce = 512

// codeElements are the codes of cards.
func codeElements(codes []string) element {
	fragments := make([]fragment, len(codes))
	for i, code := range codes {
		fragments[i].length = copy(fragments[i].text[:], `"`+code+`",`)
	}
	size := uint64(len(codes))
	return func(b []byte, positions []uint64) ([]byte, []uint64) {
		now := positions[:min(len(positions), codesAtOnce)]
		b = slices.Grow(b, len(now)*len(fragment{}.text))
		end := len(b)
		b = b[:cap(b)]
		for _, p := range now {
			if p >= size { // in a further copy of the deck; the division is dear
				p %= size
			}
			f := &fragments[p]
			*(*[len(f.text)]byte)(b[end:]) = f.text
			end += f.length
		}
		return b[:end], positions[len(now):]
	}
}

// cardElements are whole cards. Instances go on from copy to copy of the deck, so that no two cards are alike.
func cardElements(cards []deck.Card) element {
	count := map[string]int{}
	for i := range cards {
		count[cards[i].Code]++
	}
	texts := make([]string, len(cards)) // less the instance
	for i := range cards {
		if i > 0 && cards[i].Code == cards[i-1].Code {
			texts[i] = texts[i-1]
			continue
		}
		texts[i] = cardText(cards[i])
	}
	size := uint64(len(cards))
	return oneByOne(func(b []byte, position uint64) []byte {
		i, copies := position%size, int(position/size)
		b = append(b, texts[i]...)
		instance := cards[i].Instance
		if copies > 0 {
			instance += copies * count[cards[i].Code]
		}
		return append(strconv.AppendInt(b, int64(instance), 10), '}')
	})
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
