package picture

import (
	_ "embed"
	"fmt"
	"math"

	"riffle/internal/deck"
)

// maxFaces bounds the cards on a deck's sheet. Built-in types have fewer; an operator's may have
// thousands.
const maxFaces = 256

// maxCard is the largest size of the picture of a card with its name, in bytes.
const maxCard = 15_000

// The cells of the sheet of a deck, and its head.
const (
	cellWidth  = width + 16
	cellHeight = height + 52
	margin     = 24
	headHeight = 64
)

// perRow is the number of cards in a row, for families whose rows mean something. In the others a
// row has the cards of a suit.
var perRow = map[string]int{"hanafuda": 8, "uno": 13, "dominoes": 7, "set": 9, "sanguosha": 16, "mahjong": 9}

// Deck returns every card of a type once, in catalogue order with its English name, as one SVG
// document. It has at most 256 cards and says how many more there are.
func Deck(kind *deck.Type) []byte {
	shown, more := shownFaces(kind)
	columns := columnsFor(kind.Family, shown)
	lines := (len(shown) + columns - 1) / columns
	w, h := 2*margin+columns*cellWidth, margin+headHeight+lines*cellHeight

	title := legibleWithin(kind.Title.English, 2*mostOutline)
	if more > 0 {
		title += fmt.Sprintf(", and %d more cards", more)
	}
	text := fmt.Appendf(make([]byte, 0, len(shown)*6<<10), opening+`<rect width="%d" height="%d" fill="#f1f2f4"/>%s`,
		w, h, "group", escape(kind.Title.English), w, h, write(float64(w)/2, 50, 44, float64(w-2*margin), ink, title))
	for i := range shown {
		x := margin + cellWidth*(i%columns) + (cellWidth-width)/2
		y := headHeight + margin + cellHeight*(i/columns)
		text = fmt.Appendf(text, `<g role="img" transform="translate(%d %d)"><title>%s</title>%s%s</g>`, x, y, escape(shown[i].Name.English),
			face(kind.Family, &shown[i]), write(midX, height+18, 22, width, ink, legible(bare(shown[i].Name.English, " ("))))
	}
	return append(text, "</svg>\n"...)
}

//go:embed page.html
var pageHead string

// Page returns what Deck does as an HTML page, which has the cards' names in both languages, and
// their codes, as text.
func Page(kind *deck.Type) []byte {
	shown, more := shownFaces(kind)
	title, chinese := escape(kind.Title.English), escape(kind.Title.Chinese)
	page := fmt.Appendf(make([]byte, 0, len(shown)*6<<10), "%s<title>%s</title>\n<h1>%s <span lang=\"zh\">%s</span></h1>\n<ul>\n", pageHead, title, title, chinese)
	for _, c := range shown {
		page = fmt.Appendf(page, "<li>%s<b>%s</b><span lang=\"zh\">%s</span><code>%s</code></li>\n",
			Card(kind.Family, &c), escape(c.Name.English), escape(c.Name.Chinese), escape(c.Code))
	}
	page = append(page, "</ul>\n"...)
	if more > 0 {
		page = fmt.Appendf(page, "<p>And %d more cards.</p>\n", more)
	}
	return page
}

// shownFaces returns the cards of a type that are drawn, each once, and how many more there are.
func shownFaces(kind *deck.Type) (shown []deck.Card, more int) {
	faces := kind.Faces()
	shown = faces[:min(len(faces), maxFaces)]
	return shown, len(faces) - len(shown)
}

// MaxDeckSize returns the largest size of a deck's picture and of its page, in bytes.
func MaxDeckSize(kind *deck.Type) int { return maxCard * (1 + min(len(kind.Faces()), maxFaces)) }

// columnsFor returns the number of cards in a row.
func columnsFor(family string, faces []deck.Card) int {
	if n := perRow[family]; n > 0 {
		return min(n, len(faces))
	}
	suited := 0
	for suited < len(faces) && faces[suited].Attributes["suit"] != "" && faces[suited].Attributes["suit"] == faces[0].Attributes["suit"] {
		suited++
	}
	if suited >= 4 && suited <= 16 {
		return suited
	}
	return max(1, int(math.Ceil(math.Sqrt(1.5*float64(len(faces))))))
}
