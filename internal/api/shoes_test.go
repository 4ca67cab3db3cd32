package api_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/ledger"
)

// Every route of a shoe does what it says, and every card is where it was put.
func TestShoeLifecycle(t *testing.T) {
	s := start(t, setup{})
	made := s.mustShoe(t, post(t, "/shoes", `{"deck":"standard52","decks":6,"reference":"table 5"}`))
	at := made.path()
	if made.Version != 1 || made.Status != "open" || made.Size != 312 || made.Remaining != 312 || made.Dealt != 0 || made.Expires != nil {
		t.Errorf("the new shoe is %+v", made)
	}
	if got := s.mustShoe(t, get(t, at)); got.ChangedBy != made.AuditID || got.shoeResult != made.shoeResult {
		t.Errorf("the shoe is %+v and was made as %+v", got, made)
	}
	expect := func(a shoeState, remaining, dealt uint64, piles string) {
		t.Helper()
		if a.Remaining != remaining || a.Dealt != dealt || a.pileSizes() != piles {
			t.Errorf("version %d has %d, %d and %s, not %d, %d and %s", a.Version, a.Remaining, a.Dealt, a.pileSizes(), remaining, dealt, piles)
		}
	}
	alice := s.mustShoe(t, post(t, at+"/draw", `{"count":3,"to":"alice"}`))
	expect(alice, 309, 0, "alice 3")
	dealt := s.mustShoe(t, post(t, at+"/draw", `{"count":2,"from":"bottom"}`))
	expect(dealt, 307, 2, "alice 3")
	if dealt.Cards[0].Position != 311 || dealt.Cards[1].Position != 310 || dealt.Cards[0].SealedBy != made.AuditID {
		t.Errorf("from the bottom came %+v", dealt.Cards)
	}
	first := s.mustShoe(t, post(t, at+"/draw", `{"from":"random","to":"alice","put":"bottom"}`))
	expect(first, 306, 2, "alice 4")
	if got, want := s.mustShoe(t, get(t, at+"/piles/alice")), append(first.cardNumbers(), alice.cardNumbers()...); !slices.Equal(got.cardNumbers(), want) || got.Pile != "alice" {
		t.Errorf("the pile is %v, not %v", got.cardNumbers(), want)
	}
	if got := s.mustShoe(t, get(t, at+"/dealt")); !reflect.DeepEqual(got.Cards, dealt.Cards) {
		t.Errorf("the dealt cards are %v, not %v", got.Cards, dealt.Cards)
	}
	moved := fmt.Sprintf(`{"cards":[%d,%d],"put":"bottom"}`, dealt.Cards[1].Card, alice.Cards[0].Card)
	expect(s.mustShoe(t, post(t, at+"/piles/discard/add", moved)), 306, 1, "alice 3, discard 2")
	taken := s.mustShoe(t, post(t, at+"/piles/alice/draw", fmt.Sprintf(`{"cards":[%d],"to":"bob"}`, alice.Cards[1].Card)))
	expect(taken, 306, 1, "alice 2, bob 1, discard 2")
	expect(s.mustShoe(t, post(t, at+"/piles/alice/draw", `{"count":2,"from":"bottom"}`)), 306, 3, "alice 0, bob 1, discard 2")
	sealed := s.mustShoe(t, post(t, at+"/piles/discard/shuffle", `{"algorithm":"sattolo","client_seed":"x"}`))
	expect(sealed, 306, 3, "alice 0, bob 1, discard 2")
	if pile := s.mustShoe(t, get(t, at+"/piles/discard")); pile.Cards[0].SealedBy != sealed.AuditID || sealed.Size != 2 ||
		!slices.Equal(pile.cardNumbers(), []uint64{alice.Cards[0].Card, dealt.Cards[1].Card}) { // sattolo exchanges two
		t.Errorf("the shuffled pile is %+v", pile.Cards)
	}
	expect(s.mustShoe(t, post(t, at+"/piles/discard/return", `{"put":"top"}`)), 308, 3, "alice 0, bob 1, discard 0")
	if top := s.mustShoe(t, post(t, at+"/draw", `{}`)); top.Cards[0].Card != alice.Cards[0].Card {
		t.Errorf("%d is on top of the deck, not %d", top.Cards[0].Card, alice.Cards[0].Card)
	}
	expect(s.mustShoe(t, post(t, at+"/return", fmt.Sprintf(`{"cards":[%d]}`, taken.Cards[0].Card))), 308, 4, "alice 0, bob 0, discard 0")
	expect(s.mustShoe(t, post(t, at+"/return", `{}`)), 312, 0, "alice 0, bob 0, discard 0")
	expect(s.mustShoe(t, post(t, at+"/reshuffle", `{}`)), 312, 0, "alice 0, bob 0, discard 0")
	expect(s.mustShoe(t, post(t, at+"/draw", `{"count":9,"to":"carol"}`)), 303, 0, "alice 0, bob 0, carol 9, discard 0")
	again := s.mustShoe(t, post(t, at+"/reshuffle", `{"cards":"all","algorithm":"inside-out"}`))
	expect(again, 312, 0, "")
	if again.Size != 312 || again.Root == made.Root || again.Commitment == made.Commitment {
		t.Errorf("the new order is sealed by %+v", again.shoeResult)
	}
	all := s.mustShoe(t, post(t, at+"/draw", `{"count":312}`))
	expect(all, 0, 312, "")
	copies := map[string][]int{}
	numbers := all.cardNumbers()
	slices.Sort(numbers)
	for i, c := range all.Cards {
		if numbers[i] != uint64(i) || c.SealedBy != again.AuditID {
			t.Fatalf("the cards have the numbers %v", numbers)
		}
		if want := 1 + int(c.Card)/52; c.Instance != want {
			t.Errorf("%+v is of copy %d", c, want)
		}
		copies[c.Code] = append(copies[c.Code], c.Instance)
	}
	for code, instances := range copies {
		if slices.Sort(instances); !slices.Equal(instances, []int{1, 2, 3, 4, 5, 6}) {
			t.Errorf("%s has the instances %v", code, instances)
		}
	}
	over := s.mustShoe(t, post(t, at+"/close", `{}`))
	if over.Status != "closed" {
		t.Errorf("the closed shoe is %+v", over)
	}
	if got := s.mustShoe(t, get(t, at)); got.Status != "closed" || got.ChangedBy != over.AuditID || got.AuditID != made.AuditID {
		t.Errorf("the closed shoe is %+v", got)
	}
}

