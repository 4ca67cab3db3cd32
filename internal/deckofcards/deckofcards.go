// Package deckofcards is a shoe as deckofcardsapi.com has it, so that its clients work when only their base URL changes.
//
// Paths, parameters, fields with their order, error texts and statuses are those of that service; docs/deckofcardsapi.md lists
// them, and where this one differs and why. What is behind them is the same dealer as for /shoes: a deck is a sealed shoe, its
// deck_id the id of the shoe, and what is done to it a record, which the one additional field of each answer, audit_id, leads to.
//
// A handler reads its parameters, acts through [API.act] and encodes. What is not the caller's doing to know, above all that
// somebody else changed the deck in between, is settled there by trying again.
package deckofcards

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"riffle/internal/dealer"
	"riffle/internal/deck"
)

// lifetime is how long a deck is kept after its last change.
const lifetime = 14 * 24 * time.Hour

// Options of an API. All are needed.
type Options struct {
	Dealer *dealer.Dealer
	Decks  *deck.Catalogue // which the pictures are drawn from
	Logger *slog.Logger
}

// An API answers requests.
type API struct {
	Options
	router *chi.Mux
}

// New returns the API with a router of its own.
func New(o Options) *API {
	a := &API{Options: o, router: chi.NewRouter()}
	a.Routes(a.router)
	return a
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.router.ServeHTTP(w, r) }

// Routes registers what the API answers: everything under /api/ and /static/img/. Each path is there with the slash at its end
// and without, for a redirect would lose the body of a POST.
func (a *API) Routes(r chi.Router) {
	either := func(pattern string, h handler) {
		serve := a.handle(h)
		r.Handle(pattern, serve)
		r.Handle(pattern+"/", serve)
	}
	changes := func(pattern string, f func(*query) (*answer, error)) { either(pattern, handler{f, true}) }
	reads := func(pattern string, f func(*query) (*answer, error)) { either(pattern, handler{f, false}) }

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
	changes("/api/deck/{deck_id}/return", a.giveBack)
	changes("/api/deck/{deck_id}/pile/{pile}/add", a.addToPile)
	reads("/api/deck/{deck_id}/pile/{pile}/list", a.listPile)
	changes("/api/deck/{deck_id}/pile/{pile}/shuffle", a.shufflePile)
	changes("/api/deck/{deck_id}/pile/{pile}/draw", a.drawFromPile)
	changes("/api/deck/{deck_id}/pile/{pile}/draw/{location}", a.drawFromPile)
	changes("/api/deck/{deck_id}/pile/{pile}/return", a.returnPile)

	r.Handle("/api/*", a.handle(handler{nowhere, false}))
	r.Handle("/static/img/{file}", http.HandlerFunc(a.picture))
}

// nowhere answers for paths that there are not.
func nowhere(*query) (*answer, error) {
	return nil, refuse(http.StatusNotFound, "There is nothing at this path. A deck begins at /api/deck/new/shuffle/.")
}

// A handler is a function that answers, and whether it changes something, which HEAD must not.
type handler struct {
	answer  func(*query) (*answer, error)
	changes bool
}

// handle makes an http.Handler of it.
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
		q, end, err := a.read(w, r)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		defer end()
		found, err := h.answer(q)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		write(w, http.StatusOK, found)
	})
}

// allowAll lets pages of every origin read the answer.
func allowAll(w http.ResponseWriter) { w.Header().Set("Access-Control-Allow-Origin", "*") }

// preflight answers a browser that asks what it may send.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Headers", "accept, authorization, content-type, idempotency-key, user-agent, x-csrftoken, x-requested-with")
	h.Set("Access-Control-Allow-Methods", "DELETE, GET, OPTIONS, PATCH, POST, PUT")
	h.Set("Access-Control-Max-Age", "86400")
	h.Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK)
}
