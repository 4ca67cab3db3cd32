package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// noShoe is the path of a shoe that there is not.
const noShoe = "/shoes/7d0a3c53-5f0e-4c52-9d6b-1f7c5f3a9b10"

// shoeBodies are bodies of the changes of a shoe that say as little as they can.
var shoeBodies = map[string]string{
	"drawCards": `{}`, "returnCards": `{}`, "reshuffleShoe": `{}`, "closeShoe": `{}`, "endShoe": "",
	"addToPile": `{"cards":[0]}`, "drawFromPile": `{}`, "shufflePile": `{}`, "returnFromPile": `{}`,
}

// shoeProbes are the probes of shoes. Shoes refuse most things in one way, whatever was to be done
// to them: each change is asked for of a shoe that is closed, one that has expired, one at another
// version and one that there is not.
func shoeProbes(t *testing.T, c *contract, shared *service) []probe {
	sound := func(testing.TB) *service { return shared }
	fixed := func(r *http.Request) func(*service) *http.Request {
		return func(*service) *http.Request { return r }
	}
	making := func(body string) func(*service) *http.Request { return fixed(post(t, "/shoes", body)) }
	long := `{"cards":["` + strings.Repeat("a", 16<<20) + `"]}`
	open := shoeOnce(t, shared, `{"deck":"standard52"}`).path()
	dealt := shoeOnce(t, shared, `{"items":["a","a","b",1,2,3]}`).path()
	read(t, shared.answer(post(t, dealt+"/draw", `{"count":3}`)))
	closed := shoeOnce(t, shared, `{"size":3}`).path()
	read(t, shared.answer(post(t, closed+"/draw", `{"to":"alice"}`)))
	read(t, shared.answer(post(t, closed+"/close", `{}`)))
	ended := shoeOnce(t, shared, `{"size":3}`).path()
	read(t, shared.answer(request(t, http.MethodDelete, ended)))
	twins := shoeOnce(t, shared, `{"items":["a","a"]}`).path()
	read(t, shared.answer(post(t, twins+"/draw", `{"count":2,"to":"alice"}`)))
	crowded := shoeOnce(t, shared, `{"size":257}`).path()
	for i := range 256 {
		read(t, shared.answer(post(t, crowded+"/draw", fmt.Sprintf(`{"to":"p%d"}`, i))))
	}
	list := []probe{
		{"createShoe", 200, "", making(`{"size":4096,"algorithm":"sattolo","client_seed":"é"}`), sound, nil},
		{"createShoe", 400, "unknownMember", making(`{"deck":"standard52","shuffles":2}`), sound, nil},
		{"createShoe", 400, "badKey", fixed(keyed(post(t, "/shoes", `{"size":37}`), "two words")), sound, nil},
		{"createShoe", 408, "tooSlow", func(*service) *http.Request { r := post(t, "/shoes", `{"size":2}`); slow(r); return r }, sound, nil},
		{"createShoe", 409, "running", fixed(keyed(post(t, "/shoes", `{"size":2}`), "a")), stillAnswering("/shuffle"), nil},
		{"createShoe", 413, "tooLarge", making(`{"items":["` + strings.Repeat("a", 16<<20) + `"]}`), sound, nil},
		{"createShoe", 415, "wrongMediaType", func(*service) *http.Request {
			r := post(t, "/shoes", `{"size":2}`)
			mediaType("text/plain")(r)
			return r
		}, sound, nil},
		{"createShoe", 422, "hands", making(`{"deck":"standard52","hands":"bridge"}`), sound, nil},
		{"createShoe", 422, "noTime", making(`{"deck":"standard52","expires_in":0}`), sound, nil},
		{"createShoe", 422, "noTime", making(`{"deck":"standard52","expires_in":31622401}`), sound, nil},
		{"createShoe", 422, "tooManyCards", making(`{"size":4097}`), sound, nil},
		{"createShoe", 422, "keyOfAnother", func(s *service) *http.Request {
			read(t, s.answer(keyed(post(t, "/shoes", `{"size":2}`), "shoe")))
			return keyed(post(t, "/shoes", `{"size":3}`), "shoe")
		}, sound, nil},
		{"createShoe", 500, "notDurable", making(`{"size":2}`), broken, nil},
		{"createShoe", 503, "noSpace", making(`{"size":2}`), withoutSpace, nil},

		{"drawCards", 200, "", fixed(post(t, open+"/draw?proof=true", `{"count":52,"from":"bottom","to":"all"}`)), sound, nil},
		{"drawCards", 400, "notAWord", fixed(post(t, open+"/draw", `{"from":1}`)), sound, nil},
		{"drawCards", 422, "tooFew", fixed(post(t, dealt+"/draw", `{"count":4}`)), sound, nil},
		{"drawCards", 422, "none", fixed(post(t, dealt+"/draw", `{"count":0}`)), sound, nil},
		{"drawCards", 422, "noPile", fixed(post(t, dealt+"/draw", `{"put":"top"}`)), sound, nil},
		{"drawCards", 422, "badPileName", fixed(post(t, dealt+"/draw", `{"to":"my pile"}`)), sound, nil},
		{"drawCards", 422, "tooManyPiles", fixed(post(t, crowded+"/draw", `{"to":"q"}`)), sound, nil},
		{"returnCards", 400, "notACard", fixed(post(t, open+"/return", `{"cards":[0,[]]}`)), sound, nil},
		{"returnCards", 400, "notAVersion", func(*service) *http.Request {
			r := post(t, open+"/return", `{}`)
			r.Header.Set("If-Match", "1")
			return r
		}, sound, nil},
		{"returnCards", 422, "notThere", fixed(post(t, dealt+"/return", `{"cards":[6]}`)), sound, nil},
		{"returnCards", 422, "noEnd", fixed(post(t, dealt+"/return", `{"put":"random"}`)), sound, nil},
		{"reshuffleShoe", 422, "unknownAlgorithm", fixed(post(t, dealt+"/reshuffle", `{"algorithm":"quicksort"}`)), sound, nil},
		{"addToPile", 422, "noCards", fixed(post(t, dealt+"/piles/alice/add", `{}`)), sound, nil},
		{"addToPile", 422, "badPileInPath", fixed(post(t, dealt+"/piles/my%20pile/add", `{"cards":[1]}`)), sound, nil},
		{"drawFromPile", 422, "cardsAndCount", fixed(post(t, twins+"/piles/alice/draw", `{"cards":[1],"count":1}`)), sound, nil},
		{"drawFromPile", 422, "severalThere", fixed(post(t, twins+"/piles/alice/draw", `{"cards":["a"]}`)), sound, nil},
		{"shufflePile", 422, "unknownAlgorithm", fixed(post(t, twins+"/piles/alice/shuffle", `{"algorithm":"quicksort"}`)), sound, nil},
		{"returnFromPile", 422, "badPileInPath", fixed(post(t, dealt+"/piles/my%20pile/return", `{}`)), sound, nil},

		{"listDealt", 400, "notABoolean", fixed(get(t, open+"/dealt?proof=1")), sound, nil},
		{"listDealt", 400, "unknownParameter", fixed(get(t, open+"/dealt?limit=1")), sound, nil},
		{"listPiles", 200, "", fixed(get(t, crowded+"/piles")), sound, nil},
		{"getPile", 200, "", fixed(get(t, twins+"/piles/alice?proof=true")), sound, nil},
		{"getPile", 400, "notABoolean", fixed(get(t, open+"/piles/alice?proof=yes")), sound, nil},
		{"getPile", 422, "badPileInPath", fixed(get(t, open+"/piles/my%20pile")), sound, nil},
		{"proveCard", 400, "unknownParameter", fixed(get(t, open+"/cards/0/proof?proof=true")), sound, nil},
		{"proveCard", 400, "notAnID", fixed(get(t, open+"/cards/0/proof?sealed_by=1")), sound, nil},
		{"proveCard", 404, "noSuchPosition", fixed(get(t, open+"/cards/first/proof")), sound, nil},
		{"proveCard", 404, "noSuchPosition", fixed(get(t, open+"/cards/00/proof")), sound, nil},
		{"proveCard", 404, "noSuchPosition", fixed(get(t, open+"/cards/0/proof?sealed_by=01890a5d-ac96-774b-bcce-b302099a8057")), sound, nil},
		{"proveShoe", 503, "notPublished", func(s *service) *http.Request {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return get(t, shoeOnce(t, s, `{"size":3}`).path()+"/proof").WithContext(ctx)
		}, notFollowing, nil},
	}
	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		op := c.operations[operation]
		if !strings.HasPrefix(op.Path, "/shoes/") {
			continue
		}
		body, changes := shoeBodies[operation]
		ask := func(of string) *http.Request {
			path := strings.Replace(target(op.Path, "1"), "/shoes/1", of, 1)
			if op.Method == http.MethodPost {
				return post(t, path, body)
			}
			return request(t, op.Method, path)
		}
		with := func(r *http.Request, name, value string) func(*service) *http.Request {
			r.Header.Set(name, value)
			return fixed(r)
		}
		list = append(
			list,
			probe{operation, 404, "noSuchShoe", fixed(ask(noShoe)), sound, nil},
			probe{operation, 404, "noSuchShoe", fixed(ask("/shoes/1")), sound, nil},
			probe{operation, 409, "deckChanged", func(s *service) *http.Request { return ask(s.shoe) }, withOtherCardsInShoe, nil},
			probe{operation, 500, "failed", fixed(ask(noShoe)), cannotRead, nil},
			probe{operation, 503, "unreachable", fixed(ask(noShoe)), outOfReach, nil},
		)
		if !changes {
			if op.Operation.Responses.Status(http.StatusBadRequest).Ref == "#/components/responses/NoParameters" {
				r := ask(open)
				r.URL.RawQuery = "page=2"
				list = append(list, probe{operation, 400, "noParameters", fixed(r), sound, nil})
			}
			continue
		}
		list = append(
			list,
			probe{operation, 400, "badKey", fixed(keyed(ask(open), "two words")), sound, nil},
			probe{operation, 409, "", fixed(ask(closed)), sound, nil},
			probe{operation, 409, "running", fixed(keyed(ask(open), "a")), stillAnswering("/shuffle"), nil},
			probe{operation, 412, "otherVersion", func(s *service) *http.Request {
				r := ask(shoeOnce(t, s, `{"size":2}`).path())
				r.Header.Set("If-Match", `"2"`)
				return r
			}, sound, nil},
			probe{operation, 422, "keyOfAnother", func(s *service) *http.Request {
				read(t, s.answer(keyed(post(t, "/shuffle", `{"size":2}`), "another")))
				return keyed(ask(open), "another")
			}, sound, nil},
		)
		if operation != "closeShoe" { // which is what can still be done
			list = append(list, probe{operation, 410, "", fixed(ask(ended)), sound, nil})
		}
		if operation != "closeShoe" && operation != "endShoe" {
			list = append(list, probe{operation, 410, "late", func(s *service) *http.Request { return ask(s.shoe) }, withLateShoe, nil})
		}
		if strings.Contains(op.Path, "{pile}") && operation != "addToPile" {
			list = append(list, probe{operation, 404, "noSuchPile", fixed(ask(dealt)), sound, nil})
		}
		if body == "" {
			continue
		}
		tooSlow, tooLong := ask(open), post(t, ask(open).RequestURI, long)
		slow(tooSlow)
		list = append(
			list,
			probe{operation, 400, "", fixed(post(t, ask(open).RequestURI, ``)), sound, nil},
			probe{operation, 400, "", fixed(post(t, ask(open).RequestURI, `{"no-such-member":1}`)), sound, nil},
			probe{operation, 408, "tooSlow", fixed(tooSlow), sound, nil},
			probe{operation, 413, "tooLarge", fixed(tooLong), sound, nil},
			probe{operation, 415, "wrongMediaType", with(ask(open), "Content-Type", "text/plain"), sound, nil},
		)
	}
	return append(list, probe{"drawCards", 400, "unknownMember", fixed(post(t, open+"/draw", `{"cards":["AS"]}`)), sound, nil})
}

