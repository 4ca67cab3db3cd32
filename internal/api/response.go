package api

import (
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
)

// A response records the status that was sent.
type response struct {
	http.ResponseWriter
	api    *API
	status int
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
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
		panic(http.ErrAbortHandler)
	}
	w.api.Logger.Error("panic", "panic", p, "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, problemInternal())
}

// handle makes a handler of a function that may fail.
func (a *API) handle(f func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
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

// writeBody sends a whole body. It panics with http.ErrAbortHandler if the caller has left.
func writeBody(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}
