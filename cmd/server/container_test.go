package main_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A container is a cgroup with a limit on memory, in one without. Both are of version 2, or of
// version 1 where that has the memory.
type container struct {
	outer, inner string
	l            launch // starts the program inside
}

// newContainer returns a container, whose limit is the outer cgroup's. The program in it is a copy
// that is in nobody's page cache, so that its pages count.
func newContainer(t *testing.T, limit string) *container {
	t.Helper()
	root, file := "/sys/fs/cgroup", "memory.max"
	if _, err := os.Stat(filepath.Join(root, "memory", "memory.limit_in_bytes")); err == nil {
		root, file = filepath.Join(root, "memory"), "memory.limit_in_bytes"
	}
	c := &container{outer: filepath.Join(root, fmt.Sprintf("riffle-test-%d-%s", os.Getpid(), limit))}
	c.inner = filepath.Join(c.outer, "inner")
	for _, folder := range []string{c.outer, c.inner} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			skipOrFail(t, "no cgroup can be made; CI needs root and a cgroup file system that is writable: %v", err)
		}
		t.Cleanup(func() { assert.NoError(t, os.Remove(folder)) })
		if file == "memory.max" {
			_ = os.WriteFile(filepath.Join(filepath.Dir(folder), "cgroup.subtree_control"), []byte("+memory"), 0)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(c.outer, file), []byte(limit), 0), "limiting the memory of a cgroup")
	own := filepath.Join(t.TempDir(), "server")
	out, err := exec.CommandContext(t.Context(), "cp", program, own).CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	copied, err := os.Open(own)
	require.NoError(t, err)
	require.NoError(t, copied.Sync())
	require.NoError(t, unix.Fadvise(int(copied.Fd()), 0, 0, unix.FADV_DONTNEED))
	require.NoError(t, copied.Close())
	c.l = launch{program: own, wrapper: []string{"sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, c.inner}}
	return c
}

// alive fails the test once the program has exited, with the cgroup's counts of kills.
func (c *container) alive(s *server) {
	s.t.Helper()
	select {
	case <-s.exited:
		counts, _ := os.ReadFile(filepath.Join(c.inner, "memory.events"))
		older, _ := os.ReadFile(filepath.Join(c.inner, "memory.oom_control"))
		s.t.Fatalf("the service exited with %d; its cgroup counts\n%s%s\n%s", s.code(), counts, older, s.log)
	case <-time.After(20 * time.Millisecond): // in which the end of a killed program is noticed
	}
}

// TestSmallContainer starts the program with default settings in a container of 64 MiB and attacks
// it. It is not killed, refuses what is too much with 503 or 429, and serves others afterwards.
// Other tests do not run beside it: with both processors busy the kernel killed the program once in
// some twenty runs, since the garbage collector then lags behind.
func TestSmallContainer(t *testing.T) {
	canOpen(t, 3_000)
	c := newContainer(t, "67108864")
	s := c.l.start(t)
	assert.Contains(t, s.log.String(), `"level":"INFO","msg":"memory","container":"64MiB","memory":"6826KiB","max-body":"512KiB","max-items":31250,"connections":20,"GOMEMLIMIT":"29952KiB"`)
	for _, a := range []struct {
		name        string
		peers, size int
		text        string
	}{
		{"held bodies", 17, 1_500, slowRequest},
		{"idle connections", 19, 1_500, strings.Repeat(wire(`{"deck": "standard52", "repeat": 20}`), 5)},
		{"many fields", 10, 1_000, posted("/shuffle", asJSON+parts(longHeader, "%s:\n"), blank, 1)},
		{"many members", 10, 1_000, posted("/shuffle", asJSON, `{"items":[1,{`+parts(longBody-40, `"%s":1,`)+`"":1}]}`, 0)},
		{"long answers", 12, 1_200, wire(`{"size": 31250}`)},
		{"long shoes", 12, 1_200, posted("/shoes", asJSON, `{"items":`+texts(4096, 400<<10)+"}", 0)},
	} {
		for _, conn := range s.attackFrom(a.peers, a.size, a.text) {
			_ = conn.Close()
		}
		c.alive(s)
		t.Logf("%s: %s of anonymous memory", a.name, s.status("RssAnon"))
	}
	until(t, "another caller is served", func() bool {
		c.alive(s)
		a, err := s.from("127.0.0.2", false).ask(http.MethodPost, "/shuffle", smallShuffle)
		return err == nil && a.status == http.StatusOK
	})
	assert.NotZero(t, s.metric("riffle_rejected_requests_total", ""), "no request was refused")
	s.stop()
}

// TestRejectsTinyContainer starts the program, or has it check its configuration, with too little
// memory, with settings that need too much, and with variables that Go's runtime follows. 3 EiB
// leave the defaults.
func TestRejectsTinyContainer(t *testing.T) {
	t.Parallel()
	huge := newContainer(t, "3458764513820540928").l.start(t)
	assert.Contains(t, huge.log.String(), `"memory":"512MiB","max-body":"16MiB","max-items":1000000,"connections":2650,"GOMEMLIMIT":"1184MiB"`)
	newContainer(t, "60000000").l.refused(t, "the container's memory limit of ", " is too low: give it 61MiB or more\n")
	l := newContainer(t, "100000000").l
	for _, c := range []struct {
		text, place, need string
		args              []string
	}{
		{"{memory: 256MiB}", ":1:10: ", "give it 373MiB or more, or lower --memory, --max-body or --max-items, which need 256MiB, so that 35MiB is enough\n", nil},
		{"{max-body: 8MiB}", ":1:12: ", "give it 134MiB or more, or lower --memory, --max-body or --max-items, which need 64MiB, so that 35MiB is enough\n", []string{"--check-config"}},
	} {
		with, path := configured(t, c.text)
		l.args = slices.Concat(with.args, c.args)
		l.refused(t, path+c.place+"the container's memory limit of 97656KiB is too low: "+c.need)
	}
	with, _ := configured(t, "{queue: 5}")
	l.args, l.env = with.args, []string{"GOMEMLIMIT=80MiB", "GOMAXPROCS=32"}
	for _, check := range [][]string{nil, {"--check-config"}} {
		l.args = append(l.args, check...)
		s := l.startOrExit(t)
		assert.Equal(t, check == nil, s.addr != "", "it starts")
		for _, warning := range []string{"GOMEMLIMIT is 80MiB: ", "GOMAXPROCS is 32, and the container has memory for 5: "} {
			assert.Contains(t, s.log.String(), warning)
		}
	}
}
