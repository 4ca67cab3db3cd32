package picture

// A suit is drawn by the file of its name in drawings/suits. Parts without a colour take the suit's.
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
