package api

import (
	"errors"
	"net/http"
	"sync/atomic"
)

// A gate says whether the service asks for traffic.
type gate struct{ draining atomic.Bool }

var errDraining = errors.New("the service is stopping")

// Drain makes the service say that it is not ready, so that no new traffic is sent to it. Requests
// are answered still.
func (a *API) Drain() { a.gate.draining.Store(true) }

// ready returns nil if a shuffle that is asked for now would be answered in good time.
func (a *API) ready() error {
	if a.gate.draining.Load() {
		return errDraining
	}
	return a.main.health()
}

// health returns nil if the log is open and healthy, and otherwise why not.
func (l *Log) health() error {
	open, err := l.acquire()
	if err != nil {
		return err
	}
	defer open.release()
	return open.Log.Health()
}

func (a *API) healthz(w http.ResponseWriter, _ *http.Request) error {
	open, err := w.(*response).log.acquire()
	if err != nil {
		return err
	}
	defer open.release()
	if err := open.Log.Err(); err != nil {
		return err
	}
	return writeStatus(w, "alive")
}

func (a *API) readyz(w http.ResponseWriter, _ *http.Request) error {
	if err := a.ready(); err != nil {
		return problemBusy(sentence("not ready: " + err.Error()))
	}
	return writeStatus(w, "ready")
}

func writeStatus(w http.ResponseWriter, status string) error {
	return writeFresh(w, []byte(`{"status":"`+status+"\"}\n"))
}

func (a *API) contract(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	return writeBody(w, http.StatusOK, a.Contract)
}
