package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
)

// Retries are replayed byte for byte by the process that handled the request, by a replica, and
// after a restart.
func TestRetriesAreReplayedByteForByte(t *testing.T) {
	s := start(t, setup{})
	audit := mustShuffle(t, s, `{"deck":"standard52"}`)
	commitment := mustCommit(t, s, `{"size":20,"draw":7,"repeat":2}`)
	ofItems := mustCommit(t, s, `{"items":[1,2,{"a":[]}],"hands":[1,1]}`)
	requests := map[string]requestFunc{
		"deck":       postFunc("/shuffle", `{"deck":"standard52"}`),
		"hands":      postFunc("/shuffle", `{"deck":"undercover","parameters":{"players":9},"decks":2,"hands":[2,3],"draw":7}`),
		"repeat":     postFunc("/shuffle", `{"deck":"piquet32","hands":"skat","repeat":3,"algorithm":"inside-out"}`),
		"once":       postFunc("/shuffle", `{"size":9,"repeat":1,"client_seed":"Nora","reveal":"now"}`),
		"few":        postFunc("/shuffle", `{"size":9007199254740991,"draw":3}`),
		"none":       postFunc("/shuffle", `{"items":[]}`),
		"items":      postFunc("/shuffle", "\n{ \"items\" : [ 1e400 ,\t-0,{\"b\" :  [ null]} ,\"\\u00e9\\/\", 18446744073709551616 ], \"reference\":\"\\u00e9\" }\r\n"),
		"long":       postFunc("/shuffle", `{"size":20000,"hands":[1,19000],"repeat":3}`),
		"long items": postFunc("/shuffle", `{"items":["`+strings.Repeat("a", 70_000)+`", "`+strings.Repeat("b", 70_000)+`",0]}`),
		"query":      getFunc("/decks/mahjong136?decks=2&hands=mahjong&details=true&client_seed=%C3%A9"),
		"no query":   getFunc("/decks/werewolf12"),
		"commitment": postFunc("/commitments", `{"deck":"euchre24","hands":"euchre","reference":"x"}`),
		"committed":  postFunc("/shuffle", `{"commitment_id":"`+commitment.CommitmentID+`","client_seed":"x"}`),
		"sent again": postFunc("/shuffle", `{"commitment_id":"`+ofItems.CommitmentID+`","client_seed":"x","items":[ 1,2 , {"a":[ ]} ]}`),
		"reveal":     postFunc("/audits/"+audit.AuditID+"/reveal", `{"seed":"`+audit.Seed+`"}`),
	}
	first := map[string]response{}
	for name, request := range requests {
		before := s.logSize()
		first[name] = s.send(t, keyed(request(t), keyOf(name)))
		if first[name].status != http.StatusOK || s.logSize() != before+1 {
			t.Fatalf("%s made %d records, want 1: %d %.500s", name, s.logSize()-before, first[name].status, first[name].body)
		}
	}
	if items := strings.Count(first["long"].body, ","); items < 60_000-3 || first["long"].header.Get("Content-Length") != "" {
		t.Errorf("the long answer is not streamed: %d items, header %v", items, first["long"].header)
	}
	size := s.logSize()
	replay := func(who string, s *service) {
		for name, request := range requests {
			assert.Equalf(t, first[name], s.send(t, keyed(request(t), keyOf(name))), "%s, %s", name, who)
		}
		assert.Equalf(t, size, s.logSize(), "%s: retries made %d records", who, s.logSize()-size)
	}
	replay("the same process", s)
	use := mustShuffle(t, s, `{"commitment_id":"`+commitmentID(t, first["commitment"].body)+`","client_seed":"x"}`)
	require.NotEqual(t, "", use.AuditID, "the commitment could not be used")
	size++
	replay("after the commitment was used", s)
	replay("a replica", s.replica(t))
	require.NoError(t, s.log.Close())
	replay("a restarted process", start(t, setup{folder: s.setup.folder}))
}

// keyOf returns an idempotency key for a test case.
func keyOf(name string) string { return "key-of-" + strings.ReplaceAll(name, " ", "-") }

