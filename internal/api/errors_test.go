package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A path that ends in slashes too many is redirected to the one without, relative to where it is,
// with the method and the body, and never to another host.
func TestTrailingSlashesAreRedirected(t *testing.T) {
	server := httptest.NewServer(start(t, setup{}))
	t.Cleanup(server.Close)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct {
		method, path, location string
		status                 int
	}{
		{"GET", "/decks/", "../decks", 308},
		{"GET", "/decks//", "../../decks", 308},
		{"HEAD", "/decks/", "../decks", 308},
		{"POST", "/shuffle/", "../shuffle", 308},
		{"GET", "/decks/standard52/?draw=5&hands=2,3", "../standard52?draw=5&hands=2,3", 308},
		{"GET", "/audits/01890A5D-ac96-774b-bcce-b302099a8057/proof/", "../proof", 308},
		{"GET", "/cards/standard52/%41S.svg/", "../%41S.svg", 308},
		{"GET", "/shuffle/", "", 404}, // GET is no method of it
		{"GET", "//", "", 404},
		{"GET", "//evil.example/", "", 404},
		{"GET", "/cards/%2F%2Fevil.example/x/", "../x", 308},
		{"GET", "/decks%2F", "", 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, nil)
		require.NoError(t, err)
		answer, err := client.Do(r)
		require.NoError(t, err)
		readBody(t, answer)
		assert.Equalf(t, c.status, answer.StatusCode, "%s %s", c.method, c.path)
		assert.Equalf(t, c.location, answer.Header.Get("Location"), "%s %s", c.method, c.path)
		from, err := url.Parse(server.URL + c.path)
		require.NoError(t, err)
		to, err := from.Parse(answer.Header.Get("Location"))
		require.NoErrorf(t, err, "%s leads to %v", c.path, to)
		assert.Equalf(t, from.Host, to.Host, "%s leads to %v", c.path, to)
	}
	followed, err := server.Client().Post(server.URL+"/shuffle/", "application/json", strings.NewReader(`{"size":3}`))
	require.NoError(t, err)
	readBody(t, followed)
	assert.Truef(t, followed.StatusCode == http.StatusOK && followed.Request.URL.Path == "/shuffle",
		"POST /shuffle/ ends with %d at %s", followed.StatusCode, followed.Request.URL)
}

// TestErrorsAreShort sends long texts: an error repeats only the head of one, and takes no longer.
func TestErrorsAreShort(t *testing.T) {
	s := start(t, setup{})
	long := strings.Repeat("standard52/", 1<<17)
	inURL := long[:5000]
	for name, r := range map[string]*http.Request{
		"member":         post(t, "/shuffle", `{"`+long+`":1}`),
		"duplicate":      post(t, "/shuffle", `{"parameters":{"`+long+`":1,"`+long+`":1}}`),
		"deck":           post(t, "/shuffle", `{"deck":"`+long+`"}`),
		"preset":         post(t, "/shuffle", `{"deck":"standard52","hands":"`+long+`"}`),
		"algorithm":      post(t, "/shuffle", `{"size":2,"algorithm":"`+long+`"}`),
		"deck parameter": post(t, "/shuffle", `{"deck":"undercover","parameters":{"`+long+`":1}}`),
		"its value":      post(t, "/shuffle", `{"deck":"undercover","parameters":{"`+long+`":2000000}}`),
		"its kind":       post(t, "/shuffle", `{"deck":"undercover","parameters":{"`+long+`":"x"}}`),
		"number":         post(t, "/shuffle", `{"size":`+strings.Repeat("9", 1<<20)+`}`),
		"draw":           post(t, "/shuffle", `{"size":2,"draw":`+strings.Repeat("9", 1<<20)+`}`),
		"reveal":         post(t, "/shuffle", `{"size":2,"reveal":"`+long+`"}`),
		"parameter":      get(t, "/decks?"+url.QueryEscape(inURL)+"=1"),
		"twice":          get(t, "/decks?a="+inURL+"&"+url.QueryEscape(inURL)+"=1&"+url.QueryEscape(inURL)+"=1"),
		"its number":     get(t, "/decks/undercover?"+url.QueryEscape(inURL)+"=x"),
		"deck in path":   get(t, "/decks/"+url.PathEscape(inURL)),
		"path":           get(t, "/"+inURL),
		"method":         request(t, strings.Repeat("A", 5000), "/shuffle"),
		"version":        ifMatch(post(t, noShoe+"/draw", `{}`), inURL),
	} {
		got := s.send(t, r)
		if got.status < 400 || got.status >= 500 || len(got.body) > 1200 || strings.Contains(got.body, long[:81]) || strings.Contains(got.body, strings.Repeat("9", 81)) {
			t.Errorf("%s: %d with %d bytes: %.300s", name, got.status, len(got.body), got.body)
		}
	}
}
