// Package tracing sends spans of some requests to an OpenTelemetry collector: the request, its wait
// for the commit of its record, and what is read from and written to the store.
//
// A [Tracer] is made only where an exporter is configured, and everything that uses one has nil, or
// no hook at all, otherwise. [Tracer.StartRequest] decides whether a request is sampled; within one
// that is not, no span begins. Spans name operations, routes and ids that are public, and never have
// paths, queries, headers, claims or the texts of errors, where secrets may stand.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	oteltrace "go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
)

// ratio is the part of requests that are sampled, unless OTEL_TRACES_SAMPLER says otherwise.
const ratio = 0.01

// fromCallers is how many requests a second are sampled among those whose callers sent a trace
// context. They choose its id and its flag, and could otherwise have every request sampled.
const fromCallers = 100

// flushTime is how long a collector that does not answer holds up the end of the service.
const flushTime = 5 * time.Second

// A Tracer makes spans and exports them in the background. A full queue drops spans.
type Tracer struct {
	tracer      oteltrace.Tracer
	provider    *trace.TracerProvider
	fromCallers *rate.Limiter
}

// New returns a tracer that exports to the collector that the environment names, or nil if it names
// none. OpenTelemetry reads the environment itself; here it is checked for what that would replace by
// a default.
func New(ctx context.Context, env func(string) string, version string, logger *slog.Logger) (*Tracer, error) {
	endpoint := cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), env("OTEL_EXPORTER_OTLP_ENDPOINT"))
	if endpoint == "" || env("OTEL_TRACES_EXPORTER") == "none" || strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	if err := check(endpoint, env); err != nil {
		return nil, err
	}
	// Its messages go to standard error past our log, with the values of variables, which may be
	// secrets.
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("tracing", "error", err) }))
	client, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("the exporter of traces: %w", err)
	}
	described, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("riffle"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	options := []trace.TracerProviderOption{trace.WithResource(described), trace.WithBatcher(&exporter{SpanExporter: client, logger: logger})}
	if env("OTEL_TRACES_SAMPLER") == "" {
		options = append(options, trace.WithSampler(trace.ParentBased(trace.TraceIDRatioBased(ratio))))
	}
	provider := trace.NewTracerProvider(options...)
	return &Tracer{
		tracer: provider.Tracer("riffle"), provider: provider, fromCallers: rate.NewLimiter(fromCallers, fromCallers),
	}, nil
}

// check returns an error if traces would be sent elsewhere, or as something else, than the
// environment says.
func check(endpoint string, env func(string) string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("OTEL_EXPORTER_OTLP_ENDPOINT, or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, must be the URL of a collector, such as http://localhost:4318")
	}
	samplers := []string{"", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}
	if s := env("OTEL_TRACES_SAMPLER"); !slices.Contains(samplers, s) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER must be one of %s, got %q", strings.Join(samplers[1:], ", "), s)
	}
	if part := env("OTEL_TRACES_SAMPLER_ARG"); part != "" {
		if n, err := strconv.ParseFloat(part, 64); err != nil || !(n >= 0 && n <= 1) {
			return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG must be a part of all requests, from 0 to 1 such as 0.05, got %q", part)
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if p := env(name); p != "" && p != "http/protobuf" && p != "http/json" {
			return fmt.Errorf("%s must be http/protobuf or http/json, got %q; collectors take these on port 4318", name, p)
		}
	}
	return nil
}

// Shutdown exports the spans that wait, until ctx is done or flushTime is over.
func (t *Tracer) Shutdown(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what fails is logged by the exporter
}

// An exporter logs when spans cannot be exported, and when they can be again, instead of each
// failure.
type exporter struct {
	trace.SpanExporter
	logger  *slog.Logger
	failing atomic.Bool
}

func (e *exporter) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch failed := err != nil; {
	case failed == e.failing.Swap(failed):
	case failed:
		e.logger.Warn("traces cannot be exported and are dropped until they can", "error", fmt.Sprintf("%.500s", err))
	default:
		e.logger.Info("traces are exported again")
	}
	return nil
}
