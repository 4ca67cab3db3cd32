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
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle"
	"riffle/internal/api"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/order"
	"riffle/internal/services"
)

// A setup says how a service of a test differs from one with default settings. The zero value is no
// difference.
type setup struct {
	folder   string // holds the store and the keys; one of the test's own by default
	random   io.Reader
	now      func() time.Time
	store    func(ledger.Store) ledger.Store // stands between the log and SQLite
	gatherer prometheus.Gatherer
	output   io.Writer // takes what is logged, of every level; the test's by default, without the levels below Info
	verbose  bool      // start sets it for an output that was given
	queue    int
	memory   int64
}

// A service is an API with what it needs: the deck types that come with it and a store in a folder
// of the test.
type service struct {
	*api.API
	log   *ledger.Log
	setup setup
	first shuffled // the one record of a service that cannot be asked for more
	shoe  string   // the path of its shoe
}

// start starts a service for as long as the test runs.
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
	var store ledger.Store
	store, err := sqlite.Open(context.Background(), filepath.Join(s.folder, "riffle.db"))
	if err != nil {
		t.Fatal(err)
	}
	if s.store != nil {
		store = s.store(store)
	}
	if s.output == nil {
		s.output = t.Output()
	} else {
		s.verbose = true
	}
	metrics := api.NewMetrics(registry, "v0", "test")
	// Every log has the same key, so that the contract can show what it signs.
	private, _, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{1}, ed25519.SeedSize)), "shuffles.example.com/2026")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, ledger.KeyName), []byte(private+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := ledger.Open(context.Background(), store, ledger.Options{Folder: s.folder, Queue: s.queue, Observe: metrics.Commit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil && !errors.Is(err, ledger.ErrClosed) {
			t.Error(err)
		}
	})
	return serviceOn(t, log, s, registry, metrics)
}

// replica returns a second service on the log of the first: what one remembers, the other does not
// know. It has the deck types that come with it and those of the files.
func (s *service) replica(t testing.TB, files ...string) *service {
	t.Helper()
	registry := prometheus.NewRegistry()
	return serviceOn(t, s.log, s.setup, registry, api.NewMetrics(registry, "v0", "test"), files...)
}

func serviceOn(t testing.TB, log *ledger.Log, s setup, registry *prometheus.Registry, metrics *api.Metrics, files ...string) *service {
	t.Helper()
	decks, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := decks.Load(fstest.MapFS{"own.json": {Data: []byte(file)}}); err != nil {
			t.Fatal(err)
		}
	}
	logging := slog.HandlerOptions{ReplaceAttr: withoutStack}
	if s.verbose {
		logging.Level = slog.LevelDebug
	}
	rules := &order.Rules{Decks: decks, Limits: order.Limits{Items: 1_000_000, Results: 10_000_000}}
	a := api.New(api.Options{
		Services: services.New(log, rules, services.Options{
			Random: metrics.Random(s.random), Now: s.now, ObserveCommitment: metrics.Commitment, ObserveShoe: metrics.ShoeChange,
		}),
		Logger: slog.New(slog.NewTextHandler(s.output, &logging)), Metrics: metrics, Gatherer: s.gatherer,
		Contract: riffle.Contract, MaxBody: 16 << 20, Memory: s.memory,
	})
	a.WatchLog(registry)
	a.WatchStore(registry)
	return &service{API: a, log: log, setup: s}
}

// published waits until the published checkpoint covers all that there is.
func (s *service) published(t testing.TB) {
	t.Helper()
	committed, _ := s.log.Sizes()
	if committed == 0 {
		return
	}
	if _, err := s.log.Prove(t.Context(), committed-1); err != nil {
		t.Fatal(err)
	}
}

// withoutStack shortens the log: where a panic came from is of interest only when it was not meant.
func withoutStack(_ []string, a slog.Attr) slog.Attr {
	if a.Key == "stack" && strings.Contains(a.Value.String(), "panickingWriter") {
		return slog.Attr{}
	}
	return a
}

