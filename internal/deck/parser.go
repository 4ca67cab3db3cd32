package deck

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// This file reads the values of a deck file: strict JSON, with the line of every mistake. Readers
// take the name of a field only for their errors.

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

// array reads an array of at most so many elements.
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
	// Offsets only grow, so all calls together look at every byte once.
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
