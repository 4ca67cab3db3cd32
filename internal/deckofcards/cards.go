package deckofcards

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
)

// The codes of cards are value and suit, with 0 for ten. A new deck has them in this order, with
// the jokers last.
const (
	ranks  = "A234567890JQK"
	suits  = "SDCH"
	plain  = len(ranks) * len(suits) // cards of a deck without jokers
	jokers = 2
)

// sorted are all codes in the order of a new deck.
var sorted = func() (codes []string) {
	for _, suit := range suits {
		for _, rank := range ranks {
			codes = append(codes, string(rank)+string(suit))
		}
	}
	return append(codes, "X1", "X2")
}()

// places are the positions of the codes in that order.
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

// nameOf returns the code of a card. The item of a shoe that was created through another API may be
// no code and is returned as it is.
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

// setItems asks for a deck of codes as items, all of them once for each copy.
func setItems(r *liveshoes.Request, codes []string, copies uint64) {
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

// isDeck reports whether a shoe is a deck of this API: of standard cards, or of items and with the
// lifetime of this API.
func isDeck(s *liveshoes.Shoe) bool {
	name, _, ofType := audit.DeckOf(s.First.Statement.Input)
	if ofType {
		return name == type52 || name == type54
	}
	return s.First.Statement.Input != audit.RangeInput && s.First.Expires.Sub(s.First.Time) == lifetime
}

// makeup is what a deck consists of.
type makeup struct {
	whole  bool // all cards; otherwise cards that a request named, and the other fields are unknown
	jokers bool
	copies uint64
}

// makeupOf returns what the deck of a shoe consists of. A whole deck that was created unshuffled is
// of items and recognized by their digest.
func makeupOf(s *liveshoes.Shoe) makeup {
	if name, copies, ofType := audit.DeckOf(s.First.Statement.Input); ofType {
		return makeup{true, name == type54, copies}
	}
	for _, withJokers := range []bool{false, true} {
		codes := codesOf(withJokers)
		copies, rest := s.Size/uint64(len(codes)), s.Size%uint64(len(codes))
		if rest > 0 {
			continue
		}
		var all liveshoes.Request
		setItems(&all, codes, copies)
		if audit.ItemsInput(all.Request.Items.Digest) == s.First.Statement.Input {
			return makeup{true, withJokers, copies}
		}
	}
	return makeup{jokers: true, copies: 1}
}

// sortCards sorts cards as a new deck has them, copy by copy.
func sortCards(cards []liveshoes.Card) {
	slices.SortStableFunc(cards, func(a, b liveshoes.Card) int {
		if a.Card == nil || b.Card == nil { // items are numbered in that order
			return int(a.Number) - int(b.Number)
		}
		if a.Card.Instance != b.Card.Instance {
			return a.Card.Instance - b.Card.Instance
		}
		return places[nameOf(&a)] - places[nameOf(&b)]
	})
}
