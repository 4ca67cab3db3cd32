package tracing_test

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"riffle/internal/tracing"
)

// export ends one sampled span with the variables, and returns what the service logs about it.
func export(t *testing.T, variables map[string]string) (log string) {
	t.Helper()
	text := &strings.Builder{}
	tracer, err := tracing.New(t.Context(), func(name string) string { return variables[name] }, "v1", slog.New(slog.NewTextHandler(text, nil)))
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01")
	_, span := tracer.StartRequest(r)
	require.NotNil(t, span)
	span.End(tracing.Request{Method: http.MethodGet, Status: http.StatusOK})
	tracer.Shutdown(t.Context())
	return text.String()
}

// pemFile writes a block to a file and returns its name.
func pemFile(t *testing.T, kind string, block []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), kind+".pem")
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: block}), 0o600))
	return name
}

// TestCollectorVariables sends a span to a collector that requires TLS with a client certificate, a
// header and a path of its own, once plain and once compressed.
func TestCollectorVariables(t *testing.T) {
	for _, compression := range []string{"", "gzip"} {
		var names atomic.Int32
		collector := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body := io.Reader(r.Body)
			if assert.Equal(t, compression, r.Header.Get("Content-Encoding")) && compression == "gzip" {
				unpacked, err := gzip.NewReader(body)
				if assert.NoError(t, err) {
					body = unpacked
				}
			}
			text, err := io.ReadAll(body)
			var spans tracepb.TracesData
			assert.NoError(t, err)
			assert.NoError(t, proto.Unmarshal(text, &spans))
			assert.Equal(t, "GET", spans.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetName())
			assert.Equal(t, []string{"/base/v1/traces", "s p"}, []string{r.URL.Path, r.Header.Get("X-Token")})
			assert.Len(t, r.TLS.PeerCertificates, 1)
			names.Add(1)
		}))
		collector.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
		collector.StartTLS()
		defer collector.Close()
		pair := collector.TLS.Certificates[0]
		key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
		require.NoError(t, err)
		log := export(t, map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL + "/base", "OTEL_EXPORTER_OTLP_COMPRESSION": compression,
			"OTEL_EXPORTER_OTLP_HEADERS": "x-token=other", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-token=s%20p,",
			"OTEL_EXPORTER_OTLP_CERTIFICATE":        pemFile(t, "CERTIFICATE", collector.Certificate().Raw),
			"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": pemFile(t, "CERTIFICATE", pair.Certificate[0]),
			"OTEL_EXPORTER_OTLP_CLIENT_KEY":         pemFile(t, "PRIVATE KEY", key),
		})
		assert.Empty(t, log)
		assert.EqualValues(t, 1, names.Load())
		log = export(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL})
		assert.Contains(t, log, "certificate signed by unknown authority")
	}
}

// TestCollectorAnswers has a collector answer a batch in the ways that count: only a batch that it may
// take later is sent again.
func TestCollectorAnswers(t *testing.T) {
	for _, c := range []struct {
		status      int
		retry, body string
		sent        int32
		log         string
	}{
		{status: http.StatusServiceUnavailable, retry: "0", sent: 2},
		{status: http.StatusTooManyRequests, sent: 2},
		{status: http.StatusBadRequest, body: "not spans", sent: 1, log: "400 Bad Request: .*not spans"},
		{status: http.StatusServiceUnavailable, retry: "3600", sent: 1, log: "503 Service Unavailable"},
		{status: http.StatusOK, body: "\n\x00", sent: 1},
		{status: http.StatusOK, body: "\n\x0b\x08\x01\x12\x07too old", sent: 1, log: "too old"},
	} {
		var sent atomic.Int32
		collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "/", r.URL.Path)
			w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
			if sent.Add(1) == 1 {
				if c.retry != "" {
					w.Header().Set("Retry-After", c.retry)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}
		}))
		log := export(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.URL})
		collector.Close()
		assert.Equalf(t, c.sent, sent.Load(), "%+v", c)
		if c.log == "" {
			assert.Emptyf(t, log, "%+v", c)
		} else {
			assert.Regexpf(t, c.log, log, "%+v", c)
		}
	}
}
