package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Every shuffle of a fault test has the same reference, so that one listing is the whole log.
const small = `{"size": 20, "reference": "fault"}`

// large makes a record of seven kilobytes, most of them seed. A few hundred fill the write-ahead log up to the size at
// which it is copied back.
const large = `{"size": 9007199254740991, "draw": 1024, "reference": "fault"}`

// everyFault asks for every N where the tests otherwise try some.
var everyFault = os.Getenv("RIFFLE_FAULTS") == "all"

// strace returns a command that runs the program and has one kind of system call go wrong. The program stays the child
// of the test: strace detaches itself. Calls are counted by thread, so the Nth is that of the thread that comes to N
// first. With files, only calls on these count. What was traced is in the file that log names.
func strace(t *testing.T, fault string, files ...string) (command []string, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "strace")
	call, _, _ := strings.Cut(fault, ":")
	command = []string{
		need(t, "strace"), "-D", "-f", "-qq", "-y", "-s", "0", "-o", log,
		"-e", "signal=none", "-e", "trace=" + call, "-e", "inject=" + fault,
	}
	if !strings.Contains(fault, ":signal=") {
		command = append(command, "--seccomp-bpf") // much faster, and it loses signals
	}
	for _, f := range files {
		command = append(command, "-P", f)
	}
	return command, log
}

// traced returns what strace has written.
func traced(t *testing.T, log string) []byte {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// prepared returns a data folder whose tables are made, so that the first write there is that of the first shuffle.
func prepared(t *testing.T) (data, store, wal string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	launch{data: data}.start(t).stop()
	store = filepath.Join(data, "riffle.db")
	return data, store, store + "-wal"
}

// TestKilledAtAWriteHoldsWhatItAnswered kills the server at its Nth fsync or write to the store. A kill cuts what the
// program does at any point, but does not lose what the kernel has taken: that fsync is called at all, and heard, is
// shown by the tests of failing and of slow ones.
func TestKilledAtAWriteHoldsWhatItAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		call  string
		fresh bool // from the first start on, tables and all
		file  string
		body  string
		some  []int // the Ns that are always tried
	}{
		{"fsync from the first start", "fsync", true, "", small, steps(1, 15, 1)},
		{"write from the first start", "pwrite64", true, "", small, steps(1, 80, 4)},
		{"fsync of the log", "fsync", false, "riffle.db-wal", small, steps(1, 10, 1)},
		{"write of the log", "pwrite64", false, "riffle.db-wal", small, steps(1, 25, 1)},
		{"write while copying back", "pwrite64", false, "riffle.db", large, []int{300}},
		{"fsync while copying back", "fsync", false, "riffle.db", large, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A log that was prepared goes on from run to run, and so is recovered again and again.
			data, answered := "", []dealt(nil)
			hit, ns := 0, c.some
			if everyFault {
				ns = steps(1, 5000, 1)
				if c.body == large {
					ns = steps(1, 5000, 50) // each takes seconds to come to
				}
			}
			for i, misses := 0, 0; i < len(ns) && misses < 5; i++ { // so many misses on end: no thread calls so often
				if c.fresh {
					data, answered = filepath.Join(t.TempDir(), "data"), nil
				} else if data == "" {
					data, _, _ = prepared(t)
				}
				var files []string
				if c.file != "" {
					files = []string{filepath.Join(data, c.file)}
				}
				under, _ := strace(t, fmt.Sprintf("%s:signal=KILL:when=%d", c.call, ns[i]), files...)
				s := launch{data: data, under: under}.try(t)
				killed := s.addr == ""
				if !killed {
					times := 6
					if c.body == large {
						times = 200
					}
					l := s.press(8, times, c.body)
					answered = append(answered, l.dealt...)
					killed = len(l.broken) > 0
				}
				if killed {
					if code := s.wait(); code != -1 {
						t.Errorf("N = %d: the server ended by itself, with %d:\n%s", ns[i], code, s.log)
					}
					hit++
					misses = 0
				} else {
					s.kill()
					misses++
				}
				s = launch{data: data}.start(t)
				held := s.holds("fault", answered)
				s.stop() // which copies back, so that the next run starts with an empty write-ahead log
				if everyFault {
					t.Logf("N = %d: %d answered so far, the log holds %d", ns[i], len(answered), held)
				}
			}
			if hit == 0 && len(ns) > 0 {
				t.Error("the server was killed at none of the calls")
			}
			t.Logf("killed %d times, %d answers in the last log", hit, len(answered))
		})
	}
}

// steps returns the numbers from one to another.
func steps(from, to, step int) (list []int) {
	for n := from; n <= to; n += step {
		list = append(list, n)
	}
	return list
}

