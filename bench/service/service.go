// Package service builds, starts and stops the programs that are measured, each a process of its
// own.
package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riffle/internal/ledger/postgres/postgrestest"
)

// Build builds the server of the checkout in folder, as it is released, into the file binary, whose
// path is absolute.
func Build(ctx context.Context, folder, binary string, flags ...string) error {
	args := append([]string{"build", "-C", folder, "-trimpath", "-ldflags", "-s -w", "-o", binary}, flags...)
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/server")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the server in %s: %w\n%s", folder, err, out)
	}
	return nil
}

// A Process is a running server.
type Process struct {
	Addr string
	Idle int64         // resident bytes before the first request; 0 where the system does not say
	Took time.Duration // from the start of the process until it was ready

	cmd     *exec.Cmd
	exited  chan struct{} // closed when the process has exited
	err     error         // why it exited; set before exited is closed
	workers func() []int  // processes that work for it, such as a database's; nil for none
}

// An Env is where a scenario measures: a temporary folder, and the processes started in it.
type Env struct {
	Folder string // absolute
	Server string // the server of this checkout, built by [WithServer]

	ctx       context.Context //nolint:containedctx // the lifetime of the processes
	processes []*Process
	closers   []func() error
}

// WithEnv runs do with a new Env. When do returns or ctx is done, the processes are killed and the
// folder is removed. The folder is inside the current one, because the system's own may be in
// memory.
func WithEnv(ctx context.Context, do func(*Env) error) (err error) {
	folder, err := os.MkdirTemp(".", "bench-data-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &Env{Folder: folder, ctx: ctx}
	defer func() {
		cancel()
		for _, p := range e.processes {
			<-p.exited
		}
		for _, closer := range slices.Backward(e.closers) {
			err = errors.Join(err, closer())
		}
	}()
	return do(e)
}

// WithServer is [WithEnv] with the server of the current folder's checkout built.
func WithServer(ctx context.Context, do func(*Env) error) error {
	return WithEnv(ctx, func(e *Env) error {
		e.Server = e.Path("server")
		if err := Build(ctx, ".", e.Server); err != nil {
			return err
		}
		return do(e)
	})
}

// Path returns the path of a file in the Env's folder.
func (e *Env) Path(name string) string { return filepath.Join(e.Folder, name) }

// Start starts a program that takes --addr and waits until it answers GET /readyz with 200.
func (e *Env) Start(program string, args ...string) (*Process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &Process{Addr: addr, cmd: exec.CommandContext(e.ctx, program, append(args, "--addr", addr)...), exited: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	e.processes = append(e.processes, p)
	if err := p.awaitReady(); err != nil {
		return nil, fmt.Errorf("%s is not ready: %w", filepath.Base(program), err)
	}
	p.Took = time.Since(began)
	p.Idle, _ = p.Memory()
	return p, nil
}

// StartServer starts a server built by [Build] with its data in a folder of the Env.
func (e *Env) StartServer(binary, data string, args ...string) (*Process, error) {
	return e.Start(binary, append([]string{"-log-level", "error", "-data", e.Path(data)}, args...)...)
}

// StartRiffle is [Env.StartServer] of the Env's server.
func (e *Env) StartRiffle(data string, args ...string) (*Process, error) {
	return e.StartServer(e.Server, data, args...)
}

// A Database is a PostgreSQL server.
type Database struct {
	URL, Version string
	cluster      *postgrestest.Cluster
}

// ErrNoPostgres says that PostgreSQL is not installed.
var ErrNoPostgres = postgrestest.ErrMissing

// StartPostgres starts a PostgreSQL server, which fails with [ErrNoPostgres] where none is
// installed. Its files are in the system's folder for temporary ones.
func (e *Env) StartPostgres() (*Database, error) {
	cluster, err := postgrestest.Start()
	if err != nil {
		return nil, err
	}
	e.closers = append(e.closers, cluster.Close)
	d := &Database{URL: cluster.URL("postgres"), cluster: cluster}
	conn, err := pgx.Connect(e.ctx, d.URL)
	if err != nil {
		return nil, err
	}
	err = conn.QueryRow(e.ctx, "SHOW server_version").Scan(&d.Version)
	return d, errors.Join(err, conn.Close(e.ctx))
}

// StartOn is like [Env.StartRiffle], on the database. The CPU time of the database counts as the
// server's.
func (e *Env) StartOn(d *Database, data string, args ...string) (*Process, error) {
	p, err := e.StartRiffle(data, append(args, "-store", d.URL)...)
	if err != nil {
		return nil, err
	}
	p.workers = func() []int { return append(children(d.cluster.Pid()), d.cluster.Pid()) }
	return p, nil
}

// Finish sends the process a signal and waits until it exits, which must be with status 0.
func (p *Process) Finish(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil {
		return err
	}
	<-p.exited
	return p.err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// awaitReady asks for /readyz until it is answered with 200 or the process exits.
func (p *Process) awaitReady() error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Microsecond) {
		response, err := client.Get("http://" + p.Addr + "/readyz")
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			err = errors.Join(err, response.Body.Close())
			if response.StatusCode == http.StatusOK {
				return err
			}
			err = fmt.Errorf("GET /readyz has the status %d", response.StatusCode)
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it exited: %w", p.err)
		default:
			if time.Now().After(deadline) {
				return err
			}
		}
	}
}
