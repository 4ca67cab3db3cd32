package main_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := []string{"RIFFLE_QUEUE=77", "RIFFLE_DATA=/dev/null/not-a-folder", "RIFFLE_DECKOFCARDS=true"}
	s := launch{env: env}.start(t)
	assert.EqualValues(t, 77, s.metric("riffle_queue_capacity", ""), "RIFFLE_QUEUE=77 gives a queue of")
	s.wantOK(s.get("/api/deck/new/"))
	s.wantOK(s.get("/static/img/AS.png"))
}

// TestDeckOfCardsIsOff asks for paths of deckofcardsapi without --deckofcards.
func TestDeckOfCardsIsOff(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	for _, path := range []string{"/api/deck/new/", "/api/new", "/static/img/AS.png"} {
		for _, accept := range []string{"*/*", "text/html"} {
			assert.Contains(t, s.get(path, "Accept", accept).problem(t, http.StatusNotFound), "start the service with --deckofcards", path)
		}
	}
	s.get("/api/").problem(t, http.StatusNotFound)
	assert.Zero(t, s.metric("riffle_log_size", ""))
}

// TestDefaults starts the program in an empty folder with no setting but the address, since the
// default port may be in use.
func TestDefaults(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := &server{t: t, log: &logBuffer{listening: make(chan string, 1)}, exited: make(chan struct{}), client: &http.Client{Timeout: waitLimit}}
	s.run([]string{"sh", "-c", `cd "$0" && umask 0 && exec "$@"`, folder, program}, nil, []string{"RIFFLE_ADDR=127.0.0.1:0"})
	select {
	case s.addr = <-s.log.listening:
	case <-s.exited:
		t.Fatalf("the server exited with %d:\n%s", s.code(), s.log)
	case <-time.After(waitLimit):
		t.Fatalf("the server does not listen:\n%s", s.log)
	}
	s.shuffle(`{"size": 5}`)
	info, err := os.Stat(filepath.Join(folder, "data"))
	require.NoErrorf(t, err, "the data folder: %v", info)
	assert.EqualValuesf(t, 0o700, info.Mode().Perm(), "the data folder: %v", info)
	s.stop()
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"--drain", waitLimit.String()}}.start(t)
	requireHealth(t, "", nil, "--addr", s.addr)
	requireHealth(t, "", []string{"RIFFLE_ADDR=" + s.addr})
	_, port, _ := net.SplitHostPort(s.addr)
	requireHealth(t, "", nil, "--addr", ":"+port) // of all interfaces
	s.signal(syscall.SIGTERM)
	until(t, "the server is not ready", func() bool { return s.get("/readyz").status != http.StatusOK })
	requireHealth(t, "not ready: 503", nil, "--addr", s.addr)
	s.kill()
	requireHealth(t, "connection refused", nil, "--addr", s.addr)
}

// requireHealth runs a health check, which must succeed, or fail with an error if that is not empty.
func requireHealth(t *testing.T, failure string, env []string, args ...string) {
	t.Helper()
	code, _, stderr := runToExit(t, env, append([]string{"--healthcheck"}, args...)...)
	if failure == "" && (code != 0 || stderr != "") || failure != "" && (code != 1 || !strings.Contains(stderr, failure)) {
		t.Errorf("%v %v: exit code %d and %q, want %q", env, args, code, stderr, failure)
	}
}

// coinsDeck is an operator's deck type.
const coinsDeck = `{
  "type": "coins",
  "name": {"en": "Two coins", "zh": "两枚硬币"},
  "family": "other",
  "size": 2,
  "cards": [
    {"code": "H", "name": {"en": "Heads", "zh": "正面"}, "glyph": "H"},
    {"code": "T", "name": {"en": "Tails", "zh": "反面"}, "glyph": "T"}
  ]
}
`

func TestOperatorDeckTypes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("coins.json", coinsDeck)
	s := launch{args: []string{"--decks", folder}}.start(t)
	var list struct{ Decks []struct{ Type string } }
	s.read(s.get("/decks"), &list)
	assert.Truef(t, slices.ContainsFunc(list.Decks, func(d struct{ Type string }) bool { return d.Type == "coins" }),
		"GET /decks does not list coins: %v", list)
	var toss struct{ Items []string }
	s.read(s.get("/decks/coins"), &toss)
	if slices.Sort(toss.Items); !slices.Equal(toss.Items, []string{"H", "T"}) {
		t.Errorf("GET /decks/coins answers %v", toss)
	}
	s.stop()

	write("bad.json", strings.Replace(coinsDeck, `"T"`, `"H"`, 1)) // the tests of internal/deck try all mistakes
	launch{args: []string{"--decks", folder}}.refused(t, folder, `bad.json:8: the code "H" is taken by line 7`)
}
