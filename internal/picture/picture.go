// Package picture draws the cards of a [deck.Type] as SVG, so that callers who show an order need
// no images of their own. Its functions are [Card], [Back], [Deck] and [Page].
//
// Figures, suits and scenes are SVG files in the folder drawings, which an artist can edit. A
// template for each family of decks places them by the card's attributes: drawings/french/K-hearts.svg
// is the king of hearts. Parts without a fill take the colour that the template chooses.
//
// A picture is a pure function of the family and the card: the same card always gives the same
// bytes, at most 13 kB of them. It refers to nothing outside and has no scripts, styles or ids, so
// one page may embed many of them, and no text, so it looks the same whatever fonts the reader has:
// letters and Chinese characters are outlines, too. What is cut off at an edge is in an svg element
// of its own, so a page that embeds pictures should not style all svg elements.
//
// The canvas is 240 by 336 for all families, tiles and dominoes included, so that all cards of a
// table have one size. Cards can be told apart at a quarter of it.
package picture

import "riffle/internal/deck"

// A template draws the card on the sheet. It returns false and draws nothing if it does not know
// the card, as a deck of an operator may have other cards than the family.
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

// Card returns the face of a card as an SVG document, titled with the card's English name. Copies
// of a card have the same face. A card that the family's template does not know, and any card of an
// unknown family, is drawn as a label with its code and names.
func Card(family string, c *deck.Card) []byte {
	s := newSheet(c.Name.English)
	s.face(family, c)
	return s.close()
}

// face draws the face of a card.
func (s *sheet) face(family string, c *deck.Card) {
	draw, known := templates[family]
	if !known || !draw(s, c) {
		label(s, family, c)
	}
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
