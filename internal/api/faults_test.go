package api_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
)

// failingAppends fails to append with the error.
func failingAppends(err error) *journaltest.Faults {
	return &journaltest.Faults{Appending: func() error { return err }}
}

// failingReads fails to read for requests.
var failingReads = &journaltest.Faults{Looking: func() error { return errors.New("the disk does not answer") }}

// A brokenReader is a source of randomness, or a body, that fails with the error.
type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// A panickingWriter panics at the first use of the response, as a bug in any handler might.
type panickingWriter struct {
	*httptest.ResponseRecorder
	panicked bool
}

func (w *panickingWriter) Header() http.Header {
	if !w.panicked {
		w.panicked = true
		panic("a bug")
	}
	return w.ResponseRecorder.Header()
}

// panicking returns the service with a handler that panics for every request.
func (s *service) panicking() *service {
	p := *s
	p.panics = true
	return &p
}

// noRandomness returns a service whose random generator fails.
func noRandomness(t testing.TB) *service {
	return start(t, setup{random: brokenReader{errors.New("the generator does not answer")}})
}

// noMemory returns a service without memory for bodies.
func noMemory(t testing.TB) *service { return start(t, setup{memory: 1}) }

// stopping returns a service that stops.
func stopping(t testing.TB) *service {
	s := start(t, setup{})
	s.first = mustShuffle(t, s, `{"size":3}`)
	s.Stop()
	return s
}

// hurried returns a service that ends pictures after a moment.
func hurried(t testing.TB) *service {
	s := start(t, setup{reading: time.Nanosecond})
	s.first = mustShuffle(t, s, `{"size":3}`)
	return s
}

// longShuffle costs about the most that is permitted, and has a short answer.
const longShuffle = `{"size":20000,"draw":1,"repeat":2400,"algorithm":"durstenfeld"}`

// fullOfShuffles returns a service whose callers ask for long shuffles until the test ends. They are
// at one address, and as many as it may have. Their records wait, so the log does not grow.
func fullOfShuffles(t testing.TB) *service {
	var waiting atomic.Bool
	release := make(chan struct{})
	s := start(t, setup{faults: &journaltest.Faults{Appending: func() error {
		if waiting.Load() {
			<-release
		}
		return nil
	}}})
	s.first = mustShuffle(t, s, `{"size":3}`)
	waiting.Store(true)
	ctx, leave := context.WithCancel(t.Context())
	var group sync.WaitGroup
	t.Cleanup(func() {
		leave()
		close(release)
		group.Wait()
	})
	full := make(chan struct{}, 1)
	ask := func() {
		defer func() { _ = recover() }() // http.ErrAbortHandler, when they leave
		w := httptest.NewRecorder()
		s.ServeHTTP(w, post(t, "/shuffle", longShuffle).WithContext(ctx))
		if w.Code == http.StatusTooManyRequests {
			select {
			case full <- struct{}{}:
			default:
			}
		}
	}
	for {
		group.Go(ask)
		select {
		case <-full:
			return s
		case <-time.After(time.Millisecond):
		}
	}
}

// unreadableStore returns a service whose store fails with an unknown error.
func unreadableStore(t testing.TB) *service { return start(t, setup{faults: failingReads}) }

// unavailableStore returns a service whose store became unreachable after the first record.
func unavailableStore(t testing.TB) *service {
	var lost atomic.Bool
	reading := func() error {
		if lost.Load() {
			return ledger.ErrUnavailable
		}
		return nil
	}
	s := start(t, setup{faults: &journaltest.Faults{Looking: reading}})
	s.first = mustShuffle(t, s, `{"size":3,"reference":"a"}`)
	s.waitPublished(t)
	lost.Store(true)
	return s
}

// unpublishedLog returns a service that cannot read records back, and so never publishes them.
func unpublishedLog(t testing.TB) *service {
	return start(t, setup{faults: &journaltest.Faults{Reading: func() error { return ledger.ErrUnavailable }}})
}

// brokenLog returns a service that has failed to append a record.
func brokenLog(t testing.TB) *service {
	s := start(t, setup{faults: failingAppends(errors.New("the disk does not answer"))})
	readBody(t, s.do(post(t, "/shuffle", `{"size":2}`)))
	return s
}

