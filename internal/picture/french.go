package picture

import (
	"strings"

	"riffle/internal/deck"
)

// french draws suited cards with their pips, courts as half-figures, and jokers.
func french(s *sheet, c *deck.Card) bool {
	rank, jokers := c.Attributes["rank"], c.Attributes["suit"] == "jokers"
	m, suited := frenchSuits[c.Attributes["suit"]]
	n := strings.Index("A23456789T", rank) + 1
	switch {
	case jokers && (rank == "small" || rank == "big"):
		joker(s, rank == "big")
	case !suited || len(rank) != 1:
		return false
	case n > 0:
		s.card(paper)
		s.corners(written(rank), m)
		s.pips(n, m, 46, true)
	default:
		figure, known := frenchCourts[rank]
		if !known {
			return false
		}
		s.card(paper)
		s.corners(rank, m)
		halfFigures(s, figure, c.Attributes["suit"])
	}
	return true
}

// written returns the rank as cards show it: 10 for T.
func written(rank string) string {
	if rank == "T" {
		return "10"
	}
	return rank
}

// joker draws a jester, the big one in colours.
func joker(s *sheet, big bool) {
	colour, l := ink, livery{robe: "#4a4e57", trim: silver, lining: "#8a8f98", hair: ink}
	if big {
		colour, l = red, livery{robe: red, trim: gold, lining: navy, hair: ink}
	}
	s.card(paper)
	s.twice(func() {
		for i, letter := range []string{"J", "O", "K", "E", "R"} {
			s.write(28, 34+27*float64(i), 32, 30, colour, letter)
		}
	})
	s.at(midX, 190, 1.08, 0, func() { s.outlined(ink, 1.8, func() { jester(s, l) }) })
}
