package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
	"riffle/internal/journal/journaltest"
)

// TestAccessLog compares each line with that which log/slog writes for the same values.
func TestAccessLog(t *testing.T) {
	var output bytes.Buffer
	token := access.NewToken()
	s := start(t, setup{output: &output, policy: access.NewPolicy(
		[]access.APIKey{{Name: "table-1.a", Digest: token.Digest(), Grant: access.Grant{May: access.Scopes()}}}, &access.Grant{May: []access.Scope{access.Read}})})
	const id = "a/Z-9_.:+="
	identified := func(r *http.Request) *http.Request {
		r.Header.Set("X-Request-Id", id)
		r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")
		return r
	}
	odd := request(t, "BREW", `/pot?"=\`)
	v6 := get(t, "/shoes/x")
	v6.RemoteAddr = "[2001:db8::1]:4711"
	for _, v := range []struct {
		r    *http.Request
		want []string // the members of the line, except bytes and seconds
	}{
		{identified(authorized(post(t, "/shuffle", `{"size":3}`), token)), []string{
			"level=INFO", "msg=request", "method=POST", "route=/shuffle", "status=200", "peer=192.0.2.1", "request_id=" + id, "key=table-1.a", "audit_id", "trace_id=4bf92f3577b34da6a3ce929d0e0e4736",
		}},
		{odd, []string{"level=INFO", "msg=request", "method=other", "route=none", "status=404", "peer=192.0.2.1", "request_id=test"}},
		{v6, []string{"level=INFO", "msg=request", "method=GET", "route=/shoes/{id}", "status=401", "peer=2001:db8::", "request_id=test"}},
	} {
		output.Reset()
		a := s.send(t, v.r)
		lines := slices.Collect(strings.Lines(output.String()))
		line := lines[len(lines)-1]
		var got struct {
			Time                     time.Time
			Method, Route, Peer, Key string
			Status, Bytes            int
			Seconds                  float64
			RequestID                string `json:"request_id"`
			AuditID                  string `json:"audit_id"`
			TraceID                  string `json:"trace_id"`
		}
		decoder := json.NewDecoder(strings.NewReader(line))
		err := decoder.Decode(&got)
		require.NoErrorf(t, err, "%v: %s", err, line)
		attrs := []slog.Attr{
			slog.String("method", got.Method), slog.String("route", got.Route), slog.Int("status", a.status), slog.Int("bytes", len(a.body)),
			slog.Float64("seconds", got.Seconds), slog.String("peer", got.Peer), slog.String("request_id", got.RequestID),
		}
		for _, more := range [][2]string{{"key", got.Key}, {"audit_id", got.AuditID}, {"trace_id", got.TraceID}} {
			if more[1] != "" {
				attrs = append(attrs, slog.String(more[0], more[1]))
			}
		}
		var reference bytes.Buffer
		record := slog.NewRecord(got.Time, slog.LevelInfo, "request", 0)
		record.AddAttrs(attrs...)
		require.NoError(t, slog.NewJSONHandler(&reference, nil).Handle(t.Context(), record), "the access log")
		assert.Equal(t, line, reference.String(), "the access log")
		for _, want := range v.want {
			name, value, _ := strings.Cut(want, "=")
			if text := `"` + name + `":`; !strings.Contains(line, text) || value != "" && !strings.Contains(strings.ReplaceAll(line, `"`, ""), name+":"+value) {
				t.Errorf("the line has no %s: %s", want, line)
			}
		}
	}
}

// A loggedRequest is a line of the access log.
type loggedRequest struct {
	Route   string
	Status  int
	AuditID string `json:"audit_id"`
	Records *int   // nil for one
}

// lastLogged returns the last line of an access log.
func lastLogged(t *testing.T, log string) (line loggedRequest) {
	t.Helper()
	lines := slices.Collect(strings.Lines(log))
	err := json.Unmarshal([]byte(lines[len(lines)-1]), &line)
	require.NoErrorf(t, err, "%v: %s", err, log)
	return line
}

// TestRecordsAreLogged sends every kind of request that writes, twice with one idempotency key. The
// line of each has the record that was committed, and a retry commits none.
func TestRecordsAreLogged(t *testing.T) {
	var output bytes.Buffer
	s := start(t, setup{output: &output})
	shuffled := mustShuffle(t, s, `{"size":5}`)
	at := s.mustShoe(t, post(t, "/shoes", `{"deck":"standard52"}`)).path()
	for i, v := range []struct{ method, target, body string }{
		{"POST", "/shuffle", `{"size":5}`},
		{"GET", "/decks/standard52", ""},
		{"POST", "/commitments", `{"size":5}`},
		{"POST", "/audits/" + shuffled.AuditID + "/reveal", `{"seed":"` + shuffled.Seed + `"}`},
		{"POST", "/shoes", `{"deck":"standard52"}`},
		{"POST", at + "/draw", `{"to":"alice"}`},
		{"POST", at + "/piles/alice/return", `{"cards":"all"}`},
		{"POST", at + "/reshuffle", `{}`},
		{"DELETE", at, ""},
		{"POST", at + "/close", `{}`},
	} {
		var first loggedRequest
		for attempt := range 2 {
			r := keyed(post(t, v.target, v.body), fmt.Sprint("key-", i))
			r.Method = v.method
			before := s.logSize()
			a := s.send(t, r)
			require.Truef(t, a.status == http.StatusOK || a.status == http.StatusCreated, "%s %s: %d %s", v.method, v.target, a.status, a.body)
			line, wrote := lastLogged(t, output.String()), s.logSize()-before
			switch {
			case attempt == 0 && (wrote != 1 || line.AuditID == "" || line.Records != nil):
				t.Errorf("%s %s writes %d records and is logged as %+v", v.method, v.target, wrote, line)
			case attempt == 1 && (wrote != 0 || line.AuditID != first.AuditID || line.Records == nil || *line.Records != 0):
				t.Errorf("a retry of %s %s writes %d records and is logged as %+v after %+v", v.method, v.target, wrote, line, first)
			}
			first = line
		}
	}
}

// TestCallerLeavesDuringCommit has callers leave while their records wait for a commit. The records
// are committed, charged and logged all the same.
func TestCallerLeavesDuringCommit(t *testing.T) {
	var output journaltest.Buffer
	token := access.NewToken()
	committing, left := make(chan struct{}), make(chan struct{})
	s := start(t, setup{
		output: &output,
		policy: access.NewPolicy([]access.APIKey{{Name: "k", Digest: token.Digest(), Grant: access.Grant{May: access.Scopes(), Rates: access.Rates{Records: 0.001}}}}, &access.Grant{May: []access.Scope{access.Metrics}}),
		faults: &journaltest.Faults{Appending: func() error { close(committing); <-left; return nil }},
	})
	answered := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		go func() { <-r.Context().Done(); close(left) }()
		defer close(answered)
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/shuffle", strings.NewReader(`{"size":5}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	go func() { <-committing; cancel() }()
	if answer, err := server.Client().Do(authorized(r, token)); err == nil {
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		t.Errorf("a caller who left is answered %d", answer.StatusCode)
	}
	<-answered
	line := lastLogged(t, output.String())
	assert.Truef(t, line.Status == 499 && line.AuditID != "" && s.logSize() == 1, "the log has %d records, and the request is logged as %+v", s.logSize(), line)
	assert.Equal(t, http.StatusTooManyRequests, s.send(t, authorized(post(t, "/shuffle", `{"size":5}`), token)).status,
		"the next record of the caller")
	s.checkMetrics(t, `riffle_http_request_duration_seconds_count{method="POST",route="/shuffle",status="499"} 1`)
}
