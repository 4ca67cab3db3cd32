package logs

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
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

// A fakeOpener opens SQLite stores, or fails, and records its attempts.
type fakeOpener struct {
	t   *testing.T
	log journaltest.Buffer

	mu       sync.Mutex
	failing  map[string]error       // by log: the error of open
	broken   map[string]bool        // by log: appends fail
	attempts map[string][]time.Time // by log

	delays map[string]time.Duration // by log: the time that open takes
}

func newFakeOpener(t *testing.T) *fakeOpener {
	return &fakeOpener{t: t, failing: map[string]error{}, broken: map[string]bool{}, attempts: map[string][]time.Time{}}
}

func (f *fakeOpener) open(ctx context.Context, s *Settings) (ledger.Store, error) {
	f.mu.Lock()
	f.attempts[s.Name] = append(f.attempts[s.Name], time.Now())
	err := f.failing[s.Name]
	f.mu.Unlock()
	time.Sleep(f.delays[s.Name])
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, s.StoreFile())
	return &journaltest.Faults{Store: store, Appending: func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.broken[s.Name] {
			return errDisk
		}
		return nil
	}}, err
}

// set changes what happens to a log: opening it fails with err, and its appends fail if broken.
func (f *fakeOpener) set(log string, err error, broken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing[log], f.broken[log] = err, broken
}

// pauses returns the time between the attempts to open a log, and forgets them.
func (f *fakeOpener) pauses(log string) (pauses []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, at := range f.attempts[log] {
		if i > 0 {
			pauses = append(pauses, at.Sub(f.attempts[log][i-1]))
		}
	}
	f.attempts[log] = nil
	return pauses
}

// start opens logs in a folder. The first name is the main log's.
func (f *fakeOpener) start(folder string, names ...string) (*Set, error) {
	metrics := api.NewMetrics(prometheus.NewRegistry(), "", "")
	logger := slog.New(slog.NewTextHandler(&f.log, nil))
	routes := api.New(api.Options{Logger: logger, Metrics: metrics, Logs: names[1:], Gatherer: prometheus.NewRegistry(), MaxBody: 1 << 20, Budget: budget.New(1 << 26)})
	o := Options{
		OpenStore: f.open, Limits: plan.Limits{Items: 100, Results: 100}, Logger: logger,
		Door: func(log string) Door { return routes.LogNamed(log) }, Observer: func(log string) Observer { return metrics.Log(log) },
	}
	for i, name := range names {
		s := &Settings{Name: name, Folder: folder, Create: CreateAuto, Deadline: dealer.DefaultDeadline}
		if i > 0 {
			s.Folder = FolderFor(folder, name)
		}
		o.Logs = append(o.Logs, s)
	}
	return Open(f.t.Context(), o)
}

func (f *fakeOpener) mustStart(folder string, names ...string) *Set {
	f.t.Helper()
	s, err := f.start(folder, names...)
	require.NoError(f.t, err)
	return s
}

func mustClose(t *testing.T, s *Set) {
	t.Helper()
	assert.NoError(t, s.Close(nil))
}

// isOpen reports whether a log is open.
func (s *Set) isOpen(name string) bool {
	_, err := s.OpenShoes(context.Background(), name)
	return err == nil
}

func (s *Set) find(name string) *served {
	return s.logs[slices.IndexFunc(s.logs, func(l *served) bool { return l.Name == name })]
}

// fail breaks a log by an append that its store refuses.
func (f *fakeOpener) fail(s *Set, name string) {
	f.t.Helper()
	f.set(name, nil, true)
	_, err := s.find(name).services.Log.Append(ledgertest.Entries(name+" fails", 1)[0])
	assert.Error(f.t, err, "an append to a broken store succeeded")
	synctest.Wait()
	f.set(name, nil, false)
}

