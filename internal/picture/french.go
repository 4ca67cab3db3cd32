package picture

import (
	"strings"

	"riffle/internal/deck"
)

// french draws suited cards with their pips, courts as a large letter and jokers.
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
		s.pips(n, m, true)
	case headwear[rank] != "":
		court(s, rank, m)
	default:
		return false
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

// headwear has what the courts wear, drawn upwards from the origin: a feathered cap, a helmet, a
// coronet, a crown.
var headwear = map[string]string{
	"J": `<path d="M-34 0V-12C-34-26-16-30 4-30C18-30 34-24 34-12V0ZM16-30C18-44 30-50 44-48C42-36 34-30 24-28Z"/>`,
	"N": `<path d="M-26 0V-18C-26-34-14-42 0-42C14-42 26-34 26-18V0H8V-16H-8V0ZM-4-42C-8-52 8-56 22-50C14-48 8-46 4-42Z"/>`,
	"Q": `<path d="M-34 0L-38-26L-20-14L0-38L20-14L38-26L34 0Z"/><circle cy="-42" r="6"/>`,
	"K": `<path d="M-36 0V-34L-18-18L-6-32V-40H-12V-46H-6V-52H6V-46H12V-40H6V-32L18-18L36-34V0Z"/>`,
}

// court draws a court card: the letter large, headwear above it and the suit below.
func court(s *sheet, rank string, m suit) {
	s.card(paper)
	s.corners(rank, m)
	s.add(`<rect x="62" y="34" width="116" height="268" rx="8" fill="%s" fill-opacity=".09" stroke="%s"`+
		` stroke-width="4"/>`, m.colour, m.colour)
	s.add(`<g fill="%s" transform="translate(%d 110)">%s</g>`, gold, midX, headwear[rank])
	s.write(midX, midY+2, 108, 104, m.colour, rank)
	s.mark("", m, midX, 264, 52, false)
}

// joker draws a cap with bells, the big one red.
func joker(s *sheet, big bool) {
	colour := ink
	if big {
		colour = red
	}
	s.card(paper)
	s.twice(func() {
		for i, letter := range []string{"J", "O", "K", "E", "R"} {
			s.write(28, 34+27*float64(i), 32, 30, colour, letter)
		}
	})
	s.add(`<g transform="translate(%d 178)scale(.88)" fill="%s"><path d="M-44 40C-44 10-52-10-80 2C-70-46-30-46-15-16`+
		`C-16-44-8-60 0-74C8-60 16-44 15-16C30-46 70-46 80 2C52-10 44 10 44 40Z"/>`, midX, colour)
	s.box(0, 52, 96, 16, 6, gold)
	for _, bell := range [][2]float64{{-80, 8}, {0, -78}, {80, 8}} {
		s.circle(bell[0], bell[1], 11, gold)
	}
	s.add("</g>")
}
