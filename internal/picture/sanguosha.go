package picture

import (
	"strings"

	"riffle/internal/deck"
)

var categories = map[string]string{
	"basic": "#9c2b1f", "trick": "#6b2fa0", "delayed trick": "#2c5d8f",
	"weapon": "#7a4a1e", "armour": "#3b6b3a", "mount": "#8a6d00",
}

// sanguosha draws the name of the card in the colour of its category, with the suit and rank that
// every card has.
func sanguosha(s *sheet, c *deck.Card) bool {
	colour := categories[c.Attributes["category"]]
	m, suited := frenchSuits[c.Attributes["suit"]]
	rank := c.Attributes["rank"]
	if colour == "" || !suited || len(rank) != 1 {
		return false
	}
	s.card("#f6ecd6")
	s.add(`<rect x="9" y="9" width="222" height="318" rx="12" fill="none" stroke="%s" stroke-width="8"/>`, colour)
	s.write(45, 46, 56, 50, m.colour, written(rank))
	s.mark("", m, 98, 46, 44, false)
	if reach := c.Attributes["range"] + c.Attributes["distance"]; reach != "" && len(reach) < 4 {
		s.circle(194, 48, 29, colour)
		s.write(194, 48, 38, 48, paper, reach)
	}

	chinese, english := legible(bare(c.Name.Chinese, "（")), bare(c.Name.English, " (")
	lines, size := []string{chinese}, 120.0
	if runes := []rune(chinese); len(runes) > 3 {
		half := (len(runes) + 1) / 2
		lines, size = []string{string(runes[:half]), string(runes[half:])}, 76
	}
	for i, line := range lines {
		s.letter(midX, 158+80*(float64(i)-float64(len(lines)-1)/2), size, 200, 0.03, colour, line)
	}
	s.box(midX, 284, 222, 86, 10, colour)
	s.paragraph(283, 36, 206, paper, english)
	return true
}

// bare returns a name without what it has in brackets: the catalogue adds suit and rank to names.
func bare(name, bracket string) string {
	name, _, _ = strings.Cut(name, bracket)
	return name
}
