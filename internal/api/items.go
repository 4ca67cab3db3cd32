package api

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"

	"riffle/internal/order"
	"riffle/internal/shoe"
)

// longItems is room for more items than are common.
var longItems spare[span]

// readItems notes where the items stand and takes the digest of the array without its insignificant white space. Of
// more than most items it only counts the rest.
//
// The array is read as one value, which is where it is checked, and taken apart afterwards. That takes the decoder half the
// time that it takes to stop at each item.
func (q *shuffleRequest) readItems(d *reader, most uint64) error {
	if err := d.isArray("/items"); err != nil {
		return err
	}
	start := int(d.InputOffset())
	start += bytes.IndexByte(d.body[start:], '[')
	ahead := digestAhead(d.body, start)
	defer ahead.stop()
	_, array, err := d.value()
	if err != nil {
		return err
	}
	count, packed, deep := q.split(d.body[:array.to], array.from+1, most)
	if deep >= 0 {
		return newProblem(400, "The JSON is nested deeper than %d levels.", maxDepth).at("/items/" + strconv.Itoa(deep))
	}
	q.Items = &order.Items{Count: count}
	if count <= most {
		q.Items.Digest = ahead.digest(d.body, array, packed)
	}
	return nil
}

// split notes where the items of an array stand, of which there is all, valid and up to its closing bracket, from behind the
// opening one. It returns how many there are, whether there is no white space between them or in them, and which is nested
// too deep, -1 if none is.
func (q *shuffleRequest) split(body []byte, at uint32, most uint64) (count uint64, packed bool, deep int) {
	packed = true
	items := q.items[:cap(q.items)]
	for {
		from := at
		switch body[at] {
		case ']':
			q.items = items[:min(count, most)]
			return count, packed, -1
		case ',':
			at++
			continue
		case ' ', '\t', '\r', '\n':
			packed = false
			at++
			continue
		case '"':
			at = quoted(body, at)
		default:
			var depth int
			var spaced bool
			if at, depth, spaced = extent(body, at); depth > maxDepth-2 {
				return count, false, int(count)
			}
			packed = packed && !spaced
		}
		if count < most {
			if count == uint64(len(items)) {
				items = more(items, body[at:], most)
			}
			items[count] = span{from, at}
		}
		count++
	}
}

// more returns the items with room for more: up to commonSize in all, and then for as many as there can still be, given what is
// left of the body: each stands behind a comma. Room that grew by and by would leave several times as much behind as garbage.
func more(items []span, left []byte, most uint64) []span {
	if len(items) < commonSize {
		return append(items, make([]span, int(min(commonSize, most))-len(items))...)
	}
	room := len(items) + 1 + bytes.Count(left, []byte{','})
	room = int(min(uint64(room), most))
	long := longItems.take(room)
	if long == nil {
		long = make([]span, 0, room)
	}
	return append(long, items...)[:room]
}

// extent returns where the value at an offset ends that is no string, how deep it is nested, and whether there is white space in
// it. A scalar has depth 0.
func extent(body []byte, at uint32) (to uint32, depth int, spaced bool) {
	if c := body[at]; c == '{' || c == '[' {
		return nested(body, at)
	}
	for {
		switch body[at] {
		case ',', ']', ' ', '\t', '\r', '\n':
			return at, 0, false
		}
		at++
	}
}

// quoted returns where the string at an offset ends.
func quoted(body []byte, at uint32) uint32 {
	for at++; ; {
		if rest := body[at:]; len(rest) >= 8 {
			eight := binary.LittleEndian.Uint64(rest)
			found := zeroByte(eight^('"'*everyByte)) | zeroByte(eight^('\\'*everyByte))
			if found == 0 {
				at += 8
				continue
			}
			at += uint32(bits.TrailingZeros64(found)) / 8
		}
		switch body[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
		at++
	}
}

// everyByte has a one in each of its eight bytes.
const everyByte = 0x0101010101010101

// zeroByte returns 0 if none of the eight bytes is zero, and otherwise a word whose lowest bit that is set is in the first that is (Lamport,
// "Multiple byte processing with full-word instructions", CACM 18(8), 1975).
func zeroByte(eight uint64) uint64 { return (eight - everyByte) &^ eight & (0x80 * everyByte) }

// nested returns where the array or object at an offset ends, how deep it is, and whether there is white space in it.
func nested(body []byte, at uint32) (to uint32, deepest int, spaced bool) {
	for open := 0; ; {
		switch body[at] {
		case '"':
			at = quoted(body, at)
			continue
		case '{', '[':
			open++
			deepest = max(deepest, open)
		case '}', ']':
			if open--; open == 0 {
				return at + 1, deepest, spaced
			}
		case ' ', '\t', '\r', '\n':
			spaced = true
		}
		at++
	}
}

// values returns the items as they stand in the body; nil if there are none, or more than a shoe has cards.
func (q *shuffleRequest) values(body []byte) []string {
	if q.Items == nil || q.Items.Count > shoe.MaxCards {
		return nil
	}
	values := make([]string, len(q.items))
	for i, at := range q.items {
		values[i] = string(body[at.from:at.to])
	}
	return values
}
