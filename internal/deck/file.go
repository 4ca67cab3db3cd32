package deck

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"riffle/internal/suggest"
)

// maxFile is the most bytes of a file, so that a mistake in one cannot exhaust the memory of the
// service.
const maxFile = 16 << 20

//go:embed type.schema.json
var schemaText []byte

// schema is the form of a file, as the package comment describes it, and its tree, whose titles and
// descriptions are used in errors.
var schema = sync.OnceValues(func() (*jsonschema.Schema, any) {
	const name = "type.schema.json"
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	compiler := jsonschema.NewCompiler()
	if err == nil {
		err = compiler.AddResource(name, tree)
	}
	if err != nil {
		panic(err) // it is embedded
	}
	return compiler.MustCompile(name), tree
})

// A file is a decoded file in the format of the package comment.
type file struct {
	*Type
	Size  amount `json:"size"`
	Cards []face `json:"cards"`
	Hands []hand `json:"hands"` // in place of the type's
}

// A face is a card as the file lists it: once, with the number of its copies. Its instance is 0.
type face struct {
	Card
	Aliases  []string `json:"aliases"`
	Count    amount   `json:"count"`
	Majority bool     `json:"majority"` // the count must be more than half of the deck
}

// A hand is a preset as the file lists it.
type hand struct {
	Preset
	Players amount `json:"players"` // in place of the preset's
}

// An amount is a number that a file gives outright, through a parameter, or as what the other cards
// leave.
type amount struct {
	number    int
	Parameter string `json:"parameter"`
	rest      bool
}

// UnmarshalJSONFrom reads a number, {"parameter": "..."} or "rest".
func (a *amount) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() { //nolint:exhaustive // all other kinds must be numbers
	case '{':
		type object amount // without this method
		return json.UnmarshalDecode(d, (*object)(a))
	case '"':
		a.rest = true
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, &a.number)
}

// A parser checks a file. It reports the first mistake.
type parser struct {
	file
	name  string // of the file
	text  []byte
	value any // of the file, as package json decodes it
	err   error
}

// parse returns the type that a file defines, and the line that names it. Its errors start with
// name:line: and wrap no other. The form of Riffle's own files was tested.
func parse(name string, text []byte, isTested bool) (*Type, int, error) {
	p := &parser{name: name, text: text, file: file{Type: &Type{index: map[string]int{}}}}
	err := json.Unmarshal(text, &p.value)
	if err == nil && !isTested {
		form, _ := schema()
		err = form.Validate(p.value)
	}
	if err == nil {
		err = json.Unmarshal(text, &p.file)
	}
	if err != nil {
		p.reject(err)
		return nil, 0, p.err
	}
	p.convert()
	for _, check := range []func(){p.checkParameters, p.checkCards, p.checkDeck, p.checkHands} {
		if check(); p.err != nil {
			return nil, 0, p.err
		}
	}
	return p.Type, p.line("/type"), nil
}

// convert completes the type, except for its deck.
func (p *parser) convert() {
	for i := range p.Cards {
		c := &p.Cards[i]
		if c.Count == (amount{}) {
			c.Count.number = 1
		}
		if c.Attributes == nil {
			c.Attributes = map[string]string{}
		}
	}
	for _, h := range p.Hands {
		h.PlayersFrom = h.Players.Parameter
		p.Presets = append(p.Presets, h.Preset)
	}
	p.size, p.faces = p.Size, p.Cards
}

