// Generate writes the parts of the Python client that follow from openapi.yaml: types.py, a type
// for each schema, and operations.py, a method for each operation, once plain and once for asyncio.
package main

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

//go:generate go run . ../../../openapi.yaml ../riffle

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate openapi.yaml FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(file, folder string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return err
	}
	c := &contract{root: value{document.Content[0]}}
	for name, text := range map[string]string{"types.py": c.types(), "operations.py": c.operations()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil { //nolint:gosec // source code
			return err
		}
	}
	return nil
}

// module returns the text of a module, with imports of the names that occur in its body.
func module(doc, body string, names ...string) string {
	var imports strings.Builder
	for _, from := range []string{"collections.abc", "typing"} {
		used := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return (from == "typing") == strings.HasSuffix(name, "Iterator") || !regexp.MustCompile(`\b`+name+`\b`).MatchString(body)
		})
		if len(used) > 0 {
			fmt.Fprintf(&imports, "from %s import %s\n", from, strings.Join(used, ", "))
		}
	}
	return fmt.Sprintf(`"""%s

Generated from openapi.yaml by go generate ./clients/python/generate. Do not edit.
"""

from __future__ import annotations

%s%s`, doc, &imports, body)
}

// A value is a part of the contract; a missing member is nil.
type value struct{ *yaml.Node }

// member returns a member of a mapping.
func (v value) member(name string) value {
	for key, member := range v.members() {
		if key == name {
			return member
		}
	}
	return value{}
}

// members ranges over the members of a mapping in the order of the contract.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if v.Node == nil || v.Kind != yaml.MappingNode {
			return
		}
		for pair := range slices.Chunk(v.Content, 2) {
			if !yield(pair[0].Value, value{pair[1]}) {
				return
			}
		}
	}
}

// list returns the elements of a sequence, or a scalar as the only one.
func (v value) list() []value {
	if v.Node == nil {
		return nil
	}
	if v.Kind != yaml.SequenceNode {
		return []value{v}
	}
	list := make([]value, len(v.Content))
	for i, element := range v.Content {
		list[i] = value{element}
	}
	return list
}

func (v value) text() string {
	if v.Node == nil {
		return ""
	}
	return v.Value
}

type contract struct{ root value }

// resolve follows a $ref.
func (c *contract) resolve(v value) value {
	ref, found := strings.CutPrefix(v.member("$ref").text(), "#/")
	if !found {
		return v
	}
	v = c.root
	for name := range strings.SplitSeq(ref, "/") {
		v = v.member(name)
	}
	return c.resolve(v)
}

// types returns types.py: objects are classes, and every other schema is an alias.
func (c *contract) types() string {
	var out strings.Builder
	var aliases strings.Builder
	for name, schema := range c.root.member("components").member("schemas").members() {
		if schema.member("properties").Node == nil {
			fmt.Fprintf(&aliases, "\n%s: TypeAlias = %q\n", name, c.typeOf(schema))
			continue
		}
		required := schema.member("required").list()
		isRequired := func(name string) bool {
			return slices.ContainsFunc(required, func(v value) bool { return v.text() == name })
		}
		if slices.ContainsFunc(keywords, func(word string) bool { return schema.member("properties").member(word).Node != nil }) {
			fmt.Fprintf(&aliases, "\n%s = TypedDict(\n    %q,\n    {\n", name, name)
			for member, s := range schema.member("properties").members() {
				wrapper := "NotRequired"
				if isRequired(member) {
					wrapper = "Required"
				}
				fmt.Fprintf(&aliases, "        %q: %s[%q],\n", member, wrapper, c.typeOf(s))
			}
			aliases.WriteString("    },\n)\n")
			continue
		}
		fmt.Fprintf(&out, "\n\nclass %s(TypedDict):\n", name)
		if text := schema.member("description").text(); text != "" {
			fmt.Fprintf(&out, "    %s\n\n", docstring(text, "    "))
		}
		for member, s := range schema.member("properties").members() {
			kind := c.typeOf(s)
			if !isRequired(member) {
				kind = "NotRequired[" + kind + "]"
			}
			fmt.Fprintf(&out, "    %s: %s\n", member, kind)
			if text := s.member("description").text(); text != "" {
				fmt.Fprintf(&out, "    %s\n", docstring(text, "    "))
			}
		}
	}
	body := out.String() + "\n" + aliases.String()
	return module("The types of requests and answers.", body, "Any", "Literal", "NotRequired", "Required", "TypeAlias", "TypedDict", "Union")
}

