package picture

import (
	"strings"

	"riffle/internal/deck"
)

var setColours = map[string]string{"red": "#e0112b", "green": "#008a3e", "purple": "#5b2a91"}

// set draws one to three shapes in a colour and a shading.
func set(s *sheet, c *deck.Card) bool {
	n := strings.Index("123", c.Attributes["number"]) + 1
	colour := setColours[c.Attributes["colour"]]
	shape := drawings()["set/"+c.Attributes["shape"]]
	shading := c.Attributes["shading"]
	fill := map[string]string{"solid": colour, "striped": "none", "open": "none"}[shading]
	if n == 0 || len(c.Attributes["number"]) != 1 || colour == "" || shape == "" || fill == "" {
		return false
	}
	if shading == "striped" {
		shape += drawings()["stripes/"+c.Attributes["shape"]]
	}
	s.card(paper)
	for i := range n {
		s.add(`<g class="pip" transform="translate(%d %v)" fill="%s" stroke="%s" stroke-width="7" stroke-linejoin="round">%s</g>`,
			midX, midY+98*(float64(i)-float64(n-1)/2), fill, colour, shape)
	}
	return true
}
