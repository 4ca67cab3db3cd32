package api

import (
	"errors"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/go-chi/chi/v5"

	"riffle/internal/httperror"
	"riffle/internal/ledger"
)

var errDraining = errors.New("the service is stopping")

// Drain makes /readyz fail, so that load balancers send no new traffic. Requests are still
// answered, each as the last of its connection. It reports whether a load balancer that asks every
// period has asked for /readyz.
func (a *API) Drain(period time.Duration) (asked bool) {
	a.draining.Store(true)
	return time.Since(a.asked.Load()[0]) < 2*period
}

func (a *API) noteAsked() { a.asked.Store(&[2]time.Time{a.asked.Load()[1], time.Now()}) }

// ready returns nil if the log would answer a shuffle in good time now.
func (l *Log) ready() error {
	if l.api.draining.Load() {
		return errDraining
	}
	if l.api.Reachable != nil {
		if err := l.api.Reachable(); err != nil {
			return err
		}
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
func (a *API) healthz(x *exchange) error {
	if x.log != a.main || !a.reopens() {
		open, err := x.log.acquire()
		if err != nil {
			return err
		}
		defer open.release()
		if err := open.Log.Err(); err != nil {
			return err
		}
	}
	return x.sendStatus("alive")
}

// readyz says whether a log should get traffic. At the root it answers 200 if any log is ready. It is
// public, so it names neither logs nor stores.
func (a *API) readyz(x *exchange) error {
	a.noteAsked()
	logs := []*Log{x.log}
	if x.log == a.main {
		logs = a.all
	}
	var err error
	for _, l := range logs {
		if err = l.ready(); err == nil {
			return x.sendStatus("ready")
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
	return newProblem(http.StatusServiceUnavailable, "Not ready: %s.", err).retry(1)
}

// A logStatus is a log in the admin server's /readyz.
type logStatus struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ready, busy or closed
}

// readyLogs answers the admin server's /readyz. It lists the logs, if there are several, or says why none
// is ready.
func (a *API) readyLogs(x *exchange) error {
	a.noteAsked()
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
	return x.sendValue(answer)
}

func (x *exchange) sendStatus(status string) error {
	return x.sendFresh([]byte(`{"status":"` + status + "\"}\n"))
}

// AdminHandler returns the handler for operators: metrics, profiles and health checks, without keys. It
// accepts the same Host names as the API.
func (a *API) AdminHandler() http.Handler {
	r := chi.NewRouter()
	r.Use(a.observe)
	r.NotFound(a.handle(func(*exchange) error {
		return notFound("There is nothing at this path. The admin address has /metrics, /healthz, /readyz and /debug/pprof/.")
	}))
	r.MethodNotAllowed(a.handle(a.methodNotAllowed))
	for pattern, handler := range map[string]http.HandlerFunc{
		"/metrics":             a.handle(a.metrics),
		"/healthz":             a.handle(a.healthz),
		"/readyz":              a.handle(a.readyLogs),
		"/debug/pprof/*":       pprof.Index,
		"/debug/pprof/cmdline": pprof.Cmdline,
		"/debug/pprof/profile": pprof.Profile,
		"/debug/pprof/symbol":  pprof.Symbol,
		"/debug/pprof/trace":   pprof.Trace,
	} {
		r.Get(pattern, handler)
		r.Head(pattern, handler)
	}
	return r
}
