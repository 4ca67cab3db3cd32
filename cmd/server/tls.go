package main

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
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
)

// certificates are what the service shows over TLS: one certificate from files, which is read again
// when they change, or one for each host from an authority, which is renewed. Handshakes wait for
// neither. A nil value is for plain HTTP.
type certificates struct {
	logger *slog.Logger
	acme   *config.ACME                                // nil with files
	issuer *autocert.Manager                           // nil with files
	shown  atomic.Pointer[map[string]*tls.Certificate] // by host; "" is for clients that name no other

	mu    sync.Mutex    // of changes of shown, and of the fields below
	files config.TLS    // that the certificate is read from
	last  []os.FileInfo // the files as they were when looked at last
	tried []os.FileInfo // the files as they were when read last, with or without success
}

// Times of certificates.
const (
	filesInterval = time.Second // between two looks at files
	issueInterval = time.Minute // between two looks at what the issuer has
	mostIssueWait = time.Hour   // between two attempts to get a certificate
)

// newCertificates reads the certificate, if it is in files. It returns nil for plain HTTP.
func newCertificates(o *options, logger *slog.Logger, registry prometheus.Registerer) (*certificates, error) {
	if o.tls == nil {
		return nil, nil
	}
	c := &certificates{logger: logger, acme: o.tls.ACME}
	c.shown.Store(&map[string]*tls.Certificate{})
	if c.acme == nil {
		if _, err := c.read(*o.tls); err != nil {
			return nil, err
		}
		if expired := expired(o.tls); expired != "" {
			logger.Warn(expired)
		}
	} else {
		c.issuer = &autocert.Manager{
			Prompt:     autocert.AcceptTOS,
			Cache:      autocert.DirCache(cmp.Or(c.acme.Cache, filepath.Join(o.data, "acme"))),
			HostPolicy: autocert.HostWhitelist(c.acme.Hosts...),
			Email:      c.acme.Email,
			Client:     &acme.Client{DirectoryURL: cmp.Or(c.acme.Directory, autocert.DefaultACMEDirectory), UserAgent: "riffle/" + version},
		}
	}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riffle_tls_certificate_expiry_timestamp_seconds", Help: "When the certificate expires, the first one if there are several; 0 while one is missing.",
	}, c.expiry))
	return c, nil
}

// config returns the settings of TLS: those of Go, which begin at TLS 1.2.
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
	if c.issuer != nil && slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) && slices.Contains(c.acme.Hosts, host) {
		return c.issuer.GetCertificate(hello) // the answer to a challenge (RFC 8737)
	}
	shown := *c.shown.Load()
	if found := cmp.Or(shown[host], shown[""]); found != nil {
		return found, nil
	}
	return nil, errors.New("there is no certificate yet")
}

// show has handshakes from now on get a certificate, and returns whether it is another one. The
// caller holds c.mu.
func (c *certificates) show(host string, shown *tls.Certificate) (changed bool) {
	earlier := *c.shown.Load()
	if old := earlier[host]; old != nil && old.Leaf.Equal(shown.Leaf) {
		return false
	}
	next := maps.Clone(earlier)
	next[host] = shown
	if c.acme != nil && host == c.acme.Hosts[0] {
		next[""] = shown
	}
	c.shown.Store(&next)
	c.logger.Info("certificate", "names", shown.Leaf.DNSNames, "expires", shown.Leaf.NotAfter)
	return true
}

// expiry returns when the first certificate expires, in Unix time; 0 while one is missing.
func (c *certificates) expiry() float64 {
	shown, hosts := *c.shown.Load(), []string{""}
	if c.acme != nil {
		hosts = c.acme.Hosts
	}
	first := math.Inf(1)
	for _, host := range hosts {
		if shown[host] == nil {
			return 0
		}
		first = min(first, float64(shown[host].Leaf.NotAfter.Unix()))
	}
	return first
}

