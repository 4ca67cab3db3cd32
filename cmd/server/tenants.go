package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/deck"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
	"riffle/internal/services"
	"riffle/internal/tracing"
)

const (
	// openAtOnce is how many logs are opened at the same time.
	openAtOnce = 8
	// startWait is how long a start waits for logs that cannot be opened, when another one is open.
	startWait = 10 * time.Second
	// Pauses before a log is opened again. Each is twice as long as the one before, until the log was
	// open for longestPause.
	firstPause   = time.Second
	longestPause = time.Minute
	// cacheSize is how much each connection to the store of a log besides the main one may cache, in
	// KiB: a quarter of what SQLite does, so that a log takes less than 8 MiB under load.
	cacheSize = 512
	// leaveTime is how long requests to a log that has failed have until it is closed.
	leaveTime = 10 * time.Second
)

// A tenant is one of the logs that the process serves. Where there are several, each is opened
// again when it fails, and the others go on.
type tenant struct {
	*logOptions
	rules   *plan.Rules
	logger  *slog.Logger
	metrics *api.LogMetrics
	tracer  *tracing.Tracer // nil for none
	handler *api.Log
	all     *tenants
	queue   int
	wait    time.Duration // -patience
	seen    []byte        // last checkpoint of the log when it was open before; of the goroutine that opens it

	mu       sync.Mutex
	log      *ledger.Log        // nil while the log is closed
	services *services.Services // of log
	stop     func()             // ends the expiry of commitments and shoes
}

// tenants are all logs of the process, the main one first.
type tenants struct {
	list    []*tenant
	cancel  context.CancelFunc // no log is opened any more
	keeping sync.WaitGroup     // of what opens logs

	mu      sync.Mutex
	origins map[string]string // name of the log by its verifier key
}

// newTenants returns the logs, all of them closed.
func newTenants(o *options, tracer *tracing.Tracer, logger *slog.Logger, metrics *api.Metrics, handler *api.API) (*tenants, error) {
	t := &tenants{origins: map[string]string{}}
	rules := map[string]*plan.Rules{} // by folder of deck types
	for _, l := range o.logs() {
		if rules[l.decks] == nil {
			decks, err := loadDecks(l.decks)
			if err != nil {
				return nil, err
			}
			rules[l.decks] = &plan.Rules{Decks: decks, Limits: plan.Limits{Items: o.maxItems, Results: o.maxResults}}
		}
		t.list = append(t.list, &tenant{
			logOptions: l, rules: rules[l.decks], logger: logger, metrics: metrics.Log(l.name), tracer: tracer, handler: handler.LogNamed(l.name),
			all: t, queue: o.queue, wait: o.patience,
		})
		if len(o.more) > 0 {
			t.list[len(t.list)-1].logger = logger.With("log", l.name)
		}
	}
	return t, nil
}

// open opens all logs. A single one has to open; of several one has to, and the others are tried
// again until ctx is done.
func (t *tenants) open(ctx context.Context) error {
	ctx, t.cancel = context.WithCancel(ctx)
	if len(t.list) == 1 {
		return t.list[0].open(ctx)
	}
	outcomes, slots := make(chan error, len(t.list)), make(chan struct{}, openAtOnce)
	for _, l := range t.list {
		t.keeping.Go(func() {
			slots <- struct{}{}
			err := l.open(ctx)
			<-slots
			outcomes <- err
			l.keepOpen(ctx, err)
		})
	}
	var errs []error
	var enough <-chan time.Time
	for range t.list {
		select {
		case err := <-outcomes:
			if err != nil {
				errs = append(errs, err)
			} else if enough == nil {
				enough = time.After(startWait)
			}
		case <-enough:
			return nil
		}
	}
	if len(errs) == len(t.list) {
		return errors.Join(errs...)
	}
	return nil
}

// failed is closed when the process has to end, since its only log has failed.
func (t *tenants) failed() <-chan struct{} {
	if len(t.list) > 1 {
		return nil
	}
	return t.list[0].log.Failed()
}

