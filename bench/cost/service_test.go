package cost

import (
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"riffle/internal/api"
	"riffle/internal/budget"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
	"riffle/internal/services"
)

// A request is one whose cost is checked.
type request struct {
	method, path, body string
	times              int // how often it is sent in a measurement
}

// requests are what game servers send most, and one request that is nearly all shuffling.
var requests = map[string]request{
	"POST /shuffle of 52 strings":        {http.MethodPost, "/shuffle", `{"items":` + cards + `}`, 400},
	"GET /decks/standard52":              {http.MethodGet, "/decks/standard52", "", 400},
	"POST /commitments":                  {http.MethodPost, "/commitments", `{"deck":"standard52"}`, 400},
	"POST /shoes/{id}/draw":              {http.MethodPost, drawPath, `{"count":1}`, 380},
	"POST /shuffle of a deck 1000 times": {http.MethodPost, "/shuffle", `{"deck":"standard52","repeat":1000}`, 20},
}

const cards = `["AS","2S","3S","4S","5S","6S","7S","8S","9S","TS","JS","QS","KS","AH","2H","3H","4H","5H","6H","7H","8H","9H","TH","JH","QH","KH",` +
	`"AD","2D","3D","4D","5D","6D","7D","8D","9D","TD","JD","QD","KD","AC","2C","3C","4C","5C","6C","7C","8C","9C","TC","JC","QC","KC"]`

// drawPath is replaced with the path of a new shoe of eight decks, which has enough cards for
// [warmUp] and a measurement.
const drawPath = "/shoes/{id}/draw"

// A service is the handlers over a ledger in a folder of its own, without the network.
type service struct {
	handler http.Handler
	log     *ledger.Log
}

// open makes a service with an empty ledger. It always draws the same seeds, because they decide
// how often the shuffle rejects a word.
func open(t *testing.T) *service {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "riffle.db"))
	require.NoError(t, err)
	return openOn(t, store)
}

func openOn(t *testing.T, store ledger.Store) *service {
	decks, err := deck.Builtin()
	require.NoError(t, err)
	registry := prometheus.NewRegistry()
	metrics := api.NewMetrics(registry, "", "")
	log, err := ledger.Open(t.Context(), store, ledger.Options{Folder: t.TempDir(), Observe: metrics.Commit})
	require.NoError(t, err)
	handler := api.New(api.Options{
		Services: services.New(log, &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1e6, Results: 1e7}}, services.Options{
			Random: rand.NewChaCha8([32]byte{}), ObserveCommitment: metrics.Commitment, ObserveShoe: metrics.ShoeChange,
		}),
		Logger: slog.New(slog.DiscardHandler), Metrics: metrics, Gatherer: registry,
		MaxBody: 16 << 20, Budget: budget.New(512 << 20),
	})
	return &service{handler: handler, log: log}
}

// settle waits until the ledger has published every committed record. On its own it publishes after some
// milliseconds, so how many requests share a publication would depend on the machine.
func (s *service) settle(t *testing.T) {
	s.log.Checkpoint(t.Context())
	committed, published := s.log.Sizes()
	require.Equal(t, committed, published, "the published records")
}

// A writer discards a response, except for its status.
type writer struct {
	header http.Header
	status int
}

func (w *writer) Header() http.Header         { return w.header }
func (w *writer) WriteHeader(status int)      { w.status = status }
func (w *writer) Write(p []byte) (int, error) { return len(p), nil }

// newRequest returns the request, and the path of a new shoe if it draws.
func (s *service) newRequest(t *testing.T, r request) *http.Request {
	path := r.path
	if path == drawPath {
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, jsonRequest(http.MethodPost, "/shoes", `{"deck":"standard52","decks":8}`))
		var made struct {
			ID string `json:"shoe_id"`
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &made))
		require.Equalf(t, http.StatusOK, w.Code, "POST /shoes: %s", w.Body)
		path = strings.Replace(path, "{id}", made.ID, 1)
	}
	return jsonRequest(r.method, path, r.body)
}

func jsonRequest(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// send sends a request so many times, one after the other, each with the publication of its record. It
// allocates next to nothing itself.
func (s *service) send(t *testing.T, r *http.Request, body string, times int) {
	var reader strings.Reader
	r.Body = io.NopCloser(&reader)
	w := &writer{header: http.Header{}}
	for range times {
		reader.Reset(body)
		clear(w.header)
		w.status = http.StatusOK // the default of net/http
		s.handler.ServeHTTP(w, r)
		require.Truef(t, w.status == http.StatusOK, "%s: status %d", r.URL, w.status)
		s.settle(t)
	}
}

// warmUp is the number of requests before a measurement, which fill pools and prepare statements.
const warmUp = 30

// allocated sends a request so many times to a service of its own, and returns the allocations and
// allocated bytes of each.
func allocated(t *testing.T, r request, times int) (allocations, bytes float64) {
	runtime.GC() // the garbage of the previous round; during a round nothing is collected
	s := open(t)
	sent := s.newRequest(t, r)
	s.send(t, sent, r.body, warmUp)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.send(t, sent, r.body, times)
	runtime.ReadMemStats(&after)
	require.NoError(t, s.log.Close())
	each := func(before, after uint64) float64 { return float64(after-before) / float64(times) }
	return each(before.Mallocs, after.Mallocs), each(before.TotalAlloc, after.TotalAlloc)
}
