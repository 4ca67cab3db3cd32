package picture

import (
	"strings"

	"riffle/internal/deck"
)

// french draws suited cards and jokers.
func french(s *sheet, c *deck.Card) bool {
	rank := c.Attributes["rank"]
	if colour := jokers[rank]; colour != "" && c.Attributes["suit"] == "jokers" {
		joker(s, rank, colour)
		return true
	}
	m, known := frenchSuits[c.Attributes["suit"]]
	return known && suited(s, c, m, written(rank))
}

// suited draws a card with its pips, or a court as half-figures.
func suited(s *sheet, c *deck.Card, m suit, index string) bool {
	rank := c.Attributes["rank"]
	n := strings.Index("A23456789T", rank) + 1
	figure, court := drawings()["french/"+rank+"-"+c.Attributes["suit"]]
	if len(rank) != 1 || n == 0 && !court {
		return false
	}
	s.card(paper)
	s.corners(26, index, m)
	if court {
		halfFigures(s, figure, m)
	} else {
		s.pips(n, m, 46, true)
	}
	return true
}

// written returns the rank as cards show it: 10 for T.
func written(rank string) string { return strings.Replace(rank, "T", "10", 1) }

// jokers are the colours of the jokers.
var jokers = map[string]string{"small": ink, "big": red}

// joker draws a jester, the big one in colours.
func joker(s *sheet, size, colour string) {
	s.card(paper)
	s.twice(func() {
		for i, letter := range []string{"J", "O", "K", "E", "R"} {
			s.write(28, 34+27*float64(i), 32, 30, colour, letter)
		}
	})
	s.draw("french/" + size)
}

// halfFigures draws a court from both ends of the card, in a frame with the suit.
func halfFigures(s *sheet, figure string, m suit) {
	s.box(midX, midY, 144, 316, 0, cream)
	s.twice(func() {
		s.clipped(48, 10, 144, 158, func() { s.add("%s", figure) })
		s.mark("", m, midX-m.side*54, 31, 30, false)
	})
	s.box(midX, midY, 144, 10, 0, gold)
	s.line(navy, 3, "M48 10H192V326H48ZM48 163H192M48 173H192")
}
