package failovertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/postgres/postgrestest"
)

// waitLimit is the time limit of an await: several times Patroni's default time to promote another
// server.
const waitLimit = 3 * time.Minute

// patroniTimes are Patroni's timeouts in seconds.
type patroniTimes struct {
	ttl, loopWait, retryTimeout int
	check                       string // haproxy's interval and counts
}

var (
	defaultTimes = patroniTimes{30, 10, 10, "inter 3s fall 3 rise 2"}
	shortTimes   = patroniTimes{20, 1, 3, "inter 500ms fall 2 rise 1"} // Patroni's minimum
)

// A cluster is three PostgreSQL servers under Patroni, with one etcd and one haproxy.
type cluster struct {
	t       *testing.T
	folder  string
	etcd    *exec.Cmd
	etcdURL string
	proxy   int // haproxy's port
	nodes   []*node
}

// A node is a PostgreSQL server with its Patroni.
type node struct {
	name, folder   string
	pg, rest       int   // ports
	pgLink, toRest *link // through which other nodes reach them
	toEtcd         *link
	patroni        *exec.Cmd
	isolated       atomic.Bool // from etcd and the other nodes
	unreplicated   atomic.Bool // other nodes cannot reach its PostgreSQL
}

func missing() (programs []string) {
	for _, p := range []string{"etcd", "patroni", "haproxy", "setpriv"} {
		if _, err := exec.LookPath(p); err != nil {
			programs = append(programs, p)
		}
	}
	if _, err := postgrestest.Binaries(); err != nil {
		programs = append(programs, "postgresql-15")
	}
	if os.Getuid() != 0 {
		programs = append(programs, "root's rights, to run PostgreSQL as the user postgres")
	}
	return programs
}

// startCluster starts a cluster and waits until it has a primary, and if synchronous a synchronous
// standby.
func startCluster(t *testing.T, patience patroniTimes, synchronous bool) *cluster {
	t.Helper()
	folder, err := os.MkdirTemp("", "riffle-failover-")
	require.NoError(t, err)
	c := &cluster{t: t, folder: folder}
	c.guard()
	binaries, err := postgrestest.Binaries()
	require.NoError(t, errors.Join(err, os.Chmod(folder, 0o755)))
	mkdir := func(name string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, errors.Join(os.Mkdir(path, 0o700), postgrestest.Chown(path)))
		return path
	}

	client, peer := freePort(t), freePort(t)
	c.etcdURL = fmt.Sprint("http://127.0.0.1:", client)
	c.etcd = c.start(mkdir("etcd"), "etcd", "--enable-v2", "--data-dir", "data", "--listen-client-urls", c.etcdURL, "--advertise-client-urls", c.etcdURL,
		"--listen-peer-urls", fmt.Sprint("http://127.0.0.1:", peer), "--unsafe-no-fsync")
	c.await("etcd answers", func() bool { _, err := get(c.etcdURL + "/health"); return err == nil })

	for i := range 3 {
		n := &node{name: fmt.Sprint("node", i+1), pg: freePort(t), rest: freePort(t)}
		n.folder = mkdir(n.name)
		fromOther := func(sender func() string) bool {
			if n.isolated.Load() {
				return true
			}
			for _, other := range c.nodes {
				if other != n && other.isolated.Load() && strings.HasPrefix(sender(), other.folder) {
					return true
				}
			}
			return false
		}
		n.pgLink = newLink(t, n.pg, func(sender func() string) bool { return n.unreplicated.Load() || fromOther(sender) })
		n.toRest = newLink(t, n.rest, fromOther)
		n.toEtcd = newLink(t, client, func(func() string) bool { return n.isolated.Load() })
		c.nodes = append(c.nodes, n)
		require.NoError(t, os.WriteFile(filepath.Join(n.folder, "patroni.yml"), []byte(n.config(binaries, patience, synchronous)), 0o644))
	}
	for _, n := range c.nodes {
		c.startPatroni(n)
		if n == c.nodes[0] {
			c.await("the first node is the primary", func() bool { return c.primary() == n })
		}
	}
	c.await("both other nodes are standbys", func() bool { return c.standbys(synchronous) })

	c.proxy = freePort(t)
	path := filepath.Join(mkdir("haproxy"), "haproxy.cfg")
	require.NoError(t, os.WriteFile(path, []byte(c.haproxyConfig(patience)), 0o644))
	c.start(filepath.Dir(path), "haproxy", "-db", "-f", path)
	c.exec(c.primary(), "CREATE ROLE riffle LOGIN", "CREATE DATABASE riffle OWNER riffle")
	// haproxy forwards to every server until it has checked them.
	c.await("haproxy forwards to the primary only", func() bool {
		for range 6 {
			if c.query(c.proxy, "SELECT pg_current_wal_lsn()") != nil {
				return false
			}
		}
		return true
	})
	return c
}

// The configurations of a node's Patroni and of haproxy, as formats.
var (
	//go:embed testdata/patroni.yml
	patroniFile string
	//go:embed testdata/haproxy.cfg
	haproxyFile string
)

// config is the node's Patroni configuration. It uses version 2 of etcd's API: with version 3,
// Patroni 3.0 that was stopped for longer than the ttl overwrites the new leader.
func (n *node) config(binaries string, patience patroniTimes, synchronous bool) string {
	return fmt.Sprintf(patroniFile, n.name, n.rest, n.toRest.port, n.toEtcd.port, patience.ttl, patience.loopWait, patience.retryTimeout, synchronous,
		n.pg, n.pgLink.port, n.folder, binaries)
}

func (c *cluster) haproxyConfig(patience patroniTimes) string {
	var b strings.Builder
	fmt.Fprintf(&b, haproxyFile, c.proxy, patience.check)
	for _, n := range c.nodes {
		fmt.Fprintf(&b, "    server %s 127.0.0.1:%d maxconn 100 check port %d\n", n.name, n.pg, n.rest)
	}
	return b.String()
}

func (c *cluster) viaProxy() string {
	return fmt.Sprintf("postgres://riffle@127.0.0.1:%d/riffle?sslmode=disable", c.proxy)
}

func (c *cluster) viaHosts() string {
	var hosts []string
	for _, n := range c.nodes {
		hosts = append(hosts, fmt.Sprint("127.0.0.1:", n.pg))
	}
	return fmt.Sprintf("postgres://riffle@%s/riffle?sslmode=prefer", strings.Join(hosts, ","))
}

// guard makes a shell kill everything in the folder when this process ends, which closes a pipe.
func (c *cluster) guard() {
	c.t.Helper()
	script := `cat >/dev/null
for p in /proc/[0-9]*; do case "$(readlink $p/cwd)" in ` + c.folder + `/*) kill -9 ${p#/proc/};; esac; done
sleep 0.2; rm -rf ` + c.folder
	guard := exec.Command("setsid", "sh", "-c", script)
	in, err := guard.StdinPipe()
	require.NoError(c.t, err)
	require.NoError(c.t, guard.Start())
	c.t.Cleanup(func() {
		if c.t.Failed() {
			c.showLogs()
		}
		_ = errors.Join(in.Close(), guard.Wait())
	})
}

func (c *cluster) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(c.folder, "*", "*.log"))
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		c.t.Logf("%s:\n%s", path, text[max(0, len(text)-3000):])
	}
}

// start starts a program as the user postgres, with a log file in its folder.
func (c *cluster) start(folder, name string, args ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(folder, name+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	require.NoError(c.t, err)
	defer func() { _ = log.Close() }()
	p := exec.Command("setpriv", append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", name}, args...)...)
	p.Dir, p.Stdout, p.Stderr = folder, log, log
	p.Env = append(os.Environ(), "HOME="+folder)
	require.NoError(c.t, p.Start())
	go func() { _ = p.Wait() }()
	return p
}

func (c *cluster) startPatroni(n *node) {
	n.patroni = c.start(n.folder, "patroni", filepath.Join(n.folder, "patroni.yml"))
}

// await waits until a condition holds.
func (c *cluster) await(what string, condition func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(waitLimit); !condition(); time.Sleep(100 * time.Millisecond) {
		require.Falsef(c.t, time.Now().After(deadline), "waiting until %s took longer than %s", what, waitLimit)
	}
}

func (n *node) status(path string) bool {
	_, err := get(fmt.Sprintf("http://127.0.0.1:%d/%s", n.rest, path))
	return err == nil
}

// primary returns the only node that calls itself the primary, or nil.
func (c *cluster) primary() (primary *node) {
	for _, n := range c.nodes {
		if n.status("primary") {
			if primary != nil {
				return nil
			}
			primary = n
		}
	}
	return primary
}

// standbys reports whether all nodes except the primary stream from it and, if synchronous, Patroni
// has chosen a synchronous standby. Until it has, the primary waits for any of them, and none would
// be promoted.
func (c *cluster) standbys(synchronous bool) bool {
	p := c.primary()
	if p == nil {
		return false
	}
	text, err := get(fmt.Sprintf("http://127.0.0.1:%d/patroni", p.rest))
	var state struct {
		Replication []struct {
			State string `json:"state"`
		} `json:"replication"`
	}
	if err != nil || json.Unmarshal(text, &state) != nil {
		return false
	}
	streaming := 0
	for _, r := range state.Replication {
		if r.State == "streaming" {
			streaming++
		}
	}
	for _, n := range c.nodes {
		if !n.status("health") {
			return false
		}
	}
	return streaming == len(c.nodes)-1 && (!synchronous || c.syncStandby() != nil)
}

// expireLeader removes the leader's key from etcd, which otherwise expires after the ttl.
func (c *cluster) expireLeader() {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodDelete, c.etcdURL+"/v2/keys/service/riffle/leader", nil)
	require.NoError(c.t, err)
	answer, err := shortClient.Do(request)
	require.NoError(c.t, err)
	_ = answer.Body.Close()
	require.Truef(c.t, answer.StatusCode == http.StatusOK, "removing the leader's key: %s", answer.Status)
}

func (c *cluster) syncStandby() *node {
	for _, n := range c.nodes {
		if n.status("synchronous") {
			return n
		}
	}
	return nil
}

func (c *cluster) postmaster(n *node) int {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.folder, "data", "postmaster.pid"))
	require.NoError(c.t, err)
	pid, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	require.NoError(c.t, err)
	return pid
}

func (n *node) signal(s syscall.Signal) {
	for _, pid := range processesIn(n.folder) {
		_ = syscall.Kill(pid, s)
	}
}

// waiting returns the application whose commit on the node waits for a standby, or "".
func (c *cluster) waiting(n *node) (application string) {
	_ = c.query(n.pg, "SELECT application_name FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = 'riffle'", &application)
	return application
}

func (c *cluster) exec(n *node, commands ...string) {
	c.t.Helper()
	for _, command := range commands {
		require.NoError(c.t, c.query(n.pg, command), command)
	}
}

func (c *cluster) query(port int, sql string, to ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if len(to) > 0 {
		return conn.QueryRow(ctx, sql).Scan(to...)
	}
	_, err = conn.Exec(ctx, sql)
	return err
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := postgrestest.FreePort()
	require.NoError(t, err)
	return port
}

var shortClient = &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// get returns the body of a response with the status 200.
func get(url string) ([]byte, error) {
	r, err := shortClient.Get(url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s is answered %s", url, r.Status)
	}
	return body, err
}
