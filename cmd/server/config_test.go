package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
)

// writeConfig writes a configuration file, or replaces it in one step.
func writeConfig(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

// configured returns how to start the program with a configuration file, and the file's path.
func configured(t *testing.T, text string, args ...string) (l launch, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "riffle.yaml")
	writeConfig(t, path, text)
	return launch{args: append([]string{"--config", path}, args...)}, path
}

// answersUnder reports whether the server answers requests for a Host.
func (s *server) answersUnder(host string) bool {
	s.t.Helper()
	a := s.get("/decks", "Host", host)
	assert.Truef(s.t, a.status == http.StatusOK || a.status == http.StatusMisdirectedRequest, "Host %s: %v", host, a)
	return a.status == http.StatusOK
}

// messages returns the messages of a level that the server has logged, each with its attributes.
func (s *server) messages(level string) (list []map[string]any) {
	for line := range strings.Lines(s.log.String()) {
		var m map[string]any
		if json.Unmarshal([]byte(line), &m) == nil && m["level"] == level {
			list = append(list, m)
		}
	}
	return list
}

// logged reports whether a message of a level has been logged, and returns the last such.
func (s *server) logged(level, message string) (last map[string]any, ok bool) {
	for _, m := range s.messages(level) {
		if m["msg"] == message {
			last, ok = m, true
		}
	}
	return last, ok
}

// TestPrecedence sets one limit in several places: a flag beats the environment, that beats the
// file, and that beats the default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	const file, variable, flag = "max-items: 5\nmax-results: 20\nhosts: [file.example]", "RIFFLE_MAX_ITEMS=4", "--max-items=3"
	for _, c := range []struct {
		env, args []string
		most      int
	}{
		{nil, nil, 5},
		{[]string{variable}, nil, 4},
		{[]string{variable}, []string{flag}, 3},
		{nil, []string{flag}, 3},
		{[]string{"RIFFLE_MAX_ITEMS="}, nil, 5},
	} {
		l, _ := configured(t, file, c.args...)
		l.env = c.env
		s := l.start(t)
		most := 0
		for size := 1; s.post("/shuffle", fmt.Sprintf(`{"size": %d}`, size)).status == http.StatusOK && size < 10; size++ {
			most = size
		}
		assert.Equalf(t, c.most, most, "%v %v: shuffles of up", c.env, c.args)
		assert.Truef(t, s.answersUnder("file.example"), "%v %v: hosts is not what the file says", c.env, c.args)
		assert.Falsef(t, s.answersUnder("evil.example"), "%v %v: hosts is not what the file says", c.env, c.args)
	}
	_, path := configured(t, file)
	s := launch{env: []string{"RIFFLE_CONFIG=" + path}}.start(t)
	assert.True(t, s.answersUnder("file.example"), "the file that RIFFLE_CONFIG names is not read")
}

// TestReload sends SIGHUP under load, after changes that are applied, that need a restart, and that are
// mistakes.
func TestReload(t *testing.T) {
	t.Parallel()
	const valid = "hosts: [a.example]\nqueue: 5\n"
	l, path := configured(t, valid)
	l.args = append(l.args, "--access-log=false")
	s := l.start(t)
	loaded := make(chan *loadResult)
	go func() { loaded <- s.load(4, 200, smallShuffle) }()
	reload := func(text string) {
		t.Helper()
		writeConfig(t, path, text)
		s.signal(syscall.SIGHUP)
	}
	answersOnlyUnder := func(when, host string) {
		t.Helper()
		for _, other := range []string{"a.example", "b.example", "d.example"} {
			assert.Equalf(t, (other == host), s.answersUnder(other),
				"%s the server answers under %s: %t", when, other, other != host)
		}
	}
	failures := func() int { return len(s.messages("ERROR")) }

	reload("hosts: [b.example]\nqueu: 6\nqueue: 0\n")
	until(t, "the mistakes are logged", func() bool { return failures() == 1 })
	want := fmt.Sprint([]string{path + `:2:1: unknown key "queu"; did you mean queue?`, path + ":3:8: --queue must be at least 1, got 0"})
	if m := s.messages("ERROR")[0]; m["file"] != path || fmt.Sprint(m["mistakes"]) != want {
		t.Errorf("a broken file is logged as %v, want the mistakes %s", m, want)
	}
	answersOnlyUnder("after a broken file", "a.example")
	require.NoError(t, os.Remove(path))
	s.signal(syscall.SIGHUP)
	until(t, "the missing file is logged", func() bool { return failures() == 2 })
	answersOnlyUnder("without its file", "a.example")

	reload("hosts: [b.example]\nqueue: 6\nmemory: 64MiB\nstore: postgres://u:hunter2@db.example/riffle\n")
	until(t, "hosts changes", func() bool { return s.answersUnder("b.example") })
	answersOnlyUnder("after a change", "b.example")
	until(t, "the reload is logged", func() bool { _, ok := s.logged("INFO", "reloaded"); return ok })
	for _, warning := range []string{"queue changed to 6 in " + path + "; it applies after a restart", "store changed in " + path + "; it applies after a restart"} {
		_, ok := s.logged("WARN", warning)
		assert.Truef(t, ok, "the server does not warn: %s", warning)
	}
	assert.Len(t, s.messages("WARN"), 3, "max-body and max-items, which follow memory, are not in the file")
	assert.EqualValues(t, 5, s.metric("riffle_queue_capacity", ""), "the queue takes")
	assert.NotContainsf(t, s.log.String(), "hunter2", "the log has the password of the store:\n%s", s.log)

	warnings := len(s.messages("WARN"))
	reload(valid)
	until(t, "hosts changes back", func() bool { return s.answersUnder("a.example") })
	reload("log-level: error\nqueue: 5\nhosts: [d.example]\n")
	until(t, "hosts changes with log-level", func() bool { return s.answersUnder("d.example") })
	reload("log-level: error\nqueue: many\nhosts: [a.example]\n")
	until(t, "errors are logged", func() bool { return failures() == 3 })
	answersOnlyUnder("after a second broken file", "d.example")
	assert.Equal(t, warnings, len(s.messages("WARN")))
	if n := len(s.messages("INFO")); n != 5 { // memory, no anchor, listening and two reloads
		t.Errorf("%d messages of level info, want 5 and none after log-level: error\n%s", n, s.log)
	}
	reload("log-level: debug\nqueue: 5\n")
	until(t, "the new level is logged", func() bool {
		m, ok := s.logged("INFO", "reloaded")
		changed, _ := m["changed"].(map[string]any)
		return ok && len(changed) == 2 && changed["log-level"] == "DEBUG" && changed["hosts"] == ""
	})
	answersOnlyUnder("without hosts in the file", "")
	got := <-loaded
	assert.Lenf(t, got.answered, 800, "of 800 shuffles %v were rejected, and failed: %v", got.rejected, got.failed)
	s.stop()
}

