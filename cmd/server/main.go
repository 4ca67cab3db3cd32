// Server is the shuffle service: REST in front, a durable ledger behind.
//
// This file wires the parts together and minds their lives; what they do is theirs. A signal stops it: it says that it
// is not ready, answers what it has accepted, and closes the ledger. A ledger that fails ends it at once.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"riffle"
	"riffle/internal/api"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/deckofcards"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
)

// version and commit are set by the build; without commit, it is what the Go tool noted of the checkout.
var (
	version = "dev"
	commit  = ""
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once; what was answered is durable
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", oneLine(err))
		os.Exit(1)
	}
}

// oneLine returns the text of an error that may be several, or a list, for logs that are read line by line.
func oneLine(err error) string {
	return strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ").Replace(err.Error())
}

// run is the program.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	o, err := parse(args, env, stderr)
	if err != nil {
		return err
	}
	switch {
	case o.help:
		return nil
	case o.version:
		_, err := fmt.Fprintln(stdout, "riffle", version, revision())
		return err
	case o.healthcheck:
		return healthcheck(ctx, o.addr)
	}
	collectLess(o, env)
	if o.store == "" {
		spareProcessor(env)
	}
	return serve(ctx, o, slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: o.logLevel})))
}

// serve runs the service until the context ends or the ledger fails.
func serve(ctx context.Context, o *options, logger *slog.Logger) (err error) {
	decks, err := catalogue(o.decks)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := api.NewMetrics(registry, version, revision())

	if err := os.MkdirAll(o.data, 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	store, err := openStore(ctx, o)
	if err != nil {
		return err
	}
	log, err := ledger.Open(ctx, store, ledger.Options{
		Folder: o.data, KeyFile: o.key, SeedKey: o.seedKey, SeedKeyFile: o.seedKeyFile,
		Origin: o.origin, Queue: o.queue, Observe: metrics.Commit,
	})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	// Whatever stops the service, the ledger is closed last, when nothing can append to it any more.
	defer func() {
		if failure := log.Err(); failure == nil {
			err = errors.Join(err, log.Close())
		} else if !errors.Is(err, failure) {
			err = errors.Join(err, failure)
		}
	}()

	deals := dealer.New(log, decks, dealer.Options{
		Random: metrics.Random(rand.Reader), Deadline: o.deadline, Observe: metrics.Deal,
		Limits: dealer.Limits{Items: o.maxItems, Results: o.maxResults},
	})
	var more []func(chi.Router)
	if o.deckOfCards {
		more = append(more, deckofcards.New(deckofcards.Options{Dealer: deals, Decks: decks, Logger: logger}).Routes)
	}
	handler := api.New(api.Options{
		Dealer: deals, Decks: decks, Log: log, Logger: logger, Metrics: metrics, Gatherer: registry, Contract: riffle.Contract,
		MaxBody: o.maxBody, Memory: o.memory, More: more,
	})
	handler.WatchLog(registry)
	handler.WatchDealer(registry)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	server := api.NewServer(handler, o.timeouts)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer expire(deals, logger)()
	forgetStart()
	logger.Info("listening", "addr", listener.Addr().String(), "data", o.data, "version", version)

	select {
	case err := <-served:
		return err
	case <-log.Failed():
		// Nothing more can be shuffled. What waits has its error, and gets the time to be told.
		return errors.Join(log.Err(), shutdown(server, time.Second))
	case <-ctx.Done():
	}
	logger.Info("stopping", "reason", context.Cause(ctx))
	handler.Drain()
	wait(o.drain, log.Failed())
	return shutdown(server, o.grace)
}

// expire has commitments and shoes ended whose time has passed, until stop is called.
func expire(d *dealer.Dealer, logger *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx, func(err error) {
			logger.Warn("commitments or shoes whose time has passed could not be ended", "error", err)
		})
	}()
	return func() {
		cancel()
		<-done
	}
}

// openStore opens what the ledger is kept in.
func openStore(ctx context.Context, o *options) (ledger.Store, error) {
	if o.store != "" {
		return postgres.Open(ctx, o.store)
	}
	return sqlite.Open(ctx, filepath.Join(o.data, "riffle.db"))
}

// shutdown takes no more requests and answers those that were accepted, as far as the time goes.
func shutdown(server *http.Server, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were still being answered after %s: %w", grace, err), server.Close())
	}
	return nil
}

// wait waits for d, so that load balancers see that the service is not ready, or for the end.
func wait(d time.Duration, end <-chan struct{}) {
	select {
	case <-time.After(d):
	case <-end:
	}
}

// catalogue returns the deck types: those that are built in and the operator's.
func catalogue(folder string) (*deck.Catalogue, error) {
	decks, err := deck.Builtin()
	if err != nil || folder == "" {
		return decks, err
	}
	if err := decks.Load(os.DirFS(folder)); err != nil {
		return nil, fmt.Errorf("reading deck types from %s: %w", folder, err)
	}
	return decks, nil
}

// revision is the commit that was built, where the build knows it.
func revision() string {
	if commit != "" {
		return commit
	}
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
