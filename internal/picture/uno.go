package picture

import (
	"strings"

	"riffle/internal/deck"
)

// An unoColour has the colours of a card: its ground, and its sign in the white oval and in the
// corners.
type unoColour struct{ fill, disc, corner string }

var unoColours = map[string]unoColour{
	"red":    {"#d32f2f", "#d32f2f", paper},
	"yellow": {"#f2b800", "#8f6500", ink}, // white and yellow are hard to tell apart
	"green":  {"#2e8b3d", "#2e8b3d", paper},
	"blue":   {"#1e66c1", "#1e66c1", paper},
	"wild":   {ink, ink, paper},
}

// unoText is the text of the other cards.
var unoText = map[string]string{
	"0": "0", "1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6", "7": "7", "8": "8", "9": "9",
	"draw-two": "+2", "wild-draw-four": "+4", "wild": "",
}

// uno draws a card in its colour with what it does in a white oval; wild cards have all four
// colours around it.
func uno(s *sheet, c *deck.Card) bool {
	value := c.Attributes["value"]
	colour, known := unoColours[c.Attributes["colour"]]
	_, text := unoText[value]
	if !known || !text && drawings()["uno/"+value] == "" {
		return false
	}
	s.card(paper)
	s.box(midX, midY, 212, 308, 12, colour.fill)
	disc, long := 84.0, 126.0
	if c.Attributes["colour"] == "wild" {
		quarters(s, 96)
		disc, long = 62, 62
	}
	if value == "wild" {
		s.twice(func() { s.add(`<g transform="translate(-72 -120)">`); quarters(s, 22); s.add("</g>") })
		return true
	}
	s.at(midX, midY, 1, 26, func() { s.add(`<ellipse cx="0" cy="0" rx="%v" ry="%v" fill="%s"/>`, disc, long, paper) })
	action(s, value, midX, midY, 1.3*disc, colour.disc)
	s.twice(func() { action(s, value, 46, 46, 50, colour.corner) })
	return true
}

// action draws what a card does around a point.
func action(s *sheet, value string, x, y, size float64, colour string) {
	if shape := drawings()["uno/"+value]; shape != "" {
		s.add(`<g fill="%s" transform="translate(%v %v)scale(%v)">%s</g>`,
			colour, tenth(x), tenth(y), tenth(size)/100, strings.ReplaceAll(shape, "currentColor", colour))
		return
	}
	s.write(x, y, size, 1.25*size, colour, unoText[value])
	if value == "6" || value == "9" { // which of the two it is does not depend on who looks
		s.box(x, y+0.46*size, 0.5*size, 0.08*size, 0, colour)
	}
}

// quarters draws a disc of the four colours in the middle of the card.
func quarters(s *sheet, r float64) {
	bend := tenth(control * r)
	for i, colour := range []string{"red", "yellow", "green", "blue"} {
		s.add(`<path fill="%s" transform="translate(%d %d)rotate(%d)" d="M0 0V%vC%v %v %v %v %v 0Z"/>`,
			unoColours[colour].fill, midX, midY, 90*i, -r, bend, -r, r, -bend, r)
	}
}

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
