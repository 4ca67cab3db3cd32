package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"riffle"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/budget"
	"riffle/internal/deckofcards"
	"riffle/internal/httpserver"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/openlog"
	"riffle/internal/release"
	"riffle/internal/tracing"
	"riffle/internal/web"
)

// A service has the parts that run starts and stops.
type service struct {
	options *options // the current ones
	logger  *slog.Logger
	log     *openlog.Log
	handler *api.API
	public  *endpoint
	admin   *endpoint       // nil without --admin-addr
	tracer  *tracing.Tracer // nil for none

	certificates *certificates // nil for plain HTTP
}

// build opens the log, connects the parts and listens. If it fails, nothing stays open.
func build(ctx context.Context, o *options, connections int, tracer *tracing.Tracer, logger *slog.Logger, accessLog io.Writer) (_ *service, err error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	built := release.Current()
	metrics := api.NewMetrics(registry, built.Version, built.Commit)
	settings := o.api
	settings.Logger, settings.Tracer, settings.Metrics, settings.Gatherer = logger, tracer, metrics, registry
	if o.accessLog {
		settings.AccessLog = accessLog
	}
	certificates, err := newCertificates(o, logger, registry)
	if err != nil {
		return nil, err
	}
	settings.Reachable = certificates.usable
	shared, small := o.shared, o.container < smallContainer
	shared.OpenStore, shared.OpenReader, shared.Observer, shared.Logger = storeOpener(tracer, small), openReader, metrics, logger
	if tracer != nil {
		shared.TraceAppend = tracer.StartAppend
	}
	log, err := openlog.Open(ctx, &o.log, shared)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = log.Close(err)
		}
	}()
	settings.Services = log.Services
	handler, err := newHandler(o, settings)
	if err != nil {
		return nil, err
	}
	handler.Watch(registry)
	log.Tend(handler.Failed)
	served := httpserver.Options{
		Handler: handler, MaxConnections: connections, Timeouts: o.timeouts, Metrics: httpserver.NewMetrics(registry, connections), Logger: logger,
	}
	if small {
		served.Buffer = socketBuffer
	}
	server := httpserver.New(served)
	if certificates != nil {
		server.OverTLS(certificates.config())
	}
	s := &service{options: o, logger: logger, log: log, handler: handler, tracer: tracer, certificates: certificates}
	if o.adminAddr != "" {
		served.Handler, served.MaxConnections = handler.AdminHandler(), adminConnections
		if s.admin, err = listen(ctx, o.adminAddr, httpserver.New(served)); err != nil {
			return nil, err
		}
	}
	if s.public, err = listen(ctx, o.addr, server); err != nil {
		return nil, errors.Join(err, s.admin.close())
	}
	return s, nil
}

// newHandler completes the settings of the API by the options, and returns it with the pages and the
// API of deckofcards.
func newHandler(o *options, settings api.Options) (*api.API, error) {
	memory := budget.New(o.memory)
	if o.deckOfCards {
		facade := &deckofcards.API{Logger: settings.Logger, Budget: memory}
		settings.More = []api.More{
			{Scope: access.Deal, Routes: facade.Routes(), Fail: facade.Fail},
			{Scope: access.Read, Routes: facade.Pictures(), Fail: facade.Fail},
		}
	}
	if o.pages {
		pages, err := web.New()
		if err != nil {
			return nil, err
		}
		settings.Pages, settings.Home, settings.Link, settings.Missing = pages.Routes(), pages.Home, pages.Link, pages.Missing
	}
	settings.Contract, settings.Admin = riffle.Contract, o.adminAddr != ""
	settings.Budget, settings.WriteTimeout, settings.Policy = memory, o.timeouts.Write, o.callers.policy()
	return api.New(settings), nil
}

// cacheSize is the cache of each SQLite connection in a small container, in KiB: a quarter of SQLite's
// default.
const cacheSize = 512

// storeOpener returns the function that opens stores, with spans if there is a tracer.
func storeOpener(tracer *tracing.Tracer, small bool) func(context.Context, *openlog.Settings) (ledger.Store, error) {
	return func(ctx context.Context, l *openlog.Settings) (store ledger.Store, err error) {
		engine := "sqlite" // OpenTelemetry's name for it
		switch {
		case l.Store != "":
			engine = "postgresql"
			store, err = postgres.Open(ctx, l.Store)
		case !small:
			store, err = sqlite.Open(ctx, l.StoreFile())
		default:
			store, err = sqlite.OpenCached(ctx, l.StoreFile(), cacheSize)
		}
		if err != nil || tracer == nil {
			return store, err
		}
		return tracer.Store(store, engine), nil
	}
}

