package access

import (
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/quota"
)

var home = netip.MustParseAddr("192.0.2.7")

// request returns a request with Authorization headers.
func request(target string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for _, h := range headers {
		r.Header.Add("Authorization", h)
	}
	return r
}

func TestTokens(t *testing.T) {
	a, b := NewToken(), NewToken()
	assert.Truef(t, a != b && len(a) == 47 && isToken(string(a)), "tokens are %s and %s", a, b)
	// Digest computed with sha256sum.
	const token, want = Token("rfl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "5d729c0acb45d8e442f565ec3f80fa9002cf2e9ee261c2535501bb71a1bc186d"
	d := token.Digest()
	assert.Equalf(t, want, hex.EncodeToString(d[:]), "the digest is %x, want", d)
	for _, text := range []string{
		"", "rfl_", "rfl_" + strings.Repeat("A", 42), "rfl_" + strings.Repeat("A", 44),
		"rfl_" + strings.Repeat("A", 42) + "B", // bits beyond the last byte
		"RFL_" + strings.Repeat("A", 43), "rfl_" + strings.Repeat("A", 42) + "=", "rfl_" + strings.Repeat("+", 43), strings.Repeat("A", 10_000),
	} {
		assert.Falsef(t, isToken(text), "%.60q is taken for a token", text)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "Table_server-1.2", strings.Repeat("x", 64)} {
		assert.NoError(t, CheckName(name))
	}
	for _, name := range []string{"", ".", "..", ".a", "a/b", "a b", "ä", "a\n", strings.Repeat("x", 65)} {
		assert.Errorf(t, CheckName(name), "%q is taken for a name", name)
	}
}

func TestIdentify(t *testing.T) {
	known, other := NewToken(), NewToken()
	p := NewPolicy([]APIKey{{Name: "table", Digest: known.Digest(), Grant: Grant{May: []Scope{Shuffle}}}}, nil)
	for _, v := range []struct {
		name string
		r    *http.Request
		key  string
		err  error
	}{
		{"no token", request("/shuffle"), "", nil},
		{"a token", request("/shuffle", "Bearer "+string(known)), "table", nil},
		{"a scheme in other letters", request("/shuffle", "bEARER  "+string(known)), "table", nil},
		{"another token", request("/shuffle", "Bearer "+string(other)), "", ErrUnknown},
		{"a token with an end", request("/shuffle", "Bearer "+string(known)+"A"), "", ErrScheme},
		{"a digest", request("/shuffle", "Bearer "+hexOf(known)), "", ErrScheme},
		{"another scheme", request("/shuffle", "Basic dGFibGU6"+string(known)), "", ErrScheme},
		{"no scheme", request("/shuffle", string(known)), "", ErrScheme},
		{"an empty header", request("/shuffle", ""), "", ErrScheme},
		{"ten kilobytes", request("/shuffle", "Bearer rfl_"+strings.Repeat("A", 10_000)), "", ErrScheme},
		{"two headers", request("/shuffle", "Bearer "+string(known), "Bearer "+string(known)), "", ErrTwoTokens},
		{"a token in the query", request("/shuffle?access_token="+string(known), "Bearer "+string(known)), "", ErrTokenInQuery},
		{"a token in the query, escaped", request("/shuffle?a=b&c=%72fl_x&d=rfl_"), "", ErrTokenInQuery},
		{"a reference that only has the letters", request("/audits?reference=myrfl_1"), "", nil},
	} {
		c, err := p.Identify(v.r, home)
		if !errors.Is(err, v.err) || err == nil && c.Key != v.key {
			t.Errorf("%s: %+v, %v; want the key %q and %v", v.name, c, err, v.key, v.err)
		}
	}
	c, err := NewPolicy(nil, nil).Identify(request("/", "Basic a", "Basic b"), home)
	assert.Truef(t, err == nil && c.Key == "", "without keys, headers for others end in %v", err)
}

func hexOf(t Token) string {
	d := t.Digest()
	return hex.EncodeToString(d[:])
}

func TestTakeFollowsTheGrant(t *testing.T) {
	token := NewToken()
	keys := func(g Grant) []APIKey { return []APIKey{{Name: "k", Digest: token.Digest(), Grant: g}} }
	bearer := "Bearer " + string(token)
	for _, v := range []struct {
		name      string
		keys      []APIKey
		anonymous *Grant
		header    string
		scope     Scope
		err       error
	}{
		{"without keys everybody may do everything", nil, nil, "", Deal, nil},
		{"with keys strangers may do nothing", keys(Grant{May: Scopes()}), nil, "", Read, ErrAnonymous},
		{"strangers do what they may", keys(Grant{}), &Grant{May: []Scope{Read}}, "", Read, nil},
		{"and nothing else", keys(Grant{}), &Grant{May: []Scope{Read}}, "", Shuffle, ErrAnonymous},
		{"even without keys", nil, &Grant{May: []Scope{Read}}, "", Shuffle, ErrAnonymous},
		{"a key does what it may", keys(Grant{May: []Scope{Shuffle}}), nil, bearer, Shuffle, nil},
		{"and nothing else, though strangers may", keys(Grant{May: []Scope{Shuffle}}), &Grant{May: []Scope{Read}}, bearer, Read, ErrScope},
	} {
		r := request("/")
		if v.header != "" {
			r = request("/", v.header)
		}
		c, err := NewPolicy(v.keys, v.anonymous).Identify(r, home)
		require.NoError(t, err)
		err = c.Take(time.Now(), v.scope, false)
		assert.ErrorIs(t, err, v.err, v.name)
	}
}

// A token is valid before its expiry, and not at it.
func TestTokensExpire(t *testing.T) {
	token, end := NewToken(), time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	p := NewPolicy([]APIKey{{Name: "guest", Digest: token.Digest(), Expires: end, Grant: Grant{May: Scopes()}}}, &Grant{May: Scopes()})
	c, err := p.Identify(request("/", "Bearer "+string(token)), home)
	require.NoError(t, err)
	assert.NoError(t, c.Take(end.Add(-time.Nanosecond), Read, false))
	for _, now := range []time.Time{end, end.AddDate(1, 0, 0)} {
		assert.ErrorIs(t, c.Take(now, Read, false), ErrExpired)
		assert.ErrorIs(t, c.Take(now, Page, false), ErrExpired)
	}
}

func TestLimits(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	take := func(l limiter, n int, writes bool) (taken int) {
		for range n {
			if l.take(now, writes) == 0 {
				taken++
			}
		}
		return taken
	}
	l := newLimiter(Rates{Requests: 2, Burst: 5})
	assert.Equal(t, 5, take(l, 10, true))
	assert.Equal(t, 500*time.Millisecond, l.take(now, true), "the next one waits")
	assert.Equal(t, (Remaining{0, 2500 * time.Millisecond, 5, 2500 * time.Millisecond}), l.remaining(now), "left")
	now = now.Add(time.Second)
	assert.Equal(t, 2, take(l, 10, true), "a second later")

	l = newLimiter(Rates{Records: 10, Bytes: 1000})
	assert.Equal(t, 100, take(l, 100, true))
	l.charge(now, 35, 0)
	assert.Equal(t, 2600*time.Millisecond, l.take(now, true), "after 35 records of 10 a second the next one waits")
	assert.EqualValues(t, 0, l.take(now, false), "a read waits")
	l.charge(now, 0, 5_000_000)
	wait := l.take(now, false)
	assert.Truef(t, wait >= 4998*time.Second && wait <= 5001*time.Second, "after 5 MB of 1 kB a second the next one waits %s", wait)
	assert.Equal(t, (Remaining{}), l.remaining(now), "without a limit for requests, left")
	assert.Equal(t, 1, take(newLimiter(Rates{Requests: 0.1}), 3, true),
		"a rate below one does not let one request through at once")
}

// The addresses of one customer are one peer, and a million peers are not kept.
func TestPeers(t *testing.T) {
	p := NewPolicy(nil, &Grant{May: Scopes(), Rates: Rates{Requests: 1, Burst: 2}})
	now := time.Now()
	ask := func(address string) error {
		c, err := p.Identify(request("/"), quota.Peer(net.JoinHostPort(address, "1")))
		require.NoError(t, err)
		return c.Take(now, Read, false)
	}
	for _, v := range []struct {
		address string
		pass    bool
	}{
		{"192.0.2.7", true},
		{"::ffff:192.0.2.7", true},
		{"192.0.2.7", false},
		{"192.0.2.8", true},
		{"2001:db8::1", true},
		{"2001:db8::ffff:1", true},
		{"2001:db8::2:0:0:1", false},
		{"2001:db8:0:1::1", true},
	} {
		var limit *LimitError
		if err := ask(v.address); (err == nil) != v.pass || err != nil && !errors.As(err, &limit) {
			t.Errorf("%s: %v, want it to pass: %v", v.address, err, v.pass)
		}
	}
	many := netip.MustParseAddr("10.0.0.0")
	for range 1_000_000 {
		_ = p.Anonymous(many)
		many = many.Next()
	}
	assert.NoError(t, ask("192.0.2.7"), "a peer is remembered longer than a million others")
}

func TestSucceed(t *testing.T) {
	token := NewToken()
	policy := func(rates Rates) *Policy {
		return NewPolicy([]APIKey{{Name: "k", Digest: token.Digest(), Grant: Grant{May: Scopes(), Rates: rates}}}, &Grant{May: Scopes(), Rates: rates})
	}
	now, one := time.Now(), Rates{Requests: 1}
	ask := func(p *Policy, headers ...string) error {
		c, err := p.Identify(request("/", headers...), home)
		require.NoError(t, err)
		return c.Take(now, Read, false)
	}
	old := policy(one)
	for _, headers := range [][]string{{}, {"Bearer " + string(token)}} {
		require.NoError(t, ask(old, headers...))
		same, changed := policy(one), policy(Rates{Requests: 2})
		same.Succeed(old)
		changed.Succeed(old)
		assert.Truef(t, ask(same, headers...) != nil && ask(changed, headers...) == nil,
			"%q: a reload forgets what was used, or keeps it though the rate has changed", headers)
	}
}
