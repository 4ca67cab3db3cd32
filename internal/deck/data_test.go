package deck

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No two different cards of a type share a name or a glyph, and every card is fully described.
func TestEveryCard(t *testing.T) {
	c, err := Builtin()
	require.NoError(t, err)
	families := []string{"french", "latin", "tarot", "hanafuda", "uno", "mahjong", "sanguosha", "roles", "dominoes", "set"}
	ascii := regexp.MustCompile(`^[A-Za-z0-9-]{1,16}$`)
	for _, kind := range c.Types() {
		assert.Truef(t, kind.Title.English != "" && kind.Title.Chinese != "" && slices.Contains(families, kind.Family),
			"%s: title %v, family %s", kind.Name, kind.Title, kind.Family)
		owner := make(map[string]string)
		d, err := kind.Deck(nil)
		require.NoError(t, err)
		attributes := make(map[string]string)
		for _, card := range d.Cards() {
			if !ascii.MatchString(card.Code) || card.Name.English == "" || card.Name.Chinese == "" || card.Glyph == "" || len(card.Attributes) == 0 {
				t.Errorf("%s: incomplete card %+v", kind.Name, card)
			}
			for _, unique := range []string{"en " + card.Name.English, "zh " + card.Name.Chinese, "glyph " + card.Glyph} {
				if other, taken := owner[unique]; taken && other != card.Code {
					t.Errorf("%s: %s and %s share %s", kind.Name, other, card.Code, unique)
				}
				owner[unique] = card.Code
			}
			// Attributes tell all cards apart, except the chaff of one month.
			text, _ := json.Marshal(card.Attributes)
			if other, taken := attributes[string(text)]; taken && other != card.Code && card.Attributes["kind"] != "chaff" {
				t.Errorf("%s: %s and %s share %s", kind.Name, other, card.Code, text)
			}
			attributes[string(text)] = card.Code
		}
	}
}

// Records bind these digests: SHA-256 of the compact JSON array of the codes in catalogue order.
// Lines may be added but never changed: a change makes all earlier records of the type impossible
// to check.
func TestGoldenOrder(t *testing.T) {
	checkGolden(t, "testdata/codes.sha256", func(kind *Type) any { return builtinDeck(t, kind.Name, nil).Codes() })
}

// Names, glyphs, attributes, hands and dead walls were checked card by card. A line may change with
// the text of a card; look at the difference of the data first.
func TestGoldenTypes(t *testing.T) {
	checkGolden(t, "testdata/types.sha256", func(kind *Type) any { return []any{kind, kind.Faces()} })
}

// checkGolden compares the digest of the JSON of something in every type with a file.
func checkGolden(t *testing.T, file string, of func(*Type) any) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var digests strings.Builder
	for _, name := range order {
		value, err := json.Marshal(of(builtinDeck(t, name, nil).Type()))
		require.NoError(t, err)
		fmt.Fprintf(&digests, "%x  %s\n", sha256.Sum256(value), name)
	}
	assert.Equalf(t, string(text), digests.String(), "%s should be", file)
}