// openReader opens the store of a log that is only read.
func openReader(ctx context.Context, l *openlog.Settings) (ledger.Reader, error) {
	open := func() (ledger.Inspector, error) { return sqlite.OpenReaderCached(ctx, l.StoreFile(), cacheSize) }
	if l.Store != "" {
		open = func() (ledger.Inspector, error) { return postgres.OpenReader(ctx, l.Store) }
	}
	store, err := open()
	if err != nil {
		return nil, err
	}
	version, moved, err := store.Status(ctx)
	if err = cmp.Or(err, ledger.CheckStatus(version, moved)); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// readTime is the time for the configuration file to be read, after which that is logged.
const readTime = 5 * time.Second

// run serves until ctx is done or the log fails. For each signal from hangups it calls read, which may
// hang as a volume may, and then what that returns. Then /readyz answers 503, requests in flight are
// answered, and the log is closed last.
func (s *service) run(ctx context.Context, hangups <-chan os.Signal, read func() (apply func())) (err error) {
	defer func() { err = s.log.Close(err) }()
	served := make(chan error, 2)
	s.public.serve(served)
	if s.admin != nil {
		s.admin.serve(served)
		if !s.admin.isLocal() {
			s.logger.Warn("anybody who can reach the admin address can read the metrics and profile the service: "+
				"let it be localhost, or a network that only operators reach", "addr", s.admin.address())
		}
	}
	defer func() { err = errors.Join(err, s.admin.close()) }()
	defer s.certificates.watch()()
	if !s.public.isLocal() && s.options.callers.policy().Open() {
		s.logger.Warn("anybody who can reach this address can shuffle, deal, write to the log and read the metrics: "+
			"let in only those who have a key (riffle key new), or listen on localhost behind something that does", "addr", s.public.address())
	}
	s.logger.Info("listening", "addr", s.public.address(), "tls", s.certificates != nil, "admin", s.admin.address(), "data", s.options.log.Folder, "version", release.Current().Version)

	alive := notifyReady()
	reads, waiting, late := make(chan func(), 1), hangups, (<-chan time.Time)(nil)
	for ctx.Err() == nil {
		select {
		case <-alive:
			notify(daemon.SdNotifyWatchdog)
		case err := <-served:
			return err
		case <-s.log.Log.Failed(): // requests in flight get a second to be answered with an error
			return errors.Join(s.log.Log.Err(), s.shutdown(time.Second))
		case <-waiting:
			notify(daemon.SdNotifyReloading)
			go func() { reads <- read() }()
			waiting, late = nil, time.After(readTime) // the next signal waits for this file
		case apply := <-reads:
			apply()
			notify(daemon.SdNotifyReady)
			waiting, late = hangups, nil
		case <-late:
			s.logger.Error("the configuration file cannot be read so far, and nothing is changed until it is", "file", s.options.config, "after", readTime.String())
			notify(daemon.SdNotifyReady)
		case <-ctx.Done():
		}
	}
	notify(daemon.SdNotifyStopping)
	drain := s.options.drain
	if asked := s.handler.Drain(drain); !asked && !given(s.options.flags)["drain"] {
		drain = 0
	}
	s.logger.Info("stopping", "reason", context.Cause(ctx), "drain", drain.String())
	select { // until load balancers see that /readyz answers 503
	case <-time.After(drain):
	case <-s.log.Log.Failed():
	}
	return s.shutdown(s.options.grace)
}

// notify tells systemd what the service does, if that started it with Type=notify. Nobody else is
// there to hear of an error.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }

// notifyReady tells systemd that the service takes requests. The channel says when to tell it that it
// still does, twice in the unit's WatchdogSec; nil if it has none.
func notifyReady() <-chan time.Time {
	notify(daemon.SdNotifyReady)
	if interval, err := daemon.SdWatchdogEnabled(false); err == nil && interval > 0 {
		return time.Tick(interval / 2)
	}
	return nil
}

// shutdown stops accepting connections, ends replays, and waits up to grace for other requests in
// flight before it closes their connections. It exports their spans in the remaining time.
func (s *service) shutdown(grace time.Duration) error {
	s.handler.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := s.public.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were still in flight after %s: %w", grace, err), s.public.close())
	}
	s.tracer.Shutdown(ctx)
	return nil
}

// An endpoint is a server at --addr or --admin-addr.
type endpoint struct {
	*httpserver.Server
	listener net.Listener
}

func listen(ctx context.Context, addr string, server *httpserver.Server) (*endpoint, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &endpoint{server, listener}, nil
}

// serve serves in the background. It sends the error that ends it to failed.
func (e *endpoint) serve(failed chan<- error) {
	go func() {
		if err := e.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
}

// close stops serving without waiting for requests in flight. A nil endpoint does nothing.
func (e *endpoint) close() error {
	if e == nil {
		return nil
	}
	// A server that has not begun to serve does not close it. Before Close, that could find it
	// closed.
	defer func() { _ = e.listener.Close() }()
	return e.Close()
}

// address returns the listener's address, or "" for a nil endpoint.
func (e *endpoint) address() string {
	if e == nil {
		return ""
	}
	return e.listener.Addr().String()
}

// isLocal reports whether only this machine can connect.
func (e *endpoint) isLocal() bool { return access.IsLoopback(e.listener.Addr()) }