// reload reads the files of a certificate again, which may be others than before. It returns false
// if the settings take a restart.
func (c *certificates) reload(settings *config.TLS) (changed, ok bool) {
	switch {
	case c == nil || settings == nil:
		return false, c == nil && settings == nil
	case c.acme != nil || settings.ACME != nil:
		return false, reflect.DeepEqual(c.acme, settings.ACME)
	}
	changed, err := c.read(*settings)
	if err != nil {
		c.logFailure(err)
	}
	return changed, true
}

func (c *certificates) logFailure(err error) {
	c.logger.Error("reading the certificate failed, and the one before is still in use", "error", err)
}

// watch keeps the certificates up to date until stop is called.
func (c *certificates) watch() (stop func()) {
	done := make(chan struct{})
	switch {
	case c == nil:
	case c.acme == nil:
		go c.watchFiles(done)
	default:
		for _, host := range c.acme.Hosts {
			go c.watchIssuer(host, done)
		}
	}
	return func() { close(done) }
}

// watchFiles reads the files again when they have changed and then not for a second, since one of
// them may be written after the other.
func (c *certificates) watchFiles(done <-chan struct{}) {
	tick := time.NewTicker(filesInterval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		files, ready := c.look()
		if !ready {
			continue
		}
		if _, err := c.read(files); err != nil {
			c.logFailure(err)
		}
	}
}

// look reports whether the files are to be read.
func (c *certificates) look() (files config.TLS, ready bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	earlier := c.last
	c.last = stat(c.files)
	return c.files, same(c.last, earlier) && !same(c.last, c.tried)
}

// read shows the certificate in files, and returns whether it is another one.
func (c *certificates) read(files config.TLS) (changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files, c.tried = files, stat(files)
	found, err := readPair(&files)
	if err != nil {
		return false, err
	}
	return c.show("", found), nil
}

// stat describes the files of a certificate and its key; nil for one that cannot be found.
func stat(files config.TLS) []os.FileInfo {
	cert, _ := os.Stat(files.Cert)
	key, _ := os.Stat(files.Key)
	return []os.FileInfo{cert, key}
}

// same reports whether files have not been changed or replaced.
func same(a, b []os.FileInfo) bool {
	return slices.EqualFunc(a, b, func(a, b os.FileInfo) bool {
		if a == nil || b == nil {
			return a == b
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	})
}

// watchIssuer gets the certificate of a host, and later the renewed ones. What fails is tried again
// after a time that doubles, as authorities permit a few failures an hour.
func (c *certificates) watchIssuer(host string, done <-chan struct{}) {
	hello := &tls.ClientHelloInfo{ServerName: host, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}} // of a client that takes ECDSA
	failed := issueInterval
	for {
		wait := issueInterval
		if found, err := c.issuer.GetCertificate(hello); err == nil {
			c.mu.Lock()
			c.show(host, found)
			c.mu.Unlock()
			failed = issueInterval
		} else {
			wait, failed = failed, min(2*failed, mostIssueWait)
			c.logger.Warn("getting a certificate failed, and is tried again: the authority has to reach this service at port 443 of the host", "host", host, "in", wait.String(), "error", err)
		}
		select {
		case <-done:
			return
		case <-time.After(wait):
		}
	}
}

// checkTLS returns an error if a certificate or its key cannot be read, or if they are not a pair.
func checkTLS(t *config.TLS) error {
	if t == nil || t.ACME != nil {
		return nil
	}
	_, err := readPair(t)
	return err
}

func readPair(t *config.TLS) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("the certificate %s with the key %s: %w", t.Cert, t.Key, err)
	}
	return &pair, nil
}

// expired returns a warning if the certificate in files is not valid now, and otherwise nothing.
func expired(t *config.TLS) string {
	if t == nil || t.ACME != nil {
		return ""
	}
	pair, err := readPair(t)
	if now := time.Now(); err != nil || now.After(pair.Leaf.NotBefore) && now.Before(pair.Leaf.NotAfter) {
		return ""
	}
	return fmt.Sprintf("the certificate %s is valid from %s to %s only", t.Cert, pair.Leaf.NotBefore.Format(time.DateTime), pair.Leaf.NotAfter.Format(time.DateTime))
}
