package picture

import (
	"cmp"
	"slices"
	"strings"

	"riffle/internal/deck"
)

// The colours of hanafuda, which were printed by stencils.
const (
	hanaPaper  = "#f7eed8"
	hanaRed    = "#cf2a1e"
	hanaBlack  = "#1f1b1a"
	hanaYellow = "#f2b531"
	hanaBlue   = "#2f4f95"
)

// The rim around the picture of a card.
const (
	hanaLeft, hanaTop     = 13, 13
	hanaWidth, hanaHeight = 214, 310
)

// hanafuda draws the picture of a card, its ribbon, and the number of the month in a corner for
// those who learn the game. The picture is drawings/hanafuda/FLOWER/KIND.svg, or else plain.svg.
func hanafuda(s *sheet, c *deck.Card) bool {
	flower, kind, number := c.Attributes["flower"], c.Attributes["kind"], c.Attributes["month"]
	plain, known := drawings()["hanafuda/"+flower+"/plain"]
	picture := cmp.Or(drawings()["hanafuda/"+flower+"/"+kind], plain)
	_, chaff, _ := strings.Cut(c.Code, "C")
	copied := strings.Index("0123", chaff) // of the chaff; its attributes do not tell
	if !known || !slices.Contains(hanaKinds, kind) || len(number) == 0 || len(number) > 2 || kind == "chaff" && copied < 1 {
		return false
	}
	s.card(hanaBlack)
	s.clipped(hanaLeft, hanaTop, hanaWidth, hanaHeight, func() {
		s.box(midX, midY, hanaWidth, hanaHeight, 0, hanaPaper)
		if kind == "chaff" && copied == 3 {
			s.box(midX, 300, hanaWidth, 90, 0, hanaYellow)
		}
		if kind == "chaff" && copied == 2 {
			s.at(width, 0, -1, 0, func() { s.add("%s", picture) })
		} else {
			s.add("%s", picture)
		}
		if kind == "ribbon" {
			ribbon(s, c.Attributes["ribbon"], flower)
		}
	})
	// The rim hides the edge of the picture.
	s.line(hanaBlack, 4, "M12 12H228V324H12Z")
	s.outlined(hanaPaper, 2, func() { s.circle(28, 308, 14, hanaBlack) })
	s.write(28, 308, 18, 22, hanaPaper, number)
	return true
}

var hanaKinds = []string{"bright", "animal", "ribbon", "chaff"}

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
