package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Errors say what was sent, what is accepted, and what may have been meant. Requests are sent over
// HTTP.
func TestErrorsHelp(t *testing.T) {
	s := start(t, setup{})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	id := mustShuffle(t, s, `{"size":3}`).AuditID
	shoe := mustCreateShoe(t, s, `{"deck":"standard52"}`).path()
	const json, form, none = "application/json", "application/x-www-form-urlencoded", ""
	for _, c := range []struct {
		method, path, media, body string
		status                    int
		at                        string // pointer or parameter; empty for none
		detail                    string
	}{
		{"POST", "/shuffle", json, `{"deck":"standard52","hands":4}`, 400, "/hands", `hands must be the sizes of the hands, such as [5,5], or a preset of the deck, such as "bridge"; got a number.`},
		{"POST", "/shuffle", json, `{"deck":"standard52","hands":"5,5"}`, 422, "/hands", `Deck standard52 has no preset "5,5"; give the sizes of the hands, as in [5,5], or a preset: bridge, hearts, holdem, omaha, stud, blackjack, rummy, gin.`},
		{"POST", "/shuffle", json, `{"deck":"standard52","hands":"brigde:4"}`, 422, "/hands", `Deck standard52 has no preset "brigde:4"; did you mean bridge?`},
		{"GET", "/decks/tarot78?hands=uno", none, ``, 422, "hands", `Deck tarot78 has no preset "uno"; give the sizes of the hands, as in [5,5].`},
		{"POST", "/shoes", json, `{"deck":"standard52","decks":0}`, 422, "/decks", `decks must be from 1 to 78 for a deck of 52; got 0.`},
		{"POST", "/shoes", json, `{"deck":"standard52","decks":79}`, 422, "/decks", `decks must be from 1 to 78 for a deck of 52; got 79.`},
		{"POST", "/shuffle", json, `{"deck":"standard52","draw":-1}`, 422, "/draw", `draw must be from 0 to 52; got -1.`},
		{"POST", "/shuffle", json, `{"items":[1,2],"draw":1000000000000000000000000}`, 422, "/draw", `draw must be from 0 to 2; got 1000000000000000000000000.`},
		{"GET", "/decks/standard52?draw=-1", none, ``, 422, "draw", `draw must be from 0 to 52; got -1.`},
		{"GET", "/decks/standard52?draw=53", none, ``, 422, "draw", `draw must be from 0 to 52; got 53.`},
		{"POST", "/shuffle", json, `{"deck":"holdem:6"}`, 422, "/deck", `There is no deck type "holdem:6"; did you mean deck standard52 with hands holdem:6?`},
		{"POST", "/deal", json, `{"deck":"standard52"}`, 404, "", `There is nothing at this path; did you mean /shuffle with hands or draw, /shoes, or /decks for what can be dealt? GET /openapi.yaml lists what there is.`},
		{"POST", shoe + "/burn", json, `{}`, 404, "", `There is nothing at this path; did you mean ` + shoe + `/draw with "to": "burnt", a pile? GET /openapi.yaml lists what there is.`},
		{"POST", "/shuffle", json, `{"deck":"standard52","counts":[5]}`, 400, "/counts", `"counts" is not a member of this request; it takes items, items_salt, deck, decks, parameters, size, algorithm, draw, hands, repeat, client_seed, reference, unique_reference, commitment_id, beacon_signature, reveal.`},
		{"POST", "/shuffle", json, `{"items":["a","b"],"winners":1}`, 400, "/winners", `"winners" is not a member of this request; did you mean draw?`},
		{"POST", "/shuffle", json, `{"count":5}`, 400, "/count", `"count" is not a member of this request; did you mean draw? The count of a book is given in POST /commitments.`},
		{"POST", "/shuffle", json, `{"items":["a","b"],"weights":[1,2]}`, 400, "/weights", `"weights" is not a member of this request; did you mean draw? List an item as often as it weighs, and draw 1.`},
		{"POST", "/shuffle", json, `{"Deck":"standard52"}`, 400, "/Deck", `"Deck" is not a member of this request; did you mean deck?`},
		{"POST", "/shuffle", json, `{"clientSeed":"x"}`, 400, "/clientSeed", `"clientSeed" is not a member of this request; did you mean client_seed?`},
		{"POST", "/shoes", json, `{"deck":"standard52","expires":5}`, 400, "/expires", `"expires" is not a member of this request; it takes items, items_salt, deck, decks, parameters, size, algorithm, client_seed, reference, unique_reference, commitment_id, beacon_signature, expires_in, cut.`},
		{"POST", shoe + "/draw", json, `{"counts":1}`, 400, "/counts", `"counts" is not a member of this request; did you mean count?`},
		{"POST", shoe + "/close", json, `{"now":true}`, 400, "/now", `"now" is not a member of this request; it takes none.`},
		{"POST", "/shuffle", json, `{"deck":"standart52"}`, 422, "/deck", `There is no deck type "standart52"; did you mean standard52?`},
		{"POST", "/shuffle", json, `{"deck":"poker"}`, 422, "/deck", `There is no deck type "poker"; did you mean standard52?`},
		{"POST", "/shoes", json, `{"deck":"52"}`, 422, "/deck", `There is no deck type "52"; did you mean standard52?`},
		{"POST", "/shuffle", json, `{"deck":"Skat"}`, 422, "/deck", `There is no deck type "Skat"; did you mean piquet32?`},
		{"POST", "/shuffle", json, `{"deck":"quartets"}`, 422, "/deck", `There is no deck type "quartets"; GET /decks lists them.`},
		{"GET", "/decks/mahjong/cards", none, ``, 404, "", `There is no deck type "mahjong"; did you mean mahjong136?`},
		{"POST", "/shuffle", json, `{"size":2,"algorithm":"Fisher_Yates"}`, 422, "/algorithm", `There is no algorithm "Fisher_Yates"; did you mean fisher-yates?`},
		{"POST", "/shuffle", json, `{"size":2,"algorithm":"knuth"}`, 422, "/algorithm", `There is no algorithm "knuth"; there are fisher-yates, durstenfeld, inside-out, strike-out, sattolo.`},
		{"POST", "/shuffle", json, `{"deck":"undercover","parameters":{"player":5}}`, 422, "/parameters/player", `Parameter player is not one that undercover takes; did you mean players?`},
		{"GET", "/decks/standard52?hand=5", none, ``, 400, "hand", `"hand" is not a parameter of this path; did you mean hands?`},
		{"GET", "/decks?page=5", none, ``, 400, "page", `"page" is not a parameter of this path; it takes none.`},
		{"POST", "/shuffle", json, `{"deck":"standard52",}`, 400, "", `The body is not JSON at byte 20: there is a comma too many.`},
		{"GET", "/dice", none, ``, 404, "", `There is nothing at this path; did you mean /shuffle with items, or size, and "draw": 1? GET /openapi.yaml lists what there is.`},
		{"GET", "/docs/", none, ``, 404, "", `There is nothing at this path; did you mean /openapi.yaml? GET /openapi.yaml lists what there is.`},
		{"GET", "/health", none, ``, 404, "", `There is nothing at this path; did you mean /healthz? GET /openapi.yaml lists what there is.`},
		{"POST", "/shufle", json, `{}`, 404, "", `There is nothing at this path; did you mean /shuffle? GET /openapi.yaml lists what there is.`},
		{"POST", "/reveal/" + id, json, `{}`, 404, "", `There is nothing at this path; did you mean /audits/{id}/reveal? GET /openapi.yaml lists what there is.`},
		{"GET", "/games/" + id, none, ``, 404, "", `There is nothing at this path. GET /openapi.yaml lists what there is.`},
		{"GET", "/audits/" + id + "/proofs", none, ``, 404, "", `There is nothing at this path; did you mean /audits/{id}/proof? GET /openapi.yaml lists what there is.`},
		{"GET", "/favicon.ico", none, ``, 404, "", `There is nothing at this path. GET /openapi.yaml lists what there is.`},
		{"POST", "/shuffle", json, `{deck: standard52}`, 400, "", `The body is not JSON at byte 1: names and strings need double quotes, as in {"deck":"standard52"}.`},
		{"POST", "/shuffle", json, `{'deck':'standard52'}`, 400, "", `The body is not JSON at byte 1: names and strings need double quotes, as in {"deck":"standard52"}.`},
		{"POST", "/commitments", json, ``, 400, "", `The body is empty. Send a JSON object, or {} where nothing is required; it takes items, items_salt, deck, decks, parameters, size, algorithm, draw, hands, repeat, reference, unique_reference, expires_in, count, beacon, opens_at_round.`},
		{"POST", shoe + "/draw", none, " \n", 400, "", `The body is empty. Send a JSON object, or {} where nothing is required; it takes count, from, to, put.`},
		{"POST", shoe + "/close", none, ``, 400, "", `The body is empty. Send a JSON object, or {} where nothing is required; it takes none.`},
		{"POST", shoe + "/return", json, `{}`, 422, "", `No cards are there to take. Draw cards or put some there first.`},
		{"POST", "/shuffle", form, `deck=standard52`, 415, "", `The Content-Type is that of a form, which curl -d sends. Send JSON, as in curl --json '{"deck":"standard52"}'.`},
		{"POST", "/shuffle", "multipart/form-data; boundary=x", ``, 415, "", `The Content-Type is that of a form, which curl -d sends. Send JSON, as in curl --json '{"deck":"standard52"}'.`},
		{"POST", "/shuffle", "text/plain", `{"size":2}`, 415, "", `The body must be JSON in UTF-8. Send it with the header Content-Type: application/json (curl: --json).`},
	} {
		t.Run(c.method+" "+c.path+" "+c.body, func(t *testing.T) {
			answer, body := overHTTP(t, server, c.method, c.path, c.media, c.body)
			var problem struct {
				Status int
				Detail string
				Errors []struct{ Pointer, Parameter, Detail string }
			}
			decodeInto(t, body, &problem)
			at := ""
			if len(problem.Errors) > 0 {
				at = problem.Errors[0].Pointer + problem.Errors[0].Parameter
			}
			if answer.StatusCode != c.status || problem.Status != c.status || problem.Detail != c.detail || at != c.at {
				t.Errorf("%d at %q: %s", answer.StatusCode, at, body)
			}
			assert.Truef(t, strings.HasPrefix(body, `{"detail":`), "the detail is not first: %s", body)
		})
	}
}

