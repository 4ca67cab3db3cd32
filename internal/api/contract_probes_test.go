package api_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
)

// A probe is a request and the response that it must get, which the contract must have.
type probe struct {
	operation string
	status    int
	says      string                       // name of the example in the contract, or the detail of the problem; empty for any
	request   func(*service) *http.Request // makes the request, on the service that answers it
	on        func(testing.TB) *service    // starts the service that answers
}

// fillPath fills in the parameters of a path of the contract.
func fillPath(path, id string) string {
	return strings.NewReplacer("{type}", "standard52", "{id}", id, "{tile}", "0/000.p/1", "{pile}", "alice", "{position}", "0").Replace(path)
}

// responseProbes returns requests for the responses that replayExamples cannot provoke: those that
// need a service in some state, and those to requests that are too malformed to be examples.
func responseProbes(t *testing.T, c *contract) []probe {
	shared := start(t, setup{})
	healthy := func(testing.TB) *service { return shared }
	fixed := func(r *http.Request) func(*service) *http.Request { return func(*service) *http.Request { return r } }
	body := func(text string) func(*service) *http.Request { return fixed(post(t, "/shuffle", text)) }
	with := func(r *http.Request, change func(*http.Request)) func(*service) *http.Request {
		change(r)
		return fixed(r)
	}
	known := func(r *http.Request) { r.Header.Set("If-None-Match", "*") }
	browser := func(r *http.Request) { r.Header.Set("Accept", "text/html") }
	audit := mustShuffle(t, shared, `{"size":3,"reference":"a"}`)
	id := audit.AuditID
	commitment := mustCommit(t, shared, `{"items":[1,2,3]}`).CommitmentID
	salted := mustCommit(t, shared, `{"items":[1,2,3],"items_salt":"c0ffee0011223344"}`).CommitmentID
	large := mustShuffle(t, shared, `{"size":2,"repeat":60000,"reveal":"now"}`).AuditID
	reveal := "/audits/" + id + "/reveal"
	long := `{"items":["` + strings.Repeat("a", 16<<20) + `"]}`

	pictureFirst := func(s *service) *http.Request { return get(t, "/audits/"+s.first.AuditID+"/picture.png") }
	verifyFirst := func(s *service) *http.Request { return get(t, "/audits/"+s.first.AuditID+"/verify") }

	postOwnDeck := func(t testing.TB) *http.Request { return keyed(post(t, "/shuffle", `{"deck":"own"}`), "a") }
	getOwnDeck := func(t testing.TB) *http.Request { return keyed(get(t, "/decks/own"), "a") }

	list := accessProbes(t, c)
	list = append(list, []probe{
		{"shuffle", 200, "", body(`{"size":20000,"hands":[1,19000],"repeat":3}`), healthy}, // long enough to be streamed
		{"shuffle", 200, "", body(`{"items":[-0,9007199254740993,18446744073709551616,"\u00e9\/"],"client_seed":"é"}`), healthy},
		{"shuffle", 400, "unknownMember", body(`{"deck":"standard52","shuffles":2}`), healthy},
		{"shuffle", 400, "deck is a duplicate: readers differ on which of the two counts. Send each member of an object once.", body(`{"deck":"standard52","deck":"standard54"}`), healthy},
		{"shuffle", 400, "wrongType", body(`{"deck":"standard52","draw":"5"}`), healthy},
		{"shuffle", 400, "A reference is printable characters only: no line breaks, tabs or other controls.", body(`{"size":2,"reference":"a\nb"}`), healthy},
		{"shuffle", 400, "There is more than one value in the body: the second begins before byte 11. Send one JSON object.", body(`{"size":2}{"size":2}`), healthy},
		{"shuffle", 400, "The body is not strict JSON (RFC 8259, UTF-8, no lone surrogates) at byte 11.", body("{\"items\":[\"\xff\"]}"), healthy},
		{"shuffle", 400, "", body(`{"items":["\ud800"]}`), healthy}, // a lone surrogate
		{"shuffle", 400, "items.0 is nested too deep: a body has at most 100 levels.", body(`{"items":[` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `]}`), healthy},
		{"shuffle", 400, "The JSON ends before it is complete.", body(`{"items":[1,2`), healthy},
		{"shuffle", 400, "The body must be a JSON object; got an array.", body(`[1,2,3]`), healthy},
		{"shuffle", 400, `"deck" is not a parameter of this path; it takes none.`, fixed(post(t, "/shuffle?deck=standard52", `{}`)), healthy},
		{"shuffle", 400, "unique_reference must be true or false; got a string.", body(`{"size":37,"unique_reference":"yes"}`), healthy},
		{"shuffle", 409, "deckChanged", fixed(postOwnDeck(t)), deckTypeChanged(postOwnDeck)},
		{"shuffle", 413, "tooLarge", with(post(t, "/shuffle", long), func(r *http.Request) { r.ContentLength = -1 }), healthy},
		{"shuffle", 415, "compressed", with(post(t, "/shuffle", "\x1f\x8b"), compressed), healthy},
		{"shuffle", 422, "Give exactly one of items, deck and size.", body(`{"items":[1,2],"deck":"standard52"}`), healthy},
		{"shuffle", 422, "decks counts copies of a deck; name one in deck.", body(`{"items":[1,2],"decks":2}`), healthy},
		{"shuffle", 422, "hands must have at least one size, as in [13,13,13,13], or be left out; got [].", body(`{"deck":"standard52","hands":[]}`), healthy},
		{"shuffle", 422, "size must be an integer from 0 to 9007199254740991; got -1.", body(`{"size":-1}`), healthy},
		{"shuffle", 422, "items has 1000001 elements, and at most 1000000 can be shuffled; to draw a few of many, send size and draw instead.", body(`{"items":[0` + strings.Repeat(",0", 1_000_000) + `]}`), healthy},
		{"shuffle", 422, "size is 1000001, but at most 1000000 can be drawn; set draw to the number you need.", body(`{"size":1000001}`), healthy},
		{"shuffle", 422, "repeat must be at most 49 here; got 161, which takes 3461511431 steps to replay, and verifiers replay at most 1073741824.", body(`{"size":1000000,"draw":1,"repeat":161,"algorithm":"durstenfeld"}`), healthy},
		{"shuffle", 422, "client_seed is required with commitment_id; use one that was not known when the commitment was made.", body(`{"commitment_id":"` + commitment + `"}`), healthy},
		{"shuffle", 422, "items is required: the service stores only the digest of the committed items.", body(`{"commitment_id":"` + commitment + `","client_seed":"x"}`), healthy},
		{"shuffle", 400, "A salt of items is 16 to 128 of the characters A-Z, a-z, 0-9, - and _, such as 16 random bytes in hex.", body(`{"items":[1,2,3],"items_salt":"4711"}`), healthy},
		{"shuffle", 422, "items_salt is required: send the salt of the committed items again, since only their digest is stored.", body(`{"commitment_id":"` + salted + `","client_seed":"x","items":[1,2,3]}`), healthy},
		{"shuffle", 422, "", body(`{"size":3,"items_salt":"c0ffee0011223344"}`), healthy},
		{"getAudit", 200, "", fixed(get(t, "/audits/"+salted)), healthy},
		{"shuffle", 422, "", body(`{"size":9007199254740992,"draw":1}`), healthy},
		{"shuffle", 422, "", body(`{"size":2,"repeat":18446744073709551615}`), healthy},
		{"shuffle", 500, "failed", body(`{"size":2}`), noRandomness},
		{"shuffle", 500, "notDurable", body(`{"size":2}`), brokenLog},
		{"shuffle", 503, "queueFull", body(`{"size":2}`), fullQueue},
		{"shuffle", 503, "Too many long requests are in flight. Nothing was done; retry in a second, or split the request.", body(`{"items":["` + strings.Repeat("a", 1<<20) + `"]}`), noMemory},
		{"shuffle", 503, "noSpace", body(`{"size":2}`), fullDisk},
		{"shuffle", 503, "stopping", body(`{"size":2}`), closedLog},

		{"createCommitment", 200, "", fixed(post(t, "/commitments", `{"items":[1,2],"algorithm":"sattolo","repeat":2,"hands":[1],"reference":"é"}`)), healthy},
		{"createCommitment", 422, "client_seed belongs to the shuffle that uses the commitment, not to the commitment. Leave it out here.", fixed(post(t, "/commitments", `{"size":37,"client_seed":"Ines"}`)), healthy},
		{"createCommitment", 422, "count must be from 2 to 1024 rounds of 52 of 52; got 0.", fixed(post(t, "/commitments", `{"deck":"standard52","count":0}`)), healthy},
		{"createCommitment", 422, "count must be from 2 to 76 rounds of 1024 of 9007199254740991; got 77.", fixed(post(t, "/commitments", `{"size":9007199254740991,"draw":1024,"count":77}`)), healthy},
		{"createCommitment", 200, "", fixed(post(t, "/commitments", `{"size":2,"beacon":{"chain":"quicknet","after":"7s"}}`)), healthy},
		{"createCommitment", 422, "beacon must have the chain quicknet, and either a round from 1 or the time after which it comes: a round such as {\"chain\":\"quicknet\",\"after\":\"10s\"}.", fixed(post(t, "/commitments", `{"size":2,"beacon":{"chain":"evmnet","round":5}}`)), healthy},
		{"createCommitment", 422, "expires_in must be from 1 to 31622400 seconds, or left out.", fixed(post(t, "/commitments", `{"size":2,"expires_in":31622401}`)), healthy},
		{"createCommitment", 500, "failed", fixed(post(t, "/commitments", `{"size":2}`)), noRandomness},
		{"createCommitment", 503, "queueFull", fixed(post(t, "/commitments", `{"size":2}`)), fullQueue},

		{"listCommitments", 200, "", fixed(get(t, "/commitments?limit=1")), healthy}, // a full page
		{"listCommitments", 200, "", fixed(get(t, "/commitments?status=void&after="+id)), healthy},
		{"listCommitments", 400, `"reference" is not a parameter of this path; it takes status, after, limit.`, fixed(get(t, "/commitments?reference=a")), healthy},
		{"listCommitments", 400, `after must be the commitment_id that the last page ended with; got "1".`, fixed(get(t, "/commitments?after=1")), healthy},
		{"listCommitments", 422, `status must be open, late, used or void; got "lost".`, fixed(get(t, "/commitments?status=lost")), healthy},
		{"listCommitments", 422, "", fixed(get(t, "/commitments?limit=1001")), healthy},

		{"getCommitment", 404, "noSuchCommitment", fixed(get(t, "/commitments/"+id)), healthy}, // the record of a shuffle

		{"listDecks", 400, "The query is malformed. Send name=value pairs joined by &, with other characters escaped as %XX.", fixed(get(t, "/decks?%zz")), healthy},

		{"dealDeck", 200, "", fixed(get(t, "/decks/mahjong136?decks=2&hands=mahjong&details=true&algorithm=strike-out&client_seed=%C3%A9&reference=b")), healthy},
		{"dealDeck", 400, "unknownParameter", fixed(get(t, "/decks/standard52?players=4")), healthy},
		{"dealDeck", 400, `"draw" is given 2 times. Send it once.`, fixed(get(t, "/decks/standard52?draw=1&draw=2")), healthy},
		{"dealDeck", 400, "notAnInteger", fixed(get(t, "/decks/standard52?draw=five")), healthy},
		{"dealDeck", 400, "details must be true or false.", fixed(get(t, "/decks/standard52?details=1")), healthy},
		{"dealDeck", 409, "deckChanged", fixed(getOwnDeck(t)), deckTypeChanged(getOwnDeck)},
		{"dealDeck", 422, "unknownHands", fixed(get(t, "/decks/standard52?hands=whist")), healthy},
		{"dealDeck", 500, "notDurable", fixed(get(t, "/decks/standard52")), brokenLog},
		{"dealDeck", 503, "noSpace", fixed(get(t, "/decks/standard52")), fullDisk},

		{"listCards", 400, `"players" is not a parameter of this path; it takes code.`, fixed(get(t, "/decks/standard52/cards?players=4")), healthy},
		{"listCards", 400, "players must be an integer, written with digits only, such as 52; got four.", fixed(get(t, "/decks/undercover/cards?players=four")), healthy},
		{"listCards", 422, "Parameter wolves is not one that undercover takes; there are players, undercover, blank.", fixed(get(t, "/decks/undercover/cards?wolves=4")), healthy},

		{"getDeckPicture", 200, "", with(get(t, "/cards/standard52"), browser), healthy},
		{"getDeckPicture", 304, "", with(get(t, "/cards/standard52"), known), healthy},
		{"getDeckPicture", 404, "noSuchDeck", fixed(get(t, "/cards/standard53")), healthy},
		{"getDeckPicture", 503, "Too many long requests are in flight. Nothing was done; retry in a second, or split the request.", fixed(get(t, "/cards/sanguosha160")), noMemory},

		{"getCardPicture", 200, "", fixed(get(t, "/cards/standard52/AS.svg")), healthy},
		{"getCardPicture", 304, "", with(get(t, "/cards/standard52/AS.svg"), known), healthy},
		{"getCardPicture", 404, "noSuchPicture", fixed(get(t, "/cards/standard52/10S.svg")), healthy}, // which is TS.svg
		{"getCardPicture", 404, "noSuchPicture", fixed(get(t, "/cards/standard52/AS")), healthy},

		{"listAudits", 200, "", fixed(get(t, "/audits?reference=a&limit=1")), healthy}, // a full page
		{"listAudits", 200, "", fixed(get(t, "/audits?reference=nobody&from=9007199254740991")), healthy},
		{"listAudits", 400, "reference is missing. Send the reference of the shuffle requests whose records you want.", fixed(get(t, "/audits")), healthy},
		{"listAudits", 400, `"game" is not a parameter of this path; it takes reference, from, limit, origin.`, fixed(get(t, "/audits?game=1")), healthy},
		{"listAudits", 404, "noSuchOrigin", fixed(get(t, "/audits?reference=a&origin=example.com/other")), healthy},
		{"listAudits", 400, "from must be an integer, written with digits only, such as 52; got last.", fixed(get(t, "/audits?reference=a&from=last")), healthy},
		{"listAudits", 422, "limit must be from 1 to 1000; got 0.", fixed(get(t, "/audits?reference=a&limit=0")), healthy},

		{"getAudit", 200, "", fixed(get(t, "/audits/"+strings.ToUpper(id))), healthy},
		{"getAudit", 404, "noSuchAudit", fixed(get(t, "/audits/1")), healthy},

		{"verifyAudit", 422, "noSeed", fixed(get(t, "/audits/"+commitment+"/verify")), healthy},

		{"getDealPicture", 200, "", fixed(get(t, "/audits/"+id+"/picture.png")), healthy},
		{"getDealPicture", 304, "", with(get(t, "/audits/"+id+"/picture.png"), known), healthy},
		{"getDealPicture", 404, "noSuchAudit", fixed(get(t, "/audits/me/picture.png")), healthy},
		{"getDealPicture", 422, "noSeed", fixed(get(t, "/audits/"+commitment+"/picture.png")), healthy},
		{"getDealPicture", 422, "noPicture", fixed(get(t, "/audits/"+large+"/picture.png")), healthy},
		{"getDealPicture", 422, "tooExpensive", func(s *service) *http.Request {
			return get(t, "/audits/"+mustShuffle(t, s, `{"size":3}`).AuditID+"/picture.png")
		}, noMemory},
		{"getDealPicture", 503, "Too many long requests are in flight. Nothing was done; retry in a second.", pictureFirst, fullOfReplays},
		{"getDealPicture", 410, "forgotten", pictureFirst, forgottenLog},
		{"verifyAudit", 410, "forgotten", verifyFirst, forgottenLog},
		{"revealAudit", 410, "forgotten", func(s *service) *http.Request {
			return post(t, "/audits/"+s.first.AuditID+"/reveal", `{"seed":"`+s.first.Seed+`"}`)
		}, forgottenLog},
		{"revealAudit", 400, `"key" is not a member of this request; it takes seed.`, fixed(post(t, reveal, `{"key":"x"}`)), healthy},
		{"revealAudit", 400, "seed must be the seed of an answer, copied exactly: lower-case hex digits.", fixed(post(t, reveal, `{"seed":"ace of spades"}`)), healthy},
		{"revealAudit", 404, "noSuchAudit", fixed(post(t, "/audits/1/reveal", `{"seed":"`+audit.Seed+`"}`)), healthy},
		{"revealAudit", 415, "compressed", with(post(t, reveal, `{}`), compressed), healthy},
		{"revealAudit", 422, "noSeed", fixed(post(t, "/audits/"+commitment+"/reveal", `{"seed":"`+audit.Seed+`"}`)), healthy},
		{"revealAudit", 503, "stopping", func(s *service) *http.Request {
			made := mustShuffle(t, s, `{"size":3}`)
			require.NoError(t, s.log.Close())
			return post(t, "/audits/"+made.AuditID+"/reveal", `{"seed":"`+made.Seed+`"}`)
		}, readableAfterClose},
		{"verifyAudit", 503, "Too many long requests are in flight. Nothing was done; retry in a second.", verifyFirst, fullOfReplays},
		{"verifyAudit", 503, "stopping", verifyFirst, stopping},
		{"verifyAudit", 503, "The service is too busy to finish this in time. Retry later, or check the record's proof offline with riffle verify.", verifyFirst, hurried},
		{"verifyAudit", 422, "tooExpensive", func(s *service) *http.Request {
			return get(t, "/audits/"+mustShuffle(t, s, `{"size":3}`).AuditID+"/verify")
		}, noMemory},

		{"proveAudit", 200, "", fixed(get(t, "/audits/"+strings.ToUpper(id)+"/proof")), healthy},
		{"proveAudit", 422, "noWitnesses", fixed(get(t, "/audits/"+id+"/proof?witnessed=true")), healthy},
		{"proveAudit", 400, "witnessed must be true or false.", fixed(get(t, "/audits/"+id+"/proof?witnessed=2")), healthy},
		{"proveAudit", 400, "format must be tlog-proof, or left out for JSON; got \"text\".", fixed(get(t, "/audits/"+id+"/proof?format=text")), healthy},
		{"proveAudit", 404, "noSuchAudit", fixed(get(t, "/audits/1/proof")), healthy},
		{"proveAudit", 503, "notPublished", func(s *service) *http.Request {
			// The log waits for the checkpoint until the deadline of the request.
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return get(t, "/audits/"+mustShuffle(t, s, `{"size":3}`).AuditID+"/proof").WithContext(ctx)
		}, unpublishedLog},

		{"getCheckpoint", 200, "", fixed(get(t, "/log/checkpoint")), healthy},
		{"getCheckpoint", 400, "", fixed(get(t, "/log/checkpoint?page=2")), healthy},
		{"getCheckpoint", 503, "unreachable", fixed(get(t, "/log/checkpoint?origin=example.com/other")), unavailableStore},
		{"getLogKey", 400, "", fixed(get(t, "/log/key?page=2")), healthy},
		{"getLogKey", 503, "unreachable", fixed(get(t, "/log/key?origin=example.com/other")), unavailableStore},
		{"getTile", 400, "", fixed(get(t, "/log/tile/0/000.p/1?page=2")), healthy},
		{"getTile", 404, "noSuchTile", fixed(get(t, "/log/tile/hashes")), healthy},
		{"getTile", 503, "unreachable", fixed(get(t, "/log/tile/0/000.p/1")), unavailableStore},
		{"getTile", 503, "unreachable", fixed(get(t, "/log/tile/entries/000.p/1")), unavailableStore},

		{"dealDeck", 403, "crossSite", with(get(t, "/decks/standard52"), func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}), healthy},

		{"healthz", 500, "notDurable", fixed(get(t, "/healthz")), brokenLog},
		{"readyz", 503, "stopping", fixed(get(t, "/readyz")), draining},
		{"readyz", 503, "noSpace", fixed(get(t, "/readyz")), fullDisk},
		{"readyz", 503, "", fixed(get(t, "/readyz")), brokenLog},
		{"metrics", 200, "", with(get(t, "/metrics"), func(r *http.Request) {
			r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
		}), healthy},
		{"metrics", 200, "", with(get(t, "/metrics"), func(r *http.Request) {
			r.Header.Set("Accept", "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited")
		}), healthy},
		{"metrics", 500, "", fixed(get(t, "/metrics")), brokenMetrics},
		{"contract", 200, "", fixed(get(t, "/openapi.yaml")), healthy},
	}...)
	list = append(list, shoeProbes(t, c, shared)...)
	for operation, path := range map[string]string{"shuffle": "/shuffle", "createCommitment": "/commitments", "createShoe": "/shoes"} {
		list = append(list, keyProbes(t, healthy, operation, func() *http.Request { return post(t, path, `{"size":2}`) }, post(t, path, `{"size":3}`))...)
	}
	list = append(list, keyProbes(t, healthy, "dealDeck", func() *http.Request { return get(t, "/decks/standard52?draw=5") }, get(t, "/decks/standard52?draw=6"))...)
	seed := `{"seed":"` + audit.Seed + `"}`
	list = append(list, keyProbes(t, healthy, "revealAudit", func() *http.Request { return post(t, reveal, seed) }, post(t, "/shuffle", `{"size":2}`))...)
	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		op, examples := c.operations[operation], c.examples(operation, http.StatusBadRequest)
		target := fillPath(op.Path, id)
		valid := func() func(*service) *http.Request {
			switch operation {
			case "shuffle", "createCommitment":
				return fixed(post(t, target, `{"size":2}`))
			case "getCommitment":
				return fixed(get(t, "/commitments/"+commitment))
			case "revealAudit":
				return fixed(post(t, target, seed))
			case "listAudits":
				return fixed(get(t, target+"?reference=a"))
			}
			if op.Method == http.MethodGet {
				return fixed(get(t, target))
			}
			r := post(t, target, `{}`)
			r.Method = op.Method
			return fixed(r)
		}
		// On loopback, a foreign Host is refused by every operation but the health checks.
		foreign := fixed(onLoopback(request(t, op.Method, target), "evil.example:8080"))
		if operation == "healthz" || operation == "readyz" {
			list = append(list, probe{operation, 200, "", foreign, healthy})
		} else {
			list = append(list, probe{operation, 421, "otherHost", foreign, healthy})
		}
		// A panic in any handler has the same response.
		example := "failed"
		if operation == "metrics" {
			example = "" // the example of its 500 is plain text
		}
		list = append(list, probe{operation, 500, example, valid(), func(testing.TB) *service { return shared.panicking() }})
		switch operation {
		case "listCommitments", "getCommitment", "listAudits", "getAudit", "verifyAudit", "proveAudit", "revealAudit", "getDealPicture":
			list = append(list, probe{operation, 500, "failed", valid(), unreadableStore}, probe{operation, 503, "unreachable", valid(), unavailableStore})
		}
		takesAny := slices.ContainsFunc(c.parameters(operation), func(p *openapi3.Parameter) bool { return p.In == "query" })
		if op.Method == http.MethodGet && !takesAny && examples["noParameters"] != nil {
			list = append(list, probe{operation, 400, "noParameters", fixed(request(t, op.Method, target+"?page=2")), healthy})
		}
	}
	return list
}

