// Package picture draws the cards of a [deck.Type] as SVG, so that callers who show an order need
// no images of their own. Its functions are [Card], [Back], [Deck] and [Page].
//
// Figures, suits and scenes are SVG files in the folder drawings, which an artist can edit. A
// template for each family of decks, in the folder families, places them by the card's attributes:
// drawings/french/K-hearts.svg is the king of hearts. Parts without a fill take the colour that the
// template chooses. looks.json has the colours of suits, teams and so on.
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

import (
	"fmt"
	"strings"

	"riffle/internal/deck"
)

// Card returns the face of a card as an SVG document, titled with the card's English name. Copies
// of a card have the same face. A card that the family's template does not know, and any card of an
// unknown family, is drawn as a label with its code and names.
func Card(family string, c *deck.Card) []byte { return document(c.Name.English, face(family, c)) }

// face returns the markup of the face of a card.
func face(family string, c *deck.Card) string { return draw(family, c, family+".tmpl", "label") }

// Back returns the back that all cards of a family share.
func Back(family string) []byte {
	return document("Card back", draw(family, nil, "back of "+family, "back"))
}

// draw returns what the first of the templates that knows the card makes of it. The last one knows
// every card.
func draw(family string, c *deck.Card, names ...string) string {
	var errs []error
	for _, name := range names {
		var b strings.Builder
		err := templates().ExecuteTemplate(&b, name, struct {
			*deck.Card
			Family string
		}{c, family})
		if err == nil {
			return b.String()
		}
		errs = append(errs, err)
	}
	panic(fmt.Sprint(errs))
}
