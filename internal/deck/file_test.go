package deck

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxCards is the most cards of a deck, by the schema.
const maxCards = 10_000

// coin is a type whose lines the tests below break one at a time.
const coin = `{
  "type": "coin",
  "name": {"en": "Coin", "zh": "硬币"},
  "family": "coin",
  "size": 3,
  "cards": [
    {"code": "H", "aliases": ["heads"], "name": {"en": "Heads", "zh": "正面"}, "glyph": "H", "attributes": {"side": "heads"}},
    {"code": "T", "name": {"en": "Tails", "zh": "反面"}, "glyph": "T", "count": 2}
  ],
  "hands": [
    {"name": "toss", "sizes": [1, 1]},
    {"name": "each", "each": 1, "players": 2}
  ],
  "dead_wall": 1
}
`

// party is one with parameters.
const party = `{
  "type": "party",
  "name": {"en": "Party", "zh": "聚会"},
  "family": "roles",
  "size": {"parameter": "players"},
  "parameters": [
    {"name": "players", "min": 4, "max": 8, "default": 4},
    {"name": "spies", "min": 1, "max": 3, "default_by": {"parameter": "players", "steps": [{"up_to": 6, "value": 1}, {"up_to": 8, "value": 2}]}}
  ],
  "cards": [
    {"code": "guest", "name": {"en": "Guest", "zh": "客人"}, "glyph": "G", "count": "rest", "majority": true},
    {"code": "spy", "name": {"en": "Spy", "zh": "间谍"}, "glyph": "S", "count": {"parameter": "spies"}}
  ],
  "hands": [
    {"name": "roles", "each": 1, "players": {"parameter": "players"}}
  ]
}
`

func folder(files ...string) fs.FS {
	fsys := make(fstest.MapFS)
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

func TestLoad(t *testing.T) {
	c, err := Builtin()
	require.NoError(t, err)
	// An emoji of several characters, held together by a zero-width joiner, is a glyph.
	farmer := strings.Replace(coin, `"glyph": "H"`, `"glyph": "🧑\u200d🌾"`, 1)
	err = c.Load(folder("z.json", strings.ReplaceAll(farmer, "coin", "alpha"), "party.json", party, "a.json", coin, "notes.txt", "not a deck", "sub/b.json", "{"))
	require.NoError(t, err)
	require.NoError(t, c.Load(folder("late.json", strings.ReplaceAll(coin, "coin", "beta"))))
	var loaded []string
	for _, kind := range c.Types()[len(order):] {
		loaded = append(loaded, kind.Name)
	}
	assert.Equal(t, []string{"alpha", "beta", "coin", "party"}, loaded, "the operator's types")

	kind, _ := c.Type("coin")
	d, err := kind.Deck(nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"H", "T", "T"}, d.Codes(), "codes")
	if card, ok := d.Find("heads"); !ok || card.Code != "H" || card.Attributes["side"] != "heads" {
		t.Errorf("heads is %+v, %t", card, ok)
	}
	if hands, err := d.Hands(1, "each"); err != nil || !slices.Equal(hands, []int{1, 1}) {
		t.Errorf("hands are %v, %v", hands, err)
	}
	// The dead wall of one card is not dealt.
	hands, err := d.Hands(1, "each:3")
	assert.Errorf(t, err, "three hands of a deck of three with a dead wall: %v", hands)

	// What one catalogue loads, no other has.
	other, err := Builtin()
	require.NoError(t, err)
	if _, ok := other.Type("coin"); ok || len(other.Types()) != len(order) {
		t.Error("a new catalogue has what another has loaded")
	}
}

func TestLoadFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "coin.json"), []byte(coin), 0o600))
	c, err := Builtin()
	require.NoError(t, err)
	require.NoError(t, c.Load(os.DirFS(dir)))
	assert.ErrorIs(t, c.Load(os.DirFS(filepath.Join(dir, "missing"))), fs.ErrNotExist, "a folder that is not there")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.json"), 0o700))
	if err := c.Load(os.DirFS(dir)); err == nil || !strings.HasPrefix(err.Error(), "coin.json:2: ") {
		t.Errorf("the same folder again: %v", err)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "coin.json")))
	if err := c.Load(os.DirFS(dir)); err == nil || !strings.HasPrefix(err.Error(), "folder.json:1: it cannot be read: ") {
		t.Errorf("a folder called like a file: %v", err)
	}
}

// Each test replaces a piece of coin or party. The operator reads the message.
func TestLoadErrors(t *testing.T) {
	tests := []struct{ base, from, to, want string }{
		{coin, coin, "", `x.json:1: the file is empty`},
		{coin, coin, " \n\n ", `x.json:1: the file is empty`},
		{coin, coin, "\n\n[]", `x.json:3: a type must be an object; got []`},
		{coin, coin, "null", `x.json:1: a type must be an object; got null`},
		{coin, coin, "{}", `x.json:1: a type has no "type"`},
		{coin, coin, "{", `x.json:1: the file ends in the middle`},
		{coin, coin, coin[:strings.Index(coin, `"T"`)], `x.json:8: the file ends in the middle`},
		{coin, coin, coin + "\n{}", `x.json:17: this is not JSON: invalid character '{' after top-level value`},
		{coin, coin, coin + "\n\n,", `x.json:18: this is not JSON: invalid character ',' after top-level value`},
		{coin, coin, "\ufeff" + coin, `x.json:1: this is not JSON: invalid character '\ufeff' at start of value`},
		{coin, `"family": "coin",`, `"family": "coin"`, `x.json:5: this is not JSON: invalid character '"' after object value (expecting ',' or '}')`},
		{coin, `"size": 3`, `'size': 3`, `x.json:5: this is not JSON: invalid character '\'' at start of value`},
		{coin, `"Coin"`, "\"C\xffin\"", `x.json:3: this is not JSON: invalid UTF-8`},
		{coin, `"Coin"`, `"\ud800"`, `x.json:3: this is not JSON: invalid surrogate pair "\\ud800\", \"zh" in string`},
		{coin, `"size": 3`, `"size": 3, "type": "coin"`, `x.json:5: the field "type" appears twice`},
		{coin, `"glyph": "T"`, `"glyph": "T", "glyph": "T"`, `x.json:8: the field "glyph" appears twice`},
		{coin, `"side": "heads"`, `"side": "heads", "side": "tails"`, `x.json:7: the field "side" appears twice`},
		{coin, `"size": 3`, `"size": 3, "colour": 1`, `x.json:5: a type cannot have the field "colour"`},
		{coin, `"type"`, `"Type"`, `x.json:1: a type has no "type"`},
		{coin, `"glyph": "T"`, `"glyph": "T", "number": 2`, `x.json:8: a card cannot have the field "number"`},
		{coin, `"sizes": [1, 1]`, `"sizes": [1, 1], "x": 1`, `x.json:11: a preset cannot have the field "x"`},
		{coin, `"zh": "硬币"`, `"de": "Münze"`, `x.json:3: a name cannot have the field "de"`},
		{coin, `, "zh": "硬币"`, ``, `x.json:3: a name has no "zh"`},
		{coin, `"glyph": "T", `, ``, `x.json:8: a card has no "glyph"`},
		{coin, `"code": "T", `, ``, `x.json:8: a card has no "code"`},
		{coin, `  "size": 3,` + "\n", ``, `x.json:1: a type has no "size"`},

		{coin, `"type": "coin"`, `"type": "Coin"`, `x.json:2: "type" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got "Coin"`},
		{coin, `"type": "coin"`, `"type": "coin\n"`, `x.json:2: "type" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got "coin\n"`},
		{coin, `"type": "coin"`, `"type": "1coin"`, `x.json:2: "type" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got "1coin"`},
		{coin, `"type": "coin"`, `"type": "../coin"`, `x.json:2: "type" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got "../coin"`},
		{coin, `"type": "coin"`, `"type": "` + strings.Repeat("c", 65) + `"`, `x.json:2: "type" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got "cccccccccccccccccccccccccccccccccccccccc"...`},
		{coin, `"type": "coin"`, `"type": 7`, `x.json:2: "type" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got 7`},
		{coin, `"type": "coin"`, `"type": {"a": 1}`, `x.json:2: "type" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got {"a":1}`},
		{coin, `"type": "coin"`, `"type": "standard52"`, `x.json:2: the type "standard52" is already defined by Riffle itself`},
		{coin, `"Coin"`, `""`, `x.json:3: "en" must be a text of 1 to 200 characters without control characters; got ""`},
		{coin, `"硬币"`, `" "`, `x.json:3: "zh" must be a text of 1 to 200 characters without control characters; got " "`},
		{coin, `"Coin"`, `"` + strings.Repeat("c", 201) + `"`, `x.json:3: "en" must be a text of 1 to 200 characters without control characters; got "cccccccccccccccccccccccccccccccccccccccc"...`},
		{coin, `"Coin"`, `"Co\u0000in"`, `x.json:3: "en" must be a text of 1 to 200 characters without control characters; got "Co\x00in"`},
		{coin, `"Coin"`, `"Co\u202ein"`, `x.json:3: "en" must be a text of 1 to 200 characters without control characters; got "Co\u202ein"`},
		{coin, `"glyph": "T"`, `"glyph": ""`, `x.json:8: "glyph" must be a text of 1 to 200 characters without control characters; got ""`},
		{coin, `"glyph": "T"`, `"glyph": "` + strings.Repeat("T", 33) + `"`, `x.json:8: "glyph" must be a text of 1 to 32 characters; got "TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT"`},
		{coin, `"family": "coin"`, `"family": ""`, `x.json:4: "family" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got ""`},

		{coin, `"code": "T"`, `"code": "H"`, `x.json:8: the code "H" is taken by line 7`},
		{coin, `"code": "T"`, `"code": "heads"`, `x.json:8: the code "heads" is taken by line 7`},
		{coin, `"code": "T"`, `"code": "T", "aliases": ["H"]`, `x.json:8: the code "H" is taken by line 7`},
		{coin, `"code": "T"`, `"code": "T", "aliases": ["T"]`, `x.json:8: the code "T" is taken by line 8`},
		{coin, `"code": "T"`, `"code": "Ü"`, `x.json:8: "code" must be 1 to 16 of A-Z, a-z, 0-9 and hyphen; got "Ü"`},
		// The code is a Cyrillic letter.
		{coin, `"code": "T"`, `"code": "Т"`, `x.json:8: "code" must be 1 to 16 of A-Z, a-z, 0-9 and hyphen; got "Т"`},
		{coin, `"code": "T"`, `"code": "T T"`, `x.json:8: "code" must be 1 to 16 of A-Z, a-z, 0-9 and hyphen; got "T T"`},
		{coin, `"code": "T"`, `"code": "` + strings.Repeat("T", 17) + `"`, `x.json:8: "code" must be 1 to 16 of A-Z, a-z, 0-9 and hyphen; got "TTTTTTTTTTTTTTTTT"`},
		{coin, `"heads"]`, `"he,ds"]`, `x.json:7: "aliases" must be 1 to 16 of A-Z, a-z, 0-9 and hyphen; got "he,ds"`},
		{coin, `["heads"]`, `"heads"`, `x.json:7: "aliases" must be a list of at most 100 codes; got "heads"`},
		{coin, `"side": "heads"`, `"Side": "heads"`, `x.json:7: "attributes" cannot have the field "Side"`},
		{coin, `"side": "heads"`, `"side": 1`, `x.json:7: "side" must be a text of 1 to 200 characters without control characters; got 1`},
		{coin, `"side": "heads"`, `"side": ""`, `x.json:7: "side" must be a text of 1 to 200 characters without control characters; got ""`},

		{coin, `"count": 2`, `"count": 0`, `x.json:8: "count" must be a whole number from 1 to 10000, {"parameter": ...} or "rest"; got 0`},
		{coin, `"count": 2`, `"count": -1`, `x.json:8: "count" must be a whole number from 1 to 10000, {"parameter": ...} or "rest"; got -1`},
		{coin, `"count": 2`, `"count": 2.0`, `x.json:8: "count" must be a whole number, without fraction or exponent`},
		{coin, `"count": 2`, `"count": 1e400`, `x.json:8: "count" must be a whole number, without fraction or exponent`},
		{coin, `"count": 2`, `"count": 99999999999999999999`, `x.json:8: "count" must be a whole number from 1 to 10000, {"parameter": ...} or "rest"; got 100000000000000000000`},
		{coin, `"count": 2`, `"count": true`, `x.json:8: "count" must be a whole number from 1 to 10000, {"parameter": ...} or "rest"; got true`},
		{coin, `"count": 2`, `"count": null`, `x.json:8: "count" must be a whole number from 1 to 10000, {"parameter": ...} or "rest"; got null`},
		{coin, `"count": 2`, `"count": "2"`, `x.json:8: "count" must be a whole number from 1 to 10000, {"parameter": ...} or "rest"; got "2"`},
		{coin, `"count": 2`, `"count": 2, "majority": true`, `x.json:8: "majority" is for the card whose count is "rest"`},
		{coin, `"count": 2`, `"count": "rest", "majority": 1`, `x.json:8: "majority" must be true or false; got 1`},
		{coin, `"count": 2`, `"count": 10000`, `x.json:5: "size" does not fit: the counts add up to 10001 cards and the size is 3`},
		{coin, `"count": 2`, `"count": 1`, `x.json:5: "size" does not fit: the counts add up to 2 cards and the size is 3`},
		{coin, `"count": 2`, `"count": {"parameter": "n"}`, `x.json:8: there is no parameter "n"`},
		{coin, `"count": 2`, `"count": {}`, `x.json:8: "count" must be a whole number from 1 to 10000, {"parameter": ...} or "rest"; got {}`},
		{coin, `"size": 3`, `"size": 0`, `x.json:5: "size" must be a whole number from 1 to 10000, or {"parameter": ...}; got 0`},
		{coin, `"size": 3`, `"size": 10001`, `x.json:5: "size" must be a whole number from 1 to 10000, or {"parameter": ...}; got 10001`},
		{coin, `"size": 3`, `"size": "rest"`, `x.json:5: "size" must be a whole number from 1 to 10000, or {"parameter": ...}; got "rest"`},
		{coin, `"size": 3`, `"size": {"parameter": "n"}`, `x.json:5: there is no parameter "n"`},
		{coin, `"dead_wall": 1`, `"dead_wall": 4`, `x.json:2: a dead wall of 4 cards is more than the 3 of the deck`},

		{coin, `"sizes": [1, 1]`, `"sizes": [1, 2]`, `x.json:11: hands "toss": the preset deals 3 cards and the deck covers 2`},
		{coin, `"sizes": [1, 1]`, `"sizes": [1, 0]`, `x.json:11: "sizes" must be a whole number from 1 to 10000; got 0`},
		{coin, `"sizes": [1, 1]`, `"sizes": []`, `x.json:11: the preset "toss" needs either "sizes", "each" or "each_by"`},
		{coin, `"sizes": [1, 1]`, `"sizes": [1], "then": [{"name": "stock", "size": 3}]`, `x.json:11: hands "toss": the preset deals 4 cards and the deck covers 3`},
		{coin, `"sizes": [1, 1]`, `"each_by": [{"up_to": 1, "value": 0}]`, `x.json:11: hands "toss:1": the preset is not for 1 hands; write toss:4, for example`},
		{coin, `"sizes": [1, 1]`, `"sizes": [1], "each": 1`, `x.json:11: the preset "toss" needs either "sizes", "each" or "each_by"`},
		{coin, `"sizes": [1, 1]`, `"sizes": [1], "players": 1`, `x.json:11: the preset "toss" has "players", which is for "each"`},
		{coin, `"players": 2`, `"players": 3`, `x.json:12: hands "each": the deck covers 2 hands of 1`},
		{coin, `"players": 2`, `"players": {"parameter": "n"}`, `x.json:12: there is no parameter "n"`},
		{coin, `"each": 1, "players": 2`, `"each": 3`, `x.json:12: hands "each:1": the deck covers 0 hands of 3`},
		{coin, `"name": "each"`, `"name": "toss"`, `x.json:12: there are two presets "toss"`},
		{coin, `"name": "each"`, `"name": "a:b"`, `x.json:12: "name" must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen; got "a:b"`},

		{party, `"count": "rest", "majority": true`, `"count": 1`, `x.json:5: "size" does not fit: the counts add up to 2 cards and the size is 4`},
		{party, `"count": {"parameter": "spies"}`, `"count": "rest"`, `x.json:12: the rest is already given to line 11`},
		{party, `"default": 4`, `"default": 3`, `x.json:7: a default of 3 for the parameter "players" is not within 4 to 8`},
		{party, `, "default": 4`, ``, `x.json:7: a parameter must be an object with either "default" or "default_by"; got {"max":8,"min":4,"name":"players"}`},
		{party, `"min": 1`, `"min": 1, "default": 1`, `x.json:8: a parameter must be an object with either "default" or "default_by"; got {"default":1,"default_by":{"parameter":"...`},
		{party, `"min": 4`, `"min": 9`, `x.json:7: the parameter "players" has a min of 9 and a max of 8`},
		{party, `"min": 4`, `"min": 0`, `x.json:5: the parameter "players" is the size and has a min of 0`},
		{party, `"max": 8`, `"max": 20000`, `x.json:7: "max" must be a whole number from 0 to 10000; got 20000`},
		{party, `"max": 8`, `"max": 9`, `x.json:8: the steps of the parameter "spies" do not reach players 9`},
		{party, `{"name": "spies",`, `{"name": "players", "min": 1, "max": 3, "default": 1}, {"name": "spies",`, `x.json:8: there are two parameters "players"`},
		{party, `{"parameter": "players", "steps"`, `{"parameter": "spies", "steps"`, `x.json:8: the parameter "spies" depends on "spies", which no earlier one is called`},
		{party, `"up_to": 8`, `"up_to": 6`, `x.json:8: the steps of the parameter "spies" do not ascend`},
		{party, `"value": 2`, `"value": 4`, `x.json:8: a default of 4 for the parameter "spies" is not within 1 to 3`},
		{party, `[{"up_to": 6, "value": 1}, {"up_to": 8, "value": 2}]`, `[]`, `x.json:8: the steps of the parameter "spies" do not reach players 8`},
		{party, `"up_to": 6, "value": 1`, `"up_to": 6, "value": 2`, `x.json:5: "size" leaves 2 of 4 cards for guest, which must be more than half`},
	}
	for _, test := range tests {
		if strings.Count(test.base, test.from) != 1 {
			t.Errorf("%q is not there exactly once", test.from)
			continue
		}
		c, err := Builtin()
		require.NoError(t, err)
		// A good file before and after: none of the folder is taken.
		good := func(name string) string { return strings.ReplaceAll(coin, "coin", name) }
		err = c.Load(folder("a.json", good("alpha"), "x.json", strings.Replace(test.base, test.from, test.to, 1), "z.json", good("zeta")))
		require.Errorf(t, err, "%s for %s", test.to, test.from)
		assert.Equalf(t, test.want, err.Error(), "%s for %s", test.to, test.from)
		assert.Lenf(t, c.Types(), len(order), "%s for %s: something was loaded", test.to, test.from)
		_, ok := c.Type("alpha")
		assert.Falsef(t, ok, "%s for %s: alpha was loaded", test.to, test.from)
	}
}