// keyPattern returns the pattern of the contract for idempotency keys.
func keyPattern(t *testing.T) *regexp.Regexp {
	t.Helper()
	schema := loadContract(t).Components.Parameters["IdempotencyKey"].Value.Schema.Value
	assert.EqualValues(t, 512, *schema.MaxLength, "the contract has keys of")
	assert.EqualValues(t, 1, schema.MinLength, "the contract has keys of")
	return regexp.MustCompile(schema.Pattern)
}

// A key may be sent bare or as a string of RFC 8941; both forms are the same key.
func TestQuotedAndBareKeysAreEqual(t *testing.T) {
	s := start(t, setup{})
	pattern := keyPattern(t)
	longest := strings.Repeat("k", 255)
	keys := map[string]string{} // by answer
	for bare, others := range map[string][]string{
		"k":                       {`"k"`, " k", "k\t", ` "k" `},
		"K":                       {`"K"`},
		`a"b`:                     {`"a\"b"`},
		`a\b`:                     {`"a\\b"`},
		`a\"`:                     {`"a\\\""`},
		`!~;p=1,(x)`:              {`"!~;p=1,(x)"`},
		longest:                   {`"` + longest + `"`},
		longest[:254] + `"`:       {`"` + longest[:254] + `\""`},
		`\` + longest[:253] + `"`: {`"\\` + longest[:253] + `\""`},
		"5f1d7a0e-7c0b-4d0a-9a":   {`"5f1d7a0e-7c0b-4d0a-9a"`},
	} {
		first := s.send(t, keyed(post(t, "/shuffle", `{"size":52}`), bare))
		if first.status != http.StatusOK || !pattern.MatchString(bare) {
			t.Errorf("%s: %d %s; matches the contract's pattern: %t", bare, first.status, first.body, pattern.MatchString(bare))
		}
		other, ok := keys[first.body]
		assert.Falsef(t, ok, "%s and %s are the same key", bare, other)
		keys[first.body] = bare
		for _, other := range others {
			got := s.send(t, keyed(post(t, "/shuffle", `{"size":52}`), other))
			assert.Truef(t, got.body == first.body && pattern.MatchString(strings.Trim(other, " \t")),
				"%s is answered %s, and %s %s", bare, first.body, other, got.body)
		}
	}
}

// Malformed keys are rejected, and the contract's pattern rejects the same.
func TestMalformedKeysAreRejected(t *testing.T) {
	s := start(t, setup{})
	pattern := keyPattern(t)
	audit := mustShuffle(t, s, `{"size":3}`)
	requests := []requestFunc{
		postFunc("/shuffle", `{"size":3}`), postFunc("/commitments", `{"size":3}`), getFunc("/decks/standard52"),
		postFunc("/audits/"+audit.AuditID+"/reveal", `{"seed":"`+audit.Seed+`"}`),
	}
	full := strings.Repeat("k", 255)
	lists := [][]string{{"a", "a"}, {"a", "b"}, {`"a"`, "a"}, {"", "a"}}
	for _, key := range []string{
		"", " ", "\t", `""`, `"`, `"a`, `"a\"`, `"a"b"`, `"\a"`, `"a\`, `"a";p=1`, `"a", "b"`, "a b", `"a b"`, "a\tb", "a, b", "a\x00", "a\x7f",
		"a\n", "é", `"é"`, "\xff", full + "k", `"` + full + `k"`, `"` + full + `\""`, ":YQ==: x",
	} {
		lists = append(lists, []string{key})
		assert.Falsef(t, pattern.MatchString(key), "the contract's pattern accepts %q", key)
	}
	for _, request := range requests {
		for _, keys := range lists {
			r := request(t)
			r.Header["Idempotency-Key"] = keys
			if got := s.send(t, r); got.status != http.StatusBadRequest || !strings.Contains(got.body, "Idempotency-Key") {
				t.Errorf("%s %s with the keys %q: %d %s", r.Method, r.URL.Path, keys, got.status, got.body)
			}
		}
	}
	assert.EqualValuesf(t, 1, s.logSize(), "rejected requests made %d records", s.logSize()-1)
}

