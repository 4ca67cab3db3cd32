package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/postgres/postgrestest"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		require.False(t, time.Now().After(deadline), "the condition did not hold for a minute")
	}
}

// An absentStandby is a server whose commits can wait for a standby that does not exist.
type absentStandby struct {
	*postgrestest.Cluster
	url string // of an empty database
}

func newAbsentStandby(t *testing.T) absentStandby {
	t.Helper()
	requireServer(t)
	c := postgrestest.For(t)
	return absentStandby{c, c.URL(c.NewDatabase(t))}
}

// wait makes commits wait from now on, or ends all waits.
func (s absentStandby) wait(t *testing.T, wait bool) {
	t.Helper()
	names := "''"
	if wait {
		names = "'standby'"
	}
	execute(t, s.Cluster, "ALTER SYSTEM SET synchronous_standby_names = "+names, "SELECT pg_reload_conf()")
	eventually(t, func() bool {
		return query(t, s.url, "SELECT current_setting('synchronous_standby_names')")[0] == strings.Trim(names, "'")
	})
	execute(t, s.Cluster, "CHECKPOINT") // the checkpointer tells the other processes
}

// waiting calls a function for every session whose commit waits, and returns their number.
func (s absentStandby) waiting(t *testing.T, function string) int {
	t.Helper()
	return len(query(t, s.url, "SELECT "+function+"(pid)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))
}

func (s absentStandby) size(t *testing.T) string {
	t.Helper()
	return query(t, s.url, "SELECT count(*)::text FROM entries")[0]
}

// openLog opens a log whose statements have a short time limit, until the end of the test.
func (s absentStandby) openLog(t *testing.T, url, key string) *ledger.Log {
	t.Helper()
	l := openLogWithin(t, 2*time.Second, url, key)
	t.Cleanup(func() { closeStore(t, l) })
	return l
}

func startAppend(l *ledger.Log, e ledger.Entry) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := l.Append(e)
		done <- err
	}()
	return done
}

func wantNotAnswered(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Fatalf("the append returned %v, want it to wait for the standby", err)
	default:
	}
}

func wantAnswered(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		assert.NoError(t, err, "the append")
	case <-time.After(time.Minute):
		t.Fatal("the append did not return for a minute")
	}
}

// wantNotConfirmed checks that a log neither publishes nor returns a record that is visible in the
// database.
func wantNotConfirmed(t *testing.T, l *ledger.Log, id uuid.UUID) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	e, err := l.ByID(ctx, id)
	assert.ErrorIsf(t, err, ledger.ErrUnavailable, "a record that no standby has was read: %v", e)
	committed, published := l.Sizes()
	assert.Truef(t, committed == 0 && published == 0, "of a log whose only record no standby has, %d records are committed and %d published", committed, published)
}

// A visible commit without its standby is not answered, read or published.
func TestVisibleCommitIsNotDurable(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			s, key := newAbsentStandby(t), newKeyFile(t)
			l, other := s.openLog(t, s.url, key), s.openLog(t, s.url, key)
			s.wait(t, true)
			e := ledgertest.Entries("waiting", 1)[0]
			done := startAppend(l, e)
			eventually(t, func() bool { return s.waiting(t, function) > 0 })
			eventually(t, func() bool { return s.size(t) == "1" })
			wantNotConfirmed(t, other, e.ID)
			wantNotConfirmed(t, l, e.ID)
			wantNotAnswered(t, done)

			s.wait(t, false)
			wantAnswered(t, done)
			for _, l := range []*ledger.Log{l, other} {
				if found, err := l.ByID(t.Context(), e.ID); err != nil || found.Index != 0 {
					t.Errorf("the record once a standby has it: %+v, %v", found, err)
				}
				_, err := l.Prove(t.Context(), 0)
				assert.NoError(t, err, "a proof of it")
			}
		})
	}
}

// A log that starts on such a commit waits too.
func TestOpenConfirmsTheHead(t *testing.T) {
	t.Parallel()
	s, key := newAbsentStandby(t), newKeyFile(t)
	l := s.openLog(t, s.url, key)
	s.wait(t, true)
	done := startAppend(l, ledgertest.Entries("waiting", 1)[0])
	eventually(t, func() bool { return s.waiting(t, "pg_cancel_backend") > 0 })

	store := open(t, s.url)
	folder := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	l, err := ledger.Open(ctx, store, ledger.Options{Folder: folder, KeyFile: key})
	assert.Errorf(t, err, "a log was opened whose head no standby has: %v", l)
	s.wait(t, false)
	wantAnswered(t, done)
	l, err = ledger.Open(t.Context(), store, ledger.Options{Folder: folder, KeyFile: key})
	require.NoError(t, err)
	closeStore(t, l)
}

// An append outlasts the time limit and lost connections, and the server is never asked to cancel
// it. A role's statement_timeout has no effect on it, but connecting must fit.
func TestAppendIsNeverCanceled(t *testing.T) {
	t.Parallel()
	s, key := newAbsentStandby(t), newKeyFile(t)
	// Only in this database: the test's own CHECKPOINT on a busy disk takes longer.
	execute(t, s.Cluster, "ALTER ROLE riffle IN DATABASE "+database(t, s.url)+" SET statement_timeout = '1s'")
	proxy := newProxy(t, s.Cluster)
	l := s.openLog(t, proxy.url(t, s.url), key)
	s.wait(t, true)
	e := ledgertest.Entries("waiting", 1)[0]
	done := startAppend(l, e)
	eventually(t, func() bool { // after the time limit, the next session waits for the head's row
		return len(query(t, s.url, "SELECT pid::text FROM pg_stat_activity WHERE wait_event_type = 'Lock'")) > 0
	})
	wantNotAnswered(t, done)
	assert.EqualValues(t, 0, proxy.cancels.Load(), "the server was asked")
	assert.Equal(t, 1, s.waiting(t, ""))
	assert.Equal(t, "0", s.size(t))
	s.wait(t, false)
	wantAnswered(t, done)
	assert.EqualValues(t, 0, proxy.cancels.Load(), "afterwards there")
	assert.Equal(t, "1", s.size(t), "afterwards there")
}

func TestConnectRejectsLocalCommitsWithStandby(t *testing.T) {
	t.Parallel()
	s := newAbsentStandby(t)
	execute(t, s.Cluster, "ALTER ROLE riffle SET synchronous_commit = local")
	closeStore(t, open(t, s.url)) // without standbys this is no difference
	s.wait(t, true)
	err := openError(t, s.url)
	assert.ErrorIs(t, err, errNotDurable)
	assert.ErrorContains(t, err, "set synchronous_commit to on")
}
