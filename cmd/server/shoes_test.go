package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A shoe is what the service answers of one, and of what was drawn from it.
type shoe struct {
	ID        string `json:"shoe_id"`
	AuditID   string `json:"audit_id"`
	Status    string `json:"status"`
	Version   int    `json:"version"`
	Remaining int    `json:"remaining"`
	Dealt     int    `json:"dealt"`
	Cards     []card `json:"cards"`
}

type card struct {
	Number   int    `json:"card"`
	Code     string `json:"code"`
	Instance int    `json:"instance"`
	Position int    `json:"position"`
}

func (s *server) newShoe(body string) (made shoe) {
	s.t.Helper()
	s.read(s.post("/shoes", body), &made)
	return made
}

func (s *server) shoe(id string) (found shoe) {
	s.t.Helper()
	s.read(s.get("/shoes/"+id), &found)
	return found
}

// A hand is what clients together have drawn.
type hand struct {
	mu    sync.Mutex
	drawn map[int]int
}

func (h *hand) take(cards []card) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range cards {
		h.drawn[c.Number]++
	}
}

// all reports an error unless each of so many cards was drawn once.
func (h *hand) all(t *testing.T, size int) {
	t.Helper()
	for n := range size {
		if h.drawn[n] != 1 {
			t.Errorf("card %d was drawn %d times", n, h.drawn[n])
		}
	}
	if len(h.drawn) != size {
		t.Errorf("%d cards were drawn, and there are %d", len(h.drawn), size)
	}
}

// drain has 64 clients draw from one shoe, spread over the servers and over ways to draw, until nothing is left. Nobody may fail.
func drain(t *testing.T, id string, size int, servers ...*server) {
	t.Helper()
	h := &hand{drawn: map[int]int{}}
	var wait sync.WaitGroup
	for client := range 64 {
		s := servers[client%len(servers)]
		body := []string{`{}`, `{"from": "bottom", "count": 2}`, `{"from": "random"}`, `{"to": "hand-` + fmt.Sprint(client%4) + `"}`}[client%4]
		wait.Go(func() {
			for {
				a, err := s.ask(http.MethodPost, "/shoes/"+id+"/draw", body)
				switch {
				case err == nil && a.status == http.StatusUnprocessableEntity:
					if s.shoe(id).Remaining == 0 {
						return
					}
					body = `{}` // one at a time, for fewer are left than it wanted
					continue
				case err != nil || a.status != http.StatusOK:
					t.Errorf("a draw was answered %v, %v", a, err)
					return
				}
				var drawn shoe
				if err := json.Unmarshal(a.body, &drawn); err != nil {
					t.Error(err)
					return
				}
				h.take(drawn.Cards)
			}
		})
	}
	wait.Wait()
	h.all(t, size)
	for _, s := range servers {
		if found := s.shoe(id); found.Remaining != 0 {
			t.Errorf("the shoe is %+v", found)
		}
	}
}

// TestShoeUnderFire has 64 clients draw six decks from one shoe at once, through one server and through three replicas.
func TestShoeUnderFire(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	drain(t, s.newShoe(`{"deck": "standard52", "decks": 6}`).ID, 312, s)
	s.kill()

	db := newDatabase(t)
	replicas := []*server{db.replica().start(t), db.replica().start(t), db.replica().start(t)}
	made := replicas[0].newShoe(`{"deck": "standard52", "decks": 2, "reference": "fire"}`)
	drain(t, made.ID, 104, replicas...)
	if n := replicas[1].shoe(made.ID).Version; n != replicas[2].records("fire") {
		t.Errorf("the shoe is at version %d, and has %d records", n, replicas[2].records("fire"))
	}
}

// A drawing is one draw with a key, and what it was answered first.
type drawing struct {
	key   string
	first []byte
}

