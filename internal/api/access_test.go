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

// TestRejectsCrossSiteDeals has browsers ask for a shuffle by GET. Only what a page of another site
// makes them send is refused, before anything is written.
func TestRejectsCrossSiteDeals(t *testing.T) {
	s := start(t, setup{})
	for site, want := range map[string]int{
		"": http.StatusOK, "same-origin": http.StatusOK, "same-site": http.StatusOK, "none": http.StatusOK,
		"cross-site": http.StatusForbidden,
	} {
		before := s.logSize()
		r := get(t, "/decks/standard52")
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		assert.Equalf(t, want, s.send(t, r).status, "Sec-Fetch-Site %q", site)
		assert.Equalf(t, (want == http.StatusOK), s.logSize() > before, "Sec-Fetch-Site %q", site)
	}
	for _, path := range []string{"/decks", "/decks/standard52/cards", "/log/checkpoint", "/audits?reference=a"} { // read only
		r := get(t, path)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		assert.Equal(t, http.StatusOK, s.send(t, r).status, "GET %s from another site", path)
	}
}

// TestRejectsForeignHosts asks a service on loopback under several names: a page that has rebound
// its name to this machine writes nothing.
func TestRejectsForeignHosts(t *testing.T) {
	var hosts access.Hosts
	require.NoError(t, hosts.UnmarshalText([]byte("riffle.example")))
	s := start(t, setup{hosts: hosts})
	for host, want := range map[string]int{
		"localhost:8080": http.StatusOK, "127.0.0.1:8080": http.StatusOK, "[::1]:8080": http.StatusOK,
		"riffle.example": http.StatusOK, "evil.example:8080": http.StatusMisdirectedRequest,
	} {
		before := s.logSize()
		assert.Equalf(t, want, s.send(t, onLoopback(post(t, "/shuffle", `{"size":2}`), host)).status, "Host %q", host)
		assert.Equalf(t, (want == http.StatusOK), s.logSize() > before, "Host %q", host)
	}
	answer := s.send(t, onLoopback(get(t, "/nowhere"), "evil.example"))
	assert.Equal(t, http.StatusMisdirectedRequest, answer.status, "a path that does not exist, under a foreign name")
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
