package picture

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
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
	grey   = "#8a8f98"
)

// A sheet is an SVG document being written.
type sheet struct{ text []byte }

// newSheet opens a document. Screen readers read its title.
func newSheet(title string) *sheet {
	s := new(sheet)
	s.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img"`+
		` font-family="Helvetica,Arial,sans-serif" font-weight="700" text-anchor="middle"><title>%s</title>`,
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

// pip draws a disc that counts.
func (s *sheet) pip(x, y, r float64, fill string) {
	s.add(`<circle class="pip" cx="%v" cy="%v" r="%v" fill="%s"/>`, tenth(x), tenth(y), tenth(r), fill)
}

// twice draws something upright and again turned by half a circle, for both ends of a card.
func (s *sheet) twice(draw func()) {
	draw()
	s.add(`<g transform="rotate(180 %d %d)">`, midX, midY)
	draw()
	s.add("</g>")
}

// write centres a line of text on a point, in the given size or a smaller one that fits the room.
func (s *sheet) write(x, y, size, room float64, fill, line string) {
	size = min(size, room/ems(line))
	// The middle of capitals and of Chinese characters is a third of the size above the base line.
	s.add(`<text x="%v" y="%v" font-size="%v" fill="%s">%s</text>`,
		tenth(x), tenth(y+0.36*size), tenth(size), fill, escape(line))
}

// paragraph centres text on the card at the height y, in the one to three lines that make it
// largest; a further line has to enlarge it by 15%. It is at most room wide and at most the size;
// three lines are as high as two of that size.
func (s *sheet) paragraph(y, size, room float64, fill, words string) {
	var best []string
	var largest float64
	for n := 1; n <= 3; n++ {
		lines := wrap(words, n)
		var widest float64
		for _, line := range lines {
			widest = max(widest, ems(line))
		}
		if fits := min(size, room/widest, 2*size/float64(len(lines))); fits > 1.15*largest {
			best, largest = lines, fits
		}
	}
	const leading = 1.1
	for i, line := range best {
		s.write(midX, y+(float64(i)-float64(len(best)-1)/2)*leading*largest, largest, room, fill, line)
	}
}

// wrap breaks text at its spaces into at most n lines of about the same length.
func wrap(text string, n int) []string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return []string{text}
	}
	for limit := ems(text) / float64(n); ; limit *= 1.05 {
		lines := []string{words[0]}
		for _, word := range words[1:] {
			if longer := lines[len(lines)-1] + " " + word; ems(longer) <= limit {
				lines[len(lines)-1] = longer
			} else {
				lines = append(lines, word)
			}
		}
		if len(lines) <= n {
			return lines
		}
	}
}

// ems estimates the width of bold text in multiples of its size. It errs on the wide side, as the
// font is the reader's.
func ems(text string) float64 {
	var sum float64
	for _, r := range text {
		switch {
		case r == '\u200d' || r >= '\ufe00' && r <= '\ufe0f': // joins and selects emoji
		case r >= '\u2e80', r >= '\u2190' && r <= '\u2bff':
			sum += 1.05
		case strings.ContainsRune(" .,:;'!|()[]-ijlIftr", r):
			sum += 0.45
		case strings.ContainsRune("mwMW+", r):
			sum += 0.95
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			sum += 0.74
		default:
			sum += 0.64
		}
	}
	return max(sum, 0.1)
}

// escape escapes text for an element. Characters that XML does not allow become U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder never fails
	return b.String()
}

// tenth rounds a coordinate to a tenth, which is finer than anyone sees, to keep numbers short.
func tenth(x float64) float64 { return math.Round(x*10) / 10 }
