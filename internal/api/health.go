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
func (a *API) healthz(w http.ResponseWriter, _ *http.Request) error {
	log := w.(*response).log
	if log == a.main && a.reopens() {
		return writeStatus(w, "alive")
	}
	open, err := log.acquire()
	if err != nil {
		return err
	}
	defer open.release()
	if err := open.Log.Err(); err != nil {
		return err
	}
	return writeStatus(w, "alive")
}

// readyz says whether a log should get traffic. That of the main log is for all of them: it answers
// 200 if one is ready, and lists which.
func (a *API) readyz(w http.ResponseWriter, _ *http.Request) error {
	log := w.(*response).log
	if log == a.main && a.reopens() {
		return a.readyLogs(w)
	}
	if err := log.ready(); err != nil {
		return problemBusy(sentence("not ready: " + err.Error()))
	}
	return writeStatus(w, "ready")
}

// A logStatus is a log as /readyz lists it.
type logStatus struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ready, busy if it is open all the same, or closed
}

// readyLogs answers /readyz where there are several logs.
func (a *API) readyLogs(w http.ResponseWriter) error {
	answer := struct {
		Status string      `json:"status"`
		Logs   []logStatus `json:"logs"`
	}{Status: "ready"}
	var errs []error
	for _, l := range a.all {
		status, err := "ready", l.ready()
		switch {
		case errors.Is(err, errLogClosed):
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
		return problemBusy(sentence("not ready: " + errs[0].Error()))
	}
	return fresh(w, answer)
}

func writeStatus(w http.ResponseWriter, status string) error {
	return writeFresh(w, []byte(`{"status":"`+status+"\"}\n"))
}

func (a *API) contract(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	return writeBody(w, http.StatusOK, a.Contract)
}
