package picture

import (
	"strings"

	"riffle/internal/deck"
)

// The colours of hanafuda, which are few as they were printed by stencils.
const (
	hanaPaper  = "#f7eed8"
	hanaRed    = "#cf2a1e"
	hanaBlack  = "#1f1b1a"
	hanaYellow = "#f2b531"
	hanaGreen  = "#2f6b3f"
	hanaLeaf   = "#6fa05a"
	hanaPurple = "#6a4a9e"
	hanaLilac  = "#a98ad0"
	hanaBlue   = "#2f4f95"
	hanaPink   = "#f3a9b5"
	hanaBrown  = "#8a4a25"
	hanaWhite  = "#fffdf6"
	hanaSky    = "#bcd3dd"
)

// The picture of a card lies within its rim.
const (
	hanaLeft, hanaTop     = 13, 13
	hanaWidth, hanaHeight = 214, 310
)

// A month is the four cards of a flower. Their plant is drawn for a scene, a ribbon or as chaff,
// and leaves room for what is in front of it.
type month struct {
	plant  func(s *sheet, arranged layout)
	behind motifs // what is behind the plant
	front  motifs // and what is in front
}

// motifs are parts of scenes by the kind of their card.
type motifs map[string]func(s *sheet)

// A layout is how a plant is arranged.
type layout int

const (
	forBright layout = iota
	forAnimal
	forRibbon
	forChaff
)

var layouts = map[string]layout{"bright": forBright, "animal": forAnimal, "ribbon": forRibbon, "chaff": forChaff}

var months = map[string]month{
	"pine":          {plant: pine, behind: motifs{"bright": sun}, front: motifs{"bright": crane}},
	"plum":          {plant: plum, front: motifs{"animal": warbler}},
	"cherry":        {plant: cherry, front: motifs{"bright": curtain}},
	"wisteria":      {plant: wisteria, behind: motifs{"animal": crescent}, front: motifs{"animal": cuckoo}},
	"iris":          {plant: iris, front: motifs{"animal": bridge}},
	"peony":         {plant: peony, front: motifs{"animal": butterflies}},
	"bush-clover":   {plant: bushClover, front: motifs{"animal": boar}},
	"pampas-grass":  {plant: pampasGrass, behind: motifs{"bright": fullMoon}, front: motifs{"animal": geese}},
	"chrysanthemum": {plant: chrysanthemum, front: motifs{"animal": sakeCup}},
	"maple":         {plant: maple, front: motifs{"animal": deer}},
	"willow":        {plant: willow, behind: motifs{"chaff": storm}, front: motifs{"bright": rainMan, "animal": swallow, "chaff": lightning}},
	"paulownia":     {plant: paulownia, front: motifs{"bright": phoenix}},
}

// hanafuda draws the scene of a card, the plant of its month and its ribbon, with the number of the
// month in a corner for those who learn the game.
func hanafuda(s *sheet, c *deck.Card) bool {
	m, known := months[c.Attributes["flower"]]
	kind := c.Attributes["kind"]
	number := c.Attributes["month"]
	arranged, drawn := layouts[kind]
	_, chaff, _ := strings.Cut(c.Code, "C")
	copied := strings.Index("0123", chaff) // of the chaff, which its attributes do not tell
	if !known || !drawn || len(number) == 0 || len(number) > 2 || kind == "chaff" && copied < 1 {
		return false
	}
	s.card(hanaBlack)
	s.clipped(hanaLeft, hanaTop, hanaWidth, hanaHeight, func() {
		s.box(midX, midY, hanaWidth, hanaHeight, 0, hanaPaper)
		if kind == "chaff" && copied == 3 {
			s.box(midX, 300, hanaWidth, 90, 0, hanaYellow)
		}
		if draw := m.behind[kind]; draw != nil {
			draw(s)
		}
		if kind == "chaff" && copied == 2 {
			s.at(width, 0, -1, 0, func() { m.plant(s, arranged) })
		} else {
			m.plant(s, arranged)
		}
		if kind == "ribbon" {
			ribbon(s, c.Attributes["ribbon"], c.Attributes["flower"])
		}
		if draw := m.front[kind]; draw != nil {
			draw(s)
		}
	})
	// The rim hides the edge of what was cut off.
	s.line(hanaBlack, 4, "M12 12H228V324H12Z")
	s.outlined(hanaPaper, 2, func() { s.circle(28, 308, 14, hanaBlack) })
	s.write(28, 308, 18, 22, hanaPaper, number)
	return true
}

// ribbon draws the slip of paper that poems are written on: red or blue, and the poetry ones say
// that it is clearly good, or, of the cherry trees, where they are the most famous.
func ribbon(s *sheet, kind, flower string) {
	colour, poem := hanaRed, ""
	switch {
	case kind == "blue":
		colour = hanaBlue
	case kind == "poetry" && flower == "cherry":
		poem = "みよしの"
	case kind == "poetry":
		poem = "あかよろし"
	}
	s.at(midX, midY, 1, 7, func() {
		s.line(hanaBlack, 2.5, "M0-112C-14-126-8-142 4-150")
		s.outlined(hanaPaper, 3, func() { s.box(0, 0, 58, 228, 2, colour) })
		kana := []rune(poem)
		step := 212 / float64(max(len(kana), 1))
		for i, char := range kana {
			y := step * (float64(i) - float64(len(kana)-1)/2)
			s.letter(0, y, 44, 50, 0.03, hanaBlack, string(char))
		}
	})
}
