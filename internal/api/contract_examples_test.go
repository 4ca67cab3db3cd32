package api_test

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/dealer"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
)

//go:embed testdata/examples.txt
var scenarioFile string

// scenario returns the examples whose order counts, and seeds that no answer shows.
func scenario() (list []string, seeds map[string]string) {
	seeds = map[string]string{}
	for line := range strings.Lines(scenarioFile) {
		if words := strings.Fields(line); words[0] != "#" {
			list = append(list, words[0]+" "+words[1])
			seeds[words[0]+" "+words[1]] = strings.Join(words[2:], "")
		}
	}
	return list, seeds
}

// replayExamples sends each example's request and compares the response with the example. Random bytes
// and times come from the examples, too, so seeds, ids and orders are equal.
func replayExamples(t *testing.T, c *contract, cover func(operation string, status int, example string)) {
	var random bytes.Buffer
	var now time.Time
	var damaged string
	s := start(t, setup{random: &random, now: func() time.Time { return now }, faults: &journaltest.Faults{Tamper: func(stored *ledger.StoredEntry) {
		if stored.ID.String() == damaged {
			clear(stored.Sidecar)
		}
	}}})
	records, drawn := recordExamples(t, c), map[string]bool{}
	list, seeds := scenario()
	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		for _, name := range c.requestExamples(operation) {
			if pair := operation + " " + name; !slices.Contains(list, pair) {
				list = append(list, pair)
			}
		}
	}
	for _, pair := range list {
		operation, name, _ := strings.Cut(pair, " ")
		t.Run("example "+pair, func(t *testing.T) {
			status, want := c.expectedResponse(t, operation, name)
			request, ok := c.request(t, operation, name)
			require.True(t, ok, "the contract has no example of the request")
			write := func(seed string, id uuid.UUID) {
				bytes, err := hex.DecodeString(seed)
				require.NoError(t, err)
				random.Write(append(bytes, id[6:]...))
			}
			switch {
			case operation == "revealAudit" && status == http.StatusOK:
				reveal := records["reveal "+member(want, "audit_id")]
				now = reveal.time
				write("", reveal.id)
			case (operation == "shuffle" || operation == "dealDeck") && status == http.StatusOK && !drawn[member(want, "audit_id")]:
				drawn[member(want, "audit_id")] = true // a retry draws nothing
				id, seed := uuid.MustParse(member(want, "audit_id")), member(want, "seed")
				if member(c.requestBody(operation, name), "commitment_id") != "" {
					seed = "" // was drawn by the commitment
				}
				write(seed, id)
				now = time.Unix(id.Time().UnixTime()).UTC()
				if shown, ok := records["shuffle "+id.String()]; ok {
					now = shown.time
				}
			case operation == "createCommitment" && status == http.StatusOK:
				id := member(want, "commitment_id")
				now = deadlineOf(t, want).Add(-dealer.DefaultDeadline)
				write(cmp.Or(seeds[pair], c.seedOfUse(id)), uuid.MustParse(id))
			case status == http.StatusOK && member(want, "audit_id") != "" && member(want, "shoe_id") != "" && operation != "getShoe":
				id, seed := uuid.MustParse(member(want, "audit_id")), seeds[pair]
				if operation == "createShoe" {
					seed += strings.ReplaceAll(member(want, "shoe_id"), "-", "")
				}
				write(seed, id)
				now = time.Unix(id.Time().UnixTime()).UTC()
			case operation == "getCommitment" && member(want, "status") == "late":
				now = deadlineOf(t, want)
			case operation == "getCommitment" && member(want, "status") == "void":
				void := records["void "+member(want, "commitment_id")]
				now = void.time
				write("", void.id)
				n, err := s.Dealer.ExpireCommitments(t.Context())
				require.Truef(t, n == 1 && err == nil, "voided %d commitments, want 1: %v", n, err)
			case name == "damaged":
				damaged = member(want, "audit_id")
			}
			s.waitPublished(t)                 // examples of proofs and tiles have the last checkpoint
			if status == http.StatusConflict { // the service may draw before it sees the conflict
				random.Write(make([]byte, 64))
			}
			answer := s.send(t, request)
			if status == http.StatusConflict {
				random.Reset()
			}
			if answer.status != status || random.Len() > 0 {
				t.Fatalf("%d, want %d, and %d random bytes were not drawn: %s", answer.status, status, random.Len(), answer.body)
			}
			assert.NoError(t, c.check(operation, answer))
			if !equalsExample(t, answer.body, want) {
				text, err := json.Marshal(want)
				t.Errorf("the response is\n%s\nand the example\n%s (%v)", answer.body, text, err)
			}
			cover(operation, status, name)
		})
	}
	for name, operation := range map[string]string{ // binary, so the contract has no examples of the responses
		"hashes": "getTile", "records": "getTile", "card": "getCardPicture", "back": "getCardPicture", "sheet": "getDeckPicture",
	} {
		request, ok := c.request(t, operation, name)
		require.Truef(t, ok, "the contract has no example of the request %s", name)
		answer := s.send(t, request)
		if err := c.check(operation, answer); err != nil || answer.status != http.StatusOK || answer.body == "" {
			t.Errorf("%s %s: %d, %d bytes, %v", operation, name, answer.status, len(answer.body), err)
		}
		cover(operation, answer.status, "")
	}
}