func TestReopensAfterDoublingPauses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeOpener(t)
		f.set("poker", errDisk, false)
		s := f.mustStart(folder, access.MainLog, "poker")
		time.Sleep(200 * time.Second)
		assert.False(t, s.isOpen("poker"), "the failing log is open, or the other one is not")
		assert.True(t, s.isOpen(access.MainLog), "the failing log is open, or the other one is not")
		second := time.Second
		want := []time.Duration{second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, 60 * second, 60 * second}
		assert.Equal(t, want, f.pauses("poker"), "pauses")
		f.set("poker", nil, false)
		time.Sleep(time.Minute)
		assert.True(t, s.isOpen("poker"), "the log is not open again")
		assert.Contains(t, f.log.String(), `"the log is open again" log=poker`, "the log is not open again")

		// A log that fails within a minute is opened again after the last pause, and later after the first.
		f.pauses("poker")
		for _, c := range []struct{ lasts, pause time.Duration }{{2 * time.Second, time.Minute}, {2 * time.Minute, time.Second}} {
			time.Sleep(c.lasts)
			f.fail(s, "poker")
			failed := time.Now()
			assert.False(t, s.isOpen("poker"), "the failed log is open")
			for !s.isOpen("poker") {
				time.Sleep(100 * time.Millisecond)
			}
			pause := time.Since(failed).Round(second)
			assert.Equalf(t, c.pause, pause, "a log that failed after %v was opened again after", c.lasts)
		}
		assert.Empty(t, f.pauses(access.MainLog), "the main log was opened again")
		mustClose(t, s)
	})
}

// TestLostLogStaysClosed takes away the folder of a failed log, and puts an empty one in its place.
func TestLostLogStaysClosed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeOpener(t)
		s := f.mustStart(folder, access.MainLog, "poker")
		poker := FolderFor(folder, "poker")
		mustRename(t, poker, poker+".away")
		f.fail(s, "poker")
		require.NoError(t, os.Mkdir(poker, 0o700))
		time.Sleep(time.Minute)
		entries, err := os.ReadDir(poker)
		assert.Truef(t, err == nil && len(entries) == 0 && !s.isOpen("poker"), "a log was created in place of the lost one: %v %v", entries, err)
		assert.Contains(t, f.log.String(), "this process has had it open", "the log")
		require.NoError(t, os.Remove(poker))
		mustRename(t, poker+".away", poker)
		time.Sleep(time.Minute)
		assert.True(t, s.isOpen("poker"), "the log is still closed after its folder was put back")
		mustClose(t, s)
	})
}

// TestLogPutBackAmongOthers exchanges the folders of two logs for copies: poker's has fewer records,
// and bridge's was continued elsewhere. Continuing either would sign a second history.
func TestLogPutBackAmongOthers(t *testing.T) {
	t.Parallel()
	folder, elsewhere := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		names := []string{"poker", "bridge"}
		f := newFakeOpener(t)
		s := f.mustStart(folder, access.MainLog, "poker", "bridge")
		f.append(s, names, "first", 1)
		mustClose(t, s)
		require.NoError(t, os.CopyFS(elsewhere, os.DirFS(folder)))
		s = f.mustStart(elsewhere, access.MainLog, "poker", "bridge")
		f.append(s, names[1:], "elsewhere", 5)
		mustClose(t, s)
		exchange := func() {
			for _, name := range names {
				original, other := FolderFor(folder, name), FolderFor(elsewhere, name)
				mustRename(t, original, original+".away")
				mustRename(t, other, original)
				mustRename(t, original+".away", other)
			}
		}

		s = f.mustStart(folder, access.MainLog, "poker", "bridge")
		f.append(s, names, "answered", 2)
		exchange()
		f.fail(s, "poker")
		f.fail(s, "bridge")
		time.Sleep(5 * time.Minute)
		for name, want := range map[string]string{"poker": "the store lost records", "bridge": "are of two histories"} {
			assert.Falsef(t, s.isOpen(name), "a copy of %s was opened, or there is no error", name)
			assert.Containsf(t, f.log.String(), want, "a copy of %s was opened, or there is no error", name)
		}
		exchange()
		time.Sleep(2 * time.Minute)
		for _, name := range names {
			if !s.isOpen(name) {
				t.Errorf("%s is still closed after its folder was put back", name)
			} else if size, _ := s.find(name).services.Log.Sizes(); size != 3 {
				t.Errorf("%s has %d records, want 3", name, size)
			}
		}
		mustClose(t, s)

		exchange() // the refused copies have the process's checkpoint now, so a restart refuses them
		s = f.mustStart(folder, access.MainLog, "poker", "bridge")
		assert.False(t, s.isOpen("poker"), "a restart opened a copy")
		assert.False(t, s.isOpen("bridge"), "a restart opened a copy")
		mustClose(t, s)
	})
}