// shoeBodies are the shortest bodies of the operations that change a shoe.
var shoeBodies = map[string]string{
	"drawCards": `{}`, "returnCards": `{}`, "reshuffleShoe": `{}`, "closeShoe": `{}`, "endShoe": "",
	"addToPile": `{"cards":[0]}`, "drawFromPile": `{}`, "shufflePile": `{}`, "returnFromPile": `{}`,
}

// shoeProbes returns the probes of shoes. Besides probes of single operations, every change is
// requested of a shoe that is closed, that has expired, that is at another version, and that does
// not exist.
func shoeProbes(t *testing.T, c *contract, shared *service) []probe {
	healthy := func(testing.TB) *service { return shared }
	fixed := func(r *http.Request) func(*service) *http.Request { return func(*service) *http.Request { return r } }
	create := func(body string) func(*service) *http.Request { return fixed(post(t, "/shoes", body)) }
	open := mustCreateShoe(t, shared, `{"deck":"standard52"}`).path()
	dealt := mustCreateShoe(t, shared, `{"items":["a","a","b",1,2,3]}`).path()
	readBody(t, shared.do(post(t, dealt+"/draw", `{"count":3}`)))
	closed := mustCreateShoe(t, shared, `{"size":3}`).path()
	readBody(t, shared.do(post(t, closed+"/draw", `{"to":"alice"}`)))
	readBody(t, shared.do(post(t, closed+"/close", `{}`)))
	ended := mustCreateShoe(t, shared, `{"size":3}`).path()
	readBody(t, shared.do(request(t, http.MethodDelete, ended)))
	twins := mustCreateShoe(t, shared, `{"items":["a","a"]}`).path()
	readBody(t, shared.do(post(t, twins+"/draw", `{"count":2,"to":"alice"}`)))
	crowded := mustCreateShoe(t, shared, `{"size":257}`).path()
	for i := range 256 {
		readBody(t, shared.do(post(t, crowded+"/draw", fmt.Sprintf(`{"to":"p%d"}`, i))))
	}
	list := []probe{
		{"createShoe", 200, "", create(`{"size":4096,"algorithm":"sattolo","client_seed":"é"}`), healthy},
		{"createShoe", 422, "hands is not for shoes: the whole deck is shuffled once, dealt later, and revealed when the shoe is closed. Leave it out.", create(`{"deck":"standard52","hands":"bridge"}`), healthy},
		{"createShoe", 422, "expires_in must be from 1 to 31622400 seconds, or left out.", create(`{"deck":"standard52","expires_in":0}`), healthy},
		{"createShoe", 422, "cut must be how many cards lie before the cut card, such as 234, or a range to draw that from, such as [220,250]; got [80,70].", create(`{"deck":"standard52","cut":[80,70]}`), healthy},
		{"createShoe", 422, "cut must be the number of cards before the cut card, from 1 to 51, or a range such as [1,51]; got 52.", create(`{"deck":"standard52","cut":52}`), healthy},
		{"createShoe", 422, "A shoe must have 1 to 4096 cards; this one would have 4097.", create(`{"size":4097}`), healthy},
		{"createShoe", 500, "notDurable", create(`{"size":2}`), brokenLog},
		{"createShoe", 503, "noSpace", create(`{"size":2}`), fullDisk},

		{"drawCards", 200, "", fixed(post(t, open+"/draw?proof=true", `{"count":52,"from":"bottom","to":"all"}`)), healthy},
		{"drawCards", 400, "from must be a string; got a number.", fixed(post(t, open+"/draw", `{"from":1}`)), healthy},
		{"drawCards", 422, "tooFew", fixed(post(t, dealt+"/draw", `{"count":4}`)), healthy},
		{"drawCards", 422, "count must be at least 1; got 0.", fixed(post(t, dealt+"/draw", `{"count":0}`)), healthy},
		{"drawCards", 422, "put is the end of a pile, and needs to: the name of the pile.", fixed(post(t, dealt+"/draw", `{"put":"top"}`)), healthy},
		{"drawCards", 422, `The name of a pile must be 1 to 255 letters, digits, hyphens and underscores, such as "discard".`, fixed(post(t, dealt+"/draw", `{"to":"my pile"}`)), healthy},
		{"drawCards", 422, "A shoe has at most 256 piles, and is shuffled at most 4096 times, its piles included. Nothing was changed; use an existing pile, or make a new shoe.", fixed(post(t, crowded+"/draw", `{"to":"q"}`)), healthy},
		{"returnCards", 400, `cards.1 must be a card's number or code, such as 0 or "AS"; got an array.`, fixed(post(t, open+"/return", `{"cards":[0,[]]}`)), healthy},
		{"returnCards", 400, "notAVersion", func(*service) *http.Request {
			r := post(t, open+"/return", `{}`)
			r.Header.Set("If-Match", "1")
			return r
		}, healthy},
		{"returnCards", 422, "notThere", fixed(post(t, dealt+"/return", `{"cards":[6]}`)), healthy},
		{"returnCards", 422, `put must be "top" or "bottom"; got "random".`, fixed(post(t, dealt+"/return", `{"put":"random"}`)), healthy},
		{"addToPile", 422, `cards must name the cards to add, by number or by code, as in [0,"AS"].`, fixed(post(t, dealt+"/piles/alice/add", `{}`)), healthy},
		{"addToPile", 422, "badPileInPath", fixed(post(t, dealt+"/piles/my%20pile/add", `{"cards":[1]}`)), healthy},
		{"drawFromPile", 422, "cards cannot be combined with count or from: name the cards, or say how many to take from which end.", fixed(post(t, twins+"/piles/alice/draw", `{"cards":[1],"count":1}`)), healthy},
		{"drawFromPile", 422, "Several cards there have this code. Nothing was moved; name the card by its number, the member card of an answer.", fixed(post(t, twins+"/piles/alice/draw", `{"cards":["a"]}`)), healthy},

		{"listDealt", 400, "proof must be true or false.", fixed(get(t, open+"/dealt?proof=1")), healthy},
		{"listDealt", 400, `"limit" is not a parameter of this path; it takes proof.`, fixed(get(t, open+"/dealt?limit=1")), healthy},
		{"listPiles", 200, "", fixed(get(t, crowded+"/piles")), healthy},
		{"getPile", 200, "", fixed(get(t, twins+"/piles/alice?proof=true")), healthy},
		{"getPile", 400, "proof must be true or false.", fixed(get(t, open+"/piles/alice?proof=yes")), healthy},
		{"getPile", 422, "badPileInPath", fixed(get(t, open+"/piles/my%20pile")), healthy},
		{"proveCard", 400, `"proof" is not a parameter of this path; it takes sealed_by.`, fixed(get(t, open+"/cards/0/proof?proof=true")), healthy},
		{"proveCard", 400, `sealed_by must be the sealed_by of a card, copied exactly; got "1".`, fixed(get(t, open+"/cards/0/proof?sealed_by=1")), healthy},
		{"proveCard", 404, "noSuchPosition", fixed(get(t, open+"/cards/first/proof")), healthy},
		{"proveCard", 404, "noSuchPosition", fixed(get(t, open+"/cards/00/proof")), healthy},
		{"proveCard", 404, "noSuchPosition", fixed(get(t, open+"/cards/0/proof?sealed_by=01890a5d-ac96-774b-bcce-b302099a8057")), healthy},
		{"proveShoe", 400, "witnessed must be true or false.", fixed(get(t, open+"/proof?witnessed=yes")), healthy},
		{"proveShoe", 422, "noWitnesses", fixed(get(t, open+"/proof?witnessed=true")), healthy},
		{"proveShoe", 422, "tooExpensive", func(s *service) *http.Request {
			return get(t, mustCreateShoe(t, s, `{"size":3}`).path()+"/proof")
		}, noMemory},
		{"proveShoe", 503, "notPublished", func(s *service) *http.Request {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return get(t, mustCreateShoe(t, s, `{"size":3}`).path()+"/proof").WithContext(ctx)
		}, unpublishedLog},
	}
	for operation, r := range retried(t) {
		list = append(list, probe{operation, 410, "forgotten", fixed(r), forgottenLog})
	}
	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		op := c.operations[operation]
		if !strings.HasPrefix(op.Path, "/shoes/") {
			continue
		}
		body, changes := shoeBodies[operation]
		ask := func(of string) *http.Request {
			path := strings.Replace(fillPath(op.Path, "1"), "/shoes/1", of, 1)
			if op.Method == http.MethodPost {
				return post(t, path, body)
			}
			return request(t, op.Method, path)
		}
		list = append(
			list,
			probe{operation, 404, "noSuchShoe", fixed(ask(noShoe)), healthy},
			probe{operation, 404, "noSuchShoe", fixed(ask("/shoes/1")), healthy},
			probe{operation, 409, "deckChanged", func(s *service) *http.Request { return ask(s.shoe) }, deckTypeOfShoeChanged},
			probe{operation, 410, "forgotten", func(s *service) *http.Request { return ask(s.shoe) }, forgottenLog},
			probe{operation, 500, "failed", fixed(ask(noShoe)), unreadableStore},
			probe{operation, 503, "unreachable", fixed(ask(noShoe)), unavailableStore},
		)
		if !changes {
			continue
		}
		list = append(
			list,
			probe{operation, 409, "", fixed(ask(closed)), healthy},
			probe{operation, 412, "otherVersion", func(s *service) *http.Request {
				r := ask(mustCreateShoe(t, s, `{"size":2}`).path())
				r.Header.Set("If-Match", `"2"`)
				return r
			}, healthy},
		)
		if operation != "closeShoe" { // an expired shoe can be closed
			list = append(list, probe{operation, 410, "", fixed(ask(ended)), healthy})
		}
		if operation != "closeShoe" && operation != "endShoe" {
			list = append(list, probe{operation, 410, "late", func(s *service) *http.Request { return ask(s.shoe) }, lateShoe})
		}
		if strings.Contains(op.Path, "{pile}") && operation != "addToPile" {
			list = append(list, probe{operation, 404, "noSuchPile", fixed(ask(dealt)), healthy})
		}
		list = append(list, keyProbes(t, healthy, operation, func() *http.Request { return ask(open) }, post(t, "/shuffle", `{"size":2}`))...)
	}
	return append(list, probe{"drawCards", 400, `"cards" is not a member of this request; it takes count, from, to, put.`, fixed(post(t, open+"/draw", `{"cards":["AS"]}`)), healthy})
}

