package api_test

import (
	"encoding/json"
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

// A maker makes the same request each time.
type maker func(testing.TB) *http.Request

func posting(target, body string) maker {
	return func(t testing.TB) *http.Request { return post(t, target, body) }
}

func getting(target string) maker {
	return func(t testing.TB) *http.Request { return get(t, target) }
}

// An exchanged is an answer that has been read.
type exchanged struct {
	status int
	header http.Header
	body   string
}

func (s *service) exchange(t testing.TB, r *http.Request) exchanged {
	t.Helper()
	answer := s.answer(r)
	return exchanged{answer.StatusCode, answer.Header, string(read(t, answer))}
}

// problem returns the pointer of the first error and the audit id of a problem document.
func (e exchanged) problem(t testing.TB) (pointer, audit string) {
	t.Helper()
	var p struct {
		AuditID string `json:"audit_id"`
		Errors  []struct{ Pointer string }
	}
	if err := json.Unmarshal([]byte(e.body), &p); err != nil || e.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("no problem: %s (%v)", e.body, err)
	}
	if len(p.Errors) > 0 {
		pointer = p.Errors[0].Pointer
	}
	return pointer, p.AuditID
}

// size is how many records there are.
func (s *service) size() uint64 {
	committed, _ := s.log.Sizes()
	return committed
}

// What was answered once is answered again to the byte: by the process that has answered it, by
// another on the same log, and by one that was started afterwards.
func TestRetriesAreAnsweredTheSame(t *testing.T) {
	s := start(t, setup{})
	audit := shuffleOnce(t, s, `{"deck":"standard52"}`)
	commitment := commitOnce(t, s, `{"size":20,"draw":7,"repeat":2}`)
	ofItems := commitOnce(t, s, `{"items":[1,2,{"a":[]}],"hands":[1,1]}`)
	makers := map[string]maker{
		"deck":       posting("/shuffle", `{"deck":"standard52"}`),
		"hands":      posting("/shuffle", `{"deck":"undercover","parameters":{"players":9},"decks":2,"hands":[2,3],"draw":7}`),
		"repeat":     posting("/shuffle", `{"deck":"piquet32","hands":"skat","repeat":3,"algorithm":"inside-out"}`),
		"once":       posting("/shuffle", `{"size":9,"repeat":1,"client_seed":"Nora","reveal":"now"}`),
		"few":        posting("/shuffle", `{"size":9007199254740991,"draw":3}`),
		"none":       posting("/shuffle", `{"items":[]}`),
		"items":      posting("/shuffle", "\n{ \"items\" : [ 1e400 ,\t-0,{\"b\" :  [ null]} ,\"\\u00e9\\/\", 18446744073709551616 ], \"reference\":\"\\u00e9\" }\r\n"),
		"long":       posting("/shuffle", `{"size":20000,"hands":[1,19000],"repeat":3}`),
		"long items": posting("/shuffle", `{"items":["`+strings.Repeat("a", 70_000)+`", "`+strings.Repeat("b", 70_000)+`",0]}`),
		"query":      getting("/decks/mahjong136?decks=2&hands=mahjong&details=true&client_seed=%C3%A9"),
		"no query":   getting("/decks/werewolf12"),
		"commitment": posting("/commitments", `{"deck":"euchre24","hands":"euchre","reference":"x"}`),
		"committed":  posting("/shuffle", `{"commitment_id":"`+commitment.CommitmentID+`","client_seed":"x"}`),
		"sent again": posting("/shuffle", `{"commitment_id":"`+ofItems.CommitmentID+`","client_seed":"x","items":[ 1,2 , {"a":[ ]} ]}`),
		"reveal":     posting("/audits/"+audit.AuditID+"/reveal", `{"seed":"`+audit.Seed+`"}`),
	}
	first := map[string]exchanged{}
	for name, request := range makers {
		before := s.size()
		first[name] = s.exchange(t, keyed(request(t), keyOf(name)))
		if first[name].status != http.StatusOK || s.size() != before+1 {
			t.Fatalf("%s: %d records more, %d %.500s", name, s.size()-before, first[name].status, first[name].body)
		}
	}
	if parts := strings.Count(first["long"].body, ","); parts < 60_000-3 || first["long"].header.Get("Content-Length") != "" {
		t.Errorf("the long answer has %d items and the header %v", parts, first["long"].header)
	}
	size := s.size()
	again := func(who string, s *service) {
		for name, request := range makers {
			if got := s.exchange(t, keyed(request(t), keyOf(name))); !reflect.DeepEqual(got, first[name]) {
				t.Errorf("%s, %s: answered %.500v, and first %.500v", name, who, got, first[name])
			}
		}
		if s.size() != size {
			t.Errorf("%s: %d records more", who, s.size()-size)
		}
	}
	again("the same process", s)
	use := shuffleOnce(t, s, `{"commitment_id":"`+commitmentIn(t, first["commitment"].body)+`","client_seed":"x"}`)
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

func commitmentIn(t testing.TB, body string) string {
	t.Helper()
	var made committed
	if err := json.Unmarshal([]byte(body), &made); err != nil || made.CommitmentID == "" {
		t.Fatalf("%v: %s", err, body)
	}
	return made.CommitmentID
}

// keyPattern is what the contract says of the form of a key.
func keyPattern(t *testing.T) *regexp.Regexp {
	t.Helper()
	schema := theContract(t).Components.Parameters["IdempotencyKey"].Value.Schema.Value
	if *schema.MaxLength != 512 || schema.MinLength != 1 {
		t.Errorf("a key has from %d to %d characters", schema.MinLength, *schema.MaxLength)
	}
	return regexp.MustCompile(schema.Pattern)
}

func TestBothFormsOfAKeyAreOneKey(t *testing.T) {
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
		first := s.exchange(t, keyed(post(t, "/shuffle", `{"size":52}`), bare))
		if first.status != http.StatusOK || !pattern.MatchString(bare) {
			t.Errorf("%s: %d %s; to the contract it is a key: %t", bare, first.status, first.body, pattern.MatchString(bare))
		}
		if other, taken := answers[first.body]; taken {
			t.Errorf("%s and %s are the same key", bare, other)
		}
		answers[first.body] = bare
		for _, form := range forms {
			got := s.exchange(t, keyed(post(t, "/shuffle", `{"size":52}`), form))
			if got.body != first.body || !pattern.MatchString(strings.Trim(form, " \t")) {
				t.Errorf("%s and %s: %s and %s", bare, form, first.body, got.body)
			}
		}
	}
}

