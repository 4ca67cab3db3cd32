package picture

import (
	"strconv"

	"riffle/internal/deck"
)

// gaps is the number of breaks in a Spanish suit's frame, by which players tell suits in a fanned hand.
var gaps = map[string]int{"oros": 0, "copas": 1, "espadas": 2, "bastos": 3}

// latin draws Spanish-suited cards: 1 to 9 with their marks, the courts as whole figures.
func latin(s *sheet, c *deck.Card) bool {
	rank, suitName := c.Attributes["rank"], c.Attributes["suit"]
	n, err := strconv.Atoi(rank)
	m, suited := latinSuits[suitName]
	if err != nil || !suited || n < 1 || n > 12 {
		return false
	}
	s.card("#fffaf0")
	s.line(ink, 2, "M8 24C8 14 14 8 24 8H216C226 8 232 14 232 24V312C232 322 226 328 216 328H24C14 328 8 322 8 312Z")
	for i := range gaps[suitName] {
		x := midX + 34*(float64(i)-float64(gaps[suitName]-1)/2)
		s.box(x, 8, 14, 5, 0, "#fffaf0")
		s.box(x, 328, 14, 5, 0, "#fffaf0")
	}
	s.corners(32, rank, m)
	if n < 10 {
		s.pips(n, m, 58, false)
		return true
	}
	s.draw("latin/" + rank + "-" + suitName)
	s.mark("", m, 181, 58, 62, false)
	return true
}
