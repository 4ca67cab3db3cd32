package picture

import (
	"cmp"
	"hash/fnv"

	"riffle/internal/deck"
)

// label draws any card by its code, which is unique in the deck, and by the parts of its names that
// have outlines.
func label(s *sheet, family string, c *deck.Card) {
	colour := colourOf(family)
	s.card(paper)
	s.box(midX, 78, 212, 128, 10, colour)
	s.write(midX, 78, 84, 196, paper, c.Code)
	names(s, c, colour, ink)
}

// names writes the names of a card below its middle, the Chinese one only if all of it can be
// written.
func names(s *sheet, c *deck.Card, chinese, english string) {
	if writable(c.Name.Chinese) {
		s.letter(midX, 224, 64, 200, 0.02, chinese, legible(c.Name.Chinese))
		s.paragraph(286, 38, 200, english, c.Name.English)
		return
	}
	s.paragraph(250, 52, 200, english, c.Name.English)
}

var familyColours = map[string]string{
	"french": "#1f4e8c", "latin": "#9a3b26", "tarot": purple, "hanafuda": "#8a1c1c", "uno": "#2b2b2b",
	"mahjong": "#1c7a45", "sanguosha": "#7a4a1e", "roles": "#33415c", "dominoes": "#2b2b2b", "set": "#00695c",
}

var otherColours = []string{"#1f4e8c", "#9a3b26", "#6b2fa0", "#1c7a45", "#7a4a1e", "#00695c", "#a3245f", "#33415c"}

// colourOf returns the colour of a family. An unknown family always gets the same colour, too.
func colourOf(word string) string {
	if colour, known := familyColours[word]; known {
		return colour
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(word))
	return otherColours[h.Sum32()%uint32(len(otherColours))]
}

// back draws a lattice in a frame.
func back(s *sheet, colour string) {
	s.card(paper)
	s.box(midX, midY, 208, 304, 10, colour)
	s.add("%s", drawings()["back"])
	s.circle(midX, midY, 34, paper)
	s.circle(midX, midY, 24, colour)
}

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