// TestKilledUnderLoadHoldsWhatItAnswered kills the server between two instructions, wherever it is, on one growing log.
func TestKilledUnderLoadHoldsWhatItAnswered(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	random := rand.New(rand.NewPCG(1, 2)) // the same moments, as far as moments can be the same
	var answered []dealt
	for range 5 {
		s := launch{data: data}.start(t)
		s.holds("fault", answered)
		done := make(chan *load)
		go func() { done <- s.press(8, 1<<30, small) }()
		enough := float64(20 + random.IntN(200))
		until(t, "some shuffles are answered", func() bool { return s.metric("riffle_items_shuffled_total", "") >= 20*enough })
		s.kill()
		answered = append(answered, (<-done).dealt...)
	}
	s := launch{data: data}.start(t)
	t.Logf("%d answers, all in a log of %d", len(answered), s.holds("fault", answered))
}

// TestFailedSyncEndsTheServer has fsyncs and writes fail. Nothing of the batch may be answered, for what is on disk is
// unknown then, and a second fsync could report a success that is none.
func TestFailedSyncEndsTheServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault string
		file  string
		body  string
		none  bool // it happens before anything can have been answered
	}{
		{"first fsync of the log", "fsync:error=EIO:when=1", "riffle.db-wal", small, true},
		{"second fsync of the log", "fsync:error=EIO:when=2", "riffle.db-wal", small, false},
		{"a later fsync of the log", "fsync:error=EIO:when=7", "riffle.db-wal", small, false},
		{"a lasting failure", "fsync:error=EIO:when=5+", "riffle.db-wal", small, false},
		{"first write of the log", "pwrite64:error=EIO:when=1", "riffle.db-wal", small, true},
		{"a later write of the log", "pwrite64:error=EIO:when=30", "riffle.db-wal", small, false},
		{"fsync while copying back", "fsync:error=EIO:when=1", "riffle.db", large, false},
		{"write while copying back", "pwrite64:error=EIO:when=100", "riffle.db", large, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, _, _ := prepared(t)
			under, log := strace(t, c.fault, filepath.Join(data, c.file))
			s := launch{data: data, under: under}.start(t)
			l := s.press(8, 300, c.body)
			if code := s.wait(); code <= 0 {
				t.Errorf("the server ended with %d, want an exit code that says that it failed", code)
			}
			if !bytes.Contains(traced(t, log), []byte("INJECTED")) {
				t.Error("the fault did not happen")
			}
			if stderr := s.log.String(); !strings.Contains(stderr, "server: the ledger failed") {
				t.Errorf("the server ended with these words:\n%s", stderr)
			}
			if c.none && len(l.dealt) > 0 {
				t.Errorf("%d shuffles were answered", len(l.dealt))
			}
			for status := range l.refused {
				if status < http.StatusInternalServerError {
					t.Errorf("answered %s", counts(l.refused))
				}
			}
			held := launch{data: data}.start(t).holds("fault", l.dealt)
			t.Logf("%d answers, refusals %s, %d connections closed; the log holds %d", len(l.dealt), counts(l.refused), len(l.broken), held)
		})
	}
}

// TestFailedSyncAtStartIsAnErrorOrNoMatter has each fsync fail with which a new store is made. The server has to refuse
// to start or, where that fsync is not needed, to be as good as any.
func TestFailedSyncAtStartIsAnErrorOrNoMatter(t *testing.T) {
	t.Parallel()
	refused := 0
	const starts = 14
	for n := 1; n <= starts; n++ {
		data := filepath.Join(t.TempDir(), "data")
		under, _ := strace(t, fmt.Sprintf("fsync:error=EIO:when=%d", n))
		s := launch{data: data, under: under}.try(t)
		var answered []dealt
		if s.addr != "" {
			answered = s.press(1, 1, small).dealt // by then it may be too late for the Nth fsync to be one of the start
			s.kill()
		} else if refused++; s.code() != 1 || !strings.Contains(s.log.String(), "input/output error") && !strings.Contains(s.log.String(), "disk I/O error") {
			t.Errorf("fsync %d failed: exit code %d, %s", n, s.code(), s.log)
		}
		if n == 1 && refused == 0 {
			t.Error("the very first fsync failed, and the server started")
		}
		s = launch{data: data}.start(t)
		s.holds("fault", append(answered, s.deal(small)))
		s.kill()
	}
	t.Logf("%d of %d starts were refused", refused, starts)
}

