package api_test

import (
	"bytes"
	"cmp"
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

// scenario is the order in which examples that write to the log, or depend on it, are sent. All
// other examples are sent afterwards, in any order.
var scenario = []string{
	"shuffle bridge", "shuffle items", "shuffle emptyList", "shuffle lottery", "shuffle newSeats", "shuffle repeat",
	"shuffle repeatedHands", "shuffle undercover", "dealDeck werewolf", "dealDeck undercover", "dealDeck details",
	"getAudit heldBack", "revealAudit notTheSeed",
	"revealAudit reveal", "verifyAudit revealed", "proveAudit revealed", "getAudit revealRecord",
	"listAudits game", "getCheckpoint published",
	"createCommitment spin", "getCommitment open", "createCommitment roles", "listCommitments open",
	"shuffle notAsCommitted", "shuffle committed", "getCommitment used", "shuffle commitmentUsed",
	"getAudit committed", "getAudit commitmentRecord", "verifyAudit committed",
	"shuffle withKey", "shuffle retry", "shuffle keyOfAnother", "shuffle secondAttempt", "createCommitment secondAttempt",
	"getCommitment late", "shuffle commitmentLate", "getCommitment void", "shuffle commitmentVoid", "getAudit voidRecord",
	"createShoe twoDecks", "getShoe open", "drawCards hand", "drawCards proven", "listDealt dealt", "drawCards random",
	"addToPile discard", "listPiles piles", "getPile alice", "drawFromPile played", "returnCards all",
	"shufflePile bob", "returnFromPile all", "reshuffleShoe remaining", "proveCard drawn", "proveCard notDrawn",
	"getAudit shoeRecord", "getAudit reshuffleRecord", "verifyAudit shoe", "closeShoe close", "getAudit drawRecord",
	"getAudit addRecord", "getAudit returnRecord", "getAudit closeRecord", "drawCards closed", "createShoe names",
	"drawCards item", "endShoe end", "getShoe expired", "getAudit expireRecord", "drawCards expired", "proveShoe names",
	"createShoe cutCard", "createCommitment book", "shuffle round", "createCommitment beacon", "createCommitment timeLock",
}

// unusedSeeds are the seeds of the commitments in the examples that no shuffle used, and the seed
// of the book. No answer shows them.
var unusedSeeds = map[string]string{
	"beacon":   "81f0c6a2d94e7b35601fa8c3d27e5b94f6081c3a7d5e92b4c60f1e8a7b3d9c52",
	"book":     "5ad1c07f3b9e42d68c10e7f4a2936b58d7ce01944f6ab328805e9dc12b7f36a4",
	"timeLock": "3c9a51e7d08b46f2a1c7e95d6f30b824c8417fe2a59d63b07e18f4c2d9063ba5",
	"roles":    "126dc3d23bd27d2632689f530b079d1045311203e44a3549b4b7417e0c0ba917",
}

// shoeSeeds are the seeds of the orders of the shoes in the examples, by the request that drew
// them.
var shoeSeeds = map[string]string{
	"createShoe twoDecks": "586bd8822aee3f0919f6d571aa226fc4e883ec416721aa1288f8ca1e868d0a7283942855eb828449f52a7388af457673a6e5734eca6a72a94e64b909e20f1cc3" +
		"7ed4bddc2cf079f6eaaa9795e5c0daf5e05c319781607a0d191f118b82310c89",
	"drawCards random": "527d00ec524b7ae5e9fc16d045594c5b414b4e1a7efdf107fe9b04e4fa90b46c",
	"shufflePile bob":  "899e814df58dfd65d4360f91f417c27315f87d1b326e22ecaed115bdac2094bc",
	"reshuffleShoe remaining": "f474f53a5fdf884aa7d2afe90114981bb80c2f29e3ec0a183b4ecf8234fe4bd8c4b9ded673086c40d3280b36870f31c54834178c8033c2c050e8a43a06df0cb6" +
		"87ffc6f2b85aa0599acce776f39a36abffc89e1cb311637ac8e2aba7751f76d1",
	"createShoe cutCard": "1c59c297d7ae539c5b13d0614411704eef998ca4e0ae7c2a781aedda98d06e35704b6b1c12dad37b42716c7cc1dac030fd51b83ce845c98f0b2eabf8c88b41dc" +
		"51ba572771481a01eafa0895fc749eabba5b5f38044494aa826d8e929ff795ee",
	"createShoe names": "9236c516a32bbd6905c65283fae7943331a159e04a272f4358b0c2c2efff7469",
}

// replayExamples sends each example's request and compares the response with the example. Random bytes
// and times come from the examples, too, so seeds, ids and orders are equal.
func replayExamples(t *testing.T, c *contract, cover func(operation string, status int, example string)) {
	var random bytes.Buffer
	var now time.Time
	var damaged string
	s := start(t, setup{random: &random, now: func() time.Time { return now }, faults: &journaltest.Faults{Tamper: func(stored *ledger.Stored) {
		if stored.ID.String() == damaged {
			clear(stored.Sidecar)
		}
	}}})
	records, drawn := recordExamples(t, c), map[string]bool{}
	list := slices.Clone(scenario)
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
				write(cmp.Or(unusedSeeds[name], c.seedOfUse(id)), uuid.MustParse(id))
			case status == http.StatusOK && member(want, "audit_id") != "" && member(want, "shoe_id") != "" && operation != "getShoe":
				id, seed := uuid.MustParse(member(want, "audit_id")), shoeSeeds[pair]
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
				if n, err := s.Dealer.ExpireCommitments(t.Context()); n != 1 || err != nil {
					t.Fatalf("voided %d commitments, want 1: %v", n, err)
				}
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
