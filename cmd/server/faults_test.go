package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKilledAtAnyWriteLosesNoRecord kills the server at its Nth fsync or write to the store, and
// erases writes that were not fsynced, as if the power had failed (F1).
func TestKilledAtAnyWriteLosesNoRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		call  string
		fresh bool // with a new data folder each time, so that creating the tables counts too
		file  string
		body  string
		some  []int // the sample of Ns
	}{
		{"fsync from the first start", "fsync", true, "", smallShuffle, sequence(1, 15, 2)},
		{"write from the first start", "pwrite64", true, "", smallShuffle, sequence(1, 80, 8)},
		{"fsync of the log", "fsync", false, "riffle.db-wal", smallShuffle, sequence(1, 10, 2)},
		{"write of the log", "pwrite64", false, "riffle.db-wal", smallShuffle, sequence(1, 25, 3)},
		{"write while checkpointing", "pwrite64", false, "riffle.db", largeShuffle, []int{300}},
		{"fsync while checkpointing", "fsync", false, "riffle.db", largeShuffle, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// Unless fresh, one log grows from run to run and is recovered after each.
			data, answered := "", []shuffled(nil)
			hit, lost, ns := 0, 0, c.some
			if everyFault {
				ns = sequence(1, 5000, 1)
				if c.body == largeShuffle {
					ns = sequence(1, 5000, 50) // each takes seconds to reach
				}
			}
			// After five misses in a row, no thread makes N calls.
			for i, misses := 0, 0; i < len(ns) && misses < 5; i++ {
				if c.fresh {
					data, answered = filepath.Join(t.TempDir(), "data"), nil
				} else if data == "" {
					data, _, _ = newStore(t)
				}
				var files []string
				if c.file != "" {
					files = []string{filepath.Join(data, c.file)}
				}
				under, log := strace(t, fmt.Sprintf("%s:signal=KILL:when=%d", c.call, ns[i]), files...)
				s := launch{data: data, wrapper: under}.startOrExit(t)
				killed := s.addr == ""
				if !killed {
					times := 6
					if c.body == largeShuffle {
						times = 200
					}
					l := s.load(8, times, c.body)
					answered = append(answered, l.answered...)
					killed = len(l.failed) > 0
				}
				if killed {
					code := s.wait()
					assert.Equalf(t, -1, code,
						"N = %d: the server was not killed but exited with %d:\n%s", ns[i], code, s.log)
					hit++
					misses = 0
				} else {
					s.kill()
					misses++
				}
				lost += s.losePower(log)
				s = launch{data: data}.start(t)
				size := s.checkLog("fault", answered)
				s.stop() // which leaves an empty write-ahead log to the next run
				if everyFault {
					t.Logf("N = %d: %d answered so far, the log has %d", ns[i], len(answered), size)
				}
			}
			assert.True(t, hit != 0 || len(ns) == 0, "the server was never killed")
			t.Logf("killed %d times, %d answers in the last log; %d writes were lost", hit, len(answered), lost)
		})
	}
}

// TestKilledUnderLoadLosesNoRecord kills the server at arbitrary moments on one growing log, and erases
// writes that were not fsynced. Fsyncs are slow, so most kills find such writes.
func TestKilledUnderLoadLosesNoRecord(t *testing.T) {
	t.Parallel()
	data, store, wal := newStore(t)
	random := rand.New(rand.NewPCG(1, 2)) // roughly the same moments on each run
	var answered []shuffled
	lost := 0
	for range 5 {
		under, log := strace(t, "fsync:delay_enter=20000", store, wal)
		s := launch{data: data, wrapper: under}.start(t)
		s.checkLog("fault", answered)
		done := make(chan *loadResult)
		go func() { done <- s.load(8, 1<<30, smallShuffle) }()
		enough := float64(20 + random.IntN(200))
		until(t, "some shuffles are answered", func() bool { return s.metric("riffle_items_shuffled_total", "") >= 20*enough })
		s.kill()
		answered = append(answered, (<-done).answered...)
		lost += s.losePower(log)
	}
	assert.NotEqual(t, 0, lost, "the server had fsynced all that it wrote whenever it was killed")
	s := launch{data: data}.start(t)
	t.Logf("%d answers, all in a log of %d; %d writes were lost", len(answered), s.checkLog("fault", answered), lost)
}