// A key is bound to the path, the query and the body of the request that used it, to the byte.
func TestKeyOfAnotherRequestIsRejected(t *testing.T) {
	s := start(t, setup{})
	audit := mustShuffle(t, s, `{"size":3}`)
	commitment := mustCommit(t, s, `{"deck":"standard52"}`)
	reveal := "/audits/" + audit.AuditID + "/reveal"
	requests := []requestFunc{
		postFunc("/shuffle", `{"deck":"standard52"}`), postFunc("/shuffle", `{"deck":"standard52" }`), postFunc("/shuffle", `{"deck":"standard54"}`),
		postFunc("/shuffle", `{"commitment_id":"`+commitment.CommitmentID+`","client_seed":"x"}`),
		postFunc("/commitments", `{"deck":"standard52"}`), postFunc("/commitments", `{"size":3}`),
		getFunc("/decks/standard52"), getFunc("/decks/standard52?draw=52"), getFunc("/decks/standard52?details=true"), getFunc("/decks/standard54"),
		postFunc(reveal, `{"seed":"`+audit.Seed+`"}`), postFunc(reveal, ` {"seed":"`+audit.Seed+`"}`),
	}
	for i, one := range requests[:11] {
		first := s.send(t, keyed(one(t), fmt.Sprint("key", i)))
		require.Equalf(t, http.StatusOK, first.status, "%d: %d %s", i, first.status, first.body)
		size := s.logSize()
		for j, other := range requests {
			if got := s.send(t, keyed(other(t), fmt.Sprint("key", i))); i != j && got.status != http.StatusUnprocessableEntity {
				t.Errorf("request %d with the key of %d: %d %s", j, i, got.status, got.body)
			} else if i == j && got.body != first.body {
				t.Errorf("the retry of %d: %s, want %s", i, got.body, first.body)
			}
		}
		assert.Equalf(t, size, s.logSize(), "requests with the key of %d made %d records", i, s.logSize()-size)
	}
}

// A key belongs to the first request that is recorded. Failed requests leave it unused.
func TestFailedRequestsDoNotUseUpTheirKey(t *testing.T) {
	var full atomic.Bool
	s := start(t, setup{faults: &journaltest.Faults{Appending: func() error {
		if full.Load() {
			return ledger.ErrNoSpace
		}
		return nil
	}}})
	hidden := mustShuffle(t, s, `{"size":3,"reference":"a"}`)
	revealed := mustShuffle(t, s, `{"size":3,"reveal":"now"}`)
	send := func(request requestFunc, status int) {
		t.Helper()
		got := s.send(t, keyed(request(t), "key"))
		assert.Equalf(t, status, got.status, "%d, want %d: %s", got.status, status, got.body)
	}
	reveal := func(id, seed string) requestFunc { return postFunc("/audits/"+id+"/reveal", `{"seed":"`+seed+`"}`) }
	send(postFunc("/shuffle", `{"size":`), 400)
	send(postFunc("/shuffle", `{"size":3,"draw":4}`), 422)
	send(postFunc("/shuffle", `{"size":3,"commitment_id":"01890a5d-ac96-774b-bcce-b302099a8057","client_seed":"x"}`), 404)
	send(postFunc("/shuffle", `{"size":3,"reference":"a","unique_reference":true}`), 409)
	send(postFunc("/commitments", `{"size":3,"client_seed":"x"}`), 422)
	send(postFunc("/commitments", `{"size":3,"reference":"a","unique_reference":true}`), 409)
	send(getFunc("/decks/standard52?draw=53"), 422)
	send(reveal(hidden.AuditID, revealed.Seed), 403)
	send(reveal(revealed.AuditID, revealed.Seed), 200) // which makes no record
	full.Store(true)
	send(postFunc("/shuffle", `{"size":3}`), 503)
	send(postFunc("/commitments", `{"size":3}`), 503)
	send(reveal(hidden.AuditID, hidden.Seed), 503)
	full.Store(false)
	send(postFunc("/shuffle", `{"size":4}`), 200)
	send(postFunc("/shuffle", `{"size":3}`), 422)
}

