package tracing

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const protobuf = "application/x-protobuf"

// A client sends spans over OTLP/HTTP in protobuf, as the variables OTEL_EXPORTER_OTLP_* say.
// OpenTelemetry's own client links gRPC without using it.
type client struct {
	http    http.Client
	url     string
	header  http.Header
	logger  *slog.Logger
	failing atomic.Bool
}

// newClient reads the environment. A variable for traces, such as OTEL_EXPORTER_OTLP_TRACES_HEADERS,
// takes precedence over the one for all signals.
func newClient(env func(string) string, logger *slog.Logger) (*client, error) {
	get := func(name string) string {
		return cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_"+name), env("OTEL_EXPORTER_OTLP_"+name))
	}
	endpoint, err := url.Parse(get("ENDPOINT"))
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return nil, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT, or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, must be the URL of a collector, such as http://localhost:4318")
	}
	if env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		endpoint = endpoint.JoinPath("v1/traces")
	}
	if p := get("PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, got %q; collectors take it on port 4318", p)
	}
	c := &client{url: endpoint.String(), header: http.Header{"Content-Type": {protobuf}}, logger: logger}
	if c.http.Timeout, err = time.ParseDuration(cmp.Or(get("TIMEOUT"), "10000") + "ms"); err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds, got %q", get("TIMEOUT"))
	}
	for pair := range strings.FieldsFuncSeq(get("HEADERS"), func(r rune) bool { return r == ',' }) {
		name, value, ok := strings.Cut(pair, "=")
		if value, err = url.PathUnescape(value); err != nil || !ok {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS must be a list such as name=value,other=value, with %XX for special characters")
		}
		c.header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if get("COMPRESSION") == "gzip" {
		c.header.Set("Content-Encoding", "gzip")
	}
	config := &tls.Config{}
	if file := get("CERTIFICATE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificates in PEM", file)
		}
	}
	if file := get("CLIENT_CERTIFICATE"); file != "" {
		pair, err := tls.LoadX509KeyPair(file, get("CLIENT_KEY"))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	c.http.Transport = transport
	return c, nil
}

// Start implements [otlptrace.Client].
func (*client) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (*client) Stop(context.Context) error { return nil }

// UploadTraces implements [otlptrace.Client]. It logs the first failure of a series, and the next
// success.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	err := c.upload(ctx, spans)
	switch failed := err != nil; {
	case failed == c.failing.Swap(failed):
	case failed:
		c.logger.Warn("traces cannot be exported and are dropped until they can", "error", fmt.Sprintf("%.500s", err))
	default:
		c.logger.Info("traces are exported again")
	}
	return nil
}

// upload retries for a minute what a collector may take later.
func (c *client) upload(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // the bytes of an ExportTraceServiceRequest
	if err == nil && c.header.Get("Content-Encoding") == "gzip" {
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		_, err = w.Write(body)
		err = errors.Join(err, w.Close())
		body = compressed.Bytes()
	}
	if err != nil {
		return err
	}
	_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.send(ctx, body) }, backoff.WithMaxElapsedTime(time.Minute))
	return err
}

// send sends a batch once. Its error is permanent unless another attempt may succeed.
func (c *client) send(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	r.Header = c.header.Clone()
	answer, err := c.http.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok && failed.Timeout() {
			return err
		}
		return backoff.Permanent(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
	failed := fmt.Errorf("the collector answered %s: %q", answer.Status, text)
	switch answer.StatusCode {
	case http.StatusOK:
		if len(text) > 2 && answer.Header.Get("Content-Type") == protobuf { // its partial_success is not empty
			return backoff.Permanent(failed)
		}
		return nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
			return errors.Join(failed, backoff.RetryAfter(seconds))
		}
		return failed
	}
	return backoff.Permanent(failed)
}
