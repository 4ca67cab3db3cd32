package api_test

import (
	"context"
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
	audit := mustShuffle(t, shared, `{"size":3,"reference":"a"}`)
	id := audit.AuditID
	commitment := mustCommit(t, shared, `{"items":[1,2,3]}`).CommitmentID
	reveal := "/audits/" + id + "/reveal"

	list := append(accessProbes(t, c), probe{"shuffle", 413, "tooLarge", func(*service) *http.Request {
		r := post(t, "/shuffle", `{"items":["`+strings.Repeat("a", 16<<20)+`"]}`)
		r.ContentLength = -1
		return r
	}, healthy}, probe{"revealAudit", 503, "stopping", func(s *service) *http.Request {
		made := mustShuffle(t, s, `{"size":3}`)
		require.NoError(t, s.log.Close())
		return post(t, "/audits/"+made.AuditID+"/reveal", `{"seed":"`+made.Seed+`"}`)
	}, readableAfterClose})
	for operation, path := range map[string]func(*service) string{
		"proveAudit": func(s *service) string { return "/audits/" + mustShuffle(t, s, `{"size":3}`).AuditID },
		"proveShoe":  func(s *service) string { return mustCreateShoe(t, s, `{"size":3}`).path() },
	} {
		list = append(list, probe{operation, 503, "notPublished", func(s *service) *http.Request {
			// The log waits for the checkpoint until the deadline of the request.
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return get(t, path(s)+"/proof").WithContext(ctx)
		}, unpublishedLog})
	}
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
	open := mustCreateShoe(t, shared, `{"deck":"standard52"}`).path()
	dealt := mustCreateShoe(t, shared, `{"items":["a","a","b",1,2,3]}`).path()
	readBody(t, shared.do(post(t, dealt+"/draw", `{"count":3}`)))
	closed := mustCreateShoe(t, shared, `{"size":3}`).path()
	readBody(t, shared.do(post(t, closed+"/draw", `{"to":"alice"}`)))
	readBody(t, shared.do(post(t, closed+"/close", `{}`)))
	ended := mustCreateShoe(t, shared, `{"size":3}`).path()
	readBody(t, shared.do(request(t, http.MethodDelete, ended)))
	var list []probe
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
	return list
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
