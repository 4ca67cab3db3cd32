package picture

import "riffle/internal/deck"

var teams = map[string]string{
	"werewolves": "#7f1d1d", "village": "#1f6f5c", "civilians": "#1f6f5c", "undercover": "#37306b", "blank": "#6b7280",
}

// role draws what someone plays: the glyph and the names, in the colour of the team.
func role(s *sheet, c *deck.Card) bool {
	team := c.Attributes["team"]
	if team == "" {
		return false
	}
	colour, known := teams[team]
	if !known {
		colour = colourOf(team)
	}
	s.card(paper)
	s.box(midX, midY, 216, 312, 12, colour)
	s.circle(midX, 104, 78, paper)
	s.write(midX, 104, 100, 116, ink, c.Glyph)
	s.write(midX, 222, 64, 200, paper, c.Name.Chinese)
	s.paragraph(286, 38, 200, paper, c.Name.English)
	return true
}