func TestMalformedKeysAreRefused(t *testing.T) {
	s := start(t, setup{})
	pattern := keyPattern(t)
	audit := shuffleOnce(t, s, `{"size":3}`)
	makers := []maker{
		posting("/shuffle", `{"size":3}`), posting("/commitments", `{"size":3}`), getting("/decks/standard52"),
		posting("/audits/"+audit.AuditID+"/reveal", `{"seed":"`+audit.Seed+`"}`),
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
	for _, request := range makers {
		for _, keys := range lists {
			r := request(t)
			r.Header["Idempotency-Key"] = keys
			if got := s.exchange(t, r); got.status != http.StatusBadRequest || !strings.Contains(got.body, "Idempotency-Key") {
				t.Errorf("%s %s with the keys %q: %d %s", r.Method, r.URL.Path, keys, got.status, got.body)
			}
		}
	}
	if s.size() != 1 {
		t.Errorf("refused requests made %d records", s.size()-1)
	}
}

func TestKeyBelongsToOneRequest(t *testing.T) {
	s := start(t, setup{})
	audit := shuffleOnce(t, s, `{"size":3}`)
	commitment := commitOnce(t, s, `{"deck":"standard52"}`)
	reveal := "/audits/" + audit.AuditID + "/reveal"
	makers := []maker{
		posting("/shuffle", `{"deck":"standard52"}`), posting("/shuffle", `{"deck":"standard52" }`), posting("/shuffle", `{"deck":"standard54"}`),
		posting("/shuffle", `{"commitment_id":"`+commitment.CommitmentID+`","client_seed":"x"}`),
		posting("/commitments", `{"deck":"standard52"}`), posting("/commitments", `{"size":3}`),
		getting("/decks/standard52"), getting("/decks/standard52?draw=52"), getting("/decks/standard52?details=true"), getting("/decks/standard54"),
		posting(reveal, `{"seed":"`+audit.Seed+`"}`), posting(reveal, ` {"seed":"`+audit.Seed+`"}`),
	}
	for i, one := range makers[:11] {
		first := s.exchange(t, keyed(one(t), fmt.Sprint("key", i)))
		if first.status != http.StatusOK {
			t.Fatalf("%d: %d %s", i, first.status, first.body)
		}
		size := s.size()
		for j, other := range makers {
			if got := s.exchange(t, keyed(other(t), fmt.Sprint("key", i))); i != j && got.status != http.StatusUnprocessableEntity {
				t.Errorf("%d with the key of %d: %d %s", j, i, got.status, got.body)
			} else if i == j && got.body != first.body {
				t.Errorf("%d again: %s, and first %s", i, got.body, first.body)
			}
		}
		if s.size() != size {
			t.Errorf("with the key of %d others made %d records", i, s.size()-size)
		}
	}
}

// A request that is being answered cannot be overtaken by its retry.
func TestRetryOfWhatIsStillAnswered(t *testing.T) {
	for path, body := range map[string]string{"/shuffle": `{"size":52}`, "/commitments": `{"size":52}`} {
		committing, held := make(chan struct{}, 8), make(chan struct{})
		release := sync.OnceFunc(func() { close(held) })
		s := start(t, setup{store: func(s ledger.Store) ledger.Store {
			return &faultyStore{Store: s, appending: func() error { committing <- struct{}{}; <-held; return nil }}
		}})
		t.Cleanup(release)
		first := make(chan exchanged, 1)
		go func() { first <- s.exchange(t, keyed(post(t, path, body), "a")) }()
		<-committing
		for _, request := range []maker{posting(path, body), posting(path, `{"size":53}`), getting("/decks/standard52")} {
			second := make(chan exchanged, 1)
			go func() { second <- s.exchange(t, keyed(request(t), "a")) }()
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
		if got := s.exchange(t, keyed(post(t, path, body), `"a"`)); got.body != want.body || s.size() != 1 {
			t.Errorf("%s: %s, and afterwards %s, of %d records", path, want.body, got.body, s.size())
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
			mine, theirs := make(chan exchanged), make(chan exchanged)
			go func() { mine <- s.exchange(t, keyed(post(t, path, body), key)) }()
			go func() { theirs <- other.exchange(t, keyed(post(t, path, body), key)) }()
			if a, b := <-mine, <-theirs; a.status != http.StatusOK || a.body != b.body || s.size() != uint64(round+1) {
				t.Fatalf("%s: %d %s and %d %s, of %d records", path, a.status, a.body, b.status, b.body, s.size())
			}
		}
	}
}

func TestFailedRequestLeavesItsKeyFree(t *testing.T) {
	var full atomic.Bool
	s := start(t, setup{store: func(s ledger.Store) ledger.Store {
		return &faultyStore{Store: s, appending: func() error {
			if full.Load() {
				return ledger.ErrNoSpace
			}
			return nil
		}}
	}})
	audit := shuffleOnce(t, s, `{"size":3,"reference":"a"}`)
	revealed := shuffleOnce(t, s, `{"size":3,"reveal":"now"}`)
	sent := func(request maker, status int) {
		t.Helper()
		if got := s.exchange(t, keyed(request(t), "key")); got.status != status {
			t.Errorf("%d, want %d: %s", got.status, status, got.body)
		}
	}
	reveal := func(of shuffled, seed string) maker {
		return posting("/audits/"+of.AuditID+"/reveal", `{"seed":"`+seed+`"}`)
	}
	sent(posting("/shuffle", `{"size":`), 400)
	sent(posting("/shuffle", `{"size":3,"draw":4}`), 422)
	sent(posting("/shuffle", `{"size":3,"commitment_id":"01890a5d-ac96-774b-bcce-b302099a8057","client_seed":"x"}`), 404)
	sent(posting("/shuffle", `{"size":3,"reference":"a","unique_reference":true}`), 409)
	sent(posting("/commitments", `{"size":3,"client_seed":"x"}`), 422)
	sent(posting("/commitments", `{"deck":"standard53"}`), 422)
	sent(posting("/commitments", `{"size":3,"reference":"a","unique_reference":true}`), 409)
	sent(getting("/decks/standard52?draw=53"), 422)
	sent(reveal(audit, revealed.Seed), 403)
	sent(reveal(revealed, revealed.Seed), 200) // which has no record of its own
	full.Store(true)
	sent(posting("/shuffle", `{"size":3}`), 503)
	sent(posting("/commitments", `{"size":3}`), 503)
	sent(reveal(audit, audit.Seed), 503)
	full.Store(false)
	sent(posting("/shuffle", `{"size":4}`), 200)
	sent(posting("/shuffle", `{"size":3}`), 422)
}

func TestUniqueReference(t *testing.T) {
	s := start(t, setup{})
	once := func(path, body string) exchanged { return s.exchange(t, post(t, path, body)) }
	commitment := commitOnce(t, s, `{"size":3,"reference":"a","unique_reference":true}`)
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
	late := commitOnce(t, s, `{"size":3,"reference":"a"}`)
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