// ask draws, and asks again where it is told to. An answer of 200 has to be the first one again.
func (d *drawing) ask(s *server, id string) error {
	draw := func() (*answer, error) {
		return s.ask(http.MethodPost, "/shoes/"+id+"/draw?proof=true", `{"count": 2}`, "Idempotency-Key", d.key)
	}
	a, err := draw()
	for end := time.Now().Add(patience); err == nil && a.header.Get("Retry-After") != "" && time.Now().Before(end); a, err = draw() {
		time.Sleep(10 * time.Millisecond)
	}
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		return fmt.Errorf("answered %v", a)
	case d.first != nil && !bytes.Equal(a.body, d.first):
		s.t.Errorf("a draw with the key %s was answered\n%s and then\n%s", d.key, d.first, a.body)
	}
	d.first = a.body
	return nil
}

// drawings are so many draws of two cards.
func drawings(label string, n int) (list []*drawing) {
	for i := range n {
		list = append(list, &drawing{key: fmt.Sprintf("%s-%d", label, i)})
	}
	return list
}

// drawAll sends draws at the same time to servers in turn, and returns how many have an answer.
func drawAll(id string, list []*drawing, servers ...*server) (answered int) {
	outcomes := make([]error, len(list))
	var wait sync.WaitGroup
	for i, d := range list {
		wait.Go(func() { outcomes[i] = d.ask(servers[i%len(servers)], id) })
	}
	wait.Wait()
	for _, err := range outcomes {
		if err == nil {
			answered++
		}
	}
	return answered
}

// dealtOnce reports an error unless the draws have cards of their own, and all of the shoe's together.
func dealtOnce(t *testing.T, list []*drawing, size int) {
	t.Helper()
	h := &hand{drawn: map[int]int{}}
	for _, d := range list {
		var drawn shoe
		if err := json.Unmarshal(d.first, &drawn); err != nil || len(drawn.Cards) != 2 {
			t.Fatalf("a draw was answered %s: %v", d.first, err)
		}
		h.take(drawn.Cards)
	}
	h.all(t, size)
}

// TestShoeKilledWhileDealing has the server killed, or its disk fail, at steps of making draws durable while 26 clients draw at
// once, and then the same draws repeated. Each has the cards that it had, if it had any, no card is dealt twice, and none is lost.
func TestShoeKilledWhileDealing(t *testing.T) {
	t.Parallel()
	before, after := 0, 0
	for _, fault := range []string{"pwrite64:signal=KILL:when=%d", "fsync:signal=KILL:when=%d", "fsync:error=EIO:when=%d"} {
		ns := []int{2, 9, 17}
		if everyFault {
			ns = steps(1, 60, 1)
		}
		for _, n := range ns {
			data, _, wal := prepared(t)
			s := launch{data: data}.start(t)
			id := s.newShoe(`{"deck": "standard52"}`).ID
			s.stop()
			under, _ := strace(t, fmt.Sprintf(fault, n), wal)
			list := drawings(fmt.Sprintf("%.8s-%d", strings.ReplaceAll(fault, ":", "-"), n), 26)
			if s = (launch{data: data, under: under}).try(t); s.addr != "" {
				before += drawAll(id, list, s)
			}
			s.kill()
			s = launch{data: data}.start(t)
			if done := drawAll(id, list, s); done != len(list) {
				t.Errorf("%s: %d of %d retries are answered", fmt.Sprintf(fault, n), done, len(list))
			}
			after += len(list)
			dealtOnce(t, list, 52)
			s.stop()
		}
	}
	t.Logf("%d of %d draws were answered before the fault", before, after)
	if before == 0 || before == after {
		t.Error("no fault came between two draws")
	}
}

// TestShoeThroughReplicasThatDie has three replicas deal one shoe with keys, kills one and cuts connections in the middle, and asks
// all of it again through those that are left.
func TestShoeThroughReplicasThatDie(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	replicas := []*server{db.replica().start(t), db.replica().start(t), db.replica().start(t)}
	id := replicas[0].newShoe(`{"deck": "standard52", "decks": 2}`).ID
	list := drawings("dies", 52)
	var wait sync.WaitGroup
	wait.Go(func() { drawAll(id, list, replicas...) })
	until(t, "some are dealt", func() bool { return replicas[1].shoe(id).Dealt > 6 })
	replicas[0].kill()
	if err := db.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'riffle_%'"); err != nil {
		t.Error(err)
	}
	wait.Wait()
	replicas[0] = db.replica().start(t)
	for range 3 {
		if done := drawAll(id, list, replicas...); done != len(list) {
			t.Errorf("%d of %d retries are answered", done, len(list))
		}
		replicas = append(replicas[1:], replicas[0]) // each is asked of the draws of another
	}
	dealtOnce(t, list, 104)
}

