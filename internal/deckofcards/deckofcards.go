// Package deckofcards serves shoes under the API of deckofcardsapi.com, so that its clients only
// have to change their base URL.
//
// Paths, parameters, field order, error texts and statuses follow that service;
// docs/deckofcardsapi.md lists them and every known difference. A deck is a shoe: its deck_id is
// the shoe's secret id, each change is a record, and the additional field audit_id names the
// record.
//
// A handler reads a [request], acts through its update and returns an answer.
package deckofcards

import (
	"log/slog"
	"net/http"
	"time"

	"riffle/internal/budget"
	"riffle/internal/quota"
	"riffle/internal/services"
)

// lifetime is a deck's time to live after its last change.
const lifetime = 14 * 24 * time.Hour

// An API handles requests for [API.Routes] and [API.Pictures].
type API struct {
	Logger *slog.Logger
	Budget *budget.Budget // the memory of all requests in flight
}

// A Handler answers a request about a log, or returns an error for [API.Fail].
type Handler = func(w http.ResponseWriter, r *http.Request, log services.Call) error

// Pictures returns the route of the card pictures.
func (a *API) Pictures() map[string]Handler {
	return map[string]Handler{picturePath + "{file}": cors(servePicture)}
}

// Routes returns everything under /api/, with and without a trailing slash: a redirect would lose
// the body of a POST.
func (a *API) Routes() map[string]Handler {
	routes := map[string]Handler{"/api/*": a.handle(handler{func(*request) (*answer, error) {
		return nil, refuse(http.StatusNotFound, "There is nothing at this path. A deck begins at /api/deck/new/shuffle/.")
	}, false})}
	for pattern, h := range map[string]handler{
		"/api/new":                                        {(*request).newDeck, true},
		"/api/shuffle":                                    {(*request).newShuffled, true},
		"/api/shuffle/{deck_id}":                          {(*request).shuffle, true},
		"/api/draw/{deck_id}":                             {(*request).draw, true},
		"/api/deck/new":                                   {(*request).newDeck, true},
		"/api/deck/new/shuffle":                           {(*request).newShuffled, true},
		"/api/deck/new/draw":                              {(*request).newDraw, true},
		"/api/deck/{deck_id}":                             {(*request).info, false},
		"/api/deck/{deck_id}/shuffle":                     {(*request).shuffle, true},
		"/api/deck/{deck_id}/draw":                        {(*request).draw, true},
		"/api/deck/{deck_id}/draw/{location}":             {(*request).draw, true},
		"/api/deck/{deck_id}/return":                      {(*request).returnToDeck, true},
		"/api/deck/{deck_id}/pile/{pile}/add":             {(*request).addToPile, true},
		"/api/deck/{deck_id}/pile/{pile}/list":            {(*request).listPile, false},
		"/api/deck/{deck_id}/pile/{pile}/shuffle":         {(*request).shufflePile, true},
		"/api/deck/{deck_id}/pile/{pile}/draw":            {(*request).drawFromPile, true},
		"/api/deck/{deck_id}/pile/{pile}/draw/{location}": {(*request).drawFromPile, true},
		"/api/deck/{deck_id}/pile/{pile}/return":          {(*request).returnPile, true},
	} {
		routes[pattern] = a.handle(h)
		routes[pattern+"/"] = routes[pattern]
	}
	return routes
}

// handler answers requests. HEAD is rejected if it changes decks.
type handler struct {
	answer  func(*request) (*answer, error)
	changes bool
}

// handle adapts a handler to HTTP. A request and its answer have memory of the budget.
func (a *API) handle(h handler) Handler {
	return cors(func(w http.ResponseWriter, r *http.Request, log services.Call) error {
		if r.Method == http.MethodHead && h.changes {
			w.Header().Set("Allow", "GET, POST, PUT, PATCH, DELETE, OPTIONS")
			return refuse(http.StatusMethodNotAllowed, "HEAD does not change a deck. Use GET or POST.")
		}
		lease := a.Budget.Lease(quota.Peer(r.RemoteAddr))
		defer lease.Release()
		q, err := read(w, r, log, lease)
		if err != nil {
			return err
		}
		found, err := h.answer(q)
		if err != nil {
			return err
		}
		text := found.text()
		if !h.changes { // a change reserved memory for its answer before
			err = lease.Grow(int64(len(text)))
		}
		if err == nil {
			write(w, http.StatusOK, text)
		}
		return err
	})
}

// cors lets pages of any origin read the responses of a handler, and answers preflight requests.
func cors(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, log services.Call) error {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		if r.Method != http.MethodOptions {
			return next(w, r, log)
		}
		h.Set("Access-Control-Allow-Headers", "accept, authorization, content-type, idempotency-key, user-agent, x-csrftoken, x-requested-with")
		h.Set("Access-Control-Allow-Methods", "DELETE, GET, OPTIONS, PATCH, POST, PUT")
		h.Set("Access-Control-Max-Age", "86400")
		h.Set("Content-Length", "0")
		w.WriteHeader(http.StatusOK)
		return nil
	}
}
