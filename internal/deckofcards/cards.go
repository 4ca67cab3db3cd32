package deckofcards

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/dealer"
)

// The codes of cards: value, then suit, a ten being 0; and the two jokers. A new deck has them in this order, the jokers last.
const (
	ranks  = "A234567890JQK"
	suits  = "SDCH"
	plain  = len(ranks) * len(suits) // cards of a deck without jokers
	jokers = 2
)

// sorted has all codes in the order of a new deck.
var sorted = func() (codes []string) {
	for _, suit := range suits {
		for _, rank := range ranks {
			codes = append(codes, string(rank)+string(suit))
		}
	}
	return append(codes, "X1", "X2")
}()

// places has the place of each code in that order.
var places = func() map[string]int {
	places := map[string]int{}
	for i, code := range sorted {
		places[code] = i
	}
	return places
}()

// codesOf returns the codes of a whole deck.
func codesOf(withJokers bool) []string {
	if withJokers {
		return sorted
	}
	return sorted[:plain]
}

// codeOf reads a code in any case. A ten may also be written T or 10.
func codeOf(word string) (code string, known bool) {
	code = strings.ToUpper(word)
	if suit, isTen := strings.CutPrefix(code, "10"); isTen {
		code = "0" + suit
	} else if suit, isTen := strings.CutPrefix(code, "T"); isTen {
		code = "0" + suit
	}
	_, known = places[code]
	return code, known
}

// nameOf returns the code of a card that lies in a shoe. The item of a shoe that was not made here may be no code; it stands for
// itself.
func nameOf(c *dealer.ShoeCard) string {
	text := c.Item
	if c.Card != nil {
		text = c.Card.Code
	} else if json.Unmarshal([]byte(c.Item), &text) != nil {
		return c.Item
	}
	if code, known := codeOf(text); known {
		return code
	}
	return text
}

// items returns a deck of codes, the whole repeated for each copy, as items of a shoe.
func items(codes []string, copies uint64) (*dealer.Items, []string) {
	var values []string
	for range copies {
		for _, code := range codes {
			values = append(values, `"`+code+`"`)
		}
	}
	digest := sha256.Sum256([]byte("[" + strings.Join(values, ",") + "]"))
	return &dealer.Items{Count: uint64(len(values)), Digest: digest}, values
}

// The deck types that shuffled whole decks are of.
const (
	type52 = "standard52"
	type54 = "standard54"
)

// isDeck reports whether a shoe is a deck of this API: one of standard cards, or one of items that has its lifetime.
func isDeck(s *dealer.Shoe) bool {
	name, _, ofType := audit.DeckOf(s.First.Statement.Input)
	if ofType {
		return name == type52 || name == type54
	}
	return s.First.Statement.Input != audit.RangeInput && s.First.Expires.Sub(s.First.Time) == lifetime
}

// A makeup is what a deck consists of.
type makeup struct {
	whole  bool // all cards; otherwise those that somebody named, and the rest is not known
	jokers bool
	copies uint64
}

// makeupOf returns what the deck of a shoe consists of. A whole deck that was never shuffled is one of items, known by their digest.
func makeupOf(s *dealer.Shoe) makeup {
	if name, copies, ofType := audit.DeckOf(s.First.Statement.Input); ofType {
		return makeup{true, name == type54, copies}
	}
	for _, withJokers := range []bool{false, true} {
		codes := codesOf(withJokers)
		copies, rest := s.Size/uint64(len(codes)), s.Size%uint64(len(codes))
		if rest > 0 {
			continue
		}
		if all, _ := items(codes, copies); audit.ItemsInput(all.Digest) == s.First.Statement.Input {
			return makeup{true, withJokers, copies}
		}
	}
	return makeup{jokers: true, copies: 1}
}

// inOrder sorts cards as a new deck has them: copy by copy.
func inOrder(cards []dealer.ShoeCard) {
	slices.SortStableFunc(cards, func(a, b dealer.ShoeCard) int {
		if a.Card == nil || b.Card == nil { // the items lie in that order
			return int(a.Number) - int(b.Number)
		}
		if a.Card.Instance != b.Card.Instance {
			return a.Card.Instance - b.Card.Instance
		}
		return places[nameOf(&a)] - places[nameOf(&b)]
	})
}
