package picture

import (
	"cmp"
	"slices"
	"testing"
)

// The table is searched by bisection.
func TestGlyphsAreSorted(t *testing.T) {
	if !slices.IsSortedFunc(glyphs, func(a, b glyph) int { return cmp.Compare(a.char, b.char) }) {
		t.Error("not sorted")
	}
	for _, char := range "Aé–萬し" {
		if g, found := glyphOf(char); !found || g.char != char || g.advance <= 0 || g.path == "" {
			t.Errorf("%c: %t %v", char, found, g)
		}
	}
}

// All names that built-in cards show can be written. A new name with a character that none had
// takes go generate ./internal/picture.
func TestNamesHaveOutlines(t *testing.T) {
	for _, kind := range types(t) {
		if title := kind.Title.English; legibleWithin(title, 2*mostOutline) != title {
			t.Errorf("%s: %q", kind.Name, title)
		}
		for _, c := range kind.Faces() {
			if english := bare(c.Name.English, " ("); legible(english) != english {
				t.Errorf("%s: %q", c.Code, c.Name.English)
			}
			chinese := bare(c.Name.Chinese, "（")
			if shows := kind.Family == "mahjong" || kind.Family == "sanguosha" || kind.Family == "roles"; shows && legible(chinese) != chinese {
				t.Errorf("%s: %q", c.Code, chinese)
			}
		}
	}
}

func TestLegible(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "King": "King", "狼人": "狼人", "Guar 🛡 of 守卫 é": "Guar of é", "\u0000<": "<", "🛡": "",
	} {
		if got := legible(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestWritable(t *testing.T) {
	for line, want := range map[string]bool{"": false, " ": false, "King": true, "狼人": true, "守卫": false, "King 🛡": false} {
		if writable(line) != want {
			t.Errorf("%q: want %t", line, want)
		}
	}
}
