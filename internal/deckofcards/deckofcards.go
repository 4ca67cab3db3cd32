// Package deckofcards serves shoes under the API of deckofcardsapi.com, so that its clients only
// have to change their base URL.
//
// Paths, parameters, field order, error texts and statuses follow that service;
// docs/deckofcardsapi.md lists them and every known difference. A deck is a shoe: its deck_id is
// the shoe's secret id, each change is a record, and the additional field audit_id names the
// record.
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

// lifetime is a deck's time to live after its last change.
const lifetime = 14 * 24 * time.Hour

// Options of an API. All are needed but Again and Reject.
type Options struct {
	Log    func(w http.ResponseWriter) Log              // returns the log of the request that w answers
	Cache  func(w http.ResponseWriter, lifetime string) // says who may cache an answer
	Logger *slog.Logger
	Budget *budget.Budget // the memory of all requests in flight
	// Again reports whether the request will be handled again after the error, so that it is not answered.
	Again  func(w http.ResponseWriter, err error) bool
	Reject func(w http.ResponseWriter, err error) // called for every request that is answered 503
}

// A Log holds the decks of a request.
type Log struct {
	Shoes  *liveshoes.Service
	Decks  *deck.Catalogue // for pictures
	Prefix string          // of the log's paths; empty for the default log
	Caller string          // name of the request's key; empty for none
}

// An API handles requests. [API.Routes] mounts its routes.
type API struct{ Options }

// New returns the API.
func New(o Options) *API { return &API{o} }

// Pictures mounts the card pictures on a router.
func (a *API) Pictures(r chi.Router) { r.Handle("/static/img/{file}", cors(a.picture)) }

// Routes mounts everything under /api/ on a router, with and without a trailing slash: a redirect
// would lose the body of a POST.
func (a *API) Routes(r chi.Router) {
	for pattern, h := range map[string]handler{
		"/api/new":                                        {a.newDeck, true},
		"/api/shuffle":                                    {a.newShuffled, true},
		"/api/shuffle/{deck_id}":                          {a.shuffle, true},
		"/api/draw/{deck_id}":                             {a.draw, true},
		"/api/deck/new":                                   {a.newDeck, true},
		"/api/deck/new/shuffle":                           {a.newShuffled, true},
		"/api/deck/new/draw":                              {a.newDraw, true},
		"/api/deck/{deck_id}":                             {a.info, false},
		"/api/deck/{deck_id}/shuffle":                     {a.shuffle, true},
		"/api/deck/{deck_id}/draw":                        {a.draw, true},
		"/api/deck/{deck_id}/draw/{location}":             {a.draw, true},
		"/api/deck/{deck_id}/return":                      {a.returnToDeck, true},
		"/api/deck/{deck_id}/pile/{pile}/add":             {onPile(a.addToPile), true},
		"/api/deck/{deck_id}/pile/{pile}/list":            {onPile(a.listPile), false},
		"/api/deck/{deck_id}/pile/{pile}/shuffle":         {onPile(a.shufflePile), true},
		"/api/deck/{deck_id}/pile/{pile}/draw":            {onPile(a.drawFromPile), true},
		"/api/deck/{deck_id}/pile/{pile}/draw/{location}": {onPile(a.drawFromPile), true},
		"/api/deck/{deck_id}/pile/{pile}/return":          {onPile(a.returnPile), true},
	} {
		serve := a.handle(h)
		r.Handle(pattern, serve)
		r.Handle(pattern+"/", serve)
	}
	r.Handle("/api/*", a.handle(handler{nowhere, false}))
}

// nowhere rejects unknown paths.
func nowhere(*request) (*answer, error) {
	return nil, refuse(http.StatusNotFound, "There is nothing at this path. A deck begins at /api/deck/new/shuffle/.")
}

// handler answers requests. HEAD is rejected if it changes decks.
type handler struct {
	answer  func(*request) (*answer, error)
	changes bool
}

// handle adapts a handler to net/http.
func (a *API) handle(h handler) http.Handler {
	return cors(func(w http.ResponseWriter, r *http.Request) {
		lease := a.Budget.Lease(quota.Peer(r.RemoteAddr))
		defer lease.Release()
		text, err := a.answer(w, r, h, lease)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		write(w, http.StatusOK, text)
	})
}

// answer returns the answer to a request. It charges the lease for both.
func (a *API) answer(w http.ResponseWriter, r *http.Request, h handler, lease *budget.Lease) ([]byte, error) {
	if r.Method == http.MethodHead && h.changes {
		w.Header().Set("Allow", "GET, POST, PUT, PATCH, DELETE, OPTIONS")
		return nil, refuse(http.StatusMethodNotAllowed, "HEAD does not change a deck. Use GET or POST.")
	}
	q, err := a.read(w, r, lease)
	if err != nil {
		return nil, err
	}
	found, err := h.answer(q)
	if err != nil {
		return nil, err
	}
	text := found.text()
	if !h.changes { // a change reserved memory for its answer before
		err = lease.Grow(int64(len(text)))
	}
	return text, err
}

// cors lets pages of any origin read the responses of a handler, and answers preflight requests.
func cors(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		if r.Method != http.MethodOptions {
			next(w, r)
			return
		}
		h.Set("Access-Control-Allow-Headers", "accept, authorization, content-type, idempotency-key, user-agent, x-csrftoken, x-requested-with")
		h.Set("Access-Control-Allow-Methods", "DELETE, GET, OPTIONS, PATCH, POST, PUT")
		h.Set("Access-Control-Max-Age", "86400")
		h.Set("Content-Length", "0")
		w.WriteHeader(http.StatusOK)
	})
}
