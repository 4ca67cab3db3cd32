package api_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/ledger"
	"riffle/internal/services"
)

// What one log has is unknown in another: ids, idempotency keys, references and commitments. It is
// answered as what does not exist anywhere.
func TestLogsShareNothing(t *testing.T) {
	s := start(t, setup{logs: []string{"poker", "bridge"}})
	const at, elsewhere = "/logs/poker", "/logs/bridge"
	type created struct {
		AuditID      string `json:"audit_id"`
		ShoeID       string `json:"shoe_id"`
		CommitmentID string `json:"commitment_id"`
		Seed         string
	}
	shuffled := ask[created](t, s, keyed(post(t, at+"/shuffle", `{"size":5,"reference":"table-7"}`), "k"))
	committed := ask[created](t, s, post(t, at+"/commitments", `{"size":5}`))
	shoe := ask[created](t, s, post(t, at+"/shoes", `{"deck":"standard52"}`))

	const none = "01a201b9-1975-7a0e-ba4d-55320c5c53f8"
	for _, v := range []struct {
		method, path, id, body string
	}{
		{"GET", "/audits/ID", shuffled.AuditID, ""},
		{"GET", "/audits/ID/proof", shuffled.AuditID, ""},
		{"GET", "/audits/ID/verify", shuffled.AuditID, ""},
		{"POST", "/audits/ID/reveal", shuffled.AuditID, `{"seed":"` + shuffled.Seed + `"}`},
		{"GET", "/commitments/ID", committed.CommitmentID, ""},
		{"POST", "/shuffle", committed.CommitmentID, `{"size":5,"commitment_id":"ID"}`},
		{"GET", "/shoes/ID", shoe.ShoeID, ""},
		{"GET", "/shoes/ID/piles", shoe.ShoeID, ""},
		{"POST", "/shoes/ID/draw", shoe.ShoeID, `{}`},
		{"DELETE", "/shoes/ID", shoe.ShoeID, ""},
		{"GET", "/shoes/ID/proof", shoe.ShoeID, ""},
	} {
		send := func(log, id string) response {
			r := post(t, log+strings.ReplaceAll(v.path, "ID", id), strings.ReplaceAll(v.body, "ID", id))
			r.Method = v.method
			if v.body == "" {
				r.Body = http.NoBody
			}
			return s.send(t, r)
		}
		for _, log := range []string{"", elsewhere} {
			got, want := send(log, v.id), send(log, none)
			if got.status != http.StatusNotFound || got.body != want.body {
				t.Errorf("%s %s of another log in %q: %d %s; what does not exist is %d %s", v.method, v.path, log, got.status, got.body, want.status, want.body)
			}
		}
	}

	for _, log := range []string{"", elsewhere} {
		other := ask[created](t, s, keyed(post(t, log+"/shuffle", `{"size":5,"reference":"table-7","unique_reference":true}`), "k"))
		assert.NotEqualf(t, shuffled.AuditID, other.AuditID, "the idempotency key of another log is known in %q", log)
	}
	again := ask[created](t, s, keyed(post(t, at+"/shuffle", `{"size":5,"reference":"table-7"}`), "k"))
	assert.Equal(t, shuffled, again, "the retry of a request in a log is another shuffle")
	text := s.checkMetrics(t, `riffle_log_size{log="main"} 1`, `riffle_log_size{log="poker"} 3`, `riffle_log_size{log="bridge"} 1`,
		`riffle_shoes{log="main"} 0`, `riffle_shoes{log="poker"} 1`, `riffle_shoe_changes_total{kind="shoe",log="poker"} 1`,
		`riffle_commitments{log="poker",status="open"} 1`, `riffle_commitments_total{event="made",log="main"} 0`,
		`riffle_http_request_duration_seconds_count{log="poker",method="POST",route="/commitments",status="200"} 1`,
		`riffle_requests_total{key="",log="poker"} 4`, `riffle_items_shuffled_total{log="poker"} 10`)
	for line := range strings.Lines(text) {
		shared := strings.HasPrefix(line, "riffle_connections") || strings.HasPrefix(line, "riffle_http2_connections") || strings.HasPrefix(line, "riffle_build_info")
		if strings.HasPrefix(line, "riffle_") && strings.Contains(line, "log=") == shared {
			t.Errorf("the label log of %s", line)
		}
	}
}

