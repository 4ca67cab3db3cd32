// Package deckofcards serves shoes under the API of deckofcardsapi.com, so that its clients work
// when only their base URL changes.
//
// Paths, parameters, fields in their order, error texts and statuses are those of that service;
// docs/deckofcardsapi.md lists them, and every known difference. A deck is a shoe: its deck_id is
// the secret id of the shoe, what is done to it is a record, and the additional field audit_id of
// each answer names that record.
//
// A handler reads a [request], acts through [API.update] and returns an answer.
package deckofcards

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"riffle/internal/budget"
	"riffle/internal/deck"
	"riffle/internal/liveshoes"
	"riffle/internal/quota"
)

// lifetime is the time to live of a deck after its last change.
const lifetime = 14 * 24 * time.Hour

// Options of an API. All are needed but Reject.
type Options struct {
	Log    func(w http.ResponseWriter) Log              // returns the log of the request that w answers
	Cache  func(w http.ResponseWriter, lifetime string) // says who may cache an answer
	Logger *slog.Logger
	Budget *budget.Budget                         // the memory of all requests in flight
	Reject func(w http.ResponseWriter, err error) // called for every request that is answered 503
}

// A Log is where the decks of a request are.
type Log struct {
	Shoes  *liveshoes.Service
	Decks  *deck.Catalogue // whose pictures are served
	Prefix string          // of its paths; empty for the default log
	Caller string          // the name of the request's key; empty for none
}

// An API answers requests. Its routes are mounted by [API.Routes].
type API struct{ Options }

// New returns the API.
func New(o Options) *API { return &API{o} }

// Pictures mounts the pictures of the cards on a router.
func (a *API) Pictures(r chi.Router) {
	r.Handle("/static/img/{file}", http.HandlerFunc(a.picture))
}

// Routes mounts the decks on a router: everything under /api/. Each path is served
// with and without a slash at its end, since a redirect would lose the body of a POST.
func (a *API) Routes(r chi.Router) {
	either := func(pattern string, h handler) {
		serve := a.handle(h)
		r.Handle(pattern, serve)
		r.Handle(pattern+"/", serve)
	}
	changes := func(pattern string, f func(*request) (*answer, error)) { either(pattern, handler{f, true}) }
	reads := func(pattern string, f func(*request) (*answer, error)) { either(pattern, handler{f, false}) }

	changes("/api/new", a.newDeck)
	changes("/api/shuffle", a.newShuffled)
	changes("/api/shuffle/{deck_id}", a.shuffle)
	changes("/api/draw/{deck_id}", a.draw)

	changes("/api/deck/new", a.newDeck)
	changes("/api/deck/new/shuffle", a.newShuffled)
	changes("/api/deck/new/draw", a.newDraw)
	reads("/api/deck/{deck_id}", a.info)
	changes("/api/deck/{deck_id}/shuffle", a.shuffle)
	changes("/api/deck/{deck_id}/draw", a.draw)
	changes("/api/deck/{deck_id}/draw/{location}", a.draw)
	changes("/api/deck/{deck_id}/return", a.returnToDeck)
	changes("/api/deck/{deck_id}/pile/{pile}/add", a.addToPile)
	reads("/api/deck/{deck_id}/pile/{pile}/list", a.listPile)
	changes("/api/deck/{deck_id}/pile/{pile}/shuffle", a.shufflePile)
	changes("/api/deck/{deck_id}/pile/{pile}/draw", a.drawFromPile)
	changes("/api/deck/{deck_id}/pile/{pile}/draw/{location}", a.drawFromPile)
	changes("/api/deck/{deck_id}/pile/{pile}/return", a.returnPile)

	r.Handle("/api/*", a.handle(handler{nowhere, false}))
}

// nowhere answers unknown paths.
func nowhere(*request) (*answer, error) {
	return nil, refuse(http.StatusNotFound, "There is nothing at this path. A deck begins at /api/deck/new/shuffle/.")
}

// handler is a function that answers requests, and whether it changes decks, which HEAD must not.
type handler struct {
	answer  func(*request) (*answer, error)
	changes bool
}

// handle returns the http.Handler of a handler.
func (a *API) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowAll(w)
		switch {
		case r.Method == http.MethodOptions:
			preflight(w)
			return
		case r.Method == http.MethodHead && h.changes:
			w.Header().Set("Allow", "GET, POST, PUT, PATCH, DELETE, OPTIONS")
			a.fail(w, r, refuse(http.StatusMethodNotAllowed, "HEAD does not change a deck. Use GET or POST."))
			return
		}
		lease := a.Budget.Lease(quota.Peer(r.RemoteAddr))
		defer lease.Release()
		q, err := a.read(w, r, lease)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		found, err := h.answer(q)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		text := found.append(make([]byte, 0, 512))
		if !h.changes { // what a change answers was charged before
			if err := lease.Grow(int64(len(text))); err != nil {
				a.fail(w, r, err)
				return
			}
		}
		write(w, http.StatusOK, text)
	})
}

// allowAll lets pages of any origin read the answer.
func allowAll(w http.ResponseWriter) { w.Header().Set("Access-Control-Allow-Origin", "*") }

// preflight answers a CORS preflight request.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Headers", "accept, authorization, content-type, idempotency-key, user-agent, x-csrftoken, x-requested-with")
	h.Set("Access-Control-Allow-Methods", "DELETE, GET, OPTIONS, PATCH, POST, PUT")
	h.Set("Access-Control-Max-Age", "86400")
	h.Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK)
}