// A request whose reference must be unique conflicts with the first record of the reference, and is
// answered its id.
func TestUniqueReferenceNamesTheFirstAttempt(t *testing.T) {
	s := start(t, setup{})
	first := mustCommit(t, s, `{"size":3,"reference":"a","unique_reference":true}`)
	for _, path := range []string{"/shuffle", "/commitments"} {
		got := s.send(t, post(t, path, `{"size":9,"reference":"a","unique_reference":true}`))
		pointer, id := got.problem(t)
		if got.status != http.StatusConflict || pointer != "/unique_reference" || id != first.CommitmentID || got.header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %s, want a conflict with %s", path, got.status, got.body, first.CommitmentID)
		}
	}
	mustShuffle(t, s, `{"commitment_id":"`+first.CommitmentID+`","client_seed":"x","unique_reference":true}`)
	mustShuffle(t, s, `{"size":3,"reference":"a","unique_reference":false}`)
	mustShuffle(t, s, `{"size":3,"unique_reference":false}`)
}

// A retry of another caller is refused, and tells nothing of what the first one got. A token may be
// replaced, and what was asked for before there were keys belongs to whoever repeats it.
func TestIdempotencyKeysBelongToTheirCallers(t *testing.T) {
	tokens, keys := keysFor("table", "other")
	policy := access.NewPolicy(keys, &access.Grant{May: access.Scopes()})
	s := start(t, setup{})
	shuffled := mustShuffle(t, s, `{"size":3}`)
	shoe := mustCreateShoe(t, s, `{"size":40}`).path()
	requests := map[string]requestFunc{
		"shuffle": postFunc("/shuffle", `{"size":9}`), "deal": getFunc("/decks/standard52?draw=5"),
		"commitment": postFunc("/commitments", `{"size":9}`), "shoe": postFunc("/shoes", `{"size":9}`), "draw": postFunc(shoe+"/draw", `{"count":2}`),
		"reveal": postFunc("/audits/"+shuffled.AuditID+"/reveal", `{"seed":"`+shuffled.Seed+`"}`),
	}
	another := postFunc("/shuffle", `{"size":4}`)
	ask := func(r requestFunc, key, caller string) response {
		t.Helper()
		request := keyed(r(t), key)
		if caller != "" {
			authorized(request, tokens[caller])
		}
		return s.send(t, request)
	}
	for name, request := range requests {
		s.SetPolicy(policy)
		first := ask(request, name, "table")
		require.Equalf(t, http.StatusOK, first.status, "%s: %d %s", name, first.status, first.body)
		for _, caller := range []string{"other", ""} {
			for _, r := range []requestFunc{request, another} {
				before := s.logSize()
				a := ask(r, name, caller)
				_, audit := a.problem(t)
				if a.status != http.StatusConflict || audit != "" || a.header.Get("Retry-After") != "" || !strings.Contains(a.body, "another caller") || s.logSize() != before {
					t.Errorf("%s: the key is answered %q with %d %s, want 409 that names no record", name, caller, a.status, a.body)
				}
			}
		}
		a := ask(another, name, "table")
		assert.Equalf(t, http.StatusUnprocessableEntity, a.status,
			"%s: another request of the same caller is answered %d %s", name, a.status, a.body)
		again, replaced := keysFor("table")
		s.SetPolicy(access.NewPolicy(replaced, nil))
		if a := s.send(t, keyed(authorized(request(t), again["table"]), name)); a.status != http.StatusOK || a.body != first.body {
			t.Errorf("%s: with a new token a retry is answered %d %s, want %s", name, a.status, a.body, first.body)
		}
	}

	s.SetPolicy(nil)
	unnamed := ask(requests["shuffle"], "unnamed", "")
	a := ask(another, "unnamed", "")
	assert.Equalf(t, http.StatusUnprocessableEntity, a.status,
		"another request without keys is answered %d %s", a.status, a.body)
	s.SetPolicy(policy)
	for _, caller := range []string{"", "table", "other"} {
		if a := ask(requests["shuffle"], "unnamed", caller); a.status != http.StatusOK || a.body != unnamed.body {
			t.Errorf("what was asked for without keys is answered %q with %d %s, want %s", caller, a.status, a.body, unnamed.body)
		}
	}
}