// answer has the service answer a request, without a network in between.
func (s *service) answer(r *http.Request) *http.Response {
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, r)
	return recorder.Result()
}

// abort has the service answer a caller who leaves before the end, which ends the connection.
func (s *service) abort(t testing.TB, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	defer func() {
		if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // it is thrown as it is
			t.Errorf("the answer to a caller who left ended with %v", p)
		}
	}()
	s.ServeHTTP(w, r)
}

// get and post make requests.
func get(t testing.TB, target string) *http.Request {
	return httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
}

func post(t testing.TB, target, body string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// keyed gives a request an Idempotency-Key, as it stands.
func keyed(r *http.Request, key string) *http.Request {
	r.Header.Set("Idempotency-Key", key)
	return r
}

// read returns the body of an answer.
func read(t testing.TB, r *http.Response) []byte {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return body
}

// A faultyStore is a store that does what it is told before it does its work.
type faultyStore struct {
	ledger.Store
	appending func() error
	reading   func() error
	following func() error         // before records are read back
	secret    func(*ledger.Stored) // changes what was read
}

func (s *faultyStore) Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error) {
	if s.reading != nil {
		if err := s.reading(); err != nil {
			return nil, err
		}
	}
	return s.Store.Hashes(ctx, level, from, n)
}

func (s *faultyStore) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	if s.following != nil {
		if err := s.following(); err != nil {
			return err
		}
	}
	return s.Store.Records(ctx, from, n, each)
}

func (s *faultyStore) Append(ctx context.Context, batch ledger.Batch) error {
	if s.appending != nil && len(batch.Entries) > 0 { // a batch without entries begins the log
		if err := s.appending(); err != nil {
			return err
		}
	}
	return s.Store.Append(ctx, batch)
}

// AppendNext is Append where there is one process.
func (s *faultyStore) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendFromHead(ctx, s, next)
}

func (s *faultyStore) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	if s.reading != nil {
		if err := s.reading(); err != nil {
			return nil, err
		}
	}
	stored, err := s.Store.ByID(ctx, id)
	if err == nil && s.secret != nil {
		s.secret(stored)
	}
	return stored, err
}

func (s *faultyStore) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	if s.reading != nil {
		if err := s.reading(); err != nil {
			return nil, err
		}
	}
	return s.Store.ByReference(ctx, reference, from, limit)
}

func (s *faultyStore) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	if s.reading != nil {
		if err := s.reading(); err != nil {
			return nil, err
		}
	}
	return s.Store.ByClaim(ctx, claim)
}

func (s *faultyStore) Claims(ctx context.Context, q ledger.ClaimQuery) ([]ledger.Claim, error) {
	if s.reading != nil {
		if err := s.reading(); err != nil {
			return nil, err
		}
	}
	return s.Store.Claims(ctx, q)
}

func (s *faultyStore) CountClaims(ctx context.Context, q ledger.ClaimQuery) (uint64, error) {
	if s.reading != nil {
		if err := s.reading(); err != nil {
			return 0, err
		}
	}
	return s.Store.CountClaims(ctx, q)
}

// failing returns a store that fails to append with the error.
func failing(err error) func(ledger.Store) ledger.Store {
	return func(s ledger.Store) ledger.Store {
		return &faultyStore{Store: s, appending: func() error { return err }}
	}
}

// unreadable returns a store that cannot be read.
func unreadable(s ledger.Store) ledger.Store {
	return &faultyStore{Store: s, reading: func() error { return errors.New("the disk does not answer") }}
}

// brokenReader is a source of randomness, or a body, that fails.
type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// panickingWriter panics when it is first written to, as a defect anywhere in a handler would.
type panickingWriter struct {
	*httptest.ResponseRecorder
	panicked bool
}

func (w *panickingWriter) Header() http.Header {
	if !w.panicked {
		w.panicked = true
		panic("a defect")
	}
	return w.ResponseRecorder.Header()
}

// answerWithDefect has the service answer a request with a handler that panics.
func (s *service) answerWithDefect(r *http.Request) *http.Response {
	w := &panickingWriter{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(w, r)
	return w.Result()
}
