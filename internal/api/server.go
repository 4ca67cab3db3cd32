package api

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxHeader is the longest header that the server takes, in bytes. net/http adds 4,096 to it.
const maxHeader = 8 << 10

// remembered is how much of what was read a connection remembers: the longest header, and what net/http may have read
// ahead behind it.
const remembered = maxHeader + 2*4096

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
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
}

type connKey struct{}

// Listen wraps a listener so that the framing of requests can be checked. net/http follows RFC 9112, 6.3 where a request
// has both Content-Length and Transfer-Encoding: it goes by the latter and drops the former without a trace. A proxy in
// front may go by the former, and what is the rest of the body to one is then a request to the other. So the connection
// remembers what was read, and the header can be looked at as it was sent.
func Listen(l net.Listener) net.Listener { return framedListener{l} }

type framedListener struct{ net.Listener }

func (l framedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &framedConn{Conn: c}, nil
}

// A framedConn remembers at least the last header that was read.
type framedConn struct {
	net.Conn
	mu     sync.Mutex
	recent []byte
}

func (c *framedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	last := p[max(0, n-remembered):n] // all of it, but for parts of long bodies
	c.mu.Lock()
	if len(c.recent)+len(last) > 2*remembered { // not sooner, so that little is moved
		c.recent = append(c.recent[:0], c.recent[max(0, len(c.recent)-remembered):]...)
	}
	c.recent = append(c.recent, last...)
	c.mu.Unlock()
	return n, err
}

// ambiguous reports whether a header for the target that was read lately has both lengths or, in old HTTP/1.0, chunks.
// What only looks like such a header, in the body of a request with chunks, is refused along with them.
func (c *framedConn) ambiguous(target string, old bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := bytes.ToLower(c.recent)
	line := bytes.ToLower([]byte(" " + target + " http/1."))
	for {
		_, after, found := bytes.Cut(rest, line)
		if !found {
			return false
		}
		header, _, _ := bytes.Cut(after, []byte("\r\n\r\n"))
		if bytes.Contains(header, []byte("\ntransfer-encoding:")) && (old || bytes.Contains(header, []byte("\ncontent-length:"))) {
			return true
		}
		rest = after
	}
}

// ambiguousLength reports whether the request says its length in two ways. HTTP/1.0 has no chunks: net/http passes over
// Transfer-Encoding there, and RFC 9112, 6.1 has a server take it for faulty framing.
func ambiguousLength(r *http.Request) bool {
	old := !r.ProtoAtLeast(1, 1)
	if len(r.TransferEncoding) == 0 && !old {
		return false
	}
	c, ok := r.Context().Value(connKey{}).(*framedConn)
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
