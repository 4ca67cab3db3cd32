package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
	"riffle/internal/ledger/postgres/postgrestest"
)

// twoLogs is a file with two logs beside the main one.
const twoLogs = `
deckofcards: true
logs:
  - {name: poker, origin: riffle.example/poker, deadline: 1h}
  - {name: bridge}
`

// TestLogsOfAFile serves several logs, each with files of its own and all else that a log has.
func TestLogsOfAFile(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	digest := token.Digest()
	l, _ := configured(t, twoLogs+fmt.Sprintf(`
anonymous: {may: [shuffle, deal, read, metrics]}
keys: [{name: k, sha256: %x, may: [shuffle, deal, read], logs: [poker]}]
`, digest))
	l.env = []string{"RIFFLE_SEED_KEY=" + strings.Repeat("ab", 32)} // of the main log
	l.data = filepath.Join(t.TempDir(), "data")
	s := l.start(t)
	for _, name := range []string{"poker", "bridge"} {
		for _, file := range []string{"riffle.db", "log.key", "seed.key", "checkpoint"} {
			info, err := os.Stat(filepath.Join(l.data, "logs", name, file))
			assert.Truef(t, err == nil && info.Mode().Perm() == 0o600, "%s of %s: %v, %v", file, name, info, err)
		}
	}
	_, err := os.Stat(filepath.Join(l.data, "seed.key"))
	assert.Error(t, err, "the main log has the key of RIFFLE_SEED_KEY, and a file")
	keys := map[string]bool{}
	for _, name := range []string{"main", "poker", "bridge"} {
		made := s.in(name).load(2, 5, smallShuffle)
		require.Lenf(t, made.answered, 10, "%s: %d answers, %v", name, len(made.answered), made.failed)
		s.in(name).checkLog("fault", made.answered)
		keys[string(s.in(name).get("/log/key").body)] = true
	}
	assert.Truef(t, len(keys) == 3 && strings.HasPrefix(string(s.in("poker").get("/log/key").body), "riffle.example/poker+"),
		"the keys of the logs: %v", keys)
	for name, want := range map[string]int{"main": http.StatusForbidden, "poker": http.StatusOK, "bridge": http.StatusForbidden} {
		a := s.in(name).post("/shuffle", `{"size": 5}`, "Authorization", "Bearer "+string(token))
		assert.Equalf(t, want, a.status, "a key for poker in %s: %v", name, a)
	}

	// The other API has the decks of a log, and pictures at its paths.
	deck := s.in("poker").get("/api/deck/new/draw/?count=1")
	id := textMember(t, deck, "deck_id")
	for _, path := range []string{"/api/deck/" + id + "/", "/api/deck/" + id + "/draw/?count=1", "/api/deck/" + id + "/pile/p/list/", "/api/deck/" + id + "/shuffle/"} {
		for name, want := range map[string]int{"main": http.StatusNotFound, "bridge": http.StatusNotFound, "poker": http.StatusOK} {
			a := s.in(name).get(path)
			assert.Equalf(t, want, a.status, "%s of a deck of poker in %s: %v", path, name, a)
		}
	}
	at := "http://" + s.addr + "/logs/poker/static/img/"
	assert.Truef(t, strings.Count(string(deck.body), at) == 3 && !strings.Contains(string(s.get("/api/deck/new/draw/?count=1").body), "/logs/"),
		"the pictures of a card of poker: %s", deck.body)
	a := s.in("poker").get("/static/img/back.png")
	assert.Equalf(t, http.StatusOK, a.status, "a picture: %v", a)
	s.stop() // which writes the lines that wait
	for _, name := range []string{"main", "poker", "bridge"} {
		assert.Containsf(t, s.log.String(), fmt.Sprintf(`"msg":"request","log":%q,"method":"POST","route":"/shuffle","status":200`, name),
			"the access log has no shuffle of the log %s", name)
	}
	again := l.start(t)
	assert.GreaterOrEqual(t, again.metric("riffle_log_size", `log="poker"`), 13.0, "records of poker after a restart")
}

// TestNoLogOpens starts with failing logs only, and then with one that opens.
func TestNoLogOpens(t *testing.T) {
	t.Parallel()
	file := "create: never\n" + twoLogs
	l, path := configured(t, file)
	l.refused(t, "the log main: ", "the log poker: ", "the log bridge: ", "create=never requires one")
	writeConfig(t, path, strings.Replace(file, "{name: bridge}", "{name: bridge, create: auto}", 1))
	s := l.start(t)
	s.in("bridge").shuffle(smallShuffle)
	s.post("/shuffle", smallShuffle).problem(t, http.StatusServiceUnavailable)
	a := s.get("/readyz")
	assert.Equalf(t, http.StatusOK, a.status, "/readyz with one log of three: %v", a)
	s.stop()
}

