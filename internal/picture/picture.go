// Package picture draws cards as SVG: one template for each family of decks, filled in from what the catalogue says
// of a card, so that whoever shows an order needs no images of their own.
//
// A picture is a function of the family and the card and of nothing else: the same card is always the same bytes.
// Every picture stands alone. It refers to nothing outside and has no scripts, styles or ids, so many of them may
// stand in one page. Suits, pips and tiles are shapes; letters, numbers and names are text in whatever font the
// reader has.
//
// The canvas is 240 by 336 for all families, tiles and dominoes included, so that a table of any deck is even.
// Things are drawn to be told apart at a quarter of that.
package picture

import "riffle/internal/deck"

// A template draws the card on the sheet. It returns false, with nothing drawn, for a card that it has no drawing
// for, as an operator's deck may have in any family.
type template func(s *sheet, c *deck.Card) bool

var templates = map[string]template{
	"french":    french,
	"latin":     latin,
	"tarot":     tarot,
	"hanafuda":  hanafuda,
	"uno":       uno,
	"mahjong":   mahjong,
	"sanguosha": sanguosha,
	"roles":     role,
	"dominoes":  domino,
	"set":       set,
}

// Card returns the face of a card as an SVG document, titled with the card's English name. Copies of a card have the
// same face. The family is that of its type; a card that the family has no drawing for, and every card of
// a family that Riffle does not know, is drawn as a label with its code, glyph and names.
func Card(family string, c *deck.Card) []byte {
	s := newSheet(c.Name.English)
	draw, known := templates[family]
	if !known || !draw(s, c) {
		label(s, family, c)
	}
	return s.close()
}

// Back returns the back that all cards of a family share.
func Back(family string) []byte {
	s := newSheet("Card back")
	switch family {
	case "mahjong":
		tile(s, colourOf(family), colourOf(family), ivory)
	case "dominoes":
		bone(s, colourOf(family))
	default:
		back(s, colourOf(family))
	}
	return s.close()
}
