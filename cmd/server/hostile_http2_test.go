package main_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// An http2Client sends arbitrary frames on one connection, and reads only on request.
type http2Client struct {
	*http2.Framer
	conn   net.Conn
	fields *hpack.Encoder
	block  bytes.Buffer
}

// dialHTTP2 opens a connection from a loopback address with a window for each answer. It returns nil
// if the server does not speak HTTP/2 on it.
func (s *server) dialHTTP2(from string, window uint32) *http2Client {
	dialer := &tls.Dialer{NetDialer: narrow(from), Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}
	conn, err := dialer.DialContext(s.t.Context(), "tcp", s.addr)
	if err != nil {
		return nil // there is no protocol in common
	}
	_ = conn.SetDeadline(time.Now().Add(2 * waitLimit))
	c := &http2Client{Framer: http2.NewFramer(conn, conn), conn: conn}
	c.fields = hpack.NewEncoder(&c.block)
	_, _ = conn.Write([]byte(http2.ClientPreface))
	_ = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	_ = c.WriteSettingsAck()
	return c
}

// request sends the header of a request with more fields.
func (c *http2Client) request(stream uint32, method, path string, end bool, more ...string) {
	c.block.Reset()
	for _, f := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path}, {"content-type", "application/json"}} {
		_ = c.fields.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	for i := 0; i < len(more); i += 2 {
		_ = c.fields.WriteField(hpack.HeaderField{Name: more[i], Value: more[i+1]})
	}
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.block.Bytes(), EndStream: end, EndHeaders: true})
}

// hold begins many requests with long headers, and fills the connection's window with their bodies.
func (c *http2Client) hold(method, path string) {
	for stream := range uint32(64) {
		c.request(2*stream+1, method, path, false, "x-long", strings.Repeat("x", 7_000))
		if stream < 16 {
			_ = c.WriteData(2*stream+1, false, bytes.Repeat([]byte(" "), 4<<10-256))
		}
	}
}

// holdFields begins as many requests as permitted with nearly the largest number of fields, and then
// others with more fields.
func (c *http2Client) holdFields() {
	var fields []string
	for i := range 95 {
		fields = append(fields, fmt.Sprintf("x%02d", i), "")
	}
	for stream := range uint32(64) {
		if stream == 16 {
			for i := range 120 {
				fields = append(fields, fmt.Sprintf("y%02d", i), "")
			}
		}
		c.request(2*stream+1, http.MethodPost, "/shuffle", false, fields...)
		if stream >= 16 {
			_ = c.WriteRSTStream(2*stream+1, http2.ErrCodeCancel)
		} else {
			_ = c.WriteData(2*stream+1, false, bytes.Repeat([]byte(" "), 4<<10-256))
		}
	}
}

// TestHTTP2Limits reads the server's settings.
func TestHTTP2Limits(t *testing.T) {
	t.Parallel()
	s := launch{}.overTLS(t)
	c := s.dialHTTP2("127.0.0.3", 0)
	defer func() { _ = c.conn.Close() }()
	limits := map[http2.SettingID]uint32{}
	window := uint32(65_535) // RFC 9113, 6.9.2
	for acknowledged := false; !acknowledged; {
		frame, err := c.ReadFrame()
		require.NoError(t, err)
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			acknowledged = f.IsAck()
			_ = f.ForeachSetting(func(s http2.Setting) error {
				limits[s.ID] = s.Val
				return nil
			})
		case *http2.WindowUpdateFrame:
			window += f.Increment
		}
	}
	for id, want := range map[http2.SettingID]uint32{
		http2.SettingMaxConcurrentStreams: 16, http2.SettingMaxFrameSize: 16 << 10, http2.SettingInitialWindowSize: 64 << 10, http2.SettingMaxHeaderListSize: 8<<10 + 320,
	} {
		assert.Equalf(t, want, limits[id], "%v", id)
	}
	assert.Truef(t, window <= 64<<10, "a connection may send %d bytes, want at most %d", window, 64<<10)
}

