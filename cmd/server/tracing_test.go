package main_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"riffle/internal/access"
)

// traced returns the variables of a service that exports to a collector and samples if its callers do.
func traced(collector string, more ...string) []string {
	return append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector, "OTEL_TRACES_SAMPLER=parentbased_always_off"}, more...)
}

// traceContext returns a W3C trace context with the flags, and the id of its trace.
func traceContext(number int, flags string) (id, header string) {
	id = fmt.Sprintf("%032x", number)
	return id, "00-" + id + "-00f067aa0ba902b7-" + flags
}

// ofTrace returns the spans of a trace by their names. A name that occurs twice fails the test.
func ofTrace(t *testing.T, c *collector, id string) map[string]*tracepb.Span {
	t.Helper()
	byName := map[string]*tracepb.Span{}
	for _, s := range c.spans() {
		if hex.EncodeToString(s.GetTraceId()) == id {
			assert.Nilf(t, byName[s.GetName()], "the trace %s has two spans %q", id, s.GetName())
			byName[s.GetName()] = s
		}
	}
	return byName
}

// TestSpans follows requests with a key and a trace context from the caller's span to the commit. The
// access log has their trace ids, sampled or not.
func TestSpans(t *testing.T) {
	t.Parallel()
	collector, token := newCollector(t), access.NewToken()
	l, _ := configured(t, fmt.Sprintf("keys:\n  - {name: table, sha256: %x, may: [shuffle, read, deal]}\n", token.Digest()))
	l.env = traced(collector.URL)
	s := l.start(t)
	traced := func(trace string, more ...string) []string { return with(token, append(more, "Traceparent", trace)...) }

	const idempotencyKey, requestID = "secret-key-Zq4m", "round-17"
	shuffle, sampled := traceContext(1, "01")
	made := s.post("/shuffle", `{"deck":"standard52"}`, traced(sampled, "Idempotency-Key", idempotencyKey, "X-Request-Id", requestID)...)
	id := textMember(t, made, "audit_id")
	read, sampled := traceContext(2, "01")
	s.get("/audits/"+id, traced(sampled)...)
	shoe, sampled := traceContext(3, "01")
	shoeID := textMember(t, s.post("/shoes", `{"deck":"standard52"}`, with(token)...), "shoe_id")
	s.get("/shoes/"+shoeID+"?token=x", traced(sampled)...)
	unsampled, header := traceContext(4, "00")
	s.get("/decks", traced(header)...)
	malformed, header := traceContext(5, "1")
	s.get("/decks", traced(header)...)
	refused, sampled := traceContext(6, "01")
	s.get("/decks?token="+string(token), "Traceparent", sampled)
	s.stop() // exports what waits

	byName := ofTrace(t, collector, shuffle)
	request, wait, write, look := byName["POST /shuffle"], byName["wait for commit"], byName["store.Append"], byName["store.ByClaim"]
	require.Truef(t, len(byName) == 4 && request != nil && wait != nil && write != nil && look != nil, "a shuffle has the spans %v", byName)
	if hex.EncodeToString(request.GetParentSpanId()) != "00f067aa0ba902b7" || !within(wait, request) || !within(write, wait) || !within(look, request) {
		t.Errorf("the spans are not within each other: %v", byName)
	}
	want := map[string]string{
		"http.request.method": "POST", "http.route": "/shuffle", "http.response.status_code": "int_value:200", "client.address": "127.0.0.1",
		"riffle.request_id": requestID, "riffle.key": "table", "riffle.audit_id": id,
	}
	assert.Equal(t, want, attributes(request), "the request is described as")
	assert.Equal(t, tracepb.Span_SPAN_KIND_SERVER, request.GetKind(), "the request is described as")
	if got := attributes(write); got["db.system.name"] != "sqlite" || got["db.operation.name"] != "Append" || got["db.operation.batch.size"] != "int_value:1" {
		t.Errorf("the commit is described as %v", got)
	}
	if got := collector.resource(); got["service.name"] != "riffle" || got["service.version"] != version {
		t.Errorf("the service is described as %v", got)
	}
	for trace, names := range map[string][]string{
		read: {"GET /audits/{id}", "store.ByID", "store.ByClaim"}, shoe: {"GET /shoes/{id}"}, refused: {"GET /decks"}, unsampled: nil, malformed: nil,
	} {
		got := ofTrace(t, collector, trace)
		assert.Lenf(t, got, len(names), "the trace %s has the spans %v, want %q", trace, got, names)
		for _, name := range names {
			assert.NotNilf(t, got[name], "the trace %s has no span %q: %v", trace, name, got)
		}
	}
	for trace, logged := range map[string]bool{shuffle: true, read: true, unsampled: true, malformed: false} {
		assert.Equalf(t, logged, strings.Contains(s.log.String(), `"trace_id":"`+trace+`"`),
			"the access log has the trace %s", trace)
	}
	for _, secret := range []string{string(token), idempotencyKey, shoeID, "token=x"} {
		assert.Falsef(t, bytes.Contains(collector.received(), []byte(secret)), "the spans have %s", secret)
	}
}