// amount checks that there is the parameter of an amount.
func (p *parser) amount(at jsontext.Pointer, a amount) {
	_, known := p.parameter(a.Parameter)
	p.must(known || a.Parameter == "", at, "there is no parameter %q", a.Parameter)
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
func (p *parser) checkParameters() {
	defaults := map[string]int{}
	for i := range p.Parameters {
		q, at := &p.Parameters[i], pointer("/parameters", i)
		_, taken := defaults[q.Name]
		p.must(!taken, at, "there are two parameters %q", q.Name)
		p.must(q.Min <= q.Max, at, "the parameter %q has a min of %d and a max of %d", q.Name, q.Min, q.Max)
		possible := []int{q.Default}
		if q.DefaultBy != nil {
			_, known := defaults[q.DefaultBy.Parameter]
			p.must(known, at, "the parameter %q depends on %q, which no earlier one is called", q.Name, q.DefaultBy.Parameter)
			possible = p.steps(at, q)
			q.Default = q.defaultUnder(defaults)
		}
		for _, v := range possible {
			p.must(q.Min <= v && v <= q.Max, at, "a default of %d for the parameter %q is not within %d to %d", v, q.Name, q.Min, q.Max)
		}
		defaults[q.Name] = q.Default
	}
	p.amount("/size", p.Size)
	q, known := p.parameter(p.Size.Parameter)
	p.must(!known || q.Min > 0, "/size", "the parameter %q is the size and has a min of 0", q.Name)
}

// steps checks that the steps of a default ascend and cover the parameter that it depends on. It
// returns their values.
func (p *parser) steps(at jsontext.Pointer, q *Parameter) (values []int) {
	last := -1
	for _, s := range q.DefaultBy.Steps {
		p.must(s.UpTo > last, at, "the steps of the parameter %q do not ascend", q.Name)
		last, values = s.UpTo, append(values, s.Value)
	}
	by, _ := p.parameter(q.DefaultBy.Parameter)
	p.must(last >= by.Max, at, "the steps of the parameter %q do not reach %s %d", q.Name, by.Name, by.Max)
	return values
}

// checkCards enters codes and aliases in the index.
func (p *parser) checkCards() {
	places := map[string]jsontext.Pointer{}
	enter := func(i int, at jsontext.Pointer, code string) {
		if other, taken := places[code]; taken {
			p.fail(at, "the code %q is taken by line %d", code, p.line(other))
		}
		places[code], p.index[code] = at, i
	}
	var rest jsontext.Pointer
	for i, c := range p.Cards {
		at := pointer("/cards", i)
		p.amount(at+"/count", c.Count)
		enter(i, at+"/code", c.Code)
		for j, alias := range c.Aliases {
			enter(i, pointer(at+"/aliases", j), alias)
		}
		p.must(!c.Majority || c.Count.rest, at, `"majority" is for the card whose count is "rest"`)
		if c.Count.rest {
			p.must(rest == "", at, "the rest is already given to line %d", p.line(rest))
			rest = at
		}
	}
}

// checkDeck sets the deck with default parameters.
func (p *parser) checkDeck() {
	defaults, _ := p.resolve(nil) // which are in range
	d, reason := p.build(defaults)
	if reason != "" {
		p.fail("/size", `"size" %s`, reason)
		return
	}
	p.deck = d
	p.must(p.DeadWall <= d.Size(), "/type", "a dead wall of %d cards is more than the %d of the deck", p.DeadWall, d.Size())
}

// checkHands checks that the deck has enough cards for every preset.
func (p *parser) checkHands() {
	seen := map[string]bool{}
	for i, h := range p.Hands {
		at := pointer("/hands", i)
		p.must(!seen[h.Name], at, "there are two presets %q", h.Name)
		p.must(min(len(h.Sizes), 1)+min(h.Each, 1)+min(len(h.EachBy), 1) == 1, at, `the preset %q needs either "sizes", "each" or "each_by"`, h.Name)
		p.must(len(h.Sizes) == 0 || h.Players == amount{}, at, `the preset %q has "players", which is for "each"`, h.Name)
		p.amount(at+"/players", h.Players)
		seen[h.Name] = true
		p.Presets[i].Players = h.Players.in(p.deck.parameters)
		asked := h.Name
		if len(h.Sizes) == 0 && p.Presets[i].Players == 0 {
			asked += ":1"
		}
		_, err := p.deck.Hands(1, asked)
		p.must(err == nil, at, "hands %q: %v", asked, err)
	}
}

// reject reports an error of package json or of the schema.
func (p *parser) reject(err error) {
	var syntax *jsontext.SyntacticError
	var wrong *json.SemanticError
	var invalid *jsonschema.ValidationError
	switch {
	case len(bytes.TrimSpace(p.text)) == 0:
		p.fail("", "the file is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		p.failOn(p.lineAt(len(bytes.TrimRight(p.text, " \t\r\n"))), "the file ends in the middle")
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		p.failOn(p.lineAt(int(syntax.ByteOffset)), "the field %q appears twice", syntax.JSONPointer.LastToken())
	case errors.As(err, &syntax):
		p.failOn(p.lineAt(int(syntax.ByteOffset)), "this is not JSON: %v", syntax.Err)
	case errors.As(err, &wrong):
		p.fail(wrong.JSONPointer, "%q must be a whole number, without fraction or exponent", wrong.JSONPointer.LastToken())
	case errors.As(err, &invalid):
		first := slices.MinFunc(p.mistakes(invalid), func(a, b mistake) int { return cmp.Or(a.line-b.line, strings.Compare(a.text, b.text)) })
		p.failOn(first.line, "%s", first.text)
	default:
		p.fail("", "%v", err)
	}
}

// A mistake is one that the schema has found.
type mistake struct {
	line int
	text string
}

// mistakes returns the mistakes of an error of the schema.
func (p *parser) mistakes(e *jsonschema.ValidationError) (list []mistake) {
	at := jsontext.Pointer("")
	for _, name := range e.InstanceLocation {
		at = at.AppendToken(name)
	}
	what, wanted := part(e.SchemaURL)
	if name := at.LastToken(); what == "" && strings.Trim(name, "0123456789") == "" {
		what = strconv.Quote(at.Parent().LastToken())
	} else if what == "" {
		what = strconv.Quote(name)
	}
	add := func(at jsontext.Pointer, format string, args ...any) {
		list = append(list, mistake{p.line(at), fmt.Sprintf(format, args...)})
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		add(at, "%s has no %q", what, k.Missing[0])
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(at.AppendToken(name), "%s cannot have the field %q", what, name)
		}
	case *kind.Schema, *kind.Reference, *kind.Group, *kind.AllOf:
		for _, cause := range e.Causes {
			list = append(list, p.mistakes(cause)...)
		}
	default:
		add(at, "%s must be %s; got %s", what, wanted, brief(walk(p.value, at)))
	}
	return list
}

// part returns the title and the description of the part of the schema with a URL.
func part(url string) (title, description string) {
	_, at, _ := strings.Cut(url, "#")
	_, tree := schema()
	found, _ := walk(tree, jsontext.Pointer(at)).(map[string]any)
	title, _ = found["title"].(string)
	description, _ = found["description"].(string)
	return title, description
}

// brief returns a value as text, or its head if it is long.
func brief(value any) string {
	if text, ok := value.(string); ok {
		return suggest.Quote(text)
	}
	text, _ := json.Marshal(value, json.Deterministic(true))
	return suggest.Brief(string(text))
}

// walk returns the value at a pointer.
func walk(value any, at jsontext.Pointer) any {
	for name := range at.Tokens() {
		if list, ok := value.([]any); ok {
			i, _ := strconv.Atoi(name)
			value = list[i]
		} else {
			value = value.(map[string]any)[name]
		}
	}
	return value
}

// pointer returns the pointer to an element of a list.
func pointer(list jsontext.Pointer, i int) jsontext.Pointer { return list.AppendToken(strconv.Itoa(i)) }

// must reports a mistake unless a rule holds.
func (p *parser) must(holds bool, at jsontext.Pointer, mistake string, args ...any) {
	if !holds {
		p.fail(at, mistake, args...)
	}
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
