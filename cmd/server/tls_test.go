package main_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
)

// A certificate is a self-signed one for localhost, and its key, in files.
type certificate struct {
	cert, key string // paths
	leaf      *x509.Certificate
}

// newCertificate returns a certificate in new files that is valid until a time from now.
func newCertificate(t *testing.T, validFor time.Duration) certificate {
	t.Helper()
	folder := t.TempDir()
	c := certificate{cert: filepath.Join(folder, "cert.pem"), key: filepath.Join(folder, "key.pem")}
	c.issue(t, validFor)
	return c
}

// issue writes another certificate into the files.
func (c *certificate) issue(t *testing.T, validFor time.Duration) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validFor),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	c.leaf, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	c.write(t, c.cert, "CERTIFICATE", der)
	c.write(t, c.key, "PRIVATE KEY", secret)
}

func (c *certificate) write(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

// overTLS starts the program with a certificate, and returns the server as a client sees it that
// trusts it and speaks HTTP/2.
func (l launch) overTLS(t *testing.T) *server {
	t.Helper()
	c := newCertificate(t, time.Hour)
	with, _ := configured(t, "tls: {cert: "+c.cert+", key: "+c.key+"}\n")
	l.args = append(with.args, l.args...)
	s := l.start(t)
	s.trust(c)
	return s
}

// trust has the client speak TLS with a server that has a certificate.
func (s *server) trust(c certificate) {
	roots := x509.NewCertPool()
	roots.AddCert(c.leaf)
	s.secure = &tls.Config{RootCAs: roots}
	transport := s.client.Transport.(*http.Transport)
	transport.TLSClientConfig, transport.ForceAttemptHTTP2 = s.secure, true
}

// shown returns the certificate that the server shows to clients that ask for a name.
func (s *server) shown(name string) *x509.Certificate {
	s.t.Helper()
	conn, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, ServerName: name})
	require.NoErrorf(s.t, err, "%v\n%s", err, s.log)
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0]
}

