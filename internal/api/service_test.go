package api_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"riffle"
	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/budget"
	"riffle/internal/deck"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
	"riffle/internal/services"
	"riffle/internal/tracing"
)

// A setup configures a service. The zero value is a service as operators run it, with nothing
// failing.
type setup struct {
	folder   string                          // of the store and the keys; a temporary one by default
	random   io.Reader                       // source of seeds and ids; crypto/rand by default
	now      func() time.Time                // time.Now by default
	store    func(ledger.Store) ledger.Store // wraps the SQLite store
	faults   *journaltest.Faults             // hooks of the store; none by default
	gatherer prometheus.Gatherer             // the service's own metrics by default
	output   io.Writer                       // receives log lines of every level and the access log; by default the test does the former, from Info
	tracer   *tracing.Tracer                 // none by default
	queue    int                             // records that may wait for a commit
	reading  time.Duration                   // that a picture may take; the default by default
	memory   int64                           // budget for request bodies, in bytes
	hosts    access.Hosts                    // names of its own; none by default
	origins  access.Origins                  // whose pages may write; none by default
	policy   *access.Policy                  // who may do what; everybody everything by default
	home     http.HandlerFunc                // the page of browsers; none by default
	link     func(http.ResponseWriter, *http.Request, bool)
	more     []api.More // routes beyond the contract; none by default
}

// A service is an API with the built-in deck types, over a store in a folder of the test.
type service struct {
	*api.API
	log    *ledger.Log
	setup  setup
	panics bool          // every request panics
	first  shuffleResult // of a service whose store has failed since
	shoe   string        // path of a shoe that can no longer be changed
}

// start starts a service that runs until the test ends.
func start(t testing.TB, s setup) *service {
	t.Helper()
	registry := prometheus.NewRegistry()
	if s.folder == "" {
		s.folder = t.TempDir()
	}
	if s.random == nil {
		s.random = rand.Reader
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.gatherer == nil {
		s.gatherer = registry
	}
	if s.memory == 0 {
		s.memory = 512 << 20
	}
	metrics := api.NewMetrics(registry, "v0", "test")
	log := openLog(t, s, ledger.Options{Folder: s.folder, Queue: s.queue, Observe: metrics.Commit})
	return newService(t, log, s, registry, metrics)
}

// openLog opens the log in a folder until the test ends.
func openLog(t testing.TB, s setup, o ledger.Options) *ledger.Log {
	t.Helper()
	var store ledger.Store
	store, err := sqlite.Open(context.Background(), filepath.Join(o.Folder, "riffle.db"))
	require.NoError(t, err)
	if s.store != nil {
		store = s.store(store)
	}
	if s.faults != nil {
		faulty := *s.faults
		faulty.Store, store = store, &faulty
	}
	if s.tracer != nil {
		store = s.tracer.Store(store, "sqlite")
	}
	// Every log has the same key, so that the signatures in the examples of the contract are right.
	private, _, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{1}, ed25519.SeedSize)), "shuffles.example.com/2026")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(o.Folder, ledger.KeyName), []byte(private+"\n"), 0o600))
	log, err := ledger.Open(context.Background(), store, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := log.Close(); err != nil && !errors.Is(err, ledger.ErrClosed) {
			t.Error(err)
		}
	})
	return log
}

// replica returns another service on the same log, as a second process would run it: the two share
// no caches. It also has the deck types of the files.
func (s *service) replica(t testing.TB, files ...string) *service {
	t.Helper()
	registry := prometheus.NewRegistry()
	return newService(t, s.log, s.setup, registry, api.NewMetrics(registry, "v0", "test"), files...)
}

// newService returns a service on an open log.
func newService(t testing.TB, log *ledger.Log, s setup, registry *prometheus.Registry, metrics *api.Metrics, files ...string) *service {
	t.Helper()
	decks, err := deck.Builtin()
	require.NoError(t, err)
	for _, file := range files {
		require.NoError(t, decks.Load(fstest.MapFS{"own.json": {Data: []byte(file)}}))
	}
	output, logging := s.output, slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: dropExpectedStacks}
	accessLog := s.output
	if output == nil {
		output, logging.Level = t.Output(), slog.LevelInfo
	}
	rules := &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1_000_000, Results: 10_000_000}}
	serving := services.Options{Random: s.random, Now: s.now, ObserveCommitment: metrics.Commitment, ObserveShoe: metrics.ShoeChange}
	if s.tracer != nil {
		serving.TraceAppend = s.tracer.StartAppend
	}
	a := api.New(api.Options{
		Services: services.New(log, rules, serving), Logger: slog.New(slog.NewTextHandler(output, &logging)), AccessLog: accessLog, Tracer: s.tracer, Metrics: metrics, Gatherer: s.gatherer,
		Contract: riffle.Contract, MaxBody: 16 << 20, Budget: budget.New(s.memory), Hosts: s.hosts, Policy: s.policy, Origins: s.origins, ReadTime: s.reading, Home: s.home, Link: s.link, More: s.more,
	})
	a.Watch(registry)
	return &service{API: a, log: log, setup: s}
}

// waitPublished waits until the published checkpoint covers every record.
func (s *service) waitPublished(t testing.TB) {
	t.Helper()
	committed, _ := s.log.Sizes()
	if committed == 0 {
		return
	}
	_, err := s.log.Prove(t.Context(), committed-1)
	require.NoError(t, err)
}

// logSize returns the number of records.
func (s *service) logSize() uint64 {
	committed, _ := s.log.Sizes()
	return committed
}

// expireCommitments records late commitments as void and checks how many there were.
func (s *service) expireCommitments(t testing.TB, want int) {
	t.Helper()
	n, err := s.Dealer.ExpireCommitments(t.Context())
	require.Truef(t, n == want && err == nil, "voided %d commitments, want %d: %v", n, want, err)
}

// dropExpectedStacks removes the stack traces of panics that a test has caused.
func dropExpectedStacks(_ []string, a slog.Attr) slog.Attr {
	if a.Key == "stack" && strings.Contains(a.Value.String(), "panickingWriter") {
		return slog.Attr{}
	}
	return a
}

// A clock shows the time that a test has set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}