func TestLoadTwice(t *testing.T) {
	c, err := Builtin()
	require.NoError(t, err)
	const want = `b.json:2: the type "coin" is already defined by a.json`
	if err := c.Load(folder("a.json", coin, "b.json", coin)); err == nil || err.Error() != want {
		t.Errorf("one folder: %v, want %s", err, want)
	}
	require.NoError(t, c.Load(folder("a.json", coin)))
	if err := c.Load(folder("b.json", coin)); err == nil || err.Error() != want {
		t.Errorf("two folders: %v, want %s", err, want)
	}
}

// Hostile files are rejected before they take memory.
func TestLoadHostile(t *testing.T) {
	const card = `{"code": "a", "name": {"en": "a", "zh": "a"}, "glyph": "a"}`
	head := `{"type": "x", "name": {"en": "a", "zh": "a"}, "family": "x", "size": 1, "cards": [`
	var attributes strings.Builder
	for i := range 100 {
		fmt.Fprintf(&attributes, `, "a%d": "a"`, i)
	}
	tests := []struct{ name, text, want string }{
		{"nested arrays", strings.Repeat("[", 1<<20), `x.json:1: this is not JSON: exceeded max depth`},
		{"nested objects", strings.Repeat(`{"type":`, 1<<20), `x.json:1: this is not JSON: exceeded max depth`},
		{"nested values of a card", head + strings.Repeat(`{"name":`, 1<<20), `x.json:1: this is not JSON: exceeded max depth`},
		{"large file", strings.Repeat(" ", maxFile+1), `x.json:1: it is larger than 16777216 bytes`},
		{
			"long list", `{"type": "x", "hands": [` + `{"name": "a", "sizes": [` + strings.Repeat("1,", maxCards) + "1]}]}",
			`x.json:1: "sizes" must be a list of at most 10000 numbers; got [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1...`,
		},
		{"long lines", strings.Repeat("\n", 1<<20) + head + card + "," + card + "]}", `x.json:1048577: the code "a" is taken by line 1048577`},
		{"large number", head + `{"count": ` + strings.Repeat("9", 1<<20) + "}]}", `x.json:1: "count" must be a whole number, without fraction or exponent`},
		{"many attributes", head + `{"attributes": {"a": "a"` + attributes.String() + "}}]}", `x.json:1: "attributes" must be an object of at most 100 attributes; got {"a":"a","a0":"a","a1":"a","a10":"a","a1...`},
		{"unending number", head + `{"count": ` + strings.Repeat("9", 100) + "}", `x.json:1: the file ends in the middle`},
	}
	for _, test := range tests {
		c, err := Builtin()
		require.NoError(t, err)
		if err := c.Load(folder("x.json", test.text)); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %.200v\nwant %s", test.name, err, test.want)
		}
	}
}

