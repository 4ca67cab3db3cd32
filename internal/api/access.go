package api

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/cors"

	"riffle/internal/access"
	"riffle/internal/quota"
)

// may lets requests through whose callers have a scope and are within their limits. It lets
// preflights through: browsers send them without a token. Nobody needs one for pages.
func (a *API) may(scope access.Scope) func(http.Handler) http.Handler {
	writes := scope == access.Shuffle || scope == access.Deal
	return func(next http.Handler) http.Handler {
		return a.handle(func(w http.ResponseWriter, r *http.Request) error {
			if r.Method == http.MethodOptions {
				next.ServeHTTP(w, r)
				return nil
			}
			if scope == access.Read {
				showAll(w.Header())
			}
			policy, peer := a.policy.Load(), quota.Peer(r.RemoteAddr)
			caller, err := policy.Stranger(peer), error(nil)
			if scope != access.Page {
				caller, err = policy.Identify(r, peer)
			}
			if err != nil {
				return err
			}
			out := w.(*response) // of observe
			out.caller = caller
			out.public = scope == access.Read && policy.Public(scope, out.log.name)
			now := time.Now()
			err = caller.Take(now, scope, out.log.name, writes)
			if left := caller.Remaining(now); left.Burst > 0 {
				showLimit(w.Header(), left)
			}
			if err != nil {
				return err
			}
			next.ServeHTTP(w, r)
			return nil
		})
	}
}

// CallerOf returns the name of the key of the request that w answers; empty for none.
func CallerOf(w http.ResponseWriter) string { return w.(*response).caller.Key }

// Cache says for how long an answer that only reads may be cached, such as "max-age=300": by shared
// caches if callers without a token may read the log that w answers for, and otherwise by its caller
// alone.
func Cache(w http.ResponseWriter, lifetime string) {
	h := w.Header()
	if out, ok := w.(*response); ok && out.public {
		h.Set("Cache-Control", "public, "+lifetime)
		return
	}
	h.Set("Cache-Control", "private, "+lifetime)
	h.Add("Vary", "Authorization")
}

// showLimit sets the fields of draft-ietf-httpapi-ratelimit-headers, version 10: how many requests
// the caller may send in a window, how many are left, and when all are there again.
func showLimit(h http.Header, left access.Remaining) {
	h.Set("RateLimit-Policy", fmt.Sprintf(`"requests";q=%d;w=%d`, left.Burst, seconds(left.Window)))
	h.Set("RateLimit", fmt.Sprintf(`"requests";r=%d;t=%d`, left.Requests, seconds(left.Full)))
}

// seconds returns a time in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// problemOfAccess is the problem of a caller who may not do what it asks for; nil for another error.
func problemOfAccess(err error) *problem {
	var limit *access.LimitError
	unauthorized := func(challenge, detail string) *problem {
		p := newProblem(http.StatusUnauthorized, "%s", detail)
		p.challenge = challenge
		return p
	}
	switch {
	case errors.Is(err, access.ErrTwoTokens):
		return badRequest("The request has more than one Authorization header. Send one.")
	case errors.Is(err, access.ErrTokenInQuery):
		return badRequest("A token stands in the query, where proxies log it. Have it replaced, and send it as a header: Authorization: Bearer rfl_...")
	case errors.Is(err, access.ErrScheme):
		return unauthorized(`Bearer error="invalid_request"`, "The Authorization header is not a token. Send it as Authorization: Bearer rfl_... with the 43 characters that follow.")
	case errors.Is(err, access.ErrUnknown):
		return unauthorized(`Bearer error="invalid_token"`, "No key has this token. Copy it exactly, or ask the operator for another one.")
	case errors.Is(err, access.ErrAnonymous):
		return unauthorized("Bearer", "This takes a token. Ask the operator for one, and send it as Authorization: Bearer rfl_...")
	case errors.Is(err, access.ErrScope):
		return newProblem(http.StatusForbidden, "The key of this token is not for requests like this one. Ask the operator for one that is.")
	case errors.Is(err, access.ErrLog):
		return newProblem(http.StatusForbidden, "The key of this token is not for this log. Ask the operator for one that is.")
	case errors.As(err, &limit):
		p := newProblem(http.StatusTooManyRequests, "The limit of this caller is reached. Nothing was done; ask again when Retry-After is over.")
		p.retryAfter = max(1, seconds(limit.Wait))
		return p
	}
	return nil
}

// checkHost answers 421 to requests for a Host that the service is not to be addressed by; see
// [riffle/internal/access.Hosts]. The health checks of a container ask by whatever address it
// happens to have, and show nothing, so /healthz and /readyz answer any Host.
func (a *API) checkHost(next http.Handler) http.Handler {
	refuse := a.handle(func(http.ResponseWriter, *http.Request) error { return problemHost() })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !a.hosts.Load().Allow(local, r.Host) && !isHealthCheck(r) {
			refuse(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func problemHost() *problem {
	return newProblem(http.StatusMisdirectedRequest, "The service does not answer under the name in the Host header. Use a name that it has, such as localhost on its own machine; the operator adds others with -hosts.")
}

// findPeer has requests come from where trusted proxies say, for limits, shares and the access log.
func (a *API) findPeer(next http.Handler) http.Handler {
	if len(a.Proxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if client := a.Proxies.Client(r.RemoteAddr, r.Header.Values("X-Forwarded-For")); client.IsValid() {
			forwarded := *r
			forwarded.RemoteAddr = netip.AddrPortFrom(client, 0).String()
			r = &forwarded
		}
		next.ServeHTTP(w, r)
	})
}

// exposed are the fields of answers that pages of other origins may read.
var exposed = []string{"ETag", "RateLimit", "RateLimit-Policy", "Retry-After", requestIDHeader}

// showAll lets pages of any origin read an answer, be it asked for by a page or kept in a cache.
func showAll(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", strings.Join(exposed, ", "))
}

// crossOrigin answers preflights, and lets pages of the listed origins read the answers to what writes.
// What only reads is for pages of any origin: see may. Decks of deckofcardsapi have rules of their
// own.
func (a *API) crossOrigin(next http.Handler) http.Handler {
	headers := []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", requestIDHeader}
	reads := cors.Handler(cors.Options{AllowedOrigins: []string{"*"}, AllowedMethods: []string{"GET", "HEAD"}, AllowedHeaders: headers, MaxAge: 600})(next)
	writes := cors.Handler(cors.Options{
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
		case found && (scope == access.Shuffle || scope == access.Deal):
			writes.ServeHTTP(w, r)
		case found && scope == access.Read && preflight:
			reads.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// checkSite refuses to write when a page of another site has made the browser ask for it, by a link,
// an image, a script or a beacon. Browsers say so in Sec-Fetch-Site, which no page can change; other
// clients do not send the header. Pages of the listed origins may.
func (a *API) checkSite(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if slices.Contains(r.Header["Sec-Fetch-Site"], "cross-site") && !a.origins.Load().Allow(r.Header.Get("Origin")) {
			return problemCrossSite()
		}
		return next(w, r)
	}
}

func problemCrossSite() *problem {
	return newProblem(http.StatusForbidden, "A page of another site asked for this in a visitor's browser, and it would write a record. Ask from your own backend, by POST /shuffle.")
}
