package main_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPagesOfOtherSitesWriteNothing sends what the browser of a visitor sends for a page of another
// site, or for one that has rebound its name to this machine, to a service that runs here.
func TestPagesOfOtherSitesWriteNothing(t *testing.T) {
	t.Parallel()
	ask := func(s *server, method, path, host string, header ...string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addr+path, strings.NewReader(`{"size":2}`))
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
			if header[i+1] == "" {
				r.Header.Del(header[i])
			}
		}
		answer, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	s := launch{env: []string{"RIFFLE_HOSTS=riffle.example, table.example"}}.start(t)
	for _, v := range []struct {
		method, path, host string
		header             []string
		want               int
		writes             bool
	}{
		{"GET", "/decks/standard52", "", []string{"Sec-Fetch-Site", "cross-site"}, 403, false},
		{"POST", "/shuffle", "", []string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, 403, false},
		{"POST", "/shuffle", "", []string{"Content-Type", "text/plain"}, 415, false},                         // a form of an old browser; JSON takes a preflight
		{"POST", "/shuffle", "", []string{"Origin", "https://evil.example", "Content-Type", ""}, 415, false}, // a script; bytes take none, either
		{"OPTIONS", "/shuffle", "", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 405, false},
		{"POST", "/shuffle", "evil.example", []string{"Sec-Fetch-Site", "same-origin"}, 421, false},
		{"POST", "/shoes", "evil.example:8080", nil, 421, false},
		{"GET", "/decks/standard52", "evil.example", []string{"Sec-Fetch-Site", "same-origin"}, 421, false},
		{"GET", "/api/deck/new/", "evil.example", nil, 421, false},
		{"GET", "/audits?reference=a", "evil.example", nil, 421, false},
		{"GET", "/healthz", "10.1.2.3:8080", nil, 200, false},
		{"GET", "/readyz", "riffle-1", nil, 200, false},
		{"GET", "/api/deck/new/", "", []string{"Sec-Fetch-Site", "cross-site"}, 200, true}, // as the other service
		{"GET", "/decks/standard52", "", nil, 200, true},
		{"GET", "/decks/standard52", "", []string{"Sec-Fetch-Site", "none"}, 200, true},
		{"POST", "/shuffle", "localhost:8080", nil, 200, true},
		{"POST", "/shuffle", "table.example", nil, 200, true},
	} {
		before := s.metric("riffle_log_size", "")
		got := ask(s, v.method, v.path, v.host, v.header...)
		if wrote := s.metric("riffle_log_size", "") > before; got != v.want || wrote != v.writes {
			t.Errorf("%s %s, Host %q, %v: %d, want %d; a record was written: %t, want %t", v.method, v.path, v.host, v.header, got, v.want, wrote, v.writes)
		}
	}
}
