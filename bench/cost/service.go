package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/deck"
	"riffle/internal/httpjson"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
	"riffle/internal/services"
)

// A service is the handlers over a ledger in a folder of its own: all but the network.
type service struct {
	handler http.Handler
	log     *ledger.Log
	folder  string
}

// open makes a service with an empty ledger. Its seeds are the same every time, because they decide
// how often a word is rejected.
func open(ctx context.Context) (_ *service, err error) {
	folder, err := os.MkdirTemp("", "riffle-cost-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	decks, err := deck.Builtin()
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(folder, "riffle.db"))
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	metrics := api.NewMetrics(registry, "", "")
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: folder, Observe: metrics.Log(access.MainLog).Commit})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	handler := api.New(api.Options{
		Logger: slog.New(slog.DiscardHandler), Metrics: metrics, Gatherer: registry,
		MaxBody: 16 << 20, Budget: httpjson.NewBudget(512 << 20),
	})
	handler.LogNamed(access.MainLog).Open(services.New(log, &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1e6, Results: 1e7}}, services.Options{
		Random: metrics.Log(access.MainLog).Random(rand.NewChaCha8([32]byte{})), ObserveCommitment: metrics.Log(access.MainLog).Commitment, ObserveShoe: metrics.Log(access.MainLog).ShoeChange,
	}))
	return &service{handler: handler, log: log, folder: folder}, nil
}

func (s *service) close() error { return errors.Join(s.log.Close(), os.RemoveAll(s.folder)) }

// settle waits until everything that was committed has been published. By itself the ledger
// publishes every few milliseconds, so that a request would cost more on a slow machine.
func (s *service) settle(ctx context.Context) error {
	s.log.Checkpoint(ctx)
	if committed, published := s.log.Sizes(); committed != published {
		return fmt.Errorf("%d records were committed, but %d published", committed, published)
	}
	return nil
}

// A sender sends one request again and again and allocates next to nothing itself.
type sender struct {
	service *service
	request *request
	sent    *http.Request
	body    strings.Reader
	writer  writer
}

// A writer discards a response but for its status.
type writer struct {
	header http.Header
	status int
}

func (w *writer) Header() http.Header         { return w.header }
func (w *writer) WriteHeader(status int)      { w.status = status }
func (w *writer) Write(p []byte) (int, error) { return len(p), nil }

func newSender(service *service, r *request) (_ *sender, err error) {
	path := r.path
	if r.before != nil {
		if path, err = r.before(service.handler); err != nil {
			return nil, err
		}
	}
	s := &sender{service: service, request: r, sent: newRequest(r.method, path, r.body), writer: writer{header: http.Header{}}}
	s.sent.Body = io.NopCloser(&s.body)
	return s, nil
}

// settleEvery is how many requests are published together.
const settleEvery = 10

// send sends the request so many times, one after the other.
func (s *sender) send(ctx context.Context, times int) error {
	for i := range times {
		s.body.Reset(s.request.body)
		clear(s.writer.header)
		s.writer.status = http.StatusOK // the default of net/http
		s.service.handler.ServeHTTP(&s.writer, s.sent)
		if s.writer.status != http.StatusOK {
			return fmt.Errorf("status %d", s.writer.status)
		}
		if (i+1)%settleEvery == 0 {
			if err := s.service.settle(ctx); err != nil {
				return err
			}
		}
	}
	return s.service.settle(ctx)
}

// warmUp is how often a request is sent before it is measured, so that pools are full and
// statements are prepared.
const warmUp = 30

// allocated sends a request so many times to a service of its own, and returns how many allocations
// and bytes the process made for each.
func allocated(ctx context.Context, r *request, times int) (allocations, bytes float64, err error) {
	runtime.GC() // the garbage of the previous round; during a round nothing is collected
	s, err := open(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	sender, err := newSender(s, r)
	if err != nil {
		return 0, 0, err
	}
	if err := sender.send(ctx, warmUp); err != nil {
		return 0, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := sender.send(ctx, times); err != nil {
		return 0, 0, err
	}
	runtime.ReadMemStats(&after)
	each := func(before, after uint64) float64 { return float64(after-before) / float64(times) }
	return each(before.Mallocs, after.Mallocs), each(before.TotalAlloc, after.TotalAlloc), nil
}
