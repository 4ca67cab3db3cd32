package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/httpserver"
	"riffle/internal/scheduler"
)

// A stream is an answer that is sent in parts if it is long. A failure after the first part closes the
// connection, which leaves the client with invalid JSON.
type stream struct {
	object
	pooled *[]byte
	pool   *buffers // of pooled
	x      *exchange
	media  []string // Content-Type
	sent   bool
	spent  time.Duration   // shuffling
	job    *scheduler.Job  // nil unless the answer takes long
	ctx    context.Context // of the job
}

// buffers is a pool of buffers that are sent once they have a part.
type buffers struct {
	sync.Pool
	part int
}

// newBuffers returns a pool of buffers with room at first. They grow to about a part.
func newBuffers(room, part int) *buffers {
	return &buffers{sync.Pool{New: func() any { b := make([]byte, 0, room); return &b }}, part}
}

// An answer begins in a short buffer. A long one continues in a long buffer if the budget has room,
// otherwise in shorter parts. Without the pools, a shuffle of 52 items takes a tenth more processor time.
var (
	shortBuffers = newBuffers(2<<10, 8<<10)
	longBuffers  = newBuffers(httpserver.Part+8<<10, httpserver.Part)
)

func newStream(x *exchange) *stream {
	pooled := shortBuffers.Get().(*[]byte)
	return &stream{object: object{*pooled}, pooled: pooled, pool: shortBuffers, x: x, media: typeJSON}
}

func (s *stream) head() {
	h := s.x.Header()
	h["Content-Type"] = s.media
	h["Cache-Control"] = noStore // it may have a seed
}

// flush sends the buffer once it has a part. It panics with http.ErrAbortHandler if the client has left.
func (s *stream) flush() {
	if len(s.buf) < s.pool.part || s.pool == shortBuffers && s.lengthen() {
		return
	}
	if !s.sent {
		s.sent = true
		s.head()
		s.x.Header()["X-Content-Type-Options"] = httpserver.NoSniff
	}
	s.send()
	s.wait()
}

// wait waits until a long answer may continue. It panics with http.ErrAbortHandler if the client has
// left or the service stops.
func (s *stream) wait() {
	if s.job != nil && s.job.Wait(s.ctx) != nil {
		panic(http.ErrAbortHandler)
	}
}

// lengthen replaces the short buffer by a long one, and reports whether the budget had room.
func (s *stream) lengthen() bool {
	if s.x.lease.Grow(2*httpserver.Part) != nil { // it ends with the elements that completed the part
		return false
	}
	pooled := longBuffers.Get().(*[]byte)
	buf := append(*pooled, s.buf...)
	s.release()
	s.buf, s.pooled, s.pool = buf, pooled, longBuffers
	return true
}

// release returns the buffer to its pool, unless it has grown too large.
func (s *stream) release() {
	if cap(s.buf) <= 2*s.pool.part {
		*s.pooled = s.buf[:0]
	}
	s.pool.Put(s.pooled)
}

// send sends the buffer. The job has no place meanwhile, so a slow client delays nobody else.
func (s *stream) send() {
	s.job.Release()
	if _, err := s.x.Write(s.buf); err != nil {
		panic(http.ErrAbortHandler)
	}
	s.buf = s.buf[:0]
}

// end ends the object and sends the rest of the answer.
func (s *stream) end() error {
	s.buf = append(s.buf, "}\n"...)
	return s.finish()
}

// finish sends the rest of the answer.
func (s *stream) finish() error {
	s.job.Release()
	if s.sent {
		s.send()
	} else {
		s.head()
		httpserver.Send(s.x, http.StatusOK, s.buf)
	}
	s.release()
	return nil
}

// An object appends the members of a JSON object to a buffer. Its texts need no escapes: they are names, ids
// and constants. encoding/json takes several times as long.
type object struct{ buf []byte }

// open begins an object, close ends it.
func (o *object) open()  { o.buf = append(o.buf, '{') }
func (o *object) close() { o.buf = append(o.buf, '}') }

