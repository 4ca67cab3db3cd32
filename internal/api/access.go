package api

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/cors"

	"riffle/internal/access"
	"riffle/internal/httperror"
	"riffle/internal/httpserver"
	"riffle/internal/services"
)

// serveMore returns the handler of a route of [More].
func (a *API) serveMore(m More, answer func(http.ResponseWriter, *http.Request, services.Call) error) http.HandlerFunc {
	return a.handle(func(a *API, x *exchange) error {
		if x.r.Method != http.MethodOptions { // browsers send preflights without a token
			if err := a.authorize(x, m.Scope); err != nil {
				return err
			}
		}
		x.r = x.r.WithContext(x.committing())
		if err := answer(x, x.r, services.Call{Services: a.Services, Caller: x.caller.Key, Cache: x.cache}); err != nil {
			if row, found := httperror.Find(err); found && row.RetryAfter > 0 {
				a.reject(err)
			}
			m.Fail(x, x.r, err)
		}
		return nil
	})
}

// authorize identifies the caller, unless it asks for a page. It returns an error if the caller lacks
// the scope or has reached its limits. Pages of any origin may read an answer of the scope Read.
func (a *API) authorize(x *exchange, scope access.Scope) (err error) {
	policy := a.policy.Load()
	if scope == access.Read { // to all clients, since caches may store the answer
		x.Header().Set("Access-Control-Allow-Origin", "*")
		x.Header().Set("Access-Control-Expose-Headers", strings.Join(exposed, ", "))
	}
	if scope == access.Page {
		x.caller = policy.Anonymous(x.peer)
	} else if x.caller, err = policy.Identify(x.r, x.peer); err != nil {
		return err
	}
	x.public = scope == access.Read && policy.Public(scope)
	now := time.Now()
	err = x.caller.Take(now, scope, writes(scope))
	if left := x.caller.Remaining(now); left.Burst > 0 { // draft-ietf-httpapi-ratelimit-headers-10
		x.Header().Set("RateLimit-Policy", fmt.Sprintf(`"requests";q=%d;w=%d`, left.Burst, seconds(left.Window)))
		x.Header().Set("RateLimit", fmt.Sprintf(`"requests";r=%d;t=%d`, left.Requests, seconds(left.Full)))
	}
	return err
}

// writes reports whether the requests of a scope write records.
func writes(scope access.Scope) bool { return scope == access.Shuffle || scope == access.Deal }

// cache sets the lifetime of a cacheable answer, such as "max-age=300". Shared caches may store it
// if callers without a token may read; otherwise only the caller may.
func (x *exchange) cache(lifetime string) {
	if x.public {
		x.Header().Set("Cache-Control", "public, "+lifetime)
		return
	}
	x.Header().Set("Cache-Control", "private, "+lifetime)
	x.Header().Add("Vary", "Authorization")
}

// seconds returns a time in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// maxFields is the most fields in a request's header, and the most parameters in its query. Browsers
// send some twenty fields. Each takes hundreds of bytes of memory, however short it is.
const maxFields = 100

// checkRequest checks a request's header and connection before it is routed. Health checks are
// answered under any Host, since a container's address is not known beforehand.
func (a *API) checkRequest(w http.ResponseWriter, r *http.Request) error {
	fields := 0
	for _, values := range r.Header {
		fields += len(values)
	}
	if fields > maxFields {
		return newProblem(http.StatusRequestHeaderFieldsTooLarge, "The header has more than %d fields. Send fewer.", maxFields)
	}
	healthCheck := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
	if err := httpserver.CheckConnection(w, r, healthCheck); err != nil {
		return err
	}
	// A proxy in front may have read another length: net/http drops a Content-Length beside a
	// Transfer-Encoding, and ignores Transfer-Encoding in HTTP/1.0. RFC 9112, 6.1 and 6.3, allows that to
	// a server that closes the connection, so that the rest is not taken for a second request.
	if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
		w.Header().Set("Connection", "close")
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !a.hosts.Load().Allow(local, r.Host) && !healthCheck {
		return newProblem(http.StatusMisdirectedRequest, "The service does not answer under the name in the Host header. Use a name that it has, such as localhost on its own machine; the operator adds others with --hosts.")
	}
	return nil
}

// forwarded returns the request as its client sent it to a trusted proxy, with the client's address.
func (a *API) forwarded(r *http.Request) *http.Request {
	if len(a.Proxies) == 0 {
		return r
	}
	client := a.Proxies.Client(r.RemoteAddr, r.Header.Values("X-Forwarded-For"))
	if !client.IsValid() {
		return r
	}
	forwarded := *r
	forwarded.RemoteAddr = netip.AddrPortFrom(client, 0).String()
	return &forwarded
}

// exposed are the header fields that pages of other origins may read.
var exposed = []string{"ETag", "RateLimit", "RateLimit-Policy", "Retry-After", requestIDHeader}

// crossOrigin is middleware that answers preflights, and lets pages of the listed origins write. Pages of any
// origin may use read-only routes: see [API.authorize]. The routes of deckofcards handle CORS themselves.
func (a *API) crossOrigin(next http.Handler) http.Handler {
	headers := []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", requestIDHeader}
	reads := cors.Handler(cors.Options{AllowedOrigins: []string{"*"}, AllowedMethods: []string{"GET", "HEAD"}, AllowedHeaders: headers, MaxAge: 600})(next)
	changes := cors.Handler(cors.Options{
		AllowOriginFunc: func(_ *http.Request, origin string) bool { return a.origins.Load().Allow(origin) },
		AllowedMethods:  []string{"GET", "HEAD", "POST", "DELETE"}, AllowedHeaders: headers, ExposedHeaders: exposed, MaxAge: 600,
	})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") == "" {
			next.ServeHTTP(w, r)
			return
		}
		method := r.Method
		preflight := r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
		if preflight {
			method = r.Header.Get("Access-Control-Request-Method")
		}
		scope, found := a.scopes[method+" "+a.router.Find(chi.NewRouteContext(), method, r.URL.Path)]
		switch {
		case found && writes(scope):
			changes.ServeHTTP(w, r)
		case found && scope == access.Read && preflight:
			reads.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// checkSite rejects a request to write that a page of another origin made the browser send, with a
// link, an image, a script, a beacon, a WebSocket or a rule to prefetch, unless the origin is listed.
// Pages cannot change the fields that say so, and other clients do not send them.
func (a *API) checkSite(r *http.Request) error {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	_, host, _ := strings.Cut(origin, "://")
	foreign := origin != "" && !strings.EqualFold(host, r.Host)
	if site != "" { // a proxy may have changed the Host
		foreign = site != "same-origin" && site != "none"
	}
	upgrade := r.Header.Get("Upgrade")
	switch {
	case foreign && !a.origins.Load().Allow(origin),
		strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch"),
		upgrade != "" && !strings.EqualFold(upgrade, "h2c"): // which HTTP clients offer, such as Java's
		return newProblem(http.StatusForbidden, "A page of another site sent this request from a visitor's browser, and it would write a record. Send it from your own backend, with POST /shuffle.")
	}
	return nil
}
