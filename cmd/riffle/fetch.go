package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"riffle/internal/audit/prooffile"
	"riffle/internal/ledger"
)

// boundHeaders lets the header of an answer have 64 KiB, and not the 10 MB of net/http.
func boundHeaders() { http.DefaultTransport.(*http.Transport).MaxResponseHeaderBytes = 64 << 10 }

// fetchTimeout limits the time to fetch one file.
const fetchTimeout = 30 * time.Second

// A service is where proofs are fetched from. It is not trusted: what it answers is verified like
// any file. A nil service reads files and URLs only.
type service struct {
	base  *url.URL
	token string // sent to no other host; empty for none
}

// service returns the service of --from; nil without it.
func (k *verify) service() (*service, error) {
	if k.From == "" {
		return nil, nil
	}
	base, err := url.Parse(k.From)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return nil, fmt.Errorf("--from %q is not the address of a service, such as https://riffle.example or http://localhost:8080", k.From)
	}
	s := &service{base: base, token: os.Getenv("RIFFLE_TOKEN")}
	if s.token != "" && base.Scheme == "http" && !isLoopback(base.Hostname()) {
		return nil, fmt.Errorf("the token in RIFFLE_TOKEN is not sent to %s, because http is not encrypted: use https, or unset RIFFLE_TOKEN", base.Host)
	}
	return s, nil
}

func isLoopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// readProof reads a file, or fetches a proof if its name is a URL or an audit id.
func (s *service) readProof(ctx context.Context, name string) ([]byte, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return fetch(ctx, name, "")
	}
	text, err := readFile(name)
	switch id, noID := uuid.Parse(name); {
	case noID != nil || !errors.Is(err, errNoFile):
		return text, err
	case s == nil:
		return nil, errors.New("there is no such file; to fetch the proof of an audit id, name the service with --from")
	default:
		return fetch(ctx, s.base.JoinPath("audits", id.String(), "proof").String(), s.token)
	}
}

var errNoFile = errors.New("there is no such file")

// readFile reads a text from a file.
func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoFile
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for reading
	if about, err := file.Stat(); err == nil && about.IsDir() {
		return nil, errors.New("it is a folder")
	}
	text, err := readLimited(file)
	if err == nil && !utf8.Valid(text) {
		err = errors.New("it is not UTF-8, and so not JSON")
	}
	return text, err
}

// trustedKey returns the key of the service's log: the one that is saved from an earlier run or, on
// first use, the one that the service has now, with a warning.
func (s *service) trustedKey(ctx context.Context) (key, warning string, err error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", "", fmt.Errorf("there is no folder to save the key of the log in: give it with --key: %w", err)
	}
	path, address := filepath.Join(folder, "riffle", "known_logs"), strings.TrimSuffix(s.base.String(), "/")
	saved, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	for line := range strings.Lines(string(saved)) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == address {
			if _, err = prooffile.Verifier(words[1]); err != nil {
				err = fmt.Errorf("%s, the line of %s: %w", path, address, err)
			}
			return words[1], "", err
		}
	}
	text, err := fetch(ctx, s.base.JoinPath("log", "key").String(), s.token)
	if err != nil {
		return "", "", fmt.Errorf("the key of the log: %w", err)
	}
	key = strings.TrimSpace(string(text))
	if _, err := prooffile.Verifier(key); err != nil {
		return "", "", fmt.Errorf("the key of the log that %s answers: %w", address, err)
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = ledger.ReplaceFile(path, fmt.Appendf(saved, "%s %s\n", address, key))
	}
	if err != nil {
		return "", "", fmt.Errorf("saving the key of the log: %w", err)
	}
	return key, fmt.Sprintf("The key of the log was taken from the service itself, because this is its first use, and is saved in %s. Compare it with a copy from another source: %s", path, key), nil
}

// fetch gets a file over HTTP. A token that is not empty is sent along. It
// follows redirects on the same host only.
func fetch(ctx context.Context, address, token string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{CheckRedirect: sameHost, Timeout: fetchTimeout}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
		return readLimited(answer.Body)
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("the server answers %s: set RIFFLE_TOKEN to a token that may read, and name the service with --from", answer.Status)
	}
	return nil, fmt.Errorf("the server answers %s, and no proof", answer.Status)
}

// sameHost refuses redirects to other hosts, to http, and more than five of them.
func sameHost(next *http.Request, earlier []*http.Request) error {
	const most = 5
	first := earlier[0].URL
	switch {
	case next.URL.Host != first.Host || next.URL.Scheme != first.Scheme:
		return fmt.Errorf("it redirects to another host, %s://%s, which is not followed", next.URL.Scheme, next.URL.Host)
	case len(earlier) > most:
		return errors.New("it redirects too often")
	}
	return nil
}
