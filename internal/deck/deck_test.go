package deck

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// builtinDeck returns the deck of a built-in type.
func builtinDeck(t testing.TB, name string, parameters map[string]int) *Deck {
	t.Helper()
	c, err := Builtin()
	require.NoError(t, err)
	kind, ok := c.Type(name)
	require.Truef(t, ok, "there is no type %s", name)
	d, err := kind.Deck(parameters)
	require.NoError(t, err)
	return d
}

// multiplicities returns the number of cards of every code.
func multiplicities(codes []string) map[string]int {
	m := make(map[string]int)
	for _, c := range codes {
		m[c]++
	}
	return m
}

func TestInstances(t *testing.T) {
	c, err := Builtin()
	require.NoError(t, err)
	for _, kind := range c.Types() {
		d, err := kind.Deck(nil)
		require.NoError(t, err)
		seen := make(map[string]int)
		for i, card := range d.Cards() {
			assert.Equalf(t, d.Codes()[i], card.Code, "%s: card %d", kind.Name, i)
			found, _ := d.Find(card.Code)
			assert.Equalf(t, card.Code, found.Code, "%s: found for %s", kind.Name, card.Code)
			seen[card.Code]++
			assert.Equalf(t, seen[card.Code], card.Instance,
				"%s: copy %d of %s has instance %d", kind.Name, seen[card.Code], card.Code, card.Instance)
			if seen[card.Code] > 1 && d.Codes()[i-1] != card.Code {
				t.Errorf("%s: copies of %s are apart", kind.Name, card.Code)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for name, codes := range map[string]string{ // a code and what the card has, if there is one
		"standard52":   "AS=AS TD=TD 0S=TS 10S=TS as= X1= =",
		"tarot78":      "10C=TC",
		"euchre24":     "0H=TH",
		"pinochle48":   "10D=TD",
		"sanguosha108": "sha-S10=sha-ST",
		"sanguosha160": "tiesuo-C10=tiesuo-CT tiesuo-S10=",
		"dominoes28":   "5-2=2-5",
		"paigow32":     "6-5=5-6",
		"riichi136":    "0p=0p",
		"mahjong136":   "0p=",
		"undercover":   "blank=", // the default deck has none
	} {
		for pair := range strings.FieldsSeq(codes) {
			code, want, _ := strings.Cut(pair, "=")
			card, ok := builtinDeck(t, name, nil).Find(code)
			assert.Equalf(t, want != "", ok, "%s: Find(%q)", name, code)
			assert.Equalf(t, want, card.Code, "%s: Find(%q)", name, code)
			assert.Truef(t, !ok || card.Instance == 1, "%s: Find(%q) is instance %d", name, code, card.Instance)
		}
	}
}

// A role that nobody has by default is still a face of the type.
func TestFacesIncludeThoseOutsideTheDefaultDeck(t *testing.T) {
	decks, err := Builtin()
	require.NoError(t, err)
	for _, kind := range decks.Types() {
		codes := map[string]bool{}
		for _, c := range kind.Faces() {
			if found, ok := kind.Face(c.Code); !ok || found.Code != c.Code || c.Instance != 0 || codes[c.Code] {
				t.Errorf("%s: the face %+v is found as %+v, %t, or is listed twice", kind.Name, c, found, ok)
			}
			codes[c.Code] = true
		}
		for _, code := range builtinDeck(t, kind.Name, nil).Codes() {
			assert.Truef(t, codes[code], "%s: there is no face %s", kind.Name, code)
		}
	}
	undercover, _ := decks.Type("undercover")
	_, ok := undercover.Face("blank")
	assert.True(t, ok, "the blank role, of which the default deck has none, has no face")
	standard, _ := decks.Type("standard52")
	c, ok := standard.Face("10H")
	assert.Truef(t, ok && c.Code == "TH", "10H is %+v, %t", c, ok)
	_, ok = standard.Face("back")
	assert.False(t, ok, "there is a card called back")
}

func TestSharedDeck(t *testing.T) {
	for _, name := range order {
		kind := builtinDeck(t, name, nil).Type()
		first, _ := kind.Deck(nil)
		if n := testing.AllocsPerRun(10, func() {
			if d, err := kind.Deck(nil); err != nil || d != first {
				t.Errorf("%s: another deck", name)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations for the shared deck", name, n)
		}
		d, err := kind.Deck(map[string]int{})
		assert.Truef(t, err == nil && d == first, "%s: another deck for no parameters", name)
		if len(kind.Parameters) == 0 && first.Parameters() != nil {
			t.Errorf("%s: parameters %v", name, first.Parameters())
		}
	}
}

func TestUndercover(t *testing.T) {
	tests := []struct {
		given                       map[string]int
		players, undercover, blanks int
	}{
		{nil, 6, 1, 0},
		{map[string]int{"players": 4}, 4, 1, 0},
		{map[string]int{"players": 6}, 6, 1, 0},
		{map[string]int{"players": 7}, 7, 2, 0},
		{map[string]int{"players": 10}, 10, 2, 0},
		{map[string]int{"players": 11}, 11, 3, 0},
		{map[string]int{"players": 16}, 16, 3, 0},
		{map[string]int{"players": 5, "blank": 1}, 5, 1, 1},
		{map[string]int{"players": 16, "undercover": 1, "blank": 6}, 16, 1, 6},
		{map[string]int{"players": 16, "undercover": 7}, 16, 7, 0},
		{map[string]int{"undercover": 2}, 6, 2, 0},
	}
	for _, test := range tests {
		d := builtinDeck(t, "undercover", test.given)
		want := map[string]int{"civilian": test.players - test.undercover - test.blanks, "undercover": test.undercover}
		if test.blanks > 0 {
			want["blank"] = test.blanks
		}
		assert.Equalf(t, want, multiplicities(d.Codes()), "%v", test.given)
		resolved := map[string]int{"players": test.players, "undercover": test.undercover, "blank": test.blanks}
		assert.Equalf(t, resolved, d.Parameters(), "%v: parameters", test.given)
		hands, err := d.Hands(1, "undercover")
		assert.Truef(t, err == nil && slices.Equal(hands, slices.Repeat([]int{1}, test.players)), "%v: hands %v, %v", test.given, hands, err)
	}
}

func TestWerewolfRoles(t *testing.T) {
	for players := 6; players <= 18; players++ {
		roles := multiplicities(builtinDeck(t, "werewolf", map[string]int{"players": players}).Codes())
		wolves := []int{2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5}[players-6]
		assert.Equal(t, wolves, roles["werewolf"], "%d players", players)
		assert.Equal(t, []int{1, 1, min(max(players-8, 0), 1), min(max(players-11, 0), 1)},
			[]int{roles["seer"], roles["witch"], roles["hunter"], roles["idiot"]}, "%d players", players)
		assert.Less(t, wolves, players-wolves, "%d players", players)
	}
}

func TestParameterErrors(t *testing.T) {
	for _, test := range []struct {
		deck  string
		given map[string]int
		want  string // the name of the parameter, and the rest of the message
	}{
		{"standard52", map[string]int{"players": 4}, "players is not one that standard52 takes; it takes none"},
		{
			"undercover",
			map[string]int{"z": 1, "spies": 1, "players": 99},
			"spies is not one that undercover takes; there are players, undercover, blank",
		},
		{"undercover", map[string]int{"players": 3}, "players is 3; it can be 4 to 16"},
		{"undercover", map[string]int{"players": 17}, "players is 17; it can be 4 to 16"},
		{"undercover", map[string]int{"players": math.MinInt}, "players is -9223372036854775808; it can be 4 to 16"},
		{"undercover", map[string]int{"undercover": 0}, "undercover is 0; it can be 1 to 7"},
		{"undercover", map[string]int{"blank": -1}, "blank is -1; it can be 0 to 6"},
		{
			"undercover",
			map[string]int{"players": 4, "undercover": 2},
			"undercover leaves 2 of 4 cards for civilian, which must be more than half",
		},
		{"undercover", map[string]int{"blank": 1, "players": 4}, "blank leaves 2 of 4 cards for civilian, which must be more than half"},
		{"undercover", map[string]int{"players": 4, "undercover": 7}, "undercover does not fit: the counts add up to 7 cards and the size is 4"},
	} {
		d, err := builtinDeck(t, test.deck, nil).Type().Deck(test.given)
		var wrong *ParameterError
		require.ErrorAsf(t, err, &wrong, "%s %v", test.deck, test.given)
		assert.Nilf(t, d, "%s %v", test.deck, test.given)
		assert.Equal(t, "parameter "+test.want, err.Error())
		name, _, _ := strings.Cut(test.want, " ")
		assert.Equal(t, name, wrong.Name)
	}
}

//go:embed testdata/hands.txt
var handsFile string

// TestHands deals by every preset of the data, and by those that are invalid.
func TestHands(t *testing.T) {
	tested, rows := map[string]bool{}, 0
	for line := range strings.Lines(handsFile) {
		request, want, found := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		if !found {
			continue
		}
		rows++
		name, preset, _ := strings.Cut(request, " ")
		hands, err := builtinDeck(t, name, nil).Hands(1, preset)
		if strings.HasPrefix(want, "hands ") {
			assert.Nil(t, hands, request)
			assert.Equal(t, want, fmt.Sprintf("hands %q: %v", preset, err), request)
			continue
		}
		require.NoError(t, err, request)
		assert.Equal(t, want, strings.Trim(fmt.Sprint(hands), "[]"), request)
		preset, _, _ = strings.Cut(preset, ":")
		tested[name+" "+preset] = true
	}
	assert.Equal(t, 62, rows)
	for _, name := range order {
		for _, p := range builtinDeck(t, name, nil).Type().Presets {
			assert.Truef(t, tested[name+" "+p.Name], "%s has a preset %s", name, p.Name)
		}
	}
}

func TestHandsFromCopies(t *testing.T) {
	d := builtinDeck(t, "uno108", nil)
	hands, err := d.Hands(2, "uno:30")
	assert.Truef(t, err == nil && len(hands) == 30, "30 hands of two decks: %v, %v", hands, err)
	hands, err = d.Hands(2, "uno:31")
	assert.Errorf(t, err, "31 hands of two decks: %v", hands)
}

// Callers may change the result of Hands.
func TestHandsAreCopies(t *testing.T) {
	d := builtinDeck(t, "standard52", nil)
	first, _ := d.Hands(1, "bridge")
	first[0] = 99
	second, _ := d.Hands(1, "bridge")
	assert.Equalf(t, 13, second[0], "hands are %v after another caller changed theirs", second)
}

func TestCatalogueOrder(t *testing.T) {
	c, err := Builtin()
	require.NoError(t, err)
	var names []string
	for _, kind := range c.Types() {
		names = append(names, kind.Name)
	}
	assert.Equal(t, order, names, "types")
	kind, ok := c.Type("standard53")
	assert.Falsef(t, ok, "standard53 is %v", kind)
	entries, err := data.ReadDir("data")
	require.NoError(t, err)
	assert.Len(t, entries, len(order))
	for _, e := range entries {
		if kind, ok := c.Type(strings.TrimSuffix(e.Name(), ".json")); !ok {
			t.Errorf("%s does not define the type of its name", e.Name())
		} else if kind.Name+".json" != e.Name() {
			t.Errorf("%s defines %s", e.Name(), kind.Name)
		}
	}
}

// Requests can make any number of decks with parameters.
func TestOnlySharedDecksAreCached(t *testing.T) {
	var names Cache[string]
	for _, parameters := range []map[string]int{nil, {"players": 9}} {
		d, built := builtinDeck(t, "undercover", parameters), 0
		for range 2 {
			got := names.Of(d, func(d *Deck) string { built++; return d.Type().Name })
			assert.Equal(t, "undercover", got)
		}
		assert.Equalf(t, len(parameters)+1, built, "undercover with %v", parameters)
		_, cached := names.made.Load(d)
		assert.Equalf(t, parameters == nil, cached, "undercover with %v: cached", parameters)
	}
}
