package api_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"riffle/internal/access"
)

// TestAccessLog compares each line with that which log/slog writes for the same values.
func TestAccessLog(t *testing.T) {
	var output bytes.Buffer
	token := access.NewToken()
	s := start(t, setup{output: &output, policy: access.NewPolicy(
		[]access.Key{{Name: "table-1.a", Digest: token.Digest(), Grant: access.Grant{May: access.Scopes()}}}, &access.Grant{May: []access.Scope{access.Read}})})
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
		want []string // what the line says, but for bytes and seconds
	}{
		{identified(authorized(post(t, "/shuffle", `{"size":3}`), token)), []string{
			"level=INFO", "msg=request", "log=main", "method=POST", "route=/shuffle", "status=200", "peer=192.0.2.1", "request_id=" + id, "key=table-1.a", "audit_id", "trace_id=4bf92f3577b34da6a3ce929d0e0e4736",
		}},
		{odd, []string{"level=INFO", "msg=request", "method=other", "route=none", "status=404", "peer=192.0.2.1", "request_id=test"}},
		{v6, []string{"level=INFO", "msg=request", "method=GET", "route=/shoes/{id}", "status=401", "peer=2001:db8::", "request_id=test"}},
	} {
		output.Reset()
		a := s.send(t, v.r)
		lines := slices.Collect(strings.Lines(output.String()))
		line := lines[len(lines)-1]
		var got struct {
			Time                          time.Time
			Log, Method, Route, Peer, Key string
			Status, Bytes                 int
			Seconds                       float64
			RequestID                     string `json:"request_id"`
			AuditID                       string `json:"audit_id"`
			TraceID                       string `json:"trace_id"`
		}
		decoder := json.NewDecoder(strings.NewReader(line))
		if err := decoder.Decode(&got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		attrs := []slog.Attr{
			slog.String("log", got.Log), slog.String("method", got.Method), slog.String("route", got.Route), slog.Int("status", a.status), slog.Int("bytes", len(a.body)),
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
		if err := slog.NewJSONHandler(&reference, nil).Handle(t.Context(), record); err != nil || reference.String() != line {
			t.Errorf("the access log has\n%swhere log/slog has\n%s%v", line, reference.String(), err)
		}
		for _, want := range v.want {
			name, value, _ := strings.Cut(want, "=")
			if text := `"` + name + `":`; !strings.Contains(line, text) || value != "" && !strings.Contains(strings.ReplaceAll(line, `"`, ""), name+":"+value) {
				t.Errorf("the line has no %s: %s", want, line)
			}
		}
	}
}
