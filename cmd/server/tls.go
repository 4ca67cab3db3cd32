package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"riffle/internal/config"
	"riffle/internal/release"
	"riffle/internal/system"
)

// certificates are the current TLS certificates: one from files, read again when they change, or one
// for each host from an authority, renewed before it expires. Handshakes wait for neither, which
// autocert alone does not guarantee. A nil *certificates is for plain HTTP.
type certificates struct {
	logger  *slog.Logger
	hosts   []string          // keys of current, the default first; one "" with files
	acme    *config.ACME      // nil with files
	issuer  *autocert.Manager // nil with files
	current sync.Map          // *tls.Certificate by host
	used    atomic.Bool       // whether a certificate was valid

	files atomic.Pointer[config.TLS] // nil with an authority
}

// Intervals of checks for new certificates.
const (
	filesInterval = time.Second
	issueInterval = time.Minute
	maxIssueRetry = time.Hour // after failures
)

// newCertificates loads the certificate files, if any. It returns nil for plain HTTP.
func newCertificates(o *options, logger *slog.Logger, registry prometheus.Registerer) (*certificates, error) {
	if o.tls == nil {
		return nil, nil
	}
	c := &certificates{logger: logger, acme: o.tls.ACME, hosts: []string{""}}
	if c.acme == nil {
		found, err := readPair(o.tls)
		if err != nil {
			return nil, err
		}
		c.files.Store(o.tls)
		c.set("", found)
	} else {
		c.hosts = c.acme.Hosts
		c.issuer = &autocert.Manager{
			Prompt:     autocert.AcceptTOS,
			Cache:      autocert.DirCache(cmp.Or(c.acme.Cache, filepath.Join(o.log.Folder, "acme"))),
			HostPolicy: autocert.HostWhitelist(c.acme.Hosts...),
			Email:      c.acme.Email,
			Client:     &acme.Client{DirectoryURL: cmp.Or(c.acme.Directory, autocert.DefaultACMEDirectory), UserAgent: "riffle/" + release.Current().Version},
		}
	}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riffle_tls_certificate_expiry_timestamp_seconds", Help: "When the certificate expires, the first one if there are several; 0 while one is missing.",
	}, c.expiry))
	return c, nil
}

func (c *certificates) config() *tls.Config {
	settings := &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
	if c.issuer != nil {
		settings.NextProtos = []string{acme.ALPNProto}
	}
	return settings
}

// get returns the certificate for a handshake.
func (c *certificates) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	host := strings.ToLower(hello.ServerName)
	if c.issuer != nil && slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) && slices.Contains(c.hosts, host) {
		return c.issuer.GetCertificate(hello) // the answer to a challenge (RFC 8737)
	}
	if found := cmp.Or(c.of(host), c.of(c.hosts[0])); found != nil {
		return found, nil
	}
	return nil, errors.New("there is no certificate yet")
}

// of returns a host's current certificate, or nil.
func (c *certificates) of(host string) *tls.Certificate {
	found, _ := c.current.Load(host)
	certificate, _ := found.(*tls.Certificate)
	return certificate
}

// usable returns an error until a certificate is valid. One that expires later is still served.
func (c *certificates) usable() error {
	if c == nil || c.used.Load() {
		return nil
	}
	text := "there is no certificate yet"
	for _, host := range c.hosts {
		if found := c.of(host); found != nil {
			if text = whyInvalid(found); text == "" {
				c.used.Store(true)
				return nil
			}
		}
	}
	return errors.New(text)
}

// set makes a host's certificate current.
func (c *certificates) set(host string, certificate *tls.Certificate) {
	old := c.of(host)
	c.current.Store(host, certificate)
	if old != nil && old.Leaf.Equal(certificate.Leaf) {
		return
	}
	level, text := slog.LevelInfo, whyInvalid(certificate)
	if text != "" {
		level = slog.LevelWarn
	}
	c.logger.Log(context.Background(), level, cmp.Or(text, "certificate"), "names", certificate.Leaf.DNSNames, "expires", certificate.Leaf.NotAfter)
}

