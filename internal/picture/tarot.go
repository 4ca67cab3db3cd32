package picture

import (
	"strings"

	"riffle/internal/deck"
)

// tarot draws the four suits as french does but with their own marks, and the trumps and the Fool
// with their number, the emblem from the packs of Marseille and their title.
func tarot(s *sheet, c *deck.Card) bool {
	number, suitName := c.Attributes["rank"], c.Attributes["suit"]
	if m, known := tarotSuits[suitName]; known {
		return suited(s, c, m, strings.Replace(written(number), "J", "P", 1)) // the page
	}
	if suitName != "trumps" && suitName != "fool" {
		return false
	}
	emblem, known := drawings()["tarot/"+number]
	if !known || (suitName == "fool") != (number == "0") {
		return false
	}
	s.card("#fbf6ff")
	s.add(`<rect x="20" y="72" width="200" height="192" rx="8" fill="#f1e6fb" stroke="%s" stroke-width="3"/>`, purple)
	for _, x := range []float64{42, 198} {
		if suitName == "fool" {
			s.at(x, 24, 1, 0, func() { s.add(`<path fill="%s" d="%s"/>`, purple, starPath) })
		} else {
			s.write(x, 42, 50, 54, purple, number)
		}
	}
	s.paragraph(298, 30, 204, purple, c.Name.English)
	s.at(midX, midY, 1, 0, func() { s.add("%s", emblem) })
	return true
}

// starPath is a star with six points.
const starPath = "M0-9L7 5L24 5L14 18L24 31L7 31L0 46L-7 31L-24 31L-14 18L-24 5L-7 5Z"