// err returns why the only log has failed.
func (t *tenants) err() error { return t.list[0].log.Err() }

// close closes all logs when nothing can append to them any more, and returns err with what went
// wrong in them.
func (t *tenants) close(err error) error {
	t.cancel()
	t.keeping.Wait()
	errs := make([]error, len(t.list))
	var closing sync.WaitGroup
	for i, l := range t.list {
		closing.Go(func() { errs[i] = l.end(err) })
	}
	closing.Wait()
	return errors.Join(append([]error{err}, errs...)...)
}

// end closes the log for good. A log that has failed stays as it is, and its error is returned
// unless err has it: what the log holds is read back by the next start.
func (l *tenant) end(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log == nil {
		return nil
	}
	l.stop()
	failure := l.log.Err()
	switch {
	case failure == nil:
		return l.log.Close()
	case errors.Is(err, failure):
		return nil
	}
	return failure
}

// own returns an error if another log has the key: one key must not sign two histories.
func (t *tenants) own(verifier, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if other, taken := t.origins[verifier]; taken && other != name {
		return fmt.Errorf("its key is that of the log %s: give each log a key and a store of its own", other)
	}
	t.origins[verifier] = name
	return nil
}

// open opens the log and has requests answered from it.
func (l *tenant) open(ctx context.Context) error {
	log, err := l.openLog(ctx)
	if err == nil {
		if err = l.all.own(log.Verifier(), l.name); err != nil {
			err = errors.Join(err, log.Close())
		}
	}
	if err != nil {
		if len(l.all.list) > 1 {
			err = fmt.Errorf("the log %s: %w", l.name, err)
		}
		return err
	}
	checkPermissions(l.logOptions, l.logger)
	serving := services.Options{
		Random: l.metrics.Random(rand.Reader), Deadline: l.deadline,
		ObserveCommitment: l.metrics.Commitment, ObserveShoe: l.metrics.ShoeChange, Logs: len(l.all.list),
	}
	if l.tracer != nil {
		serving.TraceAppend = l.tracer.StartAppend
	}
	served := services.New(log, l.rules, serving)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log, l.services = log, served
	l.stop = func() {}
	if !l.retired {
		l.stop = l.startExpiry(served)
	}
	l.handler.Open(served)
	return nil
}

// keepOpen opens the log again whenever it has failed, until ctx is done. err is why it could not be
// opened at first; nil if it is open.
func (l *tenant) keepOpen(ctx context.Context, err error) {
	pause := firstPause
	for {
		for err != nil && ctx.Err() == nil {
			l.logger.Error("opening a log failed; it is tried again", "error", oneLine(err), "after", pause.String())
			select {
			case <-ctx.Done():
			case <-time.After(pause):
				pause = min(2*pause, longestPause)
				if err = l.open(ctx); err == nil {
					l.logger.Info("the log is open again")
				}
			}
		}
		if ctx.Err() != nil {
			return
		}
		began := time.Now()
		select {
		case <-ctx.Done():
			return
		case <-l.log.Failed():
		}
		if time.Since(began) > longestPause {
			pause = firstPause
		}
		err = l.close()
	}
}

