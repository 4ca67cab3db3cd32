// Package tracingtest has an OpenTelemetry collector for tests.
package tracingtest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A Collector receives spans over OTLP.
type Collector struct {
	*httptest.Server

	mu       sync.Mutex
	spans    []*tracepb.Span
	resource []*commonpb.KeyValue
	received []byte
	refusals int
}

// New starts a collector that runs until the test ends.
func New(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		if err := c.receive(r.Body); err != nil {
			t.Errorf("the request to the collector: %v", err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.refusals > 0 {
			c.refusals--
			http.Error(w, "not now", http.StatusInternalServerError)
		}
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

func (c *Collector) receive(body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var request collectorpb.ExportTraceServiceRequest
	if err := proto.Unmarshal(text, &request); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received = append(c.received, text...)
	if c.refusals > 0 {
		return nil
	}
	for _, spans := range request.GetResourceSpans() {
		c.resource = spans.GetResource().GetAttributes()
		for _, scope := range spans.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return nil
}

// Refuse answers the next requests with 500.
func (c *Collector) Refuse(times int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusals = times
}

// Spans returns the accepted spans.
func (c *Collector) Spans() []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Resource returns the attributes of the last spans' resource.
func (c *Collector) Resource() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return texts(c.resource)
}

// Received returns all received bytes.
func (c *Collector) Received() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.received)
}

// Attributes returns a span's attributes as texts.
func Attributes(span *tracepb.Span) map[string]string { return texts(span.GetAttributes()) }

func texts(list []*commonpb.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range list {
		switch v := a.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.GetKey()] = v.StringValue
		default:
			all[a.GetKey()] = a.GetValue().String()
		}
	}
	return all
}
