package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"riffle"
	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/deck"
	"riffle/internal/deckofcards"
	"riffle/internal/httpjson"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/order"
	"riffle/internal/services"
	"riffle/internal/tracing"
)

// A service is everything that run starts and stops.
type service struct {
	options  *options
	logger   *slog.Logger
	log      *ledger.Log
	services *services.Services
	handler  *api.API
	server   *http.Server
	listener net.Listener
	tracer   *tracing.Tracer // nil for none

	certificates *certificates // nil for plain HTTP
	admin        *admin        // nil without -admin-addr
}

// build opens the ledger, wires the parts together and listens. If it fails, nothing stays open.
func build(ctx context.Context, o *options, tracer *tracing.Tracer, logger *slog.Logger, accessLog io.Writer) (_ *service, err error) {
	decks, err := loadDecks(o.decks)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := api.NewMetrics(registry, version, revision())

	log, err := openLog(ctx, o, metrics, tracer)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = closeLog(log, err)
		}
	}()
	checkPermissions(o, logger)
	rules := &order.Rules{Decks: decks, Limits: order.Limits{Items: o.maxItems, Results: o.maxResults}}
	serving := services.Options{
		Random: metrics.Random(rand.Reader), Deadline: o.deadline,
		ObserveCommitment: metrics.Commitment, ObserveShoe: metrics.ShoeChange,
	}
	if tracer != nil {
		serving.TraceAppend = tracer.StartAppend
	}
	served := services.New(log, rules, serving)
	connections, err := o.connections()
	if err != nil {
		return nil, err
	}
	budget := httpjson.NewBudget(o.memory)
	var mounted []api.More
	if o.deckOfCards {
		facade := deckofcards.New(deckofcards.Options{
			Log: decksOf, Logger: logger, Budget: budget, Reject: metrics.Reject, Note: api.NoteRecord,
		})
		mounted = append(mounted, api.More{Scope: access.Deal, Routes: facade.Routes}, api.More{Scope: access.Read, Routes: facade.Pictures})
	}
	if !o.accessLog {
		accessLog = nil
	}
	handler := api.New(api.Options{
		Logger: logger, AccessLog: accessLog, Tracer: tracer, Metrics: metrics, Gatherer: registry, Contract: riffle.Contract,
		MaxBody: o.maxBody, Budget: budget, MaxConnections: connections, Admin: o.adminAddr != "", Hosts: o.hosts, Origins: o.origins, Proxies: o.proxies, Policy: o.callers.policy(), More: mounted,
	})
	handler.LogNamed(access.MainLog).Open(served)
	handler.WatchLog(registry)
	handler.WatchStore(registry)
	server := api.NewServer(handler, o.timeouts)
	certificates, err := newCertificates(o, logger, registry)
	if err != nil {
		return nil, err
	}
	if certificates != nil {
		handler.OverTLS(server, certificates.config())
	}
	admin, err := listenAdmin(ctx, o, handler)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return nil, errors.Join(err, admin.close())
	}
	return &service{
		options: o, logger: logger, log: log, services: served, handler: handler,
		server: server, listener: listener, tracer: tracer, certificates: certificates, admin: admin,
	}, nil
}

// decksOf returns the log of a request as the API of deckofcards needs it.
func decksOf(w http.ResponseWriter) deckofcards.Log {
	s := api.LogOf(w)
	return deckofcards.Log{Shoes: s.Shoes, Decks: s.Rules.Decks}
}

// loadDecks returns the built-in deck types and those in the operator's folder, if there is one.
func loadDecks(folder string) (*deck.Catalogue, error) {
	decks, err := deck.Builtin()
	if err != nil || folder == "" {
		return decks, err
	}
	if err := decks.Load(os.DirFS(folder)); err != nil {
		return nil, fmt.Errorf("reading deck types from %s: %w", folder, err)
	}
	return decks, nil
}

