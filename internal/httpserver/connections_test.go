package httpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/quota"
)

// A peerConn is a connection of a peer. Its Read returns a byte.
type peerConn struct {
	socket
	peer   string
	closed bool
	looked func() // called where bytes to read are looked for; nil for nothing
}

func (c *peerConn) RemoteAddr() net.Addr     { return &net.TCPAddr{IP: net.ParseIP(c.peer), Port: 1} }
func (c *peerConn) Read([]byte) (int, error) { return 1, nil }
func (c *peerConn) Close() error             { c.closed = true; return nil }

func (c *peerConn) SyscallConn() (syscall.RawConn, error) {
	if c.looked != nil {
		c.looked()
	}
	return nil, errors.ErrUnsupported
}

// connect admits a connection.
func (c *connections) connect(t *testing.T) (*peerConn, *connection) {
	conn := &peerConn{peer: "192.0.2.1"}
	return conn, connectionOf(c.admit(t.Context(), &connection{socket: conn, set: c}))
}

// TestSilentConnectionsMakeRoom has all places of one peer taken. A new connection of the peer closes
// the one that has been silent longest, and none that may be about to send a request.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnections(8, NewMetrics(prometheus.NewRegistry(), 1))
		var sockets []*peerConn
		var first []*connection
		for range 4 { // half of the places
			conn, of := c.connect(t)
			sockets, first = append(sockets, conn), append(first, of)
			assert.False(t, of.refused != nil, "a connection with a place is an extra one")
			time.Sleep(time.Millisecond)
		}
		makesRoom := func(want *peerConn) {
			t.Helper()
			_, of := c.connect(t)
			if of.refused != nil {
				c.changed(of, http.StateClosed)
			}
			if want == nil {
				assert.True(t, of.refused != nil, "a connection that was just accepted, answered or sent to has made room")
			} else {
				assert.True(t, want.closed && of.refused == nil, "the connection that was silent longest makes no room")
			}
		}
		c.changed(first[0], http.StateActive)
		for _, answered := range first[1:3] {
			c.changed(answered, http.StateActive)
			c.changed(answered, http.StateIdle)
		}
		makesRoom(nil)
		time.Sleep(servedIdle)
		_, _ = first[1].Read(nil) // the first byte of a request
		makesRoom(sockets[2])
		makesRoom(nil)
		time.Sleep(newIdle - time.Millisecond)
		_, _ = first[1].Read(nil) // slowly; it gets no more time
		makesRoom(sockets[3])
		time.Sleep(time.Millisecond)
		makesRoom(sockets[1])
		assert.False(t, sockets[0].closed, "a connection with a request in flight was closed")
	})
}

// TestStateChangesWhileConnectionsAreAccepted has a request read, and its client leave, while another
// connection is accepted. It makes no room by closing the one with the request, and each place is
// returned once.
func TestStateChangesWhileConnectionsAreAccepted(t *testing.T) {
	c := newConnections(2, NewMetrics(prometheus.NewRegistry(), 1))
	conn, of := c.connect(t)
	var changes sync.WaitGroup
	c.mu.Lock()
	of.kept.Store(0)
	assert.Same(t, of, c.idle(of.peer), "the connection to close")
	of.answered.Store(true)
	conn.looked = func() { _, _ = of.Read(nil) }
	assert.Nil(t, c.idle(of.peer), "the connection to close while net/http reads from it")
	of.kept.Store(0)
	changes.Go(func() { c.changed(of, http.StateActive) })
	assert.Eventually(t, func() bool { return c.idle(of.peer) == nil }, time.Minute, time.Millisecond)
	changes.Go(func() { c.changed(of, http.StateClosed) })
	c.replace(of)
	c.mu.Unlock()
	changes.Wait()
	assert.Zero(t, c.places.Held(of.peer), "places of the peer")
}

// TestExtraConnectionsSayWhoseShareIsFull has one address take its share, and then others take the
// rest. A connection of the first is refused for its own share. Another address is refused since
// all places are taken, and so is a caller behind the first, which is then a proxy.
func TestExtraConnectionsSayWhoseShareIsFull(t *testing.T) {
	c := newConnections(16, NewMetrics(prometheus.NewRegistry(), 1))
	connect := func(peer string) *connection {
		of := connectionOf(c.admit(t.Context(), &connection{socket: &peerConn{peer: peer}, set: c}))
		c.changed(of, http.StateActive)
		return of
	}
	refusal := func(of *connection, caller string) error {
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), connectionKey{}, of), http.MethodGet, "/", nil)
		r.RemoteAddr = caller + ":1"
		return CheckConnection(httptest.NewRecorder(), r, false)
	}
	for range 8 {
		require.NoError(t, connect("192.0.2.1").refused)
	}
	own := connect("192.0.2.1")
	assert.ErrorIs(t, refusal(own, "192.0.2.1"), quota.ErrShare)
	behind := refusal(own, "203.0.113.1")
	assert.Truef(t, errors.Is(behind, ErrConnections) && !errors.Is(behind, quota.ErrShare), "a caller behind a proxy: %v", behind)
	for _, peer := range []string{"192.0.2.2", "192.0.2.2", "192.0.2.2", "192.0.2.2", "192.0.2.3", "192.0.2.3", "192.0.2.4"} {
		require.NoError(t, connect(peer).refused)
	}
	full := refusal(connect("192.0.2.5"), "192.0.2.5")
	assert.Truef(t, errors.Is(full, ErrConnections) && !errors.Is(full, quota.ErrShare), "a new address: %v", full)
}

func TestBufferOfSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	client, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	accepted, err := listener{l, newConnections(2, NewMetrics(prometheus.NewRegistry(), 1)), 32 << 10}.Accept()
	require.NoError(t, err)
	defer func() { _ = accepted.Close() }()
	raw, err := below(accepted).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		for _, option := range []int{syscall.SO_RCVBUF, syscall.SO_SNDBUF} {
			size, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, option)
			require.NoError(t, err)
			assert.Equal(t, 64<<10, size, "Linux doubles it")
		}
	}))
}

// TestAcceptingPauses has all places and all extra ones taken. A new connection waits until an extra
// one has gone; when those are silent it waits for a second, and after some such seconds no more. Those
// that are closed for others are counted.
func TestAcceptingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnections(2, NewMetrics(prometheus.NewRegistry(), 1))
		var extra []*connection
		connect := func() time.Duration {
			began := time.Now()
			_, of := c.connect(t)
			c.changed(of, http.StateActive)
			if of.refused != nil {
				extra = append(extra, of)
			}
			return time.Since(began)
		}
		for range 1 + few {
			took := connect()
			assert.Truef(t, took == 0, "a connection with a place waits for %v", took)
		}
		go func() {
			time.Sleep(time.Millisecond)
			c.changed(extra[1], http.StateClosed)
		}()
		assert.Equal(t, time.Millisecond, connect(), "a connection waits for")
		assert.False(t, extra[0].replaced, "the oldest was closed for it")
		var waited time.Duration
		for range 10 * few {
			waited += connect()
		}
		assert.Truef(t, waited >= longestPause*9/10 && waited <= longestPause*12/10 && extra[0].replaced,
			"connections wait for silent ones for %v, want about %v", waited, longestPause)
		replaced := 0
		for _, of := range extra {
			if of.replaced {
				replaced++
			}
		}
		var counted dto.Metric
		require.NoError(t, c.metrics.closed.Write(&counted))
		assert.EqualValues(t, replaced, counted.GetCounter().GetValue())
	})
}
