package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/postgres/postgrestest"
)

// TestReplicasShareOneLog starts several servers concurrently on an empty database, and kills one
// and stops another under load.
func TestReplicasShareOneLog(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	const count = 4
	servers := make([]*server, count)
	var starting sync.WaitGroup
	for i := range servers {
		starting.Go(func() { servers[i] = db.replica().startOrExit(t) })
	}
	starting.Wait()
	for i, s := range servers {
		require.Truef(t, s.addr != "", "replica %d exited with %d:\n%s", i, s.code(), s.log)
	}
	loads := make(chan *loadResult)
	for i, s := range servers {
		times := 1 << 30
		if i >= 2 {
			times = 60
		}
		go func() { loads <- s.load(4, times, smallShuffle) }()
	}
	until(t, "some shuffles are answered", func() bool { return servers[0].metric("riffle_items_shuffled_total", "") >= 20*50 })
	servers[0].kill()
	servers[1].stop()
	var answered []shuffled
	for range servers {
		l := <-loads
		answered = append(answered, l.answered...)
		assert.Emptyf(t, l.rejected, "requests were rejected: %v", l.rejected)
	}
	// Every replica serves a shuffle immediately after its answer.
	last := servers[3].shuffle(smallShuffle)
	for _, s := range []*server{servers[2], servers[3], db.replica().start(t)} {
		size := s.checkLog("fault", append(answered, last))
		t.Logf("%d answers; the log has %d", len(answered)+1, size)
	}
	assert.NotZero(t, servers[2].metric("riffle_commit_conflicts_total", "")+servers[3].metric("riffle_commit_conflicts_total", ""),
		"no commit conflicted with another replica's, so this test shows little")
}

// TestReconcilesLostDatabase cuts the connections, and then crashes the database server, while two
// replicas commit (F10). Requests wait or are rejected with 503; answered shuffles are in the log
// once, and both replicas recover.
func TestReconcilesLostDatabase(t *testing.T) {
	t.Parallel()
	db := databaseOn(t, postgrestest.For(t))
	servers := []*server{db.replica().start(t), db.replica().start(t)}
	load := loadSteadily(t, 4, servers...)
	faults := 4
	if everyFault {
		faults = 12
	}
	for n := range faults {
		proceed(t, servers...)
		if n%4 < 3 {
			db.cutConnections(t)
			continue
		}
		assert.NoError(t, db.Stop(postgrestest.Immediate))
		assert.NoError(t, db.Restart())
	}
	proceed(t, servers...)
	load.stop()
	for _, s := range servers {
		size := s.checkLog("fault", load.answered)
		t.Logf("%d answers, %d rejections, the log has %d", len(load.answered), load.rejected, size)
		s.stop()
	}
}

// TestFailedFsyncOfDatabaseStopsServer makes an fsync of PostgreSQL's write-ahead log fail. PostgreSQL
// panics and the server exits. Both recover after a restart.
func TestFailedFsyncOfDatabaseStopsServer(t *testing.T) {
	t.Parallel()
	db := databaseOn(t, postgrestest.For(t))
	fault := exec.CommandContext(t.Context(), requireTool(t, "strace"), "-f", "-qq", "-o", "/dev/null",
		"-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=20", "-p", fmt.Sprint(db.Pid()))
	require.NoError(t, fault.Start())
	until(t, "the database is traced", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", db.Pid()))
		return err == nil && !bytes.Contains(status, []byte("TracerPid:\t0\n"))
	})
	s := db.replica().start(t) // whose connections are new processes of the database
	l := s.load(4, 1000, smallShuffle)
	if code := s.wait(); code != 1 || !strings.Contains(fatal(s.log.String()), "server: the ledger failed") || !strings.Contains(db.Log(), "PANIC") {
		t.Errorf("the server exited with %d:\n%s\n%s", code, s.log, db.Log())
	}
	for status, n := range l.rejected {
		assert.Truef(t, status >= http.StatusInternalServerError, "%d requests were answered %d", n, status)
	}
	until(t, "the database has restarted", func() bool { return strings.Count(db.Log(), "ready to accept connections") == 2 })
	// Only a tracer that detaches leaves the database's processes able to end.
	require.NoError(t, fault.Process.Signal(os.Interrupt))
	_ = fault.Wait() // it was interrupted
	size := db.replica().start(t).checkLog("fault", l.answered)
	t.Logf("%d answers, rejections %v; the log has %d", len(l.answered), l.rejected, size)
}

// TestCommitOutlastsTimeouts holds a commit for longer than a connection may read and write. The timeouts
// are the client's, so the request is answered.
func TestCommitOutlastsTimeouts(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	s := db.replica("--deckofcards", "--read-timeout", "1s", "--write-timeout", "1s").start(t)
	hold, err := pgx.Connect(t.Context(), db.url)
	require.NoError(t, err)
	_, err = hold.Exec(t.Context(), "BEGIN; SELECT size FROM head FOR UPDATE")
	require.NoError(t, err)
	var group sync.WaitGroup
	for _, path := range []string{"/shuffle", "/api/deck/new/shuffle/"} {
		group.Go(func() {
			a, err := s.ask(http.MethodPost, path, smallShuffle)
			if assert.NoError(t, err, path) {
				assert.Equalf(t, http.StatusOK, a.status, "%s: %v", path, a)
			}
		})
	}
	_, err = hold.Exec(t.Context(), "SELECT pg_sleep(3); ROLLBACK")
	require.NoError(t, err)
	group.Wait()
	assert.NoError(t, hold.Close(t.Context()))
}
