package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"riffle/internal/suggest"
)

// read parses the file: one document with a mapping.
//
// Ambiguous YAML is a mistake: duplicate keys, anchors and aliases, tags, several documents, and keys
// without a value. So is a file without any key, which may be truncated: without keys for callers,
// everything is permitted.
func (f *File) read(text []byte, settings map[string]Setting) {
	if !f.checkText(text) {
		return
	}
	loader, _ := yaml.NewLoader(bytes.NewReader(text)) // fails only for its options
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) || err == nil && isEmpty(first.Content[0]) {
		f.mistake(position{1, 1}, "the file sets nothing, as one does that is not written whole; write a new one elsewhere, and rename it")
		return
	} else if err != nil {
		f.syntaxMistake(text, err)
		return
	}
	keys := make(map[string]func(*yaml.Node), len(settings)+3)
	for name, setting := range settings {
		keys[name] = func(value *yaml.Node) { f.setIn(f.values, name, setting, value) }
	}
	keys["keys"], keys["anonymous"], keys["tls"] = f.readKeys, f.readAnonymous, f.readTLS
	f.mapping(first.Content[0], "the file", keys)
	if err := loader.Load(&second); err == nil {
		f.mistake(at(&second), "a second document begins here; a file has one")
	} else if !errors.Is(err, io.EOF) {
		f.syntaxMistake(text, err)
	}
}

// checkText adds a mistake for the first invalid character. The YAML library would not locate it, and
// would decode UTF-16.
func (f *File) checkText(text []byte) bool {
	bad := bytes.IndexFunc(text, func(r rune) bool {
		return r == utf8.RuneError || r == '\ufeff' || unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r)
	})
	if bad < 0 {
		return true
	}
	before := text[:bad]
	where := position{1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):])}
	switch r, _ := utf8.DecodeRune(text[bad:]); r {
	case utf8.RuneError:
		f.mistake(where, "byte 0x%02x is not UTF-8; save the file as UTF-8", text[bad])
	case '\ufeff':
		f.mistake(where, "a byte order mark; save the file as UTF-8 without one")
	default:
		f.mistake(where, "control character %U", r)
	}
	return false
}

// syntaxMistake adds a mistake for a syntax error of the YAML library.
func (f *File) syntaxMistake(text []byte, err error) {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		f.mistake(position{}, "%v", err)
		return
	}
	where, message := position{max(e.Mark.Line, 1), max(e.Mark.Column, 1)}, e.Message
	if e.ContextMark.Line > 0 && e.ContextMark != e.Mark {
		message += fmt.Sprintf(" %s from %d:%d", e.ContextMsg, e.ContextMark.Line, e.ContextMark.Column)
	}
	if lines := strings.Split(string(text), "\n"); where.line <= len(lines) && strings.HasPrefix(strings.TrimLeft(lines[where.line-1], " "), "\t") {
		message = "a tab; indent with spaces"
	}
	f.mistake(where, "%s", message)
}

// mapping passes the value of each key to the function of that name, and reports whether there was no
// mistake. what names the mapping in mistakes.
func (f *File) mapping(node *yaml.Node, what string, keys map[string]func(*yaml.Node)) bool {
	before := len(f.mistakes)
	if !f.isPlain(node) {
		return false
	}
	if node.Kind != yaml.MappingNode {
		f.mistake(at(node), "%s must have keys and values, such as %s: ...", what, slices.Min(slices.Collect(maps.Keys(keys))))
		return false
	}
	lines := map[string]int{} // by key
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if !f.isPlain(key) {
			continue
		}
		if key.Kind != yaml.ScalarNode {
			f.mistake(at(key), "a key must be a name")
			continue
		}
		read, known := keys[key.Value]
		switch {
		case lines[key.Value] > 0:
			f.mistake(at(key), "duplicate key %.80q; it is set in line %d already", key.Value, lines[key.Value])
		case !known:
			f.mistake(at(key), "%s", unknown("key", key.Value, slices.Sorted(maps.Keys(keys))))
		default:
			read(value)
		}
		lines[key.Value] = key.Line
	}
	return len(f.mistakes) == before
}

