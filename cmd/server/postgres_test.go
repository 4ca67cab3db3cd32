package main_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"riffle/internal/ledger/postgres/postgrestest"
)

// A database is one that several servers keep one log in, with the log's key.
type database struct {
	*postgrestest.Cluster
	url, key string
}

// newDatabase starts a PostgreSQL server of the test's own, which it may do with as it likes.
func newDatabase(t *testing.T) *database {
	t.Helper()
	c := postgrestest.For(t)
	return &database{Cluster: c, url: c.URL(c.NewDatabase(t)), key: filepath.Join(t.TempDir(), "log.key")}
}

// replica returns a way to start one of several servers. Each has a data folder of its own.
func (d *database) replica(args ...string) launch {
	return launch{args: append([]string{"-key", d.key}, args...), env: []string{"RIFFLE_STORE=" + d.url}}
}

// TestReplicasShareOneLog has several servers start at once on an empty database and take load, while one is killed and
// one is stopped.
func TestReplicasShareOneLog(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	const count = 4
	servers := make([]*server, count)
	var starting sync.WaitGroup
	for i := range servers {
		starting.Go(func() { servers[i] = db.replica().try(t) })
	}
	starting.Wait()
	for i, s := range servers {
		if s.addr == "" {
			t.Fatalf("replica %d ended with %d:\n%s", i, s.code(), s.log)
		}
	}
	loads := make(chan *load)
	for i, s := range servers {
		times := 1 << 30
		if i >= 2 {
			times = 60
		}
		go func() { loads <- s.press(4, times, small) }()
	}
	until(t, "some shuffles are answered", func() bool { return servers[0].metric("riffle_items_shuffled_total", "") >= 20*50 })
	servers[0].kill()
	servers[1].stop()
	var answered []dealt
	for range servers {
		l := <-loads
		answered = append(answered, l.dealt...)
		if len(l.refused) > 0 {
			t.Errorf("requests were refused: %s", counts(l.refused))
		}
	}
	// A shuffle is known to every replica from its answer on.
	last := servers[3].deal(small)
	for _, s := range []*server{servers[2], servers[3], db.replica().start(t)} {
		held := s.holds("fault", append(answered, last))
		t.Logf("%d answers; the log holds %d", len(answered)+1, held)
	}
	if servers[2].metric("riffle_commit_conflicts_total", "")+servers[3].metric("riffle_commit_conflicts_total", "") == 0 {
		t.Error("no replica was ever first to what another was about to write, so that this test shows little")
	}
}

// TestReplicaKilledAtAnyPointHarmsNoOther kills a replica at its Nth write, which is one to a connection, while another
// goes on.
func TestReplicaKilledAtAnyPointHarmsNoOther(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	other := db.replica().start(t)
	var answered []dealt
	hit, ns := 0, steps(20, 200, 12)
	if everyFault {
		ns = steps(1, 600, 1)
	}
	for _, n := range ns {
		done := make(chan *load)
		go func() { done <- other.press(2, 10, small) }()
		launch := db.replica()
		launch.under, _ = strace(t, fmt.Sprintf("write:signal=KILL:when=%d", n))
		s := launch.try(t)
		if s.addr != "" {
			l := s.press(4, 10, small)
			answered = append(answered, l.dealt...)
			if len(l.broken) > 0 {
				hit++
			}
		}
		s.kill()
		l := <-done
		if answered = append(answered, l.dealt...); len(l.dealt) != 20 {
			t.Errorf("N = %d: the other replica answered %d of 20, refused %s, and left unanswered %v\n%s", n, len(l.dealt), counts(l.refused), l.broken, other.log)
		}
	}
	held := other.holds("fault", answered)
	if hit == 0 {
		t.Error("no replica was killed under load")
	}
	t.Logf("%d replicas killed under load, %d answers, the log holds %d", hit, len(answered), held)
}

// TestDatabaseThatIsLostIsReconciled takes the connections away, and then the whole database server, while two replicas
// commit. Callers wait or are refused; what was answered is there, once, and both replicas go on.
func TestDatabaseThatIsLostIsReconciled(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	servers := []*server{db.replica().start(t), db.replica().start(t)}
	loads := make(chan *load)
	var stop sync.WaitGroup
	end := make(chan struct{})
	for _, s := range servers {
		stop.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					loads <- s.press(4, 5, small)
				}
			}
		})
	}
	var answered []dealt
	refused := 0
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for l := range loads {
			answered = append(answered, l.dealt...)
			for status, n := range l.refused {
				if refused += n; status != http.StatusServiceUnavailable {
					t.Errorf("%d requests were answered %d", n, status)
				}
			}
			for _, err := range l.broken {
				t.Errorf("a request was left unanswered: %v", err)
			}
		}
	}()
	shuffled := func() float64 {
		return servers[0].metric("riffle_items_shuffled_total", "") + servers[1].metric("riffle_items_shuffled_total", "")
	}
	for n := range 12 {
		before := shuffled()
		until(t, "shuffles are answered again", func() bool { return shuffled() > before+20*20 })
		if n%4 < 3 {
			if err := db.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'riffle_%'"); err != nil {
				t.Error(err)
			}
			continue
		}
		if err := db.Stop(postgrestest.Immediate); err != nil {
			t.Error(err)
		}
		if err := db.Restart(); err != nil {
			t.Error(err)
		}
	}
	close(end)
	stop.Wait()
	close(loads)
	<-collected
	for _, s := range servers {
		held := s.holds("fault", answered)
		t.Logf("%d answers, %d refusals, the log holds %d", len(answered), refused, held)
		s.stop()
	}
}

