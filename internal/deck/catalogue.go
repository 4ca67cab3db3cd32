package deck

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"riffle/internal/suggest"
)

//go:embed data/*.json
var data embed.FS

//go:embed data/order.txt
var orderFile string

// order is the order of the built-in types in every listing.
var order = strings.Fields(orderFile)

// A Catalogue holds the deck types that can be shuffled: the built-in ones and those that an
// operator loaded. It is safe for concurrent use, except during [Catalogue.Load].
type Catalogue struct {
	builtin []*Type
	loaded  []*Type          // the operator's, by name
	types   map[string]*Type // by name
}

var builtin = sync.OnceValues(func() ([]*Type, error) {
	types := make([]*Type, len(order))
	for i, name := range order {
		t, _, err := readFile(data, path.Join("data", name+".json"))
		if err != nil {
			return nil, err
		}
		types[i] = t
	}
	return types, nil
})

// Builtin returns a new catalogue of the types that come with Riffle.
func Builtin() (*Catalogue, error) {
	types, err := builtin()
	if err != nil {
		return nil, err
	}
	c := &Catalogue{builtin: types, types: make(map[string]*Type)}
	for _, t := range types {
		c.types[t.Name] = t
	}
	return c, nil
}

// Load adds the types of an operator: every file of the folder whose name ends in .json, one type
// each. The package comment specifies the format, and the built-in files are examples of it.
//
// A file that is not exactly as described, or a type that exists already, is an error that starts
// with the name of the file and the line, as in
//
//	flags.json:12: the code "AS" is taken by line 7
//
// and leaves the catalogue unchanged.
func (c *Catalogue) Load(fsys fs.FS) error {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return fmt.Errorf("reading the folder of deck types: %w", err)
	}
	types, loaded := maps.Clone(c.types), slices.Clone(c.loaded)
	for _, e := range entries {
		if path.Ext(e.Name()) != ".json" {
			continue
		}
		t, line, err := readFile(fsys, e.Name())
		if err != nil {
			return err
		}
		if other, exists := types[t.Name]; exists {
			return fmt.Errorf("%s:%d: the type %q is already defined by %s", e.Name(), line, t.Name, cmp.Or(other.source, "Riffle itself"))
		}
		t.source = e.Name()
		types[t.Name], loaded = t, append(loaded, t)
	}
	slices.SortFunc(loaded, func(a, b *Type) int { return cmp.Compare(a.Name, b.Name) })
	c.types, c.loaded = types, loaded
	return nil
}

// Types returns all types: the built-in ones in their fixed order, then the operator's by name.
func (c *Catalogue) Types() []*Type { return slices.Concat(c.builtin, c.loaded) }

// Type returns the type of that name.
func (c *Catalogue) Type(name string) (*Type, bool) {
	t, ok := c.types[name]
	return t, ok
}

// Hint says which deck type a name that is none may have been meant for: one that has it as a preset, is
// spelled like it, or has it in its name or its title.
func (c *Catalogue) Hint(name string) string {
	types := c.Types()
	if word := strings.ToLower(suggest.Brief(name)); len(word) > 1 {
		if word == "poker" || word == "cards" {
			word = "standard52"
		}
		preset, _, _ := strings.Cut(word, ":")
		for _, t := range types {
			switch has := func(text string) bool { return strings.Contains(strings.ToLower(text), word) }; {
			case has(t.Name), has(t.Title.English):
				return "did you mean " + t.Name + "?"
			case slices.ContainsFunc(t.Presets, func(p Preset) bool { return p.Name == preset }):
				return fmt.Sprintf("did you mean deck %s with hands %s?", t.Name, word)
			}
		}
	}
	return suggest.Or(name, namesOf(types, func(t *Type) string { return t.Name }), "GET /decks lists them")
}

// namesOf returns the names of things.
func namesOf[T any](things []T, name func(T) string) (names []string) {
	for _, thing := range things {
		names = append(names, name(thing))
	}
	return names
}

// readFile parses one file. It also returns the line that names the type.
func readFile(fsys fs.FS, name string) (_ *Type, line int, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, fmt.Errorf("%s:1: it cannot be opened: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("%s:1: it cannot be read: %w", name, err)
	case len(text) > maxFile:
		return nil, 0, fmt.Errorf("%s:1: it is larger than %d bytes", name, maxFile)
	}
	return parse(name, text, fsys == fs.FS(data))
}