// TestFailedSyncOfWhatWasLeftIsAnError has the fsync fail that makes durable what a killed server has left in the
// write-ahead log. What follows in the log would be readable only as long as that is, so there must be no start.
func TestFailedSyncOfWhatWasLeftIsAnError(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"riffle.db-wal", "riffle.db"} {
		data, _, _ := prepared(t)
		s := launch{data: data}.start(t)
		answered := s.press(1, 3, small).dealt
		s.kill()
		under, log := strace(t, "fsync:error=EIO:when=1", filepath.Join(data, file))
		s = launch{data: data, under: under}.try(t)
		if s.addr != "" {
			t.Errorf("an fsync of %s failed, and the server started:\n%s", file, traced(t, log))
		} else if stderr := s.log.String(); s.code() != 1 || !strings.Contains(stderr, "server: opening ") {
			t.Errorf("an fsync of %s failed: exit code %d, %s", file, s.code(), stderr)
		}
		s.kill()
		launch{data: data}.start(t).holds("fault", answered)
	}
}

// TestFailureWhileStoppingIsAFailure has the ledger break after SIGTERM, while requests are still being taken.
func TestFailureWhileStoppingIsAFailure(t *testing.T) {
	t.Parallel()
	data, _, wal := prepared(t)
	under, _ := strace(t, "fsync:error=EIO:when=1", wal)
	s := launch{data: data, under: under, args: []string{"-drain", patience.String()}}.start(t)
	s.signal(syscall.SIGTERM)
	until(t, "the server says that it stops", func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable })
	if a, err := s.ask(http.MethodPost, "/shuffle", small); err == nil && a.status == http.StatusOK {
		t.Errorf("answered %v", a)
	}
	if code := s.wait(); code <= 0 {
		t.Errorf("the server ended with %d after its ledger failed:\n%s", code, s.log)
	}
}

// TestFullDiskIsRefusedAndForgotten fills the file system of the data folder and makes room again.
func TestFullDiskIsRefusedAndForgotten(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := launch{data: data, under: smallDisk(t, data, "4m")}.start(t)
	// The file system is mounted where only the server sees it, and is reached through its process.
	folder := filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "root", data)
	answered := s.press(4, 5, small).dealt

	filler, err := os.Create(filepath.Join(folder, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = filler.Close() }()
	for _, block := range [][]byte{make([]byte, 4096), {0}} {
		for err = nil; err == nil; {
			_, err = filler.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	l := s.press(4, 10, small)
	if len(l.broken) > 0 || l.refused[http.StatusServiceUnavailable] == 0 || len(l.refused) > 1 {
		t.Fatalf("a full disk: answered %d, refused %s, no answer %v\n%s", len(l.dealt), counts(l.refused), l.broken, s.log)
	}
	answered = append(answered, l.dealt...) // what still went into pages that were there
	if detail := s.post("/shuffle", small).problem(t, http.StatusServiceUnavailable); !strings.Contains(detail, "space") {
		t.Errorf("a full disk is %q", detail)
	}
	if a := s.get("/readyz"); a.status != http.StatusServiceUnavailable {
		t.Errorf("a full disk, and /readyz answers %v", a)
	}
	if a := s.get("/healthz"); a.status != http.StatusOK {
		t.Errorf("a full disk, and /healthz answers %v: a restart would not help", a)
	}
	held := s.holds("fault", answered)
	if held != len(answered) {
		t.Errorf("%d shuffles were answered, and the log holds %d: a refused one was written", len(answered), held)
	}

	if err := os.Remove(filler.Name()); err != nil {
		t.Fatal(err)
	}
	if err := filler.Close(); err != nil {
		t.Fatal(err)
	}
	if d := s.deal(small); d.LogIndex != uint64(held) {
		t.Errorf("the first shuffle after the full disk has index %d, want %d", d.LogIndex, held)
	} else {
		answered = append(answered, d)
	}
	if a := s.get("/readyz"); a.status != http.StatusOK {
		t.Errorf("there is space again, and /readyz answers %v", a)
	}
	answered = append(answered, s.press(4, 5, small).dealt...)
	if held := s.holds("fault", answered); held != len(answered) {
		t.Errorf("%d shuffles were answered, and the log holds %d", len(answered), held)
	}
	t.Logf("%d of 40 requests to the full disk were refused", l.refused[http.StatusServiceUnavailable])
	s.stop()
}

// TestDiskThatRunsFullIsRefused has load itself fill the file system, which may happen in the middle of a batch and
// while copying back.
func TestDiskThatRunsFullIsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := launch{data: data, under: smallDisk(t, data, "2m")}.start(t)
	l := s.press(16, 100, large)
	if len(l.broken) > 0 || l.refused[http.StatusServiceUnavailable] == 0 || len(l.refused) > 1 {
		t.Fatalf("a full disk: answered %d, refused %s, no answer %v\n%s", len(l.dealt), counts(l.refused), l.broken, s.log)
	}
	if held := s.holds("fault", l.dealt); held != len(l.dealt) {
		t.Errorf("%d shuffles were answered, and the log holds %d", len(l.dealt), held)
	}
	t.Logf("%d answers until the disk was full, then %d refusals", len(l.dealt), l.refused[http.StatusServiceUnavailable])
	s.stop() // with no room to copy back; what is in the write-ahead log stays there
}

// smallDisk returns a command that runs the program with a small file system of its own at the folder.
func smallDisk(t *testing.T, folder, size string) []string {
	t.Helper()
	unshare := need(t, "unshare")
	for _, own := range []string{"-m", "-Urm"} { // as root, or as root of a namespace of one's own
		command := []string{unshare, own, "sh", "-c", `mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"`, "sh", size, folder}
		if exec.Command(command[0], append(command[1:], "true")...).Run() == nil {
			return command
		}
	}
	without(t, "no file system can be mounted here")
	return nil
}

// TestSlowDiskShedsLoad has every fsync of the log take two seconds and four times as many callers come as may wait.
func TestSlowDiskShedsLoad(t *testing.T) {
	t.Parallel()
	const queue, callers = 64, 256
	data, _, wal := prepared(t)
	under, _ := strace(t, "fsync:delay_enter=2000000", wal)
	s := launch{data: data, under: under, args: []string{"-queue", fmt.Sprint(queue)}}.start(t)
	if a := s.get("/readyz"); a.status != http.StatusOK {
		t.Fatalf("before the first commit /readyz answers %v", a)
	}
	// One shuffle gets the first commit going. Everyone else comes while it hangs.
	first := make(chan *load)
	go func() { first <- s.press(1, 1, small) }()
	until(t, "the commit hangs", func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable })
	before := s.memory("VmRSS")
	rest := make(chan *load)
	go func() { rest <- s.press(callers, 1, small) }()
	until(t, "all but the queue are shed", func() bool { return s.metric("riffle_http_shed_total", "") >= callers-queue })
	if depth := s.metric("riffle_queue_depth", ""); depth > queue {
		t.Errorf("the queue holds %v, and its capacity is %d", depth, queue)
	}
	during := s.memory("VmRSS")
	all := []*load{<-first, <-rest}
	answered := slices.Concat(all[0].dealt, all[1].dealt)
	if shed := all[1].refused[http.StatusServiceUnavailable]; shed != callers-queue || len(answered) != queue+1 {
		t.Errorf("of %d callers %d were answered and %d shed", callers+1, len(answered), shed)
	}
	slowest, most := quantile(all[1].took, 1), quantile(all[1].took, 0.9)
	if most > time.Second {
		t.Errorf("nine of ten shed requests were answered within %v", most)
	}
	if during > before+64 {
		t.Errorf("memory grew from %d to %d MiB", before, during)
	}
	until(t, "the server is ready again", func() bool { return s.get("/readyz").status == http.StatusOK })
	s.holds("fault", answered)
	t.Logf("shed answers: half within %v, nine of ten within %v, all within %v; memory %d, then %d MiB",
		quantile(all[1].took, 0.5), most, slowest, before, during)
	s.kill()
}

