package main_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/postgres/postgrestest"
)

var (
	withProxies = flag.Bool("proxies", false, "restart and kill replicas behind each of deploy/proxies, under load")
	caddy       = flag.String("caddy", "caddy", "the program of Caddy, 2.11.2 or later")
)

// runNginx and runCaddy are commands that take a configuration as another argument.
var runNginx = []string{"nginx", "-g", "daemon off; error_log stderr warn;", "-c"}

func runCaddy() []string { return []string{*caddy, "run", "--adapter", "caddyfile", "--config"} }

// TestProxiesHideRestarts restarts two replicas one after the other, and kills each, behind every
// proxy of deploy/proxies under load. Each request is answered 200 and has one record, with or
// without an idempotency key of its caller.
func TestProxiesHideRestarts(t *testing.T) {
	if !*withProxies {
		t.Skip("it takes minutes and needs haproxy, nginx and Caddy: make proxies")
	}
	for file, p := range map[string]struct {
		listen, edited string // the address in the file, and the test's
		command        []string
	}{
		"haproxy.cfg": {"bind :80", "bind ", []string{"haproxy", "-db", "-f"}},
		"nginx.conf":  {"listen 80", "listen ", runNginx},
		"Caddyfile":   {"riffle.example", "{\n\tadmin off\n}\nhttp://", runCaddy()},
	} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../deploy/proxies", file))
			require.NoError(t, err)
			front := newProxy(t, newDatabase(t))
			config := strings.Replace(string(text), p.listen, p.edited+front.addr, 1)
			for i, l := range front.replicas {
				config = strings.Replace(config, fmt.Sprint("127.0.0.1:", 8081+i), l.args[len(l.args)-1], 1)
			}
			front.runProxy(p.command, config)
			front.hidesRestarts()
		})
	}
}

// TestProxiesTellGamesApart runs the configurations of docs/guides/several-games.md before two services.
func TestProxiesTellGamesApart(t *testing.T) {
	if !*withProxies {
		t.Skip("it needs nginx and Caddy: make proxies")
	}
	page, err := os.ReadFile("../../docs/guides/several-games.md")
	require.NoError(t, err)
	for language, p := range map[string]struct {
		edit    func(config, addr string) string
		command []string
	}{
		"nginx": {func(config, addr string) string { return strings.Replace(config, "listen 80", "listen "+addr, 1) }, runNginx},
		"caddyfile": {func(config, addr string) string {
			_, port, _ := net.SplitHostPort(addr)
			return "{\n\tadmin off\n}\n" + regexp.MustCompile(`(\w+\.riffle\.example)`).ReplaceAllString(config, "http://$1:"+port)
		}, runCaddy()},
	} {
		t.Run(language, func(t *testing.T) {
			_, block, _ := strings.Cut(string(page), "```"+language+"\n")
			block, _, _ = strings.Cut(block, "```")
			f := newFront(t)
			config, services := p.edit(block, f.addr), map[string]*server{}
			for i, game := range []string{"poker", "bridge"} {
				addr := freeAddr(t)
				services[game] = launch{args: []string{"--addr", addr, "--hosts", game + ".riffle.example", "--trusted-proxies", "127.0.0.1"}}.start(t)
				config = strings.ReplaceAll(config, fmt.Sprint("127.0.0.1:", 8081+i), addr)
			}
			f.runProxy(p.command, config, "Host", "poker.riffle.example")
			for game, s := range services {
				host := game + ".riffle.example"
				a := f.post("/shuffle", smallShuffle, "Host", host)
				require.Equal(t, http.StatusOK, a.status)
				assert.Equal(t, string(s.get("/log/key").body), string(f.get("/log/key", "Host", host).body))
				assert.Equal(t, 1.0, s.metric("riffle_log_size", ""))
			}
			assert.NotEqual(t, services["poker"].get("/log/key").body, services["bridge"].get("/log/key").body)
		})
	}
}

// A proxy is a running proxy and the replicas behind it.
type proxy struct {
	*server  // whose addr is the proxy's
	replicas [2]launch
	running  [2]*server
}

// newProxy starts two replicas at fixed addresses.
func newProxy(t *testing.T, db *database) *proxy {
	t.Helper()
	f := &proxy{server: newFront(t)}
	for i := range f.replicas {
		f.replicas[i] = db.replica("-data", t.TempDir(), "-trusted-proxies", "127.0.0.1", "-addr", freeAddr(t))
		f.running[i] = f.replicas[i].start(t)
	}
	return f
}

