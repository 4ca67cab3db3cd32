package openlog

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/api"
	"riffle/internal/dealer"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
)

var errDisk = errors.New("input/output error")

// start opens the log in a folder, whose store fails to open with an error, or rejects appends.
func start(t *testing.T, folder string, failing error) (*Log, error) {
	return Open(t.Context(), &Settings{Folder: folder, Create: CreateAuto, Deadline: dealer.DefaultDeadline}, Options{
		OpenStore: func(ctx context.Context, s *Settings) (ledger.Store, error) {
			if failing != nil {
				return nil, failing
			}
			store, err := sqlite.Open(ctx, s.StoreFile())
			return &journaltest.Faults{Store: store, Appending: func() error { return errDisk }}, err
		},
		Limits: plan.Limits{Items: 100, Results: 100}, Logger: slog.New(slog.DiscardHandler),
		Observer: api.NewMetrics(prometheus.NewRegistry(), "", ""),
	})
}

// Close leaves a failed log to the next start, and reports its failure once.
func TestCloseAfterFailure(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		_, err := start(t, folder, errDisk)
		require.ErrorIs(t, err, errDisk)
		l, err := start(t, folder, nil)
		require.NoError(t, err)
		l.Tend(func(error) {})
		_, err = l.Log.Append(ledgertest.Entries("fails", 1)[0])
		require.Error(t, err, "an append to a broken store succeeded")
		<-l.Log.Failed()
		failure := l.Log.Err()
		err = l.Close(nil)
		assert.Truef(t, errors.Is(err, errDisk) && err.Error() == failure.Error(), "closing a failed log: %v", err)
		assert.EqualError(t, l.Close(failure), failure.Error(), "the failure is reported twice")
		_ = l.Log.Close() // its goroutines must end with the test
	})
}
