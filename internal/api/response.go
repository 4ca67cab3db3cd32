package api

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/google/uuid"

	"riffle/internal/access"
	"riffle/internal/budget"
	"riffle/internal/httpserver"
	"riffle/internal/journal"
)

// A response records what its request did: for metrics, limits and the access log.
type response struct {
	httpserver.Response
	log     *Log          // of the request
	open    *logAPI       // set for the routes of More; nil for pages
	peer    netip.Addr    // of the request
	caller  access.Caller // zero before it is identified
	public  bool          // the answer is readable without a token
	records int           // committed by the request
	auditID uuid.UUID     // of the last of them, or of the replayed record
	dropped bool          // the connection was closed to make room
}

// committing returns the context for calls that may commit records, which w counts.
func committing(w http.ResponseWriter, r *http.Request) context.Context {
	return journal.Observed(r.Context(), w.(*response))
}

// Committed implements [journal.Observer]. It charges the caller, whether or not an answer follows.
func (w *response) Committed(id uuid.UUID) {
	w.records++
	w.auditID = id
	w.caller.Charge(time.Now(), 1, 0)
}

// Replayed implements [journal.Observer]. A retry commits nothing, so it charges nothing.
func (w *response) Replayed(id uuid.UUID) { w.auditID = id }

// rescue turns a panic into a 500 if nothing was sent yet. Otherwise it closes the connection, so that
// no client takes half an answer for a whole one.
func (a *API) rescue(w *response) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		w.Status = httpserver.StatusLeft
		panic(http.ErrAbortHandler)
	}
	a.Logger.Error("panic", "log", w.log.name, "panic", p, "stack", string(debug.Stack()))
	if w.Status != 0 {
		w.Status = http.StatusInternalServerError
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, problemInternal())
}

// A handler answers a request, or returns an error that [API.fail] answers. It charges the lease for
// the memory that it needs.
type handler func(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error

// handle adapts a handler to net/http.
func (a *API) handle(f handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		lease := a.Budget.Lease(w.(*response).peer)
		defer lease.Release()
		if err := f(w, r, lease); err != nil {
			a.fail(w, r, err)
		}
	}
}

// Values of header fields, shared by all answers: Header.Set would allocate each again.
var (
	typeJSON = []string{"application/json"}
	noStore  = []string{"no-store"}
	nosniff  = []string{"nosniff"}
)

// writeJSON sends a JSON document.
func writeJSON(w http.ResponseWriter, lease *budget.Lease, body []byte) error {
	w.Header()["Content-Type"] = typeJSON
	return writeBody(w, lease, body)
}

// writeFresh sends a JSON document that must not be cached, since it may have a seed or change.
func writeFresh(w http.ResponseWriter, lease *budget.Lease, body []byte) error {
	w.Header()["Cache-Control"] = noStore
	return writeJSON(w, lease, body)
}

// shortAnswer is the length of the longest answer that is not charged: the connection's buffers hold
// most of it, and a change's answer must not fail.
const shortAnswer = 32 << 10

// writeBody charges the lease for a long body and sends it. It panics with http.ErrAbortHandler if the
// client has left.
func writeBody(w http.ResponseWriter, lease *budget.Lease, body []byte) error {
	if len(body) > shortAnswer {
		if err := lease.Grow(int64(len(body))); err != nil {
			return err
		}
	}
	sendBody(w, http.StatusOK, body)
	return nil
}

// sendBody is writeBody without the charge.
func sendBody(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h["X-Content-Type-Options"] = nosniff
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}
