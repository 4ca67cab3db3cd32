// Package config reads riffle.yaml, the configuration file of the service, and says where in the
// file each mistake is.
//
// [Read] hands the value of each key to the [Setting] of that name and collects everything that is
// wrong with the file in a [File], so that an operator sees all mistakes at once.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"riffle/internal/access"
	"riffle/internal/suggest"
)

// MaxSize is the size of the largest file that is read, in bytes.
const MaxSize = 1 << 20

// A Setting is what a key of the file sets.
type Setting struct {
	List bool                     // whether the key takes a list; its values are joined with commas
	Set  func(value string) error // why a value is refused becomes a mistake
}

// A File is a configuration file that was read. The zero value is one that sets nothing.
type File struct {
	Keys      []access.Key  // who may do what; without any, all may
	Anonymous *access.Grant // what callers without a key may do; nil if the file does not say
	TLS       *TLS          // where the certificate comes from, with mistakes as well; nil for plain HTTP
	Logs      []*Log        // those beside the main one

	path     string
	values   map[string]position // where the value of each setting is
	mistakes Mistakes
	logNames []*yaml.Node // of the logs that callers are for
}

type position struct{ line, column int }

// Read reads the file at path, whose keys are the names of settings, "keys", "anonymous",
// "tls" and "logs". It calls newLog for each of the logs, whose keys are the names of the settings that it returns,
// "name" and "retired". The file has mistakes if it cannot be read, has no valid YAML, or anything in it has no meaning; see
// [File.Err].
func Read(path string, settings map[string]Setting, newLog func() map[string]Setting) *File {
	f := &File{path: path, values: map[string]position{}}
	text, err := readFile(path)
	if err != nil {
		f.mistake(position{}, "%v", err)
		return f
	}
	f.read(text, settings, newLog)
	return f
}

// readFile returns the text of a regular file of at most MaxSize bytes. Its errors do not name the
// file.
func readFile(path string) (text []byte, err error) {
	defer func() {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err
		}
	}()
	info, err := os.Stat(path) // before it is opened, since opening a named pipe would wait for a writer
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("this is not a regular file")
	case info.Size() > MaxSize:
		return nil, errTooLarge
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err = io.ReadAll(io.LimitReader(file, MaxSize+1))
	if len(text) > MaxSize {
		return nil, errTooLarge
	}
	return text, err
}

var errTooLarge = fmt.Errorf("the file has more than %d bytes", MaxSize)

// Refuse adds a mistake: the service cannot run with what the file gives one of the settings, of
// which it has at least one; "tls" counts as a setting. Otherwise Refuse returns false and adds nothing.
func (f *File) Refuse(err error, settings ...string) bool {
	for _, name := range settings {
		if at, ok := f.values[name]; ok {
			f.mistake(at, "%v", err)
			return true
		}
	}
	return false
}

// Err returns the [Mistakes] in the file, or nil if it has none.
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

// Mistakes are all that is wrong with a file, in the order of the file.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].String()
	}
	return strings.Join(lines, "\n")
}

// A Mistake is one thing that is wrong with a file.
type Mistake struct {
	Path         string
	Line, Column int // both count characters from 1; 0 if the mistake is the file as a whole
	Text         string
}

// String returns the mistake as path:line:column: text, which editors can jump to.
func (m Mistake) String() string {
	if m.Line == 0 {
		return m.Path + ": " + m.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", m.Path, m.Line, m.Column, m.Text)
}
