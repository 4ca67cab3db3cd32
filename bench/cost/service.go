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

	"riffle/internal/api"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

// A service is all of it but the network: handlers over a ledger in a folder of its own.
type service struct {
	handler http.Handler
	log     *ledger.Log
	folder  string
}

// open makes a service whose ledger is empty. Its seeds are the same every time, for they decide how often an integer is
// thrown away.
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
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: folder, Observe: metrics.Commit})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	handler := api.New(api.Options{
		Dealer: dealer.New(log, decks, dealer.Options{
			Random: metrics.Random(rand.NewChaCha8([32]byte{})), Observe: metrics.Deal,
			Limits: dealer.Limits{Items: 1e6, Results: 1e7},
		}),
		Decks: decks, Log: log, Logger: slog.New(slog.DiscardHandler), Metrics: metrics, Gatherer: registry,
		MaxBody: 16 << 20, Memory: 512 << 20,
	})
	return &service{handler: handler, log: log, folder: folder}, nil
}

func (s *service) close() error { return errors.Join(s.log.Close(), os.RemoveAll(s.folder)) }

// settle waits until all that was committed has been read back. Left alone the ledger reads back every few milliseconds,
// so that what a request costs it would be more on a slow machine.
func (s *service) settle(ctx context.Context) error {
	s.log.Checkpoint(ctx)
	if committed, published := s.log.Sizes(); committed != published {
		return fmt.Errorf("of %d records, %d were read back", committed, published)
	}
	return nil
}

// A sender sends one request over and over. What it allocates itself is next to nothing.
type sender struct {
	service *service
	request *request
	sent    *http.Request
	body    strings.Reader
	answer  answer
}

// An answer keeps nothing of what is answered, but the status.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return len(p), nil }

func newSender(service *service, r *request) (_ *sender, err error) {
	path := r.path
	if r.before != nil {
		if path, err = r.before(service.handler); err != nil {
			return nil, err
		}
	}
	s := &sender{service: service, request: r, sent: newRequest(r.method, path, r.body), answer: answer{header: http.Header{}}}
	s.sent.Body = io.NopCloser(&s.body)
	return s, nil
}

// together is how many requests are read back together.
const together = 10

// send sends the request so many times, each after the answer to the one before.
func (s *sender) send(ctx context.Context, times int) error {
	for i := range times {
		s.body.Reset(s.request.body)
		clear(s.answer.header)
		s.answer.status = http.StatusOK // which a handler need not write
		s.service.handler.ServeHTTP(&s.answer, s.sent)
		if s.answer.status != http.StatusOK {
			return fmt.Errorf("answered %d", s.answer.status)
		}
		if (i+1)%together == 0 {
			if err := s.service.settle(ctx); err != nil {
				return err
			}
		}
	}
	return s.service.settle(ctx)
}

// warmUp is how often a request is sent before it is measured, so that pools are full and statements are prepared.
const warmUp = 30

// allocated sends a request so many times to a service of its own, and returns how much the whole process allocated for each:
// how many pieces of memory, and how many bytes.
func allocated(ctx context.Context, r *request, times int) (allocations, bytes float64, err error) {
	runtime.GC() // what the round before has left behind; in between nothing is collected
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
