package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/access"
)

// TestKeys takes the way of an operator: a key in the file, requests with and without its token, and
// another key by SIGHUP. The token is in no line of the log.
func TestKeys(t *testing.T) {
	t.Parallel()
	token, other := access.NewToken(), access.NewToken()
	text := func(token access.Token) string {
		return fmt.Sprintf("keys:\n  - {name: table, sha256: %x, may: [shuffle, metrics]}\nanonymous: {may: [read]}\ndeckofcards: true\n", token.Digest())
	}
	l, path := configured(t, text(token))
	s := l.start(t)
	status := func(token access.Token, method, path, body string) int {
		return s.must(method, path, body, with(token)...).status
	}
	shuffleAs := func(token access.Token) int { return status(token, http.MethodPost, "/shuffle", `{"size":3}`) }
	for _, v := range []struct {
		name      string
		got, want int
	}{
		{"a shuffle without a token", shuffleAs(""), 401},
		{"a shuffle with one that nobody has", shuffleAs(other), 401},
		{"a shuffle with the key", shuffleAs(token), 200},
		{"a shoe with the key", status(token, http.MethodPost, "/shoes", `{"size":3}`), 403},
		{"a read without a token", status("", http.MethodGet, "/decks", ""), 200},
		{"the metrics without a token", status("", http.MethodGet, "/metrics", ""), 401},
		{"the metrics with the key", status(token, http.MethodGet, "/metrics", ""), 200},
		{"health without a token", status("", http.MethodGet, "/readyz", ""), 200},
		{"a token in the query", status("", http.MethodGet, "/decks?token="+string(token), ""), 400},
		{"a deck of deckofcardsapi without a token", status("", http.MethodGet, "/api/deck/new/", ""), 401},
		{"a picture without a token", status("", http.MethodGet, "/static/img/AS.svg", ""), 200},
	} {
		assert.Equal(t, v.want, v.got, v.name)
	}
	writeConfig(t, path, text(other))
	s.signal(syscall.SIGHUP)
	until(t, "the new key is known", func() bool { return shuffleAs(other) == 200 })
	assert.Equal(t, 401, shuffleAs(token), "the old token")
	s.stop()
	log := s.log.String()
	for _, secret := range []access.Token{token, other} {
		assert.NotContains(t, log, string(secret), "a token is in the log")
		assert.NotContains(t, log, string(secret[4:]), "a token is in the log")
	}
	assert.Truef(t, strings.Contains(log, `"key":"table","audit_id":"`) && strings.Count(log, `"msg":"request"`) >= 13,
		"the access log does not have every request:\n%s", log)
}

// TestCallersOfTheFacade has clients of deckofcardsapi send each other's Idempotency-Key, and tokens
// where they do not belong.
func TestCallersOfTheFacade(t *testing.T) {
	t.Parallel()
	a, b := access.NewToken(), access.NewToken()
	l, _ := configured(t, fmt.Sprintf("keys:\n- {name: a, sha256: %x, may: [deal, read]}\n- {name: b, sha256: %x, may: [deal]}\ndeckofcards: true\n", a.Digest(), b.Digest()))
	s := l.start(t)
	ask := func(token access.Token, path string, headers ...string) *answer {
		t.Helper()
		return s.get(path, with(token, headers...)...)
	}
	const draw = "/api/deck/new/draw/?count=2"
	first := ask(a, draw, "Idempotency-Key", "1")
	again := ask(a, draw, "Idempotency-Key", "1")
	assert.Truef(t, first.status == http.StatusOK && string(again.body) == string(first.body), "a retry is answered %v, and first %v", again, first)
	foreign := ask(b, draw, "Idempotency-Key", "1")
	if foreign.status != http.StatusConflict || !strings.Contains(string(foreign.body), "another caller") || strings.Contains(string(foreign.body), "_id") {
		t.Errorf("a retry of another caller is answered %v", foreign)
	}
	var deck struct {
		ID string `json:"deck_id"`
	}
	s.read(first, &deck)
	for _, path := range []string{
		"/pile/" + string(a) + "/list/", "/pile/" + string(a) + "/draw/?count=2", "/pile/x/draw/?cards=" + string(a), "/draw/?count=" + string(a), "/draw/?" + string(a)[:30],
	} {
		refused := ask(a, "/api/deck/"+deck.ID+path)
		assert.NotContainsf(t, string(refused.body), string(a)[4:14], "%s is answered %v", path, refused)
	}
	assert.NotContainsf(t, s.log.String(), string(a)[4:14], "a token is in the log:\n%s", s.log)
	picture := ask(a, "/static/img/AS.svg")
	if caching := picture.header.Get("Cache-Control"); picture.status != http.StatusOK || caching != "private, max-age=86400" {
		t.Errorf("without anonymous readers, a picture is answered %d with Cache-Control %q", picture.status, caching)
	}
}

// TestPagesAreLimited has strangers load pages beyond the limit of callers without a token. Health
// checks and keys have others.
func TestPagesAreLimited(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	for _, path := range []string{"/", "/verify", "/docs", "/docs/spec", "/static/nothing.js", "/verify-worker.js"} {
		l, _ := configured(t, fmt.Sprintf("keys: [{name: k, sha256: %x, may: [read]}]\nanonymous: {rate: 0.001, burst: 2}\n", token.Digest()))
		s := l.start(t)
		for i := range 4 {
			got := s.get(path, "Accept", "text/html").status
			assert.Equalf(t, i >= 2, got == http.StatusTooManyRequests, "request %d for %s is answered %d", i, path, got)
		}
		for _, free := range []string{"/healthz", "/readyz"} {
			assert.Equal(t, http.StatusOK, s.get(free).status, free)
		}
		assert.Equal(t, http.StatusOK, s.get("/decks", with(token)...).status, "a key")
		s.stop()
	}
}
