package api_test

import (
	"cmp"
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
	on        func(testing.TB) *service    // starts the service that answers; nil for the one that probes share
}

// fixed is for a request that is the same on any service.
func fixed(r *http.Request) func(*service) *http.Request {
	return func(*service) *http.Request { return r }
}

// started is for a service that runs already.
func started(s *service) func(testing.TB) *service { return func(testing.TB) *service { return s } }

// fillPath fills in the parameters of a path of the contract.
func fillPath(path, id string) string {
	return strings.NewReplacer("{type}", "standard52", "{id}", id, "{tile}", "0/000.p/1", "{pile}", "alice", "{position}", "0").Replace(path)
}

// responseProbes returns requests for the responses that replayExamples cannot provoke: those that
// need a service in some state, and those to requests that are too malformed to be examples.
func responseProbes(t *testing.T, c *contract, shared *service) []probe {
	audit := mustShuffle(t, shared, `{"size":3,"reference":"a"}`)
	commitment := mustCommit(t, shared, `{"items":[1,2,3]}`).CommitmentID
	list := append(accessProbes(t, c), probe{"shuffle", 413, "tooLarge", func(*service) *http.Request {
		r := post(t, "/shuffle", `{"items":["`+strings.Repeat("a", 16<<20)+`"]}`)
		r.ContentLength = -1
		return r
	}, nil}, probe{"revealAudit", 503, "stopping", func(s *service) *http.Request {
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
	shoes := shoesForProbes(t, shared)
	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		op := c.operations[operation]
		target := fillPath(op.Path, audit.AuditID)
		switch operation {
		case "getCommitment":
			target = fillPath(op.Path, commitment)
		case "listAudits":
			target += "?reference=a"
		}
		body := cmp.Or(map[string]string{
			"shuffle": `{"size":2}`, "createCommitment": `{"size":2}`, "createShoe": `{"size":2}`, "addToPile": `{"cards":[0]}`,
			"returnCards": `{"cards":"all"}`, "returnFromPile": `{"cards":"all"}`,
			"revealAudit": `{"seed":"` + audit.Seed + `"}`,
		}[operation], `{}`)
		ask := func(target string) *http.Request {
			if op.Method == http.MethodPost {
				return post(t, target, body)
			}
			return request(t, op.Method, target)
		}
		list = append(list, stateProbes(c, operation, func() *http.Request { return ask(target) }, shared)...)
		if of, found := strings.CutPrefix(op.Path, "/shoes/{id}"); found {
			askShoe := func(shoe string) *http.Request { return ask(shoe + fillPath(of, "")) }
			list = append(list, shoes.probes(c, operation, askShoe)...)
			target = shoes.open + fillPath(of, "")
		}
		if c.takes(operation, "Idempotency-Key") {
			list = append(list, keyProbes(t, operation, func() *http.Request { return ask(target) })...)
		}
	}
	return list
}

// takes reports whether an operation has a parameter of the name.
func (c *contract) takes(operation, name string) bool {
	return slices.ContainsFunc(c.parameters(operation), func(p *openapi3.Parameter) bool { return p.Name == name })
}

// stateProbes returns the probes of an operation that depend on the service: on loopback, about to panic,
// or without its store. ask makes a valid request.
func stateProbes(c *contract, operation string, ask func() *http.Request, shared *service) []probe {
	list := []probe{{operation, 421, "otherHost", fixed(onLoopback(ask(), "evil.example:8080")), nil}}
	if operation == "healthz" || operation == "readyz" { // the only ones that any Host may ask for
		list[0].status, list[0].says = 200, ""
	}
	// A panic in any handler has the same response.
	example := "failed"
	if operation == "metrics" {
		example = "" // the example of its 500 is plain text
	}
	list = append(list, probe{operation, 500, example, fixed(ask()), started(shared.panicking())})
	switch path := c.operations[operation].Path; {
	case strings.HasPrefix(path, "/shoes/"), strings.HasPrefix(path, "/audits"), operation == "listCommitments",
		operation == "getCommitment", operation == "getDealPicture":
		list = append(list, probe{operation, 500, "failed", fixed(ask()), unreadableStore}, probe{operation, 503, "unreachable", fixed(ask()), unavailableStore})
	}
	takesAny := slices.ContainsFunc(c.parameters(operation), func(p *openapi3.Parameter) bool { return p.In == "query" })
	if ask().Method == http.MethodGet && !takesAny && c.examples(operation, http.StatusBadRequest)["noParameters"] != nil {
		r := ask()
		r.URL.RawQuery = "page=2"
		list = append(list, probe{operation, 400, "noParameters", fixed(r), nil})
	}
	return list
}

// shoesInStates are paths of shoes that a change is requested of.
type shoesInStates struct{ open, dealt, closed, ended string }

func shoesForProbes(t *testing.T, s *service) (of shoesInStates) {
	of.open = mustCreateShoe(t, s, `{"deck":"standard52"}`).path()
	of.dealt = mustCreateShoe(t, s, `{"items":["a","a","b",1,2,3]}`).path()
	s.mustShoe(t, post(t, of.dealt+"/draw", `{"count":3}`))
	of.closed = mustCreateShoe(t, s, `{"size":3}`).path()
	s.mustShoe(t, post(t, of.closed+"/draw", `{"to":"alice"}`))
	s.mustShoe(t, post(t, of.closed+"/close", `{}`))
	of.ended = mustCreateShoe(t, s, `{"size":3}`).path()
	s.mustShoe(t, del(t, of.ended))
	return of
}

// probes returns the probes of an operation of a shoe. Every change is requested of a shoe that is
// closed, that has expired, that is at another version, and that does not exist.
func (of shoesInStates) probes(c *contract, operation string, ask func(shoe string) *http.Request) []probe {
	askState := func(s *service) *http.Request { return ask(s.shoe) }
	list := []probe{
		{operation, 404, "noSuchShoe", fixed(ask(noShoe)), nil},
		{operation, 404, "noSuchShoe", fixed(ask("/shoes/1")), nil},
	}
	if operation != "closeShoe" && operation != "endShoe" { // which need no cards
		list = append(list, probe{operation, 409, "deckChanged", askState, deckTypeOfShoeChanged})
	}
	if !c.takes(operation, "If-Match") {
		return list
	}
	list = append(
		list,
		probe{operation, 409, "", fixed(ask(of.closed)), nil},
		probe{operation, 412, "otherVersion", fixed(ifMatch(ask(of.open), `"2"`)), nil},
	)
	if operation != "closeShoe" { // an expired shoe can be closed
		list = append(list, probe{operation, 410, "", fixed(ask(of.ended)), nil})
	}
	if operation != "closeShoe" && operation != "endShoe" {
		list = append(list, probe{operation, 410, "late", askState, lateShoe})
	}
	if strings.Contains(c.operations[operation].Path, "{pile}") && operation != "addToPile" {
		list = append(list, probe{operation, 404, "noSuchPile", fixed(ask(of.dealt)), nil})
	}
	return list
}

// keyProbes returns the probes of an operation that takes an Idempotency-Key, and a body unless it
// is a GET or DELETE.
func keyProbes(t *testing.T, operation string, ask func() *http.Request) []probe {
	list := []probe{
		{operation, 400, "badKey", fixed(keyed(ask(), "two words")), nil},
		{operation, 409, "running", fixed(keyed(ask(), "a")), requestInFlight},
		{operation, 422, "keyOfAnother", func(s *service) *http.Request {
			readBody(t, s.do(keyed(post(t, "/shuffle", `{"size":3}`), operation)))
			return keyed(ask(), operation)
		}, nil},
	}
	if ask().Method != http.MethodPost {
		return list
	}
	tooSlow, text, path := ask(), ask(), ask().RequestURI
	slow(tooSlow)
	mediaType("text/plain")(text)
	return append(
		list,
		probe{operation, 400, "", fixed(post(t, path, ``)), nil},
		probe{operation, 400, "", fixed(post(t, path, `{"no-such-member":1}`)), nil},
		probe{operation, 408, "tooSlow", fixed(tooSlow), nil},
		probe{operation, 413, "tooLarge", fixed(post(t, path, `{"items":["`+strings.Repeat("a", 16<<20)+`"]}`)), nil},
		probe{operation, 415, "wrongMediaType", fixed(text), nil},
	)
}

// accessProbes returns requests that every operation with a token refuses: without one, with one of
// another scope, and beyond a limit.
func accessProbes(t *testing.T, c *contract) (list []probe) {
	token := access.NewToken()
	none := access.Grant{May: []access.Scope{}}
	locked := started(start(t, setup{policy: access.NewPolicy([]access.APIKey{{Name: "a", Digest: token.Digest(), Grant: none}}, nil)}))
	slow := start(t, setup{policy: access.NewPolicy(nil, &access.Grant{May: access.Scopes(), Rates: access.Rates{Requests: 1e-9, Burst: 1}})})
	slow.send(t, get(t, "/decks"))
	for _, name := range slices.Sorted(maps.Keys(c.operations)) {
		op := c.operations[name]
		if op.Operation.Security != nil { // none is required
			continue
		}
		ask := func() *http.Request { return request(t, op.Method, fillPath(op.Path, strings.Repeat("0", 36))) }
		forbidden := ""
		if op.Operation.Responses.Status(http.StatusForbidden).Ref == "#/components/responses/Forbidden" {
			forbidden = "wrongScope" // others have a 403 of their own
		}
		list = append(list,
			probe{name, 401, "noToken", fixed(ask()), locked},
			probe{name, 403, forbidden, fixed(authorized(ask(), token)), locked},
			probe{name, 429, "limited", fixed(ask()), started(slow)},
		)
	}
	return list
}
