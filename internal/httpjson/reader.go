package httpjson

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/budget"
	"riffle/internal/suggest"
)

// MaxDepth is how deep values may be nested in a body.
const MaxDepth = 100

// A Reader reads a body as strict JSON: RFC 8259 in UTF-8, without duplicate names or lone
// surrogates. Each method reads the next value. Its error points at the value, as an [*Error], or is
// [budget.ErrFull]; the reader must not be used after one.
type Reader struct {
	decoder jsontext.Decoder
	buffer  bytes.Buffer // of body; the decoder reads it in place
	body    []byte
	lease   *budget.Lease
	names   int64 // bytes charged for the names that the decoder remembers
}

// partBytes is the memory of an array element or object member: its value, and as much again for
// the garbage of a growing list or map.
const partBytes = 64

// NewReader returns a reader of a body of at most 2³²-1 bytes. It is valid until [Reader.End], and
// its elements until the lease is released. The error is [budget.ErrFull].
func NewReader(body []byte, lease *budget.Lease) (*Reader, error) {
	charge := names(body) * nameBytes
	if err := lease.Grow(charge); err != nil {
		return nil, err
	}
	d := readers.Get().(*Reader)
	d.body, d.lease, d.names = body, lease, charge
	d.buffer = *bytes.NewBuffer(body)
	d.decoder.Reset(&d.buffer)
	return d, nil
}

// readers is a pool, since a decoder allocates eight times to read its first value.
var readers = sync.Pool{New: func() any { return &Reader{} }}

// nameBytes is the memory of a name that the decoder stores to find duplicates in an object: the string, its
// slots in a growing map, and its part of the text of all names.
const nameBytes = 96

// fewNames is the most names that need no charge: more than any valid request has outside of items.
const fewNames = 32

// deepest is the depth that jsontext rejects. Values deeper than [MaxDepth] are rejected later.
const deepest = 10_000

// names returns the most names that a decoder stores at the same time: for each depth, the names of the last
// object. The body may be invalid.
func names(body []byte) (most int64) {
	if bytes.Count(body, []byte{':'}) <= fewNames {
		return 0
	}
	var depth int
	var all int64
	counts := make([]int64, 1, MaxDepth) // by depth
	for at := 0; at < len(body); at++ {
		switch body[at] {
		case '"':
			for at++; at < len(body) && body[at] != '"'; at++ {
				if body[at] == '\\' {
					at++
				}
			}
		case '{':
			if depth++; depth > deepest {
				return most
			} else if depth == len(counts) {
				counts = append(counts, 0)
			}
			all -= counts[depth]
			counts[depth] = 0
		case '}':
			depth = max(0, depth-1)
		case ':':
			counts[depth]++
			all++
			most = max(most, all)
		}
	}
	return most
}

// Pointer returns the JSON pointer to the last value or name read.
func (d *Reader) Pointer() string { return string(d.decoder.StackPointer()) }

// Kind returns the [jsontext.Kind] of the next value: '{', '[', '"', '0', 't', 'f' or 'n'; 0 at a syntax error.
func (d *Reader) Kind() byte { return byte(d.decoder.PeekKind()) }

// Object reads an object. It calls member for each name, to read the value. [Reader.WrongKind] has
// want in its error.
func (d *Reader) Object(want string, member func(name string) error) error {
	if _, err := d.token("{", want); err != nil {
		return err
	}
	for d.decoder.PeekKind() == '"' {
		name, err := d.token(`"`, "")
		if err != nil {
			return err
		}
		if err := d.lease.Grow(partBytes); err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	return d.close('}')
}

// Array reads an array. It calls element at each element, to read it. [Reader.WrongKind] has want
// in its error.
func (d *Reader) Array(want string, element func(i int) error) error {
	if _, err := d.token("[", want); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if kind := d.decoder.PeekKind(); kind == ']' || kind == 0 {
			return d.close(']')
		}
		if err := d.lease.Grow(partBytes); err != nil {
			return err
		}
		if err := element(i); err != nil {
			return err
		}
	}
}

// String reads a string.
func (d *Reader) String() (string, error) {
	token, err := d.token(`"`, "a string")
	if err != nil {
		return "", err
	}
	return token.String(), nil
}

// Bool reads true or false.
func (d *Reader) Bool() (bool, error) {
	token, err := d.token("tf", "true or false")
	return err == nil && token.Bool(), err
}

// token reads the next token, which must have one of the kinds: see [Reader.WrongKind] for want.
func (d *Reader) token(kinds, want string) (jsontext.Token, error) {
	if !strings.ContainsRune(kinds, rune(d.decoder.PeekKind())) {
		return jsontext.Token{}, d.WrongKind(want)
	}
	token, err := d.decoder.ReadToken()
	if err != nil {
		return token, d.syntax(err)
	}
	return token, nil
}

