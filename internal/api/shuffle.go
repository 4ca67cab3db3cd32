package api

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"riffle/internal/dealer"
	"riffle/internal/deck"
)

// shuffle answers POST /shuffle.
func (a *API) shuffle(w http.ResponseWriter, r *http.Request) error {
	q, body, err := a.readRequest(w, r, ofShuffle)
	if err != nil {
		return err
	}
	defer q.release()
	return a.respond(w, r, q, body)
}

// respond shuffles a request and answers it. body holds the caller's items, if it has any.
func (a *API) respond(w http.ResponseWriter, r *http.Request, q *shuffleRequest, body []byte) (err error) {
	if q.Key, err = idempotencyKey(r, body); err != nil {
		return err
	}
	s, err := a.Dealer.Shuffle(r.Context(), &q.Request)
	if err != nil {
		return err
	}
	defer s.Release()
	return a.answer(w, q, s, body)
}

func noParameters(r *http.Request) error {
	query, err := parseQuery(r)
	if err != nil {
		return err
	}
	return onlyParameters(query)
}

// dealDeck answers GET /decks/{type}.
func (a *API) dealDeck(w http.ResponseWriter, r *http.Request) error {
	kind, query, err := a.deckType(r)
	if err != nil {
		return err
	}
	q := a.newRequest()
	defer q.release()
	if err := q.decodeQuery(query, kind.Name, len(kind.Parameters) > 0); err != nil {
		return err
	}
	return a.respond(w, r, q, nil)
}

// deckType finds the deck type of the path and reads the query.
func (a *API) deckType(r *http.Request) (*deck.Type, map[string]string, error) {
	kind, ok := a.Rules.Decks.Type(chi.URLParam(r, "type"))
	if !ok {
		return nil, nil, newProblem(http.StatusNotFound, "There is no such deck type; GET /decks lists them.")
	}
	query, err := parseQuery(r)
	return kind, query, err
}

// answer sends the result in the form that the request asked for. body holds the caller's items.
func (a *API) answer(w http.ResponseWriter, q *shuffleRequest, result *dealer.Shuffle, body []byte) error {
	out := a.newStream(w)
	out.buf = append(out.buf, `{"audit_id":"`...)
	out.buf = append(out.buf, result.AuditID.String()...)
	out.buf = append(out.buf, `","log_index":`...)
	out.buf = strconv.AppendUint(out.buf, result.LogIndex, 10)
	out.buf = append(out.buf, `,"algorithm":"`...)
	out.buf = append(out.buf, result.Statement.Algorithm...)
	out.buf = append(out.buf, `",`...)
	spent := out.shuffled(q, result, body)
	out.buf = append(out.buf, `,"commitment":"`...)
	out.buf = hex.AppendEncode(out.buf, result.Commitment[:])
	out.buf = append(out.buf, `","seed":"`...)
	out.buf = hex.AppendEncode(out.buf, result.Statement.Seed)
	out.buf = append(out.buf, "\"}\n"...)
	a.Metrics.shuffles[result.Statement.Algorithm].Observe(spent.Seconds())
	a.Metrics.items.Add(float64(result.Statement.Draw * result.Statement.Repeat))
	return out.finish()
}

// shuffled writes the members that hold the orders and returns the time that was spent shuffling. The caller's items are
// shuffled themselves; of all else the positions are.
func (s *stream) shuffled(q *shuffleRequest, result *dealer.Shuffle, body []byte) (spent time.Duration) {
	if q.Items == nil {
		writeOrders(s, q.repeats, result, s.elements(elements(q, result)), func(number uint64) []uint64 {
			began := time.Now()
			positions := result.Positions(number, q.positions)
			spent += time.Since(began)
			q.positions = positions[:0]
			return positions
		})
		return spent
	}
	last := result.Statement.Repeat - 1
	writeOrders(s, q.repeats, result, s.items(body), func(number uint64) []span {
		began := time.Now()
		items := q.items
		if number < last {
			q.copied = append(q.copied[:0], items...)
			items = q.copied
		}
		order := dealer.Order(result, number, items)
		spent += time.Since(began)
		return order
	})
	return spent
}

