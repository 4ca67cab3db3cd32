package deck

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits keep a mistaken file from taking the memory of the service.
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

// A parser reads one file in the format that the package comment specifies, token by token, so that every complaint
// can name a line.
type parser struct {
	name   string // of the file
	text   []byte
	tokens *jsontext.Decoder

	counted int // the bytes of text whose line ends are in lines
	lines   int

	t        *Type
	typeLine int
	codeLine map[string]int // code or alias -> line
	hands    []hand
}

// A hand is where a preset stands in the file and, until parameters are known to exist, what it takes its number of
// hands from.
type hand struct {
	line    int
	players amount
}

// parse returns the type that a file defines and the line that names it. Its errors start with name:line: and never
// wrap another.
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

// check is what can only be said once the whole file is read, for its fields may stand in any order.
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

// known refuses an amount that is taken from a parameter that does not exist.
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

// defaults returns the parameters read so far, all at their default, or nil when there are none.
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

// The readers of single values follow. The field they are given is for the complaint only.

func (p *parser) title(t *Text) error {
	_, err := p.object("a name", fields{
		"en": func() (err error) { t.English, err = p.string("en", maxText); return err },
		"zh": func() (err error) { t.Chinese, err = p.string("zh", maxText); return err },
	}, "en", "zh")
	return err
}

// amount reads a number from 1, {"parameter": "..."} or, where it is allowed, "rest".
func (p *parser) amount(field string, rest bool) (a amount, err error) {
	switch kind := p.tokens.PeekKind(); {
	case kind == '{':
		a.line, err = p.object("an amount", fields{
			"parameter": func() (err error) { a.parameter, err = p.word("parameter"); return err },
		}, "parameter")
		return a, err
	case kind == '"' && rest:
		s, err := p.string(field, maxText)
		if err == nil && s != "rest" {
			err = p.fail(`%q is a number from 1, {"parameter": ...} or "rest", not %q`, field, s)
		}
		return amount{rest: true, line: p.line()}, err
	default:
		n, err := p.number(field, 1)
		return amount{number: n, line: p.line()}, err
	}
}

func (p *parser) word(field string) (string, error) {
	s, err := p.string(field, maxText)
	if err == nil && !wordPattern.MatchString(s) {
		err = p.fail("%q is %q; it must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen", field, s)
	}
	return s, err
}

// string reads text that is not blank and can be shown on one line.
func (p *parser) string(field string, most int) (string, error) {
	token, err := p.next()
	if err != nil {
		return "", err
	}
	if token.Kind() != '"' {
		return "", p.fail("%q must be a string", field)
	}
	s := token.String()
	// A zero-width joiner is no graphic character, but it is what holds emoji together.
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) && r != '\u200d' }
	switch {
	case strings.TrimSpace(s) == "":
		return "", p.fail("%q is empty", field)
	case utf8.RuneCountInString(s) > most:
		return "", p.fail("%q is longer than %d characters", field, most)
	case strings.ContainsFunc(s, hidden):
		return "", p.fail("%q has a control character", field)
	}
	return s, nil
}

// number reads an integer in plain decimal digits, from least to maxCards.
func (p *parser) number(field string, least int) (int, error) {
	token, err := p.next()
	if err != nil {
		return 0, err
	}
	n := -1
	if token.Kind() == '0' {
		if n, err = strconv.Atoi(token.String()); err != nil {
			n = -1
		}
	}
	if n < least || n > maxCards {
		return 0, p.fail("%q must be a whole number, %d to %d", field, least, maxCards)
	}
	return n, nil
}

func (p *parser) boolean(field string) (bool, error) {
	token, err := p.next()
	if err != nil {
		return false, err
	}
	if k := token.Kind(); k != 't' && k != 'f' {
		return false, p.fail("%q must be true or false", field)
	}
	return token.Bool(), nil
}

// fields are the readers of an object's members.
type fields map[string]func() error

// object reads an object and returns the line that it starts on.
func (p *parser) object(what string, known fields, required ...string) (line int, err error) {
	seen := make(map[string]bool)
	err = p.membersFrom(&line, what, func(name string) error {
		read, ok := known[name]
		if !ok {
			return p.fail("%s has no field %q; it has %s", what, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		seen[name] = true
		return read()
	})
	if err != nil {
		return 0, err
	}
	for _, name := range required {
		if !seen[name] {
			return 0, p.failAt(line, "%s needs the field %q", what, name)
		}
	}
	return line, nil
}

// members reads an object whose member names are not fixed.
func (p *parser) members(what string, member func(name string) error) error {
	var line int
	return p.membersFrom(&line, what, member)
}

func (p *parser) membersFrom(line *int, what string, member func(name string) error) error {
	token, err := p.next()
	if err != nil {
		return err
	}
	if token.Kind() != '{' {
		return p.fail("%s must be an object", what)
	}
	*line = p.line()
	for {
		token, err := p.next()
		switch {
		case err != nil:
			return err
		case token.Kind() == '}':
			return nil
		}
		if err := member(token.String()); err != nil {
			return err
		}
	}
}

// array reads an array of at most as many elements as given.
func (p *parser) array(field string, most int, element func() error) error {
	token, err := p.next()
	if err != nil {
		return err
	}
	if token.Kind() != '[' {
		return p.fail("%q must be an array", field)
	}
	for n := 0; p.tokens.PeekKind() != ']'; n++ {
		if n == most {
			return p.fail("%q has more than %d elements", field, most)
		}
		if err := element(); err != nil {
			return err
		}
	}
	if _, err := p.next(); err != nil {
		return err
	}
	return nil
}

// next returns the next token, which is valid until the one after it is read.
func (p *parser) next() (jsontext.Token, error) {
	token, err := p.tokens.ReadToken()
	if err == nil {
		return token, nil
	}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF):
		return token, p.failAt(p.lastLine(), "the file is empty")
	case !errors.As(err, &syntax):
		return token, p.failAt(p.lastLine(), "%v", err)
	}
	line := p.lineAt(min(int(syntax.ByteOffset), len(p.text)))
	switch {
	case errors.Is(syntax.Err, jsontext.ErrDuplicateName):
		return token, p.failAt(line, "the field %q appears twice", syntax.JSONPointer.LastToken())
	case errors.Is(syntax.Err, io.ErrUnexpectedEOF):
		return token, p.failAt(p.lastLine(), "the file ends in the middle")
	}
	return token, p.failAt(line, "this is not JSON: %v", syntax.Err)
}

// line returns the line of the last token, from 1. No token spans lines.
func (p *parser) line() int {
	// Offsets only grow, so every byte is looked at once however often this is asked.
	end := int(p.tokens.InputOffset())
	p.lines += bytes.Count(p.text[p.counted:end], []byte("\n"))
	p.counted = end
	return 1 + p.lines
}

// lineAt returns the line of the byte at an offset.
func (p *parser) lineAt(offset int) int {
	return 1 + bytes.Count(p.text[:offset], []byte("\n"))
}

// lastLine returns the last line that has anything on it.
func (p *parser) lastLine() int {
	return p.lineAt(len(bytes.TrimRight(p.text, " \t\r\n")))
}

func (p *parser) fail(format string, args ...any) error {
	return p.failAt(p.line(), format, args...)
}

func (p *parser) failAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.name, line, fmt.Sprintf(format, args...))
}
