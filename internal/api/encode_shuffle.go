package api

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"time"

	"riffle/internal/dealer"
	"riffle/internal/httpjson"
)

// shuffle encodes a shuffle with its orders, and returns the time spent shuffling.
func (s *stream) shuffle(q *shuffleRequest, result *dealer.Shuffle, body []byte) (spent time.Duration) {
	s.buf = append(s.buf, `{"audit_id":"`...)
	s.buf = append(s.buf, result.AuditID.String()...)
	s.buf = append(s.buf, `","log_index":`...)
	s.buf = strconv.AppendUint(s.buf, result.LogIndex, 10)
	s.buf = append(s.buf, `,"algorithm":"`...)
	s.buf = append(s.buf, result.Statement.Algorithm...)
	s.buf = append(s.buf, `",`...)
	spent = s.orders(q, result, body)
	s.buf = append(s.buf, `,"commitment":"`...)
	s.buf = hex.AppendEncode(s.buf, result.Commitment[:])
	s.buf = append(s.buf, `","seed":"`...)
	s.buf = hex.AppendEncode(s.buf, result.Statement.Seed)
	s.buf = append(s.buf, "\"}\n"...)
	return spent
}

// orders encodes the members that hold the orders. It shuffles the caller's items themselves, and
// positions for any other input.
func (s *stream) orders(q *shuffleRequest, result *dealer.Shuffle, body []byte) (spent time.Duration) {
	if q.Items == nil {
		var scratch []uint64
		writeOrders(s, q.list, result, s.elements(elementsOf(q, result)), func(number uint64) []uint64 {
			s.wait()
			began := time.Now()
			positions := result.Positions(number, scratch)
			spent += time.Since(began)
			scratch = positions[:0]
			return positions
		})
		return spent
	}
	var scratch []httpjson.Span
	last := result.Statement.Repeat - 1
	writeOrders(s, q.list, result, s.items(body), func(number uint64) []httpjson.Span {
		s.wait()
		began := time.Now()
		items := q.items
		if number < last {
			scratch = append(scratch[:0], items...)
			items = scratch
		}
		order := dealer.Order(result, number, items)
		spent += time.Since(began)
		return order
	})
	return spent
}

// writeOrders encodes the members that hold the orders. write encodes elements, with a comma after each.
func writeOrders[T any](out *stream, list bool, result *dealer.Shuffle, write func([]T), order func(number uint64) []T) {
	hands := result.Statement.Hands
	switch {
	case list || result.Statement.Repeat > 1: // a commitment may have the repeat
		out.buf = append(out.buf, `"shuffles":[`...)
		for number := range result.Statement.Repeat {
			if number > 0 {
				out.buf = append(out.buf, ',')
			}
			if hands == nil {
				writeArray(out, order(number), write)
				continue
			}
			out.buf = append(out.buf, '[')
			rest := writeHands(out, order(number), hands, write)
			out.buf = append(out.buf, ',')
			writeArray(out, rest, write)
			out.buf = append(out.buf, ']')
		}
		out.buf = append(out.buf, ']')
	case hands != nil:
		out.buf = append(out.buf, `"hands":[`...)
		rest := writeHands(out, order(0), hands, write)
		out.buf = append(out.buf, `],"rest":`...)
		writeArray(out, rest, write)
	default:
		out.buf = append(out.buf, `"items":`...)
		writeArray(out, order(0), write)
	}
}

// writeArray encodes elements as an array.
func writeArray[T any](out *stream, order []T, write func([]T)) {
	out.buf = append(out.buf, '[')
	write(order)
	out.endArray()
}

// endArray closes an array. The bracket replaces the comma after the last element, if any.
func (s *stream) endArray() {
	s.buf = append(bytes.TrimSuffix(s.buf, []byte{','}), ']')
	s.flush()
}

// writeHands encodes the head of an order as hands, an array each, and returns the rest.
func writeHands[T any](out *stream, order []T, sizes []uint64, write func([]T)) (rest []T) {
	for i, n := range sizes {
		if i > 0 {
			out.buf = append(out.buf, ',')
		}
		writeArray(out, order[:n], write)
		order = order[n:]
	}
	return order
}

// items returns the encoder of the caller's items, spans of the body.
func (s *stream) items(body []byte) func(items []httpjson.Span) {
	return func(items []httpjson.Span) {
		for len(items) > 0 {
			s.flush()
			next := items[:min(prefetched, len(items))]
			s.buf = appendItems(s.buf, body, next)
			items = items[len(next):]
		}
	}
}

// prefetched is the number of items that are loaded into the processor's cache together.
const prefetched = 64

// appendItems appends items verbatim, with a comma after each. It is appendItemsPlain with a prefetch: the
// items of a long shuffled list are cache misses, and one copy after the other would wait for memory each
// time. Without it, an answer to a million items takes 15% more processor time.
func appendItems(b, body []byte, items []httpjson.Span) []byte {
	prefetch(body, items)
	return appendItemsPlain(b, body, items)
}

func appendItemsPlain(b, body []byte, items []httpjson.Span) []byte {
	for _, item := range items {
		b = append(b, item.Of(body)...)
		b = append(b, ',')
	}
	return b
}

// prefetch reads the first byte of each item. It must not be inlined, or the compiler removes the
// reads: the result is not used.
//
//go:noinline
func prefetch(body []byte, items []httpjson.Span) (sum byte) {
	for _, item := range items {
		sum ^= body[item.From]
	}
	return sum
}
