package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/sqlite"
)

// tool returns the path of riffle, which is built with the program.
func tool() string { return filepath.Join(filepath.Dir(program), "riffle") }

// riffle runs riffle under a command, which may be nil, and returns its exit code and output.
func riffle(t *testing.T, under []string, args ...string) (code int, output string) {
	t.Helper()
	args = slices.Concat(under, []string{tool()}, args)
	command := exec.CommandContext(t.Context(), args[0], args[1:]...)
	command.Env = environment()
	text, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(text)
}

// wantRiffle runs riffle and checks its exit code and a part of its output.
func wantRiffle(t *testing.T, code int, part string, args ...string) {
	t.Helper()
	got, output := riffle(t, nil, args...)
	assert.Equalf(t, code, got, "riffle %q exits with %d:\n%s", args, got, output)
	assert.Containsf(t, output, part, "riffle %q", args)
}

// sizeOf returns the number of records in the SQLite store of a data folder.
func sizeOf(t *testing.T, data string) uint64 {
	t.Helper()
	store, err := sqlite.OpenReader(t.Context(), filepath.Join(data, "riffle.db"))
	require.NoError(t, err)
	head, err := store.Head(t.Context())
	require.NoError(t, err)
	require.NoError(t, store.Close())
	return head.Size
}

// A life is a log's requests that have to go on in a copy of its store: repeated requests, an open
// commitment, and a shoe that is half dealt.
type life struct {
	keyed, draws []*keyed
	commitment   commitment
}

func newLife(s *server) *life {
	s.t.Helper()
	l := &life{keyed: newKeyed("life", 20), commitment: s.commit(smallShuffle)}
	l.draws = newDraws(s.newShoe(`{"deck": "standard52", "cut": 26}`).ID, "life", 26)
	require.Equal(s.t, 20, sendAll(l.keyed, (*keyed).sendAgain, s))
	require.Equal(s.t, 13, sendAll(l.draws[:13], (*keyed).sendAgain, s))
	return l
}

// goOn repeats the requests, whose answers must be the first ones, and sends the others. It can be
// called twice.
func (l *life) goOn(s *server) {
	s.t.Helper()
	assert.Equal(s.t, 20, sendAll(l.keyed, (*keyed).sendAgain, s), "requests are repeated")
	assert.Equal(s.t, 26, sendAll(l.draws, (*keyed).sendAgain, s), "draws are repeated")
	dealtOnce(s.t, l.draws, 52)
	if s.commitment(l.commitment.ID).Status == "open" {
		s.wantOK(s.useCommitment(l.commitment.ID))
	}
	assert.Equal(s.t, "used", s.commitment(l.commitment.ID).Status)
}

// follow starts a backup that follows.
func follow(t *testing.T, data, folder string) (*exec.Cmd, *logBuffer) {
	t.Helper()
	output := &logBuffer{}
	follower := exec.CommandContext(t.Context(), tool(), "backup", "--data", data, "--to", folder, "--follow")
	follower.Stdout, follower.Stderr, follower.Env = output, output, environment()
	require.NoError(t, follower.Start())
	return follower, output
}

