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

// These tests define every deck once more, in another notation.

// cross returns a code for every pair, so that cross("AK", "SH") is AS KS AH KH.
func cross(first, second string) []string {
	var codes []string
	for _, s := range second {
		for _, f := range first {
			codes = append(codes, string(f)+string(s))
		}
	}
	return codes
}

// times repeats each code.
func times(n int, codes []string) []string {
	var all []string
	for _, c := range codes {
		for range n {
			all = append(all, c)
		}
	}
	return all
}

func TestCodes(t *testing.T) {
	french := cross("A23456789TJQK", "SHDC")
	spanish := func(numbers ...int) (codes []string) {
		for _, s := range "OCEB" {
			for _, n := range numbers {
				codes = append(codes, fmt.Sprintf("%d%c", n, s))
			}
		}
		return codes
	}
	var trumps []string
	for i := 1; i <= 21; i++ {
		trumps = append(trumps, fmt.Sprintf("T%d", i))
	}
	var uno []string
	for _, colour := range []string{"R", "Y", "G", "B"} {
		uno = append(uno, colour+"0")
		for _, v := range "123456789SRD" {
			uno = append(uno, colour+string(v), colour+string(v))
		}
	}
	uno = append(uno, times(4, []string{"W", "WF"})...)
	suited, honours := cross("123456789", "mps"), cross("1234567", "z")
	var riichi []string
	for _, c := range append(slices.Clone(suited), honours...) {
		if c[0] == '5' && c[1] != 'z' {
			riichi = append(riichi, c, c, c, "0"+c[1:])
			continue
		}
		riichi = append(riichi, c, c, c, c)
	}
	var dominoes []string
	for i := range 7 {
		for j := i; j < 7; j++ {
			dominoes = append(dominoes, fmt.Sprintf("%d-%d", i, j))
		}
	}
	var set []string
	for n := 1; n <= 3; n++ {
		for _, c := range "RGP" {
			for _, s := range "DSO" {
				for _, h := range "STO" {
					set = append(set, fmt.Sprintf("%d%c%c%c", n, c, s, h))
				}
			}
		}
	}
	pips := func(pairs string) (codes []string) {
		for _, p := range strings.Fields(pairs) {
			codes = append(codes, p[:1]+"-"+p[1:])
		}
		return codes
	}

	for name, want := range map[string][]string{
		"standard52": french,
		"standard54": append(slices.Clone(french), "X1", "X2"),
		"euchre24":   cross("A9TJQK", "SHDC"),
		"piquet32":   cross("A789TJQK", "SHDC"),
		"pinochle48": times(2, cross("A9TJQK", "SHDC")),
		"spanish40":  spanish(1, 2, 3, 4, 5, 6, 7, 10, 11, 12),
		"spanish48":  spanish(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
		"tarot78":    slices.Concat(cross("A23456789TJNQK", "SHDC"), trumps, []string{"T0"}),
		"hanafuda48": strings.Fields(`01B 01R 01C1 01C2 02A 02R 02C1 02C2 03B 03R 03C1 03C2 04A 04R 04C1 04C2
			05A 05R 05C1 05C2 06A 06R 06C1 06C2 07A 07R 07C1 07C2 08B 08A 08C1 08C2
			09A 09R 09C1 09C2 10A 10R 10C1 10C2 11B 11A 11R 11C1 12B 12C1 12C2 12C3`),
		"uno108":     uno,
		"uno112":     slices.Concat(uno, []string{"WS", "WC", "WC", "WC"}),
		"mahjong136": times(4, slices.Concat(suited, honours)),
		"mahjong144": slices.Concat(times(4, slices.Concat(suited, honours)), cross("1234", "qf")),
		"sichuan108": times(4, suited),
		"riichi136":  riichi,
		"werewolf12": slices.Concat(times(4, []string{"werewolf", "villager"}), []string{"seer", "witch", "hunter", "idiot"}),
		"dominoes28": dominoes,
		"paigow32": slices.Concat(times(2, pips("66 11 44 13 55 33 22 56 46 16 15")),
			pips("36 45 26 35 25 34 24 14 23 12")),
		"set81": set,
	} {
		if got := builtinDeck(t, name, nil).Codes(); !slices.Equal(got, want) {
			// The two lists are long: the first difference tells more.
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Errorf("%s: %v and then %v, want %v", name, got[:i], got[i:], want[min(i, len(want)):])
					break
				}
			}
		}
	}
}

// No two different cards of a type share a name or a glyph, and every card is fully described.
func TestEveryCard(t *testing.T) {
	c, err := Builtin()
	require.NoError(t, err)
	families := []string{"french", "latin", "tarot", "hanafuda", "uno", "mahjong", "sanguosha", "roles", "dominoes", "set"}
	ascii := regexp.MustCompile(`^[A-Za-z0-9-]{1,16}$`)
	for _, kind := range c.Types() {
		if kind.Title.English == "" || kind.Title.Chinese == "" || !slices.Contains(families, kind.Family) {
			t.Errorf("%s: title %v, family %s", kind.Name, kind.Title, kind.Family)
		}
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