// TestFailedFsyncStopsServer makes fsyncs and writes fail (F2). The batch must not be answered: the
// state on disk is unknown, and a second fsync could falsely report success.
func TestFailedFsyncStopsServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault string
		file  string
		body  string
		none  bool // whether it fails before anything can be answered
	}{
		{"first fsync of the log", "fsync:error=EIO:when=1", "riffle.db-wal", smallShuffle, true},
		{"second fsync of the log", "fsync:error=EIO:when=2", "riffle.db-wal", smallShuffle, false},
		{"a later fsync of the log", "fsync:error=EIO:when=7", "riffle.db-wal", smallShuffle, false},
		{"all fsyncs from the fifth on", "fsync:error=EIO:when=5+", "riffle.db-wal", smallShuffle, false},
		{"first write of the log", "pwrite64:error=EIO:when=1", "riffle.db-wal", smallShuffle, true},
		{"a later write of the log", "pwrite64:error=EIO:when=30", "riffle.db-wal", smallShuffle, false},
		{"fsync while checkpointing", "fsync:error=EIO:when=1", "riffle.db", largeShuffle, false},
		{"write while checkpointing", "pwrite64:error=EIO:when=100", "riffle.db", largeShuffle, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data, _, _ := newStore(t)
			under, log := strace(t, c.fault, filepath.Join(data, c.file))
			s := launch{data: data, wrapper: under}.start(t)
			l := s.load(8, 300, c.body)
			code := s.wait()
			assert.Truef(t, code > 0, "the server exited with %d, want an exit code for a failure", code)
			assert.True(t, bytes.Contains(straceOutput(t, log), []byte("INJECTED")), "the fault was not injected")
			assert.Contains(t, fatal(s.log.String()), "server: the ledger failed",
				"the server does not say that the ledger failed")
			assert.Truef(t, !c.none || len(l.answered) == 0, "%d shuffles were answered", len(l.answered))
			for status := range l.rejected {
				assert.Truef(t, status >= http.StatusInternalServerError, "answered %v", l.rejected)
			}
			size := launch{data: data}.start(t).checkLog("fault", l.answered)
			t.Logf("%d answers, rejections %v, %d connections closed; the log has %d", len(l.answered), l.rejected, len(l.failed), size)
		})
	}
}

// TestFailedFsyncAtStart fails fsyncs during the creation of a store. The server must refuse to start, or
// work if durability does not need that fsync.
func TestFailedFsyncAtStart(t *testing.T) {
	t.Parallel()
	failed := 0
	starts := sequence(1, 14, 2)
	if everyFault {
		starts = sequence(1, 14, 1)
	}
	for _, n := range starts {
		data := filepath.Join(t.TempDir(), "data")
		under, _ := strace(t, fmt.Sprintf("fsync:error=EIO:when=%d", n))
		s := launch{data: data, wrapper: under}.startOrExit(t)
		var answered []shuffled
		if s.addr != "" {
			answered = s.load(1, 1, smallShuffle).answered // the Nth fsync may be this shuffle's
			s.kill()
		} else if failed++; s.code() != 1 || !strings.Contains(s.log.String(), "input/output error") && !strings.Contains(s.log.String(), "disk I/O error") {
			t.Errorf("fsync %d failed: exit code %d, %s", n, s.code(), s.log)
		}
		assert.True(t, n != 1 || failed != 0, "the first fsync failed, and the server started")
		s = launch{data: data}.start(t)
		s.checkLog("fault", append(answered, s.shuffle(smallShuffle)))
		s.kill()
	}
}

// TestFailedFsyncDuringRecovery fails the fsync of a killed server's write-ahead log. The server must not
// start: SQLite can read later frames only if the earlier ones persist.
func TestFailedFsyncDuringRecovery(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"riffle.db-wal", "riffle.db"} {
		data, _, _ := newStore(t)
		s := launch{data: data}.start(t)
		answered := s.load(1, 3, smallShuffle).answered
		s.kill()
		under, _ := strace(t, "fsync:error=EIO:when=1", filepath.Join(data, file))
		launch{data: data, wrapper: under}.refused(t, "server: opening ")
		launch{data: data}.start(t).checkLog("fault", answered)
	}
}

// TestLedgerFailureDuringShutdown makes the ledger fail after SIGTERM, while -drain still accepts
// requests.
func TestLedgerFailureDuringShutdown(t *testing.T) {
	t.Parallel()
	data, _, wal := newStore(t)
	under, _ := strace(t, "fsync:error=EIO:when=1", wal)
	s := launch{data: data, wrapper: under, args: []string{"-drain", waitLimit.String()}}.start(t)
	s.signal(syscall.SIGTERM)
	until(t, "the server is not ready", func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable })
	a, err := s.ask(http.MethodPost, "/shuffle", smallShuffle)
	assert.Truef(t, err != nil || a.status != http.StatusOK, "answered %v", a)
	code := s.wait()
	assert.Truef(t, code > 0, "the server exited with %d after its ledger failed:\n%s", code, s.log)
}

// TestStopsWhileItOpens sends SIGTERM at twenty moments of a start.
func TestStopsWhileItOpens(t *testing.T) {
	t.Parallel()
	l := launch{data: filepath.Join(t.TempDir(), "data")}
	l.start(t).stop()
	for delay := range 20 {
		var output bytes.Buffer
		command := exec.CommandContext(t.Context(), program, "--data", l.data, "--addr", "127.0.0.1:0")
		command.Env, command.Stderr = environment(), &output
		require.NoError(t, command.Start())
		time.Sleep(time.Duration(delay) * 4 * time.Millisecond)
		require.NoError(t, command.Process.Signal(syscall.SIGTERM))
		_ = command.Wait() // the outcome is in ProcessState
		status, _ := command.ProcessState.Sys().(syscall.WaitStatus)
		assert.Truef(t, status.Signaled() || status.ExitStatus() == 0, "after %d ms: %d, %s", 4*delay, status.ExitStatus(), &output)
	}
}

