package bench

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"
)

// plainHandlers answer the requests that the service is measured with, and record nothing.
var plainHandlers = map[string]http.HandlerFunc{
	"usual": usual,
	"fixed": fixed,
}

// serve serves a plain handler until ctx is done.
func serve(ctx context.Context, name, addr string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/", plainHandlers[name])
	server := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// startHandler runs this program as the server of a plain handler.
func startHandler(e *env, name string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return e.start(name, func(addr string) []string { return []string{self, "serve", name, addr} })
}

// usual shuffles with encoding/json and math/rand/v2, like most Go programs.
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
