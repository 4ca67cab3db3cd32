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
	"riffle/internal/tracing"
	"riffle/internal/web"
)

// A service is everything that run starts and stops.
type service struct {
	options  *options
	logger   *slog.Logger
	logs     *tenants
	handler  *api.API
	server   *http.Server
	listener net.Listener
	tracer   *tracing.Tracer // nil for none

	certificates *certificates // nil for plain HTTP
	admin        *admin        // nil without -admin-addr
}

// build opens the logs, wires the parts together and listens. If it fails, nothing stays open.
func build(ctx context.Context, o *options, tracer *tracing.Tracer, logger *slog.Logger, accessLog io.Writer) (_ *service, err error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := api.NewMetrics(registry, version, revision())
	connections, err := o.connections()
	if err != nil {
		return nil, err
	}
	memory := budget.New(o.memory)
	var mounted []api.More
	if o.deckOfCards {
		facade := deckofcards.New(deckofcards.Options{
			Log: decksOf, Cache: api.Cache, Logger: logger, Budget: memory, Reject: api.NoteRejection,
		})
		mounted = append(mounted, api.More{Scope: access.Deal, Routes: facade.Routes}, api.More{Scope: access.Read, Routes: facade.Pictures})
	}
	if !o.accessLog {
		accessLog = nil
	}
	var home http.Handler
	if o.pages {
		pages, err := web.New(api.PrefixOf, riffle.Contract, riffle.Docs)
		if err != nil {
			return nil, err
		}
		home, mounted = pages, append(mounted, api.More{Scope: access.Page, Routes: pages.Routes})
	}
	handler := api.New(api.Options{
		Logger: logger, AccessLog: accessLog, Tracer: tracer, Metrics: metrics, Logs: o.logNames(), Gatherer: registry, Contract: riffle.Contract,
		MaxBody: o.maxBody, Budget: memory, WriteTimeout: o.timeouts.Write, Admin: o.adminAddr != "", Hosts: o.hosts, Origins: o.origins, Proxies: o.proxies, Policy: o.callers.policy(), More: mounted, Home: home,
	})
	handler.WatchLog(registry)
	handler.WatchStore(registry)
	if err := checkUnnamed(ctx, o, logger); err != nil {
		return nil, err
	}
	logs, err := newTenants(o, tracer, logger, metrics, handler)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = logs.close(err)
		}
	}()
	if err := logs.open(ctx); err != nil {
		return nil, err
	}
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
		options: o, logger: logger, logs: logs, handler: handler,
		server: server.Server, listener: listener, tracer: tracer, certificates: certificates, admin: admin,
	}, nil
}

// decksOf returns the log of a request as the API of deckofcards needs it.
func decksOf(w http.ResponseWriter) deckofcards.Log {
	s := api.LogOf(w)
	return deckofcards.Log{Shoes: s.Shoes, Decks: s.Rules.Decks, Prefix: api.PrefixOf(w), Caller: api.CallerOf(w)}
}

// run serves until ctx is done or the only log fails, and then shuts down: /readyz answers 503,
// requests in flight are answered, and the logs are closed last. Until then it calls reload at
// every signal from hangups.
func (s *service) run(ctx context.Context, hangups <-chan os.Signal, reload func()) (err error) {
	defer func() { err = s.logs.close(err) }()
	served := make(chan error, 2)
	go func() { served <- s.serve() }()
	s.admin.serve(s.logger, served)
	defer func() { err = errors.Join(err, s.admin.close()) }()
	defer s.certificates.watch()()
	if !isLoopback(s.listener) && s.options.callers.policy().Open() {
		s.logger.Warn("anybody who can reach this address can shuffle, deal, write to the log and read the metrics: "+
			"let in only those who have a key (riffle key new), or listen on localhost behind something that does", "addr", s.listener.Addr().String())
	}
	s.logger.Info("listening", "addr", s.listener.Addr().String(), "tls", s.certificates != nil, "admin", s.admin.addr(), "data", s.options.data, "version", version)

	for ctx.Err() == nil {
		select {
		case err := <-served:
			return err
		case <-s.logs.failed():
			// Nothing more can be recorded. Requests in flight get a second to be answered with an
			// error.
			return errors.Join(s.logs.err(), s.shutdown(time.Second))
		case <-hangups:
			reload()
		case <-ctx.Done():
		}
	}
	s.logger.Info("stopping", "reason", context.Cause(ctx))
	s.handler.Drain()
	s.awaitDrain()
	return s.shutdown(s.options.grace)
}

// serve accepts connections until the server is shut down.
func (s *service) serve() error {
	if s.certificates != nil {
		return s.server.ServeTLS(s.listener, "", "") // with the certificate of its configuration
	}
	return s.server.Serve(s.listener)
}

// awaitDrain goes on serving for the -drain time, so that load balancers see that /readyz answers
// 503. It returns early if the only log fails.
func (s *service) awaitDrain() {
	select {
	case <-time.After(s.options.drain):
	case <-s.logs.failed():
	}
}

// shutdown stops accepting connections, ends replays, and waits up to grace for other requests in
// flight. Then it closes their connections, or exports their spans in the time that is left.
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
