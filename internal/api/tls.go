package api

import (
	"crypto/tls"
	"net"
	"net/http"
	"slices"
)

const (
	// http2Streams is how many requests an HTTP/2 connection may have in flight.
	http2Streams = 16
	// http2Buffer is how many bytes of bodies a client may send on a connection before they are read,
	// on all of its streams or on one. It is the least that net/http takes for a connection.
	http2Buffer = 64 << 10
	// http2Frame is how many bytes a frame may have, the least that there is (RFC 9113, 6.5.2).
	http2Frame = 16 << 10
)

// http2Limits bounds what an HTTP/2 connection may hold. A client that takes none of what waits for
// it is cut off, as is one of HTTP/1: the deadlines of streams end their requests, and cannot end a
// write to the connection.
func http2Limits(timeouts Timeouts) *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          http2Streams,
		MaxReadFrameSize:              http2Frame,
		MaxReceiveBufferPerConnection: http2Buffer,
		MaxReceiveBufferPerStream:     http2Buffer,
		WriteByteTimeout:              timeouts.Write,
	}
}

// OverTLS has the server of [NewServer] speak TLS as config says, with HTTP/2 on as many
// connections as there is room for. Call ServeTLS of the server.
//
// A connection of HTTP/2 takes as many places as it may have requests in flight. It takes them
// before HTTP/2 is agreed on, so that nothing has to be refused later. Where they are not left, HTTP/1.1
// alone is offered, which every client speaks as well.
func (a *API) OverTLS(s *http.Server, config *tls.Config) {
	plain := config.Clone()
	plain.NextProtos = append([]string{"http/1.1"}, config.NextProtos...)
	config = config.Clone()
	config.NextProtos = append([]string{"h2"}, plain.NextProtos...)
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		of, _ := hello.Context().Value(connectionKey{}).(*connection)
		if of == nil || !slices.Contains(hello.SupportedProtos, "h2") || a.connections.widen(of) {
			return nil, nil // config itself
		}
		return plain, nil
	}
	s.TLSConfig = config
	s.Handler = stayEncrypted(s.Handler)
}

// stayEncrypted has browsers never use plain HTTP for a name (RFC 6797) under which the service was
// asked for without a port. With a port, the name may belong to other services as well, for which
// the rule would hold, too.
func stayEncrypted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, err := net.SplitHostPort(r.Host); err != nil {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// widen takes the places of HTTP/2 for a connection, and returns whether there are as many.
func (c *connections) widen(of *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of.extra || of.closed || !c.places.Take(of.peer, http2Streams-1) {
		return false
	}
	of.places = http2Streams
	c.http2.Inc()
	return true
}
