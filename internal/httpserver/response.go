package httpserver

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// A Response sends one answer and counts its bytes. The client must read a long answer at a minimum
// rate. A request body that the handler did not read delays neither the answer nor the next request.
type Response struct {
	http.ResponseWriter
	// Status is the status sent, 0 before. It is StatusLeft if the client left before the end.
	Status int
	Sent   int // bytes of the body that the connection has accepted
	// Draining has the connection close after the answer; nil for never.
	Draining *atomic.Bool

	request      *http.Request // its context is done once the client has left
	body         body          // zero if the request has none
	writeTimeout time.Duration // 0 for none
	lifted       bool          // see LiftDeadlines
	waited       time.Duration // for the client, to accept whole parts
}

// StatusLeft is the status, in log and metrics, of a request whose client left before the answer was
// complete. nginx uses the same number. It is never sent.
const StatusLeft = 499

const (
	// Part is the number of bytes of an answer that are sent in one write.
	Part = 64 << 10
	// minRate is the number of bytes a second that a client must accept after the write timeout.
	minRate = 64 << 10
	// longestAnswer is the time that a client has for an answer of any length.
	longestAnswer = 30 * time.Minute
)

// Limits on request bodies that the handler did not read.
const (
	// shortBody is the length of the longest body, in bytes, that is read and discarded, so that the
	// connection of a refused request stays open.
	shortBody = 2 << 10
	// discardTime is the time for that. Most clients send such a body with the header.
	discardTime = 10 * time.Millisecond
	// lingerTime is the time in which a client may still send after its answer: closing a connection
	// with unread bytes may lose the answer.
	lingerTime = time.Second
)

// NoSniff is the value of X-Content-Type-Options, shared by all answers: Header.Set would allocate
// it again.
var NoSniff = []string{"nosniff"}

// Send sends a whole answer. It panics with http.ErrAbortHandler if the client has left.
func Send(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h["X-Content-Type-Options"] = NoSniff
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// Begin prepares the response to r. It wraps the body of r, which must be the handler's request: net/http
// keeps the original.
func (w *Response) Begin(out http.ResponseWriter, r *http.Request, writeTimeout time.Duration) {
	w.ResponseWriter, w.request, w.writeTimeout = out, r, writeTimeout
	if r.ContentLength != 0 {
		w.body = body{ReadCloser: r.Body, response: w}
		r.Body = &w.body
	}
}

// LiftDeadlines lets a request wait for something other than its client once its body was read: net/http
// watches for the end of the connection, and would take the read deadline for it. The client has the
// write timeout from the first byte of the answer.
func (w *Response) LiftDeadlines() {
	w.lifted = true
	if w.bodyRead() {
		w.liftRead()
	}
}

func (w *Response) liftRead() {
	_ = http.NewResponseController(w.ResponseWriter).SetReadDeadline(time.Time{}) // a broken connection fails the write
}

func (w *Response) bodyRead() bool { return w.body.response == nil || w.body.ended }

// A body records whether it was read to the end.
type body struct {
	io.ReadCloser
	response *Response // nil if the request has no body
	ended    bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !b.ended && errors.Is(err, io.EOF) {
		b.ended = true
		if b.response.lifted {
			b.response.liftRead()
		}
	}
	return n, err
}

// begin sets the status before the header is sent. The buffers of a closed connection accept a short
// answer, so begin asks the context whether the client has left.
func (w *Response) begin(status int) {
	switch {
	case w.Status != 0:
		return
	case w.request.Context().Err() != nil:
		w.Status = StatusLeft
	default:
		w.Status = status
	}
	if w.Draining != nil && w.Draining.Load() {
		w.Header().Set("Connection", "close")
	}
	if !w.bodyRead() && w.request.ProtoMajor == 1 { // HTTP/2 resets the stream
		w.discardBody()
	}
}

// discardBody reads the rest of the body if it is short and has arrived. Otherwise it has the
// connection closed after the answer: net/http would wait for the rest until the read timeout, before
// and after the answer.
func (w *Response) discardBody() {
	control := http.NewResponseController(w.ResponseWriter)
	if r := w.request; 0 < r.ContentLength && r.ContentLength <= shortBody && r.Header.Get("Expect") == "" {
		_ = control.SetReadDeadline(time.Now().Add(discardTime)) // a broken connection fails the read
		_, _ = io.CopyN(io.Discard, &w.body, shortBody)
	}
	deadline := time.Time{} // net/http sets it for the next request
	if !w.body.ended {
		deadline = time.Now().Add(lingerTime)
		w.Header().Set("Connection", "close")
	}
	_ = control.SetReadDeadline(deadline)
}

// WriteHeader sends the header.
func (w *Response) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write sends bytes of the body, a Part at a time. Answers shorter than a Part have the server's
// deadline, unless it was lifted. It fails if the client has left or is too slow.
func (w *Response) Write(p []byte) (written int, err error) {
	w.begin(http.StatusOK)
	for {
		n, err := w.writePart(p[written:min(written+Part, len(p))])
		written += n
		w.Sent += n
		if err != nil {
			w.Status = StatusLeft
		}
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// writePart defers the write deadline by the time that the accepted bytes have earned. Only the time
// spent in Write counts against it.
func (w *Response) writePart(p []byte) (int, error) {
	if w.Sent+len(p) < Part && !w.lifted || w.writeTimeout == 0 {
		return w.ResponseWriter.Write(p)
	}
	began := time.Now()
	earned := time.Duration(w.Sent) * time.Second / minRate
	deadline := began.Add(min(w.writeTimeout+earned, longestAnswer) - w.waited)
	err := http.NewResponseController(w.ResponseWriter).SetWriteDeadline(deadline)
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := w.ResponseWriter.Write(p)
	w.waited += time.Since(began)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
