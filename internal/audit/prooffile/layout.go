package prooffile

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
)

// filesOf returns the proof files in a text: all of a whole shoe, as GET /shoes/{id}/proof answers
// them, or the text itself, for a verifier to say what is wrong with it.
func filesOf(text []byte) (files [][]byte, isShoe bool) {
	object, _ := members(text)
	list := elements(object["shoe"])
	if unquoted(object["spec"]) != audit.Spec || list.len() == 0 || len(object) != 2 || count(withoutMark(text)) != 2*2 {
		return [][]byte{text}, false
	}
	for _, file := range list.all() {
		files = append(files, file)
	}
	return files, true
}

// tlogProof begins a proof file in C2SP's format tlog-proof, before its other members in base64.
const tlogProof = "c2sp.org/tlog-proof@v1\nextra "

// fromTlogProof returns the JSON of a proof file in the format tlog-proof, and any other text
// unchanged.
func fromTlogProof(text []byte) []byte {
	rest, isProof := bytes.CutPrefix(bytes.Trim(withoutMark(text), whiteSpace), []byte(tlogProof))
	encoded, rest, _ := bytes.Cut(rest, []byte("\n"))
	extra, _ := base64.StdEncoding.DecodeString(string(encoded))
	object, isObject := bytes.CutSuffix(extra, []byte("}"))
	if !isProof || !isObject || bytes.HasPrefix(extra, []byte(byteOrderMark)) || base64.StdEncoding.EncodeToString(extra) != string(encoded) {
		return text
	}
	inclusion, _ := jsontext.AppendQuote(nil, fmt.Sprintf("c2sp.org/tlog-proof@v1\n%s\n", rest)) // replaces what is not UTF-8
	return fmt.Appendf(nil, `%s,"tlog_proof":%s}`, object, inclusion)
}

// whiteSpace is what JSON allows between values.
const whiteSpace = " \t\r\n"

// byteOrderMark is what some editors write at the beginning of a file.
const byteOrderMark = "\ufeff"

func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte(byteOrderMark)) }

// compact parses one JSON value and returns it without white space, otherwise unchanged. A member
// that is there twice is an error, unless the options allow it.
func compact(text []byte, options ...jsontext.Options) (jsontext.Value, error) {
	var out bytes.Buffer
	out.Grow(len(text) + 1) // Value.Format takes six times as much
	e := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true))
	if audit.TooDeep(text) || e.WriteValue(withoutMark(text)) != nil {
		return nil, message.New("why.json", nil)
	}
	value := jsontext.Value(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
	return value, message.Rule(value.IsValid(options...), "why.json.twice", nil)
}

// canonical returns one text for all layouts of a JSON value: no white space, the shortest escapes
// and members sorted. Numbers keep their spelling, because their meaning is not known.
func canonical(value jsontext.Value) jsontext.Value {
	value = value.Clone()
	_ = value.Format(jsontext.ReorderRawObjects(true)) // no error, since it was parsed
	return value
}

// A list is the elements of an array, by where they end in its text: element i is between bounds[i] and
// bounds[i+1], after a comma and white space. Slices of millions of short values would take many times
// as much. A nil list is none.
type list struct {
	array  jsontext.Value
	bounds []uint32
}

func (l *list) len() int {
	if l == nil {
		return 0
	}
	return len(l.bounds) - 1
}

func (l *list) at(i int) jsontext.Value {
	return bytes.TrimLeft(l.array[l.bounds[i]:l.bounds[i+1]], ", \t\r\n")
}

func (l *list) all() iter.Seq2[int, jsontext.Value] {
	return func(yield func(int, jsontext.Value) bool) {
		l.indexFunc(func(i int, value jsontext.Value) bool { return !yield(i, value) })
	}
}

// indexFunc returns the first place whose value is so; -1 for none.
func (l *list) indexFunc(isSo func(int, jsontext.Value) bool) int {
	for i := range l.len() {
		if isSo(i, l.at(i)) {
			return i
		}
	}
	return -1
}

// elements returns the elements of an array that was parsed and has at most [MaxText] bytes; nil
// for any other value.
func elements(array jsontext.Value) *list {
	if array.Kind() != '[' {
		return nil
	}
	n := count(array) // first: a list of millions that grows takes twice as much
	l := &list{array, append(make([]uint32, 0, n+1), uint32(len("[")))}
	for d := inside(array); d.SkipValue() == nil; {
		l.bounds = append(l.bounds, uint32(d.InputOffset()))
	}
	return l
}

// members returns the members of an object, which may have any layout; of those with the same name,
// the last. Other values have none.
func members(text []byte) (object map[string]jsontext.Value, err error) {
	value, err := compact(text, jsontext.AllowDuplicateNames(true))
	_ = json.Unmarshal(value, &object, jsontext.AllowDuplicateNames(true)) // an error for any other value
	return object, err
}

// inside returns a decoder behind the bracket of an array or object, which it reads in place.
func inside(value jsontext.Value) *jsontext.Decoder {
	d := jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true))
	_, _ = d.ReadToken()
	return d
}

// count returns the number of values in an array, or of names and values in an object.
func count(value jsontext.Value) (n int) {
	for d := inside(value); d.SkipValue() == nil; n++ {
	}
	return n
}

// unquoted returns the text of a string; empty for any other value.
func unquoted(value jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, value) // empty with any error, since the value was parsed
	return string(text)
}

// wholeNumber returns the value of a number from 0 to 2⁵³-1. Databases and programs write the
// number 3 also as 3.0 or 3e0, so it is its value that counts.
func wholeNumber(value jsontext.Value) (n uint64, ok bool) {
	f, err := strconv.ParseFloat(string(value), 64)
	if value.Kind() != '0' || err != nil || f < 0 || f > audit.MaxSize || f != math.Trunc(f) {
		return 0, false
	}
	return uint64(f), true
}
