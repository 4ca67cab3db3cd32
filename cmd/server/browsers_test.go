package main_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPagesOfOtherSitesWriteNothing sends requests as browsers do for a page of another site, or for
// one that has rebound its name to this machine. The tests of internal/api try all routes.
func TestPagesOfOtherSitesWriteNothing(t *testing.T) {
	t.Parallel()
	s := launch{env: []string{"RIFFLE_HOSTS=riffle.example, table.example", "RIFFLE_DECKOFCARDS=true"}}.start(t)
	for _, v := range []struct {
		method, path, host string
		header, value      string
		want               int
		writes             bool
	}{
		{"GET", "/decks/standard52", "", "Sec-Fetch-Site", "cross-site", 403, false},
		{"GET", "/decks/standard52", "", "Sec-Fetch-Site", "same-site", 403, false},
		{"GET", "/decks/standard52", "", "Sec-Fetch-Site", "same-origin", 200, true},
		{"GET", "/decks", "", "Sec-Fetch-Site", "cross-site", 200, false},
		{"POST", "/shuffle", "", "Content-Type", "text/plain", 415, false}, // a form of an old browser; JSON takes a preflight
		{"OPTIONS", "/shuffle", "", "Origin", "https://evil.example", 405, false},
		{"POST", "/shuffle", "evil.example:8080", "Sec-Fetch-Site", "same-origin", 421, false},
		{"GET", "/api/deck/new/", "evil.example", "", "", 421, false},
		{"GET", "/healthz", "10.1.2.3:8080", "", "", 200, false},
		{"GET", "/readyz", "riffle-1", "", "", 200, false},
		{"GET", "/api/deck/new/", "", "Sec-Fetch-Site", "cross-site", 200, true}, // like deckofcardsapi.com
		{"POST", "/shuffle", "table.example", "", "", 200, true},
	} {
		headers := []string{"Host", v.host}
		if v.header != "" {
			headers = append(headers, v.header, v.value)
		}
		before := s.metric("riffle_log_size", "")
		answer := s.must(v.method, v.path, `{"size":2}`, headers...)
		assert.Equalf(t, v.want, answer.status, "%+v", v)
		assert.Equalf(t, v.writes, s.metric("riffle_log_size", "") > before, "%+v", v)
	}
}
