package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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
	words []string // of the last line
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
		if err := r.setItems(sortItems(slices.Clone(r.words))); err != nil {
			return nil, err
		}
	}
	if len(r.words) != len(r.items) {
		return nil, r.errorf("has %d items, and there are %d: each line has to have every item once", len(r.words), len(r.items))
	}
	for place, word := range r.words {
		item, ok := r.index[word]
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
			return r.errorf("has %s twice: the items have to be different", printable(item))
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
		line := r.lines.Text()
		if r.line == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimSpace(line); line != "" {
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
func (r *orderReader) split(line string) error {
	if err := r.checkText(line); err != nil {
		return err
	}
	r.words = r.words[:0]
	if line[0] == '[' {
		if strings.Contains(line, `"`) {
			return r.splitArray(line)
		}
		line = strings.TrimSuffix(line[1:], "]")
		if strings.ContainsAny(line, "[]{}") {
			return r.errorf("has more than one array: put one order on each line, as jq -c '.[]' does")
		}
	}
	if !strings.Contains(line, ",") {
		r.words = slices.AppendSeq(r.words, strings.FieldsSeq(line))
		return nil
	}
	for word := range strings.SplitSeq(line, ",") {
		if word = strings.TrimSpace(word); word == "" {
			return r.errorf("has nothing between two commas, or after the last")
		}
		r.words = append(r.words, word)
	}
	return nil
}

// checkText requires text, so that binary data is not taken for items.
func (r *orderReader) checkText(line string) error {
	isControl := func(char rune) bool { return char < ' ' && char != '\t' || char == 0x7f }
	if bad := strings.IndexFunc(strings.ToValidUTF8(line, "\x00"), isControl); bad >= 0 {
		return r.errorf("is no text: byte %d is 0x%02x", bad+1, line[bad])
	}
	return nil
}

func (r *orderReader) splitArray(line string) error {
	var array []jsontext.Value
	if err := json.Unmarshal([]byte(line), &array); err != nil {
		return r.errorf("is no JSON array: %w", err)
	}
	for _, value := range array {
		switch value.Kind() {
		case '"':
			word, _ := jsontext.AppendUnquote(nil, value) // no error, since it was parsed
			r.words = append(r.words, string(word))
		case '[', '{':
			return r.errorf("has more than one array: put one order on each line, as jq -c '.[]' does")
		default:
			r.words = append(r.words, string(value))
		}
	}
	return nil
}

// errorf returns an error about the last line.
func (r *orderReader) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d %w", r.line, fmt.Errorf(format, args...))
}

// printable returns the beginning of an item for a message.
func printable(item string) string { return fmt.Sprintf("%.40q", item) }
