// Package clientstest starts the real service for tests of its clients, examples and guides.
package clientstest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// waitLimit is a generous time-out of starting the service: the machine may be busy.
const waitLimit = time.Minute

var listening = regexp.MustCompile(`"msg":"listening","addr":"([^"]+)"`)

// Build builds programs of the repository, such as ./cmd/server, into a folder. It takes the same
// GOFLAGS and CGO_ENABLED as the test, and so the packages that the go command compiled for it.
func Build(ctx context.Context, repository, folder string, programs ...string) error {
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-buildvcs=false", "-o", folder + "/"}, programs...)...) //nolint:gosec // of tests
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", strings.Join(programs, " "), err, out)
	}
	return nil
}

// A Service is a running service.
type Service struct {
	Address string // host and port

	t       testing.TB
	command *exec.Cmd
	log     *strings.Builder
	read    sync.WaitGroup // of the log
}

// Run starts the service by a command and waits until it listens. It ends with the test.
func Run(t testing.TB, command *exec.Cmd) *Service {
	t.Helper()
	stderr, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	require.NoError(t, err)
	s := &Service{t: t, command: command, log: new(strings.Builder)}
	address := make(chan string, 1)
	s.read.Go(func() {
		defer close(address)
		found := false
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			s.log.WriteString(lines.Text() + "\n")
			if match := listening.FindStringSubmatch(lines.Text()); match != nil && !found {
				address <- match[1]
				found = true
			}
		}
	})
	t.Cleanup(s.Stop)
	select {
	case s.Address = <-address:
	case <-time.After(waitLimit):
	}
	if s.Address == "" {
		_ = command.Process.Kill()
		s.read.Wait()
		t.Fatalf("the service does not listen:\n%s", s.log)
	}
	return s
}

// Stop stops the service as Ctrl-C does. It may be called several times.
func (s *Service) Stop() {
	s.t.Helper()
	if s.command.ProcessState != nil {
		return
	}
	_ = s.command.Process.Signal(os.Interrupt)
	s.read.Wait()
	assert.NoErrorf(s.t, s.command.Wait(), "the service:\n%s", s.log)
}

// Start builds the service and starts it with the flags and a new log, until the test ends. It
// returns its base URL.
func Start(t testing.TB, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, Build(t.Context(), Repository(t), folder, "./cmd/server"))
	flags = append([]string{"--addr", "localhost:0", "--data", filepath.Join(folder, "data")}, flags...)
	program := filepath.Join(folder, "server")
	return "http://" + Run(t, exec.CommandContext(context.WithoutCancel(t.Context()), program, flags...)).Address //nolint:gosec // built above
}

// Repository returns the path of the clone that the test is run in.
func Repository(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "openapi.yaml")); missing == nil {
			return folder
		}
		if folder == filepath.Dir(folder) {
			err = errors.New("this is not a clone of the repository")
		}
		folder = filepath.Dir(folder)
	}
	t.Fatal(err)
	return ""
}

// Require returns the path of a tool. Without it the test is skipped; in CI, where every test must
// run, it fails.
func Require(t testing.TB, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatal(err)
	default:
		t.Skip("skipped: ", err)
	}
	return path
}
