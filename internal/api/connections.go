package api

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"riffle/internal/quota"
)

// connections bounds how many connections are open, and how many each peer has. When there is no
// place for another one, it closes one that has been silent, the longest first. If all are in use,
// the new connection is an extra one, which is served health checks and answered 503 otherwise.
//
// The connections are net/http's own, which reports their states: see [http.Server]. It takes a
// connection for active once it has read the whole header of a request. So a connection that seems
// to be silent may have been sent a request: see [connections.silent].
type connections struct {
	places *quota.Pool
	spare  int64 // places that are left for peers with few connections
	count  prometheus.Gauge
	http2  prometheus.Gauge // of those that may use HTTP/2
	pauses *rate.Limiter    // microseconds in which nothing is accepted
	gone   chan struct{}    // gets an element when a connection has gone

	mu     sync.Mutex
	open   map[net.Conn]*connection
	inTurn list.List     // of *connection: those without a request in flight, the longest first; then busy; then the others
	busy   *list.Element // divides those without a request in flight from those with one
	extra  list.List     // of *connection, the oldest first
}

const (
	// ExtraConnections is the number of connections in addition, for health checks and to be answered
	// 503.
	ExtraConnections = 32
	// patience is the time that a new connection may be silent before it makes room for others, and
	// patienceServed the time after an answer: a pool that is in use sends its next request earlier.
	patience       = time.Second
	patienceServed = 10 * time.Millisecond
	// few is the number of connections that a peer may have while any place is left. A quarter of all
	// places is for such peers, or the first dozen that are greedy would leave nothing to others.
	few = 8
	// longestPause is the time in which nothing is accepted while extra connections are answered: in a
	// row, and once more in any 30 seconds.
	longestPause = 3 * time.Second
)

// A connection is one that is open. Its fields are guarded by the lock of connections, but set and
// extra, which never change.
type connection struct {
	conn   net.Conn
	set    *connections
	peer   netip.Addr
	extra  bool
	places int64         // that it takes, if it is not extra
	closed bool          // to make room for another one
	served bool          // a request was answered
	since  time.Time     // when it was accepted or, if it is not extra, its last answer was complete
	place  *list.Element // in inTurn or extra
}

func newConnections(most int, metrics *Metrics) *connections {
	c := &connections{
		places: quota.NewPool(int64(most)), spare: int64(most) / 4, count: metrics.connections, http2: metrics.http2, open: map[net.Conn]*connection{},
		pauses: rate.NewLimiter(rate.Limit(longestPause.Microseconds())/30, int(longestPause.Microseconds())), gone: make(chan struct{}, 1),
	}
	c.busy = c.inTurn.PushBack((*connection)(nil))
	return c
}

// admit gives a new connection a place. It is the ConnContext of the server, which accepts no other
// connection before it returns.
func (c *connections) admit(ctx context.Context, conn net.Conn) context.Context {
	added := &connection{conn: conn, set: c, peer: quota.Peer(conn.RemoteAddr().String()), places: 1}
	c.mu.Lock()
	defer c.mu.Unlock()
	for added.place == nil {
		if c.take(added.peer) {
			added.place = c.inTurn.InsertBefore(added, c.busy)
		} else if old := c.silent(added.peer); old != nil {
			c.close(old)
		} else if c.extra.Len() < ExtraConnections {
			added.extra, added.place = true, c.extra.PushBack(added)
		} else if oldest := c.extra.Front().Value.(*connection); !c.pause(oldest.since.Add(patience)) {
			c.close(oldest)
		}
	}
	added.since = time.Now()
	c.open[conn] = added
	c.count.Inc()
	return context.WithValue(ctx, connectionKey{}, added)
}

type connectionKey struct{}

// take takes a place for a connection of a peer, and returns whether it could.
func (c *connections) take(peer netip.Addr) bool {
	return (c.places.Held(peer) < few || c.places.Left() > c.spare) && c.places.Take(peer, 1)
}

