package api

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

// Listen wraps a listener in connections of the service's own, for two things that net/http does not do.
//
// The framing of requests can be checked. net/http follows RFC 9112, 6.3 where a request has both Content-Length and
// Transfer-Encoding: it goes by the latter and drops the former without a trace. A proxy in front may go by the former,
// and what is the rest of the body to one is then a request to the other. So a connection remembers what was read, and
// the header can be looked at as it was sent.
//
// And requests that follow each other quickly cost less: see [deadline] and [conn.Read].
func Listen(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

type connKey struct{}

// connContext has requests know their connection, and share chi's context: a connection has one request at a time, and
// without it chi copies each.
func connContext(ctx context.Context, c net.Conn) context.Context {
	ctx = context.WithValue(ctx, connKey{}, c)
	return context.WithValue(ctx, chi.RouteCtxKey, chi.NewRouteContext())
}

// remembered is how much of what was read a connection remembers: the longest header, and what net/http may have read
// ahead behind it.
const remembered = maxHeader + 2*4096

// A conn remembers at least the last header that was read.
type conn struct {
	net.Conn
	reading, writing deadline
	watched          bool // the last read was not done; see Read

	mu     sync.Mutex
	recent []byte
}

// Read reads, and remembers what it has read.
//
// While a request is answered, net/http has a goroutine try to read one byte of the next, to learn whether the caller has
// left. Nobody here asks: what was begun is finished and recorded, and the answer fails when it is written. To set that
// up and end it again costs more than to seed and shuffle a deck, so that read comes back empty at once. net/http reads
// one byte by itself nowhere else but at the very end of the longest header; it tries again there, and is then served.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 1 && !c.watched {
		c.watched = true
		return 0, nil
	}
	c.watched = false
	n, err := c.Conn.Read(p)
	for err != nil && c.reading.extend(err, c.Conn.SetReadDeadline) {
		n, err = c.Conn.Read(p)
	}
	c.remember(p[:n])
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	for err != nil && c.writing.extend(err, c.Conn.SetWriteDeadline) {
		var more int
		more, err = c.Conn.Write(p[n:])
		n += more
	}
	return n, err
}

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error { return c.reading.set(t, c.Conn.SetReadDeadline) }

func (c *conn) SetWriteDeadline(t time.Time) error { return c.writing.set(t, c.Conn.SetWriteDeadline) }

// A deadline moves the timer of a connection only to make it earlier. net/http sets six deadlines for each request,
// nearly all of them later than the one before; a timer that is too early is set anew when it has run off, which for one
// request after the other is every few seconds.
type deadline struct {
	mu     sync.Mutex
	wanted time.Time
	timer  time.Time // no later than wanted; zero for none, and then none is wanted
}

// set has arm set the timer if the deadline is earlier than that.
func (d *deadline) set(t time.Time, arm func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if t.IsZero() || !d.timer.IsZero() && !t.Before(d.timer) {
		return nil
	}
	d.timer = t
	return arm(t)
}

// extend reports whether what came to an error can go on, because it is that of the timer and the deadline is later.
func (d *deadline) extend(err error, arm func(time.Time) error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.wanted.IsZero() && !time.Now().Before(d.wanted) {
		return false
	}
	d.timer = d.wanted
	return arm(d.wanted) == nil
}

func (c *conn) remember(read []byte) {
	last := read[max(0, len(read)-remembered):] // all of it, but for parts of long bodies
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.recent)+len(last) > 2*remembered { // not sooner, so that little is moved
		c.recent = append(c.recent[:0], c.recent[max(0, len(c.recent)-remembered):]...)
	}
	c.recent = append(c.recent, last...)
}

// ambiguous reports whether a header for the target that was read lately has both lengths or, in old HTTP/1.0, chunks.
// What only looks like such a header, in the body of a request with chunks, is refused along with them.
func (c *conn) ambiguous(target string, old bool) bool {
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
