// Package clientstest starts the real service for tests of its clients and examples.
package clientstest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// waitLimit is how long the service may take to start. It is generous: the machine may be busy.
const waitLimit = time.Minute

var listening = regexp.MustCompile(`"msg":"listening","addr":"([^"]+)"`)

// Start builds the service and starts it with the flags and a new log, until the test ends. It
// returns its base URL.
func Start(t testing.TB, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	program := filepath.Join(folder, "server")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "./cmd/server") //nolint:gosec // of the test
	build.Dir = Repository(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the service: %v\n%s", err, out)
	}
	service := exec.CommandContext(context.WithoutCancel(t.Context()), program, append([]string{"-addr", "localhost:0", "-data", filepath.Join(folder, "data")}, flags...)...) //nolint:gosec // built above
	stderr, err := service.StderrPipe()
	if err == nil {
		err = service.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	address, read := make(chan string, 1), sync.WaitGroup{}
	read.Go(func() {
		defer close(address)
		found := false
		for log := bufio.NewScanner(stderr); log.Scan(); {
			if match := listening.FindStringSubmatch(log.Text()); match != nil && !found {
				address <- match[1]
				found = true
			}
		}
	})
	t.Cleanup(func() {
		_ = service.Process.Signal(os.Interrupt)
		read.Wait()
		if err := service.Wait(); err != nil {
			t.Error("the service: ", err)
		}
	})
	select {
	case a, ok := <-address:
		if !ok {
			t.Fatal("the service exits before it listens")
		}
		return "http://" + a
	case <-time.After(waitLimit):
		t.Fatal("the service does not listen")
	}
	return ""
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
			t.Fatal("this is not a clone of the repository")
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