// close closes the log, which has failed, once no request uses it any more, and returns why it has
// failed.
func (l *tenant) close() error {
	unused := l.handler.Close()
	select {
	case <-unused:
	case <-time.After(leaveTime): // what still uses the log gets errors from its store
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	failure := l.log.Err()
	if err := l.log.Close(); err != nil {
		l.logger.Warn("closing a log that has failed", "error", oneLine(err))
	}
	l.seen = l.log.Durable() // after Close, which waits for the commit in flight
	l.log, l.services = nil, nil
	return failure
}

// openShoes returns how many shoes of the log of a name are open.
func (t *tenants) openShoes(ctx context.Context, name string) (uint64, error) {
	l := t.list[slices.IndexFunc(t.list, func(l *tenant) bool { return l.name == name })]
	l.mu.Lock()
	served := l.services
	l.mu.Unlock()
	if served == nil {
		return 0, errors.New("it is not open at the moment")
	}
	return served.Shoes.Count(ctx)
}

// startExpiry runs the expiry of commitments and shoes in the background. stop ends it and waits
// for it.
func (l *tenant) startExpiry(served *services.Services) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		report := func(err error) {
			l.logger.Warn("expiring commitments or shoes failed; it is tried again", "error", err)
		}
		journal.Sweep(ctx, report, served.Dealer.ExpireCommitments, served.Shoes.Expire)
	}()
	return func() {
		cancel()
		<-done
	}
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

// openLog opens the ledger, in PostgreSQL if -store names a database and in SQLite otherwise. One
// that this process has had open is never begun again, and must extend what it had then: an older
// copy of its folder has an older second copy of the checkpoint, too.
func (l *tenant) openLog(ctx context.Context) (*ledger.Log, error) {
	mustExist := l.mustExist() || l.seen != nil
	if mustExist {
		if err := l.exists(); err != nil {
			return nil, err
		}
	} else if err := os.MkdirAll(l.data, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data folder: %w", err)
	}
	store, err := openStore(ctx, l.logOptions)
	if err != nil {
		return nil, err
	}
	if l.tracer != nil {
		store = l.tracer.Store(store, l.engine())
	}
	log, err := ledger.Open(ctx, store, ledger.Options{
		Folder: l.data, KeyFile: l.key, SeedKey: l.seedKey, SeedKeyFile: l.seedKeyFile,
		Origin: l.origin, ReadOnly: l.retired, MustExist: mustExist,
		Anchors: []ledger.Anchor{{Source: "what this process last signed or saw", Note: l.seen}}, Queue: l.queue, Patience: l.wait, Observe: l.metrics.Commit,
	})
	if errors.Is(err, ledger.ErrNoLog) {
		err = l.noLog(err)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return log, nil
}

// exists returns an error if the files of the log are missing, before anything is created that
// would be in their place.
func (l *tenant) exists() error {
	files := []string{filepath.Join(l.data, ledger.CheckpointName)}
	if l.store == "" {
		files = append(files, filepath.Join(l.data, storeName))
	}
	for _, file := range files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return l.noLog(fmt.Errorf("%w: %s is missing", ledger.ErrNoLog, file))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// noLog adds what to do about a log that is not there and has to be.
func (l *tenant) noLog(err error) error {
	switch {
	case l.seen != nil:
		return fmt.Errorf("%w, and this process has had it open. Put its folder back as it was, or restore a backup", err)
	case l.retired:
		return fmt.Errorf("%w, and a retired one is never begun. Put its folder back as it was, or restore a backup", err)
	case l.name != access.MainLog:
		return fmt.Errorf("%w, and create: never requires one. Check that its store is right and that the volume is mounted, "+
			"or restore a backup. Only if a log or a replica is new, start it once with create: auto", err)
	}
	return fmt.Errorf("%w, and -create=never (RIFFLE_CREATE) requires one. Check that -data and -store are right and that the volume is mounted, "+
		"or restore a backup. Only if a log or a replica is new, start it once with -create=auto", err)
}

func openStore(ctx context.Context, l *logOptions) (ledger.Store, error) {
	if l.store != "" {
		return postgres.Open(ctx, l.store)
	}
	file := filepath.Join(l.data, storeName)
	if l.name == access.MainLog {
		return sqlite.Open(ctx, file)
	}
	return sqlite.OpenCached(ctx, file, cacheSize)
}

// engine returns the name that OpenTelemetry has for the engine of the store.
func (l *logOptions) engine() string {
	if l.store != "" {
		return "postgresql"
	}
	return "sqlite"
}

// storeName is the SQLite file in the folder of a log.
const storeName = "riffle.db"