// TestRemovedLog takes logs out of the file. One with open shoes stays until it is named as retired,
// and shows them then.
func TestRemovedLog(t *testing.T) {
	t.Parallel()
	l, path := configured(t, twoLogs)
	l.data = filepath.Join(t.TempDir(), "data")
	s := l.start(t)
	poker := s.in("poker")
	shoe := textMember(t, poker.post("/shoes", `{"deck": "standard52"}`), "shoe_id")
	s.in("bridge").shuffle(smallShuffle)

	const without = "logs: [{name: bridge}]\nhosts: [riffle.example]"
	writeConfig(t, path, without)
	s.signal(syscall.SIGHUP)
	until(t, "the file is refused", func() bool { _, ok := s.logged("ERROR", "reloading failed, and nothing was changed"); return ok })
	line, _ := s.logged("ERROR", "reloading failed, and nothing was changed")
	if text := fmt.Sprint(line["mistakes"]); !strings.Contains(text, path+": the log poker is not named any more, and has 1 open shoes; name it with retired: true") {
		t.Errorf("the mistakes are %s", text)
	}
	assert.False(t, s.answersUnder("other.example"), "a part of the refused file was applied")
	assert.False(t, s.answersUnder("riffle.example"), "a part of the refused file was applied")
	poker.post("/shoes/"+shoe+"/draw", `{}`)
	s.stop()
	l.refused(t, filepath.Join(l.data, "logs", "poker")+" has a log that the configuration does not name, with 1 open shoes. Name it with retired: true")

	writeConfig(t, path, "deckofcards: true\nlogs: [{name: poker, retired: true}, {name: bridge, deadline: 2h}]")
	s = l.start(t)
	poker = s.in("poker")
	if a := poker.get("/shoes/" + shoe); a.status != http.StatusOK || !strings.Contains(string(a.body), `"remaining":51`) {
		t.Errorf("the shoe: %v", a)
	}
	assert.Contains(t, poker.post("/shoes/"+shoe+"/draw", `{}`).problem(t, http.StatusForbidden), "retired", "a draw")
	poker.post("/shuffle", smallShuffle).problem(t, http.StatusForbidden)
	deck := strings.ReplaceAll(shoe, "-", "")
	a := poker.get("/api/deck/" + deck + "/shuffle/")
	assert.NotEqualf(t, http.StatusOK, a.status, "the other API: %v", a)
	a = poker.get("/api/deck/new/")
	assert.Truef(t, a.status == http.StatusForbidden && strings.Contains(string(a.body), "retired"), "the other API: %v", a)
	s.in("bridge").shuffle(smallShuffle)

	// bridge has no shoe: it goes when the service is restarted.
	writeConfig(t, path, "logs: [{name: poker, retired: true}]")
	s.signal(syscall.SIGHUP)
	until(t, "the change is logged", func() bool {
		_, ok := s.logged("WARN", "logs changed in "+path+"; they apply after a restart")
		return ok
	})
	s.in("bridge").shuffle(smallShuffle)
	s.stop()
	s = l.start(t)
	s.in("bridge").get("/decks").problem(t, http.StatusNotFound)
	_, ok := s.logged("WARN", "a folder has a log that the configuration does not name, and that is not served")
	assert.Truef(t, ok, "no warning of the folder:\n%s", s.log)
}

// TestDatabaseServerDownAmongOthers runs four logs on two PostgreSQL servers through two replicas,
// and stops one of the servers. Its logs answer 503 and are served again when it is back, without a
// restart of the service; the other logs go on meanwhile, on both replicas. Nothing is lost.
func TestDatabaseServerDownAmongOthers(t *testing.T) {
	t.Parallel()
	failing := postgrestest.For(t)
	databases := []*database{newDatabase(t), newDatabase(t), databaseOn(t, failing), databaseOn(t, failing)}
	names := []string{"main", "poker", "bridge", "mahjong"}
	keys := t.TempDir()
	var file strings.Builder
	for i, name := range names {
		folder := filepath.Join(keys, name)
		require.NoError(t, os.Mkdir(folder, 0o700))
		store, key := databases[i].url, filepath.Join(folder, "log.key")
		if name == "main" {
			fmt.Fprintf(&file, "patience: 2s\nstore: %q\nkey: %s\nlogs:\n", store, key)
			continue
		}
		fmt.Fprintf(&file, "- {name: %s, store: %q, key: %s}\n", name, store, key)
	}
	l, _ := configured(t, file.String())
	replicas := []*server{l.start(t)}
	replicas = append(replicas, l.start(t))
	var served []*server
	for _, name := range names {
		served = append(served, replicas[0].in(name), replicas[1].in(name))
	}
	load := loadSteadily(t, 2, served...) // of each log on each replica, until the end
	proceed(t, served...)
	assert.NoError(t, failing.Stop(postgrestest.Immediate))
	for _, s := range replicas {
		for _, name := range []string{"bridge", "mahjong"} {
			until(t, name+" is closed", func() bool {
				return s.get("/readyz").status == http.StatusOK && strings.Contains(string(s.in(name).get("/readyz").body), "not open")
			})
			s.in(name).post("/shuffle", smallShuffle).problem(t, http.StatusServiceUnavailable)
			s.in(name).get("/log/checkpoint").problem(t, http.StatusServiceUnavailable)
		}
	}
	proceed(t, served[:4]...) // of main and poker
	assert.NoError(t, failing.Restart())
	for _, s := range replicas {
		for _, name := range names {
			until(t, name+" is ready", func() bool { return s.in(name).get("/readyz").status == http.StatusOK })
		}
	}
	proceed(t, served...)
	load.stop()
	for i := 0; i < len(served); i += 2 {
		s := served[i+i/2%2] // each log on one of the replicas
		size := s.checkLog("fault", load.answered[s.prefix])
		t.Logf("%s: %d answers, %d rejections, the log has %d", s.prefix, len(load.answered[s.prefix]), load.rejected[s.prefix], size)
	}
	r := load.rejected
	assert.Truef(t, r[""]+r["/logs/poker"] == 0 && r["/logs/bridge"] != 0 && r["/logs/mahjong"] != 0, "rejected requests by log: %v", r)
	for _, s := range replicas {
		s.stop()
	}
}
