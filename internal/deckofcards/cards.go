package deckofcards

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
)

// A card's code is value and suit, with 0 for ten. A new deck is in this order, with jokers last.
const (
	ranks  = "A234567890JQK"
	suits  = "SDCH"
	plain  = len(ranks) * len(suits) // cards of a deck without jokers
	jokers = 2
)

// sorted lists all codes in the order of a new deck.
var sorted = func() (codes []string) {
	for _, suit := range suits {
		for _, rank := range ranks {
			codes = append(codes, string(rank)+string(suit))
		}
	}
	return append(codes, "X1", "X2")
}()

// places maps each code to its position in sorted.
var places = func() map[string]int {
	places := map[string]int{}
	for i, code := range sorted {
		places[code] = i
	}
	return places
}()

// codesOf returns the codes of a full deck.
func codesOf(withJokers bool) []string {
	if withJokers {
		return sorted
	}
	return sorted[:plain]
}

// codeOf parses a code in any case. Ten may also be T or 10.
func codeOf(word string) (code string, known bool) {
	code = strings.ToUpper(word)
	for _, ten := range []string{"10", "T"} {
		if suit, isTen := strings.CutPrefix(code, ten); isTen {
			code = "0" + suit
		}
	}
	_, known = places[code]
	return code, known
}

// nameOf returns a card's code. A shoe created through another API may have items that are no
// codes, which nameOf returns unchanged.
func nameOf(c *liveshoes.Card) string {
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

// setItems makes r a request for copies of the codes as items.
func setItems(r *liveshoes.NewShoe, codes []string, copies uint64) {
	for range copies {
		for _, code := range codes {
			r.Items = append(r.Items, `"`+code+`"`)
		}
	}
	r.Request.Items = &plan.Items{Count: uint64(len(r.Items)), Digest: sha256.Sum256([]byte("[" + strings.Join(r.Items, ",") + "]"))}
}

// The deck types that shuffled whole decks are of.
const (
	type52 = "standard52"
	type54 = "standard54"
)

// isDeck reports whether a shoe is a deck of this API: standard cards, or items with this API's
// lifetime.
func isDeck(s *liveshoes.Shoe) bool {
	name, _, ofType := audit.DeckOf(s.First.Statement.Input)
	if ofType {
		return name == type52 || name == type54
	}
	return s.First.Statement.Input != audit.RangeInput && s.First.Expires.Sub(s.First.Time) == lifetime
}

// makeup is the composition of a deck.
type makeup struct {
	whole  bool // a full deck; otherwise the other fields are unknown
	jokers bool
	copies uint64
}

// makeupOf returns a shoe's makeup. It recognizes an unshuffled full deck by the digest of its
// items.
func makeupOf(s *liveshoes.Shoe) makeup {
	if name, copies, ofType := audit.DeckOf(s.First.Statement.Input); ofType {
		return makeup{true, name == type54, copies}
	}
	for _, withJokers := range []bool{false, true} {
		codes := codesOf(withJokers)
		copies := s.Size() / uint64(len(codes))
		var all liveshoes.NewShoe
		setItems(&all, codes, copies)
		if audit.ItemsInput(all.Request.Items.Digest) == s.First.Statement.Input {
			return makeup{true, withJokers, copies}
		}
	}
	return makeup{jokers: true, copies: 1}
}

// sortCards sorts cards in the order of a new deck, copy by copy.
func sortCards(cards []liveshoes.Card) {
	slices.SortStableFunc(cards, func(a, b liveshoes.Card) int {
		if a.Card == nil || b.Card == nil { // item numbers are in that order
			return int(a.Number) - int(b.Number)
		}
		return cmp.Or(a.Card.Instance-b.Card.Instance, places[nameOf(&a)]-places[nameOf(&b)])
	})
}
