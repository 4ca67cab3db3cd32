package api_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Requests and the responses that they get. A request is a line with method, path, a header field
// in angle brackets, and the body, as a Go string if it is no text. The next line has the response:
// its status; the pointer or parameter of the error, after @; and the detail of the problem or,
// after =, the name of the example in the contract, or nothing for any. A $name is something of the
// service. "== state" sends what follows to a service in another state.
//
//go:embed testdata/requests.txt
var requestsFile string

// states are services that requests are sent to.
var states = map[string]func(testing.TB) *service{
	"brokenLog": brokenLog, "brokenMetrics": brokenMetrics, "closedLog": closedLog, "draining": draining,
	"fullDisk": fullDisk, "fullOfShuffles": fullOfShuffles, "fullQueue": fullQueue, "hurried": hurried,
	"noRandomness": noRandomness, "stopping": stopping, "unavailableStore": unavailableStore,
	"shuffledOwnDeck": deckTypeChanged(func(t testing.TB) *http.Request { return keyed(post(t, "/shuffle", `{"deck":"own"}`), "a") }),
	"beforeBeacon": func(t testing.TB) *service {
		s, _ := startBefore(t)
		s.first.AuditID = mustCommit(t, s, `{"size":9}`).CommitmentID
		return s
	},
	"noMemory": func(t testing.TB) *service {
		s := noMemory(t)
		s.first, s.shoe = mustShuffle(t, s, `{"size":3}`), mustCreateShoe(t, s, `{"size":3}`).path()
		return s
	},
	"dealtOwnDeck": deckTypeChanged(func(t testing.TB) *http.Request { return keyed(get(t, "/decks/own"), "a") }),
}

var requestLine = regexp.MustCompile(`^([A-Z]+) (\S+)(?: <(.*?): (.*?)>)?(?: (.*))?$`)

// sendRequests sends the requests of the file. Problems have their detail first, and make no
// record.
func sendRequests(t *testing.T, c *contract, cover func(operation string, status int, example string)) {
	s := start(t, setup{})
	names := namesFor(t, s)
	lines := strings.Split(requestsFile, "\n")
	for i, line := range lines {
		if state, found := strings.CutPrefix(line, "== "); found {
			require.NotNil(t, states[state], state)
			s = states[state](t)
			names = strings.NewReplacer("$first", s.first.AuditID, "$signature", signature, "$seed", s.first.Seed, "$shoe", s.shoe, "$mega", strings.Repeat("a", 1<<20))
		}
		parts := requestLine.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		t.Run(line, func(t *testing.T) {
			r := requestOf(t, parts, names)
			status, says, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			at := ""
			if strings.HasPrefix(says, "@") {
				at, says, _ = strings.Cut(says[1:], " ")
			}
			before := s.logSize()
			answer := s.send(t, r)
			require.Equalf(t, status, strconv.Itoa(answer.status), "%.500s", answer.body)
			c.checkSays(t, c.operationOf(s, r), names.Replace(says), answer, cover)
			if answer.header.Get("Content-Type") == "application/problem+json" {
				var problem struct {
					Errors []struct{ Pointer, Parameter string }
				}
				require.NoError(t, json.Unmarshal([]byte(answer.body), &problem))
				problem.Errors = append(problem.Errors, struct{ Pointer, Parameter string }{})
				assert.Equal(t, at, problem.Errors[0].Pointer+problem.Errors[0].Parameter, answer.body)
				assert.True(t, strings.HasPrefix(answer.body, `{"detail":`), answer.body)
				assert.Equal(t, before, s.logSize(), "the records")
			}
		})
	}
}

