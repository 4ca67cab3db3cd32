package web

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A contract has the parts of openapi.yaml that are on the first page of the docs.
type contract struct {
	Info struct{ Title, Summary, Description string }
	Tags []struct{ Name, Description string }
	// Paths keeps the file's sequence of operations.
	Paths yaml.Node
}

// An operation is a method of a path.
type operation struct {
	ID                   string `yaml:"operationId"`
	Tags                 []string
	Summary, Description string
	call                 string // method and path
}

// link is the operation's place in the viewer.
func (o *operation) link() string { return "#/" + o.Tags[0] + "/" + o.ID }

// readContract renders openapi.yaml as a document: the operations by tag, with links to the viewer, and
// then its text. Each operation is a section for the search.
func readContract(source []byte) (*document, []section, error) {
	var c contract
	if err := yaml.Unmarshal(source, &c); err != nil {
		return nil, nil, err
	}
	operations, err := operationsOf(&c.Paths)
	if err != nil {
		return nil, nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n\n%s Choose an operation to see all of it and to send it, or read [openapi.yaml](openapi.yaml).\n\n", c.Info.Title, c.Info.Summary)
	for _, tag := range c.Tags {
		fmt.Fprintf(&text, "## %s%s\n\n%s\n\n", strings.ToUpper(tag.Name[:1]), tag.Name[1:], tag.Description)
		for _, o := range operations {
			if slices.Contains(o.Tags, tag.Name) {
				fmt.Fprintf(&text, "- [`%s`](%s) %s\n", o.call, o.link(), o.Summary)
			}
		}
		text.WriteString("\n")
	}
	text.WriteString("## Overview\n\n" + c.Info.Description)
	page, sections, err := readDocument("../docs", []byte(text.String())) // beside the folder of the others
	for _, o := range operations {
		sections = append(sections, section{Path: "/docs" + o.link(), Title: page.Title, Heading: o.call, Text: o.Summary + " " + o.Description})
	}
	return page, sections, err
}

// operationsOf returns the operations of the paths of a contract.
func operationsOf(paths *yaml.Node) ([]operation, error) {
	var found []operation
	for path, item := range pairs(paths) {
		for method, node := range pairs(item) {
			if !slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				continue
			}
			o := operation{call: strings.ToUpper(method) + " " + path}
			if err := node.Decode(&o); err != nil {
				return nil, fmt.Errorf("%s: %w", o.call, err)
			}
			found = append(found, o)
		}
	}
	return found, nil
}

// pairs are the keys and values of a mapping.
func pairs(mapping *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		for pair := range slices.Chunk(mapping.Content, 2) {
			if !yield(pair[0].Value, pair[1]) {
				return
			}
		}
	}
}
