package docs_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
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

	"riffle/internal/ledger/postgres/postgrestest"
)

// patience is how long the service may take to start and to stop. It does not judge the service:
// the machine may be busy.
const patience = 30 * time.Second

// A session is what a reader of a page has: a shell in a clone, and the service.
type session struct {
	t       *testing.T
	folder  string    // has what the pages use of a clone
	address string    // of the service
	service *exec.Cmd // nil when it does not run
	stopped bool      // by the page

	databases map[string]*postgrestest.Cluster // by the names that pages have for them
	in        io.Writer
	out       *bufio.Reader
}

// newSession starts a shell, and PostgreSQL servers if the page has some.
func newSession(t *testing.T, withDatabases bool) *session {
	t.Helper()
	tools := []string{"bash", "curl", "openssl", "sqlite3"}
	if withDatabases {
		tools = append(tools, "psql")
	}
	for _, tool := range tools { // .ci/tools installs them
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "" {
			t.Skip("skipped: ", err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	s := &session{t: t, folder: t.TempDir()}
	if withDatabases {
		s.databases = map[string]*postgrestest.Cluster{"db-a.example": postgrestest.For(t), "db-b.example": postgrestest.For(t)}
	}
	for _, name := range []string{"internal/deck/data", "verifiers"} {
		if err := os.CopyFS(filepath.Join(s.folder, name), os.DirFS(filepath.Join(repository, name))); err != nil {
			t.Fatal(err)
		}
	}
	shell := exec.Command("bash", "--norc", "--noprofile")
	shell.Dir, shell.Env = s.folder, environment()
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	shell.Stderr = shell.Stdout
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = shell.Wait()
	})
	s.in, s.out = in, bufio.NewReader(out)
	return s
}

// environment is that of the test, without settings for the service.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RIFFLE_") })
	return append(env, "PGPASSWORD="+postgrestest.Password())
}

// start starts the service and waits until it is ready. Its data is in ./data, as by default.
func (s *session) start(flags ...string) {
	s.t.Helper()
	log, err := os.Create(filepath.Join(s.folder, "service.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = log.Close() })
	service := exec.Command(filepath.Join(binaries, "server"), append([]string{"-addr", "localhost:0"}, flags...)...)
	service.Dir, service.Env, service.Stderr = s.folder, environment(), log
	if err := service.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = service.Process.Kill()
		_ = service.Wait()
	})
	s.service, s.address = service, ""
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for s.address == "" || !isReady(ctx, s.address, strings.Contains(readFile(s.t, log.Name()), `"tls":true`)) {
		if ctx.Err() != nil {
			s.t.Fatalf("the service is not ready after %v:\n%s", patience, readFile(s.t, log.Name()))
		}
		time.Sleep(10 * time.Millisecond)
		if address := listening.FindStringSubmatch(readFile(s.t, log.Name())); address != nil {
			s.address = address[1]
		}
	}
}

// listening matches the address in the log of the service.
var listening = regexp.MustCompile(`"addr":"([^"]+)"`)

func isReady(ctx context.Context, address string, overTLS bool) bool {
	url := "http://" + address + "/readyz"
	if overTLS {
		url = "https://" + address + "/readyz"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// stop stops the service as Ctrl-C does.
func (s *session) stop() {
	s.t.Helper()
	if err := s.service.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	if err := s.service.Wait(); err != nil {
		s.t.Fatalf("the service ended with %v", err)
	}
	s.service, s.stopped = nil, true
}

// promptLine is what the shell prints after a command, before its exit status.
const promptLine = "-- end of the output, exit status "

// run runs a step and returns what it printed, as a reader at localhost:8080 would see it. It
// reports false if there was nothing to run, or if a tool is missing.
func (s *session) run(step *step) (output string, ran bool) {
	s.t.Helper()
	switch step.command {
	case stopDatabase:
		if err := s.databases["db-b.example"].Stop(postgrestest.Fast); err != nil {
			s.t.Fatal(err)
		}
		return "", false
	case startDatabase:
		if err := s.databases["db-b.example"].Restart(); err != nil {
			s.t.Fatal(err)
		}
		return "", false
	}
	if step.service {
		if s.service != nil {
			s.stop()
		}
		if flags, isStart := strings.CutPrefix(step.command, startService); isStart {
			s.start(strings.Fields(flags)...)
		}
		return "", false
	}
	if s.service == nil && !s.stopped {
		s.start()
	}
	// make verifiers installs node, and runs the verifier over all vectors.
	if _, err := exec.LookPath("node"); err != nil && strings.HasPrefix(step.command, "node ") {
		s.t.Logf("skipped: %s: %v", step.command, err)
		return "", false
	}
	command := strings.NewReplacer(
		"localhost:8080", s.address,
		"go run ./cmd/server", filepath.Join(binaries, "server"),
		"go run ./cmd/riffle", filepath.Join(binaries, "riffle"),
		"go build ./cmd/riffle", "cp "+filepath.Join(binaries, "riffle")+" .",
	).Replace(step.command)
	for name, cluster := range s.databases {
		command = strings.ReplaceAll(command, name, cluster.Address())
	}
	if _, err := fmt.Fprintf(s.in, "%s\nprintf '\\n%s%%d\\n' $?\n", command, promptLine); err != nil {
		s.t.Fatal(err)
	}
	var text strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("line %d: %s\nends the shell: %v\n%s", step.line, step.command, err, text.String())
		}
		if status, end := strings.CutPrefix(line, promptLine); end {
			if status != "0\n" {
				s.t.Errorf("line %d: %s\nends with status %s%s", step.line, step.command, status, text.String())
			}
			break
		}
		text.WriteString(line)
	}
	output = strings.TrimSuffix(text.String(), "\n") // that of the printf
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	for name, cluster := range s.databases {
		output = strings.ReplaceAll(output, cluster.Address(), name)
	}
	return strings.ReplaceAll(output, s.address, "localhost:8080"), true
}
