package api

import (
	"log/slog"
	"net/http"
	"time"
)

// maxHeader is the longest header that the server takes, in bytes. net/http adds 4,096 to it.
const maxHeader = 8 << 10

// Timeouts of a connection.
type Timeouts struct {
	Header time.Duration // until a request's header is there
	Read   time.Duration // until its body is there, from the start of the header
	Write  time.Duration // until its answer has been taken; a long one may take longer, see [response.Write]
	Idle   time.Duration // between two requests
}

// NewServer returns the HTTP server of the API, which has its connections admitted.
func NewServer(a *API, timeouts Timeouts) *http.Server {
	a.writeTimeout = timeouts.Write
	a.connections = newConnections(a.MaxConnections, a.Metrics)
	return newServer(a, a.connections, timeouts, a.Logger)
}

// newServer returns a server that has its connections admitted.
func newServer(handler http.Handler, admitted *connections, timeouts Timeouts, logger *slog.Logger) *http.Server {
	return &http.Server{
		ConnContext:       admitted.admit,
		ConnState:         admitted.changed,
		Handler:           handler,
		ReadHeaderTimeout: timeouts.Header,
		ReadTimeout:       timeouts.Read,
		WriteTimeout:      timeouts.Read + timeouts.Write,
		IdleTimeout:       timeouts.Idle,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             http2Limits(timeouts),
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug), // what broken clients do is no error of ours
	}
}

// maxFields is the most fields in the header of a request, and the most parameters in its query.
// Browsers send some twenty fields, and each takes some hundred bytes, however short it is.
const maxFields = 100

// checkFields answers 431 to requests of more fields.
func (a *API) checkFields(next http.Handler) http.Handler {
	refuse := a.handle(func(http.ResponseWriter, *http.Request) error { return problemFields() })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields := 0
		for _, values := range r.Header {
			fields += len(values)
		}
		if fields > maxFields {
			refuse(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func problemFields() *problem {
	return newProblem(http.StatusRequestHeaderFieldsTooLarge, "The header has more than %d fields. Send fewer.", maxFields)
}

// closeChunked closes the connection behind the answer to an HTTP/1 request whose length a proxy in
// front may have read differently: net/http takes the length from Transfer-Encoding and drops a
// Content-Length beside it, and ignores Transfer-Encoding in HTTP/1.0, in both cases without a
// trace. RFC 9112, 6.1 and 6.3 let a server do so if it then closes the connection, so that what
// follows is not taken for a request of its own. HTTP/2 has one framing.
func closeChunked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
