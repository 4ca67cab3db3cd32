// Package config reads riffle.yaml, the service's configuration file, and locates each mistake in it.
//
// [Read] passes the value of each key to its [Setting], and collects all mistakes in a [File].
package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"riffle/internal/access"
	"riffle/internal/suggest"
	"riffle/internal/system"
)

// MaxSize is the limit on a file's size, in bytes.
const MaxSize = 1 << 20

// A Setting receives the value of a key.
type Setting struct {
	List bool                     // the key accepts a list, whose values Set gets joined with commas
	Set  func(value string) error // its error becomes a mistake
}

// A File is a parsed configuration file. The zero value sets nothing.
type File struct {
	Keys      []access.APIKey
	Anonymous *access.Grant // nil if the file has no such key
	TLS       *TLS          // nil for plain HTTP

	path     string
	values   map[string]position // of the settings
	mistakes Mistakes
}

type position struct{ line, column int }

// Read reads the file at path, whose keys are the names of settings, "keys", "anonymous" and "tls".
// [File.Err] returns the mistakes, including a file that cannot be read.
func Read(path string, settings map[string]Setting) *File {
	f := &File{path: path, values: map[string]position{}}
	text, err := system.ReadFile(path, MaxSize)
	if err != nil {
		f.mistake(position{}, "%v", err)
		return f
	}
	f.read(text, settings)
	return f
}

// Refuse adds err as a mistake at the first of the settings that the file has, or at "tls". It returns
// false if the file has none of them.
func (f *File) Refuse(err error, settings ...string) bool {
	for _, name := range settings {
		if at, ok := f.values[name]; ok {
			f.mistake(at, "%v", err)
			return true
		}
	}
	return false
}

// Err returns the file's [Mistakes], or nil.
func (f *File) Err() error {
	if len(f.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(f.mistakes, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.mistakes
}

func (f *File) mistake(at position, format string, args ...any) {
	text := suggest.Mask(fmt.Sprintf(format, args...)) // a token may be in the wrong place
	f.mistakes = append(f.mistakes, Mistake{Path: f.path, Line: at.line, Column: at.column, Text: text})
}

// Mistakes are the mistakes in a file, in its order.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].String()
	}
	return strings.Join(lines, "\n")
}

// A Mistake is one mistake in a file.
type Mistake struct {
	Path         string
	Line, Column int // in characters from 1; 0 for the whole file
	Text         string
}

// String returns the mistake as path:line:column: text, which editors can jump to.
func (m Mistake) String() string {
	if m.Line == 0 {
		return m.Path + ": " + m.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", m.Path, m.Line, m.Column, m.Text)
}
