package deck

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
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

// A file is a decoded file in the format of the package comment.
type file struct {
	Name       string      `json:"type"`
	Title      Text        `json:"name"`
	Family     string      `json:"family"`
	Size       amount      `json:"size"`
	Parameters []Parameter `json:"parameters"`
	Cards      []face      `json:"cards"`
	Hands      []hand      `json:"hands"`
	DeadWall   int         `json:"dead_wall"`
}

// A face is a card as the file lists it: once, with the number of its copies.
type face struct {
	Code       string            `json:"code"`
	Aliases    []string          `json:"aliases"`
	Name       Text              `json:"name"`
	Glyph      string            `json:"glyph"`
	Attributes map[string]string `json:"attributes"`
	Count      amount            `json:"count"`
	Majority   bool              `json:"majority"` // the count must be more than half of the deck
}

// A hand is a preset as the file lists it.
type hand struct {
	Name    string `json:"name"`
	Sizes   []int  `json:"sizes"`
	Each    int    `json:"each"`
	Players amount `json:"players"`
}

// An amount is a number that a file gives outright, through a parameter, or as what the other cards
// leave.
type amount struct {
	number    int
	parameter string
	rest      bool
}

// UnmarshalJSONFrom reads a number, {"parameter": "..."} or "rest".
func (a *amount) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*a = amount{}
	switch d.PeekKind() { //nolint:exhaustive // all other kinds must be numbers
	case '{':
		var from struct {
			Parameter string `json:"parameter"`
		}
		err := json.UnmarshalDecode(d, &from)
		a.parameter = from.Parameter
		return err
	case '"':
		var text string
		if err := json.UnmarshalDecode(d, &text); err != nil {
			return err
		}
		if a.rest = text == "rest"; !a.rest {
			return fmt.Errorf(`is a number from 1, {"parameter": ...} or "rest", not %q`, text)
		}
		return nil
	}
	return json.UnmarshalDecode(d, &a.number)
}

// absent is the value of a required number that the file does not have.
const absent = -1

// before checks a value of the file before it is decoded: it may not be null, and no list may be
// longer than its limit. It also sets defaults.
func before(d *jsontext.Decoder, value any) error {
	if kind, n := d.StackIndex(d.StackDepth()); kind == '[' && n >= maxList {
		list := d.StackPointer().Parent().LastToken()
		if isLong := list == "cards" || list == "sizes"; !isLong || n >= maxCards {
			return fmt.Errorf("has more than %d elements", n)
		}
	}
	if d.PeekKind() == 'n' {
		return errors.New("must not be null")
	}
	switch v := value.(type) {
	case *face:
		*v = face{Attributes: map[string]string{}, Count: amount{number: 1}}
	case *Parameter:
		*v = Parameter{Min: absent, Max: absent, Default: absent}
	case *Step:
		*v = Step{UpTo: absent, Value: absent}
	}
	return errors.ErrUnsupported // decode it as usual
}

// A parser checks a file. It reports the first mistake.
type parser struct {
	file
	name string // of the file
	text []byte
	err  error
}

// parse returns the type that a file defines, and the line that names it. Its errors start with
// name:line: and wrap no other.
func parse(name string, text []byte) (*Type, int, error) {
	p := &parser{name: name, text: text}
	hook := json.WithUnmarshalers(json.UnmarshalFromFunc(before))
	if err := json.Unmarshal(text, &p.file, hook, json.RejectUnknownMembers(true)); err != nil {
		p.reject(err)
		return nil, 0, p.err
	}
	t := p.convert()
	for _, check := range []func(*Type){p.checkFields, p.checkParameters, p.checkCards, p.checkDeck, p.checkHands} {
		if check(t); p.err != nil {
			return nil, 0, p.err
		}
	}
	return t, p.line("/type"), nil
}

// convert returns the type without its deck.
func (p *parser) convert() *Type {
	t := &Type{
		Name: p.Name, Title: p.Title, Family: p.Family, Parameters: p.Parameters, DeadWall: p.DeadWall,
		size: p.Size, faces: p.Cards, index: make(map[string]int),
	}
	for _, h := range p.Hands {
		t.Presets = append(t.Presets, Preset{Name: h.Name, Sizes: h.Sizes, Each: h.Each, PlayersFrom: h.Players.parameter})
	}
	return t
}

