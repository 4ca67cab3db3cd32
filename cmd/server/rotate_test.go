package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestYearInSmall has at least 10 logs follow each other under load, or 20 with everyFault, on each
// engine. A server is killed at each change, and others of the same log go on. Nothing that was
// answered is lost or fails, a shoe is dealt across all logs, and all old records are proven.
func TestYearInSmall(t *testing.T) {
	t.Parallel()
	db, rounds := newDatabase(t), 10
	if everyFault {
		rounds = 20
	}
	for name, l := range map[string]launch{"SQLite": {}, "PostgreSQL": db.replica()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.args = append(l.args, "--rotate", "100", "--anchor", filepath.Join(t.TempDir(), "anchor"))
			list := []*server{l.start(t)}
			if name == "PostgreSQL" {
				list = append(list, l.start(t))
			}
			before := newLife(list[0], `{"deck": "standard52", "cut": 26}`)
			spare := list[0].shoe(list[0].newShoe(`{"deck": "standard52", "expires_in": 1}`).ID)
			book := list[0].commit(`{"size": 6, "draw": 1, "count": 100, "expires_in": 86400}`)
			first := list[0].nextRound(book, 1)
			load := &loadResult{rejected: map[int]int{}}
			for i := range rounds {
				list = rotateOnce(t, l, list, i, load)
				if i < 12 {
					assert.NoError(t, before.draws[13+i].sendAgain(list[0]))
				}
			}
			s := list[0]
			s.fillLogsBefore(rounds + 1) // however early a server was killed
			before.goOn(s)
			assert.Equal(t, "expired", s.shoe(spare.ID).Status)
			s.bookEnded(book, first)
			assert.Empty(t, load.rejected, "rejected requests")
			t.Logf("%d shuffles", len(load.answered))
			var proven sync.WaitGroup
			for part := range 4 {
				proven.Go(func() {
					for i := part; i < len(load.answered); i += 4 {
						if d := load.answered[i]; d.record != nil {
							s.checkProof(d, d.record)
						} else {
							s.wantOK(s.get("/audits/" + d.AuditID + "/proof"))
						}
					}
				})
			}
			proven.Wait()
			remove := append([]string{"log", "export", "--remove"}, sourceOf(s.data, db, name == "PostgreSQL")...)
			wantRiffle(t, 2, "is in use: restart the service first", remove...)
			before.goOn(s)
			for _, s := range list {
				s.stop()
			}
			exportSome(t, s.data, db, name == "PostgreSQL")
			checkAll(t, lastLog(t, s.data), sourceOf(s.data, db, name == "PostgreSQL"), l.args[len(l.args)-1])
			l.data = s.data
			s = l.start(t)
			before.goOn(s)
			for i := 0; i < len(load.answered); i += 10 {
				s.wantOK(s.get("/audits/" + load.answered[i].AuditID + "/proof"))
			}
			if name == "PostgreSQL" {
				return
			}
			s.stop()
			last := fmt.Sprint("successors/", lastLog(t, s.data))
			folder := filepath.Join(s.data, last)
			require.NoError(t, os.Rename(folder, folder+".away"))
			l.refused(t, "the folder of the next one is missing")
			require.NoError(t, os.Mkdir(folder, 0o700))
			l.refused(t, "the store has 0 records, and the anchor ")
			require.NoError(t, os.RemoveAll(folder))
			require.NoError(t, os.Rename(folder+".away", folder))
			backup := filepath.Join(t.TempDir(), "backup")
			wantRiffle(t, 0, last, "backup", "--data", s.data, "--to", backup)
			wantRiffle(t, 0, last, "restore", "--from", backup, "--data", backup+"2")
			s = launch{data: backup + "2"}.start(t)
			before.goOn(s)
			forgetSeeds(t, s, load.answered[0])
		})
	}
}

// nextRound uses the next round of a book, which must be the one with a number.
func (s *server) nextRound(book commitment, want int) (id string) {
	s.t.Helper()
	var made struct {
		Round   int
		AuditID string `json:"audit_id"`
	}
	s.read(s.useCommitment(book.ID), &made)
	require.Equal(s.t, want, made.Round)
	var v struct{ Verified bool }
	s.read(s.get("/audits/"+made.AuditID+"/verify"), &v)
	assert.True(s.t, v.Verified)
	return made.AuditID
}

