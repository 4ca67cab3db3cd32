// Package failovertest is the failover suite: replicas of the service under load, over three
// PostgreSQL servers under Patroni with etcd and haproxy, which are killed, stopped and isolated.
//
// Everything runs on loopback, on free ports and in a temporary folder. The suite must run as root,
// with the Debian packages etcd-server, patroni, postgresql-15 and haproxy.
package failovertest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	which  = flag.String("failover", "short", "faults to inflict: short for two, or three if RIFFLE_NIGHTLY is set, with low times of Patroni; all, or a regular expression for their names, with the default times")
	repeat = flag.Int("repeat", 3, "how often to inflict each fault, unless short")
)

var server, riffle string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := build(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// build builds the programs and runs the tests.
func build(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "riffle-programs-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	server, riffle = filepath.Join(folder, "server"), filepath.Join(folder, "riffle")
	command := exec.Command("go", "build", "-buildvcs=false", "-o", folder, "riffle/cmd/server", "riffle/cmd/riffle")
	if out, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return m.Run(), nil
}

// requirePrograms ends the test if programs are missing. In CI, where every test must run, it fails.
func requirePrograms(t *testing.T) {
	t.Helper()
	if programs := missing(); len(programs) > 0 && os.Getenv("CI") != "" {
		t.Fatalf("missing: %s", strings.Join(programs, ", "))
	} else if len(programs) > 0 {
		t.Skipf("skipped: missing: %s", strings.Join(programs, ", "))
	}
}

// A fault happens to the primary's node. heal undoes it.
type fault struct {
	name     string
	short    bool // part of the short form
	promotes bool // another node becomes the primary
	first    bool // the primary must be the URL's first host
	abandons bool // a replica is killed while its commit waits on the former primary; see abandon
	inflict  func(c *cluster, n *node)
	heal     func(c *cluster, n *node)
}

// nothing is the heal of a fault that Patroni heals.
func nothing(*cluster, *node) {}

// stopped is the time that processes are stopped, which exceeds Patroni's ttl.
const stopped = 40 * time.Second

// nightly adds a longer fault to the short form.
var nightly = os.Getenv("RIFFLE_NIGHTLY") != ""

var faults = []fault{
	{name: "PostgreSQL is killed", heal: nothing, inflict: func(c *cluster, n *node) {
		_ = syscall.Kill(c.postmaster(n), syscall.SIGKILL)
	}},
	{name: "Patroni and PostgreSQL are killed", short: true, promotes: true, heal: (*cluster).startPatroni, inflict: func(c *cluster, n *node) {
		n.signal(syscall.SIGKILL)
		if *which == "short" {
			c.expireLeader()
		}
	}},
	{name: "Patroni is killed and PostgreSQL goes on", promotes: true, heal: (*cluster).startPatroni, inflict: func(_ *cluster, n *node) {
		_ = n.patroni.Process.Kill()
	}},
	{name: "Patroni and a replica are killed and PostgreSQL goes on", promotes: true, first: true, abandons: true, heal: (*cluster).startPatroni, inflict: func(_ *cluster, n *node) {
		_ = n.patroni.Process.Kill()
	}},
	{name: "the node hangs for 40 s", promotes: true, heal: nothing, inflict: hang},
	{name: "the node hangs for 40 s and is the first host of the URL", promotes: true, first: true, heal: nothing, inflict: hang},
	{name: "switchover", short: true, promotes: true, heal: nothing, inflict: func(c *cluster, n *node) { c.switchover(n, c.syncStandby()) }},
	{name: "etcd hangs for 40 s", heal: nothing, inflict: func(c *cluster, _ *node) {
		_ = c.etcd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(stopped)
		_ = c.etcd.Process.Signal(syscall.SIGCONT)
	}},
	{name: "the standby is killed", inflict: func(c *cluster, _ *node) {
		c.syncStandby().signal(syscall.SIGKILL)
	}, heal: func(c *cluster, _ *node) {
		for _, n := range c.nodes {
			if !n.status("health") {
				c.startPatroni(n)
			}
		}
	}},
	{name: "the primary is cut from etcd and its standbys", short: nightly, promotes: true, inflict: func(_ *cluster, n *node) {
		n.isolated.Store(true)
	}, heal: func(_ *cluster, n *node) { n.isolated.Store(false) }},
	{name: "replication is cut for 13 s, then the primary dies", promotes: true, inflict: func(_ *cluster, n *node) {
		n.unreplicated.Store(true)
		time.Sleep(13 * time.Second)
		n.signal(syscall.SIGKILL)
	}, heal: func(c *cluster, n *node) {
		n.unreplicated.Store(false)
		c.startPatroni(n)
	}},
}

func hang(_ *cluster, n *node) {
	n.signal(syscall.SIGSTOP)
	time.Sleep(stopped)
	n.signal(syscall.SIGCONT)
}

// switchover makes Patroni promote another node.
func (c *cluster) switchover(from, to *node) {
	c.t.Helper()
	body := fmt.Sprintf(`{"leader": %q, "candidate": %q}`, from.name, to.name)
	long := &http.Client{Timeout: waitLimit}
	answer, err := long.Post(fmt.Sprintf("http://127.0.0.1:%d/switchover", from.rest), "application/json", strings.NewReader(body))
	require.NoError(c.t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Truef(c.t, answer.StatusCode == http.StatusOK, "switchover: %s", answer.Status)
}

// TestSynchronous inflicts faults on a cluster whose commits wait for a standby. No answered
// shuffle may be lost, and the replicas must continue.
func TestSynchronous(t *testing.T) {
	requirePrograms(t)
	if *which == "asynchronous" {
		t.Skip("not selected")
	}
	patience, rounds := defaultTimes, *repeat
	if *which == "short" {
		patience, rounds = shortTimes, 1
	}
	c := startCluster(t, patience, true)
	l := startLoad(t, c)
	l.awaitAnswers(100)
	names, err := regexp.Compile(*which)
	require.NoError(t, err)
	for _, f := range faults {
		selected := *which == "all" || *which == "short" && f.short || names.MatchString(f.name)
		for round := 0; selected && round < rounds && !t.Failed(); round++ {
			l.inflict(f)
		}
	}
	l.stop()
	l.checkLog()
}

// inflict inflicts a fault under load, waits until all replicas answer again and the cluster is
// healthy, and logs the outage.
func (l *load) inflict(f fault) {
	l.t.Helper()
	c := l.cluster
	n := c.primary()
	if f.first && n != c.nodes[0] {
		c.await("the first node is a synchronous standby", func() bool { return c.nodes[0].status("synchronous") || c.swap(n) })
		c.switchover(n, c.nodes[0])
		c.await("the first node is the primary", func() bool { return c.primary() == c.nodes[0] && c.standbys(true) })
		n = c.nodes[0]
	}
	l.awaitAnswers(20)
	if f.abandons {
		l.kill("haproxy") // so that one replica waits behind the other: a third would end its wait
	}
	began, before := time.Now(), l.size()
	f.inflict(c, n)
	if f.promotes {
		c.await("another node is the primary", func() bool {
			return slices.ContainsFunc(c.nodes, func(other *node) bool { return other != n && other.status("primary") })
		})
	}
	if f.abandons {
		l.abandon(n)
	}
	l.awaitAnswers(20)
	f.heal(c, n)
	c.await("the cluster is whole", func() bool { return c.standbys(true) })
	l.awaitAnswers(20)
	var outages []string
	for _, r := range l.replicas {
		outages = append(outages, fmt.Sprintf("%s %.1f s", r.name, r.outage(began).Seconds()))
	}
	slices.Sort(outages)
	lost, contradicted := l.check()
	assert.Truef(l.t, lost <= 0 && contradicted <= 0, "%d answered shuffles were lost, and the log contradicts %d of its checkpoints", lost, contradicted)
	l.t.Logf("%s: %d answered, longest time without an answer: %s", f.name, l.size()-before, strings.Join(outages, ", "))
}

// abandon kills the replica whose commit waits on the former primary. Its session still locks the
// head there. Once the replica behind it answers, abandon restarts the killed one.
func (l *load) abandon(former *node) {
	holder := ""
	l.cluster.await("a commit waits on the former primary", func() bool {
		holder = l.cluster.waiting(former)
		return holder != ""
	})
	l.kill(holder)
	l.awaitAnswers(20)
	for _, r := range l.replicas {
		if r.killed {
			l.start(r)
		}
	}
}

// swap kills the synchronous standby, so that another node replaces it. It returns false.
func (c *cluster) swap(primary *node) bool {
	if s := c.syncStandby(); s != nil && s != c.nodes[0] && s != primary && c.standbys(true) {
		_ = syscall.Kill(c.postmaster(s), syscall.SIGKILL)
		time.Sleep(5 * time.Second)
	}
	return false
}

// TestAsynchronous loses records in a failover. All replicas notice it immediately and again after
// a restart.
func TestAsynchronous(t *testing.T) {
	if *which == "short" {
		t.Skip("not part of the short form")
	}
	requirePrograms(t)
	if *which != "all" && *which != "asynchronous" {
		t.Skip("not selected")
	}
	c := startCluster(t, defaultTimes, false)
	l := startLoad(t, c)
	l.awaitAnswers(100)
	n := c.primary()
	n.unreplicated.Store(true)
	l.awaitAnswers(20)
	n.signal(syscall.SIGKILL)
	c.await("another node is the primary", func() bool { p := c.primary(); return p != nil && p != n })
	promoted := time.Now()
	var wait sync.WaitGroup
	for _, r := range l.replicas {
		wait.Go(func() {
			r.awaitEnd(t)
			t.Logf("%s ended %.1f s after the promotion", r.name, time.Since(promoted).Seconds())
		})
	}
	wait.Wait()
	l.stop()
	lost, _ := l.check()
	assert.True(t, lost != 0, "nothing was lost, so this test shows nothing")
	for _, r := range l.replicas {
		assert.Truef(t, bytes.Contains(r.log.Bytes(), []byte("it has gone back from")), "%s ended with:\n%s", r.name, r.log.String())
		l.start(r)
		r.awaitEnd(t) // also when it starts on such a log
	}
}
