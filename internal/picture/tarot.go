package picture

import "riffle/internal/deck"

// tarot draws the four suits as french does, and trumps and the Fool with their number large and
// their name below.
func tarot(s *sheet, c *deck.Card) bool {
	number := c.Attributes["rank"]
	switch c.Attributes["suit"] {
	case "trumps":
		if len(number) == 0 || len(number) > 2 {
			return false
		}
	case "fool":
		number = "★"
	default:
		return french(s, c)
	}
	s.card("#fbf6ff")
	s.add(`<rect x="16" y="74" width="208" height="188" rx="10" fill="%s" fill-opacity=".1" stroke="%s"`+
		` stroke-width="4"/>`, purple, purple)
	s.twice(func() { s.write(42, 42, 52, 62, purple, number) })
	s.write(midX, 140, 112, 170, purple, number)
	s.paragraph(230, 36, 190, ink, c.Name.English)
	s.write(150, 42, 34, 130, ink, c.Name.Chinese)
	return true
}
