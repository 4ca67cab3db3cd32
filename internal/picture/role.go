package picture

import (
	"cmp"

	"riffle/internal/deck"
)

var teams = map[string]string{
	"werewolves": "#7f1d1d", "village": "#1f6f5c", "civilians": "#1f6f5c", "undercover": "#37306b", "blank": "#6b7280",
}

// role draws what someone plays: an emblem and the names, in the colour of the team. A role that
// has no emblem gets its initial.
func role(s *sheet, c *deck.Card) bool {
	team := c.Attributes["team"]
	if team == "" {
		return false
	}
	colour := cmp.Or(teams[team], colourOf(team))
	s.card(paper)
	s.box(midX, midY, 216, 312, 12, colour)
	s.circle(midX, 104, 80, paper)
	if emblem, known := drawings()["roles/"+cmp.Or(c.Attributes["role"], team)]; known {
		s.at(midX, 104, 1.1, 0, func() { s.add("%s", emblem) })
	} else if english := []rune(legible(c.Name.English)); len(english) > 0 {
		s.write(midX, 104, 110, 120, colour, string(english[0]))
	}
	names(s, c, paper, paper)
	return true
}