// What was sent as an item comes back as it was, and as the same card wherever it went.
func TestShoeItemsAreReturnedVerbatim(t *testing.T) {
	s := start(t, setup{})
	items := []string{`9007199254740993`, `-0`, `1E400`, `{ "b" :  [ null ],"a":"<é\u00e9\/>" }`, `"same"`, `"same"`, "[\n\t]"}
	made := s.mustShoe(t, post(t, "/shoes", "{\"items\":[ "+strings.Join(items, " ,\n ")+" ]}"))
	for _, by := range []*service{s, s.replica(t)} {
		drawn := by.mustShoe(t, post(t, made.path()+"/draw?proof=true", `{"count":7}`))
		for _, c := range drawn.Cards {
			if string(c.Item) != items[c.Card] {
				t.Errorf("card %d is %s, and was sent as %s", c.Card, c.Item, items[c.Card])
			}
		}
		checkOpenings(t, by, made.shoeResult, drawn.Cards)
		if len(drawn.Cards) != 7 {
			t.Errorf("%d cards were drawn", len(drawn.Cards))
		}
		by.mustShoe(t, post(t, made.path()+"/return", `{}`))
		made.shoeResult = by.mustShoe(t, post(t, made.path()+"/reshuffle", `{}`)).shoeResult
	}
	c := mustCommit(t, s, `{"items":["a" , 2]}`)
	kept := s.mustShoe(t, post(t, "/shoes", `{"commitment_id":"`+c.CommitmentID+`","client_seed":"x","items":[ "a",2 ]}`))
	drawn := s.mustShoe(t, post(t, kept.path()+"/draw", `{"count":2}`))
	if kept.Commitment != c.Commitment || len(drawn.Cards) != 2 || string(drawn.Cards[0].Item)+string(drawn.Cards[1].Item) != `"a"2` && string(drawn.Cards[0].Item)+string(drawn.Cards[1].Item) != `2"a"` {
		t.Errorf("of what was committed to came %+v", drawn.Cards)
	}
	if number := s.mustShoe(t, post(t, mustCreateShoe(t, s, `{"size":1}`).path()+"/draw", `{}`)); string(number.Cards[0].Item) != "0" {
		t.Errorf("the only number is %+v", number.Cards)
	}
}

// opened checks that every card leads to the root of an order, that nothing else does, and that it
// is opened by itself the same.
func checkOpenings(t *testing.T, s *service, of shoeResult, cards []shoeCard) {
	t.Helper()
	digest := func(text string) (hash [32]byte) {
		if raw, err := hex.DecodeString(text); err != nil || copy(hash[:], raw) != len(hash) {
			t.Fatalf("%q is no digest: %v", text, err)
		}
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
			if err := json.Compact(&item, c.Item); err != nil {
				t.Fatal(err)
			}
			text = item.Bytes()
		}
		if err := o.Check(c.Position, of.Size, text, root); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if o.Check(c.Position, of.Size, []byte("no card"), root) == nil || of.Size > 1 && o.Check((c.Position+1)%of.Size, of.Size, text, root) == nil {
			t.Errorf("what opens %+v opens others", c)
		}
		var alone shoeCard
		got := s.send(t, get(t, fmt.Sprintf("%s/cards/%d/proof?sealed_by=%s", of.path(), c.Position, c.SealedBy)))
		if err := json.Unmarshal([]byte(got.body), &alone); err != nil || !reflect.DeepEqual(alone, c) {
			t.Errorf("%+v is opened as %d %s (%v)", c, got.status, got.body, err)
		}
	}
}

// Cards can be proven by themselves: those of the first order, those of a deck and of a pile that
// were shuffled again, as often as they are asked for; and none that was not drawn, before the shoe
// is closed.
func TestCardProofs(t *testing.T) {
	s := start(t, setup{})
	made := mustCreateShoe(t, s, `{"deck":"mahjong136"}`)
	at := made.path()
	hand := s.mustShoe(t, post(t, at+"/draw?proof=true", `{"count":13,"to":"east"}`))
	checkOpenings(t, s, made, hand.Cards)
	if got := s.mustShoe(t, get(t, at+"/piles/east?proof=true")); !reflect.DeepEqual(got.Cards, hand.Cards) {
		t.Errorf("the pile is %+v, not %+v", got.Cards, hand.Cards)
	}
	plain := s.send(t, get(t, at+"/piles/east?proof=false"))
	if strings.Contains(plain.body, "salt") || plain.body != s.send(t, get(t, at+"/piles/east")).body {
		t.Errorf("without proof the pile is %s", plain.body)
	}
	hidden := func(status int, query string) {
		t.Helper()
		if got := s.send(t, get(t, at+"/cards/13/proof"+query)); got.status != status {
			t.Errorf("%d, not %d: %s", got.status, status, got.body)
		}
	}
	hidden(409, "")
	pile := s.mustShoe(t, post(t, at+"/piles/east/shuffle", `{}`)).shoeResult
	checkOpenings(t, s, pile, s.mustShoe(t, post(t, at+"/piles/east/draw?proof=true", `{"count":5,"from":"random"}`)).Cards)
	checkOpenings(t, s, made, hand.Cards) // as it was
	deck := s.mustShoe(t, post(t, at+"/reshuffle", `{}`)).shoeResult
	hidden(409, "?sealed_by="+made.AuditID)
	checkOpenings(t, s, deck, s.mustShoe(t, post(t, at+"/draw?proof=true", `{"count":14}`)).Cards)
	if got := s.send(t, get(t, at+"/cards/0/proof")); !strings.Contains(got.body, `"sealed_by":"`+deck.AuditID) {
		t.Errorf("by default the card is of another order: %s", got.body)
	}
	hidden(200, "")
	readBody(t, s.do(post(t, at+"/close", `{}`)))
	hidden(200, "?sealed_by="+made.AuditID)
	if got := s.send(t, get(t, at+"/cards/0/proof?sealed_by="+hand.AuditID)); got.status != 404 {
		t.Errorf("the record of a draw has sealed %d %s", got.status, got.body)
	}
}

