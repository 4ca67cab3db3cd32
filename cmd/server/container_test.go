package main_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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

// kills returns the number of processes that were killed for want of memory.
func (c *container) kills(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		text, _ := os.ReadFile(filepath.Join(c.inner, name))
		if found := regexp.MustCompile(`(?m)^oom_kill (\d+)$`).FindSubmatch(text); found != nil {
			return string(found[1])
		}
	}
	t.Fatal("the cgroup does not count kills")
	return ""
}

// TestSmallContainer starts the program with default settings in a container of 64 MiB and attacks
// it. It is not killed, answers what is too much with 503, and serves others afterwards. It runs in
// the nightly tests alone: on a busy machine the kernel has killed it in one of some twenty runs.
func TestSmallContainer(t *testing.T) {
	if !everyHostile {
		t.Skip("RIFFLE_HOSTILE=all runs it")
	}
	t.Parallel()
	canOpen(t, 3_000)
	c := newContainer(t, "67108864")
	s := c.l.start(t)
	assert.Contains(t, s.log.String(), `"level":"INFO","msg":"memory","container":"64MiB","memory":"6826KiB","max-body":"512KiB","max-items":31250,"connections":57,"GOMEMLIMIT":"30MiB"`)
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
		require.Equalf(t, "0", c.kills(t), "%s: killed", a.name)
		t.Logf("%s: %d MiB are resident", a.name, s.memory("VmRSS"))
	}
	until(t, "another caller is served", func() bool {
		a, err := s.from("127.0.0.2", false).ask(http.MethodPost, "/shuffle", smallShuffle)
		return err == nil && a.status == http.StatusOK
	})
	assert.NotZero(t, s.metric("riffle_http_shed_total", ""), "no request was answered 503")
	s.stop()
}

// TestRejectsTinyContainer starts the program with too little memory, and with settings that need
// too much.
func TestRejectsTinyContainer(t *testing.T) {
	t.Parallel()
	newContainer(t, "60000000").l.refused(t, "the container's memory limit of ", " is too low: give it 61MiB or more")
	l := newContainer(t, "100000000").l
	l.args, l.env = []string{"--memory", "256MiB"}, []string{"GOMEMLIMIT=1GiB"}
	s := l.start(t)
	warned := regexp.MustCompile(`"level":"WARN","msg":"these limits may take more memory than [^\n]*"memory":"256MiB","max-body":"16MiB","max-items":1000000,"connections":\d+,"GOMEMLIMIT":"1GiB"`)
	assert.Lenf(t, warned.FindAllString(s.log.String(), -1), 1, "%s", s.log)
}
