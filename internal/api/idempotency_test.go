package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