// The proof of a shoe is the proof of each of its records, in their order: without seeds and then
// with them, never with its id.
func TestShoeProof(t *testing.T) {
	s := start(t, setup{})
	made := mustCreateShoe(t, s, `{"size":20}`)
	mustCreateShoe(t, s, `{"size":20}`)
	var records []string
	for _, change := range []struct{ path, body string }{
		{"/draw", `{"count":3}`}, {"/reshuffle", `{}`}, {"/draw", `{"from":"random"}`}, {"/return", `{}`}, {"/close", `{}`},
	} {
		records = append(records, s.mustShoe(t, post(t, made.path()+change.path, change.body)).AuditID)
		got := s.send(t, get(t, made.path()+"/proof"))
		lines := strings.SplitAfter(got.body, "\n")
		if got.status != 200 || got.header.Get("Content-Type") != "application/jsonl" || len(lines) != len(records)+2 || lines[len(lines)-1] != "" {
			t.Fatalf("%d %v %d lines", got.status, got.header, len(lines))
		}
		if strings.Contains(got.body, made.ShoeID) {
			t.Error("the proof has the id of the shoe")
		}
		for i, id := range append([]string{made.AuditID}, records...) {
			file, err := prooffile.Parse([]byte(lines[i]))
			if err != nil {
				t.Fatal(err)
			}
			record, err := audit.ParseRecord(file.Record)
			if err != nil || record.ID.String() != id {
				t.Errorf("line %d is of %v, not of %s (%v)", i, record, id, err)
			}
			if r := prooffile.VerifyRecord([]byte(lines[i]), &prooffile.Given{}); r.Failed() != nil {
				t.Errorf("line %d: %+v", i, r.Failed())
			}
			public := change.path == "/close" || record.Taken == "random"
			if (file.Seed != nil) != (public && record.Deals()) {
				t.Errorf("after %s line %d has the seed %x", change.path, i, file.Seed)
			}
		}
	}
}

// A change is made of the version that it is meant for, and of no other.
func TestIfMatch(t *testing.T) {
	s := start(t, setup{})
	made := mustCreateShoe(t, s, `{"size":20}`)
	at := made.path()
	refuse := func(r *http.Request, status int, words string) {
		t.Helper()
		before := s.logSize()
		if got := s.send(t, r); got.status != status || !strings.Contains(got.body, words) || s.logSize() != before {
			t.Errorf("%d, not %d: %s", got.status, status, got.body)
		}
	}
	s.mustShoe(t, ifMatch(post(t, at+"/draw", `{}`), `"1"`))
	s.mustShoe(t, ifMatch(post(t, at+"/draw", `{}`), ` "2" `))
	s.mustShoe(t, ifMatch(post(t, at+"/draw", `{}`), `*`))
	for path, body := range map[string]string{"/draw": `{}`, "/return": `{}`, "/reshuffle": `{}`, "/close": `{}`, "/piles/a/add": `{"cards":[0]}`} {
		refuse(ifMatch(post(t, at+path, body), `"1"`), 412, "version 4")
		refuse(ifMatch(post(t, at+path, body), `"5"`), 412, "version 4")
	}
	refuse(ifMatch(del(t, at), `"1"`), 412, "version 4")
	for _, tag := range []string{`4`, `W/"4"`, `"04"`, `"0"`, `"4`, `""4""`, ``, `"*"`, `"3", "4"`, `"18446744073709551616"`, `"-1"`} {
		refuse(ifMatch(post(t, at+"/draw", `{}`), tag), 400, "If-Match")
	}
	twice := ifMatch(post(t, at+"/draw", `{}`), `"4"`)
	twice.Header.Add("If-Match", `"4"`)
	refuse(twice, 400, "If-Match")
	// A retry is of the version that the first attempt was of.
	first := s.send(t, keyed(ifMatch(post(t, at+"/draw", `{}`), `"4"`), "k"))
	if again := s.send(t, keyed(ifMatch(post(t, at+"/draw", `{}`), `"4"`), "k")); !reflect.DeepEqual(again, first) || first.status != 200 {
		t.Errorf("answered %v, and first %v", again, first)
	}
	s.mustShoe(t, ifMatch(del(t, at), `"5"`))
}

