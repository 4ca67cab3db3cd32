package api_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/journal/journaltest"
)

// Cards are taken from the end and put on the end that a change names. The examples of the contract
// have every other member of a change, and the counts afterwards.
func TestShoeLifecycle(t *testing.T) {
	s := start(t, setup{})
	made := s.mustShoe(t, post(t, "/shoes", `{"deck":"standard52","decks":6,"reference":"table 5"}`))
	at := made.path()
	got := s.mustShoe(t, get(t, at))
	assert.Equal(t, made.AuditID, got.ChangedBy)
	assert.Equal(t, made.shoeResult, got.shoeResult)
	assert.Equal(t, "open", got.Status)
	assert.Nil(t, got.Expires)
	top := s.mustShoe(t, post(t, at+"/draw", `{"count":3,"to":"alice"}`))
	bottom := s.mustShoe(t, post(t, at+"/draw", `{"count":2,"from":"bottom","to":"alice","put":"bottom"}`))
	assert.Truef(t, bottom.Cards[0].Position == 311 && bottom.Cards[1].Position == 310 && bottom.Cards[0].SealedBy == made.AuditID,
		"drawn from the bottom: %+v", bottom.Cards)
	numbers := append(bottom.cardNumbers(), top.cardNumbers()...)
	assert.Equal(t, numbers, s.mustShoe(t, get(t, at+"/piles/alice")).cardNumbers(), "the pile, from its bottom")
	for _, step := range []struct {
		back, draw string
		want       uint64
	}{
		{fmt.Sprintf(`{"cards":[%d],"put":"top"}`, numbers[2]), "/draw {}", numbers[2]},
		{fmt.Sprintf(`{"cards":[%d]}`, numbers[3]), `/draw {"from":"bottom"}`, numbers[3]},
		{fmt.Sprintf(`{"cards":[%d],"put":"bottom"}`, numbers[1]), `/piles/alice/draw {"from":"bottom"}`, numbers[0]},
	} {
		s.mustShoe(t, post(t, at+"/piles/alice/return", step.back))
		path, body, _ := strings.Cut(step.draw, " ")
		assert.Equal(t, []uint64{step.want}, s.mustShoe(t, post(t, at+path, body)).cardNumbers(), step)
	}
	again := s.mustShoe(t, post(t, at+"/reshuffle", `{"cards":"all","algorithm":"inside-out"}`))
	assert.EqualValues(t, 312, again.Size)
	assert.NotEqual(t, made.Root, again.Root)
	assert.NotEqual(t, made.Commitment, again.Commitment)
	all := s.mustShoe(t, post(t, at+"/draw", `{"count":312}`))
	slices.SortFunc(all.Cards, func(a, b shoeCard) int { return cmp.Compare(a.Card, b.Card) })
	for i, c := range all.Cards {
		require.EqualValues(t, i, c.Card)
		require.Equal(t, again.AuditID, c.SealedBy)
		require.Equal(t, 1+i/52, c.Instance)
		require.Equal(t, all.Cards[i%52].Code, c.Code)
	}
	over := s.mustShoe(t, post(t, at+"/close", `{}`))
	got = s.mustShoe(t, get(t, at))
	assert.Equal(t, []string{"closed", "closed", over.AuditID, made.AuditID}, []string{over.Status, got.Status, got.ChangedBy, got.AuditID})
}

// Items are returned byte for byte, and keep their card numbers through draws and reshuffles.
func TestShoeItemsAreReturnedVerbatim(t *testing.T) {
	s := start(t, setup{})
	items := []string{`9007199254740993`, `-0`, `1E400`, `{ "b" :  [ null ],"a":"<é\u00e9\/>" }`, `"same"`, `"same"`, "[\n\t]"}
	made := s.mustShoe(t, post(t, "/shoes", "{\"items\":[ "+strings.Join(items, " ,\n ")+" ]}"))
	for _, by := range []*service{s, s.replica(t)} {
		drawn := by.mustShoe(t, post(t, made.path()+"/draw?proof=true", `{"count":7}`))
		for _, c := range drawn.Cards {
			assert.Equalf(t, items[c.Card], string(c.Item), "card %d is %s, want", c.Card, c.Item)
		}
		checkOpenings(t, by, made.shoeResult, drawn.Cards)
		assert.Len(t, drawn.Cards, 7)
		by.mustShoe(t, post(t, made.path()+"/return", `{"cards":"all"}`))
		made.shoeResult = by.mustShoe(t, post(t, made.path()+"/reshuffle", `{}`)).shoeResult
	}
	c := mustCommit(t, s, `{"items":["a" , 2]}`)
	committed := s.mustShoe(t, post(t, "/shoes", `{"commitment_id":"`+c.CommitmentID+`","client_seed":"x","items":[ "a",2 ]}`))
	drawn := s.mustShoe(t, post(t, committed.path()+"/draw", `{"count":2}`))
	var drawnItems []string
	for _, c := range drawn.Cards {
		drawnItems = append(drawnItems, string(c.Item))
	}
	if slices.Sort(drawnItems); committed.Commitment != c.Commitment || !slices.Equal(drawnItems, []string{`"a"`, "2"}) {
		t.Errorf("the committed shoe dealt %v", drawnItems)
	}
	number := s.mustShoe(t, post(t, mustCreateShoe(t, s, `{"size":1}`).path()+"/draw", `{}`))
	assert.Equalf(t, "0", string(number.Cards[0].Item), "the only card of a shoe of one number is %+v", number.Cards)
}