// typeOf returns the Python type of a schema.
func (c *contract) typeOf(schema value) string {
	if ref := schema.member("$ref").text(); ref != "" {
		return ref[strings.LastIndex(ref, "/")+1:]
	}
	if parts := schema.member("allOf").list(); parts != nil { // the rest narrows the first
		return c.typeOf(parts[0])
	}
	if values := schema.member("enum").list(); values != nil {
		return "Literal[" + joined(values, literal) + "]"
	}
	if v := schema.member("const"); v.Node != nil {
		return "Literal[" + literal(v) + "]"
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		if options := schema.member(word).list(); options != nil && schema.member("type").Node == nil {
			return "Union[" + joined(options, c.typeOf) + "]"
		}
	}
	kinds := schema.member("type").list()
	switch len(kinds) {
	case 0, 6: // any JSON value
		return "Any"
	case 1:
		return c.typeNamed(kinds[0].text(), schema)
	}
	return "Union[" + joined(kinds, func(kind value) string { return c.typeNamed(kind.text(), schema) }) + "]"
}

// typeNamed returns the Python type of a schema that has this type.
func (c *contract) typeNamed(name string, schema value) string {
	switch name {
	case "array":
		return "list[" + c.typeOf(schema.member("items")) + "]"
	case "object":
		if element := schema.member("additionalProperties"); element.Node != nil && element.Kind == yaml.MappingNode {
			return "dict[str, " + c.typeOf(element) + "]"
		}
		return "dict[str, Any]"
	}
	return map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[name]
}

func joined(values []value, text func(value) string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = text(v)
	}
	return strings.Join(texts, ", ")
}

func literal(v value) string {
	switch v.Tag {
	case "!!str":
		return fmt.Sprintf("'%s'", v.Value)
	case "!!null":
		return "None"
	case "!!bool":
		return strings.ToUpper(v.Value[:1]) + v.Value[1:]
	}
	return v.Value
}

// An operation is one method.
type operation struct {
	name, method, path, summary string
	parameters                  []string // as the method declares them
	arguments                   []string // passed on unchanged
	answer                      string   // its type; each line's if stream
	stream                      bool
}

// operations returns operations.py.
func (c *contract) operations() string {
	var all []operation
	for path, methods := range c.root.member("paths").members() {
		for method, o := range methods.members() {
			if id := o.member("operationId").text(); id != "" {
				all = append(all, c.operation(path, method, snake(id), methods, o))
			}
		}
	}
	var out strings.Builder
	out.WriteString(`from urllib.parse import quote

from . import types as t


def _path(value: str) -> str:
    return quote(value, safe="")
`)
	for _, kind := range []struct{ class, doc, async, await, iterator string }{
		{"Operations", "The operations. Each waits for its answer.", "", "", "Iterator"},
		{"AsyncOperations", "The operations for asyncio.", "async ", "await ", "AsyncIterator"},
	} {
		fmt.Fprintf(&out, `

class %s:
    """%s"""

    %sdef _call(self, method: str, path: str, **parts: Any) -> Any:
        raise NotImplementedError

    def _lines(self, method: str, path: str, **parts: Any) -> %s[Any]:
        raise NotImplementedError
`, kind.class, kind.doc, kind.async, kind.iterator)
		for _, o := range all {
			arguments := strings.Join(append([]string{fmt.Sprintf("%q, %s", strings.ToUpper(o.method), o.path)}, o.arguments...), ", ")
			async, await, call, answer := kind.async, kind.await, "_call", o.answer
			if o.stream {
				async, await, call, answer = "", "", "_lines", kind.iterator+"["+o.answer+"]"
			}
			fmt.Fprintf(&out, "\n    %sdef %s(%s) -> %s:\n        \"\"\"%s\"\"\"\n", async, o.name, strings.Join(append([]string{"self"}, o.parameters...), ", "), answer, o.summary)
			fmt.Fprintf(&out, "        answer: %s = %sself.%s(%s)\n        return answer\n", answer, await, call, arguments)
		}
	}
	return module("A method for each operation of the service.", out.String(), "AsyncIterator", "Iterator", "Any", "Literal", "Union")
}

