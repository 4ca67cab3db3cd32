package main_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestTrustedProxies has a proxy say where requests come from, and somebody else try to.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	l, _ := configured(t, "anonymous: {may: [read], rate: 0.001, burst: 1}\ntrusted-proxies: [127.0.0.1]\n")
	s := l.start(t)
	var got []int
	for _, from := range []string{"198.51.100.1", "198.51.100.1", "198.51.100.2", "203.0.113.9, 198.51.100.2", "", "198.51.100.3:4711", "198.51.100.3:4712", "[2001:db8::1]:443", "[2001:db8::1]:444"} {
		got = append(got, s.get("/decks", "X-Forwarded-For", from).status)
	}
	assert.Equal(t, []int{200, 429, 200, 429, 200, 200, 429, 200, 429}, got, "requests through the proxy")
	l, _ = configured(t, "anonymous: {may: [read], rate: 0.001, burst: 1}\n")
	s = l.start(t)
	got = nil
	for _, from := range []string{"198.51.100.1", "198.51.100.2"} {
		got = append(got, s.get("/decks", "X-Forwarded-For", from).status)
	}
	assert.Equal(t, []int{200, 429}, got, "requests that say they come from elsewhere")
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

// TestCallersWhoLeaveAreCharged has callers who may write a record in 1,000 seconds hang up on a long
// answer, and make and draw from a deck in one request. Each record is charged and logged (H12).
func TestCallersWhoLeaveAreCharged(t *testing.T) {
	t.Parallel()
	tokens := []access.Token{access.NewToken(), access.NewToken()}
	text := "keys:\n"
	for i, token := range tokens {
		text += fmt.Sprintf("  - {name: k%d, sha256: %x, may: [shuffle, deal], records: 0.001}\n", i, token.Digest())
	}
	l, _ := configured(t, text+"anonymous: {may: [metrics]}\ndeckofcards: true\n")
	s := l.start(t)
	for range 10 {
		c := s.dial(t)
		if _, err := io.WriteString(c, "POST /shuffle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer "+
			string(tokens[0])+"\r\nContent-Length: 17\r\n\r\n"+`{"size": 1000000}`); err != nil {
			t.Fatal(err)
		}
		_, err := io.ReadFull(c, make([]byte, 12))
		require.NoError(t, err)
		_ = c.Close()
	}
	assert.Equal(t, http.StatusTooManyRequests, s.post("/shuffle", `{"size":3}`, with(tokens[0])...).status,
		"after ten answers that were hung up on, the next")
	a := s.get("/api/deck/new/draw/", with(tokens[1])...)
	assert.Equalf(t, http.StatusOK, a.status, "a new deck that is drawn from is answered %v", a)
	// One record would be made up for after at most 1,000 seconds.
	refused := s.get("/api/deck/new/", with(tokens[1])...)
	if wait, _ := strconv.Atoi(refused.header.Get("Retry-After")); refused.status != http.StatusTooManyRequests || wait <= 1000 {
		t.Errorf("after a request with two records the next is %d, to be sent again after %d s", refused.status, wait)
	}
	until(t, "the answer that was hung up on is counted", func() bool {
		return s.metric("riffle_http_request_duration_seconds_count", `route="/shuffle",status="499"`) == 1
	})
	s.stop()
	if log := s.log.String(); !regexp.MustCompile(`"route":"/shuffle","status":499,.*"audit_id"`).MatchString(log) ||
		!regexp.MustCompile(`"route":"/api/deck/new/draw/?","status":200,.*"audit_id":"[^"]*","records":2`).MatchString(log) {
		t.Errorf("the records are not in the access log:\n%s", log)
	}
}
