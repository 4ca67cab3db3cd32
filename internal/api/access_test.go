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

// A page of another site writes nothing, not even by a beacon without a type, for which the browser
// asks nobody.
func TestRejectsCrossSiteWrites(t *testing.T) {
	var origins access.Origins
	require.NoError(t, origins.UnmarshalText([]byte("https://game.example")))
	s := start(t, setup{origins: origins})
	shoe := mustCreateShoe(t, s, `{"size":40}`).path()
	for path, body := range map[string]string{"/shuffle": `{"size":3}`, "/commitments": `{"size":3}`, "/shoes": `{"size":3}`, shoe + "/draw": `{}`} {
		for _, origin := range []string{"", "https://evil.example", "null", "https://game.example"} {
			r := post(t, path, body)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			if origin == "" {
				r.Header.Del("Content-Type")
			} else {
				r.Header.Set("Origin", origin)
			}
			before := s.logSize()
			a := s.send(t, r)
			if listed := origin == "https://game.example"; (a.status == http.StatusForbidden) == listed || (s.logSize() > before) != listed {
				t.Errorf("POST %s of a page of %q: %d %s; %d records before, %d now", path, origin, a.status, a.body, before, s.logSize())
			}
		}
	}
	r := post(t, "/shuffle", `{"size":3}`)
	r.Header.Del("Content-Type")
	a := s.send(t, r)
	assert.Equalf(t, http.StatusOK, a.status, "a program's request without a type: %d %s", a.status, a.body)
}