// newFront returns a proxy that does not run yet, for a caller of its own address, which differs from the
// proxy's.
func newFront(t *testing.T) *server {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 64}, Timeout: waitLimit}
	return &server{t: t, addr: freeAddr(t), log: &logBuffer{}, client: client}
}

// freeAddr returns a loopback address whose port is free.
func freeAddr(t *testing.T) string {
	t.Helper()
	port, err := postgrestest.FreePort()
	require.NoError(t, err)
	return fmt.Sprint("127.0.0.1:", port)
}

// runProxy runs a proxy with a configuration, until the test ends. When it returns, the proxy
// forwards requests with the headers.
func (f *server) runProxy(command []string, config string, headers ...string) {
	f.t.Helper()
	program, folder := requireTool(f.t, command[0]), f.t.TempDir()
	path := filepath.Join(folder, "config")
	if filepath.Base(program) == "nginx" { // the file is a part of nginx's own
		require.NoError(f.t, os.WriteFile(path+".site", []byte(config), 0o600))
		config = fmt.Sprintf("pid %s.pid; events {} http { access_log off; include %[1]s.site; }", path)
	}
	require.NoError(f.t, os.WriteFile(path, []byte(config), 0o600))
	running := exec.CommandContext(context.WithoutCancel(f.t.Context()), program, append(command[1:len(command):len(command)], path)...)
	running.Env, running.Stdout, running.Stderr = append(os.Environ(), "HOME="+folder), f.log, f.log
	require.NoError(f.t, running.Start())
	f.t.Cleanup(func() {
		_ = running.Process.Signal(syscall.SIGTERM)
		_ = running.Wait()
	})
	until(f.t, "the proxy forwards", func() bool {
		a, err := f.ask(http.MethodGet, "/readyz", "", headers...)
		return err == nil && a.status == http.StatusOK
	})
}

// hidesRestarts restarts and kills the replicas under load.
func (f *proxy) hidesRestarts() {
	load, end := &loadResult{rejected: map[int]int{}}, make(chan struct{})
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				var headers []string
				if i%2 == 0 {
					headers = []string{"Idempotency-Key", uuid.NewString()}
				}
				a, err := f.ask(http.MethodPost, "/shuffle", smallShuffle, headers...)
				load.add(f.server, a, err)
			}
		})
	}
	more := func() {
		answers := func() int {
			load.mu.Lock()
			defer load.mu.Unlock()
			return len(load.answered)
		}
		wanted := answers() + 1000
		until(f.t, "1,000 more are answered", func() bool { return answers() >= wanted })
	}
	for _, end := range []func(*server){(*server).stop, (*server).kill, (*server).kill} {
		for i, s := range f.running {
			more()
			end(s)
			more()
			f.running[i] = f.replicas[i].start(f.t)
			until(f.t, "the replica is ready", func() bool { return f.running[i].get("/readyz").status == http.StatusOK })
		}
	}
	more()
	close(end)
	callers.Wait()
	assert.Emptyf(f.t, load.rejected, "rejected: %v", load.rejected)
	assert.Emptyf(f.t, load.failed, "failed; the log of the proxy:\n%s", f.log)
	for _, d := range load.answered {
		assert.NotNil(f.t, d.record, "a GET of a record failed")
	}
	assert.Equal(f.t, len(load.answered), f.running[0].checkLog("fault", load.answered), "a request was shuffled twice")
	f.t.Logf("%d shuffles and as many GETs, %d failed", len(load.answered), len(load.failed))

	// A list of 10 MB, there and back, and the address of its caller.
	items := strings.Repeat(`"0123456789",`, 800_000)
	a := f.post("/shuffle", `{"items": [`+strings.TrimSuffix(items, ",")+`]}`)
	assert.Equal(f.t, http.StatusOK, a.status)
	assert.Greater(f.t, len(a.body), len(items))
	assert.NotContains(f.t, f.log.String(), "temporary file")
	until(f.t, "the access log has the caller's address", func() bool {
		return strings.Contains(f.running[0].log.String()+f.running[1].log.String(), `"peer":"127.0.0.2"`)
	})
}