// What was answered once is answered again to the byte, whatever has become of the shoe since; and
// no key does for two requests.
func TestShoeRetriesAreReplayedByteForByte(t *testing.T) {
	c := &clock{now: time.Now()}
	s := start(t, setup{now: c.Now})
	made := s.send(t, keyed(post(t, "/shoes", `{"deck":"standard52","expires_in":60}`), keyOf("made")))
	var shoe shoeState
	if err := json.Unmarshal([]byte(made.body), &shoe); err != nil || made.status != 200 {
		t.Fatalf("%v %s", err, made.body)
	}
	at := shoe.path()
	type attempt struct {
		key  string
		make requestFunc
		got  response
	}
	attempts := []attempt{
		{"made", postFunc("/shoes", `{"deck":"standard52","expires_in":60}`), made},
		{"draw", postFunc(at+"/draw?proof=true", `{"count":3}`), response{}},
		{"random", postFunc(at+"/draw", `{"count":3,"from":"random","to":"a"}`), response{}},
		{"pile", postFunc(at+"/piles/a/draw?proof=true", `{"count":2,"to":"b"}`), response{}},
		{"shuffle", postFunc(at+"/piles/b/shuffle", `{}`), response{}},
		{"back", postFunc(at+"/piles/b/return", `{}`), response{}},
		{"reshuffle", postFunc(at+"/reshuffle", `{"client_seed":"x"}`), response{}},
		{"drawn again", postFunc(at+"/draw?proof=true", `{"count":2}`), response{}},
		{"add", nil, response{}}, // one that was drawn
		{"end", func(t testing.TB) *http.Request { return del(t, at) }, response{}},
		{"close", postFunc(at+"/close", `{}`), response{}},
	}
	for i := range attempts[1:] {
		a, before := &attempts[i+1], s.logSize()
		if a.key == "add" {
			var drawn shoeState
			if err := json.Unmarshal([]byte(attempts[i].got.body), &drawn); err != nil {
				t.Fatal(err)
			}
			a.make = postFunc(at+"/piles/c/add", fmt.Sprintf(`{"cards":[%d]}`, drawn.Cards[0].Card))
		}
		if a.got = s.send(t, keyed(a.make(t), keyOf(a.key))); a.got.status != 200 || s.logSize() != before+1 {
			t.Fatalf("%s made %d records: %d %s", a.key, s.logSize()-before, a.got.status, a.got.body)
		}
	}
	c.Set(c.Now().Add(time.Hour))
	size := s.logSize()
	for who, s := range map[string]*service{"the same process": s, "another process": s.replica(t)} {
		for _, a := range attempts {
			if got := s.send(t, keyed(a.make(t), keyOf(a.key))); !reflect.DeepEqual(got, a.got) {
				t.Errorf("%s, %s: answered %.500v, and first %.500v", a.key, who, got, a.got)
			}
		}
		for _, r := range []*http.Request{
			keyed(post(t, "/shoes", `{"deck":"standard52","expires_in":61}`), keyOf("made")), keyed(post(t, at+"/draw?proof=true", `{"count":4}`), keyOf("draw")),
			keyed(post(t, at+"/draw", `{"count":3}`), keyOf("draw")), keyed(del(t, noShoe), keyOf("end")), keyed(del(t, at), keyOf("close")),
		} {
			if got := s.send(t, r); got.status != 422 {
				t.Errorf("%s: %d %s", who, got.status, got.body)
			}
		}
	}
	if s.logSize() != size {
		t.Errorf("retries made %d records", s.logSize()-size)
	}
}

