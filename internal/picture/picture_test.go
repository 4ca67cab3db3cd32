package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"riffle/internal/deck"
)

// limit is the largest size of a picture.
const limit = 6000

// types returns the built-in types.
func types(t *testing.T) []*deck.Type {
	t.Helper()
	catalogue, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return catalogue.Types()
}

// A drawing is a parsed picture.
type drawing struct {
	title string
	text  []string // all of it, the title excepted
	pips  int
}

// read parses a picture and reports everything that is not allowed in one.
func read(t *testing.T, name string, picture []byte) drawing {
	t.Helper()
	if len(picture) > limit {
		t.Errorf("%s: %d bytes, more than %d", name, len(picture), limit)
	}
	var d drawing
	var path []string
	for decoder := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, picture)
		}
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			switch token.Name.Local {
			case "svg", "title", "g", "path", "rect", "circle", "text":
			default:
				t.Errorf("%s: element %s", name, token.Name.Local)
			}
			if token.Name.Space != "http://www.w3.org/2000/svg" {
				t.Errorf("%s: %s is in namespace %q", name, token.Name.Local, token.Name.Space)
			}
			for _, a := range token.Attr {
				switch {
				case a.Name.Local == "class" && a.Value == "pip":
					d.pips++
				case a.Name.Local == "id", a.Name.Local == "href", a.Name.Local == "style", strings.HasPrefix(a.Name.Local, "on"):
					t.Errorf("%s: attribute %s", name, a.Name.Local)
				case strings.Contains(a.Value, "url("), strings.Contains(a.Value, "NaN"), strings.Contains(a.Value, "%!"):
					t.Errorf("%s: %s=%q", name, a.Name.Local, a.Value)
				case a.Name.Local == "font-size":
					if size, err := strconv.ParseFloat(a.Value, 64); err != nil || size < 1 || size > height {
						t.Errorf("%s: font-size %q", name, a.Value)
					}
				}
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			switch strings.Join(path, " ") {
			case "svg title":
				d.title += string(token)
			case "svg", "":
				if len(bytes.TrimSpace(token)) > 0 {
					t.Errorf("%s: stray text %q", name, token)
				}
			default:
				d.text = append(d.text, string(token))
			}
		}
	}
	if !bytes.HasPrefix(picture, []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 336" role="img"`)) {
		t.Errorf("%s: does not open as a picture: %.120s", name, picture)
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
	if err != nil {
		t.Fatal(err)
	}
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
			if d := read(t, name, picture); d.title != c.Name.English {
				t.Errorf("%s: the title is %q, want %q", name, d.title, c.Name.English)
			}
			// The drawings must differ, and not just their titles.
			drawn := titles.ReplaceAllString(string(picture), "")
			if other, taken := seen[drawn]; taken {
				t.Errorf("%s: drawn as %s is", name, other)
			}
			seen[drawn] = c.Code

			s := newSheet(c.Name.English)
			if label(s, kind.Family, &c); bytes.Equal(s.close(), picture) {
				t.Errorf("%s: the family has no drawing for it", name)
			}
			c.Instance++
			if !bytes.Equal(Card(kind.Family, &c), picture) {
				t.Errorf("%s: its copy has another picture", name)
			}
		}
	}
}

// Every card of these families has as many marks as its number.
func TestPips(t *testing.T) {
	number := func(c deck.Card, attribute string) int {
		n, err := strconv.Atoi(c.Attributes[attribute])
		if err != nil {
			return 0
		}
		return n
	}
	pips := map[string]func(c deck.Card) int{
		"french": func(c deck.Card) int { return strings.Index("-A23456789T", c.Attributes["rank"]) },
		"latin": func(c deck.Card) int {
			if n := number(c, "rank"); n < 10 {
				return n
			}
			return 0
		},
		"dominoes": func(c deck.Card) int { return number(c, "low") + number(c, "high") },
		"set":      func(c deck.Card) int { return number(c, "number") },
		"mahjong": func(c deck.Card) int {
			if suit := c.Attributes["suit"]; suit != "dots" && suit != "bamboos" {
				return 0
			}
			return number(c, "rank")
		},
	}
	for _, kind := range types(t) {
		want, counted := pips[kind.Family]
		if !counted {
			continue
		}
		for _, c := range faces(t, kind) {
			name := kind.Name + " " + c.Code
			if got := read(t, name, Card(kind.Family, &c)).pips; got != max(want(c), 0) {
				t.Errorf("%s: %d pips, want %d", name, got, max(want(c), 0))
			}
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

// A deck of an operator may be of any family, and its cards may lack attributes that the family's
// cards have.
func TestCardsWithoutADrawingAreLabels(t *testing.T) {
	families := []string{"flags"}
	for family := range templates {
		families = append(families, family)
	}
	for _, family := range families {
		for _, attributes := range []map[string]string{
			nil,
			{"suit": "spades"},
			{"suit": "hearts", "rank": "AK"},
			{"suit": "spades", "rank": "<&"},
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
			if d.title != c.Name.English {
				t.Errorf("%s %v: the title is %q", family, attributes, d.title)
			}
			for _, want := range []string{c.Code, c.Glyph, c.Name.Chinese} {
				if !strings.Contains(strings.Join(d.text, "\n"), want) {
					t.Errorf("%s %v: the label does not say %q: %q", family, attributes, want, d.text)
				}
			}
		}
	}
}

// Names are escaped, and characters that XML does not allow are replaced.
func TestNamesAreEscaped(t *testing.T) {
	for family, attributes := range map[string]map[string]string{
		"tarot":     {"suit": "trumps", "rank": "<&"},
		"mahjong":   {"suit": "flowers", "rank": "1"},
		"sanguosha": {"category": "weapon", "suit": "spades", "rank": "<", "range": `<&">`},
		"roles":     {"team": `<&">`},
		"hanafuda":  {"flower": "pine", "kind": "ribbon", "month": "<&", "ribbon": `<&">`},
	} {
		c := &deck.Card{
			Code: "Q", Name: deck.Text{English: `<&">`, Chinese: "<\x00&\">"}, Glyph: "\x01<\xff", Attributes: attributes,
		}
		picture := Card(family, c)
		if d := read(t, family, picture); d.title != c.Name.English {
			t.Errorf("%s: the title is %q", family, d.title)
		}
		s := newSheet(c.Name.English)
		if label(s, family, c); bytes.Equal(s.close(), picture) {
			t.Errorf("%s: drawn as a label, so nothing is tested", family)
		}
	}
}

func TestWrapKeepsWords(t *testing.T) {
	for _, words := range []string{
		"", " ", "King", "Stone-Cleaving Axe", "a b c d e f g", strings.Repeat("word ", 40), strings.Repeat("x", 80),
	} {
		for n := 1; n <= 3; n++ {
			lines := wrap(words, n)
			if len(lines) == 0 || len(lines) > n {
				t.Errorf("%q in %d lines: %q", words, n, lines)
			}
			got, want := strings.Fields(strings.Join(lines, " ")), strings.Fields(words)
			if !slices.Equal(got, want) {
				t.Errorf("%q in %d lines loses words: %q", words, n, lines)
			}
		}
	}
}
