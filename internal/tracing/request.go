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

// StartRequest begins the span of an incoming request, if the request is sampled, and returns the
// request with the span in its context. Otherwise it returns r and nil.
func (t *Tracer) StartRequest(r *http.Request) (*http.Request, *Span) {
	caller := parent(r.Header)
	ctx := oteltrace.ContextWithRemoteSpanContext(r.Context(), caller)
	ctx, span := t.tracer.Start(ctx, r.Method, oteltrace.WithSpanKind(oteltrace.SpanKindServer))
	if !span.IsRecording() || caller.IsValid() && !t.fromCallers.Allow() {
		return r, nil // a span that does not end is not exported
	}
	return r.WithContext(ctx), &Span{span}
}

// A Span is a sampled request's span.
type Span struct{ span oteltrace.Span }

// A Request has the attributes of a request's span.
type Request struct {
	Method  string // "other" for a method that HTTP does not define
	Route   string // pattern; empty for none
	Status  int
	Peer    netip.Addr
	ID      string
	Key     string    // name of the caller's key; may be empty
	AuditID uuid.UUID // of the new record; may be zero
}

// End ends the span, after the response.
func (s *Span) End(r Request) {
	name, method := r.Method, r.Method
	if method == "other" {
		name, method = "HTTP", "_OTHER" // as OpenTelemetry requires
	}
	attributes := []attribute.KeyValue{
		semconv.HTTPRequestMethodKey.String(method), semconv.HTTPResponseStatusCode(r.Status),
		semconv.ClientAddress(r.Peer.String()), attribute.String("riffle.request_id", r.ID),
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

// ID returns a request's trace id: from its span, if sampled, else from the caller's trace context. It
// returns "" if neither exists.
func ID(r *http.Request, s *Span) string {
	if s != nil {
		return s.span.SpanContext().TraceID().String()
	}
	if caller := parent(r.Header); caller.IsValid() {
		return caller.TraceID().String()
	}
	return ""
}

// traceparent is the header of a W3C trace context. Only a proxy needs its companion tracestate.
const traceparent = "Traceparent"

// parent returns the caller's trace context, which is invalid if missing or malformed.
func parent(h http.Header) oteltrace.SpanContext {
	values := h[traceparent]
	if len(values) != 1 {
		return oteltrace.SpanContext{}
	}
	carrier := propagation.MapCarrier{"traceparent": values[0]}
	return oteltrace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}