// What cannot be done is refused by its status, at its place, and changes nothing.
func TestShoeRequestErrors(t *testing.T) {
	s := start(t, setup{})
	made := mustCreateShoe(t, s, `{"deck":"standard52","decks":2}`)
	at := made.path()
	drawn := s.mustShoe(t, post(t, at+"/draw", `{"count":104,"to":"all"}`))
	s.mustShoe(t, post(t, at+"/piles/all/draw", `{"count":10}`))
	several := drawn.Cards[103].Code // at the top, and at once its twin
	const many, absent = 4097, 104
	numbers := "0" + strings.Repeat(",0", many-1)
	for _, v := range []struct {
		path, body string
		status     int
		pointer    string
	}{
		{"/shoes", `{"deck":"standard52","draw":5}`, 422, "/draw"},
		{"/shoes", `{"deck":"standard52","repeat":1}`, 422, "/repeat"},
		{"/shoes", `{"deck":"standard52","reveal":"now"}`, 422, "/reveal"},
		{"/shoes", `{"deck":"standard52","hands":[1]}`, 422, "/hands"},
		{"/shoes", `{"size":0}`, 422, ""},
		{"/shoes", `{"items":[]}`, 422, ""},
		{"/shoes", `{"items":[` + numbers + `]}`, 422, ""},
		{"/shoes", `{"items":["` + strings.Repeat("a", 1<<20) + `"]}`, 422, "/items"},
		{"/shoes", `{"size":2,"expires_in":0}`, 422, "/expires_in"},
		{"/shoes", `{"size":2,"expires_in":31622401}`, 422, "/expires_in"},
		{"/shoes", `{"size":2,"expires_in":18446744073709551615}`, 422, "/expires_in"},
		{"/shoes", `{"size":2,"expires_in":"1"}`, 400, "/expires_in"},
		{"/shoes", `{"size":2,"expires_in":1.5}`, 400, "/expires_in"},
		{"/shuffle", `{"size":2,"expires_in":60}`, 400, "/expires_in"},
		{"/commitments", `{"size":2,"expires_in":60}`, 400, "/expires_in"},
		{at + "/draw", ``, 400, ""},
		{at + "/draw", `{}`, 422, "/count"},
		{at + "/draw", `{"count":0}`, 422, "/count"},
		{at + "/draw", `{"count":-1}`, 422, "/count"},
		{at + "/draw", `{"count":"1"}`, 400, "/count"},
		{at + "/draw", `{"count":1,"count":1}`, 400, "/count"},
		{at + "/draw", `{"from":"middle"}`, 422, "/from"},
		{at + "/draw", `{"from":null}`, 400, "/from"},
		{at + "/draw", `{"to":""}`, 422, "/to"},
		{at + "/draw", `{"to":"` + strings.Repeat("a", 65) + `"}`, 422, "/to"},
		{at + "/draw", `{"to":"é"}`, 422, "/to"},
		{at + "/draw", `{"put":"bottom"}`, 422, "/put"},
		{at + "/draw", `{"to":"a","put":"random"}`, 422, "/put"},
		{at + "/draw", `{"cards":["AS"]}`, 400, "/cards"},
		{at + "/draw", `{} {}`, 400, ""},
		{at + "/return", `{"cards":"AS"}`, 400, "/cards"},
		{at + "/return", `{"cards":[]}`, 422, "/cards"},
		{at + "/return", `{"cards":[true]}`, 400, "/cards/0"},
		{at + "/return", `{"cards":[0.5]}`, 400, "/cards/0"},
		{at + "/return", `{"cards":[1,2,-3]}`, 422, "/cards/2"},
		{at + "/return", fmt.Sprintf(`{"cards":[0,%d]}`, absent), 422, "/cards/1"},
		{at + "/return", `{"cards":[7,7]}`, 422, "/cards/1"},
		{at + "/return", `{"cards":["no such card"]}`, 422, "/cards/0"},
		{at + "/return", `{"cards":[` + numbers + `]}`, 422, "/cards"},
		{at + "/return", `{"put":"middle"}`, 422, "/put"},
		{at + "/return", `{"count":1}`, 400, "/count"},
		{at + "/reshuffle", `{"cards":"dealt"}`, 422, "/cards"},
		{at + "/reshuffle", `{"cards":[1]}`, 400, "/cards"},
		{at + "/reshuffle", `{"algorithm":""}`, 422, "/algorithm"},
		{at + "/reshuffle", `{"algorithm":"naive"}`, 422, "/algorithm"},
		{at + "/reshuffle", `{"client_seed":"` + strings.Repeat("a", 257) + `"}`, 400, "/client_seed"},
		{at + "/close", `{"seed":""}`, 400, "/seed"},
		{at + "/piles/a/add", `{}`, 422, "/cards"},
		{at + "/piles/a/add", `{"cards":[]}`, 422, "/cards"},
		{at + "/piles/a/add", `{"cards":[` + fmt.Sprint(absent) + `]}`, 422, "/cards/0"},
		{at + "/piles/a/add", `{"cards":["` + several + `"]}`, 422, "/cards/0"},
		{at + "/piles/a%20b/add", `{"cards":[1]}`, 422, ""},
		{at + "/piles/none/draw", `{}`, 404, ""},
		{at + "/piles/none/shuffle", `{}`, 404, ""},
		{at + "/piles/none/return", `{}`, 404, ""},
		{at + "/piles/all/draw", `{"count":95}`, 422, "/count"},
		{at + "/piles/all/draw", `{"cards":[1],"count":1}`, 422, "/cards"},
		{at + "/piles/all/draw", `{"cards":[1],"from":"top"}`, 422, "/cards"},
		{at + "/piles/all/draw", fmt.Sprintf(`{"cards":[%d]}`, drawn.Cards[103].Card), 422, "/cards/0"},
		{noShoe + "/draw", `{}`, 404, ""},
		{strings.ToUpper(at) + "/draw", `{}`, 404, ""},
		{"/shoes/" + made.AuditID + "/draw", `{}`, 404, ""}, // which everyone knows
	} {
		before := s.logSize()
		got := s.send(t, post(t, v.path, v.body))
		pointer, _ := got.problem(t)
		if got.status != v.status || pointer != v.pointer || s.logSize() != before {
			t.Errorf("%s %.80s: %d at %q, not %d at %q: %.300s", v.path, v.body, got.status, pointer, v.status, v.pointer, got.body)
		}
	}
	if got := s.mustShoe(t, get(t, at)); got.Version != 3 || got.Dealt != 10 {
		t.Errorf("the shoe is %+v", got)
	}
	// Other codes of a card will do, and of twins there is one at a time.
	twin := mustCreateShoe(t, s, `{"deck":"standard52"}`)
	s.mustShoe(t, post(t, twin.path()+"/draw", `{"count":52}`))
	if got := s.mustShoe(t, post(t, twin.path()+"/piles/a/add", `{"cards":["10S","AS"]}`)); got.Cards[0].Code != "TS" || got.Cards[1].Code != "AS" {
		t.Errorf("10S and AS are %+v", got.Cards)
	}
}

