package tracing

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// StartRequest begins the span of a request that arrives, and returns the request with it, if it is
// sampled. Otherwise the request is returned as it is.
func (t *Tracer) StartRequest(r *http.Request) (*http.Request, *Span) {
	caller := parent(r.Header)
	ctx := oteltrace.ContextWithRemoteSpanContext(r.Context(), caller)
	ctx, span := t.tracer.Start(ctx, r.Method, oteltrace.WithSpanKind(oteltrace.SpanKindServer))
	if !span.IsRecording() || caller.IsValid() && !t.fromCallers.Allow() {
		return r, nil // a span that does not end is not exported
	}
	return r.WithContext(ctx), &Span{span}
}

// A Span is that of a request that is sampled.
type Span struct{ span oteltrace.Span }

// A Request is what its span says of a request.
type Request struct {
	Log     string // the name of the log that it was for
	Method  string // "other" for one that HTTP does not define
	Route   string // the pattern of its route; empty for none
	Status  int
	Peer    netip.Addr
	ID      string
	Key     string    // the name of the caller's key; may be empty
	AuditID uuid.UUID // of the record that it wrote, if any
}

// End ends the span of a request that was answered.
func (s *Span) End(r Request) {
	name, method := r.Method, r.Method
	if method == "other" {
		name, method = "HTTP", "_OTHER" // as OpenTelemetry has it
	}
	attributes := []attribute.KeyValue{
		semconv.HTTPRequestMethodKey.String(method), semconv.HTTPResponseStatusCode(r.Status),
		semconv.ClientAddress(r.Peer.String()), attribute.String("riffle.log", r.Log), attribute.String("riffle.request_id", r.ID),
	}
	if r.Route != "" {
		name += " " + r.Route
		attributes = append(attributes, semconv.HTTPRoute(r.Route))
	}
	if r.Key != "" {
		attributes = append(attributes, attribute.String("riffle.key", r.Key))
	}
	if r.AuditID != uuid.Nil {
		attributes = append(attributes, attribute.String("riffle.audit_id", r.AuditID.String()))
	}
	if r.Status >= http.StatusInternalServerError {
		attributes = append(attributes, semconv.ErrorTypeKey.String(strconv.Itoa(r.Status)))
		s.span.SetStatus(codes.Error, "")
	}
	s.span.SetName(name)
	s.span.SetAttributes(attributes...)
	s.span.End()
}

// ID returns the id of the trace that a request is part of: that of its span, nil if it is not
// sampled, or of the trace context that its caller sent. It is empty if there is none.
func ID(r *http.Request, s *Span) string {
	if s != nil {
		return s.span.SpanContext().TraceID().String()
	}
	if caller := parent(r.Header); caller.IsValid() {
		return caller.TraceID().String()
	}
	return ""
}

// traceparent is the header of a W3C trace context. Its companion tracestate is for those who pass
// requests on.
const traceparent = "Traceparent"

// parent returns the trace context that a caller sent. It is not valid if there is none, or if it is
// malformed.
func parent(h http.Header) oteltrace.SpanContext {
	values := h[traceparent]
	if len(values) != 1 {
		return oteltrace.SpanContext{}
	}
	carrier := propagation.MapCarrier{"traceparent": values[0]}
	return oteltrace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}
