package bench

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
	"time"

	"github.com/prometheus/procfs"
)

// An env is a temporary folder and the processes that run in it.
type env struct {
	folder    string // absolute
	server    string // the server's binary
	processes []*process
}

// withEnv builds the server of this checkout and calls do. Afterwards it kills the processes and
// removes the folder, which is on the disk of the checkout because /tmp may be in memory.
func withEnv(ctx context.Context, flags []string, do func(*env) error) (err error) {
	folder, err := os.MkdirTemp(".", "bench-data-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	e := &env{folder: folder, server: filepath.Join(folder, "server")}
	defer func() {
		for _, p := range e.processes {
			_ = p.kill()
		}
	}()
	if err := build(ctx, ".", e.server, "./cmd/server", flags...); err != nil {
		return err
	}
	return do(e)
}

// build builds a program of the checkout in folder, with the flags of a release.
func build(ctx context.Context, folder, binary, program string, flags ...string) error {
	args := slices.Concat([]string{"build", "-C", folder, "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", binary}, flags, []string{program})
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s in %s: %w\n%s", program, folder, err, out)
	}
	return nil
}

// A process is a running server.
type process struct {
	addr   string
	ready  time.Duration // from the process's start to its first 200 for GET /readyz
	idle   int64         // resident bytes before the first request
	cmd    *exec.Cmd
	exited chan error
}

// start runs a command, whose arguments depend on its address, until the server is ready.
func (e *env) start(name string, command func(addr string) []string) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	args := command(addr)
	p := &process{addr: addr, cmd: exec.Command(args[0], args[1:]...), exited: make(chan error, 1)}
	p.cmd.Stderr = os.Stderr
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	e.processes = append(e.processes, p)
	go func() { p.exited <- p.cmd.Wait() }()
	if err := p.awaitReady(); err != nil {
		return nil, fmt.Errorf("%s is not ready: %w", name, err)
	}
	p.ready = time.Since(began)
	p.idle, _, err = p.memory()
	return p, err
}

// startServer starts a server binary with its data in a subfolder.
func (e *env) startServer(binary, data string, args ...string) (*process, error) {
	return e.start(data, func(addr string) []string {
		return append([]string{binary, "-log-level=error", "-addr", addr, "-data", filepath.Join(e.folder, data)}, args...)
	})
}

func (p *process) awaitReady() error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(time.Minute); ; {
		response, err := client.Get("http://" + p.addr + "/readyz")
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(response.Status)
		}
		select {
		case err := <-p.exited:
			return fmt.Errorf("it exited: %w", err)
		case <-time.After(200 * time.Microsecond):
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

func (p *process) kill() error { return p.cmd.Process.Kill() }

// cpu returns the CPU time of the process, in ticks of 10 ms.
func (p *process) cpu() (time.Duration, error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	stat, err := proc.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second)), err
}

// memory returns the resident bytes of the process, and their peak since its start.
func (p *process) memory() (resident, peak int64, err error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	status, err := proc.NewStatus()
	return int64(status.VmRSS), int64(status.VmHWM), err
}
