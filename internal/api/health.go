package api

import (
	"errors"
	"net/http"
	"sync/atomic"

	"riffle/internal/budget"
	"riffle/internal/httperror"
	"riffle/internal/ledger"
)

// A gate says whether the service asks for traffic.
type gate struct{ draining atomic.Bool }

var errDraining = errors.New("the service is stopping")

// Drain makes the service say that it is not ready, so that no new traffic is sent to it. Requests
// are answered still.
func (a *API) Drain() { a.gate.draining.Store(true) }

// ready returns nil if a shuffle in the log that is asked for now would be answered in good time.
func (l *Log) ready() error {
	if l.api.gate.draining.Load() {
		return errDraining
	}
	open, err := l.acquire()
	if err != nil {
		return err
	}
	defer open.release()
	return open.Log.Health()
}

// healthz says whether the process should live on. Where logs that fail are opened again it should,
// and under the prefix of a log it says whether that is open.
func (a *API) healthz(w http.ResponseWriter, _ *http.Request, lease *budget.Lease) error {
	log := w.(*response).log
	if log == a.main && a.reopens() {
		return writeStatus(w, lease, "alive")
	}
	open, err := log.acquire()
	if err != nil {
		return err
	}
	defer open.release()
	if err := open.Log.Err(); err != nil {
		return err
	}
	return writeStatus(w, lease, "alive")
}

// readyz says whether a log should get traffic. That of the main log is for all of them: it answers
// 200 if one is ready. Everybody may ask, so it names no log, and nothing of a store.
func (a *API) readyz(w http.ResponseWriter, _ *http.Request, lease *budget.Lease) error {
	log := w.(*response).log
	logs := []*Log{log}
	if log == a.main {
		logs = a.all
	}
	var err error
	for _, l := range logs {
		if err = l.ready(); err == nil {
			return writeStatus(w, lease, "ready")
		}
	}
	for _, known := range []error{errDraining, ledger.ErrClosed, ledger.ErrBusy, ledger.ErrNoSpace, httperror.ErrLogClosed} {
		if errors.Is(err, known) {
			return problemNotReady(known)
		}
	}
	return problemNotReady(errors.New("/readyz at the admin address says why"))
}

func problemNotReady(err error) *problem {
	p := newProblem(http.StatusServiceUnavailable, "Not ready: %s.", err)
	p.retryAfter = 1
	return p
}

// A logStatus is a log as /readyz lists it.
type logStatus struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ready, busy if it is open all the same, or closed
}

// readyLogs answers /readyz at the admin address: it lists the logs, if there are several, and says
// why none is ready.
func (a *API) readyLogs(w http.ResponseWriter, _ *http.Request, lease *budget.Lease) error {
	answer := struct {
		Status string      `json:"status"`
		Logs   []logStatus `json:"logs,omitempty"`
	}{Status: "ready"}
	var errs []error
	for _, l := range a.all {
		status, err := "ready", l.ready()
		switch {
		case errors.Is(err, httperror.ErrLogClosed):
			status = "closed"
		case err != nil:
			status = "busy"
		}
		if err != nil {
			errs = append(errs, err)
		}
		answer.Logs = append(answer.Logs, logStatus{l.name, status})
	}
	if len(errs) == len(a.all) {
		return problemNotReady(errs[0])
	}
	if !a.reopens() {
		answer.Logs = nil
	}
	return fresh(w, lease, answer)
}

func writeStatus(w http.ResponseWriter, lease *budget.Lease, status string) error {
	return writeFresh(w, lease, []byte(`{"status":"`+status+"\"}\n"))
}

func (a *API) contract(w http.ResponseWriter, _ *http.Request, lease *budget.Lease) error {
	w.Header().Set("Content-Type", "application/yaml")
	Cache(w, "max-age=300")
	return writeBody(w, lease, a.Contract)
}
