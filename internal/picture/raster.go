package picture

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"maps"
	"math"
	"math/cmplx"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/vector"
)

// An element is a part of a document.
type element struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Inner      []element  `xml:",any"`
}

// A pen draws elements on a canvas. Points are complex numbers, x + yi.
type pen struct {
	canvas     *image.RGBA       // what is beside it is cut off
	a, b, c    complex128        // a point z of an element lies at a·z + b·z̄ + c on the canvas
	attributes map[string]string // of the element, and those that it inherits
}

// newPen returns a pen for documents whose origin is at a point of the canvas, and their unit so
// many pixels.
func newPen(canvas *image.RGBA, at complex128, scale float64) pen {
	usual := map[string]string{"fill": "#000000", "stroke": "none", "stroke-width": "1", "stroke-opacity": "1"}
	return pen{canvas: canvas, a: complex(scale, 0), c: at, attributes: usual}
}

// draw draws a document. It knows just the markup that this package writes.
func (p pen) draw(document []byte) {
	var root element
	if err := xml.Unmarshal(document, &root); err != nil {
		panic(err)
	}
	p.element(&root)
}

// element draws an element, and what is in it.
func (p pen) element(e *element) {
	p.attributes = maps.Clone(p.attributes)
	p.attributes["transform"] = ""
	for _, a := range e.Attributes {
		p.attributes[a.Name.Local] = a.Value
	}
	p.move()
	x, y, w, h, rx, ry := p.number("x"), p.number("y"), p.number("width"), p.number("height"), p.number("rx"), p.number("ry")
	cx, cy, r := p.number("cx"), p.number("cy"), p.number("r")
	switch e.XMLName.Local {
	case "svg":
		if w > 0 {
			p.canvas = p.canvas.SubImage(bounds(p.at(complex(x, y)), p.at(complex(x+w, y+h)))).(*image.RGBA)
		}
	case "path":
		p.paint(p.path())
	case "rect":
		p.paint([][]complex128{p.rounded(x, y, w, h, rx, rx)})
	case "ellipse":
		p.paint([][]complex128{p.rounded(cx-rx, cy-ry, 2*rx, 2*ry, rx, ry)})
	case "circle":
		p.paint([][]complex128{p.rounded(cx-r, cy-r, 2*r, 2*r, r, r)})
	}
	for i := range e.Inner {
		p.element(&e.Inner[i])
	}
}

// number returns the value of an attribute; 0 for none.
func (p *pen) number(attribute string) float64 { return append(numbers(p.attributes[attribute]), 0)[0] }

// at returns where a point of the element lies on the canvas.
func (p *pen) at(z complex128) complex128 { return p.a*z + p.b*cmplx.Conj(z) + p.c }

// scale returns the pixels in a unit of the element. Factors of x and y differ in their sign at most.
func (p *pen) scale() float64 { return cmplx.Abs(p.a) + cmplx.Abs(p.b) }

var (
	commands = regexp.MustCompile(`(rotate|scale|translate|[A-Za-z])([^A-Za-z]*)`)
	digits   = regexp.MustCompile(`-?(\d+\.?\d*|\.\d+)`)
)

// numbers returns the numbers in a text.
func numbers(text string) (all []float64) {
	for _, found := range digits.FindAllString(text, -1) {
		n, _ := strconv.ParseFloat(found, 64)
		all = append(all, n)
	}
	return all
}

// move applies the transform of the element.
func (p *pen) move() {
	for _, command := range commands.FindAllStringSubmatch(p.attributes["transform"], -1) {
		n := append(numbers(command[2]), 0, 0)
		switch command[1] {
		case "translate":
			p.c = p.at(complex(n[0], n[1]))
		case "rotate":
			turn, centre := cmplx.Rect(1, n[0]*math.Pi/180), complex(n[1], n[2])
			p.a, p.b, p.c = p.a*turn, p.b*cmplx.Conj(turn), p.at(centre-turn*centre)
		case "scale":
			x, y := n[0], cmp.Or(n[1], n[0])
			same, mirrored := complex((x+y)/2, 0), complex((x-y)/2, 0)
			p.a, p.b = p.a*same+p.b*mirrored, p.a*mirrored+p.b*same
		}
	}
}

