package picture

import (
	"embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strings"
	"sync"
)

// The canvas, in the units of the view box.
const (
	width  = 240
	height = 336
	midX   = width / 2
	midY   = height / 2
)

// The colours that several families share.
const (
	ink    = "#1a1a1a"
	paper  = "#ffffff"
	ivory  = "#fffdf0"
	red    = "#c8102e"
	green  = "#12803c"
	blue   = "#1b5fb4"
	gold   = "#e0a100"
	purple = "#6b2fa0"
	navy   = "#1f3a8a"
	cream  = "#fdf8ea"
)

// A sheet is an SVG document being written.
type sheet struct{ text []byte }

// newSheet opens a document. Screen readers read its title.
func newSheet(title string) *sheet {
	s := &sheet{text: make([]byte, 0, 8<<10)}
	s.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img"><title>%s</title>`,
		width, height, escape(title))
	return s
}

// close ends the document and returns it.
func (s *sheet) close() []byte {
	s.add("</svg>\n")
	return s.text
}

// add writes markup.
func (s *sheet) add(format string, args ...any) { s.text = fmt.Appendf(s.text, format, args...) }

// card draws the outline that playing cards have.
func (s *sheet) card(fill string) {
	s.add(`<rect x="2" y="2" width="236" height="332" rx="18" fill="%s" stroke="#9aa0a6" stroke-width="3"/>`, fill)
}

// box draws a rectangle with round corners around a centre.
func (s *sheet) box(x, y, w, h, radius float64, fill string) {
	s.add(`<rect x="%v" y="%v" width="%v" height="%v" rx="%v" fill="%s"/>`,
		tenth(x-w/2), tenth(y-h/2), tenth(w), tenth(h), tenth(radius), fill)
}

// circle draws a disc.
func (s *sheet) circle(x, y, r float64, fill string) {
	s.add(`<circle cx="%v" cy="%v" r="%v" fill="%s"/>`, tenth(x), tenth(y), tenth(r), fill)
}

// twice draws something upright and again turned by half a circle, for both ends of a card.
func (s *sheet) twice(draw func()) {
	draw()
	s.add(`<g transform="rotate(180 %d %d)">`, midX, midY)
	draw()
	s.add("</g>")
}

// line strokes a path.
func (s *sheet) line(stroke string, width float64, path string) {
	s.add(`<path fill="none" stroke="%s" stroke-width="%v" d="%s"/>`, stroke, tenth(width), path)
}

// outlined draws what is in it with a line around every shape.
func (s *sheet) outlined(stroke string, width float64, draw func()) {
	s.add(`<g stroke="%s" stroke-width="%v" stroke-linejoin="round" stroke-linecap="round">`, stroke, tenth(width))
	draw()
	s.add("</g>")
}

// at moves the origin to a point, turns by degrees and scales. A negative scale mirrors left and
// right.
func (s *sheet) at(x, y, scale, turn float64, draw func()) {
	s.add(`<g transform="translate(%v %v)`, tenth(x), tenth(y))
	if turn != 0 {
		s.add("rotate(%v)", tenth(turn))
	}
	switch {
	case scale < 0:
		s.add("scale(%v %v)", thousandth(scale), thousandth(-scale))
	case scale != 1:
		s.add("scale(%v)", thousandth(scale))
	}
	s.add(`">`)
	draw()
	s.add("</g>")
}

// clipped draws what is in it and cuts it off at the edges of a rectangle.
func (s *sheet) clipped(x, y, w, h float64, draw func()) {
	s.add(`<svg x="%v" y="%v" width="%v" height="%v" viewBox="%v %v %v %v">`, x, y, w, h, x, y, w, h)
	draw()
	s.add("</svg>")
}

// escape escapes text for an element. Characters that XML does not allow become U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder never fails
	return b.String()
}

// tenth rounds a coordinate to a tenth, which is finer than anyone sees, to keep numbers short.
func tenth(x float64) float64 { return math.Round(x*10) / 10 }

// thousandth rounds a factor.
func thousandth(x float64) float64 { return math.Round(x*1000) / 1000 }

//go:embed drawings
var drawingFiles embed.FS

// drawings returns the content of each SVG file in the folder drawings, by its path without
// "drawings/" and ".svg".
var drawings = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	err := fs.WalkDir(drawingFiles, "drawings", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, _ := drawingFiles.ReadFile(file)
		name := strings.TrimSuffix(strings.TrimPrefix(file, "drawings/"), ".svg")
		if all[name], err = content(string(text)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

var (
	svgElement  = regexp.MustCompile(`(?s)<svg\b[^>]*>(.*)</svg>`)
	betweenTags = regexp.MustCompile(`>\s+<`)
)

// content returns the markup inside the svg element of a file, without white space between tags.
func content(text string) (string, error) {
	found := svgElement.FindStringSubmatch(text)
	if found == nil {
		return "", errors.New("no svg element")
	}
	return betweenTags.ReplaceAllString(strings.TrimSpace(found[1]), "><"), nil
}
