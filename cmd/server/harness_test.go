// The tests of this package run the real program as an operator does, and expose it to hundreds of
// concurrent callers, broken clients, full and failing disks, lost databases, and signals at any
// moment. Tests share a PostgreSQL server, but no database and no data folder.
//
// This file starts and stops servers and injects faults. requests_test.go sends requests, puts
// servers under load, and checks the log against the answers.
package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/postgres/postgrestest"
)

// program is the path of the program under test, and version its version.
var program string

const version = "v0.0.0-test"

// raced reports whether the tests, and so the program, run under the race detector.
var raced bool

// everyFault makes fault tests try every N instead of a sample, and everyHostile makes attacks as
// large as checks ask for. Both take hours; .ci/nightly sets them.
var (
	everyFault   = os.Getenv("RIFFLE_FAULTS") == "all"
	everyHostile = os.Getenv("RIFFLE_HOSTILE") == "all"
)

func TestMain(m *testing.M) {
	flag.Parse()
	parallel := "6" // most tests wait for disks, time-outs and other processes
	if everyHostile {
		parallel = "1" // an attack takes the whole machine
	}
	if f := flag.Lookup("test.parallel"); f.Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
		_ = f.Value.Set(parallel)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cmd/server:", err)
		code = 1
	}
	os.Exit(code)
}

// run builds the program with the flags of the tests, and runs the tests.
func run(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "riffle-server-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program = filepath.Join(folder, "server")
	command := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-X riffle/internal/release.version="+version, "-o", folder+"/", ".", "../riffle")
	if raced {
		command.Args = slices.Insert(command.Args, 2, "-race")
	}
	if out, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	defer func() {
		if shared.Cluster != nil {
			err = errors.Join(err, shared.Close())
		}
	}()
	return m.Run(), nil
}

// waitLimit is a generous time-out of waiting for an event: the machine may be busy.
const waitLimit = 3 * time.Minute

// requireTool returns the path of a tool, or ends the test with skipOrFail.
func requireTool(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		skipOrFail(t, "%s is not installed", tool)
	}
	return path
}

// skipOrFail skips a test that cannot run on this machine. In CI, where every test must run, it
// fails the test.
func skipOrFail(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf("skipped: "+format, args...)
}

// A launch describes how to start the program. The zero value uses a new data folder and no other
// setting.
type launch struct {
	data    string   // the data folder
	args    []string // flags other than -addr and -data
	env     []string // NAME=value
	program string   // another build of the program; default this one
	wrapper []string // a command to run the program under, which gets its path and arguments appended
}

// A server is a running instance of the program.
type server struct {
	t      *testing.T
	data   string
	addr   string // empty if it exited before it listened
	cmd    *exec.Cmd
	log    *logBuffer
	stdout *bytes.Buffer
	exited chan struct{}
	client *http.Client
	secure *tls.Config // of clients; nil for plain HTTP
}

// url returns the URL of a path.
func (s *server) url(path string) string {
	if s.secure != nil {
		return "https://" + s.addr + path
	}
	return "http://" + s.addr + path
}

// start starts the program and waits until it listens. Exiting instead fails the test.
func (l launch) start(t *testing.T) *server {
	t.Helper()
	s := l.startOrExit(t)
	require.Truef(t, s.addr != "", "the server exited with %d before it listened:\n%s", s.code(), s.log)
	return s
}

// startOrExit starts the program and waits until it listens or has exited.
func (l launch) startOrExit(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, data: l.data, log: &logBuffer{listening: make(chan string, 1)}, exited: make(chan struct{})}
	if s.data == "" {
		s.data = filepath.Join(t.TempDir(), "data")
	}
	s.run(append(slices.Clone(l.wrapper), cmp.Or(l.program, program)), append([]string{"-addr", "127.0.0.1:0", "-data", s.data}, l.args...), l.env)
	select {
	case s.addr = <-s.log.listening:
	case <-s.exited:
	case <-time.After(waitLimit):
		t.Fatalf("the server neither listens nor exits:\n%s", s.log)
	}
	// A connection that was opened ahead and not used is closed after --header-timeout, and a request at that
	// moment is lost.
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, IdleConnTimeout: 2 * time.Second, DisableCompression: true}
	s.client = &http.Client{Transport: transport, Timeout: waitLimit}
	t.Cleanup(transport.CloseIdleConnections)
	return s
}

