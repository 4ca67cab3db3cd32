// Package httpserver is the HTTP server below the API: it bounds connections, header sizes and times,
// also over TLS and HTTP/2, so that slow or greedy clients cannot exhaust the process.
//
// A [Server] admits connections, and [CheckConnection] tells a handler whether to serve a request. A
// [Response] makes the client read its answer at a minimum rate. [LongRequests] schedules the
// requests that take more than a few milliseconds of processor time.
package httpserver

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const (
	// maxHeader is the longest header, in bytes. net/http adds 4,096 to it.
	maxHeader = 8 << 10
	// http2Streams is the number of requests that an HTTP/2 connection may have in flight.
	http2Streams = 16
	// http2Buffer is the number of unread body bytes that a connection holds, over all streams. net/http
	// allows no smaller buffer.
	http2Buffer = 64 << 10
	// http2Frame is the size of the longest frame, in bytes: the minimum of RFC 9113, 6.5.2.
	http2Frame = 16 << 10
)

// Timeouts of a connection.
type Timeouts struct {
	Header time.Duration // until a request's header has arrived
	Read   time.Duration // until its body has arrived, from the start of the header
	Write  time.Duration // until the client has accepted its answer; a long one has more, see [Response.Write]
	Idle   time.Duration // between two requests
}

// Options configures New. All fields are needed.
type Options struct {
	Handler        http.Handler
	MaxConnections int // see also ExtraConnections
	Buffer         int // bytes in the kernel for each direction, which it doubles; 0 for its choice
	Timeouts       Timeouts
	Metrics        *Metrics
	Logger         *slog.Logger
}

// Metrics count the connections of all servers in the process.
type Metrics struct {
	open, http2 prometheus.Gauge
	closed      prometheus.Counter
}

// NewMetrics registers the metrics. The capacity is the public server's MaxConnections.
func NewMetrics(registry prometheus.Registerer, capacity int) *Metrics {
	register := promauto.With(registry)
	gauge := func(name, help string) prometheus.Gauge {
		return register.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	gauge("riffle_connections_capacity", "Connections that may be open; a peer may have as many as are left for others.").Set(float64(capacity))
	closed := register.NewCounter(prometheus.CounterOpts{
		Name: "riffle_connections_closed_total", Help: "Connections closed to make room for others: idle ones, and those that reconnect faster than they can be answered.",
	})
	return &Metrics{
		closed: closed, open: gauge("riffle_connections", "Open connections, idle ones included."),
		http2: gauge("riffle_http2_connections", fmt.Sprintf("Open connections that may use HTTP/2; each takes the room of %d.", http2Streams)),
	}
}

// A Server is an http.Server with bounded connections.
type Server struct {
	*http.Server
	connections *connections
	buffer      int
}

// New returns a server.
func New(o Options) *Server {
	admitted := newConnections(o.MaxConnections, o.Metrics)
	return &Server{connections: admitted, buffer: o.Buffer, Server: &http.Server{
		ConnContext:       admitted.admit,
		ConnState:         admitted.changed,
		Handler:           o.Handler,
		ReadHeaderTimeout: o.Timeouts.Header,
		ReadTimeout:       o.Timeouts.Read,
		WriteTimeout:      o.Timeouts.Read + o.Timeouts.Write,
		IdleTimeout:       o.Timeouts.Idle,
		MaxHeaderBytes:    maxHeader,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          http2Streams,
			MaxReadFrameSize:              http2Frame,
			MaxReceiveBufferPerConnection: http2Buffer,
			MaxReceiveBufferPerStream:     http2Buffer,
			// Closes the connection of a client that does not read. The deadlines of streams end their requests,
			// but no write to the connection.
			WriteByteTimeout: o.Timeouts.Write,
		},
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug), // it reports clients' mistakes
	}}
}

// Serve serves the connections of a TCP listener, by TLS after OverTLS.
func (s *Server) Serve(l net.Listener) error {
	l = listener{l, s.connections, s.buffer}
	if s.TLSConfig != nil {
		return s.ServeTLS(l, "", "") // certificates come from TLSConfig
	}
	return s.Server.Serve(l)
}

// OverTLS configures the server for TLS with config.
//
// A connection offers HTTP/2 if it can take http2Streams places, before the protocol is negotiated, so
// that no stream is refused later. Otherwise it offers HTTP/1.1 alone, which every client speaks.
func (s *Server) OverTLS(config *tls.Config) {
	http1 := config.Clone()
	http1.NextProtos = append([]string{"http/1.1"}, config.NextProtos...)
	config = config.Clone()
	config.NextProtos = append([]string{"h2"}, http1.NextProtos...)
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		c := connectionOf(hello.Context())
		if c == nil || !slices.Contains(hello.SupportedProtos, "h2") || s.connections.widen(c) {
			return nil, nil // config itself
		}
		return http1, nil
	}
	s.TLSConfig = config
	s.Handler = strictTransport(s.Handler)
}

// strictTransport makes browsers use TLS for the requested name from now on (RFC 6797). It leaves out
// names with a port: the rule would also apply to other services with the same name.
func strictTransport(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, err := net.SplitHostPort(r.Host); err != nil {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// Address returns the scheme and the host that a request was sent to, as in https://riffle.example.
func Address(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
