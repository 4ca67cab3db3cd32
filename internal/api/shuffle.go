package api

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"riffle/internal/dealer"
	"riffle/internal/deck"
)

// shuffle answers POST /shuffle.
func (a *API) shuffle(w http.ResponseWriter, r *http.Request) error {
	if err := noParameters(r); err != nil {
		return err
	}
	b, err := a.readBody(w, r)
	if err != nil {
		return err
	}
	defer b.release()
	q, err := decodeShuffle(b.bytes, a.Dealer.Limits().Items)
	if err != nil {
		return err
	}
	return a.deal(w, q, b.bytes)
}

// elementBytes is what an element that is shuffled takes up: itself, a second time where it is shuffled again and again,
// and what the algorithm notes of it.
const elementBytes = 48

// deal deals a request and answers it. body holds the caller's items, if it has any.
func (a *API) deal(w http.ResponseWriter, q *shuffleRequest, body []byte) error {
	plan, err := a.Dealer.Plan(&q.Request)
	if err != nil {
		return err
	}
	if held := int64(plan.Held()) * elementBytes; held > freeBody {
		if !a.memory.take(held) {
			return problemMemory()
		}
		defer a.memory.give(held)
	}
	result, err := a.Dealer.Deal(plan)
	if err != nil {
		return err
	}
	return a.answer(w, q, result, body)
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
	q, err := deckQuery(query, kind.Name, len(kind.Parameters) > 0)
	if err != nil {
		return err
	}
	return a.deal(w, q, nil)
}

// deckType finds the deck type of the path and reads the query.
func (a *API) deckType(r *http.Request) (*deck.Type, map[string]string, error) {
	kind, ok := a.Decks.Type(chi.URLParam(r, "type"))
	if !ok {
		return nil, nil, newProblem(http.StatusNotFound, "There is no such deck type; GET /decks lists them.")
	}
	query, err := parseQuery(r)
	return kind, query, err
}

// answer sends the result in the form that the request asked for. body holds the caller's items.
func (a *API) answer(w http.ResponseWriter, q *shuffleRequest, result *dealer.Result, body []byte) error {
	out := a.newStream(w)
	out.buf = append(out.buf, `{"audit_id":"`...)
	out.buf = append(out.buf, result.AuditID.String()...)
	out.buf = append(out.buf, `","log_index":`...)
	out.buf = strconv.AppendUint(out.buf, result.LogIndex, 10)
	out.buf = append(out.buf, `,"algorithm":"`...)
	out.buf = append(out.buf, result.Statement.Algorithm...)
	out.buf = append(out.buf, `",`...)
	switch {
	case result.Deck != nil && q.details:
		elements, err := cardElements(result)
		if err != nil {
			return err
		}
		dealt(a, out, q, result, elements, func(b []byte, card json.RawMessage) []byte { return append(b, card...) })
	case result.Deck != nil:
		dealt(a, out, q, result, codeElements(result), func(b []byte, code string) []byte {
			return append(append(append(b, '"'), code...), '"')
		})
	case q.items != nil:
		dealt(a, out, q, result, q.items, func(b []byte, item span) []byte { return append(b, body[item.from:item.to]...) })
	default:
		a.write(out, q, result, func(number uint64) {
			began := time.Now()
			positions := result.Positions(number)
			out.dealt += time.Since(began)
			writeOrder(out, q, result, positions, func(b []byte, p uint64) []byte { return strconv.AppendUint(b, p, 10) })
		})
	}
	out.buf = append(out.buf, `,"commitment":"`...)
	out.buf = hex.AppendEncode(out.buf, result.Commitment[:])
	out.buf = append(out.buf, `","seed":"`...)
	out.buf = hex.AppendEncode(out.buf, result.Statement.Seed)
	out.buf = append(out.buf, "\"}\n"...)
	a.Metrics.shuffles[result.Statement.Algorithm].Observe(out.dealt.Seconds())
	a.Metrics.items.Add(float64(result.Statement.Draw * result.Statement.Repeat))
	return out.finish()
}

// codeElements are the codes of all the copies.
func codeElements(result *dealer.Result) []string {
	codes := make([]string, 0, result.Statement.Size)
	for range result.Copies {
		codes = append(codes, result.Deck.Codes()...)
	}
	return codes
}

// cardElements are the cards of all the copies as JSON. Instances go on from copy to copy, so that no two cards of the
// shuffle are alike.
func cardElements(result *dealer.Result) ([]json.RawMessage, error) {
	cards := result.Deck.Cards()
	count := map[string]int{}
	for i := range cards {
		count[cards[i].Code]++
	}
	elements := make([]json.RawMessage, 0, result.Statement.Size)
	for copied := range int(result.Copies) {
		for _, card := range cards {
			card.Instance += copied * count[card.Code]
			text, err := json.Marshal(card)
			if err != nil {
				return nil, fmt.Errorf("encoding card %s: %w", card.Code, err)
			}
			elements = append(elements, text)
		}
	}
	return elements, nil
}

// dealt writes the shuffles of the elements.
func dealt[T any](a *API, out *stream, q *shuffleRequest, result *dealer.Result, elements []T, element func([]byte, T) []byte) {
	scratch := elements
	if result.Statement.Repeat > 1 {
		scratch = make([]T, len(elements))
	}
	a.write(out, q, result, func(number uint64) {
		began := time.Now()
		order := dealer.Order(result, number, elements, scratch)
		out.dealt += time.Since(began)
		writeOrder(out, q, result, order, element)
	})
}

// write writes the members that hold the orders; order writes that of one shuffle.
func (a *API) write(out *stream, q *shuffleRequest, result *dealer.Result, order func(number uint64)) {
	if !q.repeats {
		order(0)
		return
	}
	out.buf = append(out.buf, `"shuffles":[`...)
	for number := range result.Statement.Repeat {
		if number > 0 {
			out.buf = append(out.buf, ',')
		}
		order(number)
	}
	out.buf = append(out.buf, ']')
}

// writeOrder writes one order: as items, as hands and rest, or within a list of shuffles as an array of the items or of
// the hands and the rest.
func writeOrder[T any](out *stream, q *shuffleRequest, result *dealer.Result, order []T, element func([]byte, T) []byte) {
	array := func(part []T) {
		out.buf = append(out.buf, '[')
		for i, e := range part {
			if i > 0 {
				out.buf = append(out.buf, ',')
			}
			out.buf = element(out.buf, e)
			out.flush()
		}
		out.buf = append(out.buf, ']')
		out.flush()
	}
	hands := result.Statement.Hands
	if hands == nil {
		if !q.repeats {
			out.buf = append(out.buf, `"items":`...)
		}
		array(order)
		return
	}
	if q.repeats {
		out.buf = append(out.buf, '[')
	} else {
		out.buf = append(out.buf, `"hands":[`...)
	}
	for i, n := range hands {
		if i > 0 {
			out.buf = append(out.buf, ',')
		}
		array(order[:n])
		order = order[n:]
	}
	if q.repeats {
		out.buf = append(out.buf, ',')
		array(order)
		out.buf = append(out.buf, ']')
	} else {
		out.buf = append(out.buf, `],"rest":`...)
		array(order)
	}
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
	dealt   time.Duration // spent shuffling
}

// part is how much of an answer is sent at a time.
const part = 64 << 10

// answers are buffers for answers of the common size.
var answers = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

func (a *API) newStream(w http.ResponseWriter) *stream {
	pooled := answers.Get().(*[]byte)
	return &stream{buf: *pooled, pooled: pooled, w: w, api: a}
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
