// The tests of this package run the real program, as an operator does, and are to it what the world is: callers by the
// hundred, broken clients, full disks, failing ones, and signals at the worst moment.
package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
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

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// program is the path of the program under test, and version what it was told that it is.
var program string

const version = "v0.0.0-test"

func TestMain(m *testing.M) {
	code, err := build(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		code = 1
	}
	os.Exit(code)
}

// build builds the program as it is released, without cgo, and runs the tests.
func build(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "riffle-server-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program = filepath.Join(folder, "server")
	command := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-X main.version="+version, "-o", program, ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	return m.Run(), nil
}

// patience is for how long a test waits for what has to come. It is no measure of the service: the machine may be busy.
const patience = 30 * time.Second

// need returns the path of a tool that the test cannot do without.
func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		without(t, "%s is not installed", tool)
	}
	return path
}

// without ends a test that lacks something. Where CI says that it is CI, nothing may be left out, so the test fails.
func without(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf("left out: "+format, args...)
}

// A launch is a way to start the program. Its zero value is: in a new data folder, with no other setting.
type launch struct {
	data  string   // the data folder
	args  []string // flags, besides -addr and -data
	env   []string // NAME=value
	under []string // a command that takes the program and its arguments as its own last arguments
}

// A server is a run of the program.
type server struct {
	t      *testing.T
	data   string
	addr   string // empty if it ended without listening
	cmd    *exec.Cmd
	log    *output
	stdout bytes.Buffer
	ended  chan struct{}
	client *http.Client
}

// start starts the program, which has to come to listen.
func (l launch) start(t *testing.T) *server {
	t.Helper()
	s := l.try(t)
	if s.addr == "" {
		t.Fatalf("the server ended with %d before it listened:\n%s", s.code(), s.log)
	}
	return s
}

// try starts the program and waits until it listens or has ended.
func (l launch) try(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, data: l.data, log: &output{listening: make(chan string, 1)}, ended: make(chan struct{})}
	if s.data == "" {
		s.data = filepath.Join(t.TempDir(), "data")
	}
	s.run(append(slices.Clone(l.under), program), append([]string{"-addr", "127.0.0.1:0", "-data", s.data}, l.args...), l.env)
	select {
	case s.addr = <-s.log.listening:
	case <-s.ended:
	case <-time.After(patience):
		t.Fatalf("the server neither listens nor ends:\n%s", s.log)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	s.client = &http.Client{Transport: transport, Timeout: patience}
	t.Cleanup(transport.CloseIdleConnections)
	return s
}

// run starts a command that is, or becomes, the program.
func (s *server) run(command, args, env []string) {
	s.t.Helper()
	ctx := s.t.Context()
	if deadline, ok := s.t.Deadline(); ok {
		// A test binary that runs out of time dies without cleaning up. Its servers are to be gone by then.
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(context.Background(), deadline.Add(-time.Second))
		s.t.Cleanup(cancel)
	}
	s.cmd = exec.CommandContext(ctx, command[0], slices.Concat(command[1:], args)...)
	s.cmd.Env = append(environment(), env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, s.log
	s.cmd.WaitDelay = patience
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // what became of it is in ProcessState
		close(s.ended)
	}()
	s.t.Cleanup(s.kill)
}

// environment is that of the test, without settings for the service.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RIFFLE_") })
}

// kill ends the server as a power cut would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

func (s *server) signal(signal os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}

// stop stops the server as an operator does. It has to end well.
func (s *server) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 0 {
		s.t.Fatalf("the server ended with %d after SIGTERM:\n%s", code, s.log)
	}
}

// wait waits for the server to end and returns its exit code, which is -1 if a signal ended it.
func (s *server) wait() int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("the server does not end:\n%s", s.log)
	}
	return s.code()
}

func (s *server) code() int { return s.cmd.ProcessState.ExitCode() }

// An output is what a server has written to its standard error.
type output struct {
	mu        sync.Mutex
	text      bytes.Buffer
	listening chan string // gets the address once it is there
	found     bool
}

