package deck

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a file, so that a mistake in one cannot exhaust the memory of the service.
const (
	maxFile  = 16 << 20 // bytes
	maxCards = 10_000
	maxList  = 100 // entries of any list but cards and sizes
	maxText  = 200 // characters
	maxGlyph = 32  // characters
)

var (
	wordPattern      = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	attributePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	codePattern      = regexp.MustCompile(`^[A-Za-z0-9-]{1,16}$`)
)

// A parser reads one file in the format of the package comment, token by token, so that every error
// names a line.
type parser struct {
	name   string // of the file
	text   []byte
	tokens *jsontext.Decoder

	counted int // how many bytes of text are counted in lines
	lines   int

	t        *Type
	typeLine int
	codeLine map[string]int // code or alias -> line
	hands    []hand
}

// A hand is the line of a preset and the source of its number of hands, which is checked once all
// parameters are read.
type hand struct {
	line    int
	players amount
}

// parse returns the type that a file defines, and the line that names it. Its errors start with
// name:line: and wrap no other.
func parse(name string, text []byte) (*Type, int, error) {
	p := &parser{
		name:     name,
		text:     text,
		tokens:   jsontext.NewDecoder(bytes.NewReader(text)),
		t:        &Type{index: make(map[string]int)},
		codeLine: make(map[string]int),
	}
	if err := p.file(); err != nil {
		return nil, 0, err
	}
	if rest := bytes.TrimLeft(text[p.tokens.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, 0, p.failAt(p.lineAt(len(text)-len(rest)), "something follows the end of the type")
	}
	if err := p.check(); err != nil {
		return nil, 0, err
	}
	return p.t, p.typeLine, nil
}

func (p *parser) file() error {
	t := p.t
	_, err := p.object("a type", fields{
		"type": func() (err error) {
			t.Name, err = p.word("type")
			p.typeLine = p.line()
			return err
		},
		"name":       func() error { return p.title(&t.Title) },
		"family":     func() (err error) { t.Family, err = p.word("family"); return err },
		"size":       func() (err error) { t.size, err = p.amount("size", false); return err },
		"parameters": func() error { return p.array("parameters", maxList, p.parameter) },
		"cards":      func() error { return p.array("cards", maxCards, p.card) },
		"hands":      func() error { return p.array("hands", maxList, p.preset) },
		"dead_wall":  func() (err error) { t.DeadWall, err = p.number("dead_wall", 1); return err },
	}, "type", "name", "family", "size", "cards")
	return err
}

func (p *parser) parameter() error {
	var q Parameter
	given := 0
	line, err := p.object("a parameter", fields{
		"name":       func() (err error) { q.Name, err = p.word("name"); return err },
		"min":        func() (err error) { q.Min, err = p.number("min", 0); return err },
		"max":        func() (err error) { q.Max, err = p.number("max", 0); return err },
		"default":    func() (err error) { given++; q.Default, err = p.number("default", 0); return err },
		"default_by": func() (err error) { given++; q.DefaultBy, err = p.table(); return err },
	}, "name", "min", "max")
	if err != nil {
		return err
	}
	within := func(v int) bool { return q.Min <= v && v <= q.Max }
	switch _, taken := p.named(q.Name); {
	case taken:
		return p.failAt(line, "there are two parameters %q", q.Name)
	case given != 1:
		return p.failAt(line, `the parameter %q needs either "default" or "default_by"`, q.Name)
	case q.Min > q.Max:
		return p.failAt(line, "the parameter %q has a min of %d and a max of %d", q.Name, q.Min, q.Max)
	}
	if q.DefaultBy != nil {
		by, ok := p.named(q.DefaultBy.Parameter)
		if !ok {
			return p.failAt(line, "the parameter %q depends on %q, which no earlier one is called", q.Name, q.DefaultBy.Parameter)
		}
		steps := q.DefaultBy.Steps
		for i, s := range steps {
			if i > 0 && s.UpTo <= steps[i-1].UpTo {
				return p.failAt(line, "the steps of the parameter %q do not ascend", q.Name)
			}
			if !within(s.Value) {
				return p.failAt(line, "a default of %d for the parameter %q is not within %d to %d", s.Value, q.Name, q.Min, q.Max)
			}
		}
		if len(steps) == 0 || steps[len(steps)-1].UpTo < by.Max {
			return p.failAt(line, "the steps of the parameter %q do not reach %s %d", q.Name, by.Name, by.Max)
		}
		q.Default = q.defaultUnder(p.defaults())
	}
	if !within(q.Default) {
		return p.failAt(line, "a default of %d for the parameter %q is not within %d to %d", q.Default, q.Name, q.Min, q.Max)
	}
	p.t.Parameters = append(p.t.Parameters, q)
	return nil
}

func (p *parser) table() (*Table, error) {
	var t Table
	_, err := p.object("a default_by", fields{
		"parameter": func() (err error) { t.Parameter, err = p.word("parameter"); return err },
		"steps": func() error {
			return p.array("steps", maxList, func() error {
				var s Step
				_, err := p.object("a step", fields{
					"up_to": func() (err error) { s.UpTo, err = p.number("up_to", 0); return err },
					"value": func() (err error) { s.Value, err = p.number("value", 0); return err },
				}, "up_to", "value")
				t.Steps = append(t.Steps, s)
				return err
			})
		},
	}, "parameter", "steps")
	return &t, err
}

func (p *parser) card() error {
	f := face{count: amount{number: 1}, card: Card{Attributes: make(map[string]string)}}
	c := &f.card
	line, err := p.object("a card", fields{
		"code": func() (err error) { c.Code, err = p.code("code"); return err },
		"aliases": func() error {
			return p.array("aliases", maxList, func() error { _, err := p.code("alias"); return err })
		},
		"name":  func() error { return p.title(&c.Name) },
		"glyph": func() (err error) { c.Glyph, err = p.string("glyph", maxGlyph); return err },
		"attributes": func() error {
			return p.members("attributes", func(name string) (err error) {
				if !attributePattern.MatchString(name) {
					return p.fail("%q is not the name of an attribute: a lower-case letter, then up to 63 of a-z, 0-9, _ and -", name)
				}
				if len(c.Attributes) == maxList {
					return p.fail("a card has at most %d attributes", maxList)
				}
				c.Attributes[name], err = p.string(name, maxText)
				return err
			})
		},
		"count":    func() (err error) { f.count, err = p.amount("count", true); return err },
		"majority": func() (err error) { f.majority, err = p.boolean("majority"); return err },
	}, "code", "name", "glyph")
	if err != nil {
		return err
	}
	f.line = line
	if f.majority && !f.count.rest {
		return p.failAt(line, `"majority" is for the card whose count is "rest"`)
	}
	p.t.faces = append(p.t.faces, f)
	return nil
}

// code reads a code or alias of the card that is next in faces and enters it in the index.
func (p *parser) code(field string) (string, error) {
	code, err := p.string(field, maxText)
	if err != nil {
		return "", err
	}
	if !codePattern.MatchString(code) {
		return "", p.fail("the %s %q is not 1 to 16 of A-Z, a-z, 0-9 and hyphen", field, code)
	}
	if line, taken := p.codeLine[code]; taken {
		return "", p.fail("the %s %q is taken by line %d", field, code, line)
	}
	p.codeLine[code] = p.line()
	p.t.index[code] = len(p.t.faces)
	return code, nil
}

func (p *parser) preset() error {
	var q Preset
	var h hand
	line, err := p.object("a preset", fields{
		"name": func() (err error) { q.Name, err = p.word("name"); return err },
		"sizes": func() error {
			return p.array("sizes", maxCards, func() error {
				n, err := p.number("sizes", 1)
				q.Sizes = append(q.Sizes, n)
				return err
			})
		},
		"each":    func() (err error) { q.Each, err = p.number("each", 1); return err },
		"players": func() (err error) { h.players, err = p.amount("players", false); return err },
	}, "name")
	if err != nil {
		return err
	}
	h.line = line
	switch {
	case slices.ContainsFunc(p.t.Presets, func(o Preset) bool { return o.Name == q.Name }):
		return p.failAt(line, "there are two presets %q", q.Name)
	case (len(q.Sizes) > 0) == (q.Each > 0):
		return p.failAt(line, `the preset %q needs either "sizes" or "each"`, q.Name)
	case q.Each == 0 && h.players != amount{}:
		return p.failAt(line, `the preset %q has "players", which is for "each"`, q.Name)
	}
	p.t.Presets = append(p.t.Presets, q)
	p.hands = append(p.hands, h)
	return nil
}

// check makes the checks that need the whole file, as its fields may be in any order.
func (p *parser) check() error {
	t := p.t
	defaults := p.defaults()

	if err := p.known(t.size); err != nil {
		return err
	}
	if q, ok := p.named(t.size.parameter); ok && q.Min == 0 {
		return p.failAt(t.size.line, "the parameter %q is the size and has a min of 0", q.Name)
	}
	rest := 0
	for _, f := range t.faces {
		if err := p.known(f.count); err != nil {
			return err
		}
		if f.count.rest {
			if rest != 0 {
				return p.failAt(f.line, "the rest is already given to line %d", rest)
			}
			rest = f.line
		}
	}
	d, reason := t.build(defaults)
	if reason != "" {
		return p.failAt(t.size.line, `"size" %s`, reason)
	}
	t.deck = d

	if t.DeadWall > d.Size() {
		return p.failAt(p.typeLine, "a dead wall of %d cards is more than the %d of the deck", t.DeadWall, d.Size())
	}
	for i := range t.Presets {
		if err := p.known(p.hands[i].players); err != nil {
			return err
		}
		q := &t.Presets[i]
		q.PlayersFrom = p.hands[i].players.parameter
		q.Players = p.hands[i].players.in(defaults)

		asked := q.Name
		if q.Each > 0 && q.Players == 0 {
			asked += ":1"
		}
		if _, err := d.Hands(asked); err != nil {
			return p.failAt(p.hands[i].line, "%v", err)
		}
	}
	return nil
}

// known returns an error if the amount comes from a parameter that does not exist.
func (p *parser) known(a amount) error {
	if _, ok := p.named(a.parameter); a.parameter != "" && !ok {
		return p.failAt(a.line, "there is no parameter %q", a.parameter)
	}
	return nil
}

func (p *parser) named(parameter string) (Parameter, bool) {
	for _, q := range p.t.Parameters {
		if q.Name == parameter {
			return q, true
		}
	}
	return Parameter{}, false
}

// defaults returns the parameters read so far, all at their default; it may be nil.
func (p *parser) defaults() map[string]int {
	if len(p.t.Parameters) == 0 {
		return nil
	}
	d := make(map[string]int)
	for _, q := range p.t.Parameters {
		d[q.Name] = q.Default
	}
	return d
}