// checkOpenings checks that the proof of each card leads to the root of the order and proves
// nothing else, and that GET .../cards/{position}/proof answers the same proof.
func checkOpenings(t *testing.T, s *service, of shoeResult, cards []shoeCard) {
	t.Helper()
	digest := func(text string) (hash [32]byte) {
		raw, err := hex.DecodeString(text)
		require.Truef(t, err == nil && copy(hash[:], raw) == len(hash), "%q is not a digest: %v", text, err)
		return hash
	}
	root := tlog.Hash(digest(of.Root))
	for _, c := range cards {
		o := audit.Opening{Salt: digest(c.Salt)}
		for _, text := range c.Path {
			o.Path = append(o.Path, tlog.Hash(digest(text)))
		}
		var item bytes.Buffer
		text := []byte(c.Code)
		if c.Code == "" {
			require.NoError(t, json.Compact(&item, c.Item))
			text = item.Bytes()
		}
		assert.NoErrorf(t, o.Check(c.Position, of.Size, text, root), "%+v", c)
		if o.Check(c.Position, of.Size, []byte("no card"), root) == nil || of.Size > 1 && o.Check((c.Position+1)%of.Size, of.Size, text, root) == nil {
			t.Errorf("the proof of %+v also proves another card or position", c)
		}
		var alone shoeCard
		got := s.send(t, get(t, fmt.Sprintf("%s/cards/%d/proof?sealed_by=%s", of.path(), c.Position, c.SealedBy)))
		err := json.Unmarshal([]byte(got.body), &alone)
		assert.Truef(t, err == nil && reflect.DeepEqual(alone, c), "the proof of %+v is answered %d %s (%v)", c, got.status, got.body, err)
	}
}

// If-Match applies a change only to the version that it names.
func TestIfMatch(t *testing.T) {
	s := start(t, setup{})
	made := mustCreateShoe(t, s, `{"size":20}`)
	at := made.path()
	rejected := func(r *http.Request, status int, words string) {
		t.Helper()
		before := s.logSize()
		got := s.send(t, r)
		assert.Truef(t, got.status == status && strings.Contains(got.body, words) && s.logSize() == before, "%d, want %d: %s", got.status, status, got.body)
	}
	s.mustShoe(t, ifMatch(post(t, at+"/draw", `{}`), `"1"`))
	s.mustShoe(t, ifMatch(post(t, at+"/draw", `{}`), ` "2" `))
	s.mustShoe(t, ifMatch(post(t, at+"/draw", `{}`), `*`))
	for path, body := range map[string]string{"/draw": `{}`, "/return": `{"cards":"all"}`, "/reshuffle": `{}`, "/close": `{}`, "/piles/a/add": `{"cards":[0]}`} {
		rejected(ifMatch(post(t, at+path, body), `"1"`), 412, "version 4")
		rejected(ifMatch(post(t, at+path, body), `"5"`), 412, "version 4")
	}
	rejected(ifMatch(del(t, at), `"1"`), 412, "version 4")
	for _, tag := range []string{`4`, `W/"4"`, `"04"`, `"0"`, `"4`, `""4""`, ``, `"*"`, `"3", "4"`, `"18446744073709551616"`, `"-1"`} {
		rejected(ifMatch(post(t, at+"/draw", `{}`), tag), 400, "If-Match")
	}
	twice := ifMatch(post(t, at+"/draw", `{}`), `"4"`)
	twice.Header.Add("If-Match", `"4"`)
	rejected(twice, 400, "If-Match")
	// A retry matches the version of the first attempt.
	first := s.send(t, keyed(ifMatch(post(t, at+"/draw", `{}`), `"4"`), "k"))
	assert.Equal(t, first, s.send(t, keyed(ifMatch(post(t, at+"/draw", `{}`), `"4"`), "k")), "the retry")
	assert.Equal(t, 200, first.status, "the retry")
	s.mustShoe(t, ifMatch(del(t, at), `"5"`))
}

