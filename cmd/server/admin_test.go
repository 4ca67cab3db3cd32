package main_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// admin returns the server for requests to its admin address.
func (s *server) admin() *server {
	s.t.Helper()
	m, _ := s.logged("INFO", "listening")
	addr, _ := m["admin"].(string)
	return &server{t: s.t, addr: addr, cmd: s.cmd, log: s.log, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waitLimit}}
}

// TestAdminAddress requests metrics, profiles and health at both addresses. Metrics need no key at the
// admin address.
func TestAdminAddress(t *testing.T) {
	t.Parallel()
	l, _ := configured(t, "admin-addr: 127.0.0.1:0\nanonymous: {may: [read]}\n")
	s := l.start(t)
	admin := s.admin()
	for path, statuses := range map[string][2]int{ // at the main address and at the admin one
		"/healthz":                       {200, 200},
		"/readyz":                        {200, 200},
		"/metrics":                       {404, 200},
		"/debug/pprof/":                  {404, 200},
		"/debug/pprof/heap":              {404, 200},
		"/debug/pprof/profile?seconds=1": {404, 200},
		"/decks":                         {200, 404},
		"/log/checkpoint":                {200, 404},
	} {
		if main, other := s.get(path).status, admin.get(path).status; main != statuses[0] || other != statuses[1] {
			t.Errorf("%s is answered %d, and %d at the admin address, want %v", path, main, other, statuses)
		}
	}
	for _, path := range []string{"/metrics", "/debug/pprof/heap"} {
		a, err := admin.ask(http.MethodPost, path, "{}")
		require.NoError(t, err)
		detail := a.problem(t, http.StatusMethodNotAllowed)
		assert.Truef(t, strings.HasSuffix(detail, "it takes GET.") && a.header.Get("Allow") == "GET, HEAD", "POST %s: %v, Allow: %s", path, a, a.header.Get("Allow"))
	}
	assert.False(t, admin.answersUnder("evil.example"), "the admin address answers under any Host")
	_, ok := s.logged("WARN", "anybody who can reach the admin address can read the metrics and profile the service: let it be localhost, or a network that only operators reach")
	assert.False(t, ok, "there is a warning about a loopback address")
	other := launch{args: []string{"-admin-addr=0.0.0.0:0"}}.start(t)
	assert.Lenf(t, other.messages("WARN"), 1, "no warning about an address that others reach:\n%s", other.log)
	plain := launch{}.start(t)
	assert.Equal(t, http.StatusNotFound, plain.get("/debug/pprof/").status, "without an admin address, profiles")
	s.stop()
}

// TestAdminConnectionsAreBounded has clients hold requests back. Health is answered meanwhile, and
// metrics afterwards.
func TestAdminConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-admin-addr=127.0.0.1:0", "-header-timeout=1s"}}.start(t)
	admin := s.admin()
	before := s.descriptors()
	admin.attack(200, "127.0.0.3", "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-")
	open := s.descriptors() - before
	assert.Truef(t, open <= 64+10, "%d connections are open, want at most 64", open)
	a := admin.get("/readyz")
	assert.Equalf(t, http.StatusOK, a.status, "health is answered %v", a)
	until(t, "the connections are closed", func() bool { return s.descriptors() <= before+10 })
	a = admin.get("/metrics")
	assert.Equalf(t, http.StatusOK, a.status, "metrics are answered %v", a)
}

// TestHealthcheckOverTLS checks a service's health over TLS with a certificate for another name, and at
// the admin address.
func TestHealthcheckOverTLS(t *testing.T) {
	t.Parallel()
	c := newCertificate(t, time.Hour)
	text := "tls: {cert: " + c.cert + ", key: " + c.key + "}\n"
	l, _ := configured(t, text+"admin-addr: 127.0.0.1:0\n")
	s := l.start(t)
	_, port, err := net.SplitHostPort(s.addr)
	require.NoError(t, err)
	_, path := configured(t, fmt.Sprintf("addr: :%s\n%s", port, text))
	requireHealth(t, "", nil, "-config", path)
	writeConfig(t, path, fmt.Sprintf("addr: :%s\ntls: {crt: none.pem}\n", port))
	requireHealth(t, "", nil, "-config", path)
	requireHealth(t, "not ready: 400", nil, "-addr", s.addr) // plain HTTP to TLS
	writeConfig(t, path, "addr: 127.0.0.1:1\nadmin-addr: "+s.admin().addr+"\n"+text)
	requireHealth(t, "", nil, "-config", path)
}

// descriptors returns the number of open file descriptors of the server.
func (s *server) descriptors() int {
	s.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		skipOrFail(s.t, "counting the descriptors of the server: %v", err)
	}
	return len(open)
}
