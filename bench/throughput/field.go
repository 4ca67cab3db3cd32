package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"riffle/bench/contest"
	"riffle/internal/ledger/postgres/postgrestest"
)

// A field is what runs while it is measured.
type field struct {
	contenders []*contest.Contender

	echo, sqlite, committed, dealt, replicas *contest.Contender // replicas is nil without PostgreSQL

	cancel  context.CancelFunc
	started []*exec.Cmd
	close   []func() error
}

// newField starts everything. It has to be stopped even if that fails.
func newField(ctx context.Context, s *settings) (*field, error) {
	f := &field{}
	ctx, f.cancel = context.WithCancel(ctx)
	if err := f.start(ctx, s); err != nil {
		return f, err
	}
	f.contenders = []*contest.Contender{f.echo, f.sqlite, f.committed, f.dealt}
	if f.replicas != nil {
		f.contenders = append(f.contenders, f.replicas)
	}
	return f, nil
}

func (f *field) start(ctx context.Context, s *settings) error {
	if s.binary == "" {
		s.binary = filepath.Join(s.folder, "server")
		if err := contest.BuildServer(ctx, s.binary); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	echo, err := f.launch(ctx, self, "-echo")
	if err != nil {
		return err
	}
	f.echo = asking("echo handler", once, "/echo", s.connections, echo)
	sqlite, err := f.launch(ctx, s.binary, "-data", filepath.Join(s.folder, "data"), "-addr")
	if err != nil {
		return err
	}
	f.sqlite = asking("riffle on SQLite", once, "/shuffle", s.connections, sqlite)
	f.committed = asking("the same, committed first", committed, "", s.connections, sqlite)
	f.dealt = asking("draws, each connection from a shoe", dealt, "", s.connections, sqlite)
	if s.postgres {
		f.replicas, err = f.twoReplicas(ctx, s)
	}
	return err
}

// twoReplicas starts a PostgreSQL server and two servers on it.
func (f *field) twoReplicas(ctx context.Context, s *settings) (*contest.Contender, error) {
	database, err := postgrestest.Start() // its files are in the system's folder for temporary ones
	if err != nil {
		return nil, err
	}
	f.close = append(f.close, database.Close)
	var addrs []string
	for _, name := range []string{"replica1", "replica2"} {
		addr, err := f.launch(ctx, s.binary, "-store", database.URL("postgres"), "-key", filepath.Join(s.folder, "shared.key"),
			"-data", filepath.Join(s.folder, name), "-addr")
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, addr)
	}
	return asking("riffle on PostgreSQL, two replicas", once, "/shuffle", s.connections, addrs...), nil
}

// launch starts a program whose last argument is the address to listen at, to run until the context ends.
func (f *field) launch(ctx context.Context, program string, args ...string) (addr string, err error) {
	if addr, err = contest.FreeAddress(); err != nil {
		return "", err
	}
	process := exec.CommandContext(ctx, program, append(args, addr)...)
	if err := process.Start(); err != nil {
		return "", err
	}
	f.started = append(f.started, process)
	return addr, contest.AwaitAddress(ctx, addr)
}

// stop ends everything.
func (f *field) stop() {
	f.cancel()
	for _, p := range f.started {
		_ = p.Wait() // it was killed
	}
	for _, closing := range slices.Backward(f.close) {
		if err := closing(); err != nil {
			fmt.Fprintln(os.Stderr, "throughput:", err)
		}
	}
}

func serveEcho(ctx context.Context, addr string) error {
	r := chi.NewRouter()
	r.Post("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	server := &http.Server{Addr: addr, Handler: r, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
