package api_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
)

// onLoopback returns the request as it arrives on a connection to a loopback address, with a Host
// header.
func onLoopback(r *http.Request, host string) *http.Request {
	r.Host = host
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
}

// A page of another origin writes nothing, whatever it makes a browser send, unless it is listed.
func TestRejectsCrossSiteWrites(t *testing.T) {
	var origins access.Origins
	require.NoError(t, origins.UnmarshalText([]byte("https://game.example")))
	s := start(t, setup{origins: origins})
	shoe := mustCreateShoe(t, s, `{"size":40}`).path()
	for _, v := range []struct {
		headers []string
		allowed bool
	}{
		{nil, true}, // a program
		{[]string{"Upgrade", "h2c", "Connection", "Upgrade"}, true}, // a program in Java
		{[]string{"Sec-Fetch-Site", "none"}, true},                  // an address that was typed
		{[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://proxy.example"}, true},
		{[]string{"Origin", "http://Riffle.example:8080"}, true}, // over plain HTTP
		{[]string{"Origin", "https://game.example"}, true},
		{[]string{"Origin", "https://game.example", "Sec-Fetch-Site", "cross-site"}, true},
		{[]string{"Origin", "https://evil.example"}, false},
		{[]string{"Origin", "http://riffle.example:3000"}, false},
		{[]string{"Origin", "null"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site"}, false}, // a beacon or a link
		{[]string{"Sec-Fetch-Site", "same-site"}, false},  // another port
		{[]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "same-site"}, false},
		{[]string{"Sec-Fetch-Site", "none", "Sec-Purpose", "prefetch;prerender"}, false},
		{[]string{"Origin", "http://riffle.example:8080", "Upgrade", "websocket", "Connection", "Upgrade"}, false},
	} {
		for _, r := range []*http.Request{
			get(t, "/decks/standard52"), post(t, "/shuffle", `{"size":3}`), post(t, "/commitments", `{"size":3}`), post(t, shoe+"/draw", `{}`),
		} {
			r.Host = "riffle.example:8080"
			for i := 0; i < len(v.headers); i += 2 {
				r.Header.Set(v.headers[i], v.headers[i+1])
			}
			before := s.logSize()
			a := s.send(t, r)
			if (a.status == http.StatusForbidden) == v.allowed || (s.logSize() > before) != v.allowed {
				t.Errorf("%s %s with %q: %d %s; %d records before, %d now", r.Method, r.URL, v.headers, a.status, a.body, before, s.logSize())
			}
		}
	}
	r := post(t, "/shuffle", `{"size":3}`)
	r.Header.Del("Content-Type")
	a := s.send(t, r)
	assert.Equalf(t, http.StatusOK, a.status, "a program's request without a type: %d %s", a.status, a.body)
}
