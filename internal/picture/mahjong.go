package picture

import (
	"strconv"
	"strings"

	"riffle/internal/deck"
)

// An honour is a wind or a dragon. The white dragon has no character but a frame.
type honour struct{ suit, index, character, colour string }

var honours = map[string]honour{
	"east":  {"winds", "E", "東", blue},
	"south": {"winds", "S", "南", blue},
	"west":  {"winds", "W", "西", blue},
	"north": {"winds", "N", "北", blue},
	"white": {"dragons", "", "", blue},
	"green": {"dragons", "", "發", green},
	"red":   {"dragons", "", "中", red},
}

// brush widens characters, because those on tiles are heavier than the font's.
const brush = 0.035

// mahjong draws tiles: dots and bamboos to be counted, the others as characters, with an index for
// those who do not read them.
func mahjong(s *sheet, c *deck.Card) bool {
	suit, rank := c.Attributes["suit"], c.Attributes["rank"]
	n := 0
	if len(rank) == 1 {
		n = strings.Index("123456789", rank) + 1
	}
	h, isHonour := honours[rank]
	switch {
	case n > 0 && (suit == "characters" || suit == "dots" || suit == "bamboos"):
		face(s)
		numbered(s, suit, n, c.Attributes["colour"] == "red")
	case n > 0 && suit == "seasons":
		face(s)
		bonus(s, c, blue)
	case n > 0 && suit == "flowers":
		face(s)
		bonus(s, c, red)
	case isHonour && suit == h.suit:
		face(s)
		h.draw(s)
	default:
		return false
	}
	return true
}

// numbered draws a tile of the three suits. Red fives are red all over.
func numbered(s *sheet, suit string, n int, reddened bool) {
	colour := ink
	if reddened {
		colour = red
		s.circle(212, 30, 13, red) // on a small tile the colour alone is not seen
	}
	s.write(24, 28, 36, 40, colour, strconv.Itoa(n))
	switch suit {
	case "characters":
		s.letter(midX, 92, 116, 150, brush, colour, []string{"一", "二", "三", "四", "五", "六", "七", "八", "九"}[n-1])
		s.letter(midX, 218, 130, 150, brush, red, "萬")
	case "dots":
		dots(s, n, reddened)
	case "bamboos":
		bamboos(s, n, reddened)
	}
}

// bonus draws a season or a flower.
func bonus(s *sheet, c *deck.Card, colour string) {
	s.write(32, 40, 52, 44, colour, c.Attributes["rank"])
	s.letter(midX, 146, 130, 180, brush, colour, legible(c.Name.Chinese))
	s.paragraph(262, 38, 200, ink, c.Name.English)
}

func (h honour) draw(s *sheet) {
	if h.character == "" {
		s.add(`<path fill="none" stroke="%s" stroke-width="9" d="M48 44H192V268H48ZM66 62H174V250H66Z"/>`, h.colour)
		return
	}
	s.letter(midX, 162, 172, 180, brush, h.colour, h.character)
	if h.index != "" {
		s.write(30, 34, 40, 40, h.colour, h.index)
	}
}

// face draws a tile that lies open.
func face(s *sheet) { tile(s, ivory, "#1c7a45", "#d8d2bd") }

// tile draws the body of a tile: its face, the back that shows below and the edge between them.
func tile(s *sheet, face, back, edge string) {
	s.box(midX, 174, 228, 320, 20, back)
	s.box(midX, 166, 228, 316, 20, edge)
	s.box(midX, 156, 228, 304, 20, face)
	s.add(`<rect x="6" y="4" width="228" height="330" rx="20" fill="none" stroke="#8d8a7c" stroke-width="3"/>`)
}

// dotRows is the number of dots in each row. The dots of the three, and the upper three of the seven,
// are also slanted.
var dotRows = [10][]int{{}, {1}, {1, 1}, {1, 1, 1}, {2, 2}, {2, 1, 2}, {2, 2, 2}, {3, 2, 2}, {2, 2, 2, 2}, {3, 3, 3}}

// dots draws n circles.
func dots(s *sheet, n int, reddened bool) {
	if n == 1 {
		s.pip(midX, 156, 74, green)
		s.circle(midX, 156, 56, ivory)
		s.circle(midX, 156, 46, red)
		s.circle(midX, 156, 18, ivory)
		return
	}
	rows := dotRows[n]
	for i, count := range rows {
		colour, r := []string{blue, red, green, blue}[i], 26.0
		if n <= 5 {
			r = 31
		}
		y := 156 + 208*(float64(i)/float64(len(rows)-1)-0.5)
		for j := range count {
			across := float64(j) - float64(count-1)/2 // from the middle of the row
			x := midX + 80*across
			switch {
			case n == 3:
				x = midX + 46*float64(i-1)
			case n == 7 && i == 0:
				x, y, colour = midX+56*across, 80+36*across, green
			case n == 7:
				x, y, colour = midX+64*across, 126+62*float64(i), red
			case n == 9:
				x = midX + 58*across
			}
			if reddened {
				colour = red
			}
			s.pip(x, y, r, colour)
			s.circle(x, y, r*0.6, ivory)
			s.circle(x, y, r*0.38, colour)
		}
	}
}

// bambooRows is the number of sticks in each row.
var bambooRows = [10][]int{{}, {1}, {1, 1}, {1, 2}, {2, 2}, {2, 1, 2}, {3, 3}, {1, 3, 3}, {3, 2, 3}, {3, 3, 3}}

// bamboos draws n sticks; the one is a bird.
func bamboos(s *sheet, n int, reddened bool) {
	if n == 1 {
		s.add(`<g class="pip">`)
		s.draw("mahjong/sparrow")
		s.add("</g>")
		return
	}
	rows := bambooRows[n]
	h := 112.0
	if len(rows) == 3 {
		h = 84
	}
	for i, count := range rows {
		y := 158 + (h+10)*(float64(i)-float64(len(rows)-1)/2)
		for j := range count {
			x := midX + 58*(float64(j)-float64(count-1)/2)
			colour := green
			switch {
			case reddened, count == 1 && n > 3, n == 9 && j == 1:
				colour = red
			case n == 6 && i == 1, n == 8 && i == 1:
				colour = blue
			}
			if count == 2 && n != 3 {
				x = midX + 84*(float64(j)-0.5)
			}
			stick(s, x, y, h, 28, colour)
		}
	}
}

// stick draws a length of bamboo with its knots.
func stick(s *sheet, x, y, h, w float64, colour string) {
	s.add(`<g class="pip" fill="%s">`, colour)
	s.box(x, y, w*0.7, h, w*0.2, colour)
	for _, knot := range []float64{-0.5, 0, 0.5} {
		s.box(x, y+knot*(h-w*0.5), w, w*0.5, w*0.2, colour)
	}
	s.box(x, y-h*0.24, w*0.18, h*0.3, 0, ivory)
	s.box(x, y+h*0.24, w*0.18, h*0.3, 0, ivory)
	s.add("</g>")
}
