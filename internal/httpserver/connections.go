package httpserver

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"riffle/internal/quota"
	"riffle/internal/system"
)

// connections bounds the open connections, in total and by peer. A new connection beyond the bound
// closes the connection that has been idle longest. If none is idle, the new one is an extra
// connection: it is served health checks, and other requests are refused.
//
// net/http owns the connections and reports their state changes. A connection is active only after
// net/http has read a whole header, so an idle one may have a request on its way: see
// [connections.idle].
type connections struct {
	places  *quota.Pool
	spare   int64 // places reserved for peers with few connections
	metrics *Metrics
	began   time.Time
	pauses  *rate.Limiter // microseconds without accepting a connection
	closed  chan struct{} // capacity 1; receives when a connection has closed

	mu     sync.Mutex
	queue  list.List     // of *connection: idle ones, longest first, the separator, active ones
	active *list.Element // separates idle connections from active ones
	extra  list.List     // of *connection, oldest first
}

const (
	// ExtraConnections is the most connections beyond the bound, for health checks and for
	// refusals. They are at most a quarter of the bound, but at least few.
	ExtraConnections = 32
	// newIdle is the time from its accept, or from the first byte after an answer, in which a
	// connection may send the header of a request before another one may replace it.
	newIdle = time.Second
	// servedIdle is the same from an answer to that byte: a client's pool in use sends it earlier.
	servedIdle = 10 * time.Millisecond
	// few is the number of connections that a peer may have while any place is free. A quarter of all
	// places is reserved for such peers, or a dozen greedy ones would leave nothing to others.
	few = 8
	// longestPause is the time without accepting connections while extra ones are answered: in a row,
	// and again in each 30 seconds.
	longestPause = 3 * time.Second
)

// A connection is below TLS, where [listener] accepts it. connections.mu guards its last three
// fields. set, peer and refused do not change once it is admitted.
type connection struct {
	socket
	set      *connections
	peer     netip.Addr
	refused  error         // of an extra connection; otherwise nil
	kept     atomic.Int64  // from set.began, in nanoseconds: then another one may replace it
	answered atomic.Bool   // nothing was read since the last answer
	places   int64         // taken from the pool; unused if extra
	replaced bool          // closed to make room
	place    *list.Element // in queue or extra; nil before and after
}

// Read notes when the client begins to send after an answer.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.socket.Read(p)
	if n > 0 && c.answered.Load() {
		c.keep(newIdle)
		c.answered.Store(false)
	}
	return n, err
}

// keep gives the connection a time, from now on, in which no other one replaces it.
func (c *connection) keep(d time.Duration) { c.kept.Store(int64(time.Since(c.set.began) + d)) }

// keptFor returns what is left of that time, negative after it.
func (c *connection) keptFor() time.Duration {
	return time.Duration(c.kept.Load()) - time.Since(c.set.began)
}

// A socket has the methods of a *net.TCPConn that net/http and connections call.
type socket interface {
	net.Conn
	syscall.Conn
	CloseWrite() error
}

// A listener accepts connections for a set.
type listener struct {
	net.Listener
	set    *connections
	buffer int // [Options.Buffer]
}

func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	accepted := conn.(*net.TCPConn)
	if l.buffer > 0 { // an error means that the connection is closed
		_, _ = accepted.SetReadBuffer(l.buffer), accepted.SetWriteBuffer(l.buffer)
	}
	return &connection{socket: accepted, set: l.set}, nil
}

func newConnections(most int, metrics *Metrics) *connections {
	c := &connections{
		places: quota.NewPool(int64(most)), spare: int64(most) / 4, metrics: metrics, began: time.Now(),
		pauses: rate.NewLimiter(rate.Limit(longestPause.Microseconds())/30, int(longestPause.Microseconds())), closed: make(chan struct{}, 1),
	}
	c.active = c.queue.PushBack((*connection)(nil))
	return c
}

// admit gives a new connection a place. It is the server's ConnContext: while it runs, the server
// accepts no other connection.
func (c *connections) admit(ctx context.Context, conn net.Conn) context.Context {
	added := below(conn)
	added.peer, added.places = quota.Peer(conn.RemoteAddr().String()), 1
	c.mu.Lock()
	defer c.mu.Unlock()
	for added.place == nil {
		refused := c.take(added.peer)
		if refused == nil {
			added.place = c.queue.InsertBefore(added, c.active)
		} else if old := c.idle(added.peer); old != nil {
			c.replace(old)
		} else if c.extra.Len() < min(ExtraConnections, max(few, int(c.spare))) {
			added.refused, added.place = refused, c.extra.PushBack(added)
		} else if oldest := c.extra.Front().Value.(*connection); !c.pause(oldest.keptFor()) {
			c.replace(oldest)
		}
	}
	added.keep(newIdle)
	c.metrics.open.Inc()
	return context.WithValue(ctx, connectionKey{}, added)
}