// TestPathsOfLogs spells the paths of a log in many ways: each leads to that log or to none.
func TestPathsOfLogs(t *testing.T) {
	var requests bytes.Buffer
	s := start(t, setup{logs: []string{"poker", "a.b"}, output: &requests})
	for _, path := range []string{
		"/logs", "/logs/", "/logs/poker", "/logs/none/decks", "/logs/main/decks", "/logs//decks", "/logs/./decks", "/logs/../decks",
		"/logs/poker/../decks", "/logs/poker/logs/a.b/decks", "/logs/poker%2Fdecks", "/logs/p%6Fker/decks", "/logs/POKER/decks", "/logs/poker/metrics",
		"//logs/poker/decks", "/logs/a%2Eb/decks", "/logs/..%2Fpoker/decks",
	} {
		a := s.send(t, get(t, path))
		assert.Equal(t, http.StatusNotFound, a.status, path)
		assert.Equal(t, s.send(t, get(t, "/nothing/at/all")).body, a.body, path)
	}
	for path, want := range map[string]int{
		"/logs/poker/": 200, "/logs/poker/decks": 200, "/logs/a.b/decks?": 200, "/logs/poker/decks?x=1": 400, "/logs/poker/shuffle": 405, "/logs/poker/openapi.yaml": 200,
		"/logs/poker/log/key": 200, "/logs/poker/log/checkpoint": 200, "/logs/poker/log/tile/0/000.p/1": 404, "/logs/poker/cards/standard52/AS.svg": 200,
		"/logs/poker/healthz": 200, "/logs/poker/readyz": 200,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := s.send(t, request(t, method, path))
			assert.Equalf(t, want, a.status, "%s %s: %d %s", method, path, a.status, a.body)
		}
	}
	if a := s.send(t, post(t, "/logs/poker/shuffle", `{"size":5}`)); a.status != http.StatusOK {
		t.Fatal(a.status, a.body)
	}
	if _, err := s.served["poker"].Log.Prove(t.Context(), 0); err != nil { // so that it is published
		t.Fatal(err)
	}
	tile := "/logs/poker/log/tile/0%2F000.p/1" // clients that fill in templates escape the slashes
	a := s.send(t, get(t, tile))
	assert.Equalf(t, http.StatusOK, a.status, "%s: %d %s", tile, a.status, a.body)
	if a := s.send(t, get(t, "/logs/poker/decks/")); a.status != http.StatusPermanentRedirect || a.header.Get("Location") != "../decks" {
		t.Errorf("a slash too many: %d, to %q", a.status, a.header.Get("Location"))
	}
	preflight := request(t, "OPTIONS", "/logs/poker/audits?reference=a")
	preflight.Header.Set("Origin", "https://game.example")
	preflight.Header.Set("Access-Control-Request-Method", "GET")
	a = s.send(t, preflight)
	assert.Equalf(t, "*", a.header.Get("Access-Control-Allow-Origin"), "preflight: %d %v", a.status, a.header)
	if text := requests.String(); !strings.Contains(text, `"log":"poker","method":"GET","route":"/decks","status":200`) || !strings.Contains(text, `"log":"main","method":"GET","route":"none","status":404`) {
		t.Errorf("the access log:\n%s", text)
	}
}

// A log that is closed answers 503 while the others go on. Readiness says which at the admin address,
// and to others only whether one is ready.
func TestClosedLog(t *testing.T) {
	s := start(t, setup{logs: []string{"poker"}})
	ready := func(log string, status int, body string) {
		t.Helper()
		a := s.send(t, get(t, log+"/readyz"))
		if a.status != status || status == 200 && a.body != "{\"status\":\"ready\"}\n" || status != 200 && !strings.Contains(a.body, body) {
			t.Errorf("%s/readyz: %d %s; want %d %s", log, a.status, a.body, status, body)
		}
		admin := httptest.NewRecorder()
		s.AdminHandler().ServeHTTP(admin, get(t, "/readyz"))
		if log == "" && (admin.Code != status || !strings.Contains(admin.Body.String(), body)) {
			t.Errorf("/readyz at the admin address: %d %s; want %d %s", admin.Code, admin.Body, status, body)
		}
	}
	alive := func(log string, status int) {
		t.Helper()
		a := s.send(t, get(t, log+"/healthz"))
		assert.Equalf(t, status, a.status, "%s/healthz: %d %s, want %d", log, a.status, a.body, status)
	}
	ready("", 200, `"logs":[{"name":"main","status":"ready"},{"name":"poker","status":"ready"}]`)

	// A request that is being received keeps its services open.
	body, sender := io.Pipe()
	r := post(t, "/logs/poker/shuffle", "")
	r.Body = body
	answered := make(chan response)
	go func() { answered <- s.send(t, r) }()
	if _, err := io.WriteString(sender, `{"size":`); err != nil { // it has been read, so the request is in the handler
		t.Fatal(err)
	}
	poker := s.LogNamed("poker")
	unused := poker.Close()
	a := s.send(t, post(t, "/logs/poker/shuffle", `{"size":5}`))
	a.problem(t)
	assert.Equalf(t, http.StatusServiceUnavailable, a.status, "%d %s", a.status, a.body)
	assert.Equalf(t, "5", a.header.Get("Retry-After"), "%d %s", a.status, a.body)
	ready("", 200, `{"name":"poker","status":"closed"}`)
	ready("/logs/poker", 503, "not open")
	alive("/logs/poker", 503)
	alive("", 200)
	mustShuffle(t, s, `{"size":5}`)
	select {
	case <-unused:
		t.Error("a log is unused while a request uses it")
	default:
	}
	_, err := io.WriteString(sender, `5}`)
	require.NoError(t, err)
	_ = sender.Close()
	a = <-answered
	assert.Equalf(t, http.StatusOK, a.status, "the request that was in flight: %d %s", a.status, a.body)
	<-unused

	<-s.LogNamed(access.MainLog).Close()
	ready("", 503, "not open")
	alive("", 200)
	s.checkMetrics(t, `riffle_ready{log="poker"} 0`, `riffle_rejected_requests_total{log="poker",reason="log"} 2`, `riffle_http_shed_total{log="poker"} 3`)
	poker.Open(s.served["poker"])
	ready("", 200, `[{"name":"main","status":"closed"},{"name":"poker","status":"ready"}]`)
	a = s.send(t, get(t, "/decks"))
	assert.Equalf(t, http.StatusServiceUnavailable, a.status, "the main log: %d %s", a.status, a.body)
	s.Drain(0)
	ready("", 503, "stopping")
	ready("/logs/poker", 503, "stopping")
}