// TestHangupWithoutConfig sends SIGHUP, which ends a program that does not expect it, to a server
// without a configuration file, and to one that is about to end.
func TestHangupWithoutConfig(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"--drain", "5s"}}.start(t)
	s.signal(syscall.SIGHUP)
	until(t, "the signal is logged", func() bool { return len(s.messages("WARN")) > 0 })
	answered := []shuffled{s.shuffle(smallShuffle)}
	s.signal(syscall.SIGTERM)
	until(t, "the server is not ready", func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable })
	a := s.get("/healthz")
	assert.Equalf(t, http.StatusOK, a.status, "/healthz answers %v during --drain", a)
	s.signal(syscall.SIGHUP)
	answered = append(answered, s.shuffle(smallShuffle))
	code := s.wait()
	assert.Equalf(t, 0, code, "the server exited with %d:\n%s", code, s.log)
	launch{data: s.data}.start(t).checkLog("fault", answered)
}

// TestHealthcheckReadsConfig asks for the health of a server whose address is in its file. Once the
// file is broken, the health check does not fail for that, or the server would be restarted.
func TestHealthcheckReadsConfig(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	_, path := configured(t, "addr: "+s.addr+"\nqueue: 5\n")
	for _, text := range []string{"addr: " + s.addr, "addr: " + s.addr + "\nqueue: many\nmemory: 1\nfish: 1"} {
		writeConfig(t, path, text)
		requireHealth(t, "", nil, "--config", path)
	}
	requireHealth(t, "connection refused", nil, "--config", path, "--addr", "127.0.0.1:1")
}

// TestReloadFailsClosed has the configuration file emptied, truncated and lost in every way that a
// full disk or an editor could, and sends SIGHUP: the keys stay, and each is logged as an error.
func TestReloadFailsClosed(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	whole := fmt.Sprintf("queue: 50\nkeys:\n  - name: table\n    sha256: %x\n    may: [shuffle]\n", token.Digest())
	before := func(text string) string { return whole[:strings.Index(whole, text)] }
	l, path := configured(t, whole)
	s := l.start(t)
	shuffle := func(token access.Token) int { return s.post("/shuffle", `{"size": 5}`, with(token)...).status }
	put := func(text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o600) } // in place, as an editor may
	}
	replace := func(with func() error) func() error {
		return func() error { return errors.Join(os.Remove(path), with()) }
	}
	refused := func(what string) {
		t.Helper()
		errs := len(s.messages("ERROR"))
		s.signal(syscall.SIGHUP)
		until(t, what+" is logged as an error", func() bool { return len(s.messages("ERROR")) > errs })
	}
	for _, v := range []struct {
		name string
		ruin func() error
	}{
		{"empty", put("")},
		{"one line break", put("\n")},
		{"nothing but comments", put("# keys\n---\n")},
		{"filled with zeros", put(strings.Repeat("\x00", len(whole)))},
		{"an empty mapping", put("{}\n")},
		{"without keys", put("queue: 50\n")},
		{"an empty list of keys", put("keys: []\n")},
		{"cut in the name of keys", put(before("ys:"))},
		{"cut behind keys:", put(before("  - name"))},
		{"cut in the first key", put(before("    may"))},
		{"cut in a list", put(before("]"))},
		{"deleted", func() error { return os.Remove(path) }},
		{"a folder", func() error { return os.Mkdir(path, 0o700) }},
		{"a link to itself", replace(func() error { return os.Symlink(path, path) })},
		{"a pipe", replace(func() error { return syscall.Mkfifo(path, 0o600) })},
	} {
		require.NoError(t, v.ruin(), v.name)
		refused(v.name)
		got := [2]int{shuffle(""), shuffle(token)}
		assert.Equalf(t, [2]int{401, 200}, got,
			"%s: a shuffle without the token is answered %d, and with it %d", v.name, got[0], got[1])
	}
	m, ok := s.logged("INFO", "reloaded")
	assert.Falsef(t, ok, "a ruined file was applied: %v", m)
	writeConfig(t, path, "queue: 50\nanonymous: {may: [read]}\n") // without keys, but explicitly
	s.signal(syscall.SIGHUP)
	until(t, "the keys are gone", func() bool { return shuffle(token) == 401 })
	writeConfig(t, path, "queue: 50\n")
	refused("a file without anonymous")
	writeConfig(t, path, "anonymous: {may: [shuffle, deal, read, metrics]}\nqueue: 50\n")
	s.signal(syscall.SIGHUP)
	until(t, "everybody may shuffle", func() bool { return shuffle("") == 200 })
	s.stop()
}
