package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"riffle/internal/deck"
)

// A glyph is the outline of a character. Letters are Liberation Sans Bold and Chinese characters
// LXGW WenKai, both under the SIL Open Font License in OFL.txt. Pictures have outlines instead of
// text because a reader may lack a Chinese font, and because widths differ between fonts. outlines.py
// makes glyphs_table.go of the two fonts.
type glyph struct {
	char    rune
	advance int    // in units; an em has emUnits
	path    string // SVG path data, relative to the left end of the base line
}

// emUnits is the number of outline units in an em. Rounding to them moves a point of the largest
// character by less than half a pixel.
const emUnits = 250

// glyphOf returns the outline of a character.
func glyphOf(char rune) (glyph, bool) {
	i, found := slices.BinarySearchFunc(glyphs, char, func(g glyph, c rune) int { return cmp.Compare(g.char, c) })
	if !found {
		return glyph{}, false
	}
	return glyphs[i], true
}

// writable reports whether a line is not blank and each of its characters has an outline.
func writable(line string) bool {
	missing := func(char rune) bool { _, found := glyphOf(char); return !found }
	return strings.TrimSpace(line) != "" && !strings.ContainsFunc(line, missing)
}

// mostOutline bounds a line's outlines, in bytes: about 55 letters or 7 Chinese characters. Names of
// an operator's cards may be longer.
const mostOutline = 5500

// legible returns the line without the characters that have no outline, and cut off where its
// outlines would be too long.
func legible(line string) string { return legibleWithin(line, mostOutline) }

// legibleWithin is legible for outlines of most bytes.
func legibleWithin(line string, most int) string {
	var kept []rune
	size := 0
	for _, char := range strings.Join(strings.Fields(line), " ") {
		g, found := glyphOf(char)
		if !found || char == ' ' && (len(kept) == 0 || kept[len(kept)-1] == ' ') {
			continue
		}
		if size += len(g.path); size > most {
			kept[len(kept)-1] = '…'
			break
		}
		kept = append(kept, char)
	}
	return strings.TrimSpace(string(kept))
}

// ems returns the width of a line in multiples of its size.
func ems(line string) float64 {
	sum := 0
	for _, char := range line {
		g, _ := glyphOf(char)
		sum += g.advance
	}
	return max(float64(sum)/emUnits, 0.1)
}

// write centres a line on a point, in the given size or a smaller one that fits the room.
// Characters without an outline are left out.
func write(x, y, size, room float64, fill, line string) string {
	return letter(x, y, size, room, 0, fill, line)
}

// letter is write with strokes that are heavier by a part of the size.
func letter(x, y, size, room, heavier float64, fill, line string) string {
	if line == "" {
		return ""
	}
	var b strings.Builder
	width := ems(line)
	size = min(size, room/width)
	// The middle of capitals and of Chinese characters is a third of the size above the base line.
	fmt.Fprintf(&b, `<path transform="translate(%v %v)scale(%v)" fill="%s"`,
		tenth(x-width*size/2), tenth(y+0.36*size), thousandth(size/emUnits), fill)
	if heavier > 0 {
		fmt.Fprintf(&b, ` stroke="%s" stroke-width="%v"`, fill, tenth(heavier*emUnits))
	}
	b.WriteString(` d="`)
	pen := 0
	for _, char := range line {
		g, _ := glyphOf(char)
		if g.path != "" {
			fmt.Fprintf(&b, "M%d 0%s", pen, g.path)
		}
		pen += g.advance
	}
	b.WriteString(`"/>`)
	return b.String()
}

// paragraph centres text on the card at the height y, in the one to three lines that make it
// largest; a further line has to enlarge it by 15%. It is at most room wide and at most the size;
// three lines are as high as two of that size.
func paragraph(y, size, room float64, fill, words string) (text string) {
	var best []string
	var largest float64
	for n := 1; n <= 3; n++ {
		lines := wrap(legible(words), n)
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
		text += write(midX, y+(float64(i)-float64(len(best)-1)/2)*leading*largest, largest, room, fill, line)
	}
	return text
}

// names writes the names of a card below its middle, the Chinese one only if all of it can be
// written.
func names(c *deck.Card, chinese, english string) string {
	if writable(c.Name.Chinese) {
		return letter(midX, 224, 64, 200, 0.02, chinese, legible(c.Name.Chinese)) + paragraph(286, 38, 200, english, c.Name.English)
	}
	return paragraph(250, 52, 200, english, c.Name.English)
}

// bare returns a name without what it has in brackets: the catalogue adds suit and rank to names.
func bare(name, bracket string) string {
	name, _, _ = strings.Cut(name, bracket)
	return name
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