// refused starts the program, which must exit with 1 and say all of the texts.
func (l launch) refused(t *testing.T, texts ...string) {
	t.Helper()
	s := l.startOrExit(t)
	if s.addr != "" {
		s.kill()
		t.Errorf("the server starts, want an error with %q:\n%s", texts, s.log)
		return
	}
	errs := fatal(s.log.String())
	if errs == "" && l.program != "" {
		errs = s.log.String() // of --check-config, in another program's plain text
	}
	for _, text := range texts {
		assert.Truef(t, s.code() == 1 && strings.Contains(errs, text), "the server exited with %d, want 1 and %q:\n%s", s.code(), text, s.log)
	}
}

// run starts a command that is, or execs, the program.
func (s *server) run(command, args, env []string) {
	s.t.Helper()
	ctx := s.t.Context()
	if deadline, ok := s.t.Deadline(); ok {
		// A test binary that exceeds its deadline exits without running cleanups, so its servers
		// are killed before.
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(context.Background(), deadline.Add(-time.Second))
		s.t.Cleanup(cancel)
	}
	s.cmd = exec.CommandContext(ctx, command[0], slices.Concat(command[1:], args)...)
	s.cmd.Env = append(environment(), env...)
	s.stdout = &bytes.Buffer{}
	s.cmd.Stdout, s.cmd.Stderr = s.stdout, s.log
	s.cmd.WaitDelay = waitLimit
	require.NoError(s.t, s.cmd.Start())
	go func() {
		_ = s.cmd.Wait() // the outcome is in ProcessState
		close(s.exited)
	}()
	s.t.Cleanup(s.kill)
}

// environment returns the environment of the test without settings for the service.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RIFFLE_") || strings.HasPrefix(v, "OTEL_") })
}

// kill kills the server and waits for it to exit.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// signal sends the server a signal.
func (s *server) signal(signal os.Signal) {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(signal))
}

// stop stops the server with SIGTERM. Any exit code but 0 fails the test.
func (s *server) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	code := s.wait()
	require.Truef(s.t, code == 0, "the server exited with %d after SIGTERM:\n%s", code, s.log)
}

// wait waits for the server to exit and returns its exit code, which is -1 if a signal killed it.
func (s *server) wait() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(waitLimit):
		s.t.Fatalf("the server does not exit:\n%s", s.log)
	}
	return s.code()
}

// code returns the exit code of a server that has exited.
func (s *server) code() int { return s.cmd.ProcessState.ExitCode() }

// A logBuffer collects what a server writes to standard error.
type logBuffer struct {
	mu        sync.Mutex
	text      bytes.Buffer
	listening chan string // receives the address when it is logged
	found     bool        // whether it was
}

var listeningLine = regexp.MustCompile(`"msg":"listening","addr":"([^"]+)".*\n`)

func (o *logBuffer) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if line := listeningLine.FindSubmatch(o.text.Bytes()); line != nil && !o.found {
		o.found = true
		o.listening <- string(line[1])
	}
	return len(p), nil
}

func (o *logBuffer) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// memory returns the memory of the server in MiB: VmRSS is the current amount, VmHWM the peak.
func (s *server) memory(field string) int {
	s.t.Helper()
	kib, err := strconv.Atoi(strings.TrimSuffix(s.status(field), " kB"))
	require.NoError(s.t, err)
	return kib >> 10
}

// status returns a field of the server's /proc/PID/status.
func (s *server) status(field string) string {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		skipOrFail(s.t, "reading the status of the server: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			return strings.TrimSpace(value)
		}
	}
	s.t.Fatalf("no %s in\n%s", field, status)
	return ""
}

// until polls a condition until it holds.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	limit, tick := time.After(waitLimit), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited %s until %s", waitLimit, what)
		}
	}
}

// fatal returns the errors of a log that ended the program, as it writes them to a terminal.
func fatal(log string) string {
	var text strings.Builder
	for line := range strings.Lines(log) {
		var m struct{ Level, Msg, Error string }
		if json.Unmarshal([]byte(line), &m) == nil && m.Level == "ERROR" && m.Msg == "the service ends" {
			text.WriteString("server: " + m.Error + "\n")
		}
	}
	return text.String()
}

// runToExit runs the program until it exits, and returns its exit code and what it wrote.
func runToExit(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env, command.Dir = append(environment(), env...), t.TempDir()
	command.Stdout, command.Stderr = &out, &errs
	timer := time.AfterFunc(waitLimit, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	_ = command.Run() // the outcome is in ProcessState
	return command.ProcessState.ExitCode(), out.String(), errs.String()
}

// smallShuffle is the shuffle of most fault tests. They all use one reference, so that listing it
// lists the whole log.
const smallShuffle = `{"size": 20, "reference": "fault"}`

// largeShuffle makes a record of seven kilobytes, most of them seed. A few hundred fill the
// write-ahead log to the size at which SQLite checkpoints it.
const largeShuffle = `{"size": 9007199254740991, "draw": 1024, "reference": "fault"}`

// sequence returns every step-th number from one to another, both inclusive.
func sequence(from, to, step int) (list []int) {
	for n := from; n <= to; n += step {
		list = append(list, n)
	}
	return list
}

// emptyStore is a data folder whose log has no record. Its creation is the same for all tests.
var emptyStore struct {
	sync.Once
	folder string
}

// newStore returns a copy of a data folder with an empty log, so that the first write to it is the
// first shuffle's.
func newStore(t *testing.T) (data, store, wal string) {
	t.Helper()
	emptyStore.Do(func() {
		emptyStore.folder = filepath.Join(filepath.Dir(program), "empty")
		launch{data: emptyStore.folder}.start(t).stop()
	})
	data = filepath.Join(t.TempDir(), "data")
	out, err := exec.Command("cp", "-a", emptyStore.folder, data).CombinedOutput()
	require.NoErrorf(t, err, "%v\n%s", err, out)
	store = filepath.Join(data, "riffle.db")
	return data, store, store + "-wal"
}

// strace returns a command that runs the program and injects a fault into one system call, and the
// path of strace's log, which has all writes and fsyncs. strace detaches itself, so the program is the
// test's child. Calls are counted per thread: when=N hits the first thread that makes N calls. With
// files, only calls on them count.
func strace(t *testing.T, fault string, files ...string) (command []string, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "strace")
	call, _, _ := strings.Cut(fault, ":")
	command = []string{
		requireTool(t, "strace"), "-D", "-f", "-q", "-y", "-s", "0", "-o", log,
		"-e", "signal=KILL", "-e", "trace=pwrite64,fsync," + call, "-e", "inject=" + fault,
	}
	if !strings.Contains(fault, ":signal=") {
		command = append(command, "--seccomp-bpf") // much faster, but it loses injected signals
	}
	for _, f := range files {
		command = append(command, "-P", f)
	}
	return command, log
}

// Lines of strace's log. A call that another thread interrupts takes two lines.
var (
	writeCall = regexp.MustCompile(`^(\d+) +pwrite64\(\d+<([^>]*)>, .*, (\d+), (\d+)(?:\)| <unf)`)
	fsyncCall = regexp.MustCompile(`^(\d+) +fsync\(\d+<([^>]*)>`)
	fsyncDone = regexp.MustCompile(`^(\d+) +(?:fsync\(|<\.\.\. fsync resumed>).*\) += 0`)
)

// losePower simulates a power failure of a killed server's machine: it overwrites with zeros every
// write to the store that strace logged and no fsync followed. It returns their number.
func (s *server) losePower(log string) (lost int) {
	s.t.Helper()
	exit := regexp.MustCompile(fmt.Sprintf(`(?m)^%d +\+\+\+ `, s.cmd.Process.Pid))
	until(s.t, "strace has logged the end of the server", func() bool { return exit.Match(straceOutput(s.t, log)) })
	type written struct{ offset, size int64 }
	unsynced := map[string][]written{} // by file
	syncing := map[string]string{}     // the file, by thread
	for line := range strings.Lines(string(straceOutput(s.t, log))) {
		if c := writeCall.FindStringSubmatch(line); c != nil {
			size, _ := strconv.ParseInt(c[3], 10, 64)
			offset, _ := strconv.ParseInt(c[4], 10, 64)
			unsynced[c[2]] = append(unsynced[c[2]], written{offset, size})
		}
		if c := fsyncCall.FindStringSubmatch(line); c != nil {
			syncing[c[1]] = c[2]
		}
		if c := fsyncDone.FindStringSubmatch(line); c != nil {
			delete(unsynced, syncing[c[1]])
		}
	}
	for _, name := range []string{"riffle.db", "riffle.db-wal"} {
		path := filepath.Join(s.data, name)
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			s.t.Fatal(err)
		}
		for _, w := range unsynced[path] {
			end := int64(len(content)) // a write before which the server was killed may lie beyond
			clear(content[min(w.offset, end):min(w.offset+w.size, end)])
			lost++
		}
		require.NoError(s.t, os.WriteFile(path, content, 0o600))
	}
	return lost
}

