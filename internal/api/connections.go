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

	"github.com/prometheus/client_golang/prometheus"

	"riffle/internal/share"
)

// connections bounds how many connections are open, and how many each peer has. When there is no
// place for another one, it closes one that waits for a request, the one that has waited longest
// first. If none waits, the new connection is an extra one, which is served health checks alone.
//
// The connections are net/http's own, which reports their states: see [http.Server].
type connections struct {
	places *share.Pool
	count  prometheus.Gauge
	http2  prometheus.Gauge // of those that may use HTTP/2

	mu     sync.Mutex
	open   map[net.Conn]*connection
	inTurn list.List     // of *connection: those that wait, the longest first; then busy; then the others
	busy   *list.Element // divides those that wait from those with a request in flight
	extra  list.List     // of *connection, the oldest first
}

// ExtraConnections is how many connections there may be in addition, for health checks alone.
// Beyond them the oldest is closed.
const ExtraConnections = 32

// A connection is one that is open. Its fields are guarded by the lock of connections, but set and
// extra, which never change.
type connection struct {
	conn   net.Conn
	set    *connections
	peer   netip.Addr
	extra  bool
	places int64         // that it takes, if it is not extra
	closed bool          // to make room for another one
	place  *list.Element // in inTurn or extra
}

func newConnections(most int, metrics *Metrics) *connections {
	c := &connections{places: share.NewPool(int64(most)), count: metrics.connections, http2: metrics.http2, open: map[net.Conn]*connection{}}
	c.busy = c.inTurn.PushBack((*connection)(nil))
	return c
}

// admit gives a new connection a place. It is the ConnContext of the server.
func (c *connections) admit(ctx context.Context, conn net.Conn) context.Context {
	added := &connection{conn: conn, set: c, peer: share.Peer(conn.RemoteAddr().String()), places: 1}
	c.mu.Lock()
	defer c.mu.Unlock()
	for !added.extra && !c.places.Take(added.peer, 1) {
		if waiting := c.waiting(added.peer); waiting != nil {
			c.close(waiting)
		} else {
			added.extra = true
		}
	}
	if added.extra {
		if c.extra.Len() == ExtraConnections {
			c.close(c.extra.Front().Value.(*connection))
		}
		added.place = c.extra.PushBack(added)
	} else {
		added.place = c.inTurn.InsertBefore(added, c.busy)
	}
	c.open[conn] = added
	c.count.Inc()
	return context.WithValue(ctx, connectionKey{}, added)
}

type connectionKey struct{}

// waiting returns the connection to close for one of a peer: of those that wait for a request, and
// whose peers have no fewer connections, the one that has waited longest. It is nil if there is none.
func (c *connections) waiting(peer netip.Addr) *connection {
	held := c.places.Held(peer)
	for e := c.inTurn.Front(); e != c.busy; e = e.Next() {
		if found := e.Value.(*connection); c.places.Held(found.peer) >= held {
			return found
		}
	}
	return nil
}

// close closes a connection to make room.
func (c *connections) close(old *connection) {
	old.closed = true
	conn := old.conn
	if over, ok := conn.(*tls.Conn); ok {
		conn = over.NetConn() // since tls waits seconds for a client to take its farewell
	}
	_ = conn.Close() // its goroutine reports what the client sees, too
	c.remove(old)
}

func (c *connections) remove(old *connection) {
	delete(c.open, old.conn)
	c.count.Dec()
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
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
}

func isHealthCheck(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }
