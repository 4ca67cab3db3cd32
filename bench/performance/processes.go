package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"riffle/bench/contest"
	"riffle/internal/ledger/postgres/postgrestest"
)

// A server is a process that is asked.
type server struct {
	addr    string
	process *exec.Cmd
	others  func() []int // processes that work for it, a database's; nil for none
	idle    int64        // resident bytes before the first request; 0 where that cannot be told
}

// A field is every process that runs while it is measured. Those that are nil could not be started, for a reason that the
// page gives.
type field struct {
	echo, usual, fixed, sqlite, large, postgres *server // large is a service of its own for the longest bodies

	noPostgres string // why there is none
	pgVersion  string

	cancel  context.CancelFunc
	started []*server
	close   []func() error
}

// newField starts everything. It has to be stopped even if that fails.
func newField(ctx context.Context, binary, folder string) (*field, error) {
	f := &field{}
	ctx, f.cancel = context.WithCancel(ctx)
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	for _, h := range []struct {
		name string
		to   **server
	}{{echoHandler, &f.echo}, {usualHandler, &f.usual}, {fixedHandler, &f.fixed}} {
		if *h.to, err = f.launch(ctx, self, "-serve", h.name); err != nil {
			return f, err
		}
	}
	for _, s := range []struct {
		name string
		to   **server
	}{{"sqlite", &f.sqlite}, {"large", &f.large}} {
		if *s.to, err = f.launch(ctx, binary, "-log-level", "error", "-data", filepath.Join(folder, s.name)); err != nil {
			return f, err
		}
	}
	return f, f.startPostgres(ctx, binary, folder)
}

// startPostgres starts a PostgreSQL server and a service on it, or says why there is none.
func (f *field) startPostgres(ctx context.Context, binary, folder string) error {
	database, err := postgrestest.Start() // its files are in the system's folder for temporary ones
	if errors.Is(err, postgrestest.ErrMissing) {
		f.noPostgres = "there is no PostgreSQL server on this machine"
		return nil
	} else if err != nil {
		return err
	}
	f.close = append(f.close, database.Close)
	if f.pgVersion, err = postgresVersion(ctx, database.URL("postgres")); err != nil {
		return err
	}
	if f.postgres, err = f.launch(ctx, binary, "-log-level", "error", "-store", database.URL("postgres"), "-data", filepath.Join(folder, "postgres")); err != nil {
		return err
	}
	f.postgres.others = func() []int { return append(children(database.Pid()), database.Pid()) }
	return nil
}

// launch starts a program that takes -addr, to run until the context ends.
func (f *field) launch(ctx context.Context, program string, args ...string) (*server, error) {
	addr, err := contest.FreeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{addr: addr, process: exec.CommandContext(ctx, program, append(args, "-addr", addr)...)}
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	f.started = append(f.started, s)
	if err := awaitAnswer(ctx, addr, 0); err != nil {
		return nil, err
	}
	s.idle, _ = memory(s.process.Process.Pid)
	return s, nil
}

// stop ends everything.
func (f *field) stop() error {
	f.cancel()
	for _, s := range f.started {
		_ = s.process.Wait() // it was killed
	}
	var errs []error
	for _, closing := range slices.Backward(f.close) {
		errs = append(errs, closing())
	}
	return errors.Join(errs...)
}

// awaitAnswer waits until /readyz is answered with a status, or in any way if that is 0.
func awaitAnswer(ctx context.Context, addr string, status int) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(200 * time.Microsecond) {
		err := ready(addr, status)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
	}
}

func ready(addr string, status int) (err error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := fmt.Fprintf(c, "GET /readyz HTTP/1.1\r\nHost: %s\r\n\r\n", addr); err != nil {
		return err
	}
	head := make([]byte, len("HTTP/1.1 200"))
	if _, err := c.Read(head); err != nil {
		return err
	}
	if text := string(head); status != 0 && text != fmt.Sprintf("HTTP/1.1 %d", status) {
		return fmt.Errorf("answered %q", text)
	}
	return nil
}

// starts returns how long so many starts on empty stores take, from the start of the process to its answer that it is ready.
func starts(ctx context.Context, binary, folder string, count int) ([]time.Duration, error) {
	var took []time.Duration
	for i := range count {
		addr, err := contest.FreeAddress()
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		process := exec.CommandContext(ctx, binary, "-log-level", "error", "-data", filepath.Join(folder, fmt.Sprint("start", i)), "-addr", addr)
		process.Stderr = os.Stderr
		began := time.Now()
		if err = process.Start(); err == nil {
			err = awaitAnswer(ctx, addr, http.StatusOK)
			took = append(took, time.Since(began))
			cancel()
			_ = process.Wait() // it was killed
		}
		cancel()
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}

// cpu returns the time that the server and those who work for it have spent on a CPU: 0 where that cannot be told.
func (s *server) cpu() time.Duration {
	total := cpu(s.process.Process.Pid)
	if s.others != nil {
		for _, pid := range s.others() {
			total += cpu(pid)
		}
	}
	return total
}

// cpu reads utime and stime of /proc/PID/stat, in ticks of 10 ms (proc(5)).
func cpu(pid int) time.Duration {
	fields := stat(pid)
	const utime, stime = 14 - 3, 15 - 3 // counted from the third field, the first behind the name
	if len(fields) <= stime {
		return 0
	}
	user, _ := strconv.ParseInt(fields[utime], 10, 64)
	system, _ := strconv.ParseInt(fields[stime], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// stat returns the fields of /proc/PID/stat behind the name of the program, which may have spaces of its own.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// children returns the processes whose parent is pid.
func children(pid int) (found []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields := stat(child); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			found = append(found, child)
		}
	}
	return found
}

// memory returns the resident bytes of a process, and the most there were since [forgetPeak]: 0 where that cannot be told.
func memory(pid int) (resident, peak int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	return kilobytes(string(text), "VmRSS:"), kilobytes(string(text), "VmHWM:")
}

func kilobytes(status, name string) int64 {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// forgetPeak has the peak of a process begin anew. Where the system does not allow it, the peak is that of its life.
func forgetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
