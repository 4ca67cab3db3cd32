package picture

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
)

// The colours that several families share.
const (
	ink    = "#1a1a1a"
	paper  = "#ffffff"
	red    = "#c8102e"
	green  = "#12803c"
	blue   = "#1b5fb4"
	purple = "#6b2fa0"
)

// functions are what templates call. Those that look something up fail if it does not exist: the
// template does not know the card then.
var functions = template.FuncMap{
	"ink": constant(ink), "paper": constant(paper), "red": constant(red), "ivory": constant("#fffdf0"),
	"gold": constant("#e0a100"), "purple": constant(purple), "navy": constant("#1f3a8a"), "cream": constant("#fdf8ea"),

	"drawing": drawingAt, "drawn": drawn, "look": lookOf, "colour": colourOf,
	"write": write, "letter": letter, "paragraph": paragraph, "names": names, "legible": legible, "bare": bare, "written": written,
	"mark": mark, "pips": pips, "sign": sign, "twice": twice, "lines": lines, "after": after,

	"reddened":    strings.NewReplacer(green, red, blue, red, ink, red).Replace,
	"traditional": strings.NewReplacer("兰", "蘭").Replace, // names of flowers are simplified, and tiles are not
}

func constant(colour string) func() string { return func() string { return colour } }

//go:embed families
var familyFiles embed.FS

var lineBreak = regexp.MustCompile(`\s*\n\s*`)

// templates are the files in the folder families, by their names, and what they define. No family
// can have the name of the file with shared parts, which has a dot. The line breaks and the
// indentation are for those who read them.
var templates = sync.OnceValue(func() *template.Template {
	all := template.New("").Funcs(functions).Option("missingkey=error")
	files, _ := fs.Sub(familyFiles, "families")
	entries, _ := fs.ReadDir(files, ".")
	for _, entry := range entries {
		text, _ := fs.ReadFile(files, entry.Name()) // it is embedded
		template.Must(all.New(entry.Name()).Parse(lineBreak.ReplaceAllString(string(text), "")))
	}
	return all
})

// A look tells the cards with one value of an attribute from those with others.
type look struct {
	Fill     string    // main colour
	Suit     string    // file in drawings/suits, whose parts without a colour take the main one
	Beside   float64   // where the suit is beside a court, from the left
	At       []float64 // places of pips, shapes or breaks
	Sign     string    // colour in the white oval
	Corner   string    // colour in the corners
	Text     string
	Mirrored bool
}

//go:embed looks.json
var looksText []byte

// looks are the looks by their use, such as a family or the numbers of its cards, and by the value.
var looks = sync.OnceValue(func() (all map[string]map[string]look) {
	if err := json.Unmarshal(looksText, &all); err != nil {
		panic(err) // it is embedded
	}
	return all
})

func lookOf(use, value string) (look, error) {
	found, known := looks()[use][value]
	if !known {
		return look{}, fmt.Errorf("%s has no look %q", use, value)
	}
	return found, nil
}

// colourOf returns the colour of a look. An unknown value always gets the same colour, too.
func colourOf(use, value string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(value))
	others := []string{"#1f4e8c", "#9a3b26", "#6b2fa0", "#1c7a45", "#7a4a1e", "#00695c", "#a3245f", "#33415c"}
	return cmp.Or(looks()[use][value].Fill, others[h.Sum32()%uint32(len(others))])
}

// drawn returns the drawing at a path, or "".
func drawn(path ...string) string { return drawings()[strings.Join(path, "")] }

func drawingAt(path ...string) (string, error) {
	found, known := drawings()[strings.Join(path, "")]
	if !known {
		return "", fmt.Errorf("there is no drawing %q", path)
	}
	return found, nil
}

// written returns a rank or a number of one or two characters as cards show it: 10 for T, and in
// tarot, where J is the page, P for J.
func written(family, rank string) (string, error) {
	switch {
	case rank == "T":
		return "10", nil
	case rank == "J" && family == "tarot":
		return "P", nil
	case rank == "" || len(rank) > 2:
		return "", fmt.Errorf("%q is no rank", rank)
	}
	return rank, nil
}

// mark draws a suit around a point.
func mark(suit look, x, y, size float64) string { return marked("", suit, x, y, size, "") }

func marked(class string, suit look, x, y, size float64, turn string) string {
	return fmt.Sprintf(`<g%s fill="%s" transform="translate(%v %v)%sscale(%v)">%s</g>`,
		class, suit.Fill, tenth(x), tenth(y), turn, size/100, drawn("suits/", suit.Suit))
}

// pips draws as many marks as the index says, of a size; a single one is larger. If turned, those
// in the lower half are turned by half a circle.
func pips(suit look, index string, size float64, turned bool) (text string, err error) {
	places, err := lookOf("pips", index)
	if len(places.At) == 2 {
		size *= 2.5
	}
	for at := range slices.Chunk(places.At, 2) {
		turn := ""
		if turned && at[1] > midY {
			turn = "rotate(180)"
		}
		text += marked(` class="pip"`, suit, at[0], at[1], size, turn)
	}
	return text, err
}

// sign draws what a card of UNO does around a point.
func sign(value string, x, y, size float64, fill string) (string, error) {
	if shape := drawn("uno/", value); shape != "" {
		return fmt.Sprintf(`<g fill="%s" transform="translate(%v %v)scale(%v)">%s</g>`,
			fill, tenth(x), tenth(y), tenth(size)/100, strings.ReplaceAll(shape, "currentColor", fill)), nil
	}
	found, err := lookOf("uno signs", value)
	text := write(x, y, size, 1.25*size, fill, found.Text)
	if value == "6" || value == "9" { // which of the two it is does not depend on who looks
		text += box(x, y+0.46*size, 0.5*size, 0.08*size, 0, fill)
	}
	return text, err
}

// twice draws something upright and again turned by half a circle, for both ends of a card.
func twice(markup ...string) string {
	upright := strings.Join(markup, "")
	return fmt.Sprintf(`%s<g transform="rotate(180 %d %d)">%s</g>`, upright, midX, midY, upright)
}

// lines returns a name in one line, or in two if it has more than three characters.
func lines(name string) []string {
	runes := []rune(name)
	if half := (len(runes) + 1) / 2; len(runes) > 3 {
		return []string{string(runes[:half]), string(runes[half:])}
	}
	return []string{name}
}

// after returns the part of a text after a separator.
func after(separator, text string) string {
	_, text, _ = strings.Cut(text, separator)
	return text
}
