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

// opening begins an SVG document. Screen readers read its title.
const opening = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="%s"><title>%s</title>`

// document returns the document of a card.
func document(title, markup string) []byte {
	return fmt.Appendf(nil, opening+"%s</svg>\n", width, height, "img", escape(title), markup)
}

// box draws a rectangle with round corners around a centre.
func box(x, y, w, h, radius float64, fill string) string {
	return fmt.Sprintf(`<rect x="%v" y="%v" width="%v" height="%v" rx="%v" fill="%s"/>`,
		tenth(x-w/2), tenth(y-h/2), tenth(w), tenth(h), tenth(radius), fill)
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