// silent returns the connection to close for one of a peer: of those that have no request in flight,
// and whose peers have no fewer connections, the one that has been silent for longest; or nil.
//
// A client may be sending a request at that moment, which is lost with the connection, as when it
// was idle for too long. So a connection has a while to send one, and is passed over if one has
// arrived.
func (c *connections) silent(peer netip.Addr) *connection {
	held, now := c.places.Held(peer), time.Now()
	for e := c.inTurn.Front(); e != c.busy; e = e.Next() {
		found := e.Value.(*connection)
		least := patience
		if found.served {
			least = patienceServed
		}
		if now.Sub(found.since) >= least && c.places.Held(found.peer) >= held && !unread(found.conn) {
			return found
		}
	}
	return nil
}

// unread reports whether a client has sent what net/http has not read yet.
func unread(conn net.Conn) bool {
	socket, ok := underTLS(conn).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = raw.Control(func(fd uintptr) {
		n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT) // below 0 for nothing
	})
	return err == nil && n > 0
}

// pause waits until a connection has gone, at most until a time. It returns false, and does not wait,
// if that time has come or if there were too many pauses: others wait for it, too.
func (c *connections) pause(until time.Time) bool {
	began := time.Now()
	left := min(until.Sub(began), time.Duration(c.pauses.TokensAt(began))*time.Microsecond)
	if left <= 0 {
		return false
	}
	c.mu.Unlock()
	defer c.mu.Lock()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-timer.C:
	}
	ended := time.Now()
	c.pauses.ReserveN(ended, int(min(ended.Sub(began), longestPause).Microseconds()))
	return true
}

// close closes a connection to make room.
func (c *connections) close(old *connection) {
	old.closed = true
	_ = underTLS(old.conn).Close() // since tls waits seconds for a client to take its farewell; its goroutine reports what the client sees, too
	c.remove(old)
}

// underTLS returns the connection that carries TLS, or the connection itself.
func underTLS(conn net.Conn) net.Conn {
	if over, ok := conn.(*tls.Conn); ok {
		return over.NetConn()
	}
	return conn
}

func (c *connections) remove(old *connection) {
	delete(c.open, old.conn)
	c.count.Dec()
	select {
	case c.gone <- struct{}{}:
	default:
	}
	if old.extra {
		c.extra.Remove(old.place)
		return
	}
	c.inTurn.Remove(old.place)
	c.places.Return(old.peer, old.places)
	if old.places > 1 {
		c.http2.Dec()
	}
}

// changed notes the state of a connection. It is the ConnState of the server.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.open[conn]
	switch {
	case known == nil: // it was closed to make room
	case state == http.StateClosed || state == http.StateHijacked:
		c.remove(known)
	case known.extra:
	case state == http.StateActive:
		c.inTurn.MoveToBack(known.place)
	case state == http.StateIdle:
		known.served, known.since = true, time.Now()
		c.inTurn.MoveBefore(known.place, c.busy)
	}
}

// lost reports whether the connection was closed to make room before its request was there.
func (of *connection) lost() bool {
	of.set.mu.Lock()
	defer of.set.mu.Unlock()
	return of.closed
}

// errConnections is for a request on an extra connection.
var errConnections = errors.New("too many connections are open")

// checkConnection answers 503 on extra connections, to anything but health checks, and closes them.
// A request that came as its connection was closed to make room is not served: its caller cannot be
// told what became of it.
func (a *API) checkConnection(next http.Handler) http.Handler {
	refuse := a.handle(func(http.ResponseWriter, *http.Request) error { return errConnections })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of, _ := r.Context().Value(connectionKey{}).(*connection)
		switch {
		case of == nil: // it is another server's
		case of.extra && !isHealthCheck(r):
			refuse(w, r)
			return
		case of.extra:
			w.Header().Set("Connection", "close")
		case of.lost():
			w.(*response).dropped = true // of observe
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
}

func isHealthCheck(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }
