package httpserver

import (
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
)

// A peerConn is a connection of a peer.
type peerConn struct {
	net.Conn
	peer   string
	closed bool
}

func (c *peerConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.peer), Port: 1} }
func (c *peerConn) Close() error         { c.closed = true; return nil }

// TestSilentConnectionsMakeRoom has all places of one peer taken. A new connection of the peer closes
// the one that has been silent longest, and none that may be about to send a request.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnections(8, NewMetrics(prometheus.NewRegistry(), 1))
		connect := func() (*peerConn, *connection) {
			conn := &peerConn{peer: "192.0.2.1"}
			return conn, c.admit(t.Context(), conn).Value(connectionKey{}).(*connection)
		}
		var first []*peerConn
		for range 4 { // half of the places
			conn, of := connect()
			first = append(first, conn)
			assert.False(t, of.extra, "a connection with a place is an extra one")
			time.Sleep(time.Millisecond)
		}
		c.changed(first[0], http.StateActive)
		c.changed(first[1], http.StateActive)
		c.changed(first[1], http.StateIdle)
		if conn, of := connect(); !of.extra {
			t.Error("a connection was closed right after it was accepted or answered")
		} else {
			c.changed(conn, http.StateClosed)
		}
		time.Sleep(servedIdle)
		if _, of := connect(); of.extra || !first[1].closed {
			t.Error("the connection that was answered does not make room")
		}
		time.Sleep(newIdle)
		if _, of := connect(); of.extra || !first[2].closed {
			t.Error("the connection that was silent longest does not make room")
		}
		assert.True(t, !first[0].closed && !first[3].closed, "a connection with a request in flight, or one that was silent for less time, was closed")
	})
}

// TestStateChangesWhileConnectionsAreAccepted has a request read, and its client leave, while another
// connection is accepted. It makes no room by closing the one with the request, and each place is
// returned once.
func TestStateChangesWhileConnectionsAreAccepted(t *testing.T) {
	c, conn := newConnections(2, NewMetrics(prometheus.NewRegistry(), 1)), &peerConn{peer: "192.0.2.1"}
	of := c.admit(t.Context(), conn).Value(connectionKey{}).(*connection)
	var changes sync.WaitGroup
	change := func(state http.ConnState) {
		changes.Go(func() { c.changed(conn, state) })
		assert.Eventually(t, func() bool { return of.busy.Load() == (state == http.StateActive) }, time.Minute, time.Millisecond)
	}
	c.mu.Lock()
	of.since = of.since.Add(-newIdle)
	assert.Same(t, of, c.idle(of.peer), "the connection to close")
	change(http.StateActive)
	assert.Nil(t, c.idle(of.peer), "the connection to close")
	change(http.StateClosed)
	c.close(of)
	c.mu.Unlock()
	changes.Wait()
	assert.Zero(t, c.places.Held(of.peer), "places of the peer")
}

// TestAcceptingPauses has all places and all extra ones taken. A new connection waits until an extra
// one has gone; when those are silent it waits for a second, and after some such seconds no more.
func TestAcceptingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnections(2, NewMetrics(prometheus.NewRegistry(), 1))
		var extra []*peerConn
		connect := func() time.Duration {
			began, conn := time.Now(), &peerConn{peer: "192.0.2.1"}
			if of := c.admit(t.Context(), conn).Value(connectionKey{}).(*connection); of.extra {
				extra = append(extra, conn)
			} else {
				c.changed(conn, http.StateActive)
			}
			return time.Since(began)
		}
		for range 1 + ExtraConnections {
			took := connect()
			assert.Truef(t, took == 0, "a connection with a place waits for %v", took)
		}
		go func() {
			time.Sleep(time.Millisecond)
			c.changed(extra[1], http.StateClosed)
		}()
		assert.Equal(t, time.Millisecond, connect(), "a connection waits for")
		assert.False(t, extra[0].closed, "a connection waits for")
		var waited time.Duration
		for range 10 * ExtraConnections {
			waited += connect()
		}
		if waited < longestPause*9/10 || waited > longestPause*12/10 || !extra[0].closed {
			t.Errorf("connections wait for silent ones for %v, want about %v", waited, longestPause)
		}
	})
}
