package picture

import (
	"strconv"

	"riffle/internal/deck"
)

// courts are the three that Spanish packs have.
var courts = map[string]string{"10": "Sota", "11": "Caballo", "12": "Rey"}

// latin draws Spanish-suited cards: 1 to 9 with their marks, the courts with their number and
// title.
func latin(s *sheet, c *deck.Card) bool {
	rank := c.Attributes["rank"]
	n, err := strconv.Atoi(rank)
	m, suited := latinSuits[c.Attributes["suit"]]
	if err != nil || !suited || n < 1 || n > 12 {
		return false
	}
	s.card("#fffaf0")
	s.corners(rank, m)
	if n < 10 {
		s.pips(n, m, false)
		return true
	}
	s.add(`<rect x="62" y="34" width="116" height="268" rx="8" fill="none" stroke="%s" stroke-width="4"/>`, m.colour)
	s.mark("", m, midX, 104, 92, false)
	s.write(midX, 204, 84, 100, m.colour, rank)
	s.write(midX, 270, 40, 104, ink, courts[rank])
	return true
}