// TestBackupFollows follows a service under load, and kills the follower again and again. The machine of
// the service is lost then, and the backup goes on in its place.
func TestBackupFollows(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	l := newLife(s)
	folder := filepath.Join(t.TempDir(), "backup")
	load := loadSteadily(t, 8, s)
	kills := 8
	if everyFault {
		kills = 100
	}
	for i := range kills {
		follower, _ := follow(t, s.data, folder)
		time.Sleep(time.Duration(i*37%400) * time.Millisecond)
		require.NoError(t, follower.Process.Kill())
		_ = follower.Wait()
	}
	proceed(t, s)
	wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", s.data) // while it grows
	follower, output := follow(t, s.data, folder)
	until(t, "the follower reads", func() bool { return strings.Contains(output.String(), "following") })
	proceed(t, s)
	load.stop()
	until(t, "the backup has all records", func() bool { return sizeOf(t, folder) == sizeOf(t, s.data) })
	wantRiffle(t, 2, "another process is writing to this store", "backup", "--data", s.data, "--to", folder)
	require.NoError(t, follower.Process.Signal(syscall.SIGTERM))
	require.NoError(t, follower.Wait())
	s.kill()
	follower, output = follow(t, s.data, folder)
	until(t, "the follower reads", func() bool { return strings.Contains(output.String(), "following") })
	require.NoError(t, os.Rename(filepath.Join(s.data, "riffle.db"), filepath.Join(s.data, "moved.db")))
	require.Error(t, follower.Wait())
	require.Contains(t, output.String(), "riffle.db was deleted or replaced: start the backup again")
	require.NoError(t, os.Rename(filepath.Join(s.data, "moved.db"), filepath.Join(s.data, "riffle.db")))

	restored := filepath.Join(t.TempDir(), "restored")
	wantRiffle(t, 0, "match the signed root", "restore", "--from", folder, "--data", restored, "--checkpoint", filepath.Join(s.data, "checkpoint"))
	wantRiffle(t, 0, "records      all ", "restore", "--from", folder, "--data", restored) // checks it again
	wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", restored)
	again := launch{data: restored}.start(t)
	l.goOn(again)
	again.shuffle(smallShuffle)
	for _, d := range load.answered {
		require.Less(t, d.LogIndex, sizeOf(t, folder))
	}
	again.stop()
	wantRiffle(t, 1, "the store lost records, or comes from an older backup", "backup", "--data", s.data, "--to", restored)
}

// TestBackupKilledAtAnyWrite kills a backup, a restore and a copy at their writes. They go on when
// they are repeated, and nothing starts on what they left.
func TestBackupKilledAtAnyWrite(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	l := newLife(s)
	for range 30 {
		s.shuffle(largeShuffle)
	}
	s.stop()
	faults := []string{"pwrite64:signal=KILL:when=1", "pwrite64:signal=KILL:when=7", "pwrite64:signal=KILL:when=30", "renameat:signal=KILL:when=3", "renameat:signal=KILL:when=4"}
	if everyFault {
		for _, n := range sequence(1, 150, 1) {
			faults = append(faults, fmt.Sprintf("pwrite64:signal=KILL:when=%d", n), fmt.Sprintf("write:signal=KILL:when=%d", n))
		}
	}
	killed := 0
	for _, fault := range faults {
		folder, restored, moved := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored"), filepath.Join(t.TempDir(), "moved")
		for _, args := range [][]string{
			{"backup", "--data", s.data, "--to", folder},
			{"restore", "--may-fork", "--from", folder, "--data", restored},
			{"log", "copy", "--data", restored, "--to", moved},
		} {
			under, _ := strace(t, fault)
			if code, output := riffle(t, under, args...); code != 0 {
				killed++
				to := args[len(args)-1]
				// A backup is whole with its last record; before, its checkpoint has records that it lacks.
				if _, err := os.Stat(filepath.Join(to, "riffle.db")); err == nil && args[0] != "backup" && !whole(output, to, sizeOf(t, s.data)) {
					for _, key := range []string{"log.key", "seed.key"} { // as a key command would have them
						text, err := os.ReadFile(filepath.Join(s.data, key))
						require.NoError(t, errors.Join(err, os.WriteFile(filepath.Join(to, key), text, 0o600)))
					}
					launch{data: to}.refused(t)
				}
			} else if args[0] != "backup" {
				continue
			}
			wantRiffle(t, 0, "match the signed root", args...)
		}
		launch{data: restored}.refused(t, "the log was moved to another store")
		wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", restored)
		wantRiffle(t, 2, "was moved to "+filepath.Join(moved, "riffle.db")+": a second copy would fork the log", "log", "copy", "--data", restored, "--to", t.TempDir())
		again := launch{data: moved}.start(t)
		l.goOn(again)
		again.stop()
		for _, draw := range l.draws[13:] { // the next copy does not have them
			draw.first = nil
		}
	}
	assert.Greater(t, killed, 2*len(faults), "the number of kills")
}

