// The tests of this package run the real program as an operator does, and expose it to hundreds of
// concurrent callers, broken clients, full and failing disks, lost databases, and signals at any
// moment.
//
// This file starts and stops servers and injects faults. requests_test.go sends requests, puts
// servers under load, and checks the log against the answers.
package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"riffle/internal/ledger/postgres/postgrestest"
)

// program is the path of the program under test, and version the one that it is built with.
var program string

const version = "v0.0.0-test"

// raced tells whether the tests run under the race detector, and with them the program.
var raced bool

func TestMain(m *testing.M) {
	code, err := build(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		code = 1
	}
	os.Exit(code)
}

// build builds the program like a release, without cgo, or with the race detector if the tests have
// it, and runs the tests.
func build(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "riffle-server-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program = filepath.Join(folder, "server")
	command := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-X main.version="+version, "-o", program, ".")
	if raced {
		command.Args = slices.Insert(command.Args, 2, "-race")
	} else {
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	return m.Run(), nil
}

// waitLimit is how long a test waits for an event before it fails. It is generous because the
// machine may be busy.
const waitLimit = 60 * time.Second

// requireTool returns the path of a tool that the test needs, and otherwise ends the test with
// skipOrFail.
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
	wrapper []string // a command to run the program under, which gets its path and arguments appended
}

// A server is a running instance of the program.
type server struct {
	t      *testing.T
	data   string
	addr   string // empty if it exited before it listened
	prefix string // of the paths of requests
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
		return "https://" + s.addr + s.prefix + path
	}
	return "http://" + s.addr + s.prefix + path
}

// start starts the program and waits until it listens. Exiting instead fails the test.
func (l launch) start(t *testing.T) *server {
	t.Helper()
	s := l.startOrExit(t)
	if s.addr == "" {
		t.Fatalf("the server exited with %d before it listened:\n%s", s.code(), s.log)
	}
	return s
}

// startOrExit starts the program and waits until it listens or has exited.
func (l launch) startOrExit(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, data: l.data, log: &logBuffer{listening: make(chan string, 1)}, exited: make(chan struct{})}
	if s.data == "" {
		s.data = filepath.Join(t.TempDir(), "data")
	}
	s.run(append(slices.Clone(l.wrapper), program), append([]string{"-addr", "127.0.0.1:0", "-data", s.data}, l.args...), l.env)
	select {
	case s.addr = <-s.log.listening:
	case <-s.exited:
	case <-time.After(waitLimit):
		t.Fatalf("the server neither listens nor exits:\n%s", s.log)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	s.client = &http.Client{Transport: transport, Timeout: waitLimit}
	t.Cleanup(transport.CloseIdleConnections)
	return s
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
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
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

// in returns the server for requests to a log.
func (s *server) in(log string) *server {
	other := *s
	if other.prefix = ""; log != "main" {
		other.prefix = "/logs/" + log
	}
	return &other
}

// kill kills the server and waits for it to exit.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// signal sends the server a signal.
func (s *server) signal(signal os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}

// stop stops the server with SIGTERM. Any exit code but 0 fails the test.
func (s *server) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 0 {
		s.t.Fatalf("the server exited with %d after SIGTERM:\n%s", code, s.log)
	}
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
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		skipOrFail(s.t, "reading the memory of the server: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		var kib int
		if n, _ := fmt.Sscanf(line, field+": %d kB", &kib); n == 1 {
			return kib >> 10
		}
	}
	s.t.Fatalf("no %s in\n%s", field, status)
	return 0
}

// until polls a condition until it holds.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s until %s", waitLimit, what)
		}
	}
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

// everyFault makes fault tests try every N instead of a sample.
var everyFault = os.Getenv("RIFFLE_FAULTS") == "all"

// sequence returns every step-th number from one to another, both inclusive.
func sequence(from, to, step int) (list []int) {
	for n := from; n <= to; n += step {
		list = append(list, n)
	}
	return list
}

// newStore returns a data folder with an empty log, so that the first write to it is that of the
// first shuffle.
func newStore(t *testing.T) (data, store, wal string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	launch{data: data}.start(t).stop()
	store = filepath.Join(data, "riffle.db")
	return data, store, store + "-wal"
}

// strace returns a command that runs the program and injects a fault into one kind of system call,
// and the name of the file that strace logs to, writes and fsyncs in any case. The program stays
// the child of the test, since strace detaches itself. Calls are counted per thread, so when=N hits
// the first thread that makes N calls. With files, only calls on these count.
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

// Lines of strace's log. A call during which another thread is traced takes two lines.
var (
	writeCall = regexp.MustCompile(`^(\d+) +pwrite64\(\d+<([^>]*)>, .*, (\d+), (\d+)(?:\)| <unf)`)
	fsyncCall = regexp.MustCompile(`^(\d+) +fsync\(\d+<([^>]*)>`)
	fsyncDone = regexp.MustCompile(`^(\d+) +(?:fsync\(|<\.\.\. fsync resumed>).*\) += 0`)
)

// losePower simulates that the machine of a killed server lost power: it overwrites with zeros
// every write to the store that strace logged and no fsync followed. It returns their number.
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
		if err := os.WriteFile(path, content, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return lost
}

// straceOutput returns what strace has logged.
func straceOutput(t *testing.T, log string) []byte {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A disk is a small file system in a mount namespace of its own, which outlives the programs that
// run there.
type disk struct {
	folder  string   // where it is, as seen from outside of the namespace
	wrapper []string // runs a program in the namespace, where the disk is mounted at the data folder
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
		if err != nil {
			t.Fatal(err)
		}
		if err := holder.Start(); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(&list, "%s %d %s; ", e.Name(), info.Size(), info.ModTime())
	}
	return list.String()
}

// A database is a PostgreSQL server whose database several replicas share, and the key of their
// log.
type database struct {
	*postgrestest.Cluster
	url, key string
}

// newDatabase starts a PostgreSQL server for this test alone, which may stop, crash and restart it.
func newDatabase(t *testing.T) *database {
	t.Helper()
	c := postgrestest.For(t)
	return &database{Cluster: c, url: c.URL(c.NewDatabase(t)), key: filepath.Join(t.TempDir(), "log.key")}
}

// cutConnections closes all connections to the database from the server's side.
func (d *database) cutConnections(t *testing.T) {
	t.Helper()
	if err := d.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'riffle_%'"); err != nil {
		t.Error(err)
	}
}

// replica describes how to start another server on the database, with its own data folder.
func (d *database) replica(args ...string) launch {
	return launch{args: append([]string{"-key", d.key}, args...), env: []string{"RIFFLE_STORE=" + d.url}}
}