// TestRecoversFromFullDisk fills the file system of the data folder and then frees it (F4).
func TestRecoversFromFullDisk(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	disk := newDisk(t, data, "4m")
	s := launch{data: data, wrapper: disk.wrapper}.start(t)
	folder := disk.folder
	answered := s.load(4, 5, smallShuffle).answered

	filler, err := os.Create(filepath.Join(folder, "filler"))
	require.NoError(t, err)
	defer func() { _ = filler.Close() }()
	for _, block := range [][]byte{make([]byte, 4096), {0}} {
		for err = nil; err == nil; {
			_, err = filler.Write(block)
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
	}
	l := s.load(4, 10, smallShuffle)
	require.Truef(t, len(l.failed) == 0 && l.rejected[http.StatusServiceUnavailable] != 0 && len(l.rejected) <= 1,
		"a full disk: answered %d, rejected %v, failed %v\n%s", len(l.answered), l.rejected, l.failed, s.log)
	answered = append(answered, l.answered...) // which still fitted into allocated pages
	assert.Contains(t, s.post("/shuffle", smallShuffle).problem(t, http.StatusServiceUnavailable), "space",
		"the problem of a full disk")
	a := s.get("/readyz")
	assert.Equalf(t, http.StatusServiceUnavailable, a.status, "/readyz answers %v with a full disk", a)
	a = s.get("/healthz")
	assert.Equalf(t, http.StatusOK, a.status, "/healthz answers %v with a full disk, which a restart cannot fix", a)
	size := s.checkLog("fault", answered)
	assert.Equal(t, len(answered), size)

	assert.Equal(t, 1, strings.Count(s.log.String(), `"reason":"space"`), "lines about the full disk")

	// The disk is still full after a restart. The service knows before it has tried, and writes
	// nothing.
	s.kill()
	s = launch{data: data, wrapper: disk.wrapper}.start(t)
	a = s.get("/readyz")
	assert.Equalf(t, http.StatusServiceUnavailable, a.status, "/readyz answers %v after a restart with a full disk", a)
	before := disk.content(t)
	s.post("/shuffle", smallShuffle).problem(t, http.StatusServiceUnavailable)
	assert.Equal(t, before, disk.content(t), "a shuffle without space for its record wrote to a file")
	s.checkLog("fault", answered)
	launch{data: filepath.Join(data, "new"), wrapper: disk.wrapper}.refused(t, "the store has no space left")

	require.NoError(t, filler.Truncate(0)) // a process that another test has just forked may keep a removed file
	if d := s.shuffle(smallShuffle); d.LogIndex != uint64(size) {
		t.Errorf("the first shuffle after the full disk has index %d, want %d", d.LogIndex, size)
	} else {
		answered = append(answered, d)
	}
	a = s.get("/readyz")
	assert.Equalf(t, http.StatusOK, a.status, "/readyz answers %v after space was freed", a)
	answered = append(answered, s.load(4, 5, smallShuffle).answered...)
	assert.Equal(t, len(answered), s.checkLog("fault", answered))
	s.checkOutage("space")
	t.Logf("%d of 40 requests to the full disk were rejected", l.rejected[http.StatusServiceUnavailable])
	s.stop()
}

// TestSlowDiskShedsLoad makes an fsync of the log hang, with four times as many requests as the queue
// holds (F5).
func TestSlowDiskShedsLoad(t *testing.T) {
	t.Parallel()
	const queue, callers = 64, 256
	data, _, wal := newStore(t)
	under, _ := strace(t, "fsync:delay_enter=15000000:when=1", wal) // long enough for all requests to arrive
	s := launch{data: data, wrapper: under, args: []string{"-queue", fmt.Sprint(queue)}}.start(t)
	s.checkShedding(queue, callers, func() {})
	s.kill()
}

// TestNoShuffleWithoutRandomness makes the system's random number generator fail (F13).
func TestNoShuffleWithoutRandomness(t *testing.T) {
	t.Parallel()
	data, _, _ := newStore(t)
	under, log := strace(t, "getrandom:error=EIO")
	s := launch{data: data, wrapper: under}.startOrExit(t)
	if s.addr != "" {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				a, err := s.ask(http.MethodPost, "/shuffle", smallShuffle)
				assert.Truef(t, err != nil || a.status != http.StatusOK, "without randomness the server answered %v", a)
			})
		}
		group.Wait()
	}
	if !bytes.Contains(straceOutput(t, log), []byte("INJECTED")) {
		skipOrFail(t, "on this machine the program gets randomness without a system call")
	}
	s.kill()
	assert.Equal(t, 0, (launch{data: data}).start(t).checkLog("fault", nil))
}