// The largest deck has ten thousand cards; one more is rejected.
func TestLoadLargest(t *testing.T) {
	many := func(count string) string {
		s := strings.Replace(coin, `"count": 2`, `"count": `+count, 1)
		return strings.Replace(s, `"size": 3`, `"size": 10000`, 1)
	}
	c, err := Builtin()
	require.NoError(t, err)
	require.NoError(t, c.Load(folder("x.json", many("9999"))))
	kind, _ := c.Type("coin")
	assert.Equal(t, 10000, kind.Size(), "size")
	const want = `y.json:5: "size" does not fit: the counts add up to 10001 cards and the size is 10000`
	if err := c.Load(folder("y.json", many("10000"))); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestBuiltinFilesHaveTheForm(t *testing.T) {
	for _, name := range order {
		text, err := data.ReadFile("data/" + name + ".json")
		require.NoError(t, err)
		_, _, err = parse(name, text, false)
		assert.NoError(t, err)
	}
}

// Fields may be in any order.
func TestLoadAnyOrder(t *testing.T) {
	c, err := Builtin()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(party, "\n"), "\n")
	moved := slices.Concat(lines[:1], lines[9:13], lines[13:16], lines[1:9])
	moved[len(moved)-1] = "  ]"
	text := strings.Join(append(moved, "}"), "\n")
	text = strings.Replace(text, "  ]\n  \"type\"", "  ],\n  \"type\"", 1)
	err = c.Load(folder("x.json", text))
	assert.NoErrorf(t, err, "%v in\n%s", err, text)
}

