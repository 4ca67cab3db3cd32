package api

import (
	"bytes"
	"strconv"

	"riffle/internal/dealer"
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
	q.Items = &dealer.Items{Count: count}
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
	for {
		switch body[at] {
		case ']':
			return count, packed, -1
		case ',':
			at++
		case ' ', '\t', '\r', '\n':
			packed = false
			at++
		default:
			to, depth, spaced := extent(body, at)
			if depth > maxDepth-2 {
				return count, false, int(count)
			}
			packed = packed && !spaced
			q.note(body, span{at, to}, most)
			at = to
			count++
		}
	}
}

// note notes where an item stands, if there are not most already.
func (q *shuffleRequest) note(body []byte, item span, most uint64) {
	if uint64(len(q.items)) == most {
		return
	}
	if len(q.items) == cap(q.items) && len(q.items) >= commonSize {
		q.makeRoom(body[item.to:], most)
	}
	q.items = append(q.items, item)
}

// makeRoom makes room for as many items as there can still be, given what is left of the body: each stands behind a
// comma. Room that grew by and by would leave several times as much behind as garbage.
func (q *shuffleRequest) makeRoom(left []byte, most uint64) {
	room := len(q.items) + 1 + bytes.Count(left, []byte{','})
	room = int(min(uint64(room), most))
	long := longItems.take(room)
	if long == nil {
		long = make([]span, 0, room)
	}
	q.items = append(long, q.items...)
}

// extent returns where the value at an offset ends, how deep it is nested, and whether there is white space in it. A scalar has depth
// 0.
func extent(body []byte, at uint32) (to uint32, depth int, spaced bool) {
	switch body[at] {
	case '"':
		return quoted(body, at), 0, false
	case '{', '[':
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
	for at++; body[at] != '"'; at++ {
		if body[at] == '\\' {
			at++
		}
	}
	return at + 1
}

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