// checkFields checks every value by itself.
func (p *parser) checkFields(*Type) {
	p.word("/type", p.Name)
	p.title("/name", p.Title)
	p.word("/family", p.Family)
	p.amount("/size", p.Size)
	p.number("/dead_wall", p.DeadWall, 0)
	for i, q := range p.Parameters {
		at := pointer("/parameters", i)
		p.word(at+"/name", q.Name)
		p.number(at+"/min", q.Min, 0)
		p.number(at+"/max", q.Max, 0)
		if q.DefaultBy == nil {
			continue
		}
		p.word(at+"/default_by/parameter", q.DefaultBy.Parameter)
		for j, s := range q.DefaultBy.Steps {
			at := pointer(at+"/default_by/steps", j)
			p.number(at+"/up_to", s.UpTo, 0)
			p.number(at+"/value", s.Value, 0)
		}
	}
	for i, c := range p.Cards {
		at := pointer("/cards", i)
		if len(c.Attributes) > maxList {
			p.fail(at+"/attributes", "a card has at most %d attributes", maxList)
		}
		p.title(at+"/name", c.Name)
		p.string(at+"/glyph", c.Glyph, maxGlyph)
		for name, value := range c.Attributes {
			at := (at + "/attributes").AppendToken(name)
			if !attributePattern.MatchString(name) {
				p.fail(at, "%q is not the name of an attribute: a lower-case letter, then up to 63 of a-z, 0-9, _ and -", name)
			}
			p.string(at, value, maxText)
		}
		if !c.Count.rest {
			p.amount(at+"/count", c.Count)
		}
	}
	for i, h := range p.Hands {
		at := pointer("/hands", i)
		p.word(at+"/name", h.Name)
		p.number(at+"/each", h.Each, 0)
		for j, n := range h.Sizes {
			p.number(pointer(at+"/sizes", j), n, 1)
		}
		if h.Players != (amount{}) {
			p.amount(at+"/players", h.Players)
		}
	}
}

func (p *parser) title(at jsontext.Pointer, t Text) {
	p.string(at+"/en", t.English, maxText)
	p.string(at+"/zh", t.Chinese, maxText)
}

func (p *parser) word(at jsontext.Pointer, s string) {
	p.string(at, s, maxText)
	if !wordPattern.MatchString(s) {
		p.fail(at, "%s is %q; it must be a lower-case letter, then up to 63 of a-z, 0-9 and hyphen", member(at), s)
	}
}

// string checks text, which must not be blank and has to fit on one line.
func (p *parser) string(at jsontext.Pointer, s string, most int) {
	// A zero-width joiner is no graphic character, but it is what holds emoji together.
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) && r != '\u200d' }
	switch {
	case strings.TrimSpace(s) == "":
		p.fail(at, "%s is missing or empty", member(at))
	case utf8.RuneCountInString(s) > most:
		p.fail(at, "%s is longer than %d characters", member(at), most)
	case strings.ContainsFunc(s, hidden):
		p.fail(at, "%s has a control character", member(at))
	}
}

func (p *parser) number(at jsontext.Pointer, n, least int) {
	if n < least || n > maxCards {
		p.fail(at, "%s must be a whole number, %d to %d", member(at), least, maxCards)
	}
}

// amount checks an amount that is not the rest.
func (p *parser) amount(at jsontext.Pointer, a amount) {
	if a.parameter == "" || a.rest {
		p.number(at, a.number, 1)
	} else if _, known := p.parameter(a.parameter); !known {
		p.fail(at, "there is no parameter %q", a.parameter)
	}
}

// parameter returns a parameter by name.
func (p *parser) parameter(name string) (Parameter, bool) {
	i := slices.IndexFunc(p.Parameters, func(q Parameter) bool { return q.Name == name })
	if i < 0 {
		return Parameter{}, false
	}
	return p.Parameters[i], true
}

