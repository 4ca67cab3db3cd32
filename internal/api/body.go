package api

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
)

// freeBody is how much of a body is read without asking the memory budget.
const freeBody = 64 << 10

// A budget is memory that requests share.
type budget struct {
	mu   sync.Mutex
	left int64
}

func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

// bodies are buffers for bodies of the common size.
var bodies = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// longBody is a buffer for a body longer than freeBody.
var longBody spare[byte]

// A body is a request's body in memory. Release it when nothing refers to it any more.
type body struct {
	bytes     []byte
	room      int64 // how long it may become with what was taken of the budget; the buffer may have more
	announced int64 // how long it is said to be; -1 if it is not
	pooled    *[]byte
	budget    *budget
	taken     int64
}

func (b *body) release() {
	b.budget.give(b.taken)
	if cap(b.bytes) <= freeBody {
		*b.pooled = b.bytes[:0]
	} else {
		longBody.leave(b.bytes)
	}
	bodies.Put(b.pooled)
}

// weight is what a byte of a long body costs in memory until its request is answered: itself, and its copies while the
// buffer grows and while the digest is taken of what has white space.
const weight = 3

// readBody reads a JSON body of at most MaxBody bytes, of a request that has no parameters. It takes memory for what has arrived, not for what was
// announced, and for long bodies only as far as the budget goes.
func (a *API) readBody(w http.ResponseWriter, r *http.Request) (*body, error) {
	if err := noParameters(r); err != nil {
		return nil, err
	}
	return a.receive(w, r)
}

// receive is readBody of a request whose parameters were read before.
func (a *API) receive(w http.ResponseWriter, r *http.Request) (*body, error) {
	if err := checkHeader(r, a.MaxBody); err != nil {
		return nil, err
	}
	pooled := bodies.Get().(*[]byte)
	b := &body{bytes: *pooled, room: int64(cap(*pooled)), announced: r.ContentLength, pooled: pooled, budget: &a.memory}
	in := http.MaxBytesReader(w, r.Body, a.MaxBody)
	for {
		if int64(len(b.bytes)) == b.room && !b.grow() {
			b.release()
			return nil, problemMemory()
		}
		n, err := in.Read(b.bytes[len(b.bytes):b.room])
		b.bytes = b.bytes[:len(b.bytes)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			b.release()
			return nil, a.readError(err)
		}
	}
}

func problemMemory() *problem {
	return problemBusy("Too many long requests are being answered. Nothing was shuffled; ask again in a second, or in smaller pieces.")
}

// grow doubles the room, if the budget allows, or makes it what was announced, where that is less.
func (b *body) grow() bool {
	room := 2 * b.room
	if b.announced >= b.room {
		room = min(room, b.announced+1) // one more, so that the end is found without growing again
	}
	if room > freeBody {
		more := room*weight - b.taken
		if !b.budget.take(more) {
			return false
		}
		b.taken += more
	}
	if b.room = room; room > int64(cap(b.bytes)) {
		b.bytes = append(buffer(room), b.bytes...)
	}
	return true
}

// buffer returns an empty buffer of at least a size.
func buffer(size int64) []byte {
	if size > freeBody {
		if long := longBody.take(int(size)); long != nil {
			return long
		}
	}
	return make([]byte, 0, size)
}

// checkHeader refuses what the header says cannot be read.
func checkHeader(r *http.Request, longest int64) error {
	switch encoding := r.Header.Get("Content-Encoding"); {
	case r.ContentLength > longest:
		return problemTooLarge(longest)
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return newProblem(http.StatusUnsupportedMediaType, "The body is compressed. Send it as it is, without Content-Encoding.")
	case !isJSON(r.Header.Get("Content-Type")):
		return newProblem(http.StatusUnsupportedMediaType, "The body has to be JSON. Send it with the header Content-Type: application/json (curl: --json).")
	}
	return nil
}

// isJSON reports whether a media type is JSON in UTF-8.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	charset := parameters["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func problemTooLarge(longest int64) *problem {
	p := newProblem(http.StatusRequestEntityTooLarge, "The body is longer than %d bytes. Shuffle positions (size) in place of long items, or split the request.", longest)
	p.close = true
	return p
}

// readError is what became of a body that did not arrive whole.
func (a *API) readError(err error) error {
	var tooLarge *http.MaxBytesError
	var timeout net.Error
	var p *problem
	switch {
	case errors.As(err, &tooLarge):
		return problemTooLarge(a.MaxBody)
	case errors.As(err, &timeout) && timeout.Timeout():
		p = newProblem(http.StatusRequestTimeout, "The body took too long to arrive. Send it faster, or in smaller requests.")
	default:
		p = newProblem(http.StatusBadRequest, "The body ended before its announced length, or its chunks are malformed.")
	}
	p.close = true
	return p
}
