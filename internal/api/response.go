package api

import (
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
)

// A response remembers the status that was sent.
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

// rescue answers a panic: 500 if nothing has been sent, and otherwise a connection that ends in the middle of the
// answer, so that nobody takes what was sent for the whole.
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

// Header values that every answer shares; Header.Set would make each of them anew.
var (
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	typeJSON = []string{"application/json"}
)

// writeJSON sends a whole JSON document.
func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	w.Header()["Content-Type"] = typeJSON
	return writeBody(w, status, body)
}

// short is how long an answer may be that net/http says the length of by itself.
const short = 2048

func writeBody(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	if len(body) > short {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	h["X-Content-Type-Options"] = noSniff
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler) // the caller is gone
	}
	return nil
}