// checkParameters checks parameters against the earlier ones, and sets defaults that depend on
// those.
func (p *parser) checkParameters(*Type) {
	defaults := map[string]int{}
	for i := range p.Parameters {
		q, at := &p.Parameters[i], pointer("/parameters", i)
		if _, taken := defaults[q.Name]; taken {
			p.fail(at, "there are two parameters %q", q.Name)
		}
		if (q.Default == absent) == (q.DefaultBy == nil) {
			p.fail(at, `the parameter %q needs either "default" or "default_by"`, q.Name)
		}
		if q.Min > q.Max {
			p.fail(at, "the parameter %q has a min of %d and a max of %d", q.Name, q.Min, q.Max)
		}
		possible := []int{q.Default}
		if q.DefaultBy != nil {
			if _, known := defaults[q.DefaultBy.Parameter]; !known {
				p.fail(at, "the parameter %q depends on %q, which no earlier one is called", q.Name, q.DefaultBy.Parameter)
			}
			possible = p.steps(at, q)
			q.Default = q.defaultUnder(defaults)
		}
		for _, v := range possible {
			if v < q.Min || v > q.Max {
				p.fail(at, "a default of %d for the parameter %q is not within %d to %d", v, q.Name, q.Min, q.Max)
			}
		}
		defaults[q.Name] = q.Default
	}
	if q, known := p.parameter(p.Size.parameter); known && q.Min == 0 {
		p.fail("/size", "the parameter %q is the size and has a min of 0", q.Name)
	}
}

// steps checks that the steps of a default ascend and cover the parameter that it depends on. It
// returns their values.
func (p *parser) steps(at jsontext.Pointer, q *Parameter) (values []int) {
	last := absent
	for _, s := range q.DefaultBy.Steps {
		if s.UpTo <= last {
			p.fail(at, "the steps of the parameter %q do not ascend", q.Name)
		}
		last, values = s.UpTo, append(values, s.Value)
	}
	if by, _ := p.parameter(q.DefaultBy.Parameter); last < by.Max {
		p.fail(at, "the steps of the parameter %q do not reach %s %d", q.Name, by.Name, by.Max)
	}
	return values
}

// checkCards enters codes and aliases in the type's index.
func (p *parser) checkCards(t *Type) {
	places := map[string]jsontext.Pointer{}
	enter := func(i int, at jsontext.Pointer, code string) {
		if other, taken := places[code]; taken {
			p.fail(at, "the code %q is taken by line %d", code, p.line(other))
		}
		if !codePattern.MatchString(code) {
			p.fail(at, "the code %q is not 1 to 16 of A-Z, a-z, 0-9 and hyphen", code)
		}
		places[code], t.index[code] = at, i
	}
	var rest jsontext.Pointer
	for i, c := range p.Cards {
		at := pointer("/cards", i)
		enter(i, at+"/code", c.Code)
		for j, alias := range c.Aliases {
			enter(i, pointer(at+"/aliases", j), alias)
		}
		if c.Majority && !c.Count.rest {
			p.fail(at, `"majority" is for the card whose count is "rest"`)
		}
		if c.Count.rest && rest != "" {
			p.fail(at, "the rest is already given to line %d", p.line(rest))
		}
		if c.Count.rest {
			rest = at
		}
	}
}

// checkDeck sets the deck with default parameters.
func (p *parser) checkDeck(t *Type) {
	defaults, _ := t.resolve(nil) // which are in range
	d, reason := t.build(defaults)
	if reason != "" {
		p.fail("/size", `"size" %s`, reason)
		return
	}
	t.deck = d
	if t.DeadWall > d.Size() {
		p.fail("/type", "a dead wall of %d cards is more than the %d of the deck", t.DeadWall, d.Size())
	}
}

