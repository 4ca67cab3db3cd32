package main_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pebbleVersion is the version of Let's Encrypt's small authority for tests, and of its name server.
const pebbleVersion = "v2.10.1"

// TestCertificatesOfAnAuthority has pebble issue the certificates of two names to a service, which
// proves with TLS-ALPN-01 that it has them. After a restart, without pebble, they are served from
// the folder.
func TestCertificatesOfAnAuthority(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	install := exec.CommandContext(t.Context(), "go", "install",
		"github.com/letsencrypt/pebble/v2/cmd/pebble@"+pebbleVersion, "github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@"+pebbleVersion)
	install.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		skipOrFail(t, "pebble cannot be installed: %v\n%s", err, out)
	}
	own := newCertificate(t, time.Hour) // of pebble's HTTPS
	addr, listen, management, names := freeAddr(t), freeAddr(t), freeAddr(t), freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	settings := filepath.Join(folder, "pebble.json")
	text := fmt.Sprintf(`{"pebble": {"listenAddress": %q, "managementListenAddress": %q, "certificate": %q, "privateKey": %q, "httpPort": 1, "tlsPort": %s}}`,
		listen, management, own.cert, own.key, port)
	require.NoError(t, os.WriteFile(settings, []byte(text), 0o600))
	run := func(tool string, args ...string) (stop func()) {
		command := exec.CommandContext(t.Context(), filepath.Join(folder, tool), args...)
		command.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
		require.NoError(t, command.Start())
		stop = func() {
			_ = command.Process.Kill()
			_ = command.Wait()
		}
		t.Cleanup(stop)
		return stop
	}
	run("pebble-challtestsrv", "-dnsserver", names, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-management", freeAddr(t))
	stop := run("pebble", "-config", settings, "-dnsserver", names)
	roots := x509.NewCertPool()
	roots.AddCert(own.leaf)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	until(t, "the name server answers", func() bool {
		conn, err := net.Dial("tcp", names)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	var root []byte
	until(t, "pebble answers", func() bool {
		response, err := client.Get("https://" + management + "/roots/0")
		if err != nil {
			return false
		}
		defer func() { _ = response.Body.Close() }()
		root, err = io.ReadAll(response.Body)
		return err == nil
	})
	issued := x509.NewCertPool()
	require.Truef(t, issued.AppendCertsFromPEM(root), "no certificate: %s", root)

	hosts, err := json.Marshal([]string{"riffle.test", "other.riffle.test"})
	require.NoError(t, err)
	l, _ := configured(t, fmt.Sprintf("tls: {acme: {hosts: %s, email: ops@riffle.test, directory: https://%s/dir}}\n", hosts, listen), "--addr", addr)
	l.data, l.env = filepath.Join(folder, "data"), []string{"SSL_CERT_FILE=" + own.cert}
	serials := map[string]string{}
	for _, restarted := range []bool{false, true} {
		s := l.start(t)
		for _, host := range []string{"riffle.test", "other.riffle.test", ""} {
			verified := host
			if host == "" { // a client that names none is shown the first
				verified = "riffle.test"
			}
			var serial string
			until(t, "the certificate of "+verified+" is shown", func() bool {
				conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: host == "", RootCAs: issued, ServerName: host})
				if err != nil {
					return false
				}
				defer func() { _ = conn.Close() }()
				leaf := conn.ConnectionState().PeerCertificates[0]
				serial = leaf.SerialNumber.String()
				return leaf.VerifyHostname(verified) == nil
			})
			assert.Truef(t, !restarted || serial == serials[host], "after a restart %q has another certificate", host)
			serials[host] = serial
		}
		s.secure = &tls.Config{RootCAs: issued, ServerName: "riffle.test"}
		polite := s.from("127.0.0.2", true)
		a := polite.post("/shuffle", smallShuffle)
		assert.Equalf(t, http.StatusOK, a.status, "a shuffle is answered %v", a)
		until(t, "the expiry is known", func() bool {
			return polite.metric("riffle_tls_certificate_expiry_timestamp_seconds", "") > float64(time.Now().Unix())
		})
		s.stop()
		stop() // of the authority
	}
}

// TestHandshakesAskNoAuthority has strangers begin TLS while an authority issues nothing. Only the
// service itself asks the authority, and waits a minute after the first failure.
func TestHandshakesAskNoAuthority(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	authority := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(authority.Close)
	root := filepath.Join(t.TempDir(), "root.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})
	require.NoError(t, os.WriteFile(root, text, 0o600))
	l, _ := configured(t, fmt.Sprintf("tls: {acme: {hosts: [riffle.test], directory: %s/dir}}\nadmin-addr: 127.0.0.1:0\n", authority.URL))
	l.env = []string{"SSL_CERT_FILE=" + root}
	s := l.start(t)
	assert.Contains(t, s.admin().get("/readyz").problem(t, http.StatusServiceUnavailable), "there is no certificate yet")
	until(t, "the authority has refused", func() bool { return strings.Contains(s.log.String(), "getting a certificate failed") })
	assert.Containsf(t, s.log.String(), `"in":"1m0s"`, "the service does not wait a minute:\n%s", s.log)
	before := asked.Load()
	for _, host := range []string{"riffle.test", "other.test"} {
		for _, suite := range []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256} { // each takes its own certificate
			client := &tls.Config{InsecureSkipVerify: true, ServerName: host, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}}
			_, err := tls.Dial("tcp", s.addr, client)
			assert.Errorf(t, err, "%s is shown a certificate", host)
		}
	}
	assert.NotEqualValues(t, 0, before, "the authority was asked")
	assert.Equal(t, before, asked.Load(), "the authority was asked")
}
