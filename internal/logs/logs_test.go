package logs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/api"
	"riffle/internal/budget"
	"riffle/internal/dealer"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
)

var errDisk = errors.New("input/output error")

// A fakeOpener opens SQLite stores, or fails, and counts its attempts.
type fakeOpener struct {
	t   *testing.T
	log journaltest.Buffer

	mu       sync.Mutex
	failing  error // of open
	broken   bool  // appends fail
	attempts int
}

func (f *fakeOpener) open(ctx context.Context, s *Settings) (ledger.Store, error) {
	f.mu.Lock()
	f.attempts++
	err := f.failing
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, s.StoreFile())
	return &journaltest.Faults{Store: store, Appending: func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.broken {
			return errDisk
		}
		return nil
	}}, err
}

// set changes what happens: opening a store fails with err, and appends fail if broken.
func (f *fakeOpener) set(err error, broken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing, f.broken = err, broken
}

// start opens the log in a folder.
func (f *fakeOpener) start(folder string) (*Set, error) {
	metrics := api.NewMetrics(prometheus.NewRegistry(), "", "")
	logger := slog.New(slog.NewTextHandler(&f.log, nil))
	routes := api.New(api.Options{Logger: logger, Metrics: metrics, Gatherer: prometheus.NewRegistry(), MaxBody: 1 << 20, Budget: budget.New(1 << 26)})
	return Open(f.t.Context(), Options{
		Logs:      []*Settings{{Folder: folder, Create: CreateAuto, Deadline: dealer.DefaultDeadline}},
		OpenStore: f.open, Limits: plan.Limits{Items: 100, Results: 100}, Logger: logger,
		Door: func(string) Door { return routes }, Observer: func(string) Observer { return metrics },
	})
}

func (f *fakeOpener) mustStart(folder string) *Set {
	f.t.Helper()
	s, err := f.start(folder)
	require.NoError(f.t, err)
	return s
}

// TestOnlyLogFails checks that the log is not opened again: its failure ends the process.
func TestOnlyLogFails(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeOpener{t: t}
		f.set(errDisk, false)
		_, err := f.start(folder)
		assert.ErrorIs(t, err, errDisk, "the only log fails to open")
		f.set(nil, false)
		s := f.mustStart(folder)
		f.set(nil, true)
		_, err = s.logs[0].services.Log.Append(ledgertest.Entries("fails", 1)[0])
		assert.Error(t, err, "an append to a broken store succeeded")
		synctest.Wait()
		f.set(nil, false)
		select {
		case <-s.Failed():
		default:
			t.Error("the log has not failed")
		}
		time.Sleep(5 * time.Minute)
		assert.Equal(t, 2, f.attempts, "the log was opened again after the two starts")
		err = s.Close(nil)
		assert.Truef(t, errors.Is(err, errDisk) && err.Error() == s.Err().Error(), "closing a failed log: %v", err)
		err = s.Close(s.Err())
		assert.Equalf(t, s.Err().Error(), err.Error(), "the failure is reported twice: %v", err)
		_ = s.logs[0].services.Log.Close() // its goroutines must end with the test
	})
}
