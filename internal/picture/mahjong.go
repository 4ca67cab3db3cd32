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
	default:
		figure := drawings()["mahjong/"+suit+"-"+strconv.Itoa(n)]
		if reddened && n > 1 { // the ones have several colours
			figure = allRed.Replace(figure)
		}
		s.add("%s", figure)
	}
}

// allRed reddens a drawing of dots or bamboos.
var allRed = strings.NewReplacer(green, red, blue, red)

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
