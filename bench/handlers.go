package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"riffle/bench/service"
)

// The handlers that the service is compared with.
const (
	echoHandler  = "echo"  // responds with the request body: the ceiling for any chi service
	usualHandler = "usual" // encoding/json and math/rand/v2, without a record
	fixedHandler = "fixed" // always responds with the same body
)

// handleCommand is run by [startHandler], in a process of its own.
type handleCommand struct {
	Name string `arg:"" enum:"echo,usual,fixed" help:"The handler: echo, usual or fixed."`
	Addr string `required:"" help:"The address to listen on."`
}

// Run serves the handler until the context is done.
func (cmd *handleCommand) Run(ctx context.Context) error {
	server := &http.Server{Addr: cmd.Addr, Handler: newHandler(cmd.Name), ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// startHandler starts this program as the server of a handler.
func startHandler(env *service.Env, name string) (*service.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return env.Start(self, "handle", name)
}

func newHandler(name string) http.Handler {
	r := chi.NewRouter()
	r.Get("/readyz", func(http.ResponseWriter, *http.Request) {})
	switch name {
	case echoHandler:
		r.Post("/shuffle", echo)
	case usualHandler:
		r.Post("/shuffle", usual)
	case fixedHandler:
		r.Get("/decks/standard52", fixed)
	default:
		panic(fmt.Sprintf("no handler %q", name))
	}
	return r
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

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

// fixedBody is about as long as a shuffled deck with its audit id and its seed.
var fixedBody = []byte(`{"fixed":"` + strings.Repeat("0", 500-len(`{"fixed":""}`)) + `"}`)

func fixed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(fixedBody)
}
