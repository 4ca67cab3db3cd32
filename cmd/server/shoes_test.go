package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A shoe is an answer about a shoe or a draw.
type shoe struct {
	Expires   time.Time `json:"expires"`
	ID        string    `json:"shoe_id"`
	AuditID   string    `json:"audit_id"`
	Status    string    `json:"status"`
	Version   int       `json:"version"`
	Remaining int       `json:"remaining"`
	Dealt     int       `json:"dealt"`
	Cards     []card    `json:"cards"`
}

// A card is a drawn card.
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

// eachOnce checks that each card of a shoe was drawn exactly once.
func eachOnce(t *testing.T, cards []card, size int) {
	t.Helper()
	drawn := map[int]int{} // how often, by number
	for _, c := range cards {
		drawn[c.Number]++
	}
	for n := range size {
		assert.Equalf(t, 1, drawn[n], "card %d was drawn", n)
	}
	assert.Len(t, drawn, size)
}

// newDraws returns n draws of two cards from a shoe, each with its own idempotency key.
func newDraws(shoe, label string, n int) (list []*keyed) {
	for i := range n {
		list = append(list, &keyed{path: "/shoes/" + shoe + "/draw?proof=true", body: `{"count": 2}`, key: fmt.Sprintf("%s-%d", label, i)})
	}
	return list
}

// dealtOnce checks that the answers to the draws together have each card of the shoe exactly once.
func dealtOnce(t *testing.T, list []*keyed, size int) {
	t.Helper()
	var cards []card
	for _, d := range list {
		var drawn shoe
		require.NoErrorf(t, json.Unmarshal(d.first, &drawn), "a draw was answered %s", d.first)
		require.Lenf(t, drawn.Cards, 2, "a draw was answered %s", d.first)
		cards = append(cards, drawn.Cards...)
	}
	eachOnce(t, cards, size)
}

// TestKilledDuringDrawsDealsEachCardOnce kills the server, or fails its disk, while 26 clients draw, and
// repeats the draws. Answered draws get the same cards, and each card is dealt once.
func TestKilledDuringDrawsDealsEachCardOnce(t *testing.T) {
	t.Parallel()
	before, after := 0, 0
	for _, fault := range []string{"pwrite64:signal=KILL:when=%d", "fsync:signal=KILL:when=%d", "fsync:error=EIO:when=%d"} {
		ns := []int{2, 9}
		if everyFault {
			ns = sequence(1, 60, 1)
		}
		for _, n := range ns {
			data, _, wal := newStore(t)
			s := launch{data: data}.start(t)
			id := s.newShoe(`{"deck": "standard52"}`).ID
			s.stop()
			under, _ := strace(t, fmt.Sprintf(fault, n), wal)
			list := newDraws(id, fmt.Sprintf("%.8s-%d", strings.ReplaceAll(fault, ":", "-"), n), 26)
			if s = (launch{data: data, wrapper: under}).startOrExit(t); s.addr != "" {
				before += sendAll(list, (*keyed).sendAgain, s)
			}
			s.kill()
			s = launch{data: data}.start(t)
			assert.Equal(t, len(list), sendAll(list, (*keyed).sendAgain, s), fmt.Sprintf(fault, n))
			after += len(list)
			dealtOnce(t, list, 52)
			s.stop()
		}
	}
	t.Logf("%d of %d draws were answered before the fault", before, after)
	assert.NotEqual(t, 0, before, "no fault happened between two draws")
	assert.NotEqual(t, after, before, "no fault happened between two draws")
}

// TestDrawsThroughFailingReplicas draws from one shoe through three replicas, kills one and cuts
// the connections to the database meanwhile, and repeats each draw through the others.
func TestDrawsThroughFailingReplicas(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	replicas := []*server{db.replica().start(t), db.replica().start(t), db.replica().start(t)}
	id := replicas[0].newShoe(`{"deck": "standard52", "decks": 2}`).ID
	list := newDraws(id, "replica", 52)
	var wait sync.WaitGroup
	wait.Go(func() { sendAll(list, (*keyed).sendAgain, replicas...) })
	until(t, "some cards are dealt", func() bool { return replicas[1].shoe(id).Dealt > 6 })
	replicas[0].kill()
	db.cutConnections(t)
	wait.Wait()
	replicas[0] = db.replica().start(t)
	for range 3 {
		assert.Equal(t, len(list), sendAll(list, (*keyed).sendAgain, replicas...))
		replicas = append(replicas[1:], replicas[0]) // so that each draw goes to another replica
	}
	dealtOnce(t, list, 104)
}

// TestShoeSurvivesRestart draws from a shoe after the server was killed, and lets another expire
// while no server runs.
func TestShoeSurvivesRestart(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	lasting, short := s.newShoe(`{"deck": "mahjong136"}`), s.newShoe(`{"deck": "mahjong136", "expires_in": 5}`)
	var first shoe
	s.read(s.post("/shoes/"+lasting.ID+"/draw", `{"count": 13, "to": "east"}`), &first)
	s.kill()
	until(t, "the shoe has expired", func() bool { return time.Now().After(short.Expires) })
	s = launch{data: s.data}.start(t)
	found := s.shoe(lasting.ID)
	assert.Truef(t, found.Remaining == 123 && found.Version == 2, "after a kill the shoe is %+v", found)
	var second shoe
	s.read(s.post("/shoes/"+lasting.ID+"/draw", `{"count": 123}`), &second)
	eachOnce(t, append(first.Cards, second.Cards...), 136)
	s.post("/shoes/"+short.ID+"/draw", `{}`).problem(t, http.StatusGone)
	until(t, "the expiry is logged", func() bool { return s.metric("riffle_shoe_changes_total", `kind="expire"`) == 1 })
	s.post("/shoes/"+short.ID+"/draw", `{}`).problem(t, http.StatusGone)
	assert.EqualValues(t, 1, s.metric("riffle_shoes", ""))
}
