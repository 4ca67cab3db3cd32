package main_test

import (
	"bytes"
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

// The archive of a log has a byte flipped, and then is another log's.
func TestArchiveThatIsNotTheLogs(t *testing.T) {
	t.Parallel()
	data := make([]string, 2)
	for i := range data {
		s := launch{args: []string{"--rotate", "100"}}.start(t)
		s.fillLogsBefore(2)
		s.stop()
		wantRiffle(t, 0, "removed ", "log", "export", "--data", s.data, "--remove")
		data[i] = s.data
	}
	bundles, err := filepath.Glob(filepath.Join(data[0], "archive", "tile", "entries", "000*", "*"))
	require.NoError(t, err)
	whole, err := os.ReadFile(bundles[0])
	require.NoError(t, err)
	changed := append([]byte{}, whole...)
	changed[20] ^= 1
	require.NoError(t, os.WriteFile(bundles[0], changed, 0o600))
	wantRiffle(t, 1, "record 0 ", "log", "check", "--data", data[0])
	launch{data: data[0]}.refused(t, "record 0 ")
	require.NoError(t, os.WriteFile(bundles[0], whole, 0o600))

	archives := []string{filepath.Join(data[0], "archive"), filepath.Join(data[1], "archive")}
	require.NoError(t, os.Rename(archives[0], archives[0]+".away"))
	require.NoError(t, os.Rename(archives[1], archives[0]))
	wantRiffle(t, 1, "The log does not add up", "log", "check", "--data", data[0])
	launch{data: data[0]}.refused(t, "the store does not hold what was signed")
	require.NoError(t, os.Rename(archives[0], archives[1]))
	require.NoError(t, os.Rename(archives[0]+".away", archives[0]))
	launch{data: data[0]}.start(t).stop()
}

// The files that only monitors read are checked, too, and the store stays while one is wrong or
// missing.
func TestArchiveWithoutWhatMonitorsRead(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"--rotate", "100"}}.start(t)
	s.fillLogsBefore(2)
	s.stop()
	folder := filepath.Join(s.data, "archive")
	wantRiffle(t, 0, "match the signed root", "log", "export", "--data", s.data)
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "tile", "0")))
	wantRiffle(t, 1, "lacks tile/0/000", "log", "check", "--data", s.data)
	wantRiffle(t, 1, "lacks tile/0/000", "log", "export", "--data", s.data, "--remove")
	require.NoError(t, os.RemoveAll(folder))
	wantRiffle(t, 0, "match the signed root", "log", "export", "--data", s.data)
	require.NoError(t, os.Truncate(filepath.Join(folder, "checkpoint"), 9))
	wantRiffle(t, 1, "checkpoint of the archive differs", "log", "check", "--data", s.data)
	wantRiffle(t, 1, "checkpoint of the archive differs", "log", "export", "--data", s.data, "--remove")
	require.NoError(t, os.RemoveAll(folder))
	wantRiffle(t, 0, "removed ", "log", "export", "--data", s.data, "--remove")
}

// SQLite can create no files beside a store or an archive, as in a read-only folder: it follows no
// links.
func TestLogWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"--rotate", "100"}}.start(t)
	id := s.shuffle(smallShuffle).AuditID
	s.fillLogsBefore(2)
	s.stop()
	wantRiffle(t, 0, "removed ", "log", "export", "--data", s.data, "--remove")
	for _, name := range []string{"archive/index.db-shm", "successors/2/riffle.db-shm"} {
		_ = os.Remove(filepath.Join(s.data, name)) // a reader may have left it
		require.NoError(t, os.Symlink("nowhere", filepath.Join(s.data, name)))
	}
	wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", s.data)
	wantRiffle(t, 0, id, "proof", "--data", s.data, id)
	require.NoError(t, os.WriteFile(filepath.Join(s.data, "archive/index.db-wal"), []byte("not read"), 0o600))
	wantRiffle(t, 2, "opening ", "log", "check", "--data", s.data)
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

	alone := filepath.Join(t.TempDir(), "archive")
	args := []string{"proof", "--from", alone, shown.AuditID}
	wantRiffle(t, 2, "there is no whole archive in "+alone, args...)
	require.NoError(t, os.CopyFS(alone, os.DirFS(filepath.Join(s.data, "archive"))))
	wantRiffle(t, 2, "there is no key file ", args...)
	args = append(args, "--key", filepath.Join(t.TempDir(), "log.pub"))
	require.NoError(t, os.WriteFile(args[5], []byte(textMember(t, s.get("/audits/"+shown.AuditID+"/proof"), "log_key")), 0o600))
	wantRiffle(t, 2, "there is no seed key at ", args...)
	args = append(args, "--seed-key", filepath.Join(s.data, "seed.key"))
	wantRiffle(t, 0, `"seed":null`, args...)
	wantRiffle(t, 0, "seeds that were revealed there are left out", args...)
	other := launch{}.start(t)
	wantRiffle(t, 2, "use --key to name its key", append(args, "--key", filepath.Join(other.data, "log.key"))...)
	wantRiffle(t, 2, "use --seed-key to name the key of this store", append(args, "--seed-key", filepath.Join(other.data, "seed.key"))...)
	bundles, err := filepath.Glob(filepath.Join(alone, "tile", "entries", "000*", "*"))
	require.NoError(t, err)
	bundle, err := os.ReadFile(bundles[0])
	require.NoError(t, err)
	bundle[bytes.Index(bundle, []byte(shown.Commitment))] ^= 1
	require.NoError(t, os.WriteFile(bundles[0], bundle, 0o600))
	wantRiffle(t, 1, fmt.Sprintf("record %d ", shown.LogIndex), args...)
	wantRiffle(t, 0, `"seed":null`, append(args[:3:3], append([]string{hidden.AuditID}, args[4:]...)...)...)
	require.NoError(t, os.Remove(bundles[0]))
	wantRiffle(t, 1, "lacks tile/entries/000", args...)

	s.stop()
	other.stop()
	follower := filepath.Join(s.data, "successors", "2")
	wantRiffle(t, 0, "new log ", "log", "close", "--data", follower, "--new-data", t.TempDir(), "--new-origin", "example.com/new")
	wantRiffle(t, 0, "seeds that were revealed there are left out", "proof", "--data", s.data, hidden.AuditID)
	require.NoError(t, os.RemoveAll(follower))
	require.NoError(t, os.Rename(other.data, follower))
	wantRiffle(t, 2, "is another log than the one that follows", "proof", "--data", s.data, hidden.AuditID)
}
