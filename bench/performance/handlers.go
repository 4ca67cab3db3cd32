package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

// The handlers that the service is compared with, by the names of -serve.
const (
	echoHandler  = "echo"
	usualHandler = "usual"
	fixedHandler = "fixed"
)

// fixedBody is about as long as a shuffled deck with its audit id and its seed.
var fixedBody = []byte(`{"fixed":"` + strings.Repeat("0", 500-len(`{"fixed":""}`)) + `"}`)

// newHandler returns the handler of a name, at the paths that the service answers.
func newHandler(name string) (http.Handler, error) {
	r := chi.NewRouter()
	switch name {
	case echoHandler:
		r.Post("/shuffle", echo)
	case usualHandler:
		r.Post("/shuffle", usual)
	case fixedHandler:
		r.Get("/decks/standard52", fixed)
	default:
		return nil, fmt.Errorf("-serve: there is no handler %q", name)
	}
	return r, nil
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// usual shuffles as one does who needs no proof: nothing is written down, and nobody can check it.
func usual(w http.ResponseWriter, r *http.Request) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rand.Shuffle(len(list.Items), func(i, j int) { list.Items[i], list.Items[j] = list.Items[j], list.Items[i] })
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(&list)
}

// fixed answers with a body that is always the same.
func fixed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(fixedBody)
}

// serveHandler serves one of the handlers until the context ends.
func serveHandler(ctx context.Context, name, addr string) error {
	handler, err := newHandler(name)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: addr, Handler: handler, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