// keyProbes returns the probes of an operation that takes an Idempotency-Key, and a body unless it
// is a GET or DELETE. other is a request to use its key for first.
func keyProbes(t *testing.T, healthy func(testing.TB) *service, operation string, ask func() *http.Request, other *http.Request) []probe {
	fixed := func(r *http.Request) func(*service) *http.Request { return func(*service) *http.Request { return r } }
	list := []probe{
		{operation, 400, "badKey", fixed(keyed(ask(), "two words")), healthy},
		{operation, 409, "running", fixed(keyed(ask(), "a")), requestInFlight("/shuffle")},
		{operation, 422, "keyOfAnother", func(s *service) *http.Request {
			readBody(t, s.do(keyed(other, operation)))
			return keyed(ask(), operation)
		}, healthy},
	}
	if ask().Method != http.MethodPost || ask().ContentLength == 0 {
		return list
	}
	tooSlow, text, path := ask(), ask(), ask().RequestURI
	slow(tooSlow)
	mediaType("text/plain")(text)
	return append(
		list,
		probe{operation, 400, "", fixed(post(t, path, ``)), healthy},
		probe{operation, 400, "", fixed(post(t, path, `{"no-such-member":1}`)), healthy},
		probe{operation, 408, "tooSlow", fixed(tooSlow), healthy},
		probe{operation, 413, "tooLarge", fixed(post(t, path, `{"items":["`+strings.Repeat("a", 16<<20)+`"]}`)), healthy},
		probe{operation, 415, "wrongMediaType", fixed(text), healthy},
	)
}

