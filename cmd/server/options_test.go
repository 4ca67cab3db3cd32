package main_test

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := runToExit(t, nil, "--version")
	assert.Truef(t, code == 0 && strings.HasPrefix(stdout, "riffle "+version+", commit ") && stderr == "", "--version: %d, %q, %q", code, stdout, stderr)
	for _, help := range []string{"--help", "-help"} {
		code, _, stderr = runToExit(t, nil, help)
		if code != 0 || !strings.Contains(stderr, "\n  --max-items") || !strings.Contains(stderr, "RIFFLE_MAX_ITEMS") || regexp.MustCompile(`\s-\w`).MatchString(stderr) {
			t.Errorf("%s: %d, %q", help, code, stderr)
		}
	}
}

func TestRejectsBadSettings(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	garbage := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(garbage, "riffle.db"), bytes.Repeat([]byte("garbage "), 1000), 0o600))
	for _, c := range []struct {
		args []string
		env  []string
		text string // part of the error
	}{
		{[]string{"--create", "maybe"}, nil, `--create must be auto or never, got "maybe"`},
		{[]string{"--queue", "0"}, nil, "--queue must be at least 1, got"},
		{[]string{"--queue", "-5"}, nil, "--queue must be at least 1, got"},
		{[]string{"--queue", "many"}, nil, `invalid value "many" for flag --queue: parse error; see --help`},
		{[]string{"--patience", "10ms"}, nil, "--patience must be at least 1s, such as the default 2m, got 10ms"},
		{[]string{"--max-items", "0"}, nil, "--max-items must be from 1 to 2147483648, got"},
		{[]string{"--max-items", "2147483649", "--max-results", "3000000000"}, nil, "--max-items must be from 1 to 2147483648, got"},
		{[]string{"--max-results", "10"}, nil, "--max-results must be at least --max-items, 1000000, got 10: raise it, or set --max-items to 10 or less"},
		{[]string{"--max-body", "0"}, nil, "--max-body must be from 1 byte to 1GiB, got 0"},
		{[]string{"--max-body", "2GiB"}, nil, "--max-body must be from 1 byte to 1GiB, got 2GiB"},
		{[]string{"--memory", "64 MiBit"}, nil, "it must be a number of bytes, such as 67108864, 64MiB or 64MB"},
		{[]string{"--memory", "1"}, nil, "--memory must be at least 5645728 for --max-body 512KiB and --max-items 31250, got 1: raise it, or set those lower"},
		{[]string{"--memory", "4EiB"}, nil, "--memory must be at most 1TiB, got 4294967296GiB"},
		{[]string{"--max-connections", "1"}, nil, "--max-connections must be at least 2, got 1"},
		{[]string{"--deadline", "0"}, nil, "--deadline must be from 1s to 720h, got 0s"},
		{nil, []string{"RIFFLE_DEADLINE=721h"}, "--deadline must be from 1s to 720h, got 721h"},
		{[]string{"--seed-key", filepath.Join(garbage, "nowhere", "seed.key"), "--data", t.TempDir()}, nil, "nowhere/seed.key"},
		{[]string{"--idle-timeout", "0"}, nil, "--idle-timeout must be longer than 0, got 0s"},
		{[]string{"--drain", "-1s"}, nil, "--drain must be 0 or longer, got -1s"},
		{nil, []string{"RIFFLE_GRACE=-1s"}, "--grace must be 0 or longer, got -1s"},
		{[]string{"--read-timeout", "5"}, nil, "--read-timeout"},
		{[]string{"--log-level", "loud"}, nil, "--log-level"},
		{[]string{"-no-such-flag"}, nil, "flag provided but not defined: --no-such-flag; see --help"},
		{[]string{"serve"}, nil, `unknown argument "serve"`},
		{nil, []string{"RIFFLE_QUEUE=none"}, "RIFFLE_QUEUE"},
		{nil, []string{"RIFFLE_MAX_BODY=-1"}, "RIFFLE_MAX_BODY: it must be a number of bytes"},
		{nil, []string{"RIFFLE_READ_TIMEOUT=soon"}, "RIFFLE_READ_TIMEOUT"},
		{[]string{"--addr", "nowhere"}, nil, "--addr must be a host and a port, such as localhost:8080 or :8080, got nowhere"},
		{[]string{"--admin-addr", ":99999"}, nil, "--admin-addr must be a host and a port"},
		{[]string{"--addr", taken.Addr().String()}, nil, "address already in use"},
		{[]string{"--data", file}, nil, "creating the data folder"},
		{[]string{"--data", garbage}, nil, "file is not a database"},
		{[]string{"--store", "mysql://db/riffle"}, nil, "--store must be the URL of a PostgreSQL database, such as postgres://"},
		{nil, []string{"RIFFLE_STORE=postgres://riffle:hush@127.0.0.1:1/riffle"}, "opening the database riffle on 127.0.0.1:1"},
		{[]string{"--key", filepath.Join(garbage, "riffle.db"), "--data", t.TempDir()}, nil, "riffle.db"},
		{nil, []string{"RIFFLE_KEY_FILE=" + filepath.Join(garbage, "nowhere", "log.key")}, "nowhere/log.key"},
		{[]string{"--origin", "a name", "--data", t.TempDir()}, nil, "origin"},
		{[]string{"--decks", filepath.Join(garbage, "nowhere")}, nil, "reading deck types from"},
		{[]string{"--hosts", "riffle.example:443"}, nil, `"riffle.example:443" is not a host name; accepted are names and IP addresses`},
		{nil, []string{"RIFFLE_HOSTS=https://riffle.example"}, "RIFFLE_HOSTS"},
		{[]string{"--healthcheck", "--addr", "nowhere"}, nil, "--addr must be a host and a port"},
	} {
		t.Run(strings.Join(slices.Concat(c.args, c.env), " "), func(t *testing.T) {
			code, _, stderr := runToExit(t, append([]string{"RIFFLE_ADDR=127.0.0.1:0"}, c.env...), c.args...)
			if c.args == nil || c.args[0] != "--healthcheck" {
				stderr = fatal(stderr)
			}
			if code != 1 || !strings.HasPrefix(stderr, "server: ") || !strings.Contains(stderr, c.text) {
				t.Errorf("exit code %d and errors %q, want 1 and %q", code, stderr, c.text)
			}
		})
	}
}

