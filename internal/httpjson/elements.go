package httpjson

import (
	"bytes"
	"crypto/sha256"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/budget"
)

// Elements locates the elements of an array in a body, without decoding them.
type Elements struct {
	Count uint64 // of all of them
	Spans []Span // at most as many as the limit
	// Digest is the SHA-256 of the array without insignificant white space; zero beyond the limit.
	Digest [sha256.Size]byte
}

// A Span is a part of a body.
type Span struct{ From, To uint32 }

const spanBytes = 8

// Of returns the span's part of the body.
func (s Span) Of(body []byte) []byte { return body[s.From:s.To] }

// Elements reads an array and locates its elements. It only counts those beyond limit.
//
// The decoder validates the array as one value, and [split] locates the elements afterwards. That is twice as
// fast as decoding one after the other.
func (d *Reader) Elements(limit uint64) (*Elements, error) {
	if d.decoder.PeekKind() != '[' {
		return nil, d.WrongKind(`an array such as ["Ann","Bob"]`)
	}
	array, err := d.decoder.ReadValue()
	if err != nil {
		return nil, d.syntax(err)
	}
	to := uint32(d.decoder.InputOffset())
	// There is a comma between two elements, so this is enough room. Growing the slice would leave several
	// times its size as garbage.
	spans, err := newSpans(min(uint64(bytes.Count(array, []byte{','}))+1, limit), d.lease)
	if err != nil {
		return nil, err
	}
	elements, spaced, deep := split(d.body[:to], to-uint32(len(array)), limit, spans)
	if deep >= 0 {
		return nil, malformedAt(d.Pointer()+"/"+strconv.Itoa(deep), "is nested too deep: a body has at most %d levels.", MaxDepth)
	}
	if elements.Count <= limit {
		elements.Digest = digest(array, spaced)
	}
	return elements, nil
}

// split locates the elements of a valid array at the end of body, and appends them to spans. It also reports
// whether the array has insignificant white space, and the index of the first element nested too deep, or -1.
func split(body []byte, from uint32, limit uint64, spans []Span) (elements *Elements, spaced bool, deep int) {
	elements = &Elements{Spans: spans}
	for at := from + 1; ; {
		switch body[at] {
		case ']':
			return elements, spaced, -1
		case ',':
			at++
			continue
		case ' ', '\t', '\r', '\n':
			spaced = true
			at++
			continue
		}
		end, depth, inside := endOf(body, at)
		if depth > MaxDepth-2 { // the array and the object around it are the other two
			return elements, spaced, int(elements.Count)
		}
		spaced = spaced || inside
		if elements.Count < limit {
			elements.Spans = append(elements.Spans, Span{at, end})
		}
		elements.Count++
		at = end
	}
}

// longElements has the buffers of spans that take more than pooled bytes.
var longElements budget.Pool[Span]

// newSpans returns an empty slice with a capacity of size spans, and charges the lease for it.
func newSpans(size uint64, lease *budget.Lease) ([]Span, error) {
	bytes := int64(size) * spanBytes
	if err := lease.Grow(bytes); err != nil {
		return nil, err
	}
	if bytes <= pooled {
		return make([]Span, 0, size), nil
	}
	return longElements.Get(lease, int(size)), nil
}

// endOf returns the end of the element at an offset, its depth (0 for a scalar), and whether it has
// insignificant white space.
func endOf(body []byte, at uint32) (end uint32, depth int, spaced bool) {
	switch body[at] {
	case '"':
		return endOfString(body, at), 0, false
	case '{', '[':
		return endOfNested(body, at)
	}
	for {
		switch body[at] {
		case ',', ']', ' ', '\t', '\r', '\n':
			return at, 0, false
		}
		at++
	}
}

// endOfString returns the end of the string at an offset.
func endOfString(body []byte, at uint32) uint32 {
	for at++; body[at] != '"'; at++ {
		if body[at] == '\\' {
			at++ // the escaped character
		}
	}
	return at + 1
}

// endOfNested is endOf for an array or object.
func endOfNested(body []byte, at uint32) (end uint32, depth int, spaced bool) {
	for open := 0; ; {
		switch body[at] {
		case '"':
			at = endOfString(body, at)
			continue
		case '{', '[':
			open++
			depth = max(depth, open)
		case '}', ']':
			if open--; open == 0 {
				return at + 1, depth, spaced
			}
		case ' ', '\t', '\r', '\n':
			spaced = true
		}
		at++
	}
}

// digest returns the SHA-256 of a valid value without insignificant white space.
func digest(value jsontext.Value, spaced bool) [sha256.Size]byte {
	if !spaced {
		return sha256.Sum256(value)
	}
	compact := jsontext.Value(bytes.Clone(value))
	_ = compact.Compact() // no error, since it is valid
	return sha256.Sum256(compact)
}