// Count reads an integer from least to most. The error for another integer has status 422, for another
// number 400.
func (d *Reader) Count(least, most uint64) (uint64, error) {
	if d.decoder.PeekKind() != '0' {
		return 0, d.WrongKind("an integer such as 52")
	}
	value, err := d.decoder.ReadValue()
	if err != nil {
		return 0, d.syntax(err)
	}
	n, wrong := ParseCount(string(value), least, most)
	if wrong != nil {
		wrong.Pointer = d.Pointer()
		wrong.Detail = nameOf(wrong.Pointer) + " " + wrong.Detail
		return 0, wrong
	}
	return n, nil
}

// ParseCount is [Reader.Count] for a text. The error's detail lacks its subject, the name of the value.
func ParseCount(text string, least, most uint64) (uint64, *Error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err == nil && least <= n && n <= most {
		return n, nil
	}
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, &Error{Status: http.StatusBadRequest, Detail: fmt.Sprintf(
			"must be an integer, written with digits only, such as 52; got %s.", cmp.Or(suggest.Brief(text), `""`))}
	}
	return 0, &Error{Status: http.StatusUnprocessableEntity, Integer: suggest.Brief(text), Detail: fmt.Sprintf(
		"must be from %d to %d; got %s.", least, most, suggest.Brief(text))}
}

// End returns an error if anything but white space follows the value that was read. Otherwise the
// reader returns to its pool.
func (d *Reader) End() error {
	if _, err := d.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return malformed("There is more than one value in the body: the second begins before byte %d. Send one JSON object.", d.decoder.InputOffset())
	}
	d.lease.Shrink(d.names)
	many := d.names > 0
	d.buffer, d.body, d.lease, d.names = bytes.Buffer{}, nil, nil, 0
	d.decoder.Reset(&d.buffer)
	if !many { // the decoder keeps room for the most names it has read
		readers.Put(d)
	}
	return nil
}

// close reads a closing bracket.
func (d *Reader) close(kind jsontext.Kind) error {
	token, err := d.decoder.ReadToken()
	if err != nil {
		return d.syntax(err)
	}
	if token.Kind() != kind {
		return malformed("The body is not JSON: byte %d is no %c.", d.decoder.InputOffset(), kind)
	}
	return nil
}

// WrongKind reads the next value and returns the error that it must be want, such as "an array". Malformed
// JSON takes precedence.
func (d *Reader) WrongKind(want string) error {
	kind := d.decoder.PeekKind()
	if err := d.decoder.SkipValue(); err != nil {
		return d.syntax(err)
	}
	return malformedAt(d.Pointer(), "must be %s; got %s.", want, kindNames[kind])
}

// kindNames are the kinds of values in errors.
var kindNames = map[jsontext.Kind]string{
	'{': "an object", '[': "an array", '"': "a string", '0': "a number", 'n': "null", 't': "a boolean", 'f': "a boolean",
}

// nameOf returns the path of a member, to begin a sentence.
func nameOf(pointer string) string {
	if pointer == "" {
		return "The body"
	}
	return suggest.Brief(strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", "."))
}

func malformed(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: fmt.Sprintf(format, args...)}
}

// malformedAt is malformed for the value at a pointer, whose name begins the text.
func malformedAt(pointer, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Pointer: pointer, Detail: nameOf(pointer) + " " + fmt.Sprintf(format, args...)}
}

// syntax returns the error for malformed JSON, in our own words: the decoder's may change.
func (d *Reader) syntax(err error) error {
	var p *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return malformed("The JSON ends before it is complete.")
	case !errors.As(err, &p):
		return malformed("The body is not JSON.")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return malformedAt(string(p.JSONPointer), "is a duplicate: readers differ on which of the two counts. Send each member of an object once.")
	}
	if at := p.ByteOffset; at < int64(len(d.body)) {
		switch c := d.body[at]; {
		case c == '\'' || unicode.IsLetter(rune(c)) && c < utf8.RuneSelf:
			return malformed(`The body is not JSON at byte %d: names and strings need double quotes, as in {"deck":"standard52"}.`, at)
		case c == '}' || c == ']':
			return malformed("The body is not JSON at byte %d: a value is missing before the %c, or there is a comma too many.", at, c)
		case c == ',':
			return malformed("The body is not JSON at byte %d: there is a comma too many.", at)
		case c == '"':
			return malformed("The body is not JSON at byte %d: a comma or a colon is missing before the string.", at)
		}
	}
	return malformed("The body is not strict JSON (RFC 8259, UTF-8, no lone surrogates) at byte %d.", p.ByteOffset)
}