// name begins a member, whose value follows.
func (o *object) name(name string) {
	if last := len(o.buf) - 1; last < 0 || o.buf[last] != '{' {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(o.buf, '"')
	o.buf = append(o.buf, name...)
	o.buf = append(o.buf, '"', ':')
}

func (o *object) text(name, value string) {
	o.name(name)
	o.buf = append(o.buf, '"')
	o.buf = append(o.buf, value...)
	o.buf = append(o.buf, '"')
}

func (o *object) number(name string, value uint64) {
	o.name(name)
	o.buf = strconv.AppendUint(o.buf, value, 10)
}

func (o *object) hex(name string, value []byte) {
	o.name(name)
	o.buf = append(hex.AppendEncode(append(o.buf, '"'), value), '"')
}

func (o *object) time(name string, value time.Time, layout string) {
	o.name(name)
	o.buf = append(value.AppendFormat(append(o.buf, '"'), layout), '"')
}

// raw appends a member whose value is JSON.
func (o *object) raw(name, value string) {
	o.name(name)
	o.buf = append(o.buf, value...)
}

// list appends a member that is an array of n elements, each appended by element.
func (o *object) list(name string, n int, element func(i int)) {
	o.name(name)
	o.array(n, element)
}

// array appends an array of n elements, each appended by element.
func (o *object) array(n int, element func(i int)) {
	o.buf = append(o.buf, '[')
	for i := range n {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		element(i)
	}
	o.buf = append(o.buf, ']')
}

// An appender appends the JSON of elements, with a comma after each: spans of the body, or
// positions of the unshuffled input.
type appender[T any] func(b []byte, elements []T) []byte

// oneByOne returns the appender that calls appendOne for each element.
func oneByOne(appendOne func(b []byte, position uint64) []byte) appender[uint64] {
	return func(b []byte, positions []uint64) []byte {
		for _, p := range positions {
			b = append(appendOne(b, p), ',')
		}
		return b
	}
}

// elementsOf returns the appender of cards or integers.
func elementsOf(q *shuffleRequest, result *dealer.Shuffle) appender[uint64] {
	switch {
	case result.Deck != nil && q.details:
		return encodedCards.Of(result.Deck, cardElements)
	case result.Deck != nil:
		return encodedCodes.Of(result.Deck, func(d *deck.Deck) appender[uint64] { return codeElements(d.Codes()) })
	}
	return oneByOne(func(b []byte, position uint64) []byte { return strconv.AppendUint(b, position, 10) })
}

// The appenders of whole cards, and of codes.
var encodedCards, encodedCodes deck.Cache[appender[uint64]]

// codeElements appends the codes of cards, which need no escapes. Positions beyond the deck belong
// to further copies.
//
// It is codeElementsPlain of the tests, but copies a whole fixedCode each time: a copy of a fixed
// length takes a few instructions, any other is a call. Without it, shuffling a deck of 52 a
// thousand times takes 13% more instructions.
func codeElements(codes []string) appender[uint64] {
	type fixedCode struct {
		text   [24]byte // a code has at most 16 bytes
		length int
	}
	fixed := make([]fixedCode, len(codes))
	for i, code := range codes {
		fixed[i].length = copy(fixed[i].text[:], `"`+code+`",`)
	}
	size := uint64(len(fixed))
	return func(b []byte, positions []uint64) []byte {
		b = slices.Grow(b, len(positions)*len(fixedCode{}.text))
		end := len(b)
		b = b[:cap(b)]
		for _, p := range positions {
			if p >= size { // a division each time would take as long as the rest of the loop
				p %= size
			}
			code := &fixed[p]
			*(*[len(code.text)]byte)(b[end:]) = code.text
			end += code.length
		}
		return b[:end]
	}
}

// cardElements appends whole cards. Instances continue from copy to copy of the deck, so that no
// two cards are equal.
func cardElements(d *deck.Deck) appender[uint64] {
	cards := d.Cards()
	texts := make([]string, len(cards)) // without the instance
	for i := range cards {
		if i > 0 && cards[i].Code == cards[i-1].Code {
			texts[i] = texts[i-1]
			continue
		}
		text, _ := json.Marshal(cards[i])                                                // no error, since it has texts and a number
		texts[i] = strings.TrimSuffix(string(text), strconv.Itoa(cards[i].Instance)+"}") // its last member
	}
	size := uint64(len(cards))
	return oneByOne(func(b []byte, position uint64) []byte {
		b = append(b, texts[position%size]...)
		return append(strconv.AppendInt(b, int64(d.Instance(position)), 10), '}')
	})
}
