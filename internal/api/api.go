// Package api is Riffle over HTTP: routes, parameters, answers, problem documents and metrics, as
// openapi.yaml has them.
//
// A handler decodes, acts through the dealer and encodes; what goes wrong on the way is an error,
// and one function turns errors into problem documents. What that function does not know is the
// service's own fault: 500, and the text stays in the log.
package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"riffle/internal/access"
	"riffle/internal/httpjson"
	"riffle/internal/services"
	"riffle/internal/timeshare"
)

// Options of an API. All are needed but Hosts, ReplayTime and More.
type Options struct {
	*services.Services
	Logger         *slog.Logger
	Metrics        *Metrics
	Gatherer       prometheus.Gatherer // what /metrics shows
	Contract       []byte              // what /openapi.yaml shows
	MaxBody        int64               // the longest body, in bytes
	Budget         *httpjson.Budget    // the memory of all long requests together
	MaxConnections int                 // connections open at a time
	Hosts          access.Hosts        // the names under which it answers until SetHosts; by default local ones alone on loopback
	ReplayTime     time.Duration       // that a replay may take, and a proof of a shoe until it is sent; 2 minutes
	More           []func(chi.Router)  // register routes beyond those of the contract
}

// An API answers requests.
type API struct {
	Options
	router       *chi.Mux
	hosts        atomic.Pointer[access.Hosts]
	gate         gate
	connections  *connections // of [NewServer]; nil if another server serves it
	long         *timeshare.Scheduler
	replayMemory *semaphore.Weighted // bytes
	stopping     context.Context     // done after Stop
	stop         context.CancelFunc
	writeTimeout time.Duration // see [NewServer]; 0 for none
}

// New returns the API, to be served by [NewServer]. It says that it is ready until [API.Drain].
func New(o Options) *API {
	a := &API{Options: o}
	a.ReplayTime = cmp.Or(a.ReplayTime, defaultReplayTime)
	// One processor is left to short requests.
	a.long = timeshare.New(runtime.GOMAXPROCS(0)-1, maxLong)
	a.replayMemory = semaphore.NewWeighted(a.maxReplayMemory())
	a.stopping, a.stop = context.WithCancel(context.Background())
	a.SetHosts(o.Hosts)
	a.router = a.routes()
	return a
}

// SetHosts replaces the names under which the API answers, from the next request on.
func (a *API) SetHosts(hosts access.Hosts) { a.hosts.Store(&hosts) }

func (a *API) routes() *chi.Mux {
	r := chi.NewRouter()
	r.Use(a.measure, a.checkConnection, closeChunked, a.checkHost)
	r.NotFound(a.handle(noSuchPath))
	r.MethodNotAllowed(a.handle(a.methodNotAllowed))
	r.Post("/shuffle", a.handle(a.shuffle))
	r.Get("/decks", a.handle(a.listDecks))
	r.Get("/decks/{type}", a.handle(a.dealDeck))
	r.Get("/decks/{type}/cards", a.handle(a.listCards))
	r.Get("/cards/{type}/{file}", a.handle(a.drawCard))
	r.Post("/commitments", a.handle(a.commit))
	r.Get("/commitments", a.handle(a.listCommitments))
	r.Get("/commitments/{id}", a.handle(a.getCommitment))
	r.Get("/audits", a.handle(a.listAudits))
	r.Get("/audits/{id}", a.handle(a.getAudit))
	r.Get("/audits/{id}/proof", a.handle(a.proveAudit))
	r.Get("/audits/{id}/verify", a.handle(a.verifyAudit))
	r.Post("/audits/{id}/reveal", a.handle(a.reveal))
	r.Post("/shoes", a.handle(a.makeShoe))
	r.Get("/shoes/{id}", a.handle(a.getShoe))
	r.Delete("/shoes/{id}", a.handle(a.endShoe))
	r.Post("/shoes/{id}/draw", a.handle(a.drawFromShoe))
	r.Post("/shoes/{id}/return", a.handle(a.returnToShoe))
	r.Post("/shoes/{id}/reshuffle", a.handle(a.reshuffleShoe))
	r.Post("/shoes/{id}/close", a.handle(a.closeShoe))
	r.Get("/shoes/{id}/dealt", a.handle(a.listDealt))
	r.Get("/shoes/{id}/piles", a.handle(a.listPiles))
	r.Get("/shoes/{id}/piles/{pile}", a.handle(a.listPile))
	r.Post("/shoes/{id}/piles/{pile}/add", a.handle(a.addToPile))
	r.Post("/shoes/{id}/piles/{pile}/draw", a.handle(a.drawFromPile))
	r.Post("/shoes/{id}/piles/{pile}/shuffle", a.handle(a.shufflePile))
	r.Post("/shoes/{id}/piles/{pile}/return", a.handle(a.returnFromPile))
	r.Get("/shoes/{id}/cards/{position}/proof", a.handle(a.openCard))
	r.Get("/shoes/{id}/proof", a.handle(a.proveShoe))
	r.Get("/log/checkpoint", a.handle(a.checkpoint))
	r.Get("/log/key", a.handle(a.logKey))
	r.Get(tilePath+"*", a.handle(a.tile))
	r.Get("/healthz", a.handle(a.healthz))
	r.Get("/readyz", a.handle(a.readyz))
	r.Get("/metrics", a.handle(a.metrics))
	r.Get("/openapi.yaml", a.handle(a.contract))
	for _, routes := range a.More {
		routes(r)
	}
	return r
}

// Routes returns the router, for checks that it and the contract name the same routes.
func (a *API) Routes() chi.Routes { return a.router }

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.router.ServeHTTP(w, r)
}