// A long answer is as whole as a short one, and the same the second time.
func TestLargeShoe(t *testing.T) {
	s := start(t, setup{})
	made := mustCreateShoe(t, s, `{"size":4096}`)
	first := s.send(t, keyed(post(t, made.path()+"/draw?proof=true", `{"count":4096,"to":"all"}`), "k"))
	var drawn shoeState
	if err := json.Unmarshal([]byte(first.body), &drawn); err != nil || len(drawn.Cards) != 4096 || first.header.Get("Etag") != `"2"` {
		t.Fatalf("%v, %d cards, %v", err, len(drawn.Cards), first.header)
	}
	checkOpenings(t, s, made, []shoeCard{drawn.Cards[0], drawn.Cards[4095]})
	if again := s.replica(t).send(t, keyed(post(t, made.path()+"/draw?proof=true", `{"count":4096,"to":"all"}`), "k")); !reflect.DeepEqual(again, first) {
		t.Error("the long answer is another the second time")
	}
	var names []string
	for _, c := range drawn.Cards {
		names = append(names, fmt.Sprint(c.Card))
	}
	s.mustShoe(t, post(t, made.path()+"/piles/all/return", `{"cards":[`+strings.Join(names, ",")+`]}`))
}

// However many draw at once, through two processes, no card is drawn twice.
func TestShoeDrawsAtOnce(t *testing.T) {
	s := start(t, setup{})
	made := mustCreateShoe(t, s, `{"deck":"standard52"}`)
	services := []*service{s, s.replica(t)}
	var mu sync.Mutex
	var running sync.WaitGroup
	seen, short := map[uint64]bool{}, 0
	for i := range 60 {
		running.Go(func() {
			got := services[i%2].send(t, post(t, made.path()+"/draw", `{}`))
			mu.Lock()
			defer mu.Unlock()
			var drawn shoeState
			switch err := json.Unmarshal([]byte(got.body), &drawn); {
			case got.status == 422:
				short++
			case err != nil || len(drawn.Cards) != 1 || seen[drawn.Cards[0].Card]:
				t.Errorf("%d %s (%v)", got.status, got.body, err)
			default:
				seen[drawn.Cards[0].Card] = true
			}
		})
	}
	running.Wait()
	if len(seen) != 52 || short != 8 {
		t.Errorf("%d cards were drawn, and %d times there was none", len(seen), short)
	}
}

// Who leaves while the shoe is being dealt from by another is answered nothing, and nothing is
// logged as failed.
func TestCanceledDrawIsNotLoggedAsFailed(t *testing.T) {
	logged := &logBuffer{}
	committing, release := make(chan struct{}), make(chan struct{})
	var hold bool
	s := start(t, setup{output: logged, store: func(s ledger.Store) ledger.Store {
		return &faultyStore{Store: s, beforeAppend: func() error {
			if hold {
				committing <- struct{}{}
				<-release
			}
			return nil
		}}
	}})
	made := mustCreateShoe(t, s, `{"size":9}`)
	hold = true
	var other sync.WaitGroup
	other.Go(func() { readBody(t, s.do(post(t, made.path()+"/draw", `{}`))) })
	<-committing
	s.sendCanceled(t, post(t, made.path()+"/draw", `{}`))
	close(release)
	other.Wait()
	if strings.Contains(string(logged.bytes()), "failed") {
		t.Errorf("%s", logged.bytes())
	}
}

