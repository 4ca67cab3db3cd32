package main_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPagesOfOtherSitesWriteNothing sends requests as browsers do for a page of another site, or for
// one that has rebound its name to this machine. The tests of internal/api try all routes.
func TestPagesOfOtherSitesWriteNothing(t *testing.T) {
	t.Parallel()
	s := launch{env: []string{"RIFFLE_HOSTS=riffle.example, table.example"}}.start(t)
	for _, v := range []struct {
		method, path, host string
		header, value      string
		want               int
		writes             bool
	}{
		{"GET", "/decks/standard52", "", "Sec-Fetch-Site", "cross-site", 403, false},
		{"POST", "/shuffle", "", "Content-Type", "text/plain", 415, false}, // a form of an old browser; JSON takes a preflight
		{"OPTIONS", "/shuffle", "", "Origin", "https://evil.example", 405, false},
		{"POST", "/shuffle", "evil.example:8080", "Sec-Fetch-Site", "same-origin", 421, false},
		{"GET", "/api/deck/new/", "evil.example", "", "", 421, false},
		{"GET", "/healthz", "10.1.2.3:8080", "", "", 200, false},
		{"GET", "/readyz", "riffle-1", "", "", 200, false},
		{"GET", "/api/deck/new/", "", "Sec-Fetch-Site", "cross-site", 200, true}, // like deckofcardsapi.com
		{"POST", "/shuffle", "table.example", "", "", 200, true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), v.method, s.url(v.path), strings.NewReader(`{"size":2}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = v.host
		r.Header.Set("Content-Type", "application/json")
		if v.header != "" {
			r.Header.Set(v.header, v.value)
		}
		before := s.metric("riffle_log_size", "")
		answer, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if wrote := s.metric("riffle_log_size", "") > before; answer.StatusCode != v.want || wrote != v.writes {
			t.Errorf("%+v: %d; a record was written: %t", v, answer.StatusCode, wrote)
		}
	}
}
