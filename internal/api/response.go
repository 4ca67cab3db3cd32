package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/google/uuid"

	"riffle/internal/access"
	"riffle/internal/httpjson"
	"riffle/internal/journal"
)

// A response records what was sent, to whom, and what the request has committed to the log. It has
// the caller take the answer at a least rate, and waits for no body that was not read.
type response struct {
	http.ResponseWriter
	api     *API
	log     *Log            // that the request is for
	open    *logAPI         // of log, for routes beyond those of the contract; nil for none
	lease   *httpjson.Lease // the memory of the request
	body    body            // of the request; zero for none
	status  int
	sent    int             // bytes of the body that the connection has accepted
	waited  time.Duration   // for the caller, to accept whole parts
	caller  access.Caller   // zero until it is known
	public  bool            // whether everybody may have the answer
	records int             // that the request has committed
	auditID uuid.UUID       // of the last of them, or of one that it replays
	dropped bool            // since its connection was closed to make room
	ctx     context.Context // of the request: done once the caller has left
}

// statusLeft is the status of a request in the access log and in metrics that was dropped, or whose
// caller left before the answer was complete. nginx has the same number for it. It is never sent.
const statusLeft = 499

// committing returns the context for a call that may commit records, so that w is told of them.
func committing(w http.ResponseWriter, r *http.Request) context.Context {
	return journal.Observed(r.Context(), w.(*response))
}

// Committed implements [journal.Observer]. The caller is charged now, whatever becomes of the
// answer.
func (w *response) Committed(id uuid.UUID) {
	w.records++
	w.auditID = id
	w.caller.Charge(time.Now(), 1, 0)
}

// Replayed implements [journal.Observer]. A retry commits nothing, so it is not charged for a record.
func (w *response) Replayed(id uuid.UUID) { w.auditID = id }

const (
	// part is how many bytes of an answer are sent at a time.
	part = 64 << 10
	// leastRate is how many bytes a second a caller has to accept, beyond the time of the write
	// timeout.
	leastRate = 64 << 10
	// longestAnswer is how long a caller may take for an answer of any length.
	longestAnswer = 30 * time.Minute
)

// Bodies that are not read before the answer.
const (
	// shortBody is the longest that is read after all, in bytes, so that refusals cost no connection.
	shortBody = 2 << 10
	// arriving is the time that it has for that. Most clients send it with the header.
	arriving = 10 * time.Millisecond
	// lingering is the time in which a caller may go on sending after its answer: closing a connection with
	// bytes that were not read may lose the answer.
	lingering = time.Second
)

// newResponse returns the response to a request, and the request with a body that is watched.
func (a *API) newResponse(w http.ResponseWriter, r *http.Request, log *Log) *response {
	out := &response{ResponseWriter: w, api: a, log: log, lease: a.Budget.Lease(r.RemoteAddr)}
	if r.ContentLength != 0 {
		out.body = body{ReadCloser: r.Body, request: r}
		r.Body = &out.body // of the router's copy: net/http looks at its own
	}
	return out
}

// A body notes whether all of it was read.
type body struct {
	io.ReadCloser
	request *http.Request // nil if it has no body
	ended   bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err
}

// begin notes the status before anything of the answer is sent, and leaves a body that was not read.
// A short answer is accepted by the buffers of a connection that nobody reads any more, so whether
// the caller is there is asked of the request.
func (w *response) begin(status int) {
	switch {
	case w.status != 0:
		return
	case w.ctx.Err() != nil:
		w.status = statusLeft
	default:
		w.status = status
	}
	if r := w.body.request; r != nil && !w.body.ended && r.ProtoMajor == 1 { // HTTP/2 resets the stream
		w.leaveBody(r)
	}
}

// leaveBody has the connection closed behind the answer, unless the body is short and there. net/http
// would wait for the rest until the read timeout, before it sends the answer and once more after.
func (w *response) leaveBody(r *http.Request) {
	control := http.NewResponseController(w.ResponseWriter)
	if 0 < r.ContentLength && r.ContentLength <= shortBody && r.Header.Get("Expect") == "" {
		_ = control.SetReadDeadline(time.Now().Add(arriving)) // an error is one of the connection, and ends it below
		_, _ = io.CopyN(io.Discard, &w.body, shortBody)
	}
	deadline := time.Time{} // none, until net/http sets one for the next request
	if !w.body.ended {
		deadline = time.Now().Add(lingering)
		w.Header().Set("Connection", "close")
	}
	_ = control.SetReadDeadline(deadline)
}

// LeaseOf returns the memory of the request that is answered. It is released once the request has
// been answered.
func LeaseOf(w http.ResponseWriter) *httpjson.Lease { return w.(*response).lease }

func (w *response) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write sends bytes of the body, a part at a time. Answers that are shorter than a part have the
// server's deadline. It fails if the caller has left or is too slow.
func (w *response) Write(p []byte) (written int, err error) {
	w.begin(http.StatusOK)
	for {
		n, err := w.writePart(p[written:min(written+part, len(p))])
		written += n
		w.sent += n
		if err != nil {
			w.status = statusLeft
		}
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// writePart moves the deadline of the connection on by what the caller has accepted. Only the time
// counts in which the caller was waited for.
func (w *response) writePart(p []byte) (int, error) {
	if w.sent+len(p) < part || w.api.writeTimeout == 0 {
		return w.ResponseWriter.Write(p)
	}
	began := time.Now()
	earned := time.Duration(w.sent) * time.Second / leastRate
	deadline := began.Add(min(w.api.writeTimeout+earned, longestAnswer) - w.waited)
	err := http.NewResponseController(w.ResponseWriter).SetWriteDeadline(deadline)
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := w.ResponseWriter.Write(p)
	w.waited += time.Since(began)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// rescue answers a panic: with 500 if nothing was sent yet, and otherwise by closing the
// connection, so that nobody takes half an answer for a whole one.
func (w *response) rescue() {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		w.status = statusLeft
		panic(http.ErrAbortHandler)
	}
	w.api.Logger.Error("panic", "log", w.log.name, "panic", p, "stack", string(debug.Stack()))
	if w.status != 0 {
		w.status = http.StatusInternalServerError
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, problemInternal())
}

// A handler answers a request, or returns an error that does.
type handler func(http.ResponseWriter, *http.Request) error

// handle makes a handler of net/http of one that may fail.
func (a *API) handle(f handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// writeJSON sends a whole JSON document.
func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	return writeBody(w, status, body)
}

// writeFresh sends a JSON document that must not be cached, since it may have a seed or change.
func writeFresh(w http.ResponseWriter, text []byte) error {
	w.Header().Set("Cache-Control", "no-store")
	return writeJSON(w, http.StatusOK, text)
}

// shortAnswer is how long an answer is not charged for: most of it fits into the buffers of the
// connection, and an answer that says what was done must not fail.
const shortAnswer = 32 << 10

// writeBody sends a whole body, which is charged for while the caller takes it. It panics with
// http.ErrAbortHandler if the caller has left.
func writeBody(w http.ResponseWriter, status int, body []byte) error {
	if len(body) > shortAnswer {
		if err := LeaseOf(w).Grow(int64(len(body))); err != nil {
			return err
		}
	}
	sendBody(w, status, body)
	return nil
}

// sendBody is writeBody for a body that needs no charge.
func sendBody(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}