// TestServesTLS asks over HTTP/1.1 and HTTP/2, by curl and by Go, and by plain HTTP, which gets 400.
func TestServesTLS(t *testing.T) {
	t.Parallel()
	c := newCertificate(t, time.Hour)
	l, _ := configured(t, "tls: {cert: "+c.cert+", key: "+c.key+"}\nhosts: [game.example]\ndeckofcards: true\n")
	s := l.start(t)
	s.trust(c)
	for _, v := range []struct{ flag, version string }{{"--http1.1", "1.1"}, {"--http2", "2"}} {
		out, err := exec.CommandContext(t.Context(), requireTool(t, "curl"), "-sS", v.flag, "--cacert", c.cert, "-o", os.DevNull, "-w", "%{http_code} %{http_version}",
			"--json", smallShuffle, s.url("/shuffle")).CombinedOutput()
		assert.Equalf(t, "200 "+v.version, string(out), "curl %s: %s", v.flag, out)
		assert.NoErrorf(t, err, "curl %s: %s", v.flag, out)
	}
	response, err := s.client.Post(s.url("/shuffle"), "application/json", strings.NewReader(smallShuffle))
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Truef(t, response.ProtoMajor == 2 && response.StatusCode == http.StatusOK && response.TLS.Version >= tls.VersionTLS13,
		"a client of Go is answered %s %s with TLS %x", response.Proto, response.Status, response.TLS.Version)
	a := s.get("/decks")
	assert.Equalf(t, "", a.header.Get("Strict-Transport-Security"),
		"with a port in its name, the service asks to be reached over TLS alone: %v", a.header)
	deck := s.get("/api/deck/new/draw/", "Host", "game.example")
	text := string(deck.body)
	assert.Truef(t, strings.Contains(text, `"https://game.example/`) && !strings.Contains(text, "http://"), "the pictures of cards over TLS are at %s", text)
	assert.Equal(t, "max-age=31536000", deck.header.Get("Strict-Transport-Security"), "Strict-Transport-Security")
	answers := s.sendRaw(t, idleRequest)
	assert.Truef(t, len(answers) == 1 && answers[0].status == http.StatusBadRequest, "plain HTTP is answered %v", answers)
	old := &tls.Config{RootCAs: s.secure.RootCAs, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	_, err = tls.Dial("tcp", s.addr, old)
	assert.ErrorContains(t, err, "protocol version not supported", "TLS 1.1 is not refused by the server")
	s.stop()
}

// TestNoHTTP2WithoutTLS sends what begins HTTP/2 in the clear: the preface of those who know, and an
// Upgrade.
func TestNoHTTP2WithoutTLS(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	for _, text := range []string{
		http2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
	} {
		c := s.dial(t)
		_, err := io.WriteString(c, text)
		require.NoError(t, err)
		answer, err := io.ReadAll(c)
		if status, _, _ := strings.Cut(string(answer), "\r\n"); status != "HTTP/1.1 404 Not Found" && status != "HTTP/1.1 200 OK" || err != nil {
			t.Errorf("%q is answered %q, %v", text, answer, err)
		}
	}
}

// TestHTTP2TakesPlaces opens connections of two addresses until none may use HTTP/2 any more. Others
// are served over HTTP/1.1, and the places come back.
func TestHTTP2TakesPlaces(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"--max-connections=100"}}.overTLS(t)
	open := 0
	var clients []*http2Client
	for range 10 {
		if c := s.dialHTTP2("127.0.0.3", 0); c != nil {
			clients = append(clients, c)
			open++
		}
	}
	if open != 3 { // one address has half of the places, and each takes 16
		t.Errorf("%d connections of one address may use HTTP/2, want 3", open)
	}
	if n := s.metric("riffle_http2_connections", ""); int(n) != open+1 { // including the connection of s.metric
		t.Errorf("%v connections that may use HTTP/2 are counted, want %d", n, open+1)
	}
	polite := s.from("127.0.0.3", true)
	until(t, "another connection is answered over HTTP/1.1", func() bool { // those that were refused have places until they are closed
		response, err := polite.client.Get(s.url("/decks"))
		require.NoError(t, err)
		_ = response.Body.Close()
		return response.ProtoMajor == 1 && response.StatusCode == http.StatusOK
	})
	for _, c := range clients {
		_ = c.conn.Close()
	}
	until(t, "the places are returned", func() bool { return s.metric("riffle_http2_connections", "") == 1 })
	if c := s.dialHTTP2("127.0.0.3", 0); c == nil {
		t.Error("HTTP/2 is not offered again")
	} else {
		_ = c.conn.Close()
	}
}

// TestReloadCertificates replaces a certificate by another one, its key by a named pipe, and both by
// those in other files, while a request is in flight. The other settings do not wait for the key.
func TestReloadCertificates(t *testing.T) {
	t.Parallel()
	c := newCertificate(t, time.Hour)
	settings := func(of certificate) string { return "tls: {cert: " + of.cert + ", key: " + of.key + "}\n" }
	l, path := configured(t, settings(c))
	s := l.start(t)
	s.trust(c)
	first := c.leaf
	body, send := io.Pipe()
	answered := make(chan error, 1)
	go func() {
		response, err := s.client.Post(s.url("/shuffle"), "application/json", body)
		if err == nil {
			err = response.Body.Close()
		}
		answered <- err
	}()
	_, err := io.WriteString(send, `{"size":`)
	require.NoError(t, err)
	expires := func() int64 { return int64(s.metric("riffle_tls_certificate_expiry_timestamp_seconds", "")) }
	failures := func() int { return len(s.messages("ERROR")) }

	c.issue(t, 2*time.Hour)
	until(t, "the new certificate is shown", func() bool { return s.shown("").Equal(c.leaf) })
	assert.Truef(t, expires() == c.leaf.NotAfter.Unix() && failures() == 0, "it expires at %d, want %d\n%s", expires(), c.leaf.NotAfter.Unix(), s.log)
	second := c.leaf
	other := newCertificate(t, 3*time.Hour)
	require.NoError(t, errors.Join(os.Remove(c.key), syscall.Mkfifo(c.key, 0o600)))
	until(t, "the pipe is logged", func() bool { return failures() > 0 })
	writeConfig(t, path, settings(c)+"hosts: [game.example]\n")
	s.signal(syscall.SIGHUP)
	until(t, "the other settings change", func() bool { return s.answersUnder("game.example") })
	assert.True(t, s.shown("").Equal(second), "a key that cannot be read changes the certificate")
	writeConfig(t, path, settings(other))
	s.signal(syscall.SIGHUP)
	until(t, "the certificate in other files is shown", func() bool { return s.shown("").Equal(other.leaf) })
	assert.Equal(t, 1, failures(), s.log)
	writeConfig(t, path, "queue: 5")
	s.signal(syscall.SIGHUP)
	until(t, "it is logged that TLS cannot be turned off", func() bool {
		_, ok := s.logged("WARN", "tls changed in "+path+"; it applies after a restart")
		return ok
	})
	assert.True(t, s.shown("").Equal(other.leaf), "the certificate is gone")
	assert.False(t, first.Equal(second), "the certificate is gone")
	_, err = io.WriteString(send, `5}`)
	require.NoError(t, err)
	_ = send.Close()
	assert.NoError(t, <-answered, "the request in flight")
	s.stop()
}

