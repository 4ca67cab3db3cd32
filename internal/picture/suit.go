package picture

// A suit is the mark of a suit. The shape fills the square from -50 to 50; parts of it without a
// colour take that of the suit.
type suit struct {
	shape  string
	colour string
}

var frenchSuits = map[string]suit{
	"spades": {`<path d="M0-48C18-26 46-8 46 16C46 31 35 38 24 38C15 38 8 33 4 26C5 36 9 44 16 48H-16` +
		`C-9 44-5 36-4 26C-8 33-15 38-24 38C-35 38-46 31-46 16C-46-8-18-26 0-48Z"/>`, ink},
	"hearts": {`<path d="M0 46C-16 24-46 4-46-20C-46-37-35-46-23-46C-12-46-4-39 0-29C4-39 12-46 23-46` +
		`C35-46 46-37 46-20C46 4 16 24 0 46Z"/>`, red},
	"diamonds": {`<path d="M0-50C10-30 24-14 40 0C24 14 10 30 0 50C-10 30-24 14-40 0C-24-14-10-30 0-50Z"/>`, red},
	"clubs": {`<path d="M-12-11A21 21 0 1 1 12-11A22 22 0 1 1 5 20C6 34 10 43 17 48H-17C-10 43-6 34-5 20` +
		`A22 22 0 1 1-12-11Z"/>`, ink},
}

var latinSuits = map[string]suit{
	// A coin.
	"oros": {`<circle r="44" fill="#e0a100" stroke="#8a5a00" stroke-width="7"/>` +
		`<path d="M0-28L8-8L28 0L8 8L0 28L-8 8L-28 0L-8-8Z" fill="#8a5a00"/>`, "#8a5a00"},
	// A cup.
	"copas": {`<path d="M-38-46H38C38-8 24 8 8 12V30C22 32 28 38 28 48H-28C-28 38-22 32-8 30V12C-24 8-38-8-38-46Z"/>` +
		`<path d="M-30-36H30L28-24H-28Z" fill="#f2b8b0"/>`, "#b3202c"},
	// A sword, point up.
	"espadas": {`<path d="M0-50L12-34V14H34V28H9V40H-9V28H-34V14H-12V-34Z"/><circle cy="43" r="9" fill="#e0a100"/>`, blue},
	// A club, thick end up.
	"bastos": {`<g transform="rotate(24)">` +
		`<path d="M-14-47C-6-57 8-57 15-47C21-30 12 20 7 46C4 53-4 53-7 46C-12 20-20-30-14-47Z"/>` +
		`<path d="M14-34L28-42L25-25L13-16ZM-14-14L-28-20L-24-4L-11 2ZM10 6L20 0L17 14L8 20Z"/>` +
		`<path d="M-4-40V-20M4-8V12M-2 18V34" stroke="#cfe8d5" stroke-width="4" stroke-linecap="round"/></g>`, green},
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
		class, m.colour, tenth(x), tenth(y), turn, size/100, m.shape)
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
