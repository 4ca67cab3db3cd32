// Package api serves openapi.yaml: routes, parameters, answers, problem documents and metrics.
//
// A handler decodes, makes one service call and encodes. [API.fail] turns its error into a problem
// document. An unknown error is answered 500, and its text goes to the log only.
package api

import (
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"riffle/internal/access"
	"riffle/internal/budget"
	"riffle/internal/httpserver"
	"riffle/internal/services"
	"riffle/internal/tracing"
)

// Options configures New. Services, Logger, Metrics, Gatherer, Contract, MaxBody and Budget are needed.
type Options struct {
	*services.Services
	Logger       *slog.Logger
	AccessLog    io.Writer // gets one write of a line for each request; nil for none
	Metrics      *Metrics
	Gatherer     prometheus.Gatherer         // of /metrics
	Contract     []byte                      // of /openapi.yaml
	MaxBody      int64                       // length of the longest body, in bytes
	Budget       *budget.Budget              // memory of all requests
	WriteTimeout time.Duration               // for a client to accept an answer, see [httpserver.Timeouts]; 0 for none
	Tracer       *tracing.Tracer             // nil for none
	Admin        bool                        // /metrics is at AdminHandler only
	Hosts        access.Hosts                // accepted Host names until SetHosts; by default local names, on loopback only
	Origins      access.Origins              // origins whose pages may write, until SetOrigins; by default none
	Policy       *access.Policy              // until SetPolicy; by default everybody may do everything
	Proxies      access.Proxies              // trusted to send X-Forwarded-For; by default none
	ReadTime     time.Duration               // limit for a picture, or for a shoe's proof until it is sent; 2 minutes by default
	More         []More                      // routes beyond the contract
	Reachable    func() error                // says why clients cannot connect yet, for /readyz; nil if they can from the start
	Pages        map[string]http.HandlerFunc // by pattern, for browsers
	Home         http.HandlerFunc            // answers browsers at /; by default they get JSON, as programs do
	Missing      http.HandlerFunc            // answers browsers where there is nothing; by default they get JSON

	// Link answers GET /a/{id}; nil for no such path. found is false if everybody may read records and
	// no one has the id.
	Link func(w http.ResponseWriter, r *http.Request, found bool)
}

// More are routes beyond the contract, by pattern, for callers with a scope.
type More struct {
	Scope  access.Scope
	Routes map[string]func(http.ResponseWriter, *http.Request, services.Call) error
	Fail   func(http.ResponseWriter, *http.Request, error) // answers an error of the routes
}

// An API answers requests.
type API struct {
	Options
	router   *chi.Mux
	hosts    atomic.Pointer[access.Hosts]
	origins  atomic.Pointer[access.Origins]
	policy   atomic.Pointer[access.Policy]
	scopes   map[string]access.Scope // by method and pattern
	draining atomic.Bool
	asked    atomic.Pointer[[2]time.Time] // when /readyz was asked for, the last two times
	long     *httpserver.LongRequests

	mu      sync.Mutex
	outages map[string]*outage // in progress, by reason; guarded by mu
}

// New returns an API.
func New(o Options) *API {
	a := &API{Options: o, scopes: map[string]access.Scope{}, outages: map[string]*outage{}}
	a.asked.Store(&[2]time.Time{})
	a.long = httpserver.NewLongRequests(o.Budget, o.ReadTime, o.WriteTimeout)
	a.SetHosts(o.Hosts)
	a.SetOrigins(o.Origins)
	a.SetPolicy(o.Policy)
	a.router = a.routes()
	return a
}

// SetOrigins replaces the origins whose pages may write, from the next request on.
func (a *API) SetOrigins(origins access.Origins) { a.origins.Store(&origins) }

// SetHosts replaces the accepted Host names, from the next request on.
func (a *API) SetHosts(hosts access.Hosts) { a.hosts.Store(&hosts) }

func (a *API) routes() *chi.Mux {
	r := chi.NewRouter()
	r.Use(a.observe, a.crossOrigin)
	r.NotFound(a.handle((*API).noSuchPath))
	r.MethodNotAllowed(a.handle((*API).methodNotAllowed))
	for _, route := range table() {
		if route.scope != access.Metrics || !a.Admin {
			a.add(r, route)
		}
	}
	for _, m := range a.More {
		for pattern, answer := range m.Routes {
			r.Handle(pattern, a.serveMore(m, answer))
		}
	}
	if a.Link != nil {
		a.add(r, route{access.Page, http.MethodGet, "/a/{id}", (*API).link})
	}
	for pattern, page := range a.Pages {
		a.add(r, route{access.Page, http.MethodGet, pattern, sendPage(page)})
	}
	return r
}

// A route is an endpoint of the contract. Its callers need the scope.
type route struct {
	scope   access.Scope
	method  string
	pattern string
	handler handler
}

// open marks health checks, which need no scope and have no limits.
const open access.Scope = ""