// overHTTP sends a request to a server without following redirections, and returns the answer with
// its body.
func overHTTP(t *testing.T, server *httptest.Server, method, path, media, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	client := *server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(r)
	require.NoError(t, err)
	return answer, string(readBody(t, answer))
}

func decodeInto(t *testing.T, text string, v any) {
	t.Helper()
	err := json.Unmarshal([]byte(text), v)
	require.NoErrorf(t, err, "%v: %s", err, text)
}

// A path that ends in slashes too many is redirected to the one without, relative to where it is,
// with the method and the body, and never to another host.
func TestTrailingSlashesAreRedirected(t *testing.T) {
	server := httptest.NewServer(start(t, setup{}))
	t.Cleanup(server.Close)
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
		answer, _ := overHTTP(t, server, c.method, c.path, "", "")
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
	if followed.StatusCode != http.StatusOK || followed.Request.URL.Path != "/shuffle" {
		t.Errorf("POST /shuffle/ ends with %d at %s", followed.StatusCode, followed.Request.URL)
	}
}

// A body without a type is taken for JSON, unless a page sent it: browsers let pages of other sites
// send such a body unasked.
func TestBodyWithoutAType(t *testing.T) {
	s := start(t, setup{})
	for origin, status := range map[string]int{"": 200, "https://evil.example": 415, "null": 415} {
		r := post(t, "/shuffle", `{"size":2}`)
		r.Header.Del("Content-Type")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		got := s.send(t, r)
		assert.Equalf(t, status, got.status, "from %q: %d %s", origin, got.status, got.body)
	}
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