// TestTerminal gets plain text where a person reads it.
func TestTerminal(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), requireTool(t, "script"), "-qec", program+" --queue=0", os.DevNull).Output()
	assert.Error(t, err)
	assert.Equal(t, "server: --queue must be at least 1, got 0\r\n", string(out))
}

// TestEnvironment sets settings by variables, among them some that are flags only.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := []string{"RIFFLE_QUEUE=77", "RIFFLE_DATA=/dev/null/not-a-folder", "RIFFLE_HEALTHCHECK=true", "RIFFLE_VERSION=true", "RIFFLE_DECKOFCARDS=false"}
	s := launch{env: env}.start(t)
	assert.EqualValues(t, 77, s.metric("riffle_queue_capacity", ""), "RIFFLE_QUEUE=77 gives a queue of")
	s.get("/api/deck/new/").problem(t, http.StatusNotFound)
	s.get("/static/img/AS.png").problem(t, http.StatusNotFound)
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

// TestCreateNever starts the program with --create=never. Without its log it refuses to start and
// creates nothing.
func TestCreateNever(t *testing.T) {
	t.Parallel()
	never := []string{"--create=never"}
	refuses := func(data, want string) {
		t.Helper()
		launch{data: data, args: never}.refused(t, want, "create=auto")
	}
	data := filepath.Join(t.TempDir(), "data")
	refuses(data, "there is no log")
	_, err := os.Stat(data)
	assert.ErrorIs(t, err, os.ErrNotExist, "the data folder was created")

	s := launch{data: data}.start(t)
	before := s.shuffle(`{"size": 5}`)
	s.stop()
	s = launch{data: data, args: never}.start(t)
	assert.Equal(t, before.LogIndex+1, s.shuffle(`{"size": 5}`).LogIndex, "the log goes on with record")
	s.stop()

	for _, name := range []string{"checkpoint", "riffle.db"} {
		path := filepath.Join(data, name)
		require.NoError(t, os.Rename(path, path+".moved"))
		refuses(data, path+" is missing")
		_, err := os.Stat(path)
		assert.ErrorIsf(t, err, os.ErrNotExist, "%s was created", name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		refuses(data, "there is no log")
		require.NoError(t, os.Rename(path+".moved", path))
	}
	launch{data: data, args: never}.start(t).stop()
}