// expired returns the text for an expired certificate.
func (c *certificate) expired() string {
	return "the certificate expired at " + c.leaf.NotAfter.Format(time.RFC3339)
}

// TestReadyOnceACertificateIsValid starts the program with an expired certificate, replaces it, and
// replaces that by another expired one.
func TestReadyOnceACertificateIsValid(t *testing.T) {
	t.Parallel()
	past, valid := newCertificate(t, -time.Minute), newCertificate(t, time.Hour)
	l, _ := configured(t, "tls: {cert: "+past.cert+", key: "+past.key+"}\nadmin-addr: 127.0.0.1:0\n")
	s := l.start(t)
	assert.Contains(t, s.admin().get("/readyz").problem(t, http.StatusServiceUnavailable), past.expired())
	_, warned := s.logged("WARN", past.expired())
	assert.True(t, warned, "the server does not warn")
	require.NoError(t, errors.Join(os.Rename(valid.key, past.key), os.Rename(valid.cert, past.cert)))
	until(t, "the service is ready", func() bool { return s.admin().get("/readyz").status == http.StatusOK })
	past.issue(t, -2*time.Minute)
	until(t, "the server warns", func() bool { _, ok := s.logged("WARN", past.expired()); return ok })
}

// TestCheckConfigReadsCertificates checks files whose certificate is missing, has another key, or has
// expired, which is a warning only.
func TestCheckConfigReadsCertificates(t *testing.T) {
	t.Parallel()
	valid, other, past := newCertificate(t, time.Hour), newCertificate(t, time.Hour), newCertificate(t, -time.Minute)
	for _, c := range []struct {
		cert, key string
		code      int
		stderr    string
	}{
		{valid.cert, valid.key, 0, ""},
		{valid.cert, other.key, 1, "server: PATH:2:6: the certificate CERT with the key KEY: tls: private key does not match public key\n"},
		{"none.pem", valid.key, 1, "server: PATH:2:6: none.pem: no such file or directory\n"},
		{valid.key, valid.key, 1, "server: PATH:2:6: the certificate CERT with the key KEY: tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched\n"},
		{past.cert, past.key, 0, "server: warning: CERT: " + past.expired() + "\n"},
	} {
		l, path := configured(t, "queue: 5\ntls: {cert: "+c.cert+", key: "+c.key+"}\n")
		code, _, stderr := runToExit(t, nil, append(l.args, "--check-config")...)
		want := strings.NewReplacer("PATH", path, "CERT", c.cert, "KEY", c.key).Replace(c.stderr)
		assert.Equalf(t, c.code, code, "%s with %s", c.cert, c.key)
		assert.Equalf(t, want, stderr, "%s with %s", c.cert, c.key)
		if c.code != 0 { // and the service does not start
			code, _, stderr := runToExit(t, nil, append(l.args, "--addr", "127.0.0.1:0")...)
			assert.Truef(t, code == c.code && fatal(stderr) == want, "a start ends with %d and\n%s", code, stderr)
		}
	}
}