// whole reports whether a killed copy into a folder may have all records of a log, given its size:
// all were checked, or all but the last, perhaps before the command could say so.
func whole(output, folder string, size uint64) bool {
	checked, _ := os.ReadFile(filepath.Join(folder, "checked"))
	return strings.Contains(output, "match the signed root") ||
		regexp.MustCompile(fmt.Sprintf(`"size":(%d|%d),`, size-1, size)).Match(checked)
}

// TestRestoreIntoDatabaseIsKilled kills a restore into PostgreSQL between its statements.
func TestRestoreIntoDatabaseIsKilled(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	l := newLife(s)
	s.stop()
	killed := 0
	for _, n := range []int{10, 15, 25} {
		db, folder := newDatabase(t), filepath.Join(t.TempDir(), "data")
		args := []string{"restore", "--from", s.data, "--data", folder, "--store", db.url, "--may-fork"}
		under, _ := strace(t, fmt.Sprintf("write:signal=KILL:when=%d", n))
		restored := launch{data: folder, args: []string{"-store", db.url, "-create=never"}}
		code, output := riffle(t, under, args...)
		if killed += code; code != 0 && !whole(output, folder, sizeOf(t, s.data)) {
			restored.refused(t)
		}
		wantRiffle(t, 0, "match the signed root", args...)
		again := restored.start(t)
		l.goOn(again)
		again.stop()
		for _, draw := range l.draws[13:] {
			draw.first = nil
		}
	}
	assert.Equal(t, -3, killed, "the number of kills, each with the exit code -1")
}

// TestLogMovesBetweenEngines moves a log from SQLite to PostgreSQL and back, ahead of time and then with
// the service stopped.
func TestLogMovesBetweenEngines(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	l := newLife(s)
	db := newDatabase(t)
	move := []string{"log", "copy", "--data", s.data, "--to", db.url}
	wantRiffle(t, 2, "is in use: stop the service first", move...)
	wantRiffle(t, 0, "", append(move, "--ahead")...)
	moved := launch{data: s.data, args: []string{"-store", db.url}}
	s.shuffle(smallShuffle)
	s.stop()
	moved.refused(t, "it is a copy that is not finished")
	wantRiffle(t, 0, "moved        the old store takes no more records", move...)
	launch{data: s.data}.refused(t, "the log was moved to another store")
	wantRiffle(t, 0, "", "log", "copy", "--data", s.data, "--to", db.url, "--ahead") // which has all
	wantRiffle(t, 0, "match the signed root", move...)                               // again

	one, two := moved.start(t), db.replica()
	two.args, two.data = []string{"-key", filepath.Join(s.data, "log.key")}, t.TempDir()
	other := two.start(t)
	l.goOn(one)
	l.goOn(other)
	other.shuffle(smallShuffle)
	wantRiffle(t, 0, "not compared: the log was moved", "log", "check", "--data", s.data, "--anchor", filepath.Join(s.data, "checkpoint"))
	one.stop()
	folder := filepath.Join(t.TempDir(), "back")
	back := []string{"log", "copy", "--data", s.data, "--store", db.url, "--to", folder}
	wantRiffle(t, 2, "is in use", back...)
	other.stop()
	wantRiffle(t, 2, "the target has other records than the source", "log", "copy", "--data", s.data, "--to", db.url, "--ahead")
	alias := strings.Replace(db.url, "127.0.0.1", "localhost", 1)
	wantRiffle(t, 2, "is the old store", "log", "copy", "--data", s.data, "--store", db.url, "--to", alias)
	wantRiffle(t, 0, "moved        the old store takes no more records", back...)
	moved.refused(t, "the log was moved to another store")
	last := launch{data: folder}.start(t)
	l.goOn(last)
	last.stop()
	wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", folder)
}
