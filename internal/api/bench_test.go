package api

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"riffle/internal/access"
	"riffle/internal/budget"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
	"riffle/internal/services"
)

// discard is a ResponseWriter that discards the body.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkHandler measures requests without the network, with many goroutines that share commits.
func BenchmarkHandler(b *testing.B) {
	folder := b.TempDir()
	store, err := sqlite.Open(b.Context(), filepath.Join(folder, "riffle.db"))
	if err != nil {
		b.Fatal(err)
	}
	metrics := NewMetrics(prometheus.NewRegistry(), "", "")
	log, err := ledger.Open(b.Context(), store, ledger.Options{Folder: folder, Observe: metrics.Log(access.MainLog).Commit})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	decks, err := deck.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	a := New(Options{
		Logger: slog.New(slog.DiscardHandler), Metrics: metrics, Gatherer: prometheus.NewRegistry(),
		MaxBody: 16 << 20, Budget: budget.New(512 << 20),
	})
	a.LogNamed(access.MainLog).Open(services.New(log, &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1e6, Results: 1e7}}, services.Options{Random: metrics.Log(access.MainLog).Random(rand.Reader)}))
	var cards []string
	for i := range 52 {
		cards = append(cards, fmt.Sprintf(`"%02d"`, i))
	}
	body := []byte(`{"items":[` + strings.Join(cards, ",") + `]}`)
	for _, v := range []struct {
		name, method, target string
		body                 []byte
	}{{"items52", "POST", "/shuffle", body}, {"standard52", "GET", "/decks/standard52", nil}} {
		b.Run(v.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				r := httptest.NewRequest(v.method, v.target, nil)
				r.Header.Set("Content-Type", "application/json")
				for pb.Next() {
					r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(v.body)), int64(len(v.body))
					w := &discard{header: http.Header{}}
					a.ServeHTTP(w, r)
					if w.status != http.StatusOK {
						b.Fatalf("status %d", w.status)
					}
				}
			})
		})
	}
}
