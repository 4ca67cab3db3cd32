// Package service builds, starts and stops the programs that are measured, each a process of its own.
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

// Build builds the server of the checkout in folder, as it is released, into the file binary.
func Build(ctx context.Context, folder, binary string, flags ...string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-C", folder, "-trimpath", "-ldflags", "-s -w", "-o", binary}, flags...)
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/server")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the server in %s: %w\n%s", folder, err, out)
	}
	return nil
}

// WithFolder runs do with a temporary folder inside the current one, because the system's own may be in memory.
func WithFolder(do func(folder string) error) (err error) {
	folder, err := os.MkdirTemp(".", "bench-data-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	return do(folder)
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

// A Group is processes that stop together.
type Group struct {
	ctx     context.Context //nolint:containedctx // it is the lifetime of the processes
	cancel  context.CancelFunc
	running []*Process
	closers []func() error
}

// NewGroup returns an empty group. Its processes are killed when ctx is done. Call Stop when finished.
func NewGroup(ctx context.Context) *Group {
	ctx, cancel := context.WithCancel(ctx)
	return &Group{ctx: ctx, cancel: cancel}
}

// Start starts a program that takes --addr and waits until it answers GET /readyz with 200.
func (g *Group) Start(program string, args ...string) (*Process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &Process{Addr: addr, cmd: exec.CommandContext(g.ctx, program, append(args, "--addr", addr)...), exited: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	g.running = append(g.running, p)
	if err := p.awaitReady(); err != nil {
		return nil, fmt.Errorf("%s is not ready: %w", filepath.Base(program), err)
	}
	p.Took = time.Since(began)
	p.Idle, _ = p.Memory()
	return p, nil
}

// StartRiffle starts a server built by [Build] with its data in a folder.
func (g *Group) StartRiffle(binary, folder string, args ...string) (*Process, error) {
	return g.Start(binary, append([]string{"-log-level", "error", "-data", folder}, args...)...)
}

// A Database is a PostgreSQL server.
type Database struct {
	URL, Version string
	cluster      *postgrestest.Cluster
}

// ErrNoPostgres says that PostgreSQL is not installed.
var ErrNoPostgres = postgrestest.ErrMissing

// StartPostgres starts a PostgreSQL server, which fails with [ErrNoPostgres] where none is installed. Its files are in the
// system's folder for temporary ones.
func (g *Group) StartPostgres() (*Database, error) {
	cluster, err := postgrestest.Start()
	if err != nil {
		return nil, err
	}
	g.closers = append(g.closers, cluster.Close)
	d := &Database{URL: cluster.URL("postgres"), cluster: cluster}
	conn, err := pgx.Connect(g.ctx, d.URL)
	if err != nil {
		return nil, err
	}
	err = conn.QueryRow(g.ctx, "SHOW server_version").Scan(&d.Version)
	return d, errors.Join(err, conn.Close(g.ctx))
}

// StartOn starts a server on the database. The CPU time of the database counts as the server's.
func (g *Group) StartOn(d *Database, binary, folder string, args ...string) (*Process, error) {
	p, err := g.StartRiffle(binary, folder, append(args, "-store", d.URL)...)
	if err != nil {
		return nil, err
	}
	p.workers = func() []int { return append(children(d.cluster.Pid()), d.cluster.Pid()) }
	return p, nil
}

// Stop kills every process and stops the databases.
func (g *Group) Stop() error {
	g.cancel()
	for _, p := range g.running {
		<-p.exited
	}
	var errs []error
	for _, closer := range slices.Backward(g.closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// Finish sends the process a signal and waits until it exits with status 0.
func (p *Process) Finish(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil {
		return err
	}
	<-p.exited
	return p.err
}

// Starts returns how long n starts on empty stores take, each until the server is ready.
func Starts(ctx context.Context, binary, folder string, n int) (took []time.Duration, err error) {
	for i := range n {
		g := NewGroup(ctx)
		p, err := g.StartRiffle(binary, filepath.Join(folder, fmt.Sprint("start", i)))
		if err := errors.Join(err, g.Stop()); err != nil {
			return nil, err
		}
		took = append(took, p.Took)
	}
	return took, nil
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
