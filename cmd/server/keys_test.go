package main_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"riffle/internal/access"
)

// askAs sends a request with a token, or without one if it is empty.
func (s *server) askAs(token access.Token, method, path, body string, header ...string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+string(token))
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer
}

// TestKeys takes the way of an operator: a key in the file, requests with and without its token, and
// another key by SIGHUP. The token is in no line of the log.
func TestKeys(t *testing.T) {
	t.Parallel()
	token, other := access.NewToken(), access.NewToken()
	text := func(token access.Token) string {
		return fmt.Sprintf("keys:\n  - {name: table, sha256: %x, may: [shuffle, metrics]}\nanonymous: {may: [read]}\n", token.Digest())
	}
	l, path := configured(t, text(token))
	s := l.start(t)
	status := func(token access.Token, method, path, body string) int {
		return s.askAs(token, method, path, body).StatusCode
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
		if v.got != v.want {
			t.Errorf("%s: %d, want %d", v.name, v.got, v.want)
		}
	}
	writeConfig(t, path, text(other))
	s.signal(syscall.SIGHUP)
	until(t, "the new key is known", func() bool { return shuffleAs(other) == 200 })
	if got := shuffleAs(token); got != 401 {
		t.Errorf("the old token is answered %d", got)
	}
	s.stop()
	log := s.log.String()
	for _, secret := range []access.Token{token, other} {
		if strings.Contains(log, string(secret)) || strings.Contains(log, string(secret[4:])) {
			t.Errorf("a token is in the log:\n%s", log)
		}
	}
	if !strings.Contains(log, `"key":"table","audit_id":"`) || strings.Count(log, `"msg":"request"`) < 13 {
		t.Errorf("the access log does not have every request:\n%s", log)
	}
}

// TestTrustedProxies has a proxy say where requests come from, and somebody else try to.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	l, _ := configured(t, "anonymous: {may: [read], rate: 0.001, burst: 1}\ntrusted-proxies: [127.0.0.1]\n")
	s := l.start(t)
	var got []int
	for _, from := range []string{"198.51.100.1", "198.51.100.1", "198.51.100.2", "203.0.113.9, 198.51.100.2", "", "198.51.100.3:4711", "198.51.100.3:4712", "[2001:db8::1]:443", "[2001:db8::1]:444"} {
		got = append(got, s.askAs("", http.MethodGet, "/decks", "", "X-Forwarded-For", from).StatusCode)
	}
	if want := []int{200, 429, 200, 429, 200}; !slices.Equal(got, want) {
		t.Errorf("requests through the proxy: %v, want %v", got, want)
	}
	l, _ = configured(t, "anonymous: {may: [read], rate: 0.001, burst: 1}\n")
	s = l.start(t)
	got = nil
	for _, from := range []string{"198.51.100.1", "198.51.100.2"} {
		got = append(got, s.askAs("", http.MethodGet, "/decks", "", "X-Forwarded-For", from).StatusCode)
	}
	if want := []int{200, 429}; !slices.Equal(got, want) {
		t.Errorf("requests that say they come from elsewhere: %v, want %v", got, want)
	}
}
