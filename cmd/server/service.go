package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"riffle"
	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/budget"
	"riffle/internal/deckofcards"
	"riffle/internal/httpserver"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/logs"
	"riffle/internal/plan"
	"riffle/internal/tracing"
	"riffle/internal/web"
)

// A service has the parts that run starts and stops.
type service struct {
	options  *options
	logger   *slog.Logger
	logs     *logs.Set
	handler  *api.API
	server   *http.Server
	listener net.Listener
	tracer   *tracing.Tracer // nil for none

	certificates *certificates // nil for plain HTTP
	admin        *admin        // nil without --admin-addr
}

// build opens the logs, connects the parts and listens. If it fails, nothing stays open.
func build(ctx context.Context, o *options, tracer *tracing.Tracer, logger *slog.Logger, accessLog io.Writer) (_ *service, err error) {
	connections, err := o.connections()
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := api.NewMetrics(registry, version, revision())
	settings := api.Options{Logger: logger, Tracer: tracer, Metrics: metrics, Gatherer: registry}
	if o.accessLog {
		settings.AccessLog = accessLog
	}
	handler, err := newHandler(o, settings)
	if err != nil {
		return nil, err
	}
	handler.WatchLog(registry)
	handler.WatchStore(registry)
	open, err := logs.Open(ctx, logs.Options{
		Logs: o.logs, OpenStore: openStore, Limits: plan.Limits{Items: o.maxItems, Results: o.maxResults}, Queue: o.queue, Patience: o.patience,
		API: handler, Metrics: metrics, Logger: logger, Tracer: tracer,
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = open.Close(err)
		}
	}()
	counts := httpserver.NewMetrics(registry, connections)
	server := httpserver.New(httpserver.Options{Handler: handler, MaxConnections: connections, Timeouts: o.timeouts, Metrics: counts, Logger: logger})
	certificates, err := newCertificates(o, logger, registry)
	if err != nil {
		return nil, err
	}
	if certificates != nil {
		server.OverTLS(certificates.config())
	}
	admin, err := listenAdmin(ctx, o, httpserver.Options{
		Handler: handler.AdminHandler(), MaxConnections: adminConnections, Timeouts: o.timeouts, Metrics: counts, Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return nil, errors.Join(err, admin.close())
	}
	return &service{
		options: o, logger: logger, logs: open, handler: handler,
		server: server.Server, listener: listener, tracer: tracer, certificates: certificates, admin: admin,
	}, nil
}

// newHandler completes the settings of the API by the options, and returns it with the pages and the
// API of deckofcards.
func newHandler(o *options, settings api.Options) (*api.API, error) {
	memory := budget.New(o.memory)
	if o.deckOfCards {
		facade := deckofcards.New(deckofcards.Options{
			Log: decksOf, Cache: api.Cache, Logger: settings.Logger, Budget: memory, Reject: api.NoteRejection,
		})
		settings.More = append(settings.More, api.More{Scope: access.Deal, Routes: facade.Routes}, api.More{Scope: access.Read, Routes: facade.Pictures})
	}
	if o.pages {
		pages, err := web.New(api.PrefixOf, riffle.Contract, riffle.Docs)
		if err != nil {
			return nil, err
		}
		settings.Home, settings.More = pages, append(settings.More, api.More{Scope: access.Page, Routes: pages.Routes})
	}
	settings.Logs, settings.Contract, settings.Admin = o.logNames(), riffle.Contract, o.adminAddr != ""
	settings.MaxBody, settings.Budget, settings.WriteTimeout = o.maxBody, memory, o.timeouts.Write
	settings.Hosts, settings.Origins, settings.Proxies, settings.Policy = o.hosts, o.origins, o.proxies, o.callers.policy()
	return api.New(settings), nil
}

// decksOf returns the log of a request for the API of deckofcards.
func decksOf(w http.ResponseWriter) deckofcards.Log {
	s := api.LogOf(w)
	return deckofcards.Log{Shoes: s.Shoes, Decks: s.Rules.Decks, Prefix: api.PrefixOf(w), Caller: api.CallerOf(w)}
}

// cacheSize is the cache of each SQLite connection to a log besides the main one, in KiB. It is a
// quarter of SQLite's default, so that a log takes less than 8 MiB under load.
const cacheSize = 512

func openStore(ctx context.Context, l *logs.Settings) (ledger.Store, error) {
	switch {
	case l.Store != "":
		return postgres.Open(ctx, l.Store)
	case l.Name == access.MainLog:
		return sqlite.Open(ctx, l.StoreFile())
	}
	return sqlite.OpenCached(ctx, l.StoreFile(), cacheSize)
}

// run serves until ctx is done or the only log fails, and calls reload for each signal from hangups.
// Then /readyz answers 503, requests in flight are answered, and the logs are closed last.
func (s *service) run(ctx context.Context, hangups <-chan os.Signal, reload func()) (err error) {
	defer func() { err = s.logs.Close(err) }()
	served := make(chan error, 2)
	go func() { served <- s.serve() }()
	s.admin.serve(s.logger, served)
	defer func() { err = errors.Join(err, s.admin.close()) }()
	defer s.certificates.watch()()
	if !isLoopback(s.listener) && s.options.callers.policy().Open() {
		s.logger.Warn("anybody who can reach this address can shuffle, deal, write to the log and read the metrics: "+
			"let in only those who have a key (riffle key new), or listen on localhost behind something that does", "addr", s.listener.Addr().String())
	}
	s.logger.Info("listening", "addr", s.listener.Addr().String(), "tls", s.certificates != nil, "admin", s.admin.addr(), "data", s.options.mainLog().Folder, "version", version)

	for ctx.Err() == nil {
		select {
		case err := <-served:
			return err
		case <-s.logs.Failed(): // requests in flight get a second to be answered with an error
			return errors.Join(s.logs.Err(), s.shutdown(time.Second))
		case <-hangups:
			reload()
		case <-ctx.Done():
		}
	}
	s.logger.Info("stopping", "reason", context.Cause(ctx))
	s.handler.Drain()
	select { // until load balancers see that /readyz answers 503
	case <-time.After(s.options.drain):
	case <-s.logs.Failed():
	}
	return s.shutdown(s.options.grace)
}

// serve accepts connections until the server is shut down.
func (s *service) serve() error {
	if s.certificates != nil {
		return s.server.ServeTLS(s.listener, "", "") // certificates come from its TLSConfig
	}
	return s.server.Serve(s.listener)
}

// shutdown stops accepting connections, ends replays, and waits up to grace for other requests in
// flight before it closes their connections. It exports their spans in the remaining time.
func (s *service) shutdown(grace time.Duration) error {
	s.handler.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were still in flight after %s: %w", grace, err), s.server.Close())
	}
	s.tracer.Shutdown(ctx)
	return nil
}
