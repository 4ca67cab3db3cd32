package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExportKilledAtAnyWrite kills an export at its writes. The service goes on with the store until an
// export is whole, and with the archive then.
func TestExportKilledAtAnyWrite(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"--rotate", "300"}}.start(t)
	l := newLife(s, cutShoe)
	s.fillLogsBefore(2)
	killed, folder := 0, filepath.Join(s.data, "archive")
	wantRiffle(t, 2, "riffle.db is in use", "log", "export", "--data", s.data, "--remove")
	s.stop()
	require.NoError(t, os.RemoveAll(folder))
	for _, call := range []string{"pwrite64", "write", "rename", "fsync"} {
		for n := 1; ; n += 1 + n {
			under, _ := strace(t, fmt.Sprintf("%s:signal=KILL:when=%d", call, n))
			if code, _ := riffle(t, under, "log", "export", "--data", s.data); code == 0 {
				break
			}
			killed++
			if n == 1 {
				s = launch{data: s.data}.start(t)
				l.goOn(s)
				s.stop()
			}
		}
		wantRiffle(t, 0, "match the signed root", "log", "export", "--data", s.data)
		wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", s.data)
		require.NoError(t, os.Rename(folder, folder+" by "+call))
	}
	assert.Greater(t, killed, 8)
	require.NoError(t, os.Rename(folder+" by write", folder))
	s = launch{data: s.data}.start(t)
	wantRiffle(t, 0, "removed", "log", "export", "--data", s.data, "--remove")
	wantRiffle(t, 0, "riffle.db, before", "log", "export", "--data", s.data, "--remove")
	l.goOn(s)
}

// A backup that is older than the archive gets the archive, and one of another log gets nothing.
func TestBackupOfALogThatWasExported(t *testing.T) {
	t.Parallel()
	s, other := launch{args: []string{"--rotate", "100"}}.start(t), launch{}.start(t)
	l := newLife(s, cutShoe)
	backup, restored := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored")
	again := []string{"backup", "--data", s.data, "--to", backup}
	wantRiffle(t, 0, "match the signed root", again...)
	s.fillLogsBefore(2)
	s.stop()
	older := filepath.Join(t.TempDir(), "older")
	require.NoError(t, os.CopyFS(older, os.DirFS(s.data)))
	require.NoError(t, os.RemoveAll(filepath.Join(older, "successors")))
	wantRiffle(t, 0, "removed ", "log", "export", "--data", s.data, "--remove")
	wantRiffle(t, 0, "backup/archive\nrecords      all ", again...)
	wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", backup)
	for _, command := range [][]string{{"backup", "--data", s.data, "--to"}, {"restore", "--from", backup, "--data"}, {"log", "copy", "--data", s.data, "--to"}} {
		wantRiffle(t, 2, "log.key is the key of another log", append(command, other.data)...)
		assert.NoDirExists(t, filepath.Join(other.data, "successors"))
	}
	wantRiffle(t, 2, "the data folder is the folder of the backup", "restore", "--from", backup, "--data", backup)
	wantRiffle(t, 0, "match the signed root", "restore", "--from", backup, "--data", restored)
	l.goOn(launch{data: restored}.start(t))
	wantRiffle(t, 0, "in the store that "+older+" has already", "restore", "--from", backup, "--data", older)
	launch{data: older}.start(t).stop()
}

// The command prints what the service answers, from the archive and from the log that follows,
// which has revealed a seed. Neither a damaged archive nor another log's proves anything.
func TestProofWithoutTheService(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"--rotate", "100"}}.start(t)
	l := newLife(s, cutShoe)
	closed := s.newShoe(cutShoe)
	s.wantOK(s.must(http.MethodDelete, "/shoes/"+closed.ID, ""))
	hidden, shown := s.shuffle(smallShuffle), s.shuffle(smallShuffle)
	s.fillLogsBefore(2)
	s.wantOK(s.post("/audits/"+shown.AuditID+"/reveal", `{"seed": "`+shown.Seed+`"}`))
	l.goOn(s)
	s.stop()
	wantRiffle(t, 0, "removed ", "log", "export", "--data", s.data, "--remove")
	s = launch{data: s.data}.start(t)
	for _, id := range []string{hidden.AuditID, shown.AuditID, l.commitment.ID, s.commitment(l.commitment.ID).AuditID, closed.AuditID} {
		wantRiffle(t, 0, string(s.get("/audits/"+id+"/proof").body), "proof", "--from", filepath.Join(s.data, "archive"), id)
	}
	wantRiffle(t, 2, "no such record", "proof", "--data", s.data, uuid.Nil.String())
	code, output := riffle(t, []string{"env", "-C", filepath.Join(s.data, "archive")}, "proof", "--from", ".", shown.AuditID)
	assert.Zerof(t, code, "in the archive: %s", output)

	alone := filepath.Join(t.TempDir(), "archive") // where no later log shows which seeds were revealed
	require.NoError(t, os.CopyFS(alone, os.DirFS(filepath.Join(s.data, "archive"))))
	args := []string{"proof", "--from", alone, shown.AuditID, "--key", filepath.Join(s.data, "log.key"), "--seed-key", filepath.Join(s.data, "seed.key")}
	wantRiffle(t, 0, `"seed":null`, args...)
	wantRiffle(t, 0, "seeds that were revealed there are left out", args...)
}