// openLog opens the ledger, in PostgreSQL if -store names a database and in SQLite otherwise.
func openLog(ctx context.Context, o *options, metrics *api.Metrics, tracer *tracing.Tracer) (*ledger.Log, error) {
	if o.create == createNever {
		if err := logExists(o); err != nil {
			return nil, err
		}
	} else if err := os.MkdirAll(o.data, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data folder: %w", err)
	}
	store, err := openStore(ctx, o)
	if err != nil {
		return nil, err
	}
	if tracer != nil {
		store = tracer.Store(store, o.engine())
	}
	log, err := ledger.Open(ctx, store, ledger.Options{
		Folder: o.data, KeyFile: o.key, SeedKey: o.seedKey, SeedKeyFile: o.seedKeyFile,
		Origin: o.origin, MustExist: o.create == createNever, Queue: o.queue, Patience: o.patience, Observe: metrics.Commit,
	})
	if errors.Is(err, ledger.ErrNoLog) {
		err = errNoLog(err)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return log, nil
}

// logExists returns an error if the files of the log are missing, before anything is created that
// would be in their place.
func logExists(o *options) error {
	files := []string{filepath.Join(o.data, ledger.CheckpointName)}
	if o.store == "" {
		files = append(files, filepath.Join(o.data, storeName))
	}
	for _, file := range files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return errNoLog(fmt.Errorf("%w: %s is missing", ledger.ErrNoLog, file))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// errNoLog adds what to do about a log that -create=never requires.
func errNoLog(err error) error {
	return fmt.Errorf("%w, and -create=never (RIFFLE_CREATE) requires one. Check that -data and -store are right and that the volume is mounted, "+
		"or restore a backup. Only if a log or a replica is new, start it once with -create=auto", err)
}

func openStore(ctx context.Context, o *options) (ledger.Store, error) {
	if o.store != "" {
		return postgres.Open(ctx, o.store)
	}
	return sqlite.Open(ctx, filepath.Join(o.data, storeName))
}

// engine returns the name that OpenTelemetry has for the engine of the store.
func (o *options) engine() string {
	if o.store != "" {
		return "postgresql"
	}
	return "sqlite"
}

// storeName is the SQLite file in the data folder.
const storeName = "riffle.db"

// closeLog closes the ledger when nothing can append to it any more, and returns err with what went
// wrong in the ledger. A ledger that has failed stays as it is: what it holds is read back by the
// next start.
func closeLog(log *ledger.Log, err error) error {
	if failure := log.Err(); failure == nil {
		return errors.Join(err, log.Close())
	} else if !errors.Is(err, failure) {
		return errors.Join(err, failure)
	}
	return err
}

// run serves until ctx is done or the ledger fails, and then shuts down: /readyz answers 503,
// requests in flight are answered, and the ledger is closed last. Until then it calls reload at
// every signal from hangups.
func (s *service) run(ctx context.Context, hangups <-chan os.Signal, reload func()) (err error) {
	defer func() { err = closeLog(s.log, err) }()
	defer s.startExpiry()()
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
		case <-s.log.Failed():
			// Nothing more can be recorded. Requests in flight get a second to be answered with an
			// error.
			return errors.Join(s.log.Err(), s.shutdown(time.Second))
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

// startExpiry runs the expiry of commitments and shoes in the background. stop ends it and waits
// for it.
func (s *service) startExpiry() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		report := func(err error) {
			s.logger.Warn("expiring commitments or shoes failed; it is tried again", "error", err)
		}
		journal.Sweep(ctx, report, s.services.Dealer.ExpireCommitments, s.services.Shoes.Expire)
	}()
	return func() {
		cancel()
		<-done
	}
}

// awaitDrain goes on serving for the -drain time, so that load balancers see that /readyz answers
// 503. It returns early if the ledger fails.
func (s *service) awaitDrain() {
	select {
	case <-time.After(s.options.drain):
	case <-s.log.Failed():
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
