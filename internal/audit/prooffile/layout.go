package prooffile

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
)

// Split returns the proof files of a text: of one record, or of a whole shoe as GET
// /shoes/{id}/proof answers them. They are JSON texts one after the other, with any white space
// between, or the elements of an array. A text that is not JSON is returned unchanged, for a
// verifier to say so.
func Split(text []byte) (files [][]byte) {
	values, err := parseAll(text)
	if err != nil || len(values) == 0 {
		return [][]byte{text}
	}
	for _, value := range values {
		list, err := elements(value)
		if err != nil || list.len() == 0 {
			files = append(files, value)
			continue
		}
		for _, file := range list.all() {
			files = append(files, file)
		}
	}
	return files
}

// parseAll parses JSON texts one after the other.
func parseAll(text []byte) (values []jsontext.Value, err error) {
	if audit.TooDeep(text) {
		return nil, errors.New("it is nested too deeply")
	}
	d := jsontext.NewDecoder(bytes.NewReader(withoutMark(text)), jsontext.AllowDuplicateNames(true))
	for {
		value, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		values = append(values, value.Clone())
	}
}

// withoutMark removes the byte order mark that some editors write at the beginning of a file.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// errNotJSON is for a text that is not one JSON value, or too deep.
var errNotJSON = errors.New("not JSON")

// compact parses one JSON value and returns it without white space, otherwise unchanged. A member
// that is there twice is an error, unless the options allow it.
func compact(text []byte, options ...jsontext.Options) (jsontext.Value, error) {
	if audit.TooDeep(text) {
		return nil, errNotJSON
	}
	var out bytes.Buffer
	out.Grow(len(text) + 1) // Value.Format takes six times as much
	if jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true)).WriteValue(withoutMark(text)) != nil {
		return nil, errNotJSON
	}
	value := jsontext.Value(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
	if !value.IsValid(options...) {
		return nil, errors.New("a member is there twice")
	}
	return value, nil
}

// canonical returns one text for all layouts of a JSON value: no white space, the shortest escapes
// and members sorted. Numbers keep their spelling, because their meaning is not known.
func canonical(value jsontext.Value) jsontext.Value {
	value = value.Clone()
	if err := value.Format(jsontext.ReorderRawObjects(true)); err != nil {
		panic("prooffile: a value that was parsed is not JSON: " + err.Error())
	}
	return value
}

// A list is the elements of an array, by where each ends in its text: slices of millions of short
// values take many times as much. A nil list is none.
type list struct {
	array jsontext.Value
	ends  []uint32
}

func (l *list) len() int {
	if l == nil {
		return 0
	}
	return len(l.ends)
}

func (l *list) at(i int) jsontext.Value {
	start := uint32(len("["))
	if i > 0 {
		start = l.ends[i-1]
	}
	return bytes.TrimLeft(l.array[start:l.ends[i]], ", \t\r\n")
}

func (l *list) all() iter.Seq2[int, jsontext.Value] {
	return func(yield func(int, jsontext.Value) bool) {
		for i := range l.len() {
			if !yield(i, l.at(i)) {
				return
			}
		}
	}
}

// indexFunc returns the first place whose value is so; -1 for none.
func (l *list) indexFunc(isSo func(int, jsontext.Value) bool) int {
	for i, value := range l.all() {
		if isSo(i, value) {
			return i
		}
	}
	return -1
}

// first returns the list of the first n elements.
func (l *list) first(n int) *list { return &list{l.array, l.ends[:n]} }

// elements returns the elements of an array that was parsed and has at most [MaxText] bytes.
func elements(array jsontext.Value) (*list, error) {
	if array.Kind() != '[' {
		return nil, errors.New("not a JSON array")
	}
	n := 0 // counted first: a list of millions that grows takes twice as much
	for d := inside(array); d.PeekKind() != ']'; n++ {
		if err := d.SkipValue(); err != nil {
			return nil, err
		}
	}
	l := &list{array, make([]uint32, n)}
	d := inside(array)
	for i := range l.ends {
		_ = d.SkipValue() // no error, since it was skipped before
		l.ends[i] = uint32(d.InputOffset())
	}
	return l, nil
}

// members returns the members of an object, which may have any layout, and the name of one that it
// has twice. Other values have none.
func members(text []byte) (object map[string]jsontext.Value, duplicate string, err error) {
	value, err := compact(text, jsontext.AllowDuplicateNames(true))
	if err != nil {
		return nil, "", err
	}
	object = map[string]jsontext.Value{}
	if value.Kind() != '{' {
		return object, "", nil
	}
	for d := inside(value); d.PeekKind() == '"'; {
		token, _ := d.ReadToken() // no error, since the value was parsed
		name := token.String()
		member, _ := d.ReadValue()
		if object[name] != nil {
			duplicate = name
		}
		object[name] = member.Clone()
	}
	return object, duplicate, nil
}

// inside returns a decoder behind the bracket of an array or object, which it reads in place.
func inside(value jsontext.Value) *jsontext.Decoder {
	d := jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true))
	_, _ = d.ReadToken()
	return d
}

// unquoted returns the text of a string; empty for any other value.
func unquoted(value jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(text)
}

// wholeNumber returns the value of a number from 0 to 2⁵³-1. Databases and programs write the
// number 3 also as 3.0 or 3e0, so it is its value that counts.
func wholeNumber(value jsontext.Value) (n uint64, ok bool) {
	if value.Kind() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f < 0 || f > audit.MaxSize || f != math.Trunc(f) {
		return 0, false
	}
	return uint64(f), true
}