// accessProbes returns requests that every operation with a token refuses: without one, with one of
// another scope, and beyond a limit.
func accessProbes(t *testing.T, c *contract) (list []probe) {
	token := access.NewToken()
	none := access.Grant{May: []access.Scope{}, Logs: nil}
	locked := start(t, setup{policy: access.NewPolicy([]access.Key{{Name: "a", Digest: token.Digest(), Grant: none}}, nil)})
	limited := start(t, setup{policy: access.NewPolicy(nil, &access.Grant{May: access.Scopes(), Rates: access.Rates{Requests: 1e-9, Burst: 1}})})
	limited.send(t, get(t, "/decks"))
	for _, name := range slices.Sorted(maps.Keys(c.operations)) {
		op := c.operations[name]
		if op.Operation.Security != nil { // none is required
			continue
		}
		ask := func(token access.Token) func(*service) *http.Request {
			return func(*service) *http.Request {
				r := request(t, op.Method, fillPath(op.Path, strings.Repeat("0", 36)))
				if token != "" {
					authorized(r, token)
				}
				return r
			}
		}
		forbidden := ""
		if op.Operation.Responses.Status(http.StatusForbidden).Ref == "#/components/responses/Forbidden" {
			forbidden = "wrongScope" // others have a 403 of their own
		}
		list = append(list,
			probe{name, http.StatusUnauthorized, "noToken", ask(""), func(testing.TB) *service { return locked }},
			probe{name, http.StatusForbidden, forbidden, ask(token), func(testing.TB) *service { return locked }},
			probe{name, http.StatusTooManyRequests, "limited", ask(""), func(testing.TB) *service { return limited }},
		)
	}
	return list
}
