package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/deck"
)

// limit is the largest size of a picture, in bytes.
const limit = 13_000

var update = flag.Bool("update", false, "write testdata/pictures.sha256")

// types returns the built-in types.
func types(t *testing.T) []*deck.Type {
	t.Helper()
	catalogue, err := deck.Builtin()
	require.NoError(t, err)
	return catalogue.Types()
}

// drawable is what raster.go knows.
var drawable = map[string]*regexp.Regexp{
	"fill": colours, "stroke": colours,
	"d":         regexp.MustCompile(`^[Mm][MmLlHhVvCcQqZz0-9. -]*$`),
	"transform": regexp.MustCompile(`^((translate|rotate|scale)\([0-9. -]+\))+$`),
}

var colours = regexp.MustCompile("^(#[0-9a-f]{6}|none)$")

// A drawing is a parsed picture.
type drawing struct {
	title string
	cards []string // titles within the sheet of a deck
	pips  int
}

// read parses the picture of a card and reports everything that is not allowed in one.
func read(t *testing.T, name string, picture []byte) drawing {
	t.Helper()
	assert.Truef(t, len(picture) <= limit, "%s: %d bytes, more than %d", name, len(picture), limit)
	assert.Truef(t, bytes.HasPrefix(picture, []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 336" role="img">`)),
		"%s: does not open as a picture: %.120s", name, picture)
	return parse(t, name, picture)
}

// parse parses a picture and reports everything that is not allowed in any. There is no text, which
// needs a font.
func parse(t *testing.T, name string, picture []byte) drawing {
	t.Helper()
	var d drawing
	var path []string
	for decoder := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoErrorf(t, err, "%s: %v\n%s", name, err, picture)
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			switch token.Name.Local {
			case "svg", "title", "g", "path", "rect", "circle", "ellipse":
			default:
				t.Errorf("%s: element %s", name, token.Name.Local)
			}
			assert.Equalf(t, "http://www.w3.org/2000/svg", token.Name.Space,
				"%s: %s is in namespace", name, token.Name.Local)
			for _, a := range token.Attr {
				switch {
				case a.Name.Local == "class" && a.Value == "pip":
					d.pips++
				case a.Name.Local == "id", a.Name.Local == "href", a.Name.Local == "style", strings.HasPrefix(a.Name.Local, "on"),
					strings.HasPrefix(a.Name.Local, "font"):
					t.Errorf("%s: attribute %s", name, a.Name.Local)
				case strings.Contains(a.Value, "url("), strings.Contains(a.Value, "NaN"), strings.Contains(a.Value, "%!"):
					t.Errorf("%s: %s=%q", name, a.Name.Local, a.Value)
				case drawable[a.Name.Local] != nil && !drawable[a.Name.Local].MatchString(a.Value):
					t.Errorf("%s: raster.go does not know %s=%q", name, a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			switch strings.Join(path, " ") {
			case "svg title":
				d.title += string(token)
			case "svg g title":
				d.cards = append(d.cards, string(token))
			default:
				assert.Emptyf(t, bytes.TrimSpace(token), "%s: text %q", name, token)
			}
		}
	}
	return d
}

// faces returns one card of every code.
func faces(t *testing.T, kind *deck.Type) []deck.Card {
	t.Helper()
	most := map[string]int{}
	if kind.Name == "undercover" {
		most["blank"] = 1 // none by default
	}
	d, err := kind.Deck(most)
	require.NoError(t, err)
	var all []deck.Card
	for _, c := range d.Cards() {
		if c.Instance == 1 {
			all = append(all, c)
		}
	}
	return all
}

var titles = regexp.MustCompile(`<title>.*</title>`)

func TestEveryCardHasItsOwnPicture(t *testing.T) {
	for _, kind := range types(t) {
		seen := make(map[string]string)
		for _, c := range faces(t, kind) {
			name := kind.Name + " " + c.Code
			picture := Card(kind.Family, &c)
			assert.Equalf(t, c.Name.English, read(t, name, picture).title, "%s: the title", name)
			// The drawings must differ, and not just their titles.
			drawn := titles.ReplaceAllString(string(picture), "")
			other, taken := seen[drawn]
			assert.Falsef(t, taken, "%s: drawn as %s is", name, other)
			seen[drawn] = c.Code

			assert.NotEqualf(t, label(kind.Family, &c), picture, "%s: the family has no drawing for it", name)
			c.Instance++
			assert.Equalf(t, picture, Card(kind.Family, &c), "%s: its copy has another picture", name)
		}
	}
}

// label draws a card as one that no template knows.
func label(family string, c *deck.Card) []byte {
	return document(c.Name.English, draw(family, c, "label"))
}

// An artist's editor may indent, add a declaration and comments, and name elements of its own.
func TestContentOfADrawing(t *testing.T) {
	got, err := content("<?xml version=\"1.0\"?>\n<!-- Made by an editor. -->\n<svg\n   viewBox=\"0 0 1 1\">\n  <g>\n    <path d=\"M0 0\" />\n  </g>\n</svg>\n")
	require.NoError(t, err)
	assert.Equal(t, `<g><path d="M0 0" /></g>`, got)
	for _, text := range []string{"", "<g/>", "<svg><g/>"} {
		got, err := content(text)
		assert.Errorf(t, err, "%q: %q", text, got)
	}
}

// To change a picture on purpose, run go test ./internal/picture -run Golden -update.
func TestGoldenPictures(t *testing.T) {
	var got strings.Builder
	for _, kind := range types(t) {
		h := sha256.New()
		for _, c := range kind.Faces() {
			h.Write(Card(kind.Family, &c))
		}
		h.Write(Back(kind.Family))
		h.Write(Deck(kind))
		fmt.Fprintf(&got, "%x  %s\n", h.Sum(nil), kind.Name)
	}
	const file = "testdata/pictures.sha256"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equalf(t, string(want), got.String(), "the pictures are\n%swant\n%s", &got, want)
}

// The sheet of a deck has every card once, in catalogue order.
func TestDecks(t *testing.T) {
	for _, kind := range types(t) {
		sheet := Deck(kind)
		d := parse(t, kind.Name, sheet)
		var want []string
		for _, c := range kind.Faces() {
			want = append(want, c.Name.English)
		}
		assert.Equal(t, kind.Title.English, d.title, kind.Name)
		assert.Equal(t, want, d.cards, kind.Name)
		assert.Truef(t, len(sheet) <= MaxDeckSize(kind), "%s: %d bytes, more than %d", kind.Name, len(sheet), MaxDeckSize(kind))
	}
}

// The sheet of a deck of thousands of cards is bounded.
func TestLargeDecks(t *testing.T) {
	var cards []string
	for i := range 10_000 {
		cards = append(cards, fmt.Sprintf(`{"code":"c%d","name":{"en":"%s","zh":"牌"},"glyph":"?","attributes":{}}`, i, strings.Repeat("W@ ", 60)))
	}
	catalogue, err := deck.Builtin()
	require.NoError(t, err)
	text := `{"type":"many","name":{"en":"Many","zh":"多"},"family":"flags","size":10000,"cards":[` + strings.Join(cards, ",") + `]}`
	require.NoError(t, catalogue.Load(fstest.MapFS{"many.json": {Data: []byte(text)}}))
	kind, _ := catalogue.Type("many")
	sheet := Deck(kind)
	assert.Len(t, parse(t, kind.Name, sheet).cards, maxFaces)
	assert.Truef(t, len(sheet) <= MaxDeckSize(kind), "%d bytes, more than %d", len(sheet), MaxDeckSize(kind))

	page := string(Page(kind))
	assert.Equal(t, maxFaces, strings.Count(page, "<li>"))
	assert.Contains(t, page, "<p>And 9744 more cards.</p>")
	assert.Truef(t, len(page) <= MaxDeckSize(kind), "%d bytes, more than %d", len(page), MaxDeckSize(kind))
}

// The page of a deck has every card with its names and code, in catalogue order.
func TestPages(t *testing.T) {
	for _, kind := range types(t) {
		page := string(Page(kind))
		for _, c := range kind.Faces() {
			want := fmt.Sprintf("</svg>\n<b>%s</b><span lang=\"zh\">%s</span><code>%s</code></li>", escape(c.Name.English), escape(c.Name.Chinese), c.Code)
			_, rest, found := strings.Cut(page, want)
			assert.Truef(t, found, "%s: %s is not there or not in order", kind.Name, c.Code)
			page = rest
		}
	}
}

func TestBacks(t *testing.T) {
	for _, kind := range types(t) {
		read(t, kind.Family, Back(kind.Family))
	}
	for _, family := range []string{"", "flags", `"><script>`} {
		read(t, family, Back(family))
	}
}

// The names of an operator's cards may be long; pictures are not.
func TestLongNames(t *testing.T) {
	name := deck.Text{English: strings.Repeat("Ŵ@Ww ", 40), Chinese: strings.Repeat("麒", 200)}
	for family, attributes := range map[string]map[string]string{
		"flags":     nil,
		"roles":     {"team": "village", "role": "seer"},
		"mahjong":   {"suit": "flowers", "rank": "1"},
		"sanguosha": {"category": "weapon", "suit": "spades", "rank": "A", "range": strings.Repeat("@", 200)},
	} {
		read(t, family, Card(family, &deck.Card{Code: strings.Repeat("W", 16), Name: name, Attributes: attributes}))
	}
}

// A deck of an operator may be of any family, and its cards may lack attributes that the family's
// cards have.
func TestCardsWithoutADrawingAreLabels(t *testing.T) {
	families := append(slices.Collect(maps.Keys(looks()["families"])), "flags", "parts")
	for _, family := range families {
		for _, attributes := range []map[string]string{
			nil,
			{"suit": "spades"},
			{"suit": "hearts", "rank": "AK"},
			{"suit": "spades", "rank": "<&"},
			{"suit": "spades", "rank": "AKQ", "category": "weapon"},
			{"suit": "jokers", "rank": "middling"},
			{"suit": "oros", "rank": "13"},
			{"suit": "trumps", "rank": "100"},
			{"suit": "dots", "rank": "10"},
			{"suit": "winds", "rank": "north-east"},
			{"flower": "pine", "kind": "tree", "month": "1"},
			{"flower": "pine", "kind": "chaff", "month": "1"},
			{"colour": "red", "value": "ten"},
			{"colour": "white", "value": "1"},
			{"low": "3"},
			{"low": "0", "high": "10"},
			{"low": "-1", "high": "3"},
			{"number": "12", "colour": "red", "shape": "oval", "shading": "open"},
			{"number": "1", "colour": "red", "shape": "oval", "shading": "dark"},
		} {
			c := &deck.Card{
				Code: "Q-q", Name: deck.Text{English: `<&"> & its <script>`, Chinese: `<&">'`}, Glyph: `<&">`,
				Attributes: attributes,
			}
			d := read(t, family, Card(family, c))
			assert.Equalf(t, c.Name.English, d.title, "%s %v: the title", family, attributes)
			assert.Equalf(t, label(family, c), Card(family, c), "%s %v: not drawn as a label", family, attributes)
		}
	}
}

// A label shows the code, and the names as far as there are outlines of their characters.
func TestLabels(t *testing.T) {
	written := func(line string) string {
		_, path, _ := strings.Cut(write(0, 0, 10, 100, ink, line), ` d="`)
		return path
	}
	c := &deck.Card{Code: "Q-q", Name: deck.Text{English: "Guard 🛡 é", Chinese: "守卫"}}
	picture := string(Card("flags", c))
	for _, line := range []string{"Q-q", "Guard é"} {
		assert.Containsf(t, picture, written(line), "the label does not say %q", line)
	}
	c.Name.Chinese = "狼人"
	assert.Contains(t, string(Card("flags", c)), written("狼人"), "the label does not have the Chinese name")
}

// Names are simplified Chinese, and tiles have traditional characters.
func TestTilesAreTraditional(t *testing.T) {
	orchid := &deck.Card{Name: deck.Text{English: "Orchid", Chinese: "兰"}, Attributes: map[string]string{"suit": "flowers", "rank": "2"}}
	traditional, _ := glyphOf('蘭')
	assert.Contains(t, string(Card("mahjong", orchid)), traditional.path)
}

// Names are escaped, and characters that XML does not allow are replaced.
func TestNamesAreEscaped(t *testing.T) {
	for family, attributes := range map[string]map[string]string{
		"mahjong":   {"suit": "flowers", "rank": "1"},
		"sanguosha": {"category": "weapon", "suit": "spades", "rank": "<", "range": `<&">`},
		"roles":     {"team": `<&">`},
		"hanafuda":  {"flower": "pine", "kind": "ribbon", "month": "<&", "ribbon": `<&">`},
	} {
		c := &deck.Card{
			Code: "Q", Name: deck.Text{English: `<&">`, Chinese: "<\x00&\">"}, Glyph: "\x01<\xff", Attributes: attributes,
		}
		picture := Card(family, c)
		assert.Equalf(t, c.Name.English, read(t, family, picture).title, "%s: the title", family)
		assert.NotEqualf(t, label(family, c), picture, "%s: drawn as a label, so nothing is tested", family)
	}
}

func TestWrapKeepsWords(t *testing.T) {
	for _, words := range []string{
		"", " ", "King", "Stone-Cleaving Axe", "a b c d e f g", strings.Repeat("word ", 40), strings.Repeat("x", 80),
	} {
		for n := 1; n <= 3; n++ {
			lines := wrap(words, n)
			assert.Truef(t, len(lines) != 0 && len(lines) <= n, "%q in %d lines: %q", words, n, lines)
			got, want := strings.Fields(strings.Join(lines, " ")), strings.Fields(words)
			assert.Equalf(t, want, got, "%q in %d lines loses words: %q", words, n, lines)
		}
	}
}
