package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"riffle/internal/access"
	"riffle/internal/budget"
	"riffle/internal/httpserver"
	"riffle/internal/journal"
	"riffle/internal/shoe"
)

// An exchange is a request and its response. It records what the request did, for metrics, limits and the
// access log.
type exchange struct {
	httpserver.Response
	r     *http.Request
	lease *budget.Lease // for the handler's memory
	query url.Values    // its parameters, checked by [withQuery]
	id    uuid.UUID     // in the path; Nil for none
	pile  shoe.Place    // in the path; empty for none

	// Of parameters of the query, see [exchange.readParameter].
	witnessed, openings bool
	other               uuid.UUID // in after or sealed_by; Nil for none
	from, limit         uint64

	peer    netip.Addr    // of the request
	caller  access.Caller // zero before it is identified
	public  bool          // the answer is readable without a token
	records int           // committed by the request
	auditID uuid.UUID     // of the last of them, or of the replayed record
	dropped bool          // the connection was closed to make room
}

// committing returns the context for calls that may commit records, which x counts. A commit may wait
// longer for its store than a client may take for its part.
func (x *exchange) committing() context.Context {
	x.LiftDeadlines()
	return journal.Observed(x.r.Context(), x)
}

// Committed implements [journal.Observer]. It charges the caller, whether or not an answer follows.
func (x *exchange) Committed(id uuid.UUID) {
	x.records++
	x.auditID = id
	x.caller.Charge(time.Now(), 1, 0)
}

// Replayed implements [journal.Observer]. A retry commits nothing, so it charges nothing.
func (x *exchange) Replayed(id uuid.UUID) { x.auditID = id }

// rescue turns a panic into a 500 if nothing was sent yet. Otherwise it closes the connection, so that
// no client takes half an answer for a whole one.
func (a *API) rescue(x *exchange) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		x.Status = httpserver.StatusLeft
		panic(http.ErrAbortHandler)
	}
	a.Logger.Error("panic", "panic", p, "stack", string(debug.Stack()))
	if x.Status != 0 {
		x.Status = http.StatusInternalServerError
		panic(http.ErrAbortHandler)
	}
	writeProblem(x, a.problem(x.r, fmt.Errorf("panic: %v", p)))
}

// A handler answers a request, or returns an error that [API.fail] answers. It charges the lease for
// the memory that it needs.
type handler func(a *API, x *exchange) error

// handle adapts a handler to net/http.
func (a *API) handle(f handler) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		x := w.(*exchange)
		x.lease = a.Budget.Lease(x.peer)
		defer x.lease.Release()
		if err := f(a, x); err != nil {
			a.fail(x, err)
		}
	}
}

// Values of header fields, shared by all answers: Header.Set would allocate each again.
var (
	typeJSON    = []string{"application/json"}
	typeText    = []string{"text/plain; charset=utf-8"}
	typeTile    = []string{"application/octet-stream"}
	typePicture = []string{"image/svg+xml"}
	typePNG     = []string{"image/png"}
	typeHTML    = []string{"text/html; charset=utf-8"}
	typeYAML    = []string{"application/yaml"}
	noStore     = []string{"no-store"}
)

// shortAnswer is the length of the longest answer that is not charged: the connection's buffers hold
// most of it, and a change's answer must not fail.
const shortAnswer = 32 << 10

// send charges the lease for a long body and sends it. It panics with http.ErrAbortHandler if the client
// has left.
func (x *exchange) send(media []string, body []byte) error {
	if len(body) > shortAnswer {
		if err := x.lease.Grow(int64(len(body))); err != nil {
			return err
		}
	}
	x.Header()["Content-Type"] = media
	httpserver.Send(x, http.StatusOK, body)
	return nil
}

// sendPage returns the handler of a page.
func sendPage(page http.HandlerFunc) handler {
	return func(_ *API, x *exchange) error {
		page(x, x.r)
		return nil
	}
}

// sendFresh sends a JSON document that must not be cached, since it may have a seed or change.
func (x *exchange) sendFresh(body []byte) error {
	x.Header()["Cache-Control"] = noStore
	return x.send(typeJSON, body)
}

// sendValue is sendFresh for a value. It does not escape HTML, so records keep their bytes.
func (x *exchange) sendValue(v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	return x.sendFresh(text.Bytes())
}

// sendStatic sends a value that changes only with the program or the operator's decks.
func (x *exchange) sendStatic(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	x.cache("max-age=300")
	return x.send(typeJSON, append(text, '\n'))
}
