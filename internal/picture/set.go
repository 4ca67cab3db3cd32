package picture

import (
	"math"
	"strings"

	"riffle/internal/deck"
)

// Half the width and height of a shape.
const (
	shapeW = 78.0
	shapeH = 38.0
)

var setColours = map[string]string{"red": "#e0112b", "green": "#008a3e", "purple": "#5b2a91"}

// setShapes are given by their edges: the highest and the lowest y at every x from -shapeW to
// shapeW. Outline and stripes both follow from that, so stripes need no clip path, which would need
// an id.
var setShapes = map[string]func(x float64) (top, bottom float64){
	"diamond": func(x float64) (top, bottom float64) {
		y := shapeH * (1 - math.Abs(x)/shapeW)
		return -y, y
	},
	"oval": func(x float64) (top, bottom float64) {
		y := bar(x, shapeH)
		return -y, y
	},
	"squiggle": func(x float64) (top, bottom float64) {
		middle := 15 * math.Sin(math.Pi*x/shapeW)
		y := bar(x, shapeH-15)
		return middle - y, middle + y
	},
}

// bar is the upper edge of a bar of half height r with round ends.
func bar(x, r float64) float64 {
	over := max(0, math.Abs(x)-(shapeW-r))
	return math.Sqrt(max(0, r*r-over*over))
}

// set draws one to three shapes in a colour and a shading.
func set(s *sheet, c *deck.Card) bool {
	n := strings.Index("123", c.Attributes["number"]) + 1
	colour := setColours[c.Attributes["colour"]]
	edges := setShapes[c.Attributes["shape"]]
	shading := c.Attributes["shading"]
	if n == 0 || len(c.Attributes["number"]) != 1 || colour == "" || edges == nil ||
		shading != "solid" && shading != "striped" && shading != "open" {
		return false
	}
	fill := "none"
	if shading == "solid" {
		fill = colour
	}
	var stripes []byte
	if shading == "striped" {
		b := new(sheet)
		for x := -66.0; x <= 66; x += 12 {
			top, bottom := edges(x)
			b.add("M%v %vV%v", x, tenth(top), tenth(bottom))
		}
		stripes = b.text
	}
	s.card(paper)
	for i := range n {
		s.add(`<g class="pip" transform="translate(%d %v)" fill="%s" stroke="%s" stroke-width="7" stroke-linejoin="round">`+
			`<path d="%s"/>`, midX, midY+98*(float64(i)-float64(n-1)/2), fill, colour, outline(edges))
		if stripes != nil {
			s.add(`<path d="%s" stroke-width="4"/>`, stripes)
		}
		s.add("</g>")
	}
	return true
}

// outline follows the edges all around, with more points towards the ends, where they are steep.
func outline(edges func(float64) (top, bottom float64)) []byte {
	const steps = 24
	var upper, lower sheet
	for i := range steps + 1 {
		x := -shapeW * math.Cos(math.Pi*float64(i)/steps)
		top, _ := edges(x)
		upper.add("%v %v ", tenth(x), tenth(top))
		_, bottom := edges(-x)
		lower.add("%v %v ", tenth(-x), tenth(bottom))
	}
	return append(append([]byte("M"), upper.text...), append(lower.text, 'Z')...)
}