// expiry returns the earliest expiry in Unix time, or 0 while a certificate is missing.
func (c *certificates) expiry() float64 {
	first := math.Inf(1)
	for _, host := range c.hosts {
		found := c.of(host)
		if found == nil {
			return 0
		}
		first = min(first, float64(found.Leaf.NotAfter.Unix()))
	}
	return first
}

// reload has the certificate files that the settings name watched from now on. It returns false if the
// settings need a restart.
func (c *certificates) reload(settings *config.TLS) bool {
	switch {
	case c == nil || settings == nil:
		return c == nil && settings == nil
	case c.acme != nil || settings.ACME != nil:
		return reflect.DeepEqual(c.acme, settings.ACME)
	}
	c.files.Store(settings)
	return true
}

// watch keeps the certificates up to date until stop is called.
func (c *certificates) watch() (stop func()) {
	done := make(chan struct{})
	switch {
	case c == nil:
	case c.acme == nil:
		go c.watchFiles(done)
	default:
		for _, host := range c.hosts {
			go c.watchIssuer(host, done)
		}
	}
	return func() { close(done) }
}

// wait waits for a time. It returns false if done is closed earlier.
func wait(done <-chan struct{}, pause time.Duration) bool {
	select {
	case <-done:
		return false
	case <-time.After(pause):
		return true
	}
}

// watchFiles loads the files after they change. It waits until they stay the same for an interval,
// since the certificate and its key are not written together.
func (c *certificates) watchFiles(done <-chan struct{}) {
	var seen, loaded [2]string // contents when last looked at, and when last loaded, with or without success
	for wait(done, filesInterval) {
		before := seen
		if seen = contents(c.files.Load()); seen == before && seen != loaded {
			loaded = seen
			if found, err := readPair(c.files.Load()); err != nil {
				c.logger.Error("reading the certificate failed, and the one before is still in use", "error", err)
			} else {
				c.set("", found)
			}
		}
	}
}

// contents returns the files' text, or "" for a file that cannot be read.
func contents(files *config.TLS) [2]string {
	certificate, _ := system.ReadFile(files.Cert, config.MaxSize)
	key, _ := system.ReadFile(files.Key, config.MaxSize)
	return [2]string{string(certificate), string(key)}
}

// watchIssuer gets a host's certificate and its renewals. The pause after a failure doubles, since
// authorities permit few failures an hour.
func (c *certificates) watchIssuer(host string, done <-chan struct{}) {
	hello := &tls.ClientHelloInfo{ServerName: host, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}} // of a client that supports ECDSA
	pause, retry := time.Duration(0), issueInterval
	for wait(done, pause) {
		if found, err := c.issuer.GetCertificate(hello); err == nil {
			c.set(host, found)
			pause, retry = issueInterval, issueInterval
		} else {
			pause, retry = retry, min(2*retry, maxIssueRetry)
			c.logger.Warn("getting a certificate failed, and is tried again: the authority must reach this service at port 443 of the host", "host", host, "in", pause.String(), "error", err)
		}
	}
}

// whyInvalid says why a certificate is not valid now. It returns "" if it is.
func whyInvalid(c *tls.Certificate) string {
	switch now := time.Now(); {
	case now.Before(c.Leaf.NotBefore):
		return "the certificate is not valid before " + c.Leaf.NotBefore.Format(time.RFC3339)
	case now.After(c.Leaf.NotAfter):
		return "the certificate expired at " + c.Leaf.NotAfter.Format(time.RFC3339)
	}
	return ""
}

func readPair(t *config.TLS) (*tls.Certificate, error) {
	var texts [2][]byte
	for i, path := range []string{t.Cert, t.Key} {
		var err error
		if texts[i], err = system.ReadFile(path, config.MaxSize); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return nil, fmt.Errorf("the certificate %s with the key %s: %w", t.Cert, t.Key, err)
	}
	return &pair, nil
}
