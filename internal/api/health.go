package api

import (
	"errors"
	"net/http"

	"riffle/internal/budget"
	"riffle/internal/httperror"
	"riffle/internal/ledger"
)

var errDraining = errors.New("the service is stopping")

// Drain makes /readyz fail, so that load balancers send no new traffic. Requests are still answered.
func (a *API) Drain() { a.draining.Store(true) }

// ready returns nil if the log would answer a shuffle in good time now.
func (l *Log) ready() error {
	if l.api.draining.Load() {
		return errDraining
	}
	open, err := l.acquire()
	if err != nil {
		return err
	}
	defer open.release()
	return open.Log.Health()
}

// healthz says whether the process should stay alive. It always should if failed logs are reopened; below
// a log's prefix it says whether that log is open.
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

// readyz says whether a log should get traffic. At the root it answers 200 if any log is ready. It is
// public, so it names neither logs nor stores.
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

// A logStatus is a log in the admin server's /readyz.
type logStatus struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ready, busy or closed
}

// readyLogs answers the admin server's /readyz. It lists the logs, if there are several, or says why none
// is ready.
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
