package picture

import (
	"strconv"
	"strings"

	"riffle/internal/deck"
)

// mahjong draws tiles with an index for those who do not read them: seasons and flowers by their
// names, the others as drawings/mahjong/SUIT-RANK.svg.
func mahjong(s *sheet, c *deck.Card) bool {
	suit, rank := c.Attributes["suit"], c.Attributes["rank"]
	figure, known := drawings()["mahjong/"+suit+"-"+rank]
	isNumber := len(rank) == 1 && rank >= "1" && rank <= "9"
	bonusColour := map[string]string{"seasons": blue, "flowers": red}[suit]
	if !known && (!isNumber || bonusColour == "") {
		return false
	}
	tile(s, ivory, "#1c7a45", "#d8d2bd")
	switch isRed := c.Attributes["colour"] == "red"; {
	case !known:
		bonus(s, c, bonusColour)
	case isNumber && isRed:
		s.circle(212, 30, 13, red) // on a small tile the colour alone is not seen
		s.write(24, 28, 36, 40, red, rank)
		if rank != "1" || suit == "characters" { // the first dots and bamboos have several colours
			figure = allRed.Replace(figure)
		}
	case isNumber:
		s.write(24, 28, 36, 40, ink, rank)
	}
	s.add("%s", figure)
	return true
}

// allRed reddens a drawing.
var allRed = strings.NewReplacer(green, red, blue, red, ink, red)

// traditional writes the names of flowers, which are simplified, as tiles do.
var traditional = strings.NewReplacer("兰", "蘭")

// bonus draws a season or a flower.
func bonus(s *sheet, c *deck.Card, colour string) {
	s.write(32, 40, 52, 44, colour, c.Attributes["rank"])
	s.write(midX, 146, 150, 180, colour, legible(traditional.Replace(c.Name.Chinese)))
	s.paragraph(262, 38, 200, ink, c.Name.English)
}

// tile draws the body of a tile: its face, the back that shows below and the edge between them.
func tile(s *sheet, face, back, edge string) {
	s.box(midX, 174, 228, 320, 20, back)
	s.box(midX, 166, 228, 316, 20, edge)
	s.box(midX, 156, 228, 304, 20, face)
	s.add(`<rect x="6" y="4" width="228" height="330" rx="20" fill="none" stroke="#8d8a7c" stroke-width="3"/>`)
}

// domino draws the two halves of a domino, up to nine pips each. Those that belong to a group of
// pai gow are black with the pips of Chinese dominoes: ones and fours are red, and half of a six
// where both are.
func domino(s *sheet, c *deck.Card) bool {
	low, err := strconv.Atoi(c.Attributes["low"])
	high, err2 := strconv.Atoi(c.Attributes["high"])
	if err != nil || err2 != nil || low < 0 || high < 0 || low > 9 || high > 9 {
		return false
	}
	chinese := c.Attributes["group"] != ""
	fill, line, pip := ivory, ink, ink
	if chinese {
		fill, line, pip = "#222222", "#777777", paper
	}
	bone(s, fill)
	s.add(`<path d="M60 %d H180" stroke="%s" stroke-width="4"/>`, midY, line)
	for half, n := range []int{low, high} {
		for i, p := range dominoPlaces[n] {
			colour := pip
			if chinese && (n == 1 || n == 4 || low == 6 && high == 6 && i%2 == half) {
				colour = "#ff5148"
			}
			s.add(`<circle class="pip" cx="%v" cy="%v" r="15" fill="%s"/>`, tenth(midX+42*p.column), tenth(90+156*float64(half)+96*(p.row-0.5)), colour)
		}
	}
	return true
}

// bone draws the body of a domino.
func bone(s *sheet, fill string) {
	s.add(`<rect x="42" y="4" width="156" height="328" rx="18" fill="%s" stroke="#666666" stroke-width="4"/>`, fill)
}

// dominoPlaces is where a half has its pips. A six has two columns.
var dominoPlaces = [10][]place{
	{},
	{{0, 0.5}},
	{{-1, 0}, {1, 1}},
	{{-1, 0}, {0, 0.5}, {1, 1}},
	{{-1, 0}, {1, 0}, {-1, 1}, {1, 1}},
	{{-1, 0}, {1, 0}, {0, 0.5}, {-1, 1}, {1, 1}},
	{{-1, 0}, {1, 0}, {-1, 0.5}, {1, 0.5}, {-1, 1}, {1, 1}},
	{{-1, 0}, {1, 0}, {-1, 0.5}, {0, 0.5}, {1, 0.5}, {-1, 1}, {1, 1}},
	{{-1, 0}, {0, 0}, {1, 0}, {-1, 0.5}, {1, 0.5}, {-1, 1}, {0, 1}, {1, 1}},
	{{-1, 0}, {0, 0}, {1, 0}, {-1, 0.5}, {0, 0.5}, {1, 0.5}, {-1, 1}, {0, 1}, {1, 1}},
}
