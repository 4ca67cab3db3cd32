package shoe

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/deck"
)

// newDeck returns a built-in deck with its default parameters.
func newDeck(t *testing.T, name string) *deck.Deck {
	t.Helper()
	catalogue, err := deck.Builtin()
	require.NoError(t, err)
	kind, found := catalogue.Type(name)
	require.Truef(t, found, "no deck type %s", name)
	d, err := kind.Deck(nil)
	require.NoError(t, err)
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
		text := string(c.faces.Text(c.number))
		assert.Equalf(t, c.text, text, "%s: text", c.label)
		face := c.faces.Face(c.number)
		got := face.Item
		if face.Card != nil {
			got += fmt.Sprintf("%s#%d", face.Card.Code, face.Card.Instance)
		}
		assert.Equalf(t, c.face, got, "%s: face", c.label)
		name := c.faces.Name(c.number)
		assert.Equalf(t, c.name, name, "%s: name", c.label)
	}
}

func TestTextsFollowTheOrderOfTheNumbers(t *testing.T) {
	texts := NewFaces(newDeck(t, "standard52"), nil).Texts([]uint16{51, 0, 52})
	assert.Equal(t, "[KC AS AS]", fmt.Sprintf("%s", texts), "texts")
}

func TestResolveAliases(t *testing.T) {
	standard, items := NewFaces(newDeck(t, "standard52"), nil), NewFaces(nil, []string{`"10S"`})
	for alias, want := range map[string]string{"10S": "TS", "0S": "TS", "TS": "TS", "ts": "ts", "": ""} {
		assert.Equalf(t, want, standard.Resolve(alias), "%q resolves", alias)
	}
	assert.Equal(t, "10S", items.Resolve("10S"), "the item 10S resolves")
}
