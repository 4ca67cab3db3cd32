package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
)

// from adds the header fields of a page of an origin.
func from(origin string, r *http.Request) *http.Request {
	r.Header.Set("Origin", origin)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	return r
}

func preflight(t *testing.T, origin, method, path string) *http.Request {
	t.Helper()
	r := from(origin, request(t, http.MethodOptions, path))
	r.Header.Set("Access-Control-Request-Method", method)
	r.Header.Set("Access-Control-Request-Headers", "authorization,content-type,idempotency-key")
	return r
}

// TestOriginsOfPages has pages of any origin use read-only routes, and pages of listed origins write.
func TestOriginsOfPages(t *testing.T) {
	var origins access.Origins
	require.NoError(t, origins.UnmarshalText([]byte("https://game.example")))
	s := start(t, setup{origins: origins})
	const listed, other = "https://game.example", "https://evil.example"
	shuffle := func() *http.Request { return post(t, "/shuffle", `{"size":3}`) }
	for _, v := range []struct {
		name    string
		r       *http.Request
		status  int
		allowed string // origin
		vary    bool   // by it
	}{
		{"a read", from(other, get(t, "/decks")), 200, "*", false},
		{"a read without an origin, for a cache", get(t, "/decks"), 200, "*", false},
		{"a read that finds nothing", from(other, get(t, "/audits/"+strings.Repeat("0", 36))), 404, "*", false},
		{"a write of a listed page", from(listed, shuffle()), 200, listed, true},
		{"a write of another", from(other, shuffle()), 403, "", true},
		{"a GET that writes, of a listed page", from(listed, get(t, "/decks/standard52")), 200, listed, true},
		{"a GET that writes, of another", from(other, get(t, "/decks/standard52")), 403, "", true},
		{"a shoe", from(other, get(t, noShoe)), 404, "", true},
		{"health", from(other, get(t, "/healthz")), 200, "", false},
		{"metrics", from(other, get(t, "/metrics")), 200, "", false},
		{"preflight of a read", preflight(t, other, "GET", "/audits/x/proof"), 200, "*", true},
		{"preflight of a HEAD", preflight(t, other, "HEAD", "/audits/x/proof"), 200, "*", true},
		{"preflight of a HEAD of a shoe, of a listed page", preflight(t, listed, "HEAD", noShoe), 200, listed, true},
		{"preflight of a HEAD where GET writes", preflight(t, listed, "HEAD", "/decks/standard52"), 405, "", false},
		{"preflight of a write of a listed page", preflight(t, listed, "POST", "/shuffle"), 200, listed, true},
		{"preflight of a write of another", preflight(t, other, "POST", "/shuffle"), 200, "", true},
		{"preflight of a GET that writes", preflight(t, other, "GET", "/decks/standard52"), 200, "", true},
		{"preflight of a method that the path does not take", preflight(t, listed, "DELETE", "/shuffle"), 405, "", false},
		{"preflight of no path", preflight(t, listed, "GET", "/nothing"), 404, "", false},
		{"OPTIONS that is no preflight", from(listed, request(t, http.MethodOptions, "/decks")), 405, "", false},
	} {
		a := s.send(t, v.r)
		allowed, vary := a.header.Get("Access-Control-Allow-Origin"), strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Origin")
		assert.Truef(t, a.status == v.status && allowed == v.allowed && vary == v.vary,
			"%s: %d for %q, varying by origin: %v; want %d for %q and %v", v.name, a.status, allowed, vary, v.status, v.allowed, v.vary)
		assert.Equalf(t, "", a.header.Get("Access-Control-Allow-Credentials"), "%s: credentials are allowed", v.name)
	}
}

// HEAD answers with the header of GET wherever GET only reads, and writes nothing.
func TestHeadReads(t *testing.T) {
	s := start(t, setup{})
	id := mustShuffle(t, s, `{"size":3}`).AuditID
	shoe := mustCreateShoe(t, s, `{"size":3}`).path()
	for _, path := range []string{"/decks", "/decks/standard52/cards", "/cards/standard52", "/cards/standard52/AS.svg", "/audits/" + id, "/audits?reference=a", shoe, "/log/key", "/openapi.yaml", "/healthz", "/readyz"} {
		whole, head := s.send(t, get(t, path)), s.send(t, request(t, http.MethodHead, path))
		if whole.status != 200 || head.status != 200 || whole.header.Get("Content-Type") != head.header.Get("Content-Type") ||
			whole.header.Get("Content-Length") != head.header.Get("Content-Length") || whole.header.Get("ETag") != head.header.Get("ETag") {
			t.Errorf("%s: GET %d %v, HEAD %d %v", path, whole.status, whole.header, head.status, head.header)
		}
	}
	before := s.logSize()
	if a := s.send(t, request(t, http.MethodHead, "/decks/standard52")); a.status != http.StatusMethodNotAllowed || s.logSize() != before {
		t.Errorf("HEAD of a GET that writes: %d, and the log grew from %d to %d", a.status, before, s.logSize())
	}
}
