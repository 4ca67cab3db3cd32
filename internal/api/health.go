package api

import (
	"errors"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/go-chi/chi/v5"

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

// ready returns nil if the service would answer a shuffle in good time now.
func (a *API) ready() error {
	if a.draining.Load() {
		return errDraining
	}
	if a.Reachable != nil {
		if err := a.Reachable(); err != nil {
			return err
		}
	}
	return a.Log.Health()
}

// healthz says whether the process should stay alive.
func (a *API) healthz(x *exchange) error {
	if err := a.Log.Err(); err != nil {
		return err
	}
	return x.sendStatus("alive")
}

// readyz says whether the service should get traffic. It is public, so it does not name the store.
func (a *API) readyz(x *exchange) error {
	a.noteAsked()
	err := a.ready()
	if err == nil {
		return x.sendStatus("ready")
	}
	for _, known := range []error{errDraining, ledger.ErrClosed, ledger.ErrBusy, ledger.ErrNoSpace} {
		if errors.Is(err, known) {
			return problemNotReady(known)
		}
	}
	return problemNotReady(errors.New("/readyz at the admin address says why"))
}

func problemNotReady(err error) *problem {
	return newProblem(http.StatusServiceUnavailable, "Not ready: %s.", err).retry(1)
}

// readyzAdmin answers the admin server's /readyz, and says why the service is not ready.
func (a *API) readyzAdmin(x *exchange) error {
	a.noteAsked()
	if err := a.ready(); err != nil {
		return problemNotReady(err)
	}
	return x.sendStatus("ready")
}

func (x *exchange) sendStatus(status string) error {
	return x.sendFresh([]byte(`{"status":"` + status + "\"}\n"))
}

// AdminHandler returns the handler for operators: metrics, profiles and health checks, without keys. It
// accepts the same Host names as the API.
func (a *API) AdminHandler() http.Handler {
	r := chi.NewRouter()
	r.Use(a.observe)
	r.NotFound(a.handle(func(*API, *exchange) error {
		return notFound("There is nothing at this path. The admin address has /metrics, /healthz, /readyz and /debug/pprof/.")
	}))
	r.MethodNotAllowed(a.handle((*API).methodNotAllowed))
	for pattern, handler := range map[string]http.HandlerFunc{
		"/metrics":             a.handle((*API).metrics),
		"/healthz":             a.handle((*API).healthz),
		"/readyz":              a.handle((*API).readyzAdmin),
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