// withOtherCardsInShoe returns a service with a shoe of a deck type whose cards were changed since.
func withOtherCardsInShoe(t testing.TB) *service {
	s := start(t, setup{
		random: rand.NewChaCha8([32]byte{}), // the answer has the id of its record
		now:    func() time.Time { return time.Date(2026, 11, 21, 9, 55, 0, 0, time.UTC) },
	})
	made := shoeOnce(t, s.replica(t, fmt.Sprintf(ownDeck, "A")), `{"deck":"own"}`)
	s = s.replica(t, fmt.Sprintf(ownDeck, "B"))
	s.shoe = made.path()
	return s
}

// withLateShoe returns a service with a shoe whose time has passed, which the log does not say yet.
func withLateShoe(t testing.TB) *service {
	c := &clock{now: time.Now()}
	s := start(t, setup{now: c.read})
	s.shoe = shoeOnce(t, s, `{"size":3,"expires_in":60}`).path()
	c.set(c.read().Add(time.Minute))
	return s
}

// A madeShoe is what later requests need of the answer that made a shoe.
type madeShoe struct {
	ShoeID     string `json:"shoe_id"`
	AuditID    string `json:"audit_id"`
	LogIndex   uint64 `json:"log_index"`
	Commitment string `json:"commitment"`
	Root       string `json:"root"`
	Size       uint64 `json:"size"`
}

// path is where the shoe is.
func (s madeShoe) path() string { return "/shoes/" + s.ShoeID }

func shoeOnce(t testing.TB, s *service, request string) (made madeShoe) {
	t.Helper()
	body := read(t, s.answer(post(t, "/shoes", request)))
	if err := json.Unmarshal(body, &made); err != nil || made.ShoeID == "" {
		t.Fatalf("%s (%v)", body, err)
	}
	return made
}