// append adds n records to each of the logs.
func (f *fakeOpener) append(s *Set, names []string, label string, n int) {
	f.t.Helper()
	for _, name := range names {
		for _, entry := range ledgertest.Entries(name+label, n) {
			_, err := s.find(name).services.Log.Append(entry)
			require.NoError(f.t, err)
		}
	}
}

func mustRename(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.Rename(from, to))
}

// TestOnlyLogFails checks that a single log is not opened again: its failure ends the process.
func TestOnlyLogFails(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeOpener(t)
		f.set(access.MainLog, errDisk, false)
		_, err := f.start(folder, access.MainLog)
		assert.ErrorIs(t, err, errDisk, "the only log fails to open")
		f.set(access.MainLog, nil, false)
		s := f.mustStart(folder, access.MainLog)
		f.fail(s, access.MainLog)
		select {
		case <-s.Failed():
		default:
			t.Error("the log has not failed")
		}
		time.Sleep(5 * time.Minute)
		if got := f.pauses(access.MainLog); len(got) != 1 { // of the two starts
			t.Errorf("the log was opened again after %v", got)
		}
		err = s.Close(nil)
		assert.Truef(t, errors.Is(err, errDisk) && err.Error() == s.Err().Error(), "closing a failed log: %v", err)
		err = s.Close(s.Err())
		assert.Equalf(t, s.Err().Error(), err.Error(), "the failure is reported twice: %v", err)
		_ = s.logs[0].services.Log.Close() // its goroutines must end with the test
	})
}

// TestStartNeedsOneLog starts with several failing logs, and then with one that opens.
func TestStartNeedsOneLog(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeOpener(t)
		for _, name := range []string{access.MainLog, "poker", "bridge"} {
			f.set(name, errors.New(name+" is away"), false)
		}
		_, err := f.start(folder, access.MainLog, "poker", "bridge")
		for _, want := range []string{"the log main: main is away", "the log poker: poker is away", "the log bridge: bridge is away"} {
			assert.Error(t, err, "error")
			assert.Contains(t, err.Error(), want, "error")
		}
		f.set("bridge", nil, false)
		s := f.mustStart(folder, access.MainLog, "poker", "bridge")
		assert.True(t, s.Failed() == nil && s.isOpen("bridge") && !s.isOpen("poker"), "bridge alone is to be open")
		mustClose(t, s)
	})
}

// TestStartDoesNotWaitForSlowLogs opens one log, and another one whose store takes a minute.
func TestStartDoesNotWaitForSlowLogs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeOpener(t)
		f.delays = map[string]time.Duration{"poker": time.Minute}
		began := time.Now()
		s := f.mustStart(folder, access.MainLog, "poker")
		assert.Equal(t, startTimeout, time.Since(began), "the start took")
		assert.False(t, s.isOpen("poker"), "the start took")
		time.Sleep(time.Minute)
		assert.True(t, s.isOpen("poker"), "the slow log is not open after a minute")
		mustClose(t, s)
	})
}

// TestOneKeyServesOneLog copies the folder of a log: two histories would have one key.
func TestOneKeyServesOneLog(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeOpener(t)
		mustClose(t, f.mustStart(folder, access.MainLog, "poker"))
		require.NoError(t, os.CopyFS(FolderFor(folder, "bridge"), os.DirFS(FolderFor(folder, "poker"))))
		s := f.mustStart(folder, access.MainLog, "poker", "bridge")
		synctest.Wait()
		assert.NotEqual(t, s.isOpen("bridge"), s.isOpen("poker"), "two logs with one key")
		assert.Contains(t, f.log.String(), "its key is also the key of the log", "two logs with one key")
		mustClose(t, s)
	})
}

func TestUnnamedLogs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	f := newFakeOpener(t)
	mustClose(t, f.mustStart(folder, access.MainLog, "poker", "bridge"))
	const warning = "a folder has a log that the configuration does not name"
	assert.NotContains(t, f.log.String(), warning, "a warning about named logs")
	mustClose(t, f.mustStart(folder, access.MainLog, "poker"))
	if got := f.log.String(); strings.Count(got, warning) != 1 || !strings.Contains(got, filepath.Join(folder, "logs", "bridge")) {
		t.Errorf("no warning about the folder of bridge:\n%s", got)
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "logs", "bridge", "riffle.db"), []byte("garbage"), 0o600))
	_, err := f.start(folder, access.MainLog)
	assert.ErrorContains(t, err, "counting its open shoes failed", "a log that cannot be read")
}
