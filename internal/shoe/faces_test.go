package shoe

import (
	"fmt"
	"testing"

	"riffle/internal/deck"
)

// newDeck returns a built-in deck with its default parameters.
func newDeck(t *testing.T, name string) *deck.Deck {
	t.Helper()
	catalogue, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	kind, found := catalogue.Type(name)
	if !found {
		t.Fatalf("no deck type %s", name)
	}
	d, err := kind.Deck(nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFacesOfACard(t *testing.T) {
	standard, mahjong := NewFaces(newDeck(t, "standard52"), nil), NewFaces(newDeck(t, "mahjong136"), nil)
	items := NewFaces(nil, []string{`"Anna"`, ` {"a" : [1, 2.50], "b": "c d"} `, `"\u0041\n"`, `null`, `7`})
	numbers := NewFaces(nil, nil)
	for _, c := range []struct {
		label  string
		faces  *Faces
		number uint64
		text   string
		face   string // code and instance, or the item
		name   string
	}{
		{"ten of spades", standard, 9, "TS", "TS#1", "TS"},
		{"first card of the second copy", standard, 52, "AS", "AS#2", "AS"},
		{"first card again", standard, 0, "AS", "AS#1", "AS"}, // the deck is unchanged
		{"last card of the eighth copy", standard, 8*52 - 1, "KC", "KC#8", "KC"},
		{"fourth of four equal tiles", mahjong, 3, "1m", "1m#4", "1m"},
		{"the same tile of the third copy", mahjong, 2*136 + 3, "1m", "1m#12", "1m"},
		{"string", items, 0, `"Anna"`, `"Anna"`, "Anna"},
		{"object with white space", items, 1, `{"a":[1,2.50],"b":"c d"}`, ` {"a" : [1, 2.50], "b": "c d"} `, ""},
		{"string with escapes", items, 2, `"\u0041\n"`, `"\u0041\n"`, "A\n"},
		{"null", items, 3, `null`, `null`, ""},
		{"number among items", items, 4, `7`, `7`, ""},
		{"number", numbers, 1 << 40, "1099511627776", "1099511627776", ""},
	} {
		if text := string(c.faces.Text(c.number)); text != c.text {
			t.Errorf("%s: text %q, want %q", c.label, text, c.text)
		}
		face := c.faces.Face(c.number)
		got := face.Item
		if face.Card != nil {
			got += fmt.Sprintf("%s#%d", face.Card.Code, face.Card.Instance)
		}
		if got != c.face {
			t.Errorf("%s: face %q, want %q", c.label, got, c.face)
		}
		if name := c.faces.Name(c.number); name != c.name {
			t.Errorf("%s: name %q, want %q", c.label, name, c.name)
		}
	}
}

func TestTextsFollowTheOrderOfTheNumbers(t *testing.T) {
	texts := NewFaces(newDeck(t, "standard52"), nil).Texts([]uint32{51, 0, 52})
	if got := fmt.Sprintf("%s", texts); got != "[KC AS AS]" {
		t.Errorf("texts %s, want [KC AS AS]", got)
	}
}

func TestResolveAliases(t *testing.T) {
	standard, items := NewFaces(newDeck(t, "standard52"), nil), NewFaces(nil, []string{`"10S"`})
	for alias, want := range map[string]string{"10S": "TS", "0S": "TS", "TS": "TS", "ts": "ts", "": ""} {
		if got := standard.Resolve(alias); got != want {
			t.Errorf("%q resolves to %q, want %q", alias, got, want)
		}
	}
	if got := items.Resolve("10S"); got != "10S" {
		t.Errorf("the item 10S resolves to %q", got)
	}
}