// setIn sets a setting from a value, or a list of values if it accepts one, and adds its position to
// values.
func (f *File) setIn(values map[string]position, name string, setting Setting, value *yaml.Node) {
	read := f.scalar
	if setting.List && value.Kind == yaml.SequenceNode {
		read = f.joined
	}
	text, ok := read(name, value)
	if !ok {
		return
	}
	values[name] = at(value)
	if err := setting.Set(text); err != nil {
		f.mistake(at(value), "%v", err)
	}
}

// joined reads a list of single values, joined with commas.
func (f *File) joined(name string, list *yaml.Node) (text string, ok bool) {
	values, ok := f.list(name, list)
	for i, value := range values {
		if strings.Contains(value, ",") {
			f.mistake(at(list.Content[i]), "%.80q has a comma; each of %s must be an item of its own", value, name)
			ok = false
		}
	}
	return strings.Join(values, ","), ok
}

// list reads a list of single values, and reports whether there was no mistake. A value that is one
// is empty.
func (f *File) list(name string, list *yaml.Node) (values []string, ok bool) {
	before := len(f.mistakes)
	if f.isList(name, list) {
		values = make([]string, len(list.Content))
		for i, item := range list.Content {
			values[i], _ = f.scalar("each of "+name, item)
		}
	}
	return values, len(f.mistakes) == before
}

// isList reports whether a value is a list, or adds a mistake.
func (f *File) isList(name string, value *yaml.Node) bool {
	if !f.isPlain(value) {
		return false
	}
	if value.Kind != yaml.SequenceNode {
		f.mistake(at(value), "%s must be a list", name)
		return false
	}
	return true
}

// field returns a function that reads a single value with parse. rule says in mistakes what the
// value must be.
func field[T any](f *File, name, rule string, to *T, parse func(text string) (T, error)) func(*yaml.Node) {
	return func(value *yaml.Node) {
		text, ok := f.scalar(name, value)
		if !ok {
			return
		}
		var err error
		if *to, err = parse(text); err != nil {
			f.mistake(at(value), "%s must be %s, got %.80q", name, rule, text)
		}
	}
}

// scalar reads the text of a single value.
func (f *File) scalar(name string, value *yaml.Node) (text string, ok bool) {
	switch {
	case !f.isPlain(value):
	case value.Kind != yaml.ScalarNode:
		f.mistake(at(value), "%s must be a single value, not %s", name, kinds[value.Kind])
	case value.ShortTag() == "!!null":
		f.mistake(at(value), `%s has no value; leave the key out, or write "" for an empty text`, name)
	case strings.ContainsFunc(value.Value, unicode.IsControl):
		f.mistake(at(value), "%s has a line break or a control character", name)
	default:
		return value.Value, true
	}
	return "", false
}

var kinds = map[yaml.Kind]string{yaml.SequenceNode: "a list", yaml.MappingNode: "keys and values"}

// isPlain reports whether a node has no anchor, alias or tag, or adds a mistake.
func (f *File) isPlain(node *yaml.Node) bool {
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		f.mistake(at(node), "anchors (&) and aliases (*) are not accepted; quote a text that begins so")
	case node.Style&yaml.TaggedStyle != 0:
		f.mistake(at(node), "tags (!) are not accepted; quote a text that begins so")
	default:
		return true
	}
	return false
}

// isEmpty reports whether a document has no content.
func isEmpty(root *yaml.Node) bool { return root.ShortTag() == "!!null" && root.Value == "" }

func at(node *yaml.Node) position { return position{node.Line, node.Column} }

// unknown returns the mistake for a name that is not in names, with the nearest of them or with all.
func unknown(what, name string, names []string) string {
	return fmt.Sprintf("unknown %s %.80q; %s", what, name, suggest.Or(name, names, "there are "+strings.Join(names, ", ")))
}
