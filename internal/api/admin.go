package api

import (
	"net/http"
	"net/http/pprof"

	"github.com/go-chi/chi/v5"
)

// AdminConnections is how many connections the admin server has at a time, in addition to as many
// ExtraConnections.
const AdminConnections = 32

// NewAdminServer returns the server for operators: metrics, profiles and health checks, without
// keys. It asks for the same Host names and has the same timeouts as the server of the API.
func NewAdminServer(a *API, timeouts Timeouts) *http.Server {
	r := chi.NewRouter()
	r.Use(a.observe, a.checkFields, a.checkConnection, a.checkHost)
	r.NotFound(a.handle(noAdminPath))
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
	return newServer(r, newConnections(AdminConnections, a.Metrics), timeouts, a.Logger)
}

func noAdminPath(http.ResponseWriter, *http.Request) error {
	return notFound("There is nothing at this path. The admin address has /metrics, /healthz, /readyz and /debug/pprof/.")
}
