package api_test

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"riffle/internal/ledger"
)

// What was answered once is answered again to the byte: by the process that has answered it, by
// another on the same log, and by one that was started afterwards.
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
			t.Fatalf("%s: %d records more, %d %.500s", name, s.logSize()-before, first[name].status, first[name].body)
		}
	}
	if parts := strings.Count(first["long"].body, ","); parts < 60_000-3 || first["long"].header.Get("Content-Length") != "" {
		t.Errorf("the long answer has %d items and the header %v", parts, first["long"].header)
	}
	size := s.logSize()
	again := func(who string, s *service) {
		for name, request := range requests {
			if got := s.send(t, keyed(request(t), keyOf(name))); !reflect.DeepEqual(got, first[name]) {
				t.Errorf("%s, %s: answered %.500v, and first %.500v", name, who, got, first[name])
			}
		}
		if s.logSize() != size {
			t.Errorf("%s: %d records more", who, s.logSize()-size)
		}
	}
	again("the same process", s)
	use := mustShuffle(t, s, `{"commitment_id":"`+commitmentID(t, first["commitment"].body)+`","client_seed":"x"}`)
	if use.AuditID == "" {
		t.Fatal("the commitment could not be used")
	}
	size++
	again("after the commitment was used", s)
	again("another process", s.replica(t))
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	again("a new process", start(t, setup{folder: s.setup.folder}))
}

// keyOf returns a key for what has the name.
func keyOf(name string) string { return "key-of-" + strings.ReplaceAll(name, " ", "-") }

// keyPattern is what the contract says of the form of a key.
func keyPattern(t *testing.T) *regexp.Regexp {
	t.Helper()
	schema := loadContract(t).Components.Parameters["IdempotencyKey"].Value.Schema.Value
	if *schema.MaxLength != 512 || schema.MinLength != 1 {
		t.Errorf("a key has from %d to %d characters", schema.MinLength, *schema.MaxLength)
	}
	return regexp.MustCompile(schema.Pattern)
}

