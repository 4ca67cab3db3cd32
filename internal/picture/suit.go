package picture

// A suit is drawn by the file of its name in drawings/suits. Parts without a colour take the suit's.
type suit struct {
	name, colour string
	side         float64 // of what its courts hold: 1 for the right, -1 for the left
}

var frenchSuits = map[string]suit{
	"spades": {"spades", ink, -1}, "hearts": {"hearts", red, 1}, "diamonds": {"diamonds", red, -1}, "clubs": {"clubs", ink, 1},
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

// corners draws the index of a card, its rank over its suit, in two corners.
func (s *sheet) corners(rank string, m suit) {
	s.twice(func() {
		s.write(32, 36, 52, 42, m.colour, rank)
		s.mark("", m, 32, 83, 33, false)
	})
}

// A place is where a pip is: columns are -1 to 1, and rows 0 at the top to 1 at the bottom.
type place struct{ column, row float64 }

// places returns where cards have n pips, 2 to 10.
func places(n int) []place {
	var all []place
	rows := []float64{0, 1}
	switch n {
	case 2, 3:
		all = []place{{0, 0}, {0, 1}}
		rows = nil
	case 6, 7, 8:
		rows = []float64{0, 0.5, 1}
	case 9, 10:
		rows = []float64{0, 1.0 / 3, 2.0 / 3, 1}
	}
	for _, row := range rows {
		all = append(all, place{-1, row}, place{1, row})
	}
	switch n {
	case 3, 5, 9:
		all = append(all, place{0, 0.5})
	case 7:
		all = append(all, place{0, 0.25})
	case 8:
		all = append(all, place{0, 0.25}, place{0, 0.75})
	case 10:
		all = append(all, place{0, 1.0 / 6}, place{0, 5.0 / 6})
	}
	return all
}

// pips draws n marks, 1 to 10, of a size. If turned, those in the lower half are turned by half a
// circle.
func (s *sheet) pips(n int, m suit, size float64, turned bool) {
	if n == 1 {
		s.mark("pip", m, midX, midY, 2.5*size, false)
		return
	}
	for _, p := range places(n) {
		s.mark("pip", m, midX+39*p.column, 56+224*p.row, size, turned && p.row > 0.5)
	}
}
