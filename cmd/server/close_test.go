package main_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
)

// A handOver is the last record of a log, or the first one of the next.
type handOver struct{ ID, Kind, Predecessor, Checkpoint, Successor string }

// handOvers returns the first record and the last one of a log of fewer than 256.
func (s *server) handOvers() (first, last handOver) {
	s.t.Helper()
	size := strings.Split(string(s.get("/log/checkpoint").body), "\n")[1]
	bundle := s.get("/log/tile/entries/000.p/" + size).body
	for rest := bundle; len(rest) > 0; { // each entry is its length in two bytes, and the record
		length := 2 + int(binary.BigEndian.Uint16(rest))
		last = handOver{}
		require.NoError(s.t, json.Unmarshal(rest[2:length], &last))
		if len(rest) == len(bundle) {
			first = last
		}
		rest = rest[length:]
	}
	return first, last
}

// TestClosedLogIsFollowed closes a log on each engine, and serves it beside the one that follows it.
func TestClosedLogIsFollowed(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	for name, l := range map[string]launch{"SQLite": {}, "PostgreSQL": db.replica()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.data = filepath.Join(t.TempDir(), "old")
			s := l.start(t)
			before := newLife(s, cutShoe)
			made := s.shuffle(smallShuffle)
			next := filepath.Join(t.TempDir(), "next")
			closing := []string{"log", "close", "--data", s.data, "--new-data", next, "--new-origin", "example.com/next"}
			engine := ""
			if name == "PostgreSQL" {
				closing = append(closing, "--store", db.url, "--key", db.key)
				engine = fmt.Sprintf(", store: %q, key: %q", db.url, db.key)
			}
			wantRiffle(t, 2, "is in use: stop the service first", closing...)
			own, _, _ := strings.Cut(string(s.get("/log/key").body), "+")
			s.stop()
			older := filepath.Join(t.TempDir(), "older")
			require.NoError(t, os.CopyFS(older, os.DirFS(s.data)))
			wantRiffle(t, 2, "cannot have the origin of one before it", append(closing, "--new-origin", own)...)
			assert.NoDirExists(t, next)
			for range 2 {
				wantRiffle(t, 0, "new log      example.com/next", closing...)
			}
			other := filepath.Join(t.TempDir(), "other")
			wantRiffle(t, 2, "whose key is not in "+other+". Nothing was changed", append(closing, "--new-data", other)...)
			assert.NoDirExists(t, other)
			l.refused(t, "the log was closed, so it takes no more records")

			require.NoError(t, os.MkdirAll(filepath.Join(next, "logs"), 0o700))
			require.NoError(t, os.Rename(s.data, filepath.Join(next, "logs", "old")))
			config := filepath.Join(t.TempDir(), "riffle.yaml")
			require.NoError(t, os.WriteFile(config, []byte("logs: [{name: old, retired: true"+engine+"}]\n"), 0o600))
			s = launch{data: next, args: []string{"-config", config}}.start(t)
			first, _ := s.handOvers() // records that were carried over may follow it already
			_, last := s.in("old").handOvers()
			assert.Equal(t, "log-begin", first.Kind)
			assert.Equal(t, "log-end", last.Kind)
			assert.Equal(t, string(s.get("/log/key").body), last.Successor+"\n")
			assert.Equal(t, string(s.in("old").get("/log/key").body), first.Predecessor+"\n")
			assert.Equal(t, string(s.in("old").get("/log/checkpoint").body), first.Checkpoint)
			s.in("old").wantOK(s.in("old").get("/audits/" + made.AuditID + "/proof"))
			s.wantOK(s.post("/shuffle", smallShuffle))

			origin, _, _ := strings.Cut(first.Predecessor, "+")
			assert.Equal(t, first.Predecessor+"\n", string(s.get("/log/key?origin="+origin).body))
			assert.Equal(t, 20, sendAll(before.keyed, (*keyed).sendAgain, s), "requests are repeated")
			assert.Equal(t, 13, sendAll(before.draws[:13], (*keyed).sendAgain, s), "draws are repeated")
			before.goOn(s)
			assert.NotContains(t, s.log.String(), "carrying shoes", "the earlier log was only opening")
			for range 2 {
				s.wantOK(s.post("/audits/"+made.AuditID+"/reveal", `{"seed": "`+made.Seed+`"}`))
			}
			proof := filepath.Join(next, "proof.json")
			require.NoError(t, os.WriteFile(proof, s.get("/audits/"+made.AuditID+"/proof").body, 0o600))
			wantRiffle(t, 0, "", "verify", "--key", first.Predecessor, proof)
			assert.Equal(t, ledger.LogEnds, s.storeVersion(), "earlier programs refuse it")
			if name == "PostgreSQL" {
				return
			}
			require.NoError(t, os.RemoveAll(filepath.Join(next, "logs", "old")))
			require.NoError(t, os.Rename(older, filepath.Join(next, "logs", "old")))
			s = launch{data: next, args: []string{"-config", config}}.start(t)
			until(t, "the older copy is open", func() bool { return s.in("old").get("/log/checkpoint").status == http.StatusOK })
			s.get("/audits/"+uuid.NewString()).problem(t, http.StatusServiceUnavailable)
		})
	}
}