// The largest answers are complete, and replayed byte for byte.
func TestLargestShoe(t *testing.T) {
	s := start(t, setup{})
	made := mustCreateShoe(t, s, `{"size":4096}`)
	draw := postFunc(made.path()+"/draw?proof=true", `{"count":4096,"to":"all"}`)
	first := s.send(t, keyed(draw(t), "k"))
	var drawn shoeState
	if err := json.Unmarshal([]byte(first.body), &drawn); err != nil || len(drawn.Cards) != 4096 || first.header.Get("Etag") != `"2"` {
		t.Fatalf("%v, %d cards, %v", err, len(drawn.Cards), first.header)
	}
	checkOpenings(t, s, made, []shoeCard{drawn.Cards[0], drawn.Cards[4095]})
	assert.Equal(t, first, s.replica(t).send(t, keyed(draw(t), "k")), "the retry of a long answer differs from it")
	numbers, err := json.Marshal(drawn.cardNumbers())
	require.NoError(t, err)
	s.mustShoe(t, post(t, made.path()+"/piles/all/return", `{"cards":`+string(numbers)+`}`))
}

// A draw that waits for another ends with its client, and is not logged as a failure.
func TestCanceledDrawIsNotLoggedAsFailed(t *testing.T) {
	logged := &journaltest.Buffer{}
	committing, release := make(chan struct{}), make(chan struct{})
	var block atomic.Bool
	s := start(t, setup{output: logged, faults: &journaltest.Faults{Appending: func() error {
		if block.Load() {
			committing <- struct{}{}
			<-release
		}
		return nil
	}}})
	draw := postFunc(mustCreateShoe(t, s, `{"size":9}`).path()+"/draw", `{}`)
	block.Store(true)
	var other sync.WaitGroup
	other.Go(func() { s.mustShoe(t, draw(t)) })
	<-committing
	s.sendCanceled(t, draw(t))
	close(release)
	other.Wait()
	assert.NotContainsf(t, logged.String(), "failed", "a canceled draw was logged as a failure: %s", logged)
}

func TestShoeMetrics(t *testing.T) {
	c := &clock{now: time.Now()}
	s := start(t, setup{now: c.Now})
	s.checkMetrics(t, "riffle_shoes 0", `riffle_shoe_changes_total{kind="shoe"} 0`, `riffle_shoe_changes_total{kind="expire"} 0`)
	closed, late, open := mustCreateShoe(t, s, `{"size":9}`), mustCreateShoe(t, s, `{"size":9,"expires_in":60}`), mustCreateShoe(t, s, `{"size":9,"expires_in":61}`)
	s.checkMetrics(t, "riffle_shoes 3", `riffle_shoe_changes_total{kind="shoe"} 3`)
	c.Set(c.Now().Add(time.Minute))
	s.checkMetrics(t, "riffle_shoes 2", `riffle_shoe_changes_total{kind="expire"} 0`)
	for _, change := range []struct{ path, body string }{
		{"/draw", `{"to":"a"}`}, {"/piles/a/draw", `{}`}, {"/return", `{"cards":"all"}`}, {"/reshuffle", `{}`}, {"/close", `{}`},
	} {
		s.mustShoe(t, keyed(post(t, closed.path()+change.path, change.body), "k"+change.path))
		s.mustShoe(t, keyed(post(t, closed.path()+change.path, change.body), "k"+change.path)) // replays are not counted
	}
	s.mustShoe(t, del(t, late.path()))
	drawn := s.mustShoe(t, post(t, open.path()+"/draw", `{}`))
	s.mustShoe(t, post(t, open.path()+"/piles/a/add", fmt.Sprintf(`{"cards":[%d]}`, drawn.Cards[0].Card)))
	s.checkMetrics(
		t, "riffle_shoes 1", `riffle_shoe_changes_total{kind="draw"} 3`, `riffle_shoe_changes_total{kind="add"} 1`,
		`riffle_shoe_changes_total{kind="return"} 1`, `riffle_shoe_changes_total{kind="reshuffle"} 1`,
		`riffle_shoe_changes_total{kind="close"} 1`, `riffle_shoe_changes_total{kind="expire"} 1`,
	)
}
