package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/access"
	"riffle/internal/journal/journaltest"
)

// scopeOf returns the scope that a route requires according to docs/operations/access.md; empty for none.
func scopeOf(method, path string) access.Scope {
	switch {
	case path == "/" || path == "/healthz" || path == "/readyz":
		return ""
	case path == "/metrics":
		return access.Metrics
	case strings.HasPrefix(path, "/shoes"):
		return access.Deal
	case method != http.MethodGet || path == "/decks/{type}":
		return access.Shuffle
	}
	return access.Read
}

// authorized adds a token to a request.
func authorized(r *http.Request, token access.Token) *http.Request {
	r.Header.Set("Authorization", "Bearer "+string(token))
	return r
}

// Every operation of the contract is tried without a token, with one of each scope, and with one that
// nobody has. So no route can be open by mistake.
func TestEveryRouteTakesItsScope(t *testing.T) {
	tokens := map[access.Scope]access.Token{}
	keys := []access.APIKey{}
	for _, scope := range access.Scopes() {
		tokens[scope] = access.NewToken()
		keys = append(keys, access.APIKey{Name: string(scope), Digest: tokens[scope].Digest(), Grant: access.Grant{May: []access.Scope{scope}}})
	}
	s := start(t, setup{policy: access.NewPolicy(keys, nil)})
	tried := map[access.Scope]int{}
	for _, op := range loadContract(t).operations {
		scope := scopeOf(op.Method, op.Path)
		tried[scope]++
		target := strings.NewReplacer("{type}", "standard52", "{id}", "01a201b9-1975-7a0e-ba4d-55320c5c53f8", "{tile}", "0/000",
			"{file}", "AS.svg", "{pile}", "p", "{position}", "1").Replace(op.Path)
		check := func(name string, r *http.Request, status int) {
			t.Helper()
			a := s.send(t, r)
			refused := a.status == http.StatusUnauthorized || a.status == http.StatusForbidden
			if status != 0 && a.status != status || status == 0 && refused {
				t.Errorf("%s %s %s: %d %s", op.Method, target, name, a.status, a.body)
			}
			challenge := a.header.Get("WWW-Authenticate")
			assert.Equalf(t, (challenge != ""), (a.status == http.StatusUnauthorized),
				"%s %s %s: %d with WWW-Authenticate %q", op.Method, target, name, a.status, challenge)
		}
		if scope == "" {
			check("without a token", request(t, op.Method, target), 0)
			continue
		}
		check("without a token", request(t, op.Method, target), http.StatusUnauthorized)
		check("with a token that nobody has", authorized(request(t, op.Method, target), access.NewToken()), http.StatusUnauthorized)
		for other, token := range tokens {
			status := http.StatusForbidden
			if other == scope {
				status = 0
			}
			check(fmt.Sprint("with the scope ", other), authorized(request(t, op.Method, target), token), status)
		}
	}
	for _, scope := range append(access.Scopes(), "") {
		assert.NotEqualf(t, 0, tried[scope], "no route takes the scope %q", scope)
	}
}

func TestRefusedTokens(t *testing.T) {
	token := access.NewToken()
	var log strings.Builder
	s := start(t, setup{output: &log, policy: access.NewPolicy(
		[]access.APIKey{{Name: "k", Digest: token.Digest(), Grant: access.Grant{May: access.Scopes()}}}, nil)})
	for _, v := range []struct {
		name   string
		change func(r *http.Request)
		status int
		says   string
	}{
		{"two headers", func(r *http.Request) {
			r.Header["Authorization"] = []string{"Bearer " + string(token), "Bearer " + string(token)}
		}, http.StatusBadRequest, "more than one"},
		{"a token in the query", func(r *http.Request) { r.URL.RawQuery = "token=" + string(token) }, http.StatusBadRequest, "query"},
		{"another scheme", func(r *http.Request) { r.SetBasicAuth("k", string(token)) }, http.StatusUnauthorized, "Authorization: Bearer"},
		{"ten kilobytes", func(r *http.Request) { r.Header.Set("Authorization", "Bearer rfl_"+strings.Repeat("A", 10_000)) }, http.StatusUnauthorized, "not a token"},
		{"a token that nobody has", func(r *http.Request) { authorized(r, access.NewToken()) }, http.StatusUnauthorized, "No key has"},
	} {
		r := get(t, "/decks")
		v.change(r)
		a := s.send(t, r)
		a.problem(t)
		assert.Truef(t, a.status == v.status && strings.Contains(a.body, v.says) && !strings.Contains(a.body, string(token)),
			"%s: %d %s; want %d that says %q, without the token", v.name, a.status, a.body, v.status, v.says)
	}
	assert.NotContains(t, log.String(), string(token), "the token is in the log")
}