// TestHTTP2StaysWithinMemory has all connections that may use HTTP/2 hold as much memory as they can,
// or keep the server busy, while others are served.
func TestHTTP2StaysWithinMemory(t *testing.T) {
	t.Parallel()
	for _, attack := range []struct {
		name string
		send func(*http2Client)
	}{
		{"silence", func(*http2Client) {}},
		{"held answers", func(c *http2Client) { c.hold(http.MethodGet, "/decks/standard52?repeat=120") }},
		{"held bodies", func(c *http2Client) { c.hold(http.MethodPost, "/shuffle") }},
		{"many fields", func(c *http2Client) { c.holdFields() }},
		{"pings beside held answers", func(c *http2Client) {
			c.hold(http.MethodGet, "/decks/standard52?repeat=120")
			for range 14_000 { // net/http lets 10,000 answers wait, beyond what the kernel takes
				if c.WritePing(false, [8]byte{}) != nil {
					return
				}
			}
		}},
		{"rapid resets", func(c *http2Client) { // CVE-2023-44487
			for stream := range uint32(attackSize(300, 3_000)) {
				c.request(2*stream+1, http.MethodPost, "/shuffle", false, "x-long", strings.Repeat("x", 7_000))
				if c.WriteRSTStream(2*stream+1, http2.ErrCodeCancel) != nil {
					return
				}
			}
		}},
		{"headers without end", func(c *http2Client) { // CVE-2023-45288
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1})
			for range 5_000 {
				if c.WriteContinuation(1, false, []byte("\x00\x01a\x01b")) != nil {
					return
				}
			}
		}},
	} {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			l, promised := attacked()
			s := l.overTLS(t)
			open := s.attackHTTP2(attackSize(8, 60), 0, attack.send)
			s.withstands(fmt.Sprintf("%d connections", open), promised)
			still, most := s.metric("riffle_http2_connections", ""), s.metric("riffle_connections_capacity", "")/16
			assert.Truef(t, still <= most, "%v connections may use HTTP/2, want at most %v", still, most)
		})
	}
}

// attackHTTP2 has 20 loopback addresses open so many connections each, and returns the number over
// HTTP/2. They stay open until the test ends.
func (s *server) attackHTTP2(each int, window uint32, send func(*http2Client)) (open int) {
	s.t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	for peer := range 20 {
		group.Go(func() {
			for range each {
				c := s.dialHTTP2(fmt.Sprintf("127.0.1.%d", peer+1), window)
				if c == nil {
					continue
				}
				s.t.Cleanup(func() { _ = c.conn.Close() })
				send(c)
				mu.Lock()
				open++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return open
}

// TestHandshakesEnd opens connections without a handshake. They are closed after -header-timeout.
func TestHandshakesEnd(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-header-timeout=3s", "-read-timeout=5m"}}.overTLS(t)
	for _, c := range s.attack(20, "127.0.0.3", "") {
		_ = c.SetReadDeadline(time.Now().Add(waitLimit))
		n, err := c.Read(make([]byte, 1))
		require.Truef(t, n == 0 && !errors.Is(err, os.ErrDeadlineExceeded), "%d bytes and %v, want the end of the connection", n, err)
	}
	until(t, "connections are not counted any more", func() bool { return s.metric("riffle_connections", "") <= 1 })
}

// TestHTTP2AnswersHaveALeastRate has clients open no window for a long answer, or a small one, or not
// read from the connection. All are disconnected.
func TestHTTP2AnswersHaveALeastRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		window    uint32
		increment uint32 // of the window, each 100 ms
		reads     bool
	}{
		{"no window", 0, 0, true},
		{"a small window", 100, 400, true},
		{"nothing is read", 1 << 30, 1 << 20, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := launch{args: []string{"-write-timeout=500ms", "-read-timeout=1s"}}.overTLS(t)
			client := s.dialHTTP2("127.0.0.3", c.window)
			defer func() { _ = client.conn.Close() }()
			client.request(1, http.MethodPost, "/shuffle", false)
			_ = client.WriteData(1, true, []byte(longest))
			if c.reads {
				go func() { _, _ = io.Copy(io.Discard, client.conn) }()
			}
			if c.increment > 0 {
				go func() {
					tick := time.NewTicker(100 * time.Millisecond) // the pace of the client
					defer tick.Stop()
					for range tick.C {
						if client.WriteWindowUpdate(1, c.increment) != nil || client.WriteWindowUpdate(0, c.increment) != nil {
							return
						}
					}
				}()
			}
			until(t, "the answer is cut off", func() bool {
				return s.metric("riffle_http_request_duration_seconds_count", `route="/shuffle"`) > 0
			})
			s.servesLongest()
		})
	}
}