func TestQuotedAndBareKeysAreEqual(t *testing.T) {
	s := start(t, setup{})
	pattern := keyPattern(t)
	full := strings.Repeat("k", 255)
	answers := map[string]string{}
	for bare, forms := range map[string][]string{
		"k":                     {`"k"`, " k", "k\t", ` "k" `},
		"K":                     {`"K"`},
		`a"b`:                   {`"a\"b"`},
		`a\b`:                   {`"a\\b"`},
		`a\"`:                   {`"a\\\""`},
		`!~;p=1,(x)`:            {`"!~;p=1,(x)"`},
		full:                    {`"` + full + `"`},
		full[:254] + `"`:        {`"` + full[:254] + `\""`},
		`\` + full[:253] + `"`:  {`"\\` + full[:253] + `\""`},
		"5f1d7a0e-7c0b-4d0a-9a": {`"5f1d7a0e-7c0b-4d0a-9a"`},
	} {
		first := s.send(t, keyed(post(t, "/shuffle", `{"size":52}`), bare))
		if first.status != http.StatusOK || !pattern.MatchString(bare) {
			t.Errorf("%s: %d %s; to the contract it is a key: %t", bare, first.status, first.body, pattern.MatchString(bare))
		}
		if other, taken := answers[first.body]; taken {
			t.Errorf("%s and %s are the same key", bare, other)
		}
		answers[first.body] = bare
		for _, form := range forms {
			got := s.send(t, keyed(post(t, "/shuffle", `{"size":52}`), form))
			if got.body != first.body || !pattern.MatchString(strings.Trim(form, " \t")) {
				t.Errorf("%s and %s: %s and %s", bare, form, first.body, got.body)
			}
		}
	}
}

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
		if pattern.MatchString(key) {
			t.Errorf("to the contract %q is a key", key)
		}
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
	if s.logSize() != 1 {
		t.Errorf("refused requests made %d records", s.logSize()-1)
	}
}

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
		if first.status != http.StatusOK {
			t.Fatalf("%d: %d %s", i, first.status, first.body)
		}
		size := s.logSize()
		for j, other := range requests {
			if got := s.send(t, keyed(other(t), fmt.Sprint("key", i))); i != j && got.status != http.StatusUnprocessableEntity {
				t.Errorf("%d with the key of %d: %d %s", j, i, got.status, got.body)
			} else if i == j && got.body != first.body {
				t.Errorf("%d again: %s, and first %s", i, got.body, first.body)
			}
		}
		if s.logSize() != size {
			t.Errorf("with the key of %d others made %d records", i, s.logSize()-size)
		}
	}
}

// A request that is being answered cannot be overtaken by its retry.
func TestRetryOfWhatIsStillAnswered(t *testing.T) {
	for path, body := range map[string]string{"/shuffle": `{"size":52}`, "/commitments": `{"size":52}`} {
		committing, held := make(chan struct{}, 8), make(chan struct{})
		release := sync.OnceFunc(func() { close(held) })
		s := start(t, setup{store: func(s ledger.Store) ledger.Store {
			return &faultyStore{Store: s, beforeAppend: func() error { committing <- struct{}{}; <-held; return nil }}
		}})
		t.Cleanup(release)
		first := make(chan response, 1)
		go func() { first <- s.send(t, keyed(post(t, path, body), "a")) }()
		<-committing
		for _, request := range []requestFunc{postFunc(path, body), postFunc(path, `{"size":53}`), getFunc("/decks/standard52")} {
			second := make(chan response, 1)
			go func() { second <- s.send(t, keyed(request(t), "a")) }()
			for answered := false; !answered; {
				select {
				case got := <-second:
					if answered = true; got.status != http.StatusConflict {
						t.Errorf("%s: meanwhile %d %s", path, got.status, got.body)
					}
				default:
					if waiting, _ := s.log.Queued(); waiting > 0 {
						t.Fatalf("%s: a retry waits for a commit of its own", path)
					}
					runtime.Gosched()
				}
			}
		}
		release()
		want := <-first
		if want.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, want.status, want.body)
		}
		if got := s.send(t, keyed(post(t, path, body), `"a"`)); got.body != want.body || s.logSize() != 1 {
			t.Errorf("%s: %s, and afterwards %s, of %d records", path, want.body, got.body, s.logSize())
		}
	}
}

// Two processes may be at work on one request. Both give the same answer.
func TestRetryThroughAnotherProcessMeanwhile(t *testing.T) {
	for path, body := range map[string]string{"/shuffle": `{"size":52}`, "/commitments": `{"size":52}`} {
		s := start(t, setup{})
		other := s.replica(t)
		for round := range 10 {
			key := fmt.Sprint("key", round)
			mine, theirs := make(chan response), make(chan response)
			go func() { mine <- s.send(t, keyed(post(t, path, body), key)) }()
			go func() { theirs <- other.send(t, keyed(post(t, path, body), key)) }()
			if a, b := <-mine, <-theirs; a.status != http.StatusOK || a.body != b.body || s.logSize() != uint64(round+1) {
				t.Fatalf("%s: %d %s and %d %s, of %d records", path, a.status, a.body, b.status, b.body, s.logSize())
			}
		}
	}
}

func TestFailedRequestsDoNotUseUpTheirKey(t *testing.T) {
	var full atomic.Bool
	s := start(t, setup{store: func(s ledger.Store) ledger.Store {
		return &faultyStore{Store: s, beforeAppend: func() error {
			if full.Load() {
				return ledger.ErrNoSpace
			}
			return nil
		}}
	}})
	audit := mustShuffle(t, s, `{"size":3,"reference":"a"}`)
	revealed := mustShuffle(t, s, `{"size":3,"reveal":"now"}`)
	sent := func(request requestFunc, status int) {
		t.Helper()
		if got := s.send(t, keyed(request(t), "key")); got.status != status {
			t.Errorf("%d, want %d: %s", got.status, status, got.body)
		}
	}
	reveal := func(of shuffleResult, seed string) requestFunc {
		return postFunc("/audits/"+of.AuditID+"/reveal", `{"seed":"`+seed+`"}`)
	}
	sent(postFunc("/shuffle", `{"size":`), 400)
	sent(postFunc("/shuffle", `{"size":3,"draw":4}`), 422)
	sent(postFunc("/shuffle", `{"size":3,"commitment_id":"01890a5d-ac96-774b-bcce-b302099a8057","client_seed":"x"}`), 404)
	sent(postFunc("/shuffle", `{"size":3,"reference":"a","unique_reference":true}`), 409)
	sent(postFunc("/commitments", `{"size":3,"client_seed":"x"}`), 422)
	sent(postFunc("/commitments", `{"deck":"standard53"}`), 422)
	sent(postFunc("/commitments", `{"size":3,"reference":"a","unique_reference":true}`), 409)
	sent(getFunc("/decks/standard52?draw=53"), 422)
	sent(reveal(audit, revealed.Seed), 403)
	sent(reveal(revealed, revealed.Seed), 200) // which has no record of its own
	full.Store(true)
	sent(postFunc("/shuffle", `{"size":3}`), 503)
	sent(postFunc("/commitments", `{"size":3}`), 503)
	sent(reveal(audit, audit.Seed), 503)
	full.Store(false)
	sent(postFunc("/shuffle", `{"size":4}`), 200)
	sent(postFunc("/shuffle", `{"size":3}`), 422)
}

func TestUniqueReference(t *testing.T) {
	s := start(t, setup{})
	once := func(path, body string) response { return s.send(t, post(t, path, body)) }
	commitment := mustCommit(t, s, `{"size":3,"reference":"a","unique_reference":true}`)
	for path, body := range map[string]string{
		"/shuffle":     `{"size":3,"reference":"a","unique_reference":true}`,
		"/commitments": `{"size":9,"unique_reference":true,"reference":"a"}`,
	} {
		got := once(path, body)
		if pointer, id := got.problem(t); got.status != http.StatusConflict || pointer != "/unique_reference" || id != commitment.CommitmentID {
			t.Errorf("%s beside a commitment: %d %s", path, got.status, got.body)
		}
		if got := once(path, `{"size":3,"unique_reference":true}`); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s without a reference: %d %s", path, got.status, got.body)
		}
	}
	use := once("/shuffle", `{"commitment_id":"`+commitment.CommitmentID+`","client_seed":"x","unique_reference":true}`)
	if use.status != http.StatusOK {
		t.Errorf("with its own commitment: %d %s", use.status, use.body)
	}
	if free := once("/shuffle", `{"size":3,"reference":"a"}`); free.status != http.StatusOK {
		t.Errorf("a second attempt that does not claim to be the only one: %d %s", free.status, free.body)
	}
	late := mustCommit(t, s, `{"size":3,"reference":"a"}`)
	got := once("/shuffle", `{"commitment_id":"`+late.CommitmentID+`","client_seed":"x","unique_reference":true}`)
	if _, id := got.problem(t); got.status != http.StatusConflict || id != commitment.CommitmentID {
		t.Errorf("with a second commitment: %d %s", got.status, got.body)
	}
	if got := once("/shuffle", `{"size":3,"reference":"b","unique_reference":true}`); got.status != http.StatusOK {
		t.Errorf("the first of another reference: %d %s", got.status, got.body)
	}
	if got := once("/shuffle", `{"size":3,"unique_reference":false}`); got.status != http.StatusOK {
		t.Errorf("one that need not be the only one: %d %s", got.status, got.body)
	}
}
