package picture

import (
	"strconv"

	"riffle/internal/deck"
)

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
