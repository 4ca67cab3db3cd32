// Package tracing sends spans of sampled requests to an OpenTelemetry collector: the request, its wait
// for a commit, and its reads and writes of the store.
//
// A [Tracer] exists only with an exporter; its users have nil otherwise. [Tracer.StartRequest] decides
// whether a request is sampled. Spans name operations, routes and public ids. They never contain
// paths, queries, headers, claims or error texts, which may have secrets.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	oteltrace "go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
)

// ratio is the fraction of sampled requests, unless OTEL_TRACES_SAMPLER is set.
const ratio = 0.01

// maxFromCallers limits the sampled requests a second with a trace context from the caller, who could
// otherwise have every request sampled.
const maxFromCallers = 100

// flushTimeout limits the export of the last spans when the service stops.
const flushTimeout = 5 * time.Second

// A Tracer makes spans and exports them in the background. It drops spans when its queue is full.
type Tracer struct {
	tracer      oteltrace.Tracer
	provider    *trace.TracerProvider
	fromCallers *rate.Limiter
}

// New returns a tracer for the collector in the environment, or nil without one. It rejects values
// that OpenTelemetry, which reads the environment itself, would replace by defaults.
func New(ctx context.Context, env func(string) string, version string, logger *slog.Logger) (*Tracer, error) {
	named := env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_ENDPOINT") != ""
	if !named || env("OTEL_TRACES_EXPORTER") == "none" || strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	if err := checkSampler(env); err != nil {
		return nil, err
	}
	collector, err := newClient(env, logger)
	if err != nil {
		return nil, err
	}
	// OpenTelemetry's logger writes values of variables, which may be secrets, to standard error.
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("tracing", "error", err) }))
	described, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("riffle"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	options := []trace.TracerProviderOption{trace.WithResource(described), trace.WithBatcher(otlptrace.NewUnstarted(collector))}
	if env("OTEL_TRACES_SAMPLER") == "" {
		options = append(options, trace.WithSampler(trace.ParentBased(trace.TraceIDRatioBased(ratio))))
	}
	provider := trace.NewTracerProvider(options...)
	return &Tracer{
		tracer: provider.Tracer("riffle"), provider: provider, fromCallers: rate.NewLimiter(maxFromCallers, maxFromCallers),
	}, nil
}

// checkSampler returns an error if OpenTelemetry would ignore the sampler of the environment.
func checkSampler(env func(string) string) error {
	samplers := []string{"", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}
	if s := env("OTEL_TRACES_SAMPLER"); !slices.Contains(samplers, s) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER must be one of %s, got %q", strings.Join(samplers[1:], ", "), s)
	}
	if part := env("OTEL_TRACES_SAMPLER_ARG"); part != "" {
		if n, err := strconv.ParseFloat(part, 64); err != nil || !(n >= 0 && n <= 1) {
			return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG must be the fraction of sampled requests, from 0 to 1 such as 0.05, got %q", part)
		}
	}
	return nil
}

// Shutdown exports the queued spans, until ctx is done or flushTimeout has passed.
func (t *Tracer) Shutdown(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // the client logs errors
}
