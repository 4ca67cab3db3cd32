package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/fairness"
)

// longestLine is the largest size of a line of orders, in bytes.
const longestLine = 1 << 16

// An orderReader reads orders, one a line, as the places of the items of a deck. It needs memory for one
// line.
type orderReader struct {
	lines *bufio.Scanner
	line  int // of the last order, from 1
	items []string
	index map[string]uint8
	words [][]byte // of the last line
	order []uint8
	used  [fairness.MostItems]int // the line that last had the item
}

func newOrderReader(in io.Reader) *orderReader {
	r := &orderReader{lines: bufio.NewScanner(in)}
	r.lines.Buffer(nil, longestLine)
	return r
}

// next returns the next order, which is valid until the call after. It returns io.EOF after the last.
func (r *orderReader) next() ([]uint8, error) {
	if err := r.read(); err != nil {
		return nil, err
	}
	if r.items == nil {
		if err := r.setItems(sortItems(r.texts())); err != nil {
			return nil, err
		}
	}
	if len(r.words) != len(r.items) {
		return nil, r.errorf("has %d items, and there are %d: each line has to have every item once", len(r.words), len(r.items))
	}
	for place, word := range r.words {
		item, ok := r.index[string(word)]
		switch {
		case !ok:
			return nil, r.errorf("has %s, which is none of the %d items: each line has to have the same items", printable(word), len(r.items))
		case r.used[item] == r.line:
			return nil, r.errorf("has %s twice: each line has to have every item once", printable(word))
		}
		r.used[item], r.order[place] = r.line, item
	}
	return r.order, nil
}

// texts returns the words of the last line.
func (r *orderReader) texts() []string {
	items := make([]string, len(r.words))
	for i, word := range r.words {
		items[i] = string(word)
	}
	return items
}

// setItems sets the items, in the order that they have before a shuffle.
func (r *orderReader) setItems(items []string) error {
	switch n := len(items); {
	case n < 2:
		return r.errorf("has %d item: an order has at least two, separated by commas or spaces, or as a JSON array", n)
	case n > fairness.MostItems:
		return r.errorf("has %d items: at most %d can be measured", n, fairness.MostItems)
	}
	r.items, r.index, r.order = items, make(map[string]uint8, len(items)), make([]uint8, len(items))
	for i, item := range items {
		if _, ok := r.index[item]; ok {
			return r.errorf("has %s twice: the items have to be different", printable([]byte(item)))
		}
		r.index[item] = uint8(i)
	}
	return nil
}

// sortItems sorts numbers by their value and other items as text.
func sortItems(items []string) []string {
	numbers := map[string]int{}
	for _, item := range items {
		n, err := strconv.Atoi(item)
		if err != nil {
			slices.Sort(items)
			return items
		}
		numbers[item] = n
	}
	slices.SortFunc(items, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	return items
}

// read reads the words of the next line that is not empty.
func (r *orderReader) read() error {
	for r.line++; r.lines.Scan(); r.line++ {
		line := r.lines.Bytes()
		if r.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return r.split(line)
		}
	}
	if errors.Is(r.lines.Err(), bufio.ErrTooLong) {
		return r.errorf("is longer than %d bytes: put one order on each line", longestLine)
	}
	return cmp.Or(r.lines.Err(), io.EOF)
}

// split splits a line into words. A line in brackets with strings is a JSON array, whose elements are the
// words. Any other line, with brackets or without, is split at its commas, or at white space if it has none.
func (r *orderReader) split(line []byte) error {
	if err := r.checkText(line); err != nil {
		return err
	}
	r.words = r.words[:0]
	if line[0] == '[' {
		if bytes.IndexByte(line, '"') >= 0 {
			return r.splitArray(line)
		}
		line = bytes.TrimSuffix(line[1:], []byte{']'})
		if bytes.ContainsAny(line, "[]{}") {
			return r.errorf("has more than one array: put one order on each line, as jq -c '.[]' does")
		}
	}
	if bytes.IndexByte(line, ',') < 0 {
		r.words = slices.AppendSeq(r.words, bytes.FieldsSeq(line))
		return nil
	}
	for word := range bytes.SplitSeq(line, []byte{','}) {
		if word = bytes.TrimSpace(word); len(word) == 0 {
			return r.errorf("has nothing between two commas, or after the last")
		}
		r.words = append(r.words, word)
	}
	return nil
}

// checkText requires text, so that binary data is not taken for items.
func (r *orderReader) checkText(line []byte) error {
	for rest := line; len(rest) > 0; {
		char, size := utf8.DecodeRune(rest)
		if char == utf8.RuneError && size == 1 || char < ' ' && char != '\t' || char == 0x7f {
			return r.errorf("is no text: byte %d is 0x%02x", len(line)-len(rest)+1, rest[0])
		}
		rest = rest[size:]
	}
	return nil
}

func (r *orderReader) splitArray(line []byte) error {
	var array []jsontext.Value
	if err := json.Unmarshal(line, &array); err != nil {
		return r.errorf("is no JSON array: %w", err)
	}
	for _, value := range array {
		switch value.Kind() {
		case '"':
			word, _ := jsontext.AppendUnquote(nil, value) // no error, since it was parsed
			r.words = append(r.words, word)
		case '[', '{':
			return r.errorf("has more than one array: put one order on each line, as jq -c '.[]' does")
		default:
			r.words = append(r.words, value)
		}
	}
	return nil
}

// errorf returns an error about the last line.
func (r *orderReader) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d %w", r.line, fmt.Errorf(format, args...))
}

// printable returns the beginning of an item for a message.
func printable(item []byte) string { return fmt.Sprintf("%.40q", item) }
