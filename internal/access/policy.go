package access

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Errors of [Policy.Identify] and [Caller.Take].
var (
	ErrTwoTokens    = errors.New("more than one Authorization header")
	ErrTokenInQuery = errors.New("a token in the query") // where proxies and browsers log it
	ErrScheme       = errors.New("an Authorization header that is not Bearer with a token")
	ErrUnknown      = errors.New("no key has this token")
	ErrAnonymous    = errors.New("a token is required")
	ErrExpired      = errors.New("the token has expired")
	ErrScope        = errors.New("the key does not have the scope")
)

// A LimitError reports that a caller has exceeded its rates.
type LimitError struct{ Wait time.Duration }

func (e *LimitError) Error() string { return fmt.Sprintf("the limit is reached for %s", e.Wait) }

// maxPeers is the number of anonymous peers with limiters, which take about 20 MB.
const maxPeers = 1 << 16

// A Policy grants permissions to callers and limits their rates. A new configuration makes a new
// policy. It is safe for concurrent use.
type Policy struct {
	keys      map[Digest]Caller
	anonymous *Grant // nil for no permissions
	peers     *lru.Cache[netip.Addr, limiter]
}

// NewPolicy returns a policy for callers with keys and for anonymous ones. Without keys and a grant
// for anonymous callers, every caller has all permissions.
func NewPolicy(keys []APIKey, anonymous *Grant) *Policy {
	if len(keys) == 0 && anonymous == nil {
		anonymous = &Grant{May: Scopes()}
	}
	peers, _ := lru.New[netip.Addr, limiter](maxPeers) // it fails for 0
	p := &Policy{keys: make(map[Digest]Caller, len(keys)), anonymous: anonymous, peers: peers}
	for _, k := range keys {
		p.keys[k.Digest] = Caller{Key: k.Name, grant: &k.Grant, limiter: newLimiter(k.Rates), expires: k.Expires}
	}
	return p
}

// Succeed takes over the limiters of an earlier policy, for all callers whose rates did not change.
// Call it before the first use.
func (p *Policy) Succeed(earlier *Policy) {
	if p.anonymous != nil && earlier.anonymous != nil && p.anonymous.Rates == earlier.anonymous.Rates {
		p.peers = earlier.peers
	}
	for digest, c := range p.keys {
		if old, known := earlier.keys[digest]; known && old.grant.Rates == c.grant.Rates {
			c.limiter = old.limiter
			p.keys[digest] = c
		}
	}
}

// Open reports whether anonymous callers have all permissions.
func (p *Policy) Open() bool {
	return p.anonymous != nil && len(p.anonymous.May) == len(Scopes())
}

// Public reports whether anonymous callers have the scope, so that responses are public.
func (p *Policy) Public(scope Scope) bool { return p.anonymous.allows(scope) }

// A Caller sends requests. The zero value has no permissions.
type Caller struct {
	Key     string // name of its key; empty for an anonymous caller
	grant   *Grant // nil for no permissions
	limiter limiter
	expires time.Time // zero for never
}

// Identify returns the caller of a request from a peer (see [quota.Peer]). A policy without keys
// ignores tokens: the header may be for a proxy.
func (p *Policy) Identify(r *http.Request, peer netip.Addr) (Caller, error) {
	if len(p.keys) == 0 {
		return p.Anonymous(peer), nil
	}
	if strings.ContainsAny(r.URL.RawQuery, "_%") { // every token has _, which may be escaped
		for parameter := range strings.SplitSeq(r.URL.RawQuery, "&") {
			name, value, _ := strings.Cut(parameter, "=")
			if hasToken(name) || hasToken(value) {
				return Caller{}, ErrTokenInQuery
			}
		}
	}
	headers := r.Header.Values("Authorization")
	switch {
	case len(headers) == 0:
		return p.Anonymous(peer), nil
	case len(headers) > 1:
		return Caller{}, ErrTwoTokens
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || !isToken(token) {
		return Caller{}, ErrScheme
	}
	c, known := p.keys[Token(token).Digest()]
	if !known {
		return Caller{}, ErrUnknown
	}
	return c, nil
}

// hasToken reports whether an escaped part of a query begins like a token.
func hasToken(escaped string) bool {
	text, err := url.QueryUnescape(escaped)
	return err == nil && strings.HasPrefix(text, tokenPrefix)
}

// Anonymous returns the anonymous caller for a peer.
func (p *Policy) Anonymous(peer netip.Addr) Caller {
	c := Caller{grant: p.anonymous}
	if p.anonymous == nil || p.anonymous.Rates == (Rates{}) {
		return c
	}
	limits, found := p.peers.Get(peer)
	if !found {
		limits = newLimiter(p.anonymous.Rates)
		p.peers.Add(peer, limits)
	}
	c.limiter = limits
	return c
}

// allows reports whether the grant has the scope. A nil grant has only the scope Page.
func (g *Grant) allows(scope Scope) bool {
	return scope == Page || g != nil && slices.Contains(g.May, scope)
}

// Take admits a request, or returns why the caller must not send it now. writes is whether the request
// may write records.
func (c *Caller) Take(now time.Time, scope Scope, writes bool) error {
	if !c.expires.IsZero() && !now.Before(c.expires) {
		return ErrExpired
	}
	if allowed := c.grant.allows(scope); !allowed && c.Key == "" {
		return ErrAnonymous
	} else if !allowed {
		return ErrScope
	}
	if wait := c.limiter.take(now, writes); wait > 0 {
		return &LimitError{wait}
	}
	return nil
}

// Charge subtracts a request's records and bytes from the caller's rates.
func (c *Caller) Charge(now time.Time, records, bytes int) { c.limiter.charge(now, records, bytes) }

// Remaining returns the rest of the caller's rate of requests.
func (c *Caller) Remaining(now time.Time) Remaining { return c.limiter.remaining(now) }