// Among others, a log that has failed is opened again: who asks it meanwhile may retry.
func TestBrokenLogAmongOthers(t *testing.T) {
	s := start(t, setup{logs: []string{"poker"}, faults: failingAppends(errors.New("the disk does not answer"))})
	for range 2 {
		a := s.send(t, post(t, "/logs/poker/shuffle", `{"size":5}`))
		a.problem(t)
		assert.Truef(t, a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") == "5" && strings.Contains(a.body, "opened again"),
			"%d %s", a.status, a.body)
	}
	s.checkMetrics(t, `riffle_rejected_requests_total{log="poker",reason="log"} 2`, `riffle_ready{log="poker"} 0`, `riffle_ready{log="main"} 1`)
}

// A retired log shows what it has, replays what was answered, and takes nothing new.
func TestRetiredLog(t *testing.T) {
	folder := t.TempDir()
	open := func(readOnly bool) *service {
		s := start(t, setup{logs: []string{"old"}})
		log := openLog(t, setup{}, ledger.Options{Folder: folder, ReadOnly: readOnly})
		s.LogNamed("old").Open(services.New(log, s.Rules, services.Options{Random: rand.Reader}))
		s.log = log
		return s
	}
	s := open(false)
	shuffle := func() *http.Request { return keyed(post(t, "/logs/old/shuffle", `{"size":5}`), "k") }
	first := s.send(t, shuffle())
	shoe := ask[shoeResult](t, s, post(t, "/logs/old/shoes", `{"deck":"standard52"}`))
	committed := ask[commitmentResult](t, s, post(t, "/logs/old/commitments", `{"size":5}`))
	s.waitPublished(t)
	require.NoError(t, s.log.Close())
	s = open(true)
	again := s.send(t, shuffle())
	assert.Truef(t, again.status == http.StatusOK && again.body == first.body, "a retry: %d %s, want %s", again.status, again.body, first.body)
	for _, path := range []string{"/shoes/" + shoe.ShoeID, "/audits/" + shoe.AuditID, "/audits/" + shoe.AuditID + "/proof", "/commitments/" + committed.CommitmentID, "/log/checkpoint", "/readyz"} {
		a := s.send(t, get(t, "/logs/old"+path))
		assert.Equalf(t, http.StatusOK, a.status, "%s: %d %s", path, a.status, a.body)
	}
	size := s.logSize()
	for path, body := range map[string]string{
		"/shuffle": `{"size":5}`, "/commitments": `{"size":5}`, "/shoes": `{"size":5}`,
		"/shoes/" + shoe.ShoeID + "/draw": `{}`, "/shoes/" + shoe.ShoeID + "/close": `{}`,
	} {
		a := s.send(t, post(t, "/logs/old"+path, body))
		a.problem(t)
		assert.Equalf(t, http.StatusForbidden, a.status, "POST %s", path)
		assert.Containsf(t, a.body, "retired", "POST %s", path)
	}
	assert.Equal(t, size, s.logSize(), "the log")
}

// A route beyond the contract answers its own errors, which count in the metrics.
func TestRoutesBeyondTheContract(t *testing.T) {
	answer := func(w http.ResponseWriter, _ *http.Request, _ services.Call) error {
		_, err := io.WriteString(w, "answered")
		return err
	}
	s := start(t, setup{more: []api.More{{
		Scope: access.Deal, Fail: func(w http.ResponseWriter, _ *http.Request, err error) { http.Error(w, err.Error(), http.StatusTeapot) },
		Routes: map[string]func(http.ResponseWriter, *http.Request, services.Call) error{
			"/answer": answer, "/fail": func(http.ResponseWriter, *http.Request, services.Call) error { return ledger.ErrBusy },
		},
	}}})
	assert.Equal(t, "answered", s.send(t, get(t, "/answer")).body)
	assert.Equal(t, http.StatusTeapot, s.send(t, get(t, "/fail")).status)
	s.checkMetrics(t, `riffle_rejected_requests_total{log="main",reason="queue"} 1`)
}