// operation describes the method of an operation: the ids in its path, then the body, and the rest
// by name.
func (c *contract) operation(path, method, name string, methods, o value) operation {
	result := operation{name: name, method: method, path: fmt.Sprintf("%q", path), summary: o.member("summary").text() + "."}
	var query, headers, named []string
	for _, p := range append(methods.member("parameters").list(), o.member("parameters").list()...) {
		p = c.resolve(p)
		member, kind := p.member("name").text(), qualified(c.typeOf(p.member("schema")))
		argument := strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(member, "[]"), "-", "_"))
		if slices.Contains(keywords, argument) {
			argument += "_"
		}
		if p.member("in").text() == "path" {
			result.parameters = append(result.parameters, argument+": str")
			result.path = "f" + strings.TrimPrefix(strings.ReplaceAll(result.path, "{"+member+"}", "{_path("+argument+")}"), "f")
			continue
		}
		if p.member("required").text() == "true" {
			named = append(named, argument+": "+kind)
		} else {
			named = append(named, argument+": "+kind+" | None = None")
		}
		pair := fmt.Sprintf("%q: %s", member, argument)
		switch {
		case p.member("in").text() == "header":
			headers = append(headers, pair)
		case p.member("explode").text() == "true": // each member is a parameter of its own
			query = append(query, "**("+argument+" or {})")
		default:
			query = append(query, pair)
		}
	}
	if body := c.resolve(o.member("requestBody")); body.Node != nil {
		result.parameters = append(result.parameters, "request: "+qualified(c.typeOf(body.member("content").member("application/json").member("schema"))))
		result.arguments = append(result.arguments, "body=request")
	}
	if named != nil {
		result.parameters = append(append(result.parameters, "*"), named...)
	}
	if query != nil {
		result.arguments = append(result.arguments, "query={"+strings.Join(query, ", ")+"}")
	}
	if headers != nil {
		result.arguments = append(result.arguments, "headers={"+strings.Join(headers, ", ")+"}")
	}
	result.answer = "str"
	for media, content := range c.resolve(o.member("responses").member("200")).member("content").members() {
		switch media {
		case "application/json":
			result.answer = qualified(c.typeOf(content.member("schema")))
		case "application/x-ndjson", "application/jsonl":
			result.answer, result.stream = "t.AuditProof", true
		case "application/octet-stream":
			result.answer = "bytes"
		}
	}
	return result
}

// keywords are the names of the contract that Python does not allow.
var keywords = []string{"from"}

var upper = regexp.MustCompile("([A-Z])")

// snake returns a name such as drawCards as draw_cards.
func snake(name string) string { return strings.ToLower(upper.ReplaceAllString(name, "_$1")) }

var schemaName = regexp.MustCompile(`\b[A-Z]\w*\b`)

// qualified puts t. in front of the names of schemas.
func qualified(kind string) string {
	return schemaName.ReplaceAllStringFunc(kind, func(name string) string {
		if slices.Contains([]string{"Any", "Union", "Literal", "None"}, name) {
			return name
		}
		return "t." + name
	})
}

func docstring(text, indent string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), `\`, `\\`)
	text = strings.ReplaceAll(text, "\n", "\n"+indent)
	if strings.Contains(text, "\n") {
		text += "\n" + indent
	} else if strings.HasSuffix(text, `"`) {
		text += " "
	}
	return `"""` + strings.ReplaceAll(text, "\n"+indent+"\n", "\n\n") + `"""`
}