// bookEnded checks that a book ended with its log, in which its rounds are still proven.
func (s *server) bookEnded(book commitment, round string) {
	s.t.Helper()
	refused := s.useCommitment(book.ID)
	assert.Equal(s.t, http.StatusConflict, refused.status)
	assert.Contains(s.t, string(refused.body), "The book is over after 1 of 100 rounds")
	assert.Equal(s.t, "void", s.commitment(book.ID).Status)
	files := make([]string, 2)
	for i, id := range []string{book.ID, round} {
		files[i] = filepath.Join(s.t.TempDir(), "proof.json")
		require.NoError(s.t, os.WriteFile(files[i], s.get("/audits/"+id+"/proof").body, 0o600))
	}
	var key struct {
		LogKey string `json:"log_key"`
	}
	s.read(s.get("/audits/"+round+"/proof"), &key)
	code, output := riffle(s.t, nil, "verify", "--key", key.LogKey, files[0], files[1])
	assert.Equal(s.t, 2, code, output) // the seed is held back
	assert.Contains(s.t, output, "committed    ok:")
}

// rotateOnce waits until another log follows, under load, and kills and restarts one of the servers at that
// moment or a little later.
func rotateOnce(t *testing.T, l launch, list []*server, round int, load *loadResult) []*server {
	killed := round % len(list)
	var group sync.WaitGroup
	end := make(chan struct{})
	for i, s := range list {
		group.Go(func() {
			for done := false; !done; {
				a, err := s.ask(http.MethodPost, "/shuffle", smallShuffle)
				if i == killed && err != nil {
					return
				}
				require.NoError(t, err)
				load.add(s, a, nil)
				select {
				case <-end:
					done = true
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	next := filepath.Join(list[killed].data, "successors", fmt.Sprint(round+2))
	until(t, next+" is there", func() bool {
		_, err := os.Stat(next)
		return err == nil
	})
	time.Sleep(time.Duration(round%7) * 4 * time.Millisecond)
	list[killed].kill()
	l.data = list[killed].data
	list[killed] = l.start(t)
	close(end)
	group.Wait()
	return list
}

// lastLog returns the number of the last log that has begun in a folder. It is larger the longer a server takes
// to start again, since the other goes on.
func lastLog(t *testing.T, data string) int {
	checkpoints, err := filepath.Glob(filepath.Join(data, "successors", "*", "checkpoint"))
	require.NoError(t, err)
	return len(checkpoints) + 1
}

// fillLogsBefore shuffles until the log of a number has begun.
func (s *server) fillLogsBefore(number int) {
	until(s.t, fmt.Sprintf("log %d has begun", number), func() bool {
		s.shuffle(smallShuffle)
		return lastLog(s.t, s.data) >= number
	})
}

// checkAll checks the logs of a folder with one command, twice.
func checkAll(t *testing.T, logs int, source []string, anchor string) {
	state := filepath.Join(t.TempDir(), "state")
	for _, says := range []string{" all ", " the first "} {
		code, output := riffle(t, nil, append([]string{"log", "check", "--anchor", anchor, "--state", state}, source...)...)
		assert.Equal(t, 0, code, output)
		assert.Equal(t, logs, strings.Count(output, "\nThe log adds up."), output)
		assert.Equal(t, logs, strings.Count(output, "records     "+says), output)
		assert.Equal(t, 1, strings.Count(output, "\nanchor "), output)
	}
}

// sourceOf returns the flags that name the log in a folder.
func sourceOf(folder string, db *database, ofDatabase bool) []string {
	args := []string{"--data", folder}
	if ofDatabase {
		args = append(args, "--store", db.url, "--key", db.key)
		if number := filepath.Base(folder); filepath.Base(filepath.Dir(folder)) == "successors" {
			args[3] += "&search_path=riffle_" + number
		}
	}
	return args
}

// exportSome exports the first logs of a folder, and removes their stores. The command is killed at
// its writes to files and to PostgreSQL, and repeated.
func exportSome(t *testing.T, data string, db *database, ofDatabase bool) {
	for _, name := range []string{".", "successors/2", "successors/3"} {
		args := append([]string{"log", "export", "--remove"}, sourceOf(filepath.Join(data, name), db, ofDatabase)...)
		for n, code := 6, -1; code != 0; n *= 2 {
			under, _ := strace(t, fmt.Sprintf("write:signal=KILL:when=%d", n))
			code, _ = riffle(t, under, args...)
		}
		wantRiffle(t, 0, ", before\n", args...)
	}
	source := sourceOf(filepath.Join(data, fmt.Sprint("successors/", lastLog(t, data))), db, ofDatabase)
	wantRiffle(t, 2, "the log has not ended", append([]string{"log", "export"}, source...)...)
}

// forgetSeeds forgets the seeds of the first log, which has a shuffle, while a server has it open.
func forgetSeeds(t *testing.T, s *server, d shuffled) {
	wantRiffle(t, 2, "must not be negative", "log", "forget", "--data", s.data, "--older=-1h")
	wantRiffle(t, 0, "kept ", "log", "forget", "--data", s.data, "--older", "1h")
	s.wantOK(s.get("/audits/" + d.AuditID + "/verify"))
	wantRiffle(t, 0, "forgotten ", "log", "forget", "--data", s.data)
	gone := s.get("/audits/" + d.AuditID + "/verify")
	assert.Equalf(t, http.StatusGone, gone.status, "%s", gone.body)
	s.checkProof(d, d.record)
	wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", s.data)
}

// TestDiskIsFullWhenALogEnds leaves so little room on a disk that a log is due and could end, but
// the next one could not begin. So it does not end, and goes on until there is room.
func TestDiskIsFullWhenALogEnds(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (s *server, folder string, free int64){
		"SQLite": func(t *testing.T) (*server, string, int64) {
			data := t.TempDir()
			disk := newDisk(t, data, "24m")
			s := launch{data: data, wrapper: disk.wrapper, args: []string{"--rotate", "100"}}.start(t)
			s.data = disk.folder
			return s, disk.folder, 460 << 10
		},
		"PostgreSQL": func(t *testing.T) (*server, string, int64) {
			db := newDatabase(t)
			folder := db.SmallDisk(t, db.name, 24<<20)
			return db.replica("--rotate", "100").start(t), folder, 120 << 10
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, folder, free := start(t)
			answered := s.load(4, 24, smallShuffle).answered
			filler := filepath.Join(folder, "filler")
			var disk syscall.Statfs_t
			require.NoError(t, syscall.Statfs(folder, &disk))
			require.NoError(t, os.WriteFile(filler, make([]byte, int64(disk.Bavail)*disk.Bsize-free), 0o600))
			answered = append(answered, s.load(1, 7, smallShuffle).answered...)
			until(t, "the log is due", func() bool { return strings.Contains(s.log.String(), "ending the log: ") })
			assert.Contains(t, s.log.String(), `"reason":"space"`)
			answered = append(answered, s.shuffle(smallShuffle))
			assert.Len(t, answered, 104)
			require.NoError(t, os.Truncate(filler, 0))
			until(t, "the next log has begun", func() bool {
				answered = append(answered, s.shuffle(smallShuffle))
				return lastLog(t, s.data) == 2
			})
			for _, d := range answered {
				s.wantOK(s.get("/audits/" + d.AuditID + "/proof"))
			}
		})
	}
}

// TestPlaceOfTheNextLogIsTaken puts another log where the next one would begin. The log does not end, and
// goes on until that is moved away.
func TestPlaceOfTheNextLogIsTaken(t *testing.T) {
	t.Parallel()
	s, other := launch{args: []string{"--rotate", "100"}}.start(t), launch{}.start(t)
	other.shuffle(smallShuffle)
	other.stop()
	next := filepath.Join(s.data, "successors", "2")
	require.NoError(t, os.CopyFS(next, os.DirFS(other.data)))
	answered := s.load(4, 26, smallShuffle).answered
	until(t, "the log is due", func() bool {
		return strings.Contains(s.log.String(), "another log is where the next one would begin, in the folder "+next)
	})
	answered = append(answered, s.shuffle(smallShuffle))
	assert.Len(t, answered, 105)
	require.NoError(t, os.RemoveAll(next))
	until(t, "the next log has begun", func() bool { return lastLog(t, s.data) == 2 })
	for _, d := range answered {
		s.wantOK(s.get("/audits/" + d.AuditID + "/proof"))
	}
}

// TestRotationKilledAtAnyWrite kills a server at the writes to the log that ends and to the one
// that follows it, or to PostgreSQL. The next start goes on.
func TestRotationKilledAtAnyWrite(t *testing.T) {
	t.Parallel()
	kills := map[string][]int{"SQLite": {1, 25, 44}, "PostgreSQL": {26, 36, 46, 60}}
	if everyFault {
		kills = map[string][]int{"SQLite": sequence(1, 80, 1), "PostgreSQL": sequence(1, 80, 1)}
	}
	for engine, ns := range kills {
		for _, n := range ns {
			t.Run(fmt.Sprint(engine, n), func(t *testing.T) {
				t.Parallel()
				db, data, ofDatabase := newDatabase(t), filepath.Join(t.TempDir(), "data"), engine == "PostgreSQL"
				next := filepath.Join(data, "successors", "2")
				l, call, files := db.replica(), "write", []string{}
				if !ofDatabase {
					l, call = launch{}, "pwrite64"
					files = []string{filepath.Join(data, "riffle.db-wal"), filepath.Join(next, "riffle.db"), filepath.Join(next, "riffle.db-wal"), filepath.Join(next, "checkpoint")}
				}
				l.data = data
				s := l.start(t)
				answered := s.load(1, 100, smallShuffle).answered
				s.stop()
				l.args = append(l.args, "--rotate", "100")
				l.wrapper, _ = strace(t, fmt.Sprintf("%s:signal=KILL:when=%d", call, n), files...)
				s = l.startOrExit(t)
				until(t, "the server was killed, or the next log has begun", func() bool {
					return s.cmd.Process.Signal(syscall.Signal(0)) != nil || strings.Contains(s.log.String(), "another one follows it")
				})
				s.kill()
				l.wrapper = nil
				s = l.start(t)
				until(t, "the next log has begun", func() bool { return strings.Contains(string(s.get("/log/checkpoint").body), "/2\n1\n") })
				for _, d := range answered {
					s.wantOK(s.get("/audits/" + d.AuditID + "/proof"))
				}
				s.stop()
				for data, size := range map[string]int{data: 101, next: 1} {
					wantRiffle(t, 0, fmt.Sprintf("size         %d\n", size), append([]string{"log", "check"}, sourceOf(data, db, ofDatabase)...)...)
				}
			})
		}
	}
}

// TestReplicasEndALogTogether stops two replicas until a log is due, so that both end it at the
// same moment. All requests are answered, and one log follows each.
func TestReplicasEndALogTogether(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	s, list := db.replica().start(t), []*server{db.replica("--rotate", "100").start(t), db.replica("--rotate", "100").start(t)}
	for round := range 4 {
		var group sync.WaitGroup
		for _, r := range list {
			db.stopIdle(t, r)
			group.Go(func() {
				got := r.load(4, 5, smallShuffle)
				assert.Lenf(t, got.answered, 20, "%v %v", got.rejected, got.failed)
			})
		}
		assert.Len(t, s.load(4, 25, smallShuffle).answered, 100)
		list[0].signal(syscall.SIGCONT)
		list[1].signal(syscall.SIGCONT)
		group.Wait()
		for _, r := range list {
			r.fillLogsBefore(round + 2)
			r.shuffle(smallShuffle)
		}
	}
	_, output := riffle(t, nil, append([]string{"log", "check"}, sourceOf(s.data, db, true)...)...)
	assert.Equal(t, 5, strings.Count(output, "The log adds up."), output)
}