var listeningLine = regexp.MustCompile(`"msg":"listening","addr":"([^"]+)".*\n`)

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if line := listeningLine.FindSubmatch(o.text.Bytes()); line != nil && !o.found {
		o.found = true
		o.listening <- string(line[1])
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// An answer is a whole answer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) String() string { return fmt.Sprintf("%d %.500s", a.status, a.body) }

// ask sends a request and reads the answer to its end. Headers are name, value, name, value.
func (s *server) ask(method, path, body string, headers ...string) (*answer, error) {
	request, err := http.NewRequest(method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("%w: status %d, then: %w", errCutOff, response.StatusCode, err)
	}
	return &answer{response.StatusCode, response.Header, text}, nil
}

// errCutOff is the error for an answer that began and did not end.
var errCutOff = errors.New("an answer was cut off")

func (s *server) get(path string) *answer {
	s.t.Helper()
	a, err := s.ask(http.MethodGet, path, "")
	if err != nil {
		s.t.Fatalf("GET %s: %v\n%s", path, err, s.log)
	}
	return a
}

func (s *server) post(path, body string, headers ...string) *answer {
	s.t.Helper()
	a, err := s.ask(http.MethodPost, path, body, headers...)
	if err != nil {
		s.t.Fatalf("POST %s %.200s: %v\n%s", path, body, err, s.log)
	}
	return a
}

// read reads a JSON answer of status 200 into v.
func (s *server) read(a *answer, v any) {
	s.t.Helper()
	if a.status != http.StatusOK {
		s.t.Fatalf("answered %v, want 200", a)
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		s.t.Fatalf("answered %v: %v", a, err)
	}
}

// problem holds an answer against RFC 9457 and what the service adds to it. It returns the detail.
func (a *answer) problem(t *testing.T, status int) string {
	t.Helper()
	var p struct {
		Type, Title, Detail string
		Status              int
	}
	switch err := json.Unmarshal(a.body, &p); {
	case a.status != status:
		t.Errorf("answered %v, want %d", a, status)
	case err != nil || a.header.Get("Content-Type") != "application/problem+json":
		t.Errorf("answered %v as %s, want a problem document", a, a.header.Get("Content-Type"))
	case p.Status != a.status || p.Detail == "" || p.Type == "" || p.Title == "":
		t.Errorf("answered %v, a problem document with status %d and detail %q", a, p.Status, p.Detail)
	case status == http.StatusServiceUnavailable && a.header.Get("Retry-After") == "":
		t.Errorf("answered %v without Retry-After", a)
	}
	return p.Detail
}

// A dealt is the answer to a shuffle of a size, with what was seen of its record at that time.
type dealt struct {
	AuditID    string   `json:"audit_id"`
	LogIndex   uint64   `json:"log_index"`
	Items      []uint64 `json:"items"`
	Commitment string   `json:"commitment"`
	Seed       string   `json:"seed"`
	record     []byte   // nil if it was not asked for in time
}

// deal asks for a shuffle that has to succeed.
func (s *server) deal(body string) dealt {
	s.t.Helper()
	var d dealt
	s.read(s.post("/shuffle", body), &d)
	return d
}

// A load is what many clients have been answered.
type load struct {
	mu      sync.Mutex
	dealt   []dealt
	refused map[int]int // by status
	broken  []error     // requests without a whole answer
	took    []time.Duration
}

// press has clients ask for shuffles, each until it has asked so many times or a request has no answer. It returns
// once they have all ended.
func (s *server) press(clients, times int, body string) *load {
	l := &load{refused: map[int]int{}}
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for range times {
				began := time.Now()
				a, err := s.ask(http.MethodPost, "/shuffle", body)
				if !l.note(s, a, err, time.Since(began)) {
					return
				}
			}
		})
	}
	group.Wait()
	return l
}

// note notes an answer and reports whether there was one.
func (l *load) note(s *server, a *answer, err error, took time.Duration) bool {
	var d dealt
	switch {
	case err != nil:
	case a.status == http.StatusOK:
		if err = json.Unmarshal(a.body, &d); err != nil {
			err = fmt.Errorf("%w: %w", errCutOff, err)
			break
		}
		var shown struct{ Record json.RawMessage }
		if a, err := s.ask(http.MethodGet, "/audits/"+d.AuditID, ""); err == nil && json.Unmarshal(a.body, &shown) == nil {
			d.record = shown.Record
		}
	default:
		a.problem(s.t, a.status)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.broken = append(l.broken, err)
	case a.status == http.StatusOK:
		l.dealt = append(l.dealt, d)
	default:
		l.refused[a.status]++
		l.took = append(l.took, took)
	}
	return err == nil
}

// A listed is a record in the log.
type listed struct {
	AuditID  string          `json:"audit_id"`
	LogIndex uint64          `json:"log_index"`
	Record   json.RawMessage `json:"record"`
	Revealed bool            `json:"revealed"`
}

// list returns all records of a reference.
func (s *server) list(reference string) []listed {
	s.t.Helper()
	var all []listed
	for from := uint64(0); ; {
		var page struct {
			Audits []listed
			Next   *uint64
		}
		s.read(s.get(fmt.Sprintf("/audits?reference=%s&limit=1000&from=%d", reference, from)), &page)
		all = append(all, page.Audits...)
		if page.Next == nil {
			return all
		}
		from = *page.Next
	}
}

// replayed is how many answers are replayed at a time.
const replayed = 100

// holds makes sure that the log holds every shuffle that was answered, as it was answered, and nothing out of order.
// All shuffles of the log have the reference. The last of the answers are replayed, too. It returns how many records
// there are.
func (s *server) holds(reference string, answered []dealt) int {
	s.t.Helper()
	all := s.list(reference)
	for i, r := range all {
		if r.LogIndex != uint64(i) {
			s.t.Fatalf("record number %d of the log has the index %d: the log has a gap or a double", i, r.LogIndex)
		}
	}
	for i, d := range answered {
		if d.LogIndex >= uint64(len(all)) || all[d.LogIndex].AuditID != d.AuditID {
			s.t.Errorf("%s was answered with index %d, and is not there in a log of %d", d.AuditID, d.LogIndex, len(all))
			continue
		}
		record := all[d.LogIndex].Record
		if d.record != nil && !bytes.Equal(record, d.record) {
			s.t.Errorf("the record of %s was %s and is %s", d.AuditID, d.record, record)
		}
		if i < len(answered)-replayed {
			continue
		}
		// The seed that the caller was given makes of the record that is there now the order that the caller was given.
		seed := make([]byte, len(d.Seed)/2)
		if _, err := fmt.Sscanf(d.Seed, "%x", &seed); err != nil {
			s.t.Errorf("the seed %q: %v", d.Seed, err)
		}
		v := audit.Verify(record, seed, 1<<20)
		if !v.OK || !slices.Equal(v.Orders[0], d.Items) || v.Record.Commitment.String() != d.Commitment {
			s.t.Errorf("record %s with the seed and order of its answer: %+v", record, v.Steps)
		}
		// And the seed that the service kept makes the commitment.
		var verified struct{ Verified bool }
		if s.read(s.get("/audits/"+d.AuditID+"/verify"), &verified); !verified.Verified {
			s.t.Errorf("the service does not verify %s", d.AuditID)
		}
		s.proves(d, record)
	}
	return len(all)
}

// proves makes sure that an answered shuffle has a proof, which holds offline.
func (s *server) proves(d dealt, record []byte) {
	s.t.Helper()
	answer := s.get("/audits/" + d.AuditID + "/proof")
	file, err := prooffile.Parse(answer.body)
	if err != nil {
		s.t.Fatalf("answered %v: %v", answer, err)
	}
	verifier, err := prooffile.Verifier(file.LogKey)
	if err != nil {
		s.t.Fatal(err)
	}
	checkpoint, err := file.Inclusion.Check(file.Record, verifier)
	if err != nil || !bytes.Equal(file.Record, record) || file.Inclusion.Index != d.LogIndex || checkpoint.Size <= d.LogIndex {
		s.t.Errorf("the proof of record %d, %s: %v, %+v, %+v", d.LogIndex, record, err, file, checkpoint)
	}
}

// metric returns the sum of a metric over the labels that contain the text.
func (s *server) metric(name, labels string) float64 {
	s.t.Helper()
	sum := 0.0
	lines := bufio.NewScanner(bytes.NewReader(s.get("/metrics").body))
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' || !strings.Contains(rest, labels) {
			continue
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			s.t.Fatal(err)
		}
		sum += value
	}
	return sum
}

// memory returns how much memory the server has in use now (VmRSS) or has had at most (VmHWM), in MiB.
func (s *server) memory(field string) int {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		without(s.t, "reading the memory of the server: %v", err)
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

// until waits until the condition holds.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// speak sends bytes on a connection of their own and returns what was answered until the server closed it. It fails
// the test if the server keeps it open.
func (s *server) speak(t *testing.T, text string) []*answer {
	t.Helper()
	c := s.dial(t)
	go func() { _, _ = io.WriteString(c, text) }() // a server that closes early need not read it all
	return hear(t, c)
}

func (s *server) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

// hear reads answers until the server closes the connection.
func hear(t *testing.T, c net.Conn) (answers []*answer) {
	t.Helper()
	in := bufio.NewReader(c)
	for {
		response, err := http.ReadResponse(in, nil)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatalf("the server keeps the connection open after %v", answers)
		} else if err != nil {
			return answers
		}
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatalf("%v: status %d, then: %v", errCutOff, response.StatusCode, err)
		}
		answers = append(answers, &answer{response.StatusCode, response.Header, text})
	}
}

// quantile returns the duration that so many of all are not above.
func quantile(list []time.Duration, part float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, int(part*float64(len(list))))]
}

// counts is a map of counts in a fixed order, for messages.
func counts[K ~int | ~string](m map[K]int) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%v: %d", k, m[k]))
	}
	return strings.Join(list, ", ")
}