// TestLimitsOfCallers counts a caller's requests, records and bytes against its limits. Each answer says
// how many requests are left.
func TestLimitsOfCallers(t *testing.T) {
	key := func(rates access.Rates) (access.Token, access.APIKey) {
		token := access.NewToken()
		return token, access.APIKey{Name: "k" + string(token)[5:12], Digest: token.Digest(), Grant: access.Grant{May: access.Scopes(), Rates: rates}}
	}
	slow, slowKey := key(access.Rates{Requests: 0.001, Burst: 2})
	records, recordsKey := key(access.Rates{Records: 0.001})
	bytes, bytesKey := key(access.Rates{Bytes: 10})
	s := start(t, setup{policy: access.NewPolicy([]access.APIKey{slowKey, recordsKey, bytesKey}, &access.Grant{May: []access.Scope{access.Metrics}})})
	statuses := func(token access.Token, requests ...*http.Request) (statuses []int) {
		for _, r := range requests {
			statuses = append(statuses, s.send(t, authorized(r, token)).status)
		}
		return statuses
	}
	shuffle := func() *http.Request { return post(t, "/shuffle", `{"size":5}`) }
	got := statuses(slow, get(t, "/decks"), get(t, "/decks"), get(t, "/decks"), shuffle())
	assert.Equal(t, []int{200, 200, 429, 429}, got, "two requests of a burst, and two more")
	refused := s.send(t, authorized(get(t, "/decks"), slow))
	refused.problem(t)
	for name, want := range map[string]string{
		"Retry-After": "1000", "RateLimit-Policy": `"requests";q=2;w=2000`, "RateLimit": `"requests";r=0;t=2000`,
	} {
		assert.Equal(t, want, refused.header.Get(name), name)
	}
	got = statuses(records, get(t, "/decks"), shuffle(), shuffle(), get(t, "/decks"))
	assert.Equal(t, []int{200, 200, 429, 200}, got, "a read, two shuffles and a read with one record in 1,000 s")
	assert.Equal(t, []int{200, 429}, statuses(bytes, get(t, "/decks"), get(t, "/decks")),
		"two answers of more than ten bytes")
	s.checkMetrics(t, fmt.Sprintf(`riffle_requests_total{key=%q} 5`, slowKey.Name), fmt.Sprintf(`riffle_requests_total{key=%q} 4`, recordsKey.Name))
}

// keysFor returns tokens of keys with the names, which may do everything, and the keys.
func keysFor(names ...string) (tokens map[string]access.Token, keys []access.APIKey) {
	tokens = map[string]access.Token{}
	for _, name := range names {
		tokens[name] = access.NewToken()
		keys = append(keys, access.APIKey{Name: name, Digest: tokens[name].Digest(), Grant: access.Grant{May: access.Scopes()}})
	}
	return tokens, keys
}

// A token, or the head of one, is in no answer, log or metric, wherever it was sent.
func TestTokensAreNotEchoed(t *testing.T) {
	token := string(access.NewToken())
	tokens, keys := keysFor("k")
	var log journaltest.Buffer
	s := start(t, setup{output: &log})
	shoe := mustCreateShoe(t, s, `{"size":3}`).path()
	escaped := func(sent string) string { return strings.Replace(sent, "_", "%5f", 1) }
	withHeader := func(r *http.Request, name, value string) *http.Request {
		r.Header.Set(name, value)
		return r
	}
	requests := func(sent string) (list []*http.Request) {
		for _, target := range []string{
			"/decks?" + sent, "/decks?" + sent + "=1", "/decks?" + sent + "=1&" + sent + "=2", "/decks?" + escaped(sent) + "=1",
			"/decks?" + strings.Replace(sent, "r", "%72", 1) + "=1", "/decks?token=Bearer%20" + sent, "/decks/" + sent, "/decks/" + sent + "/",
			"/decks/?" + sent, "/decks/?" + escaped(sent), "/decks/standard52?hands=" + sent, "/decks/standard52?algorithm=" + sent,
			"/decks/undercover?" + sent + "=1", "/decks/undercover?" + sent + "=a", "/" + sent, "/audits/" + sent, "/commitments?status=" + sent,
			"/commitments?after=" + sent, "/cards/standard52/" + sent + ".svg", "/log/tile/" + sent, shoe + "/piles/" + sent,
		} {
			list = append(list, get(t, target))
		}
		for _, body := range []string{
			`{"%":1}`, `{"deck":"undercover","parameters":{"%":1}}`, `{"deck":"undercover","parameters":{"%":"a"}}`, `{"deck":"%"}`,
			`{"deck":"standard52","hands":"%"}`, `{"size":3,"algorithm":"%"}`, `{"size":3,"reveal":"%"}`, `{"size":%}`, `{"commitment_id":"%"}`,
		} {
			list = append(list, post(t, "/shuffle", strings.ReplaceAll(body, "%", sent)))
		}
		for _, header := range []string{"X-Request-Id", "Origin", "Traceparent", "Accept", "If-None-Match"} {
			list = append(list, withHeader(get(t, "/decks"), header, sent), withHeader(get(t, "/decks"), header, "a:"+sent))
		}
		return append(list, request(t, sent, "/decks"), withHeader(post(t, shoe+"/draw", `{}`), "If-Match", sent), post(t, shoe+"/draw", `{"from":"`+sent+`"}`),
			withHeader(post(t, "/shuffle", `{"size":3}`), "Idempotency-Key", sent+" b"), withHeader(post(t, "/shuffle", `{"size":3}`), "Content-Type", sent))
	}
	for name, policy := range map[string]*access.Policy{"without keys": nil, "with keys": access.NewPolicy(keys, nil)} {
		s.SetPolicy(policy)
		for _, sent := range []string{token, token[:20], "x" + token} {
			for _, r := range requests(sent) {
				if policy != nil {
					authorized(r, tokens["k"])
				}
				a := s.send(t, r)
				for field, values := range a.header {
					assert.NotContainsf(t, strings.Join(values, " "), token[4:14],
						"%s, %s %s is answered with %s: %q", name, r.Method, r.RequestURI, field, values)
				}
				assert.NotContainsf(t, a.body, token[4:14], "%s, %s %s", name, r.Method, r.RequestURI)
			}
		}
	}
	assert.NotContains(t, log.String(), token[4:14], "the token is in the log")
	s.SetPolicy(nil)
	assert.NotContains(t, string(readBody(t, s.do(get(t, "/metrics")))), token[4:14], "the token is in a metric")
}