// table returns the routes of the contract.
func table() []route {
	return []route{
		{access.Shuffle, http.MethodPost, "/shuffle", ofRequest(shuffleForm, (*API).answerShuffle)},
		{access.Shuffle, http.MethodGet, "/decks/{type}", ofDeck((*API).dealDeck, dealParameters...)},
		{access.Shuffle, http.MethodPost, "/commitments", ofRequest(commitmentForm, (*API).commit)},
		{access.Shuffle, http.MethodPost, "/audits/{id}/reveal", withQuery((*API).reveal)},
		{access.Deal, http.MethodPost, "/shoes", ofRequest(shoeForm, (*API).makeShoe)},
		{access.Deal, http.MethodGet, "/shoes/{id}", withQuery((*API).getShoe)},
		{access.Deal, http.MethodDelete, "/shoes/{id}", endShoe},
		{access.Deal, http.MethodPost, "/shoes/{id}/draw", drawFromShoe},
		{access.Deal, http.MethodPost, "/shoes/{id}/return", returnToShoe},
		{access.Deal, http.MethodPost, "/shoes/{id}/reshuffle", reshuffleShoe},
		{access.Deal, http.MethodPost, "/shoes/{id}/close", closeShoe},
		{access.Deal, http.MethodGet, "/shoes/{id}/dealt", withQuery((*API).listPlace, "proof")},
		{access.Deal, http.MethodGet, "/shoes/{id}/piles", withQuery((*API).listPiles)},
		{access.Deal, http.MethodGet, "/shoes/{id}/piles/{pile}", withQuery((*API).listPlace, "proof")},
		{access.Deal, http.MethodPost, "/shoes/{id}/piles/{pile}/add", addToPile},
		{access.Deal, http.MethodPost, "/shoes/{id}/piles/{pile}/draw", drawFromPile},
		{access.Deal, http.MethodPost, "/shoes/{id}/piles/{pile}/shuffle", shufflePile},
		{access.Deal, http.MethodPost, "/shoes/{id}/piles/{pile}/return", returnFromPile},
		{access.Deal, http.MethodGet, "/shoes/{id}/cards/{position}/proof", withQuery((*API).openCard, "sealed_by")},
		{access.Deal, http.MethodGet, "/shoes/{id}/proof", withQuery((*API).proveShoe, "witnessed")},
		{access.Read, http.MethodGet, "/decks", withQuery((*API).listDecks)},
		{access.Read, http.MethodGet, "/decks/{type}/cards", ofDeck((*API).listCards, "code")},
		{access.Read, http.MethodGet, "/cards/{type}", ofDeck((*API).drawDeck)},
		{access.Read, http.MethodGet, "/cards/{type}/{file}", ofDeck((*API).drawCard)},
		{access.Read, http.MethodGet, "/commitments", withQuery((*API).listCommitments, "status", "after", "limit")},
		{access.Read, http.MethodGet, "/commitments/{id}", withQuery((*API).getCommitment)},
		{access.Read, http.MethodGet, "/audits", withQuery((*API).listAudits, "reference", "from", "limit")},
		{access.Read, http.MethodGet, "/audits/{id}", withQuery((*API).getAudit)},
		{access.Read, http.MethodGet, "/audits/{id}/proof", withQuery((*API).proveAudit, "witnessed", "format")},
		{access.Read, http.MethodGet, "/audits/{id}/picture.png", withQuery((*API).drawDeal)},
		{access.Read, http.MethodGet, "/log/checkpoint", withQuery((*API).checkpoint)},
		{access.Read, http.MethodGet, "/log/key", withQuery((*API).logKey)},
		{access.Read, http.MethodGet, tilePath + "*", withQuery((*API).tile)},
		{access.Read, http.MethodGet, "/openapi.yaml", (*API).contract},
		{access.Metrics, http.MethodGet, "/metrics", (*API).metrics},
		{access.Page, http.MethodGet, "/", (*API).home},
		{open, http.MethodGet, "/healthz", (*API).healthz},
		{open, http.MethodGet, "/readyz", (*API).readyz},
	}
}

// add adds a route. Read-only routes also answer HEAD.
func (a *API) add(r chi.Router, route route) {
	readOnly := route.method == http.MethodGet && route.scope != access.Shuffle
	serve := a.handle(func(a *API, x *exchange) error {
		if route.scope != open {
			if err := a.authorize(x, route.scope); err != nil {
				return err
			}
		}
		if !readOnly {
			if err := a.checkSite(x.r); err != nil {
				return err
			}
		}
		return route.handler(a, x)
	})
	r.Method(route.method, route.pattern, serve)
	a.scopes[route.method+" "+route.pattern] = route.scope
	if readOnly {
		r.Method(http.MethodHead, route.pattern, serve)
		a.scopes[http.MethodHead+" "+route.pattern] = route.scope
	}
}

// SetPolicy replaces the policy, from the next request on; nil lets everybody do everything.
func (a *API) SetPolicy(p *access.Policy) {
	if p == nil {
		p = access.NewPolicy(nil, nil)
	}
	if earlier := a.policy.Load(); earlier != nil {
		p.Succeed(earlier)
	}
	a.policy.Store(p)
}

// Stop ends pictures and proofs in flight: see [httpserver.LongRequests.Stop].
func (a *API) Stop() { a.long.Stop() }

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.router.ServeHTTP(w, r) }
