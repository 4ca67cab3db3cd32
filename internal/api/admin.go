package api

import (
	"net/http"
	"net/http/pprof"

	"github.com/go-chi/chi/v5"
)

// AdminHandler returns the handler for operators: metrics, profiles and health checks, without keys. It
// accepts the same Host names as the API.
func (a *API) AdminHandler() http.Handler {
	r := chi.NewRouter()
	r.Use(a.observe)
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
	return r
}

func noAdminPath(*exchange) error {
	return notFound("There is nothing at this path. The admin address has /metrics, /healthz, /readyz and /debug/pprof/.")
}