// below returns the connection below TLS, or conn itself.
func below(conn net.Conn) *connection {
	if over, ok := conn.(*tls.Conn); ok {
		conn = over.NetConn()
	}
	return conn.(*connection)
}

type connectionKey struct{}

// connectionOf returns the connection of a request or handshake; nil if another server accepted it.
func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// take takes a place for a peer's connection. It returns ErrConnections if no place is left for the
// peer.
func (c *connections) take(peer netip.Addr) error {
	if (c.places.Held(peer) < few || c.places.Left() > c.spare) && c.places.Take(peer, 1) {
		return nil
	}
	return c.places.Refusal(ErrConnections, peer, 0, 1)
}

// idle returns the connection to close for a new one of peer: the longest idle one whose own peer
// has at least as many connections as peer; nil for none.
//
// A client may just be sending a request, which is then lost, as after any idle timeout. So a
// connection may be idle for a minimum time, and one with unread bytes is skipped. What net/http
// has read before unread looked has begun another minimum time, so that is checked again.
func (c *connections) idle(peer netip.Addr) *connection {
	held := c.places.Held(peer)
	for e := c.queue.Front(); e != c.active; e = e.Next() {
		found := e.Value.(*connection)
		if found.keptFor() <= 0 && c.places.Held(found.peer) >= held && !system.Unread(found) && found.keptFor() <= 0 {
			return found
		}
	}
	return nil
}

// pause waits until a connection closes, at most for a time. It returns false immediately if that
// is not positive or the pauses are used up, since other clients wait, too.
func (c *connections) pause(left time.Duration) bool {
	began := time.Now()
	left = min(left, time.Duration(c.pauses.TokensAt(began))*time.Microsecond)
	if left <= 0 {
		return false
	}
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-c.closed:
	case <-time.After(left):
	}
	ended := time.Now()
	c.pauses.ReserveN(ended, int(min(ended.Sub(began), longestPause).Microseconds()))
	return true
}

// replace closes a connection to make room. It closes it below TLS, where closing may wait seconds
// for the client.
func (c *connections) replace(old *connection) {
	old.replaced = true
	c.metrics.closed.Inc()
	_ = old.Close() // net/http reports the error
	c.remove(old)
}

// remove returns the places of a connection. It does nothing if another state change, or the
// admission of a connection, was first.
func (c *connections) remove(old *connection) {
	if old.place == nil {
		return
	}
	c.metrics.open.Dec()
	select {
	case c.closed <- struct{}{}:
	default:
	}
	c.queue.Remove(old.place) // it is in one of the two
	c.extra.Remove(old.place)
	old.place = nil
	if old.refused != nil {
		return
	}
	c.places.Return(old.peer, old.places)
	if old.places > 1 {
		c.metrics.http2.Dec()
	}
}

// changed records the state of a connection. It is the server's ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	known := below(conn)
	if known.refused == nil { // before the lock, which admission may hold for long
		if state == http.StateActive {
			known.kept.Store(math.MaxInt64)
		}
		if state == http.StateIdle {
			known.keep(servedIdle)
		}
		known.answered.Store(state == http.StateIdle)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case state == http.StateClosed || state == http.StateHijacked:
		c.remove(known)
	case known.refused != nil || known.place == nil:
	case state == http.StateActive:
		c.queue.MoveToBack(known.place)
	case state == http.StateIdle:
		c.queue.MoveBefore(known.place, c.active)
	}
}

// widen takes the places of HTTP/2 for a connection. It returns false if too few are left.
func (c *connections) widen(known *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known.refused != nil || known.place == nil || !c.places.Take(known.peer, http2Streams-1) {
		return false
	}
	known.places = http2Streams
	c.metrics.http2.Inc()
	return true
}

var (
	// ErrConnections rejects a request on an extra connection. It is also [quota.ErrShare] if that
	// is for other connections of the caller.
	ErrConnections = errors.New("too many connections are open")
	// ErrDropped ends a request whose connection was closed to make room. Its client cannot be answered.
	ErrDropped = errors.New("the connection was closed to make room")
)

// CheckConnection returns an error if the request's connection must not be served: ErrConnections,
// except for health checks, or ErrDropped. A served extra connection closes after the answer.
func CheckConnection(w http.ResponseWriter, r *http.Request, healthCheck bool) error {
	c := connectionOf(r.Context())
	switch {
	case c == nil:
		return nil
	case c.refused != nil && !healthCheck && quota.Peer(r.RemoteAddr) != c.peer:
		return ErrConnections // a proxy's share, and so all its callers'
	case c.refused != nil && !healthCheck:
		return c.refused
	case c.refused != nil:
		w.Header().Set("Connection", "close")
		return nil
	}
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	if c.replaced {
		return ErrDropped
	}
	return nil
}