// Any file is rejected with its name and a line, or parsed to a type that keeps all invariants.
func FuzzParse(f *testing.F) {
	f.Add([]byte(coin))
	f.Add([]byte(party))
	f.Add([]byte(coin[:len(coin)/2]))
	f.Add([]byte(`{"type": "x", "cards": [{"count": {"parameter": "x"}}]}`))
	for _, name := range []string{"undercover", "werewolf12", "riichi136"} {
		text, err := data.ReadFile("data/" + name + ".json")
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		kind, line, err := parse("x.json", text, false)
		if err != nil {
			if kind != nil || !strings.HasPrefix(err.Error(), "x.json:") {
				t.Fatalf("%v, %v", kind, err)
			}
			return
		}
		if line < 1 || kind.Size() < 1 || kind.Size() > maxCards {
			t.Fatalf("line %d, size %d", line, kind.Size())
		}
		decks := []map[string]int{nil}
		for _, p := range kind.Parameters {
			decks = append(decks, map[string]int{p.Name: p.Min}, map[string]int{p.Name: p.Max})
		}
		for _, parameters := range decks {
			d, err := kind.Deck(parameters)
			if err != nil {
				if wrong := new(ParameterError); parameters == nil || !errors.As(err, &wrong) {
					t.Fatalf("%v: %v", parameters, err)
				}
				continue
			}
			if len(d.Cards()) != d.Size() || len(d.Codes()) != d.Size() || d.Size() > maxCards {
				t.Fatalf("%v: size %d, %d cards, %d codes", parameters, d.Size(), len(d.Cards()), len(d.Codes()))
			}
			for i, c := range d.Codes() {
				if found, ok := d.Find(c); !ok || found.Code != c || d.Cards()[i].Code != c {
					t.Fatalf("%v: %q is not found", parameters, c)
				}
			}
			for _, p := range kind.Presets {
				for _, asked := range []string{p.Name, p.Name + ":1"} {
					if hands, err := d.Hands(1, asked); err == nil && (sum(hands) > d.Size() || len(p.Then) == 0 && sum(hands) > d.Size()-kind.DeadWall) {
						t.Fatalf("%v: %s deals %v of %d", parameters, asked, hands, d.Size())
					}
				}
			}
		}
	})
}