// TestSecondServerIsRefused starts two servers on one data folder.
func TestSecondServerIsRefused(t *testing.T) {
	t.Parallel()
	first := launch{}.start(t)
	answered := []dealt{first.deal(small)}
	second := launch{data: first.data}.try(t)
	if second.addr != "" {
		t.Fatal("two servers write to one data folder")
	}
	if code, stderr := second.code(), second.log.String(); code != 1 || !strings.Contains(stderr, "another process is writing to this store") {
		t.Errorf("the second server ended with %d and %s", code, stderr)
	}
	answered = append(answered, first.deal(small))
	first.kill()
	third := launch{data: first.data}.start(t) // at once: nobody has to remove a lock
	third.holds("fault", append(answered, third.deal(small)))
}

// TestNoRandomnessNoShuffle takes the system's generator away.
func TestNoRandomnessNoShuffle(t *testing.T) {
	t.Parallel()
	data, _, _ := prepared(t)
	under, log := strace(t, "getrandom:error=EIO")
	s := launch{data: data, under: under}.try(t)
	if s.addr != "" {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if a, err := s.ask(http.MethodPost, "/shuffle", small); err == nil && a.status == http.StatusOK {
					t.Errorf("without randomness the server answered %v", a)
				}
			})
		}
		group.Wait()
	}
	if !bytes.Contains(traced(t, log), []byte("INJECTED")) {
		without(t, "the program does not ask the kernel for randomness through a system call here")
	}
	s.kill()
	if held := (launch{data: data}).start(t).holds("fault", nil); held != 0 {
		t.Errorf("%d shuffles were recorded without randomness", held)
	}
}
