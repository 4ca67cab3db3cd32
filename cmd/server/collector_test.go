package main_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector receives spans over OTLP.
type collector struct {
	*httptest.Server

	mu       sync.Mutex
	accepted []*tracepb.Span
	of       []*commonpb.KeyValue // resource of the last spans
	bytes    []byte
}

// newCollector starts a collector that runs until the test ends.
func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(_ http.ResponseWriter, r *http.Request) {
		assert.NoError(t, c.receive(r.Body), "the request to the collector")
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) receive(body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var request tracepb.TracesData // with the bytes of an ExportTraceServiceRequest
	if err := proto.Unmarshal(text, &request); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes = append(c.bytes, text...)
	for _, spans := range request.GetResourceSpans() {
		c.of = spans.GetResource().GetAttributes()
		for _, scope := range spans.GetScopeSpans() {
			c.accepted = append(c.accepted, scope.GetSpans()...)
		}
	}
	return nil
}

// spans returns the accepted spans.
func (c *collector) spans() []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.accepted)
}

// resource returns the attributes of the last spans' resource.
func (c *collector) resource() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return attributeTexts(c.of)
}

// received returns all received bytes.
func (c *collector) received() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.bytes)
}

// attributes returns a span's attributes as texts.
func attributes(span *tracepb.Span) map[string]string { return attributeTexts(span.GetAttributes()) }

func attributeTexts(list []*commonpb.KeyValue) map[string]string {
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