// writeOrders writes the members that hold the orders. write appends elements to the answer, each with a comma behind it.
func writeOrders[T any](out *stream, repeats bool, result *dealer.Shuffle, write func([]T), order func(number uint64) []T) {
	hands := result.Statement.Hands
	switch {
	case repeats || result.Statement.Repeat > 1: // more than once also where only the commitment says so
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

// writeArray writes the elements as an array.
func writeArray[T any](out *stream, order []T, write func([]T)) {
	out.buf = append(out.buf, '[')
	write(order)
	out.endArray()
}

// endArray ends an array: the comma behind the last element, if there is any, becomes the bracket.
func (s *stream) endArray() {
	s.buf = append(bytes.TrimSuffix(s.buf, []byte{','}), ']')
	s.flush()
}

// writeHands writes the hands, from the head of the order, each as an array, and returns the rest.
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

// A stream is an answer that is sent in parts once it is long. Its first parts leave before the last are made, so an
// answer that cannot go on ends the connection: what has arrived is then no JSON.
type stream struct {
	buf     []byte
	pooled  *[]byte
	w       http.ResponseWriter
	control *http.ResponseController
	api     *API
	sent    bool
	seen    byte // see look
}

// part is how much of an answer is sent at a time.
const part = 64 << 10

// answers are buffers for answers of the common size.
var answers = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

func (a *API) newStream(w http.ResponseWriter) *stream {
	pooled := answers.Get().(*[]byte)
	return &stream{buf: *pooled, pooled: pooled, w: w, api: a}
}

// elements returns what writes the elements at positions, each with a comma behind it.
func (s *stream) elements(e element) func(positions []uint64) {
	return func(positions []uint64) {
		for len(positions) > 0 {
			s.flush() // before and not after, so that the last comma stays at hand
			s.buf, positions = e(s.buf, positions)
		}
	}
}

// fetched is how many items are looked at before they are copied.
const fetched = 64

// items returns what writes items of the body, each with a comma behind it. In a long body, where the next item stands is
// not in the processor's cache, and one copy after the other would wait for memory; so a byte of each of the next is
// looked at first, in a loop so short that they are all fetched at the same time.
func (s *stream) items(body []byte) func(items []span) {
	return func(items []span) {
		for len(items) > 0 {
			next := items[:min(fetched, len(items))]
			items = items[len(next):]
			s.seen ^= look(next, body)
			s.flush()
			s.appendItems(next, body)
		}
	}
}

// shortItem is how long an item may be, in bytes, that is copied as if it had that length: a copy of a fixed length is a few
// instructions, and any other a call.
const shortItem = 16

// appendItems appends items of the body, each with a comma behind it. Long ones are sent on the way.
func (s *stream) appendItems(items []span, body []byte) {
	buf := slices.Grow(s.buf, len(items)*(shortItem+1))
	for _, at := range items {
		from, length, end := int(at.from), int(at.to-at.from), len(buf)
		if length <= shortItem && from+shortItem <= len(body) && end+shortItem < cap(buf) {
			buf = buf[:end+shortItem+1]
			*(*[shortItem]byte)(buf[end:]) = [shortItem]byte(body[from:])
			buf[end+length] = ','
			buf = buf[:end+length+1]
			continue
		}
		s.buf = buf
		s.flush()
		buf = append(append(s.buf, body[at.from:at.to]...), ',')
	}
	s.buf = buf
}

// look reads the first byte of each item. What it returns is of no use but that the reads cannot be left out.
func look(items []span, body []byte) (seen byte) {
	for _, at := range items {
		seen ^= body[at.from]
	}
	return seen
}

func (s *stream) head() {
	h := s.w.Header()
	h["Content-Type"] = typeJSON
	h["Cache-Control"] = noStore // it holds a seed that is nobody else's
}

// flush sends what there is, if it is enough. It panics with http.ErrAbortHandler if the caller is gone.
func (s *stream) flush() {
	if len(s.buf) < part {
		return
	}
	if !s.sent {
		s.sent = true
		s.head()
		s.w.Header()["X-Content-Type-Options"] = noSniff
		s.control = http.NewResponseController(s.w)
	}
	s.send()
}

func (s *stream) send() {
	deadline := time.Now().Add(s.api.writeTimeout)
	if err := s.control.SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		panic(http.ErrAbortHandler)
	}
	if _, err := s.w.Write(s.buf); err != nil {
		panic(http.ErrAbortHandler)
	}
	s.buf = s.buf[:0]
}

// finish sends the rest.
func (s *stream) finish() error {
	if s.sent {
		s.send()
	} else {
		s.head()
		if err := writeBody(s.w, http.StatusOK, s.buf); err != nil {
			return err
		}
	}
	if cap(s.buf) <= 2*part {
		*s.pooled = s.buf[:0]
	}
	answers.Put(s.pooled)
	return nil
}
