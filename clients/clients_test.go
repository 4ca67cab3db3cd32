// Package clients_test runs scenarios.json with every client, against one service behind a proxy
// that can lose answers.
//
//	make clients
//
// also builds the clients in TypeScript and Python and installs them into empty projects, which
// `go test ./clients` alone does not.
package clients_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/clients/clientstest"
)

var installed = flag.String("installed", "", "the `folder` in which make clients installed the packages: node_modules and venv")

// tokens are the keys' tokens by name.
type tokens map[string]string

// startService starts the service with keys, and a proxy in front of it.
func startService(t *testing.T) (proxy string, keys tokens) {
	t.Helper()
	keys = tokens{}
	settings := "anonymous: {may: [read]}\nkeys:\n"
	for name, key := range map[string]string{
		"table": "may: [shuffle, deal, read]", "reader": "may: [read]", "limited": "may: [shuffle], rate: 2, burst: 1",
	} {
		secret := make([]byte, 32)
		_, _ = rand.Read(secret) // never fails
		keys[name] = "rfl_" + base64.RawURLEncoding.EncodeToString(secret)
		settings += fmt.Sprintf("  - {name: %s, sha256: %x, %s}\n", name, sha256.Sum256([]byte(keys[name])), key)
	}
	file := filepath.Join(t.TempDir(), "riffle.yaml")
	require.NoError(t, os.WriteFile(file, []byte(settings), 0o600))
	service, err := url.Parse(clientstest.Start(t, "-config", file))
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/installed/", http.StripPrefix("/installed/", http.FileServer(http.Dir(*installed)))) // for a browser
	mux.Handle("/", &faulty{scenarios: map[string]*faults{}, next: &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(service) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { http.Error(w, err.Error(), http.StatusTeapot) },
	}})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, keys
}

// faulty is a proxy that answers the first requests of a scenario as a service in trouble would: a
// healthy one cannot be made to on demand. The faults are in the path: under /faults/ID/busy,lost
// the first request is answered 503, the answer to the second is lost, and the rest pass. ID is
// different for each run of a scenario.
//
// It also checks what a service cannot see: that a request that writes is repeated with the same
// key and body, and not before Retry-After.
type faulty struct {
	next http.Handler

	mu        sync.Mutex
	scenarios map[string]*faults
}

type faults struct {
	left   []string
	repeat string    // the request that has to come next; empty for any
	after  time.Time // and not before
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, found := strings.CutPrefix(r.URL.Path, "/faults/")
	if !found {
		f.next.ServeHTTP(w, r)
		return
	}
	parts := strings.SplitN(path, "/", 3) // the id, the faults, the path for the service
	r.URL.Path = "/" + parts[2]
	fault, wrong := f.take(parts[0]+"/"+parts[1], parts[1], r)
	if wrong != "" {
		http.Error(w, wrong, http.StatusTeapot)
		return
	}
	answer := func(status int, kind, detail string) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"type":%q,"title":%q,"status":%d,"detail":%q}`, kind, http.StatusText(status), status, detail)
	}
	switch fault {
	case "":
		f.next.ServeHTTP(w, r)
	case "busy":
		answer(http.StatusServiceUnavailable, "about:blank", "Too many requests are waiting to become durable. Nothing was recorded; retry in a second.")
	case "share":
		answer(http.StatusTooManyRequests, "/docs/operations/limits#one-address", "Your address has its share in use. Nothing was done; retry in a second.")
	case "inflight":
		answer(http.StatusConflict, "about:blank", "A request with this key, commitment or shoe is in flight. Wait for its answer, or retry in a second.")
	case "badgateway":
		http.Error(w, "<html>502 Bad Gateway</html>", http.StatusBadGateway)
	case "lost":
		f.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case "cut":
		whole := httptest.NewRecorder()
		f.next.ServeHTTP(whole, r)
		w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		http.Error(w, "no such fault: "+fault, http.StatusTeapot)
	}
}

// take returns the fault of a request, and what is wrong with it if it is not the repetition that
// has to come.
func (f *faulty) take(id, list string, r *http.Request) (fault, wrong string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err.Error()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	request := fmt.Sprintf("%s %s %q %s", r.Method, r.URL, r.Header.Get("Idempotency-Key"), body)
	f.mu.Lock()
	defer f.mu.Unlock()
	state := f.scenarios[id]
	if state == nil {
		state = &faults{left: strings.Split(list, ",")}
		f.scenarios[id] = state
	}
	switch {
	case state.repeat != "" && request != state.repeat:
		return "", fmt.Sprintf("%s was to be repeated, and this came: %s", state.repeat, request)
	case time.Now().Before(state.after):
		return "", "this came before Retry-After: " + request
	case len(state.left) == 0:
		state.repeat = ""
		return "", ""
	case r.Method != http.MethodGet && r.Header.Get("Idempotency-Key") == "":
		return "", "this has no Idempotency-Key: " + request
	}
	fault, state.left, state.repeat = state.left[0], state.left[1:], request
	if fault == "busy" || fault == "share" || fault == "inflight" {
		state.after = time.Now().Add(time.Second)
	}
	return fault, ""
}

func TestScenarios(t *testing.T) {
	proxy, keys := startService(t)
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		runScenarios(t, proxy, keys)
	})
	t.Run("TypeScript", func(t *testing.T) { run(t, proxy, keys, "node", "--test", "scenarios.test.mjs") })
	t.Run("TypeScript on Deno", func(t *testing.T) {
		run(t, proxy, keys, filepath.Join("bin", "deno"), "test", "--allow-all", "--no-check", "scenarios.test.mjs")
	})
	t.Run("TypeScript on Bun", func(t *testing.T) {
		run(t, proxy, keys, filepath.Join("bin", "bun"), "test", "--timeout", "60000", "./scenarios.test.mjs")
	})
	t.Run("Python", func(t *testing.T) {
		run(t, proxy, keys, filepath.Join("venv", "bin", "python"), "-m", "unittest", "-v", "test_scenarios")
	})
	t.Run("Lua", func(t *testing.T) { run(t, proxy, keys, "lua5.4", "test.lua") })
}

// TestBrowser shuffles and verifies on a page.
func TestBrowser(t *testing.T) {
	if *installed == "" {
		t.Skip("skipped: make clients installs the package")
	}
	proxy, keys := startService(t)
	browser := clientstest.NewBrowser(t)
	browser.Open(proxy + "/installed/page.html")
	var verdict string
	require.NoError(t, browser.Evaluate(fmt.Sprintf("verdict(%q)", keys["table"]), &verdict))
	assert.Equal(t, "verified", verdict, "the verdict on a shuffle of a page")
}

// run runs the scenarios with a package that is installed.
func run(t *testing.T, proxy string, keys tokens, command string, args ...string) {
	t.Helper()
	t.Parallel()
	if *installed == "" {
		t.Skip("skipped: make clients installs the package")
	}
	if filepath.Base(command) == command {
		command = clientstest.Require(t, command)
	} else {
		command = filepath.Join(*installed, command)
	}
	process := exec.CommandContext(t.Context(), command, args...)
	process.Dir = *installed
	process.Env = append(os.Environ(), "RIFFLE_URL="+proxy, "RIFFLE_SCENARIOS="+filepath.Join(clientstest.Repository(t), "clients", "scenarios.json"))
	for name, token := range keys {
		process.Env = append(process.Env, "RIFFLE_TOKEN_"+strings.ToUpper(name)+"="+token)
	}
	out, err := process.CombinedOutput()
	t.Logf("%s", out)
	assert.NoError(t, err)
}
