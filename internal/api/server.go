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
	Write  time.Duration // until its answer has been taken; for a streamed answer, until its next part has
	Idle   time.Duration // between two requests
}

// NewServer returns the server of the API. Serve it on a listener of [Listen].
func NewServer(a *API, timeouts Timeouts) *http.Server {
	a.writeTimeout = timeouts.Write
	return &http.Server{
		Handler:           a,
		ReadHeaderTimeout: timeouts.Header,
		ReadTimeout:       timeouts.Read,
		WriteTimeout:      timeouts.Read + timeouts.Write,
		IdleTimeout:       timeouts.Idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(a.Logger.Handler(), slog.LevelDebug), // what broken clients do is no error of ours
		ConnContext:       connContext,
	}
}

// ambiguousLength reports whether the request says its length in two ways. HTTP/1.0 has no chunks: net/http passes over
// Transfer-Encoding there, and RFC 9112, 6.1 has a server take it for faulty framing.
func ambiguousLength(r *http.Request) bool {
	old := !r.ProtoAtLeast(1, 1)
	if len(r.TransferEncoding) == 0 && !old {
		return false
	}
	c, ok := r.Context().Value(connKey{}).(*conn)
	return ok && c.ambiguous(r.RequestURI, old)
}

// framed refuses, whatever it asks for, a request whose length can be taken in two ways: what follows it on the
// connection may be its body to a proxy in front.
func (a *API) framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ambiguousLength(r) {
			p := newProblem(http.StatusBadRequest, "The request has both Content-Length and Transfer-Encoding. Send one of them.")
			p.close = true
			writeProblem(w, p)
			return
		}
		next.ServeHTTP(w, r)
	})
}