// arguments is the number of arguments of each command of a path.
var arguments = map[string]int{"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4}

// path returns the lines of a path on the canvas.
func (p *pen) path() (lines [][]complex128) {
	var from, start complex128
	for _, command := range commands.FindAllStringSubmatch(p.attributes["d"], -1) {
		name := strings.ToUpper(command[1])
		if name == "Z" {
			last := &lines[len(lines)-1]
			*last, from = append(*last, (*last)[:2]...), start
			continue
		}
		for n := range slices.Chunk(numbers(command[2]), arguments[name]) {
			base := 0i
			if command[1] >= "a" { // relative
				base = from
			}
			switch name {
			case "H":
				n = []float64{n[0], imag(from - base)}
			case "V":
				n = []float64{real(from - base), n[0]}
			}
			curve := []complex128{from}
			for pair := range slices.Chunk(n, 2) {
				curve = append(curve, base+complex(pair[0], pair[1]))
			}
			from = curve[len(curve)-1]
			if last := len(lines) - 1; name == "M" {
				lines, start, name = append(lines, []complex128{p.at(from)}), from, "L"
			} else {
				lines[last] = p.curve(lines[last], curve...)
			}
		}
	}
	return lines
}

// curve appends points of a line or a Bézier curve, by de Casteljau's construction.
func (p *pen) curve(points []complex128, curve ...complex128) []complex128 {
	bend := 0.0
	for i := 2; i < len(curve); i++ {
		bend += cmplx.Abs(curve[i-2] - 2*curve[i-1] + curve[i])
	}
	steps := math.Ceil(1 + math.Sqrt(2*bend*p.scale())) // the line is a quarter of a pixel away at most
	for i := 1.0; i <= steps; i++ {
		between := slices.Clone(curve)
		for n := len(curve) - 1; n > 0; n-- {
			for k := range n {
				between[k] += (between[k+1] - between[k]) * complex(i/steps, 0)
			}
		}
		points = append(points, p.at(between[0]))
	}
	return points
}

// control is how far from the ends of a quarter of a circle the control points of its curve are, in
// radii.
const control = 0.5523

// rounded returns a rectangle with round corners.
func (p *pen) rounded(x, y, w, h, rx, ry float64) (points []complex128) {
	from, ahead := complex(x+rx, y), 1+0i
	for range 4 {
		begin := from + ahead*complex(w-2*rx, 0)
		corner := begin + ahead*complex(rx, 0)
		end := corner + ahead*complex(0, ry)
		points = p.curve(append(points, p.at(from), p.at(begin)), begin, begin+control*(corner-begin), end+control*(corner-end), end)
		from, ahead, w, h, rx, ry = end, ahead*1i, h, w, ry, rx
	}
	return append(points, points[:2]...)
}

// paint fills and strokes the lines on the canvas. What is closed ends with its first two points.
func (p *pen) paint(lines [][]complex128) {
	var strokes [][]complex128
	for _, points := range lines {
		strokes = append(strokes, p.stroke(points)...)
	}
	p.cover(lines, p.attributes["fill"], 1)
	p.cover(strokes, p.attributes["stroke"], p.number("stroke-opacity"))
}

// stroke returns what a line with round corners covers. All areas go round in one direction: where they
// overlap, they would cancel each other out otherwise.
func (p *pen) stroke(points []complex128) (areas [][]complex128) {
	half, before, isRound := p.number("stroke-width")*p.scale()/2, 0i, p.attributes["stroke-linecap"] == "round"
	disc := func(z complex128) {
		areas = append(areas, (&pen{a: 1}).rounded(real(z)-half, imag(z)-half, 2*half, 2*half, half, half))
	}
	for i, to := range points[1:] {
		from := points[i]
		ahead := (to - from) / complex(max(cmplx.Abs(to-from), 1e-9)/half, 0)
		if (before != 0 || isRound) && cmplx.Abs(ahead-before) > 0.5 {
			disc(from)
		}
		side := ahead * 1i
		areas = append(areas, []complex128{from + side, from - side, to - side, to + side})
		before = ahead
	}
	if isRound {
		disc(points[len(points)-1])
	}
	return areas
}

// cover fills areas with a colour.
func (p *pen) cover(areas [][]complex128, name string, opacity float64) {
	box := bounds(slices.Concat(areas...)...).Intersect(p.canvas.Rect)
	if name == "none" || box.Empty() {
		return
	}
	v := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, area := range areas {
		draw := v.MoveTo
		for _, z := range area {
			draw(float32(real(z))-float32(box.Min.X), float32(imag(z))-float32(box.Min.Y))
			draw = v.LineTo
		}
		v.ClosePath()
	}
	colour := color.NRGBA{A: uint8(255 * opacity)}
	_, _ = fmt.Sscanf(name, "#%02x%02x%02x", &colour.R, &colour.G, &colour.B)
	v.Draw(p.canvas, box, image.NewUniform(colour), image.Point{})
}

// bounds returns the smallest rectangle around points.
func bounds(points ...complex128) (r image.Rectangle) {
	for _, z := range points {
		x, y := int(math.Floor(real(z))), int(math.Floor(imag(z)))
		r = r.Union(image.Rect(x, y, x+1, y+1))
	}
	return r
}