// A shoe is dealt from to the last microsecond of its time, and can be closed afterwards.
func TestShoeExpires(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)}
	s := start(t, setup{now: c.Now})
	made := s.mustShoe(t, post(t, "/shoes", `{"size":9,"expires_in":60}`))
	if want := time.Date(2026, 11, 21, 12, 1, 0, 123456000, time.UTC); made.Expires == nil || !made.Expires.Equal(want) {
		t.Fatalf("it expires at %v, not at %v", made.Expires, want)
	}
	c.Set(made.Expires.Add(-time.Microsecond))
	s.mustShoe(t, post(t, made.path()+"/draw", `{}`))
	c.Set(*made.Expires)
	if got := s.send(t, post(t, made.path()+"/draw", `{}`)); got.status != 410 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.mustShoe(t, get(t, made.path())); got.Status != "expired" || got.Version != 2 {
		t.Errorf("it is %+v", got)
	}
	if got := s.mustShoe(t, get(t, made.path()+"/dealt")); len(got.Cards) != 1 {
		t.Errorf("of one drawn card there are %+v", got.Cards)
	}
	ended := s.mustShoe(t, del(t, made.path()))
	again := s.send(t, del(t, made.path()))
	if _, audit := again.problem(t); again.status != 410 || audit != ended.AuditID {
		t.Errorf("%d %s", again.status, again.body)
	}
	closed := s.mustShoe(t, post(t, made.path()+"/close", `{}`))
	again = s.send(t, post(t, made.path()+"/close", `{}`))
	if _, audit := again.problem(t); again.status != 409 || audit != closed.AuditID || closed.Status != "closed" {
		t.Errorf("%d %s", again.status, again.body)
	}
}

func TestShoeMetrics(t *testing.T) {
	c := &clock{now: time.Now()}
	s := start(t, setup{now: c.Now})
	expect := func(want ...string) {
		t.Helper()
		text := s.send(t, get(t, "/metrics")).body
		for _, line := range want {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("the metrics do not have %s", line)
			}
		}
	}
	expect("riffle_shoes 0", `riffle_shoe_changes_total{kind="shoe"} 0`, `riffle_shoe_changes_total{kind="expire"} 0`)
	closed, late, open := mustCreateShoe(t, s, `{"size":9}`), mustCreateShoe(t, s, `{"size":9,"expires_in":60}`), mustCreateShoe(t, s, `{"size":9,"expires_in":61}`)
	expect("riffle_shoes 3", `riffle_shoe_changes_total{kind="shoe"} 3`)
	c.Set(c.Now().Add(time.Minute))
	expect("riffle_shoes 2", `riffle_shoe_changes_total{kind="expire"} 0`)
	for _, change := range []struct{ path, body string }{
		{"/draw", `{"to":"a"}`}, {"/piles/a/draw", `{}`}, {"/return", `{}`}, {"/reshuffle", `{}`}, {"/close", `{}`},
	} {
		s.mustShoe(t, keyed(post(t, closed.path()+change.path, change.body), "k"+change.path))
		s.mustShoe(t, keyed(post(t, closed.path()+change.path, change.body), "k"+change.path)) // which is no change
	}
	s.mustShoe(t, del(t, late.path()))
	drawn := s.mustShoe(t, post(t, open.path()+"/draw", `{}`))
	s.mustShoe(t, post(t, open.path()+"/piles/a/add", fmt.Sprintf(`{"cards":[%d]}`, drawn.Cards[0].Card)))
	expect(
		"riffle_shoes 1", `riffle_shoe_changes_total{kind="draw"} 3`, `riffle_shoe_changes_total{kind="add"} 1`,
		`riffle_shoe_changes_total{kind="return"} 1`, `riffle_shoe_changes_total{kind="reshuffle"} 1`,
		`riffle_shoe_changes_total{kind="close"} 1`, `riffle_shoe_changes_total{kind="expire"} 1`,
	)
}