// namesFor makes what the names in requests mean.
func namesFor(t *testing.T, s *service) *strings.Replacer {
	t.Helper()
	shoe := func(create string, changes ...string) string {
		path := mustCreateShoe(t, s, create).path()
		for i := 0; i < len(changes); i += 2 {
			s.mustShoe(t, post(t, path+changes[i], changes[i+1]))
		}
		return path
	}
	audit, two := mustShuffle(t, s, `{"size":3,"reference":"a"}`), mustCreateShoe(t, s, `{"deck":"standard52","decks":2}`)
	drawn := s.mustShoe(t, post(t, two.path()+"/draw", `{"count":104,"to":"all"}`))
	s.mustShoe(t, post(t, two.path()+"/piles/all/draw", `{"count":10}`))
	taken := drawn.Cards[103] // one copy of it is still on the pile
	crowded := shoe(`{"size":257}`)
	for i := range 256 {
		s.mustShoe(t, post(t, crowded+"/draw", fmt.Sprintf(`{"to":"p%d"}`, i)))
	}
	return strings.NewReplacer(
		"$audit", audit.AuditID, "$AUDIT", strings.ToUpper(audit.AuditID), "$seed", audit.Seed,
		"$commitment", mustCommit(t, s, `{"items":[1,2,3]}`).CommitmentID,
		"$salted", mustCommit(t, s, `{"items":[1,2,3],"items_salt":"c0ffee0011223344"}`).CommitmentID,
		"$shoe", shoe(`{"deck":"standard52"}`), "$fresh", shoe(`{"deck":"standard52"}`),
		"$dealt", shoe(`{"items":["a","a","b",1,2,3]}`, "/draw", `{"count":3}`),
		"$twins", shoe(`{"items":["a","a"]}`, "/draw", `{"count":2,"to":"alice"}`), "$crowded", crowded,
		"$two", two.path(), "$TWO", strings.ToUpper(two.path()), "$record", two.AuditID, "$ambiguous", taken.Code, "$taken", fmt.Sprint(taken.Card),
		"$a256", strings.Repeat("a", 256), "$a257", strings.Repeat("a", 257), "$e129", strings.Repeat("é", 129), "$mega", strings.Repeat("a", 1<<20),
		"$many", "0"+strings.Repeat(",0", 4096), "$million", strings.Repeat(",0", 1_000_000), "$deep", strings.Repeat("[", 99)+strings.Repeat("]", 99),
	)
}

// requestOf returns the request of a line's parts: method, path, header field and its value, and
// body.
func requestOf(t *testing.T, parts []string, names *strings.Replacer) *http.Request {
	t.Helper()
	body := names.Replace(parts[5])
	if strings.HasPrefix(body, `"`) {
		var err error
		body, err = strconv.Unquote(body)
		require.NoError(t, err)
	}
	r := httptest.NewRequestWithContext(t.Context(), parts[1], names.Replace(parts[2]), strings.NewReader(body))
	if r.Method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if parts[3] != "" {
		r.Header.Set(parts[3], parts[4])
	}
	if parts[4] == "" {
		r.Header.Del(parts[3])
	}
	return r
}

// operationOf returns the operation of a request; "" for a path that does not exist.
func (c *contract) operationOf(s *service, r *http.Request) string {
	pattern := strings.Replace(s.Routes().Find(chi.NewRouteContext(), r.Method, r.URL.Path), "*", "{tile}", 1)
	for operation, op := range c.operations {
		if op.Method == r.Method && op.Path == pattern {
			return operation
		}
	}
	return ""
}

// checkSays validates a response of an operation. If something is wanted, it is the response's
// example in the contract, or the detail of its problem.
func (c *contract) checkSays(t *testing.T, operation, wanted string, answer response, cover func(operation string, status int, example string)) {
	t.Helper()
	example, isExample := any(nil), false
	if operation == "" {
		assert.NoErrorf(t, c.checkComponent("NoSuchPath", answer), "%.500s", answer.body)
	} else {
		assert.NoErrorf(t, c.check(operation, answer), "%.500s", answer.body)
		example, isExample = c.examples(operation, answer.status)[strings.TrimPrefix(wanted, "=")]
	}
	switch {
	case isExample:
		assert.Truef(t, equalsExample(t, answer.body, example), "the response is\n%s\nand the example\n%v", answer.body, example)
		cover(operation, answer.status, strings.TrimPrefix(wanted, "="))
	case wanted != "":
		assert.Equal(t, wanted, member(decodeJSON(t, []byte(answer.body)), "detail"), "neither an example nor the detail of a problem")
		fallthrough
	default:
		cover(operation, answer.status, "")
	}
}
