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

	"riffle/internal/cache"
)

// Refusals of [Policy.Identify] and [Caller.Take].
var (
	// ErrTwoTokens: the request has more than one Authorization header.
	ErrTwoTokens = errors.New("more than one Authorization header")
	// ErrTokenInQuery: a token stands in the query, where proxies and browsers log it.
	ErrTokenInQuery = errors.New("a token in the query")
	// ErrScheme: the Authorization header is not Bearer with a token.
	ErrScheme = errors.New("an Authorization header that is not Bearer with a token")
	// ErrUnknown: no key has the token.
	ErrUnknown = errors.New("no key has this token")
	// ErrAnonymous: who shows no token may not do this.
	ErrAnonymous = errors.New("this takes a token")
	// ErrScope: the key is not for this.
	ErrScope = errors.New("the key does not have the scope")
	// ErrLog: the key is not for this log.
	ErrLog = errors.New("the key is not for this log")
)

// A LimitError refuses a request that came too soon.
type LimitError struct{ Wait time.Duration }

func (e *LimitError) Error() string { return fmt.Sprintf("the limit is reached for %s", e.Wait) }

// maxPeers is for how many anonymous peers limits are counted at a time, in some 20 MB. Beyond that
// the one that has not asked for longest is forgotten, as if it came for the first time.
const maxPeers = 1 << 16

// A Policy says who may do what. Its methods may be called concurrently. Nothing of it changes but
// what its limiters have counted: a new configuration makes a new policy.
type Policy struct {
	keys      map[Digest]*client
	anonymous *Grant // nil if callers without a token may do nothing
	peers     *cache.Cache[netip.Addr, *limiter]
}

// client is a key with what it has used.
type client struct {
	Key
	limiter *limiter
}

// NewPolicy returns the policy with the keys and what anonymous callers may do, nil for nothing.
// Without keys and without a grant for anonymous callers, everybody may do everything.
func NewPolicy(keys []Key, anonymous *Grant) *Policy {
	if len(keys) == 0 && anonymous == nil {
		anonymous = &Grant{May: Scopes()}
	}
	p := &Policy{keys: make(map[Digest]*client, len(keys)), anonymous: anonymous, peers: cache.New[netip.Addr, *limiter](maxPeers)}
	for _, k := range keys {
		p.keys[k.Digest] = &client{k, newLimiter(k.Rates)}
	}
	return p
}

// Succeed has a policy go on counting where an earlier one stopped, for all whose rates are the
// same. Call it before the policy is used.
func (p *Policy) Succeed(earlier *Policy) {
	if p.anonymous != nil && earlier.anonymous != nil && p.anonymous.Rates == earlier.anonymous.Rates {
		p.peers = earlier.peers
	}
	for digest, c := range p.keys {
		if old := earlier.keys[digest]; old != nil && old.Rates == c.Rates {
			c.limiter = old.limiter
		}
	}
}

// Open reports whether callers without a token may do everything.
func (p *Policy) Open() bool {
	return p.anonymous != nil && len(p.anonymous.May) == len(Scopes()) && len(p.anonymous.Logs) == 0
}

// Public reports whether callers without a token may do something in a log, so that what they get
// is for everybody.
func (p *Policy) Public(scope Scope, log string) bool { return p.anonymous.allow(scope, log) == nil }

// A Caller is who sends a request. The zero value may do nothing.
type Caller struct {
	Key     string // its name; empty for an anonymous caller
	grant   *Grant // nil for nothing
	limiter *limiter
}

// Identify returns who sends a request. peer is where it comes from, as [share.Peer] has it. A
// policy without keys takes no notice of tokens: the header may be for a proxy.
func (p *Policy) Identify(r *http.Request, peer netip.Addr) (Caller, error) {
	if len(p.keys) == 0 {
		return p.Stranger(peer), nil
	}
	if strings.ContainsAny(r.URL.RawQuery, "_%") { // no token is without _, which may be escaped
		for parameter := range strings.SplitSeq(r.URL.RawQuery, "&") {
			name, value, _ := strings.Cut(parameter, "=")
			if isEscapedToken(name) || isEscapedToken(value) {
				return Caller{}, ErrTokenInQuery
			}
		}
	}
	headers := r.Header.Values("Authorization")
	switch {
	case len(headers) == 0:
		return p.Stranger(peer), nil
	case len(headers) > 1:
		return Caller{}, ErrTwoTokens
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || !isToken(token) {
		return Caller{}, ErrScheme
	}
	c := p.keys[Token(token).Digest()]
	if c == nil {
		return Caller{}, ErrUnknown
	}
	return Caller{Key: c.Name, grant: &c.Grant, limiter: c.limiter}, nil
}

// isEscapedToken reports whether a part of a query looks like a token.
func isEscapedToken(escaped string) bool {
	text, err := url.QueryUnescape(escaped)
	return err == nil && looksLikeToken(text)
}

// Stranger returns the anonymous caller that is a peer, whatever token it shows.
func (p *Policy) Stranger(peer netip.Addr) Caller {
	c := Caller{grant: p.anonymous}
	if p.anonymous == nil || p.anonymous.Rates == (Rates{}) {
		return c
	}
	limits, found := p.peers.Get(peer)
	if !found {
		limits = newLimiter(p.anonymous.Rates)
		p.peers.Put(peer, limits, 1)
	}
	c.limiter = limits
	return c
}

// allow returns nil if the grant is for something in a log. A nil grant is for nothing but pages.
func (g *Grant) allow(scope Scope, log string) error {
	switch {
	case scope == Page:
	case g == nil || !slices.Contains(g.May, scope):
		return ErrScope
	case len(g.Logs) > 0 && !slices.Contains(g.Logs, log):
		return ErrLog
	}
	return nil
}

// Take returns an error unless the caller may do something in a log now. writes says that it may
// write records.
func (c *Caller) Take(now time.Time, scope Scope, log string, writes bool) error {
	if err := c.grant.allow(scope, log); err != nil && c.Key == "" {
		return ErrAnonymous
	} else if err != nil {
		return err
	}
	if c.limiter == nil {
		return nil
	}
	if wait := c.limiter.take(now, writes); wait > 0 {
		return &LimitError{wait}
	}
	return nil
}

// Charge notes what a request has used.
func (c *Caller) Charge(now time.Time, records, bytes int) {
	if c.limiter != nil {
		c.limiter.charge(now, records, bytes)
	}
}

// Remaining returns what is left of the caller's requests.
func (c *Caller) Remaining(now time.Time) Remaining {
	if c.limiter == nil {
		return Remaining{}
	}
	return c.limiter.remaining(now)
}