// checkHands checks that the deck has enough cards for every preset.
func (p *parser) checkHands(t *Type) {
	seen := map[string]bool{}
	for i, h := range p.Hands {
		at := pointer("/hands", i)
		switch {
		case seen[h.Name]:
			p.fail(at, "there are two presets %q", h.Name)
		case (len(h.Sizes) > 0) == (h.Each > 0):
			p.fail(at, `the preset %q needs either "sizes" or "each"`, h.Name)
		case h.Each == 0 && h.Players != amount{}:
			p.fail(at, `the preset %q has "players", which is for "each"`, h.Name)
		}
		seen[h.Name] = true
		t.Presets[i].Players = h.Players.in(t.deck.parameters)
		asked := h.Name
		if h.Each > 0 && t.Presets[i].Players == 0 {
			asked += ":1"
		}
		if _, err := t.deck.Hands(asked); err != nil {
			p.fail(at, "%v", err)
		}
	}
}

// objects names the objects of a file in errors.
var objects = map[string]string{
	"file": "a type", "Text": "a name", "Parameter": "a parameter", "Table": "a default_by", "Step": "a step", "face": "a card", "hand": "a preset",
}

// kinds names the other values.
var kinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Int: fmt.Sprintf("a whole number, at most %d", maxCards), reflect.Bool: "true or false", reflect.Slice: "an array",
}

// reject reports an error of package json.
func (p *parser) reject(err error) {
	var syntax *jsontext.SyntacticError
	var wrong *json.SemanticError
	switch {
	case len(bytes.TrimSpace(p.text)) == 0:
		p.fail("", "the file is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		p.failOn(p.lineAt(len(bytes.TrimRight(p.text, " \t\r\n"))), "the file ends in the middle")
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		p.failOn(p.lineAt(int(syntax.ByteOffset)), "the field %s appears twice", member(syntax.JSONPointer))
	case errors.As(err, &syntax):
		p.failOn(p.lineAt(int(syntax.ByteOffset)), "this is not JSON: %v", syntax.Err)
	case !errors.As(err, &wrong):
		p.fail("", "%v", err)
	case errors.Is(err, json.ErrUnknownName):
		p.fail(wrong.JSONPointer, "%s has no field %s", cmp.Or(objects[wrong.GoType.Name()], "an amount"), member(wrong.JSONPointer))
	case wrong.Err != nil && wrong.JSONValue == nil:
		p.fail(wrong.JSONPointer, "%s %v", member(wrong.JSONPointer), wrong.Err)
	default:
		p.fail(wrong.JSONPointer, "%s must be %s", member(wrong.JSONPointer), cmp.Or(kinds[wrong.GoType.Kind()], "an object"))
	}
}

// member returns the quoted name of the value at a pointer, or of the list that has it.
func member(at jsontext.Pointer) string {
	name := at.LastToken()
	if _, err := strconv.Atoi(name); err == nil {
		name = at.Parent().LastToken()
	}
	if at == "" {
		return objects["file"]
	}
	return strconv.Quote(name)
}

// pointer returns the pointer to an element of a list.
func pointer(list jsontext.Pointer, i int) jsontext.Pointer {
	return list.AppendToken(strconv.Itoa(i))
}

// fail reports a mistake in the value at a pointer, or in the object that lacks it.
func (p *parser) fail(at jsontext.Pointer, format string, args ...any) {
	if p.err == nil {
		p.failOn(p.line(at), format, args...)
	}
}

func (p *parser) failOn(line int, format string, args ...any) {
	p.err = fmt.Errorf("%s:%d: %s", p.name, line, fmt.Sprintf(format, args...))
}

// lineAt returns the line of the byte at an offset, from 1.
func (p *parser) lineAt(offset int) int { return 1 + bytes.Count(p.text[:offset], []byte("\n")) }

// line returns the line of the value at a pointer, or of the smallest value that would have it.
func (p *parser) line(at jsontext.Pointer) int {
	line, found := 1, -1
	for d := jsontext.NewDecoder(bytes.NewReader(p.text)); ; {
		if _, err := d.ReadToken(); err != nil {
			return line
		}
		here := d.StackPointer()
		if len(here) > found && here.Contains(at) {
			line, found = p.lineAt(int(d.InputOffset())), len(here)
		}
		if here == at {
			return line
		}
	}
}