// within reports whether a span is a child of another and has its time.
func within(child, parent *tracepb.Span) bool {
	return bytes.Equal(child.GetParentSpanId(), parent.GetSpanId()) &&
		child.GetStartTimeUnixNano() >= parent.GetStartTimeUnixNano() && child.GetEndTimeUnixNano() <= parent.GetEndTimeUnixNano()
}

// TestSampling has callers sample all their requests, and then asks without a trace context and at
// the default ratio.
func TestSampling(t *testing.T) {
	t.Parallel()
	ask := func(env []string, requests int, headers ...string) (sampled int, seconds float64) {
		t.Helper()
		collector := newCollector(t)
		s := launch{env: append(env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)}.start(t)
		began := time.Now()
		for range requests {
			a, err := s.ask(http.MethodGet, "/decks/standard52/cards", "", headers...)
			require.Truef(t, err == nil && a.status == http.StatusOK, "%v, %v", a, err)
		}
		seconds = time.Since(began).Seconds()
		s.stop()
		for _, span := range collector.spans() {
			if span.GetName() == "GET /decks/{type}/cards" {
				sampled++
			}
		}
		return sampled, seconds
	}
	_, context := traceContext(1, "01")
	for _, sampler := range []string{"", "OTEL_TRACES_SAMPLER=always_on"} {
		// The limit is a rate, so a slow machine only permits more.
		n, took := ask([]string{sampler}, 500, "Traceparent", context)
		assert.Truef(t, n >= 100 && float64(n) <= 101+100*took, "with %q, callers have %d of 500 requests sampled in %.2f s", sampler, n, took)
	}
	if n, _ := ask(nil, 3000); n < 1 || n > 100 { // 30 are expected; either bound is beyond six deviations, or a chance of 1e-13
		t.Errorf("of 3000 requests %d are sampled", n)
	}
	n, _ := ask([]string{"OTEL_TRACES_SAMPLER=always_on"}, 300)
	assert.Equal(t, 300, n, "of 300 requests")
	n, _ = ask([]string{"OTEL_SDK_DISABLED=true", "OTEL_TRACES_SAMPLER=always_on"}, 10)
	assert.Equal(t, 0, n)
}

// TestCollectorIsDown serves without a collector, and with one that never answers, which delays the
// server's exit by the grace time at most.
func TestCollectorIsDown(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	stuck := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
	t.Cleanup(func() { close(stuck); silent.Close() })
	for _, url := range []string{gone.URL, silent.URL} {
		s := launch{args: []string{"-grace=1s"}, env: traced(url, "OTEL_TRACES_SAMPLER=always_on", "OTEL_BSP_SCHEDULE_DELAY=5", "OTEL_BSP_MAX_QUEUE_SIZE=16",
			"OTEL_EXPORTER_OTLP_TIMEOUT=600000", "OTEL_BSP_EXPORT_TIMEOUT=600000")}.start(t)
		for range 300 { // many more than the queue has room for
			s.post("/shuffle", `{"size":3}`)
		}
		s.stop()
		if got := strings.Count(s.log.String(), "traces cannot be exported"); got > 1 || url == gone.URL && got != 1 {
			t.Errorf("%s: %d lines say that traces cannot be exported:\n%s", url, got, s.log)
		}
	}
}
