package picture

import (
	"strconv"
	"strings"

	"riffle/internal/deck"
)

// A suit is drawn by the file of its name in drawings/suits. Parts without a colour take the
// suit's.
type suit struct {
	name, colour string
	side         float64 // of what its courts hold: 1 for the right, -1 for the left
}

var frenchSuits = map[string]suit{
	"spades": {"spades", ink, -1}, "hearts": {"hearts", red, 1}, "diamonds": {"diamonds", red, -1}, "clubs": {"clubs", ink, 1},
}

// tarotSuits are by the French suits, which the codes of the cards name.
var tarotSuits = map[string]suit{
	"spades": {"swords", blue, -1}, "hearts": {"cups", "#b3202c", 1}, "diamonds": {"pentacles", "#8a5a00", -1}, "clubs": {"wands", green, 1},
}

var latinSuits = map[string]suit{
	"oros": {"oros", "#8a5a00", 1}, "copas": {"copas", "#b3202c", 1}, "espadas": {"espadas", blue, 1}, "bastos": {"bastos", green, 1},
}

// mark draws a suit around a point, upright or turned by half a circle.
func (s *sheet) mark(class string, m suit, x, y, size float64, turned bool) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	turn := ""
	if turned {
		turn = "rotate(180)"
	}
	s.add(`<g%s fill="%s" transform="translate(%v %v)%sscale(%v)">%s</g>`,
		class, m.colour, tenth(x), tenth(y), turn, size/100, drawings()["suits/"+m.name])
}

// corners draws the index of a card, its rank over its suit, in two corners, at x from the edge.
func (s *sheet) corners(x float64, rank string, m suit) {
	s.twice(func() {
		s.write(x, 36, 52, 42, m.colour, rank)
		s.mark("", m, x, 83, 33, false)
	})
}

// A place is where a pip is: columns are -1 to 1, and rows 0 at the top to 1 at the bottom.
type place struct{ column, row float64 }

// pipPlaces is where cards have 2 to 10 pips.
var pipPlaces = [11][]place{
	2:  {{0, 0}, {0, 1}},
	3:  {{0, 0}, {0, 1}, {0, 0.5}},
	4:  {{-1, 0}, {1, 0}, {-1, 1}, {1, 1}},
	5:  {{-1, 0}, {1, 0}, {-1, 1}, {1, 1}, {0, 0.5}},
	6:  {{-1, 0}, {1, 0}, {-1, 0.5}, {1, 0.5}, {-1, 1}, {1, 1}},
	7:  {{-1, 0}, {1, 0}, {-1, 0.5}, {1, 0.5}, {-1, 1}, {1, 1}, {0, 0.25}},
	8:  {{-1, 0}, {1, 0}, {-1, 0.5}, {1, 0.5}, {-1, 1}, {1, 1}, {0, 0.25}, {0, 0.75}},
	9:  {{-1, 0}, {1, 0}, {-1, third}, {1, third}, {-1, 2 * third}, {1, 2 * third}, {-1, 1}, {1, 1}, {0, 0.5}},
	10: {{-1, 0}, {1, 0}, {-1, third}, {1, third}, {-1, 2 * third}, {1, 2 * third}, {-1, 1}, {1, 1}, {0, third / 2}, {0, 2.5 * third}},
}

const third = 1.0 / 3

// pips draws n marks, 1 to 10, of a size. If turned, those in the lower half are turned by half a
// circle.
func (s *sheet) pips(n int, m suit, size float64, turned bool) {
	if n == 1 {
		s.mark("pip", m, midX, midY, 2.5*size, false)
		return
	}
	for _, p := range pipPlaces[n] {
		s.mark("pip", m, midX+39*p.column, 56+224*p.row, size, turned && p.row > 0.5)
	}
}

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
	s.add("%s", drawings()["french/"+size])
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

// tarot draws the four suits as french does but with their own marks, and the trumps and the Fool
// with their number, the emblem from the packs of Marseille and their title.
func tarot(s *sheet, c *deck.Card) bool {
	number, suitName := c.Attributes["rank"], c.Attributes["suit"]
	if m, known := tarotSuits[suitName]; known {
		return suited(s, c, m, strings.Replace(written(number), "J", "P", 1)) // the page
	}
	if suitName != "trumps" && suitName != "fool" {
		return false
	}
	emblem, known := drawings()["tarot/"+number]
	if !known || (suitName == "fool") != (number == "0") {
		return false
	}
	s.card("#fbf6ff")
	s.add(`<rect x="20" y="72" width="200" height="192" rx="8" fill="#f1e6fb" stroke="%s" stroke-width="3"/>`, purple)
	for _, x := range []float64{42, 198} {
		if suitName == "fool" {
			s.at(x, 24, 1, 0, func() { s.add(`<path fill="%s" d="%s"/>`, purple, starPath) })
		} else {
			s.write(x, 42, 50, 54, purple, number)
		}
	}
	s.paragraph(298, 30, 204, purple, c.Name.English)
	s.at(midX, midY, 1, 0, func() { s.add("%s", emblem) })
	return true
}

// starPath is a star with six points.
const starPath = "M0-9L7 5L24 5L14 18L24 31L7 31L0 46L-7 31L-24 31L-14 18L-24 5L-7 5Z"

// gaps is the number of breaks in a Spanish suit's frame, by which players tell suits in a fanned
// hand.
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
	s.add("%s", drawings()["latin/"+rank+"-"+suitName])
	s.mark("", m, 181, 58, 62, false)
	return true
}