// fullDisk returns a service that has just found its disk full.
func fullDisk(t testing.TB) *service {
	s := start(t, setup{faults: failingAppends(ledger.ErrNoSpace)})
	readBody(t, s.do(post(t, "/shuffle", `{"size":2}`)))
	return s
}

// closedLog returns a service that is stopping.
func closedLog(t testing.TB) *service {
	s := start(t, setup{})
	require.NoError(t, s.log.Close())
	return s
}

// draining returns a service that is about to stop.
func draining(t testing.TB) *service {
	s := start(t, setup{})
	s.Drain(0)
	return s
}

// readableAfterClose returns a service whose store can be read after its log is closed.
func readableAfterClose(t testing.TB) *service {
	return start(t, setup{store: func(s ledger.Store) ledger.Store { return unclosedStore{s} }})
}

// An unclosedStore stays open when its log is closed.
type unclosedStore struct{ ledger.Store }

func (unclosedStore) Close() error { return nil }

// stuck returns a service whose commits wait until the test ends, and a function that sends a
// request there, which is answered then.
func stuck(t testing.TB, o setup) (s *service, send func(*http.Request), committing chan struct{}) {
	committing, release := make(chan struct{}, 2), make(chan struct{})
	o.faults = &journaltest.Faults{Appending: func() error { committing <- struct{}{}; <-release; return nil }}
	s = start(t, o)
	var answered sync.WaitGroup
	t.Cleanup(func() { close(release); answered.Wait() })
	return s, func(r *http.Request) { answered.Go(func() { readBody(t, s.do(r)) }) }, committing
}

// fullQueue returns a service whose queue has room for one record, and has one.
func fullQueue(t testing.TB) *service {
	s, send, committing := stuck(t, setup{queue: 1})
	send(post(t, "/shuffle", `{"size":2}`))
	<-committing // the store has the first record
	send(post(t, "/shuffle", `{"size":2}`))
	for depth := 0; depth == 0; depth, _ = s.log.Queued() {
		runtime.Gosched() // until the second is queued
	}
	return s
}

// requestInFlight returns a service with a request for two numbers in flight that has the key "a".
func requestInFlight(t testing.TB) *service {
	s, send, committing := stuck(t, setup{})
	send(keyed(post(t, "/shuffle", `{"size":2}`), "a"))
	<-committing
	return s
}

// A gathererFunc is a function that gathers metrics.
type gathererFunc func() ([]*dto.MetricFamily, error)

func (f gathererFunc) Gather() ([]*dto.MetricFamily, error) { return f() }

// brokenMetrics returns a service with a metric that cannot be collected.
func brokenMetrics(t testing.TB) *service {
	return start(t, setup{gatherer: gathererFunc(func() ([]*dto.MetricFamily, error) {
		return nil, errors.New("a metric could not be collected")
	})})
}

// deckTypeChanged returns a service that answered the first request before the cards of its deck
// type changed.
func deckTypeChanged(first requestFunc) func(testing.TB) *service {
	return func(t testing.TB) *service {
		s := start(t, setup{
			random: rand.NewChaCha8([32]byte{}), // so that the contract can show the id of the record
			now:    func() time.Time { return time.Date(2026, 11, 21, 9, 55, 0, 0, time.UTC) },
		})
		made := ask[shoeResult](t, s.replica(t, journaltest.OwnDeck("A")), first(t))
		s = s.replica(t, journaltest.OwnDeck("B"))
		s.shoe = made.path()
		return s
	}
}

// deckTypeOfShoeChanged returns a service with a shoe that was made before the cards of its deck
// type changed.
var deckTypeOfShoeChanged = deckTypeChanged(postFunc("/shoes", `{"deck":"own"}`))

// lateShoe returns a service with a shoe that has expired, which is not recorded yet.
func lateShoe(t testing.TB) *service {
	c := &clock{now: time.Now()}
	s := start(t, setup{now: c.Now})
	s.shoe = mustCreateShoe(t, s, `{"size":3,"expires_in":60}`).path()
	c.Set(c.Now().Add(time.Minute))
	return s
}

// slow makes the body of a request time out.
func slow(r *http.Request) { r.Body = io.NopCloser(brokenReader{os.ErrDeadlineExceeded}) }

// mediaType returns a function that sets the media type of a request.
func mediaType(media string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Content-Type", media) }
}
