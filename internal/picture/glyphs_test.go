package picture

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The table is searched by bisection.
func TestGlyphsAreSorted(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(glyphs, func(a, b glyph) int { return cmp.Compare(a.char, b.char) }), "not sorted")
	for _, char := range "Aé–萬蘭し" {
		g, found := glyphOf(char)
		assert.Truef(t, found && g.char == char && g.advance > 0 && g.path != "", "%c: %t %v", char, found, g)
	}
}

// All names that built-in cards and their tables show can be written. A new name with a character
// that none had takes go generate ./internal/picture.
func TestNamesHaveOutlines(t *testing.T) {
	for _, kind := range types(t) {
		title := kind.Title.English
		assert.Equal(t, title, legibleWithin(title, 2*mostOutline), kind.Name)
		title = "Face down until the seed is public: The first of 1000000 shuffles: " + title
		assert.Equal(t, title, legibleWithin(title, mostInTable))
		for _, c := range kind.Faces() {
			english := bare(c.Name.English, " (")
			assert.Equalf(t, english, legible(english), "%s: %q", c.Code, c.Name.English)
			chinese := bare(c.Name.Chinese, "（")
			shows := kind.Family == "mahjong" || kind.Family == "sanguosha" || kind.Family == "roles"
			assert.Truef(t, !shows || legible(chinese) == chinese, "%s: %q", c.Code, chinese)
		}
	}
}

func TestLegible(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "King": "King", "狼人": "狼人", "Guar 🛡 of 守卫 é": "Guar of é", "\u0000<": "<", "🛡": "",
	} {
		assert.Equalf(t, want, legible(line), "%q", line)
	}
}

func TestWritable(t *testing.T) {
	for line, want := range map[string]bool{"": false, " ": false, "King": true, "狼人": true, "守卫": false, "King 🛡": false} {
		assert.Equalf(t, want, writable(line), "%q: want", line)
	}
}
