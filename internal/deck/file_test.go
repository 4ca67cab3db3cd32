package deck

import (
	_ "embed"
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
//
//go:embed testdata/coin.json
var coin string

// party is one with parameters.
//
//go:embed testdata/party.json
var party string

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
	card, ok := d.Find("heads")
	assert.Truef(t, ok && card.Code == "H" && card.Attributes["side"] == "heads", "heads is %+v, %t", card, ok)
	hands, err := d.Hands(1, "each")
	assert.Truef(t, err == nil && slices.Equal(hands, []int{1, 1}), "hands are %v, %v", hands, err)
	// The dead wall of one card is not dealt.
	hands, err = d.Hands(1, "each:3")
	assert.Errorf(t, err, "three hands of a deck of three with a dead wall: %v", hands)

	// What one catalogue loads, no other has.
	other, err := Builtin()
	require.NoError(t, err)
	_, ok = other.Type("coin")
	assert.True(t, !ok && len(other.Types()) == len(order), "a new catalogue has what another has loaded")
}

func TestLoadFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "coin.json"), []byte(coin), 0o600))
	c, err := Builtin()
	require.NoError(t, err)
	require.NoError(t, c.Load(os.DirFS(dir)))
	assert.ErrorIs(t, c.Load(os.DirFS(filepath.Join(dir, "missing"))), fs.ErrNotExist, "a folder that is not there")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.json"), 0o700))
	err = c.Load(os.DirFS(dir))
	assert.Truef(t, err != nil && strings.HasPrefix(err.Error(), "coin.json:2: "), "the same folder again: %v", err)
	require.NoError(t, os.Remove(filepath.Join(dir, "coin.json")))
	err = c.Load(os.DirFS(dir))
	assert.Truef(t, err != nil && strings.HasPrefix(err.Error(), "folder.json:1: it cannot be read: "), "a folder called like a file: %v", err)
}

//go:embed testdata/rejected.txt
var rejectedFile string

// The operator reads what is wrong with a file: a text that is no type, or coin or party with a
// change of testdata/rejected.txt.
func TestLoadErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `x.json:1: the file is empty`},
		{" \n\n ", `x.json:1: the file is empty`},
		{"\n\n[]", `x.json:3: a type must be an object; got []`},
		{"null", `x.json:1: a type must be an object; got null`},
		{"{}", `x.json:1: a type has no "type"`},
		{"{", `x.json:1: the file ends in the middle`},
		{coin[:strings.Index(coin, `"T"`)], `x.json:8: the file ends in the middle`},
		{coin + "\n{}", `x.json:17: this is not JSON: invalid character '{' after top-level value`},
		{coin + "\n\n,", `x.json:18: this is not JSON: invalid character ',' after top-level value`},
		{"\ufeff" + coin, `x.json:1: this is not JSON: invalid character '\ufeff' at start of value`},
		{strings.Replace(coin, "Coin", "C\xffin", 1), `x.json:3: this is not JSON: invalid UTF-8`},
	}
	base := ""
	for line := range strings.Lines(rejectedFile) {
		line = strings.TrimSuffix(line, "\n")
		if name, found := strings.CutPrefix(line, "== "); found {
			base = map[string]string{"coin": coin, "party": party}[name]
		} else if parts := strings.Split(line, " => "); len(parts) == 3 {
			require.Equal(t, 1, strings.Count(base, parts[0]), line)
			tests = append(tests, struct{ text, want string }{strings.Replace(base, parts[0], parts[1], 1), "x.json:" + parts[2]})
		}
	}
	require.Len(t, tests, 101)
	for _, test := range tests {
		c, err := Builtin()
		require.NoError(t, err)
		// A good file before and after: none of the folder is taken.
		good := func(name string) string { return strings.ReplaceAll(coin, "coin", name) }
		err = c.Load(folder("a.json", good("alpha"), "x.json", test.text, "z.json", good("zeta")))
		require.Errorf(t, err, "%s", test.text)
		assert.Equalf(t, test.want, err.Error(), "%s", test.text)
		assert.Lenf(t, c.Types(), len(order), "%s: something was loaded", test.text)
		_, ok := c.Type("alpha")
		assert.Falsef(t, ok, "%s: alpha was loaded", test.text)
	}
}

func TestLoadTwice(t *testing.T) {
	c, err := Builtin()
	require.NoError(t, err)
	const want = `b.json:2: the type "coin" is already defined by a.json`
	assert.EqualError(t, c.Load(folder("a.json", coin, "b.json", coin)), want, "one folder")
	require.NoError(t, c.Load(folder("a.json", coin)))
	assert.EqualError(t, c.Load(folder("b.json", coin)), want, "two folders")
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
		assert.EqualError(t, c.Load(folder("x.json", test.text)), test.want, test.name)
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
	assert.EqualError(t, c.Load(folder("y.json", many("10000"))), want)
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
			require.Truef(t, kind == nil && strings.HasPrefix(err.Error(), "x.json:"), "%v, %v", kind, err)
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
				wrong := new(ParameterError)
				require.Truef(t, parameters != nil && errors.As(err, &wrong), "%v: %v", parameters, err)
				continue
			}
			if len(d.Cards()) != d.Size() || len(d.Codes()) != d.Size() || d.Size() > maxCards {
				t.Fatalf("%v: size %d, %d cards, %d codes", parameters, d.Size(), len(d.Cards()), len(d.Codes()))
			}
			for i, c := range d.Codes() {
				found, ok := d.Find(c)
				require.Truef(t, ok && found.Code == c && d.Cards()[i].Code == c, "%v: %q is not found", parameters, c)
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
