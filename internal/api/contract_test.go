package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-chi/chi/v5"
	dto "github.com/prometheus/client_model/go"

	"riffle"
	"riffle/internal/ledger"
)

// A contract is openapi.yaml, with its operations by their ids.
type contract struct {
	*openapi3.T
	operations map[string]*routers.Route
}

// loadContract reads the contract and checks that it is OpenAPI, examples included.
var loadContract = sync.OnceValues(func() (*contract, error) {
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562))
	openapi3filter.RegisterBodyDecoder("application/openmetrics-text", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/jsonl", openapi3filter.PlainBodyDecoder)
	doc, err := openapi3.NewLoader().LoadFromData(riffle.Contract)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	c := &contract{T: doc, operations: map[string]*routers.Route{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == "" || c.operations[op.OperationID] != nil {
				return nil, fmt.Errorf("%s %s has no operationId of its own", method, path)
			}
			c.operations[op.OperationID] = &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op}
		}
	}
	return c, nil
})

func theContract(t testing.TB) *contract {
	t.Helper()
	c, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// check returns an error unless the answer is one that the contract has for the operation: status,
// headers, media type and body.
func (c *contract) check(operation string, answer *http.Response, body []byte) error {
	route := c.operations[operation]
	documented := route.Operation.Responses.Status(answer.StatusCode)
	if documented == nil {
		return fmt.Errorf("the contract has no answer %d", answer.StatusCode)
	}
	return c.checkAs(route, answer, body)
}

func (c *contract) checkAs(route *routers.Route, answer *http.Response, body []byte) error {
	request, err := http.NewRequest(route.Method, "http://localhost", nil)
	if err != nil {
		return err
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: route},
		Status:                 answer.StatusCode,
		Header:                 answer.Header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil {
		return err
	}
	if answer.Header.Get("Content-Type") != "application/problem+json" {
		return nil
	}
	var problem struct{ Status int }
	if err := json.Unmarshal(body, &problem); err != nil {
		return err
	}
	if problem.Status != answer.StatusCode {
		return fmt.Errorf("the problem says that it is %d, the answer is %d", problem.Status, answer.StatusCode)
	}
	return nil
}

// checkComponent checks an answer of no operation by a response of the components.
func (c *contract) checkComponent(name string, answer *http.Response, body []byte) error {
	responses := openapi3.NewResponses(openapi3.WithStatus(answer.StatusCode, c.Components.Responses[name]))
	return c.checkAs(&routers.Route{Spec: c.T, Operation: &openapi3.Operation{Responses: responses}}, answer, body)
}

// examples returns the examples that the operation has for the status, by their names.
func (c *contract) examples(operation string, status int) map[string]any {
	documented := c.operations[operation].Operation.Responses.Status(status)
	if documented == nil {
		return nil
	}
	return examplesOf(documented.Value)
}

func examplesOf(response *openapi3.Response) map[string]any {
	values := map[string]any{}
	for _, media := range response.Content {
		for name, example := range media.Examples {
			values[name] = example.Value.Value
		}
	}
	return values
}

// same reports whether the body is the example.
func same(t testing.TB, body []byte, example any) bool {
	t.Helper()
	if text, ok := example.(string); ok {
		return text == string(body)
	}
	want, err := json.Marshal(example)
	if err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(decoded(t, body), decoded(t, want))
}

func decoded(t testing.TB, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestEveryRouteIsInTheContract(t *testing.T) {
	c := theContract(t)
	var routes, documented []string
	err := chi.Walk(start(t, setup{}).Routes(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		routes = append(routes, method+" "+strings.Replace(route, "*", "{tile}", 1)) // OpenAPI has no name for the rest of a path
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range c.operations {
		documented = append(documented, op.Method+" "+op.Path)
	}
	slices.Sort(routes)
	slices.Sort(documented)
	if !slices.Equal(routes, documented) {
		t.Errorf("the router has\n%s\nand the contract\n%s", strings.Join(routes, "\n"), strings.Join(documented, "\n"))
	}
}

// A probe is a request and the answer that the contract has to have for it.
type probe struct {
	operation string
	status    int
	example   string                             // of the answer; empty where the answer is not shown
	request   func(*service) *http.Request       // made on the service that is to answer
	on        func(testing.TB) *service          // the service that is to answer
	by        func(*http.Request) *http.Response // how it answers, if not with service.answer
}

// probes are requests for every answer that needs more than a request by itself, or a request that
// the contract cannot show because it is malformed. What the contract shows as examples [replay]
// sends.
func probes(t *testing.T, c *contract) []probe {
	shared := start(t, setup{})
	sound := func(testing.TB) *service { return shared }
	fixed := func(r *http.Request) func(*service) *http.Request {
		return func(*service) *http.Request { return r }
	}
	body := func(text string) func(*service) *http.Request { return fixed(post(t, "/shuffle", text)) }
	with := func(r *http.Request, change func(*http.Request)) func(*service) *http.Request {
		change(r)
		return fixed(r)
	}
	audit := shuffleOnce(t, shared, `{"size":3,"reference":"a"}`)
	id := audit.AuditID
	commitment := commitOnce(t, shared, `{"items":[1,2,3]}`).CommitmentID
	reveal := "/audits/" + id + "/reveal"
	long := `{"items":["` + strings.Repeat("a", 16<<20) + `"]}`

	first := func(ask func(shuffled) *http.Request) func(*service) *http.Request {
		return func(s *service) *http.Request { return ask(s.first) }
	}

	ownDealt := func(t testing.TB) *http.Request { return keyed(post(t, "/shuffle", `{"deck":"own"}`), "a") }
	ownGotten := func(t testing.TB) *http.Request { return keyed(get(t, "/decks/own"), "a") }

	list := []probe{
		{"shuffle", 200, "", body(`{"size":20000,"hands":[1,19000],"repeat":3}`), sound, nil}, // long enough to be sent in parts
		{"shuffle", 200, "", body(`{"items":[-0,9007199254740993,18446744073709551616,"\u00e9\/"],"client_seed":"é"}`), sound, nil},
		{"shuffle", 400, "unknownMember", body(`{"deck":"standard52","shuffles":2}`), sound, nil},
		{"shuffle", 400, "duplicateMember", body(`{"deck":"standard52","deck":"standard54"}`), sound, nil},
		{"shuffle", 400, "wrongType", body(`{"deck":"standard52","draw":"5"}`), sound, nil},
		{"shuffle", 400, "lineBreak", body(`{"size":2,"reference":"a\nb"}`), sound, nil},
		{"shuffle", 400, "trailingData", body(`{"size":2}{"size":2}`), sound, nil},
		{"shuffle", 400, "invalidUTF8", body("{\"items\":[\"\xff\"]}"), sound, nil},
		{"shuffle", 400, "", body(`{"items":["\ud800"]}`), sound, nil}, // a lone surrogate
		{"shuffle", 400, "tooDeep", body(`{"items":[` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `]}`), sound, nil},
		{"shuffle", 400, "cutShort", body(`{"items":[1,2`), sound, nil},
		{"shuffle", 400, "", body(``), sound, nil},
		{"shuffle", 400, "notAnObject", body(`[1,2,3]`), sound, nil},
		{"shuffle", 400, "noParameters", fixed(post(t, "/shuffle?deck=standard52", `{}`)), sound, nil},
		{"shuffle", 400, "notABoolean", body(`{"size":37,"unique_reference":"yes"}`), sound, nil},
		{"shuffle", 400, "badKey", fixed(keyed(post(t, "/shuffle", `{"size":37}`), "two words")), sound, nil},
		{"shuffle", 408, "tooSlow", with(post(t, "/shuffle", `{"size":2}`), slow), sound, nil},
		{"shuffle", 409, "deckChanged", fixed(ownDealt(t)), withOtherCards(ownDealt), nil},
		{"shuffle", 409, "running", fixed(keyed(post(t, "/shuffle", `{"size":2}`), "a")), stillAnswering("/shuffle"), nil},
		{"shuffle", 413, "tooLarge", body(long), sound, nil},
		{"shuffle", 413, "tooLarge", with(post(t, "/shuffle", long), func(r *http.Request) { r.ContentLength = -1 }), sound, nil},
		{"shuffle", 415, "wrongMediaType", with(post(t, "/shuffle", "deck=standard52"), mediaType("application/x-www-form-urlencoded")), sound, nil},
		{"shuffle", 415, "wrongMediaType", with(post(t, "/shuffle", "{}"), mediaType("")), sound, nil},
		{"shuffle", 415, "compressed", with(post(t, "/shuffle", "\x1f\x8b"), compressed), sound, nil},
		{"shuffle", 422, "unknownAlgorithm", body(`{"deck":"standard52","algorithm":"quicksort"}`), sound, nil},
		{"shuffle", 422, "itemsAndDeck", body(`{"items":[1,2],"deck":"standard52"}`), sound, nil},
		{"shuffle", 422, "nothing", body(`{"draw":5}`), sound, nil},
		{"shuffle", 422, "decksOfItems", body(`{"items":[1,2],"decks":2}`), sound, nil},
		{"shuffle", 422, "noHands", body(`{"deck":"standard52","hands":[]}`), sound, nil},
		{"shuffle", 422, "negative", body(`{"size":-1}`), sound, nil},
		{"shuffle", 422, "tooManyItems", body(`{"items":[0` + strings.Repeat(",0", 1_000_000) + `]}`), sound, nil},
		{"shuffle", 422, "tooManyDrawn", body(`{"size":1000001}`), sound, nil},
		{"shuffle", 422, "tooManyDecks", body(`{"deck":"standard52","decks":20000}`), sound, nil},
		{"shuffle", 422, "tooMuchWork", body(`{"size":1000000,"draw":1,"repeat":161,"algorithm":"durstenfeld"}`), sound, nil},
		{"shuffle", 422, "noClientSeed", body(`{"commitment_id":"` + commitment + `"}`), sound, nil},
		{"shuffle", 422, "itemsAgain", body(`{"commitment_id":"` + commitment + `","client_seed":"x"}`), sound, nil},
		{"shuffle", 422, "", body(`{"size":9007199254740992,"draw":1}`), sound, nil},
		{"shuffle", 422, "", body(`{"size":2,"repeat":18446744073709551615}`), sound, nil},
		{"shuffle", 500, "failed", body(`{"size":2}`), withoutRandomness, nil},
		{"shuffle", 500, "notDurable", body(`{"size":2}`), broken, nil},
		{"shuffle", 503, "queueFull", body(`{"size":2}`), withFullQueue, nil},
		{"shuffle", 503, "memoryFull", body(`{"items":["` + strings.Repeat("a", 1<<20) + `"]}`), withoutMemory, nil},
		{"shuffle", 503, "noSpace", body(`{"size":2}`), withoutSpace, nil},
		{"shuffle", 503, "stopping", body(`{"size":2}`), closed, nil},

		{"createCommitment", 200, "", fixed(post(t, "/commitments", `{"items":[1,2],"algorithm":"sattolo","repeat":2,"hands":[1],"reference":"é"}`)), sound, nil},
		{"createCommitment", 400, "unknownMember", fixed(post(t, "/commitments", `{"deck":"standard52","shuffles":2}`)), sound, nil},
		{"createCommitment", 400, "noParameters", fixed(post(t, "/commitments?deck=standard52", `{}`)), sound, nil},
		{"createCommitment", 400, "badKey", fixed(keyed(post(t, "/commitments", `{"size":37}`), "two words")), sound, nil},
		{"createCommitment", 408, "tooSlow", with(post(t, "/commitments", `{"size":2}`), slow), sound, nil},
		{"createCommitment", 409, "running", fixed(keyed(post(t, "/commitments", `{"size":2}`), "a")), stillAnswering("/commitments"), nil},
		{"createCommitment", 413, "tooLarge", fixed(post(t, "/commitments", long)), sound, nil},
		{"createCommitment", 415, "wrongMediaType", with(post(t, "/commitments", "{}"), mediaType("text/plain")), sound, nil},
		{"createCommitment", 422, "clientSeed", fixed(post(t, "/commitments", `{"size":37,"client_seed":"Ines"}`)), sound, nil},
		{"createCommitment", 422, "keyOfAnother", func(s *service) *http.Request {
			read(t, s.answer(keyed(post(t, "/commitments", `{"size":2}`), "commitment")))
			return keyed(post(t, "/commitments", `{"size":3}`), "commitment")
		}, sound, nil},
		{"createCommitment", 500, "failed", fixed(post(t, "/commitments", `{"size":2}`)), withoutRandomness, nil},
		{"createCommitment", 503, "queueFull", fixed(post(t, "/commitments", `{"size":2}`)), withFullQueue, nil},

		{"listCommitments", 200, "", fixed(get(t, "/commitments?limit=1")), sound, nil}, // a page that is full
		{"listCommitments", 200, "", fixed(get(t, "/commitments?status=void&after="+id)), sound, nil},
		{"listCommitments", 400, "unknownParameter", fixed(get(t, "/commitments?reference=a")), sound, nil},
		{"listCommitments", 400, "notAnID", fixed(get(t, "/commitments?after=1")), sound, nil},
		{"listCommitments", 422, "noSuchStatus", fixed(get(t, "/commitments?status=lost")), sound, nil},
		{"listCommitments", 422, "", fixed(get(t, "/commitments?limit=1001")), sound, nil},
		{"listCommitments", 500, "failed", fixed(get(t, "/commitments")), cannotRead, nil},
		{"listCommitments", 503, "unreachable", fixed(get(t, "/commitments")), outOfReach, nil},

		{"getCommitment", 400, "noParameters", fixed(get(t, "/commitments/"+commitment+"?page=2")), sound, nil},
		{"getCommitment", 404, "noSuchCommitment", fixed(get(t, "/commitments/"+id)), sound, nil}, // the record of a shuffle
		{"getCommitment", 500, "failed", fixed(get(t, "/commitments/"+commitment)), cannotRead, nil},
		{"getCommitment", 503, "unreachable", fixed(get(t, "/commitments/"+commitment)), outOfReach, nil},

		{"listDecks", 400, "noParameters", fixed(get(t, "/decks?page=2")), sound, nil},
		{"listDecks", 400, "malformedQuery", fixed(get(t, "/decks?%zz")), sound, nil},

		{"dealDeck", 200, "", fixed(get(t, "/decks/mahjong136?decks=2&hands=mahjong&details=true&algorithm=strike-out&client_seed=%C3%A9&reference=b")), sound, nil},
		{"dealDeck", 400, "unknownParameter", fixed(get(t, "/decks/standard52?players=4")), sound, nil},
		{"dealDeck", 400, "parameterTwice", fixed(get(t, "/decks/standard52?draw=1&draw=2")), sound, nil},
		{"dealDeck", 400, "notAnInteger", fixed(get(t, "/decks/standard52?draw=five")), sound, nil},
		{"dealDeck", 400, "notABoolean", fixed(get(t, "/decks/standard52?details=1")), sound, nil},
		{"dealDeck", 400, "badKey", fixed(keyed(get(t, "/decks/standard52"), "two words")), sound, nil},
		{"dealDeck", 409, "deckChanged", fixed(ownGotten(t)), withOtherCards(ownGotten), nil},
		{"dealDeck", 409, "running", fixed(keyed(get(t, "/decks/standard52"), "a")), stillAnswering("/shuffle"), nil},
		{"dealDeck", 422, "keyOfAnother", func(s *service) *http.Request {
			read(t, s.answer(keyed(get(t, "/decks/standard52?draw=5"), "deck")))
			return keyed(get(t, "/decks/standard52?draw=6"), "deck")
		}, sound, nil},
		{"dealDeck", 422, "unknownHands", fixed(get(t, "/decks/standard52?hands=whist")), sound, nil},
		{"dealDeck", 500, "notDurable", fixed(get(t, "/decks/standard52")), broken, nil},
		{"dealDeck", 503, "noSpace", fixed(get(t, "/decks/standard52")), withoutSpace, nil},

		{"listCards", 400, "unknownParameter", fixed(get(t, "/decks/standard52/cards?players=4")), sound, nil},
		{"listCards", 400, "notAnInteger", fixed(get(t, "/decks/undercover/cards?players=four")), sound, nil},
		{"listCards", 422, "unknownParameter", fixed(get(t, "/decks/undercover/cards?wolves=4")), sound, nil},

		{"drawCard", 200, "", fixed(get(t, "/cards/standard52/AS.svg")), sound, nil},
		{"drawCard", 400, "noParameters", fixed(get(t, "/cards/standard52/AS.svg?page=2")), sound, nil},
		{"drawCard", 404, "noSuchPicture", fixed(get(t, "/cards/standard52/10S.svg")), sound, nil}, // which is TS.svg
		{"drawCard", 404, "noSuchPicture", fixed(get(t, "/cards/standard52/AS")), sound, nil},

		{"listAudits", 200, "", fixed(get(t, "/audits?reference=a&limit=1")), sound, nil}, // a page that is full
		{"listAudits", 200, "", fixed(get(t, "/audits?reference=nobody&from=9007199254740991")), sound, nil},
		{"listAudits", 400, "noReference", fixed(get(t, "/audits")), sound, nil},
		{"listAudits", 400, "unknownParameter", fixed(get(t, "/audits?game=1")), sound, nil},
		{"listAudits", 400, "notAnInteger", fixed(get(t, "/audits?reference=a&from=last")), sound, nil},
		{"listAudits", 422, "limitOutOfRange", fixed(get(t, "/audits?reference=a&limit=0")), sound, nil},
		{"listAudits", 500, "failed", fixed(get(t, "/audits?reference=a")), cannotRead, nil},

		{"getAudit", 400, "noParameters", fixed(get(t, "/audits/"+id+"?page=2")), sound, nil},
		{"getAudit", 404, "noSuchAudit", fixed(get(t, "/audits/"+strings.ToUpper(id))), sound, nil},
		{"getAudit", 404, "noSuchAudit", fixed(get(t, "/audits/1")), sound, nil},
		{"getAudit", 500, "failed", fixed(get(t, "/audits/"+id)), cannotRead, nil},

		{"verifyAudit", 400, "malformedQuery", fixed(get(t, "/audits/"+id+"/verify?%zz")), sound, nil},
		{"verifyAudit", 422, "noSeed", fixed(get(t, "/audits/"+commitment+"/verify")), sound, nil},
		{"verifyAudit", 500, "failed", fixed(get(t, "/audits/"+id+"/verify")), cannotRead, nil},

		{"revealAudit", 400, "unknownMember", fixed(post(t, reveal, `{"key":"x"}`)), sound, nil},
		{"revealAudit", 400, "notASeed", fixed(post(t, reveal, `{"seed":"ace of spades"}`)), sound, nil},
		{"revealAudit", 404, "noSuchAudit", fixed(post(t, "/audits/1/reveal", `{"seed":"`+audit.Seed+`"}`)), sound, nil},
		{"revealAudit", 408, "tooSlow", with(post(t, reveal, `{}`), slow), sound, nil},
		{"revealAudit", 413, "tooLarge", fixed(post(t, reveal, long)), sound, nil},
		{"revealAudit", 415, "wrongMediaType", with(post(t, reveal, `{}`), mediaType("text/plain")), sound, nil},
		{"revealAudit", 415, "compressed", with(post(t, reveal, `{}`), compressed), sound, nil},
		{"revealAudit", 400, "badKey", fixed(keyed(post(t, reveal, `{"seed":"`+audit.Seed+`"}`), "two words")), sound, nil},
		{"revealAudit", 409, "running", fixed(keyed(post(t, reveal, `{"seed":"`+audit.Seed+`"}`), "a")), stillAnswering("/shuffle"), nil},
		{"revealAudit", 422, "noSeed", fixed(post(t, "/audits/"+commitment+"/reveal", `{"seed":"`+audit.Seed+`"}`)), sound, nil},
		{"revealAudit", 422, "keyOfAnother", func(s *service) *http.Request {
			read(t, s.answer(keyed(post(t, "/shuffle", `{"size":2}`), "shuffle")))
			return keyed(post(t, reveal, `{"seed":"`+audit.Seed+`"}`), "shuffle")
		}, sound, nil},
		{"revealAudit", 500, "failed", fixed(post(t, reveal, `{"seed":"`+audit.Seed+`"}`)), cannotRead, nil},
		{"revealAudit", 503, "stopping", func(s *service) *http.Request {
			made := shuffleOnce(t, s, `{"size":3}`)
			if err := s.log.Close(); err != nil {
				t.Fatal(err)
			}
			return post(t, "/audits/"+made.AuditID+"/reveal", `{"seed":"`+made.Seed+`"}`)
		}, withOpenStore, nil},

		{"revealAudit", 503, "unreachable", first(func(a shuffled) *http.Request {
			return post(t, "/audits/"+a.AuditID+"/reveal", `{"seed":"`+a.Seed+`"}`)
		}), outOfReach, nil},

		{"listAudits", 503, "unreachable", fixed(get(t, "/audits?reference=a")), outOfReach, nil},
		{"getAudit", 503, "unreachable", first(func(a shuffled) *http.Request { return get(t, "/audits/"+a.AuditID) }), outOfReach, nil},
		{"verifyAudit", 503, "unreachable", first(func(a shuffled) *http.Request { return get(t, "/audits/"+a.AuditID+"/verify") }), outOfReach, nil},

		{"proveAudit", 400, "noParameters", fixed(get(t, "/audits/"+id+"/proof?page=2")), sound, nil},
		{"proveAudit", 400, "malformedQuery", fixed(get(t, "/audits/"+id+"/proof?%zz")), sound, nil},
		{"proveAudit", 404, "noSuchAudit", fixed(get(t, "/audits/"+strings.ToUpper(id)+"/proof")), sound, nil},
		{"proveAudit", 404, "noSuchAudit", fixed(get(t, "/audits/1/proof")), sound, nil},
		{"proveAudit", 500, "failed", fixed(get(t, "/audits/"+id+"/proof")), cannotRead, nil},
		{"proveAudit", 503, "unreachable", first(func(a shuffled) *http.Request { return get(t, "/audits/"+a.AuditID+"/proof") }), outOfReach, nil},
		{"proveAudit", 503, "notPublished", func(s *service) *http.Request {
			// The log waits as long as the caller does, which is for a second here.
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return get(t, "/audits/"+shuffleOnce(t, s, `{"size":3}`).AuditID+"/proof").WithContext(ctx)
		}, notFollowing, nil},

		{"getCheckpoint", 200, "", fixed(get(t, "/log/checkpoint")), sound, nil},
		{"getCheckpoint", 400, "noParameters", fixed(get(t, "/log/checkpoint?page=2")), sound, nil},
		{"getLogKey", 400, "noParameters", fixed(get(t, "/log/key?page=2")), sound, nil},
		{"getTile", 400, "noParameters", fixed(get(t, "/log/tile/0/000.p/1?page=2")), sound, nil},
		{"getTile", 404, "noSuchTile", fixed(get(t, "/log/tile/hashes")), sound, nil},
		{"getTile", 503, "unreachable", fixed(get(t, "/log/tile/0/000.p/1")), outOfReach, nil},
		{"getTile", 503, "unreachable", fixed(get(t, "/log/tile/entries/000.p/1")), outOfReach, nil},

		{"healthz", 500, "notDurable", fixed(get(t, "/healthz")), broken, nil},
		{"readyz", 503, "stopping", fixed(get(t, "/readyz")), draining, nil},
		{"readyz", 503, "noSpace", fixed(get(t, "/readyz")), withoutSpace, nil},
		{"readyz", 503, "", fixed(get(t, "/readyz")), broken, nil},
		{"metrics", 200, "", with(get(t, "/metrics"), func(r *http.Request) {
			r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
		}), sound, nil},
		{"metrics", 200, "", with(get(t, "/metrics"), func(r *http.Request) {
			r.Header.Set("Accept", "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited")
		}), sound, nil},
		{"metrics", 500, "", fixed(get(t, "/metrics")), uncollectable, nil},
		{"contract", 200, "", fixed(get(t, "/openapi.yaml")), sound, nil},
	}
	list = append(list, shoeProbes(t, c, shared)...)
	// A defect in any handler is answered, and answered alike.
	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		op := c.operations[operation]
		target := target(op.Path, id)
		request := get(t, target)
		if op.Method != http.MethodGet {
			request = post(t, target, `{}`)
			request.Method = op.Method
		}
		switch operation {
		case "shuffle", "createCommitment":
			request = post(t, target, `{"size":2}`)
		case "getCommitment":
			request = get(t, "/commitments/"+commitment)
		case "revealAudit":
			request = post(t, target, `{"seed":"`+audit.Seed+`"}`)
		case "listAudits":
			request = get(t, target+"?reference=a")
		}
		example := "failed"
		if operation == "metrics" {
			example = "" // shown as text alone
		}
		list = append(list, probe{operation, 500, example, fixed(request), sound, shared.answerWithDefect})
	}
	return list
}

// target fills in a path of the contract.
func target(path, id string) string {
	return strings.NewReplacer("{type}", "standard52", "{id}", id, "{tile}", "0/000.p/1", "{pile}", "alice", "{position}", "0").Replace(path)
}

func slow(r *http.Request)       { r.Body = io.NopCloser(brokenReader{os.ErrDeadlineExceeded}) }
func compressed(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }

func mediaType(media string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Content-Type", media) }
}

func withOpenStore(t testing.TB) *service {
	return start(t, setup{store: func(s ledger.Store) ledger.Store { return openStore{s} }})
}

// An openStore can be read after its log was closed.
type openStore struct{ ledger.Store }

func (openStore) Close() error { return nil }

// ownDeck is a deck type of two cards, one of them of a code to fill in.
const ownDeck = `{
  "type": "own", "name": {"en": "Own", "zh": "自备"}, "family": "french", "size": 2,
  "cards": [
    {"code": "X", "name": {"en": "X", "zh": "X"}, "glyph": "x", "attributes": {}},
    {"code": %q, "name": {"en": "Other", "zh": "其他"}, "glyph": "o", "attributes": {}}
  ]
}`

// withOtherCards returns a service that has answered a request for a deck type whose cards were
// changed since.
func withOtherCards(first func(testing.TB) *http.Request) func(testing.TB) *service {
	return func(t testing.TB) *service {
		s := start(t, setup{
			random: rand.NewChaCha8([32]byte{}), // the answer has the id of the first
			now:    func() time.Time { return time.Date(2026, 11, 21, 9, 55, 0, 0, time.UTC) },
		})
		if answer := s.replica(t, fmt.Sprintf(ownDeck, "A")).answer(first(t)); answer.StatusCode != http.StatusOK {
			t.Fatalf("%s", read(t, answer))
		}
		return s.replica(t, fmt.Sprintf(ownDeck, "B"))
	}
}

// stillAnswering returns a service that is answering a request to shuffle two numbers with the key
// a.
func stillAnswering(path string) func(testing.TB) *service {
	return func(t testing.TB) *service {
		committing, release := make(chan struct{}), make(chan struct{})
		s := start(t, setup{store: func(s ledger.Store) ledger.Store {
			return &faultyStore{Store: s, appending: func() error { committing <- struct{}{}; <-release; return nil }}
		}})
		var answered sync.WaitGroup
		t.Cleanup(func() { close(release); answered.Wait() })
		answered.Go(func() { read(t, s.answer(keyed(post(t, path, `{"size":2}`), "a"))) })
		<-committing
		return s
	}
}

func withoutRandomness(t testing.TB) *service {
	return start(t, setup{random: brokenReader{errors.New("the generator does not answer")}})
}

func withoutMemory(t testing.TB) *service { return start(t, setup{memory: 1}) }

func cannotRead(t testing.TB) *service { return start(t, setup{store: unreadable}) }

// outOfReach returns a service with one record, whose store was lost behind it.
func outOfReach(t testing.TB) *service {
	var lost atomic.Bool
	reading := func() error {
		if lost.Load() {
			return ledger.ErrUnavailable
		}
		return nil
	}
	s := start(t, setup{store: func(s ledger.Store) ledger.Store { return &faultyStore{Store: s, reading: reading} }})
	s.first = shuffleOnce(t, s, `{"size":3,"reference":"a"}`)
	s.published(t)
	lost.Store(true)
	return s
}

// notFollowing returns a service that cannot read back what it has written, and so publishes no
// checkpoint of it.
func notFollowing(t testing.TB) *service {
	return start(t, setup{store: func(s ledger.Store) ledger.Store {
		return &faultyStore{Store: s, following: func() error { return ledger.ErrUnavailable }}
	}})
}

// broken returns a service whose log has failed.
func broken(t testing.TB) *service {
	s := start(t, setup{store: failing(errors.New("the disk does not answer"))})
	read(t, s.answer(post(t, "/shuffle", `{"size":2}`)))
	return s
}

// withoutSpace returns a service that has just found its disk full.
func withoutSpace(t testing.TB) *service {
	s := start(t, setup{store: failing(ledger.ErrNoSpace)})
	read(t, s.answer(post(t, "/shuffle", `{"size":2}`)))
	return s
}

func closed(t testing.TB) *service {
	s := start(t, setup{})
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func draining(t testing.TB) *service {
	s := start(t, setup{})
	s.Drain()
	return s
}

// withFullQueue returns a service with room for one waiting shuffle, which is taken.
func withFullQueue(t testing.TB) *service {
	committing, release := make(chan struct{}, 2), make(chan struct{})
	s := start(t, setup{queue: 1, store: func(s ledger.Store) ledger.Store {
		return &faultyStore{Store: s, appending: func() error { committing <- struct{}{}; <-release; return nil }}
	}})
	var answered sync.WaitGroup
	t.Cleanup(func() { close(release); answered.Wait() })
	shuffle := func() { read(t, s.answer(post(t, "/shuffle", `{"size":2}`))) }
	answered.Go(shuffle)
	<-committing // the first is with the store
	answered.Go(shuffle)
	for depth := 0; depth == 0; depth, _ = s.log.Queued() {
		runtime.Gosched() // until the second waits
	}
	return s
}

type gathererFunc func() ([]*dto.MetricFamily, error)

func (f gathererFunc) Gather() ([]*dto.MetricFamily, error) { return f() }

// uncollectable returns a service with a metric that cannot be collected.
func uncollectable(t testing.TB) *service {
	return start(t, setup{gatherer: gathererFunc(func() ([]*dto.MetricFamily, error) {
		return nil, errors.New("a metric could not be collected")
	})})
}

// A shuffled is what later requests need of the answer to a shuffle.
type shuffled struct {
	LogIndex uint64 `json:"log_index"`
	AuditID  string `json:"audit_id"`
	Seed     string `json:"seed"`
}

func shuffleOnce(t testing.TB, s *service, request string) (made shuffled) {
	t.Helper()
	body := read(t, s.answer(post(t, "/shuffle", request)))
	if err := json.Unmarshal(body, &made); err != nil || made.AuditID == "" {
		t.Fatalf("%s (%v)", body, err)
	}
	return made
}

// A committed is what later requests need of the answer to a commitment.
type committed struct {
	CommitmentID string    `json:"commitment_id"`
	LogIndex     uint64    `json:"log_index"`
	Commitment   string    `json:"commitment"`
	Deadline     time.Time `json:"deadline"`
}

func commitOnce(t testing.TB, s *service, request string) (made committed) {
	t.Helper()
	body := read(t, s.answer(post(t, "/commitments", request)))
	if err := json.Unmarshal(body, &made); err != nil || made.CommitmentID == "" {
		t.Fatalf("%s (%v)", body, err)
	}
	return made
}

func TestEveryAnswerIsInTheContract(t *testing.T) {
	c := theContract(t)
	seen, shown := map[string]bool{}, map[string]bool{}
	note := func(operation string, status int, example string) {
		seen[operation+" "+strconv.Itoa(status)] = true
		if example != "" {
			shown[place(c, operation, status, example)] = true
		}
	}
	for _, p := range probes(t, c) {
		t.Run(fmt.Sprint(p.operation, " ", p.status, " ", p.example), func(t *testing.T) {
			s := p.on(t)
			answering := s.answer
			if p.by != nil {
				answering = p.by
			}
			answer := answering(p.request(s))
			body := read(t, answer)
			if answer.StatusCode != p.status {
				t.Fatalf("%d, not %d: %.500s", answer.StatusCode, p.status, body)
			}
			if err := c.check(p.operation, answer, body); err != nil {
				t.Errorf("%v\n%.500s", err, body)
			}
			if p.example == "" {
				note(p.operation, p.status, "")
				return
			}
			example, ok := c.examples(p.operation, p.status)[p.example]
			if !ok {
				t.Fatal("the contract has no such example")
			}
			if !same(t, body, example) {
				t.Errorf("the answer is\n%s\nand the example\n%v", body, example)
			}
			note(p.operation, p.status, p.example)
		})
	}
	replay(t, c, note)
	noPath(t, c)

	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		for status := range c.operations[operation].Operation.Responses.Map() {
			pair := operation + " " + status
			if !seen[pair] {
				t.Errorf("nothing is answered %s", pair)
			}
			n, err := strconv.Atoi(status)
			if err != nil {
				t.Fatal(err)
			}
			for example := range c.examples(operation, n) {
				if !shown[place(c, operation, n, example)] {
					t.Errorf("nothing is answered with the example %s of %s", example, pair)
				}
			}
		}
	}
	t.Logf("%d operations, %d answers, %d examples", len(c.operations), len(seen), len(shown))
}

// place names an example of a response. Those of a response that several operations share have one
// place.
func place(c *contract, operation string, status int, example string) string {
	response := c.operations[operation].Operation.Responses.Status(status)
	if response.Ref != "" {
		return response.Ref + " " + example
	}
	return fmt.Sprint(operation, " ", status, " ", example)
}

// noPath checks what is answered where there is no operation.
func noPath(t *testing.T, c *contract) {
	s := start(t, setup{})
	for _, p := range []struct {
		component, example, path string
		status                   int
	}{
		{"NoSuchPath", "noSuchPath", "/cards", 404},
		{"MethodNotAllowed", "wrongMethod", "/shuffle", 405},
	} {
		answer := s.answer(get(t, p.path))
		body := read(t, answer)
		example := examplesOf(c.Components.Responses[p.component].Value)[p.example]
		if err := c.checkComponent(p.component, answer, body); err != nil || answer.StatusCode != p.status || !same(t, body, example) {
			t.Errorf("GET %s: %d (%v) %s", p.path, answer.StatusCode, err, body)
		}
	}
	for path, item := range c.Paths.Map() {
		target := target(path, "1")
		taken := slices.Sorted(maps.Keys(item.Operations()))
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY"} {
			if slices.Contains(taken, method) {
				continue
			}
			answer := s.answer(request(t, method, target))
			body := read(t, answer)
			if err := c.checkComponent("MethodNotAllowed", answer, body); err != nil || answer.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d (%v) %s", method, path, answer.StatusCode, err, body)
			}
			if got := answer.Header.Get("Allow"); got != strings.Join(taken, ", ") {
				t.Errorf("%s %s is answered with Allow: %s, and the contract has %v", method, path, got, taken)
			}
		}
	}
}