// TestFailedSyncOfTheDatabaseEndsTheServer has an fsync of the database's own log fail. PostgreSQL crashes then, since it
// does not know what is on disk, and so does the server. Both start again from what is there.
func TestFailedSyncOfTheDatabaseEndsTheServer(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	fault := exec.CommandContext(t.Context(), need(t, "strace"), "-f", "-qq", "-o", "/dev/null",
		"-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=20", "-p", fmt.Sprint(db.Pid()))
	if err := fault.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the database is traced", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", db.Pid()))
		return err == nil && !bytes.Contains(status, []byte("TracerPid:\t0\n"))
	})
	s := db.replica().start(t) // whose connections are new processes of the database
	l := s.press(4, 1000, small)
	if code := s.wait(); code != 1 || !strings.Contains(s.log.String(), "server: the ledger failed") || !strings.Contains(db.Log(), "PANIC") {
		t.Errorf("the server ended with %d:\n%s\n%s", code, s.log, db.Log())
	}
	for status, n := range l.refused {
		if status < http.StatusInternalServerError {
			t.Errorf("%d requests were answered %d", n, status)
		}
	}
	if err := fault.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = fault.Wait() // it was killed
	until(t, "the database is back", func() bool { return strings.Count(db.Log(), "ready to accept connections") == 2 })
	held := db.replica().start(t).holds("fault", l.dealt)
	t.Logf("%d answers, refusals %s; the log holds %d", len(l.dealt), counts(l.refused), held)
}

// TestDatabaseThatIsSlowShedsLoad has a commit hang: somebody else holds the head of the log.
func TestDatabaseThatIsSlowShedsLoad(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	const queue, callers = 16, 64
	s := db.replica("-queue", fmt.Sprint(queue)).start(t)
	hold, err := pgx.Connect(t.Context(), db.url)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := hold.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT size FROM head FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	first := make(chan *load)
	go func() { first <- s.press(1, 1, small) }()
	until(t, "the commit hangs", func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable })
	rest := make(chan *load)
	go func() { rest <- s.press(callers, 1, small) }()
	until(t, "all but the queue are shed", func() bool { return s.metric("riffle_http_shed_total", "") >= callers-queue })
	if err := tx.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := hold.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	all := []*load{<-first, <-rest}
	answered := slices.Concat(all[0].dealt, all[1].dealt)
	if len(answered) != queue+1 || all[1].refused[http.StatusServiceUnavailable] != callers-queue {
		t.Errorf("of %d callers %d were answered, refused %s", callers+1, len(answered), counts(all[1].refused))
	}
	until(t, "the server is ready again", func() bool { return s.get("/readyz").status == http.StatusOK })
	s.holds("fault", answered)
}

// TestStopOnPostgreSQLAnswersWhatItAccepted stops a replica in the middle of a load.
func TestStopOnPostgreSQLAnswersWhatItAccepted(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	s := db.replica().start(t)
	done := make(chan *load)
	go func() { done <- s.press(16, 1<<30, small) }()
	until(t, "some shuffles are answered", func() bool { return s.metric("riffle_items_shuffled_total", "") >= 20*200 })
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 0 {
		t.Errorf("the server ended with %d:\n%s", code, s.log)
	}
	l := <-done
	if held := db.replica().start(t).holds("fault", l.dealt); held != len(l.dealt) {
		t.Errorf("%d shuffles were answered, and the log holds %d", len(l.dealt), held)
	}
}

// TestDatabaseThatWouldLoseDataIsRefused starts on a server that answers before it has written.
func TestDatabaseThatWouldLoseDataIsRefused(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"fsync", "synchronous_commit"} {
		c := postgrestest.For(t, setting+"=off")
		s := launch{env: []string{"RIFFLE_STORE=" + c.URL("postgres")}}.try(t)
		if s.addr != "" {
			t.Errorf("the server starts with %s=off", setting)
		} else if stderr := s.log.String(); s.code() != 1 || !strings.Contains(stderr, setting) || strings.Contains(stderr, postgrestest.Password()) {
			t.Errorf("%s=off: exit code %d, %s", setting, s.code(), stderr)
		}
	}
}

// TestReplicaWithoutTheKeyIsRefused starts a server on a log whose key it does not have.
func TestReplicaWithoutTheKeyIsRefused(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	first := db.replica().start(t)
	s := launch{env: []string{"RIFFLE_STORE=" + db.url}}.try(t)
	if s.addr != "" {
		t.Fatal("a server started without the key")
	}
	if stderr := s.log.String(); s.code() != 1 || !strings.Contains(stderr, "put the key back from a backup") {
		t.Errorf("exit code %d, %s", s.code(), stderr)
	}
	first.deal(small) // the other goes on
}