// TestShoeSurvivesTheServer goes on after a kill, and expires while no server runs.
func TestShoeSurvivesTheServer(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	lasting, short := s.newShoe(`{"deck": "mahjong136"}`), s.newShoe(`{"deck": "mahjong136", "expires_in": 1}`)
	var first shoe
	s.read(s.post("/shoes/"+lasting.ID+"/draw", `{"count": 13, "to": "east"}`), &first)
	s.kill()
	time.Sleep(time.Second)
	s = launch{data: s.data}.start(t)
	if found := s.shoe(lasting.ID); found.Remaining != 123 || found.Version != 2 {
		t.Errorf("after a kill the shoe is %+v", found)
	}
	var second shoe
	s.read(s.post("/shoes/"+lasting.ID+"/draw", `{"count": 123}`), &second)
	h := &hand{drawn: map[int]int{}}
	h.take(first.Cards)
	h.take(second.Cards)
	h.all(t, 136)
	s.post("/shoes/"+short.ID+"/draw", `{}`).problem(t, http.StatusGone)
	until(t, "the log says that it has expired", func() bool { return s.metric("riffle_shoe_changes_total", `kind="expire"`) == 1 })
	s.post("/shoes/"+short.ID+"/draw", `{}`).problem(t, http.StatusGone)
	if n := s.metric("riffle_shoes", ""); n != 1 {
		t.Errorf("%v shoes are open, want 1", n)
	}
}

// TestOrderOfAShoeStaysSecret looks for the order of what is not drawn, for its salts and for the shoe's id, in what the service
// writes and what it shows to others than the owner.
func TestOrderOfAShoeStaysSecret(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-log-level", "debug"}}.start(t)
	words := make([]string, 40) // that stand nowhere else
	for i := range words {
		words[i] = fmt.Sprintf("%q", fmt.Sprintf("card-%d-%x", i, i*i+977))
	}
	made := s.newShoe(`{"items": [` + strings.Join(words, ",") + `], "reference": "sealed"}`)
	var drawn struct {
		Cards []struct{ Item, Salt string }
	}
	s.read(s.post("/shoes/"+made.ID+"/draw?proof=true", `{"count": 5}`), &drawn)
	s.post("/shoes/"+made.ID+"/draw", `{"count": 36}`).problem(t, http.StatusUnprocessableEntity)
	s.post("/shoes/"+made.ID+"/piles/none/draw", `{}`).problem(t, http.StatusNotFound)
	s.get("/shoes/"+made.ID+"/cards/7/proof").problem(t, http.StatusConflict)
	s.post("/shoes/"+made.ID+"/reshuffle", `{}`)
	places := map[string][]byte{}
	for _, path := range []string{
		"/metrics", "/audits/" + made.AuditID, "/audits/" + made.AuditID + "/proof", "/audits/" + made.AuditID + "/verify", "/audits?reference=sealed",
		"/log/checkpoint", "/log/tile/entries/000.p/3", "/shoes/" + made.AuditID, "/shoes/" + made.ID + "/proof",
	} {
		places[path] = s.get(path).body
	}
	places["what is not there"] = s.post("/shoes/"+made.AuditID+"/draw", `{}`).body
	s.stop()
	places["log"] = []byte(s.log.String())
	files, err := filepath.Glob(filepath.Join(s.data, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if places[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	secrets := append([]string{made.ID, strings.ReplaceAll(made.ID, "-", "")}, words...)
	for i, c := range drawn.Cards {
		if c.Salt == "" {
			t.Errorf("card %d has no salt", i)
		}
		secrets = append(secrets, c.Salt)
	}
	for i, secret := range secrets {
		secret = strings.Trim(secret, `"`)
		for place, text := range places {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("secret %d, %s, is in %s", i, secret, place)
			}
		}
	}
	if !bytes.Contains(places["/audits?reference=sealed"], []byte(`"kind":"draw"`)) {
		t.Errorf("the records are %s", places["/audits?reference=sealed"])
	}
}