// A recordExample is the id and the time of a record in an example of an audit.
type recordExample struct {
	id   uuid.UUID
	time time.Time
}

// recordExamples returns the records in the examples by kind and id. Reveals and voids have the id
// of the record that they are about.
func recordExamples(t *testing.T, c *contract) map[string]recordExample {
	t.Helper()
	shown := map[string]recordExample{}
	for _, example := range c.examples("getAudit", http.StatusOK) {
		record := example.(map[string]any)["record"]
		at, err := time.Parse(time.RFC3339Nano, member(record, "time"))
		require.NoError(t, err)
		of := member(record, "id")
		switch member(record, "kind") {
		case "reveal":
			of = member(record, "audit_id")
		case "void":
			of = member(record, "commitment_id")
		}
		shown[member(record, "kind")+" "+of] = recordExample{uuid.MustParse(member(record, "id")), at}
	}
	return shown
}

// requestBody returns the body of the example of a request, or nil.
func (c *contract) requestBody(operation, name string) any {
	body := c.operations[operation].Operation.RequestBody
	if body == nil {
		return nil
	}
	example := body.Value.Content["application/json"].Examples[name]
	if example == nil {
		return nil
	}
	return example.Value.Value
}

// seedOfUse returns the seed of the shuffle in the examples that used a commitment; "" if none did.
func (c *contract) seedOfUse(commitment string) string {
	for name, answer := range c.examples("shuffle", http.StatusOK) {
		if member(c.requestBody("shuffle", name), "commitment_id") == commitment {
			return member(answer, "seed")
		}
	}
	return ""
}

// deadlineOf returns the deadline of a commitment in an example.
func deadlineOf(t *testing.T, shown any) time.Time {
	t.Helper()
	deadline, err := time.Parse(time.RFC3339Nano, member(shown, "deadline"))
	require.NoError(t, err)
	return deadline
}

// member returns a string member of an object; "" if it has none.
func member(object any, name string) string {
	members, _ := object.(map[string]any)
	text, _ := members[name].(string)
	return text
}

// requestExamples returns the names of the examples that are complete requests of an operation and
// have a response of the same name.
func (c *contract) requestExamples(operation string) (names []string) {
	op := c.operations[operation]
	given := map[string]int{}
	required := 0
	for _, p := range c.parameters(operation) {
		if p.Required {
			required++
		}
		for name := range p.Examples {
			given[name] += 0
			if p.Required {
				given[name]++
			}
		}
	}
	if op.Operation.RequestBody != nil {
		required++
		for name := range op.Operation.RequestBody.Value.Content["application/json"].Examples {
			given[name]++
		}
	}
	if len(c.parameters(operation)) == 0 && required == 0 {
		for name := range c.examples(operation, http.StatusOK) {
			given[name] = 0
		}
	}
	for _, response := range op.Operation.Responses.Map() {
		for name := range examplesOf(response.Value) {
			if n, ok := given[name]; ok && n == required {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// request returns the request of the examples of a name. It is not whole if a required parameter or
// the body has no such example.
func (c *contract) request(t *testing.T, operation, name string) (_ *http.Request, whole bool) {
	t.Helper()
	op := c.operations[operation]
	path, query, header := op.Path, url.Values{}, http.Header{}
	for _, p := range c.parameters(operation) {
		example, ok := p.Examples[name]
		if !ok {
			if p.Required {
				return nil, false
			}
			continue
		}
		switch value := example.Value.Value.(type) {
		case map[string]any: // a parameter for each member
			for k, v := range value {
				query.Add(k, fmt.Sprint(v))
			}
		case []any:
			for _, v := range value {
				query.Add(p.Name, fmt.Sprint(v))
			}
		default:
			switch p.In {
			case "path":
				path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(value)))
			case "header":
				header.Set(p.Name, fmt.Sprint(value))
			default:
				query.Add(p.Name, fmt.Sprint(value))
			}
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r := request(t, op.Method, path)
	if op.Operation.RequestBody != nil {
		value := c.requestBody(operation, name)
		if value == nil {
			return nil, false
		}
		body, err := json.Marshal(value)
		require.NoError(t, err)
		r = post(t, path, string(body))
	}
	maps.Copy(r.Header, header)
	return r, true
}

// expectedResponse returns the only response of an operation that has an example of the name.
func (c *contract) expectedResponse(t *testing.T, operation, name string) (status int, value any) {
	t.Helper()
	for text := range c.operations[operation].Operation.Responses.Map() {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		if example, ok := c.examples(operation, n)[name]; ok {
			require.Equalf(t, 0, status, "the responses %d and %d both have the example", status, n)
			status, value = n, example
		}
	}
	require.NotEqual(t, 0, status, "no response has an example of this name")
	return status, value
}

func TestEveryRequestExampleHasAResponse(t *testing.T) {
	c := loadContract(t)
	for operation, op := range c.operations {
		if op.Operation.RequestBody == nil {
			continue
		}
		for name := range op.Operation.RequestBody.Value.Content["application/json"].Examples {
			c.expectedResponse(t, operation, name)
		}
	}
}
