package deck

import (
	"errors"
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
	tests := []struct{ deck, code, want string }{
		{"standard52", "AS", "AS"},
		{"standard52", "TD", "TD"},
		{"standard52", "0S", "TS"},
		{"standard52", "10S", "TS"},
		{"tarot78", "10C", "TC"},
		{"euchre24", "0H", "TH"},
		{"pinochle48", "10D", "TD"},
		{"sanguosha108", "sha-S10", "sha-ST"},
		{"sanguosha160", "tiesuo-C10", "tiesuo-CT"},
		{"sanguosha160", "tiesuo-S10", ""},
		{"dominoes28", "5-2", "2-5"},
		{"paigow32", "6-5", "5-6"},
		{"riichi136", "0p", "0p"},
		{"mahjong136", "0p", ""},
		{"standard52", "as", ""},
		{"standard52", "X1", ""},
		{"standard52", "", ""},
		{"undercover", "blank", ""}, // the default deck has none
	}
	for _, test := range tests {
		card, ok := builtinDeck(t, test.deck, nil).Find(test.code)
		assert.Equalf(t, (test.want != ""), ok, "%s: Find(%q) = ", test.deck, test.code)
		assert.Equalf(t, test.want, card.Code, "%s: Find(%q) = ", test.deck, test.code)
		if ok && card.Instance != 1 {
			t.Errorf("%s: Find(%q) is instance %d", test.deck, test.code, card.Instance)
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
	if c, ok := standard.Face("10H"); !ok || c.Code != "TH" {
		t.Errorf("10H is %+v, %t", c, ok)
	}
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
		if d, err := kind.Deck(map[string]int{}); err != nil || d != first {
			t.Errorf("%s: another deck for no parameters", name)
		}
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
		if hands, err := d.Hands(1, "undercover"); err != nil || !slices.Equal(hands, slices.Repeat([]int{1}, test.players)) {
			t.Errorf("%v: hands %v, %v", test.given, hands, err)
		}
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
	tests := []struct {
		deck    string
		given   map[string]int
		name    string
		message string
	}{
		{"standard52", map[string]int{"players": 4}, "players", "parameter players is not one that standard52 takes; it takes none"},
		{"undercover", map[string]int{"z": 1, "spies": 1, "players": 99}, "spies", "parameter spies is not one that undercover takes; there are players, undercover, blank"},
		{"undercover", map[string]int{"players": 3}, "players", "parameter players is 3; it can be 4 to 16"},
		{"undercover", map[string]int{"players": 17}, "players", "parameter players is 17; it can be 4 to 16"},
		{"undercover", map[string]int{"players": math.MinInt}, "players", "parameter players is -9223372036854775808; it can be 4 to 16"},
		{"undercover", map[string]int{"undercover": 0}, "undercover", "parameter undercover is 0; it can be 1 to 7"},
		{"undercover", map[string]int{"blank": -1}, "blank", "parameter blank is -1; it can be 0 to 6"},
		{
			"undercover",
			map[string]int{"players": 4, "undercover": 2},
			"undercover",
			"parameter undercover leaves 2 of 4 cards for civilian, which must be more than half",
		},
		{
			"undercover",
			map[string]int{"players": 4, "blank": 1},
			"blank",
			"parameter blank leaves 2 of 4 cards for civilian, which must be more than half",
		},
		{
			"undercover",
			map[string]int{"players": 4, "undercover": 7},
			"undercover",
			"parameter undercover does not fit: the counts add up to 7 cards and the size is 4",
		},
	}
	for _, test := range tests {
		d, err := builtinDeck(t, test.deck, nil).Type().Deck(test.given)
		var wrong *ParameterError
		if !errors.As(err, &wrong) || d != nil {
			t.Errorf("%s %v: %v, %v", test.deck, test.given, d, err)
			continue
		}
		if wrong.Name != test.name || err.Error() != test.message {
			t.Errorf("%s %v: %s: %q, want %s: %q", test.deck, test.given, wrong.Name, err, test.name, test.message)
		}
	}
}

func TestHands(t *testing.T) {
	times := func(n, each int) []int { return slices.Repeat([]int{each}, n) }
	tests := []struct {
		deck, preset string
		want         []int
	}{
		{"standard52", "bridge", times(4, 13)},
		{"standard52", "hearts", times(4, 13)},
		{"standard52", "hearts:3", times(3, 17)},
		{"standard52", "holdem:6", append(times(6, 2), 1, 3, 1, 1, 1, 1)},
		{"standard52", "omaha:2", append(times(2, 4), 1, 3, 1, 1, 1, 1)},
		{"standard52", "stud:7", times(7, 7)},
		{"standard52", "blackjack:3", times(4, 2)},
		{"standard52", "rummy:2", []int{10, 10, 1}},
		{"standard52", "rummy:6", append(times(6, 6), 1)},
		{"standard52", "gin", []int{10, 10, 1}},
		{"standard54", "doudizhu", times(3, 17)},
		{"euchre24", "euchre", times(4, 5)},
		{"piquet32", "skat", times(3, 10)},
		{"pinochle48", "pinochle", times(4, 12)},
		{"uno108", "uno:4", times(4, 7)},
		{"uno108", "uno:15", times(15, 7)},
		{"uno112", "uno:16", times(16, 7)},
		{"mahjong136", "mahjong", []int{14, 13, 13, 13}},
		{"mahjong144", "mahjong", []int{14, 13, 13, 13}},
		{"mahjong136", "mahjong-wall", []int{14, 13, 13, 13, 69, 14}},
		{"mahjong144", "mahjong-wall", []int{14, 13, 13, 13, 77, 14}},
		{"riichi136", "riichi-wall", []int{14, 13, 13, 13, 69, 14}},
		{"werewolf", "werewolf", times(12, 1)},
		{"sichuan108", "sichuan", []int{14, 13, 13, 13}},
		{"riichi136", "riichi", []int{14, 13, 13, 13}},
		{"sanguosha108", "sanguosha:8", times(8, 4)},
		{"sanguosha160", "sanguosha:40", times(40, 4)},
		{"werewolf12", "werewolf", times(12, 1)},
		{"werewolf12", "werewolf:12", times(12, 1)},
		{"undercover", "undercover", times(6, 1)},
		{"undercover", "undercover:6", times(6, 1)},
		{"dominoes28", "dominoes:4", times(4, 7)},
		{"paigow32", "paigow:8", times(8, 4)},
		{"set81", "set", []int{12}},
	}
	for _, test := range tests {
		got, err := builtinDeck(t, test.deck, nil).Hands(1, test.preset)
		require.NoErrorf(t, err, "%s %s", test.deck, test.preset)
		assert.Equalf(t, test.want, got, "%s %s", test.deck, test.preset)
	}

	// Every preset of the data is tested above.
	for _, name := range order {
		for _, p := range builtinDeck(t, name, nil).Type().Presets {
			if !slices.ContainsFunc(tests, func(test struct {
				deck, preset string
				want         []int
			},
			) bool {
				preset, _, _ := strings.Cut(test.preset, ":")
				return test.deck == name && preset == p.Name
			}) {
				t.Errorf("%s has a preset %s", name, p.Name)
			}
		}
	}
}

func TestInvalidHandsAreRejected(t *testing.T) {
	tests := []struct{ deck, preset, want string }{
		{"standard52", "canasta", `hands "canasta": deck standard52 has no preset "canasta"; give the sizes of the hands, as in [5,5], or a preset: bridge, hearts, holdem, omaha, stud, blackjack, rummy, gin`},
		{"standard52", "texas:6", `hands "texas:6": deck standard52 has no preset "texas:6"; did you mean holdem:6?`},
		{"uno108", "poker", `hands "poker": deck uno108 has no preset "poker"; give the sizes of the hands, as in [5,5], or a preset: uno`},
		{"standard52", "", `hands "": deck standard52 has no preset ""; give the sizes of the hands, as in [5,5], or a preset: bridge, hearts, holdem, omaha, stud, blackjack, rummy, gin`},
		{"standard52", "bridge:4", `hands "bridge:4": the preset always deals 4 hands; write bridge`},
		{"standard52", "bridge:", `hands "bridge:": the preset always deals 4 hands; write bridge`},
		{"standard52", "Bridge:4", `hands "Bridge:4": deck standard52 has no preset "Bridge:4"; did you mean bridge?`},
		{"spanish40", "tute", `hands "tute": deck spanish40 has no preset "tute"; give the sizes of the hands, as in [5,5]`},
		{"uno108", "uno", `hands "uno": say how many hands; write uno:4 for four hands of 7`},
		{"uno108", "uno:16", `hands "uno:16": the deck covers 15 hands of 7`},
		{"werewolf12", "werewolf:13", `hands "werewolf:13": the deck covers 12 hands of 1`},
		{"werewolf12", "werewolf:8", `hands "werewolf:8": roles would be left over, for the deck has 12: write werewolf, and set the parameter players to 8, with the deck werewolf or another that has it`},
		{"standard52", "gin:3", `hands "gin:3": the preset is not for 3 hands; write gin:2, for example`},
		{"standard52", "hearts:2", `hands "hearts:2": the preset is not for 2 hands; write hearts:4, for example`},
		{"standard52", "rummy:7", `hands "rummy:7": the preset is not for 7 hands; write rummy:4, for example`},
		{"standard52", "holdem:23", `hands "holdem:23": the deck covers 22 hands of 2`},
		{"uno108", "uno:9223372036854775807", `hands "uno:9223372036854775807": the deck covers 15 hands of 7`},
	}
	for _, number := range []string{"", "0", "-1", "+4", "04", "4.0", "4 ", "four", "4:4", "9223372036854775808", "٤"} {
		preset := "uno:" + number
		tests = append(tests, struct{ deck, preset, want string }{
			"uno108", preset,
			`hands "` + preset + `": the number of hands is a whole number from 1; write uno:4 for four hands of 7`,
		})
	}
	for _, test := range tests {
		hands, err := builtinDeck(t, test.deck, nil).Hands(1, test.preset)
		var wrong *PresetError
		if !errors.As(err, &wrong) || hands != nil {
			t.Errorf("%s %s: %v, %v", test.deck, test.preset, hands, err)
			continue
		}
		assert.Equalf(t, test.want, err.Error(), "%s %s: %q, want %q", test.deck, test.preset, err, test.want)
		assert.Equalf(t, test.preset, wrong.Preset, "%s %s: %q, want %q", test.deck, test.preset, err, test.want)
	}
}

func TestHandsFromCopies(t *testing.T) {
	d := builtinDeck(t, "uno108", nil)
	if hands, err := d.Hands(2, "uno:30"); err != nil || len(hands) != 30 {
		t.Errorf("30 hands of two decks: %v, %v", hands, err)
	}
	hands, err := d.Hands(2, "uno:31")
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