// straceOutput returns what strace has logged.
func straceOutput(t *testing.T, log string) []byte {
	t.Helper()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	return text
}

// A disk is a small file system in a mount namespace of its own, which outlives the programs there.
type disk struct {
	folder  string   // its path outside of the namespace
	wrapper []string // runs a program inside, where the disk is mounted at the data folder
}

// newDisk mounts a file system of a size at a data folder.
func newDisk(t *testing.T, data, size string) disk {
	t.Helper()
	unshare, nsenter := requireTool(t, "unshare"), requireTool(t, "nsenter")
	const script = `mount -t tmpfs -o mode=0700,size="$1" none "$2" && echo mounted && exec sleep infinity`
	for _, as := range []struct {
		unshare string
		nsenter []string
	}{{"-m", []string{"-m"}}, {"-Urm", []string{"-U", "-m", "--preserve-credentials"}}} { // as root, or as root of a new user namespace
		holder := exec.Command(unshare, as.unshare, "sh", "-c", script, "sh", size, data)
		out, err := holder.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, holder.Start())
		t.Cleanup(func() {
			_ = holder.Process.Kill()
			_ = holder.Wait()
		})
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "mounted\n" {
			continue
		}
		pid := strconv.Itoa(holder.Process.Pid)
		return disk{
			folder:  filepath.Join("/proc", pid, "root", data),
			wrapper: slices.Concat([]string{nsenter, "-t", pid}, as.nsenter, []string{"--"}),
		}
	}
	skipOrFail(t, "mounting a file system is not permitted")
	return disk{}
}

// content returns the sizes and times of the files on the disk.
func (d disk) content(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(d.folder)
	require.NoError(t, err)
	var list strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		_, _ = fmt.Fprintf(&list, "%s %d %s; ", e.Name(), info.Size(), info.ModTime())
	}
	return list.String()
}

// A database holds the log of several replicas.
type database struct {
	*postgrestest.Cluster
	name, url, key string
}

// shared is the PostgreSQL server of the tests that do not stop it.
var shared struct {
	sync.Once
	*postgrestest.Cluster
	err error
}

// newDatabase returns a new database on the shared PostgreSQL server.
func newDatabase(t *testing.T) *database {
	t.Helper()
	shared.Do(func() { shared.Cluster, shared.err = postgrestest.Start("max_connections=500") })
	if errors.Is(shared.err, postgrestest.ErrMissing) {
		postgrestest.Without(t, shared.err)
	} else if shared.err != nil {
		t.Fatal(shared.err)
	}
	return databaseOn(t, shared.Cluster)
}

// databaseOn returns a new database on a PostgreSQL server. A test that stops the server starts its
// own by [postgrestest.For].
func databaseOn(t *testing.T, c *postgrestest.Cluster) *database {
	t.Helper()
	name := c.NewDatabase(t)
	return &database{Cluster: c, name: name, url: c.URL(name), key: filepath.Join(t.TempDir(), "log.key")}
}

// cutConnections closes all connections to the database from the server's side.
func (d *database) cutConnections(t *testing.T) {
	t.Helper()
	err := d.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+d.name+"'")
	assert.NoError(t, err)
}

// replica describes how to start another server on the database, with its own data folder.
func (d *database) replica(args ...string) launch {
	return launch{args: append([]string{"-key", d.key}, args...), env: []string{"RIFFLE_STORE=" + d.url}}
}

func (s *server) wantOK(a *answer) {
	s.t.Helper()
	assert.Less(s.t, a.status, 300, "%v", a)
}
