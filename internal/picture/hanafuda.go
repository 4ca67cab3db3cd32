package picture

import (
	"strings"

	"riffle/internal/deck"
)

// A flower is one part of it, drawn upwards from the origin, that is repeated around the origin.
type flower struct {
	part   string
	colour string
	y      int // of the origin
	first  int // degrees from upright
	step   int
	n      int
	thin   bool // so much that no edge is left between the parts
}

var flowers = map[string]flower{
	"pine": {
		"M-3 0L0-72L3 0ZM-3-20L-18-60L3-24ZM-3-24L18-60L3-20Z",
		"#14532d", 184, -90, 30, 7, true,
	},
	"plum": {
		"M0-6C-30-14-32-58 0-60C32-58 30-14 0-6Z",
		"#d6336c", 150, 0, 72, 5, false,
	},
	"cherry": {
		"M0-4C-34-22-26-64-8-68L0-56L8-68C26-64 34-22 0-4Z",
		"#ec6f9c", 150, 0, 72, 5, false,
	},
	"wisteria": {
		"M0 0C-20-6-22-30-6-34C-16-44-12-60 0-70C12-60 16-44 6-34C22-30 20-6 0 0Z",
		"#7e57c2", 116, 100, 40, 5, false,
	},
	"iris": {
		"M0 0C-36-16-26-56 0-72C26-56 36-16 0 0Z",
		"#3f4db8", 160, 0, 120, 3, false,
	},
	"peony": {
		"M0 0C-34-20-30-62-10-58L0-66L10-58C30-62 34-20 0 0Z",
		"#c2185b", 150, 0, 45, 8, false,
	},
	"bush-clover": {
		"M0-6C-30-24-30-58 0-76C30-58 30-24 0-6Z",
		"#8e3b8a", 178, -60, 60, 3, false,
	},
	"pampas-grass": {
		"M-2 0L-4-50C-14-58-8-74 0-80C8-74 14-58 4-50L2 0Z",
		"#8d7b3a", 190, -70, 28, 6, true,
	},
	"chrysanthemum": {
		"M0-12C-8-24-8-60 0-68C8-60 8-24 0-12Z",
		"#d98200", 150, 0, 24, 15, true,
	},
	"maple": {
		"M0 0L-13-30L-24-36L-11-46L0-78L11-46L24-36L13-30Z",
		"#d84315", 158, -116, 58, 5, true,
	},
	"willow": {
		"M-2 0C-30-30-26-60-14-84C-16-58-10-30 2 0ZM-10-24L-32-34L-16-40ZM-16-48L-36-62L-18-62Z",
		"#558b2f", 108, 120, 24, 6, true,
	},
	"paulownia": {
		"M0 0C-40-10-38-40-22-46C-18-62-8-68 0-78C8-68 18-62 22-46C38-40 40-10 0 0Z",
		"#6a1b9a", 166, -110, 110, 3, false,
	},
}

// hanafuda draws the flower of the month with its number, what the card is worth, and the name.
func hanafuda(s *sheet, c *deck.Card) bool {
	f, known := flowers[c.Attributes["flower"]]
	kind := c.Attributes["kind"]
	month := c.Attributes["month"]
	_, chaff, _ := strings.Cut(c.Code, "C")
	number := strings.Index("0123", chaff) // of the chaff, which its attributes do not tell
	if !known || len(month) == 0 || len(month) > 2 ||
		kind != "bright" && kind != "animal" && kind != "ribbon" && (kind != "chaff" || number < 1) {
		return false
	}
	s.card("#5d1a1a")
	s.box(midX, midY, 214, 310, 10, "#fff8e7")
	if kind == "bright" {
		s.circle(midX, 150, 84, "#ffd54f")
	}
	edge := "#fff8e7"
	if f.thin {
		edge = f.colour
	}
	s.add(`<g fill="%s" stroke="%s" stroke-width="2" transform="translate(%d %d)">`, f.colour, edge, midX, f.y)
	for i := range f.n {
		s.add(`<path transform="rotate(%d)" d="%s"/>`, f.first+i*f.step, f.part)
	}
	s.circle(0, 0, 9, "#ffe082")
	s.add("</g>")
	s.write(48, 48, 54, 62, ink, month)
	switch kind {
	case "bright":
		s.circle(194, 50, 26, red)
		s.write(194, 50, 36, 44, paper, "光")
	case "animal":
		s.box(194, 50, 52, 52, 10, "#14532d")
		s.write(194, 50, 36, 44, paper, "種")
	case "ribbon":
		ribbon(s, c.Attributes["ribbon"])
	case "chaff":
		for i := range number {
			s.circle(206-24*float64(i), 44, 9, grey)
		}
	}
	s.paragraph(278, 34, 196, ink, c.Name.English)
	return true
}

// ribbon draws the slip of paper: red or blue, the poetry ones with writing.
func ribbon(s *sheet, kind string) {
	colour := red
	if kind == "blue" {
		colour = blue
	}
	s.add(`<g transform="rotate(8 190 130)">`)
	s.box(190, 130, 36, 190, 2, colour)
	if kind == "poetry" {
		s.add(`<path fill="none" stroke="%s" stroke-width="5" `+
			`d="M190 50V84M190 96V146M190 158V208M182 60H198M182 116H198M182 180H198"/>`, paper)
	}
	s.add("</g>")
}