// TestClosedAfterAnArchive closes the last log of a folder on each engine. The first one is an
// archive only.
func TestClosedAfterAnArchive(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	for _, l := range []launch{{}, db.replica()} {
		l.args = append(l.args, "--rotate", "100")
		s := l.start(t)
		own, _, _ := strings.Cut(string(s.get("/log/key").body), "+")
		s.fillLogsBefore(2)
		s.stop()
		source := sourceOf(s.data, db, len(l.args) > 2)
		closing := append([]string{"log", "close", "--new-data", t.TempDir(), "--new-origin", "example.com/next"}, source...)
		wantRiffle(t, 0, "removed ", append([]string{"log", "export", "--remove"}, source...)...)
		wantRiffle(t, 2, "cannot have the origin of one before it", append(closing, "--new-origin", own)...)
		wantRiffle(t, 0, "/2\n", closing...)
		if l.args[0] == "--rotate" {
			wantRiffle(t, 0, "removed ", "log", "export", "--remove", "--data", filepath.Join(s.data, "successors", "2"))
			wantRiffle(t, 2, "it takes no more records", closing...)
		}
	}
}

// TestClosingKilledAtAnyWrite kills the command that closes a log at its writes. It goes on when it is
// repeated.
func TestClosingKilledAtAnyWrite(t *testing.T) {
	t.Parallel()
	kills := map[string][]int{"pwrite64": {1, 12, 25}, "write": {5, 15, 30}} // to SQLite, and to PostgreSQL
	if everyFault {
		kills = map[string][]int{"pwrite64": sequence(1, 80, 1), "write": sequence(1, 80, 1)}
	}
	for call, ns := range kills {
		for _, n := range ns {
			db, l, ofDatabase := newDatabase(t), launch{}, call == "write"
			if ofDatabase {
				l = db.replica()
			}
			s := l.start(t)
			s.shuffle(smallShuffle)
			s.stop()
			next, source := filepath.Join(t.TempDir(), "next"), sourceOf(s.data, db, ofDatabase)
			closing := append([]string{"log", "close", "--new-data", next, "--new-origin", "example.com/next"}, source...)
			under, _ := strace(t, fmt.Sprintf("%s:signal=KILL:when=%d", call, n))
			_, _ = riffle(t, under, closing...)
			code, output := riffle(t, nil, closing...)
			assert.Equalf(t, 0, code, "after a kill at %s %d: %s", call, n, output)
			for size, log := range map[string][]string{"2": source, "1": {"--data", next}} {
				wantRiffle(t, 0, "size         "+size+"\n", append([]string{"log", "check"}, log...)...)
			}
		}
	}
}
