package api

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"riffle/internal/access"
	"riffle/internal/ledger"
	"riffle/internal/suggest"
)

// home answers GET /: browsers get a page, programs the addresses of contract and checkpoint.
func (a *API) home(x *exchange) error {
	x.Header().Add("Vary", "Accept")
	if a.Home != nil && acceptsHTML(x.r) {
		return sendPage(a.Home)(a, x)
	}
	return x.send(typeJSON, []byte(`{"service":"riffle","contract":"/openapi.yaml","checkpoint":"/log/checkpoint"}`+"\n"))
}

// link answers GET /a/{id}, which people send each other.
func (a *API) link(x *exchange) (err error) {
	if a.policy.Load().Public(access.Read) {
		_, err = a.Disclosure.Audit(x.r.Context(), parseID(chi.URLParam(x.r, "id")))
	}
	a.Link(x, x.r, !errors.Is(err, ledger.ErrNotFound)) // the page shows other errors
	return nil
}

// acceptsHTML reports whether the Accept field names HTML, as browsers' fields do.
func acceptsHTML(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		if kind, parameters, _ := strings.Cut(part, ";"); strings.EqualFold(strings.TrimSpace(kind), "text/html") {
			return strings.ReplaceAll(parameters, " ", "") != "q=0"
		}
	}
	return false
}

// contract answers GET /openapi.yaml.
func (a *API) contract(x *exchange) error {
	x.cache("max-age=300")
	return x.send(typeYAML, a.Contract)
}

// noSuchPath answers requests to unknown paths. It redirects paths with a slash too many, and otherwise
// suggests the nearest path.
func (a *API) noSuchPath(x *exchange) error {
	if to := a.withoutSlash(x.r); to != "" {
		x.Header().Set("Cache-Control", "no-store")
		x.Header().Set("Location", to)
		x.WriteHeader(http.StatusPermanentRedirect) // with the same method and body
		return nil
	}
	if len(a.More) == 0 && isDeckOfCards(x.r.URL.Path) {
		return notFound("The paths of deckofcardsapi are off, because GET requests change things there. To serve them, start the service with --deckofcards.")
	}
	if a.Missing != nil && acceptsHTML(x.r) {
		return sendPage(a.Missing)(a, x)
	}
	if near := a.nearestPath(x.r.URL.Path); near != "" && near != x.r.URL.Path { // equal in another case
		return notFound("There is nothing at this path; did you mean %s? GET /openapi.yaml lists what there is.", near)
	}
	return notFound("There is nothing at this path. GET /openapi.yaml lists what there is.")
}

// isDeckOfCards reports whether clients of deckofcardsapi may ask for a path.
func isDeckOfCards(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/static/img/")
}

// withoutSlash returns the path without the slashes at its end, relative, since a proxy may have removed a
// prefix. It returns "" if there is no such path.
func (a *API) withoutSlash(r *http.Request) string {
	routed := cmp.Or(r.URL.RawPath, r.URL.Path)
	slashes := len(routed) - len(strings.TrimRight(routed, "/"))
	if slashes == 0 || !a.router.Match(chi.NewRouteContext(), r.Method, routed[:len(routed)-slashes]) {
		return ""
	}
	path := strings.TrimRight(r.URL.EscapedPath(), "/")
	to := strings.Repeat("../", slashes) + path[strings.LastIndexByte(path, '/')+1:]
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	plain, _ := url.QueryUnescape(to)
	if text := to + " " + plain; suggest.Mask(text) != text {
		return "" // proxies log redirects
	}
	return to
}

//go:embed hints.json
var hintsFile []byte

// hints say what to send in place of names that others have: for members of a shuffle with draw,
// and for paths, also of the contract at other services.
var hints = sync.OnceValue(func() (all struct{ Members, Paths map[string]string }) {
	if err := json.Unmarshal(hintsFile, &all); err != nil {
		panic(err) // it is embedded
	}
	return all
})

// nearestPath returns the route whose words are most similar to a path's, or "" if none is similar.
func (a *API) nearestPath(path string) string {
	path = strings.TrimPrefix(strings.ToLower(strings.TrimRight(path, "/")), "/v1")
	patterns := maps.Clone(hints().Paths) // by the path, with its own words in place of parameters
	words := strings.Split(path, "/")
	for i, word := range words {
		if len(word) >= 32 { // an id, by which /reveal/{id} would resemble /decks/{type}
			words[i] = ""
		}
	}
	if id, found := strings.CutSuffix(path, "/burn"); found && strings.HasPrefix(path, "/shoes/") {
		return id + `/draw with "to": "burnt", a pile`
	}
	path = strings.Join(words, "/")
	for _, route := range table() {
		pattern := strings.Split(route.pattern, "/")
		if len(pattern) != len(words) || strings.Contains(route.pattern, "*") {
			continue
		}
		for i, word := range pattern {
			if strings.HasPrefix(word, "{") {
				pattern[i] = words[i]
			}
		}
		patterns[strings.Join(pattern, "/")] = route.pattern
	}
	return patterns[suggest.Nearest(path, slices.Sorted(maps.Keys(patterns)))]
}
