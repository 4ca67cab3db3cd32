package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// attackSize returns the size of an attack: short, which takes seconds, or whole with everyHostile.
func attackSize(short, whole int) int {
	if everyHostile {
		return whole
	}
	return short
}

// attackFrom has several addresses open so many connections together.
func (s *server) attackFrom(peers, connections int, text string) (open []net.Conn) {
	s.t.Helper()
	for i := range peers {
		open = append(open, s.attack(connections/peers, fmt.Sprintf("127.0.1.%d", i+1), text)...)
	}
	return open
}

// dialer returns a dialer that connects from a loopback address.
func dialer(from string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: waitLimit}
}

// narrow returns a dialer for connections with small segments and buffers, as over a network: the
// kernel accepts little of an answer that nobody reads.
func narrow(from string) *net.Dialer {
	d := dialer(from)
	d.Control = func(_, _ string, raw syscall.RawConn) (err error) {
		failed := raw.Control(func(fd uintptr) {
			err = errors.Join(syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 1_400),
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10))
		})
		return errors.Join(failed, err)
	}
	return d
}

// attack opens connections from a loopback address, sends a text on each, and holds them open until
// the test ends.
func (s *server) attack(connections int, from, text string) (open []net.Conn) {
	s.t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	places := make(chan struct{}, 200)
	for range connections {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			c, err := narrow(from).DialContext(s.t.Context(), "tcp", s.addr)
			if err != nil {
				return // the server may have too many
			}
			_ = c.SetWriteDeadline(time.Now().Add(waitLimit))
			_, _ = io.WriteString(c, text) // the server may have closed it
			mu.Lock()
			defer mu.Unlock()
			open = append(open, c)
		})
	}
	group.Wait()
	s.t.Cleanup(func() {
		for _, c := range open {
			_ = c.Close()
		}
	})
	return open
}

// from returns the server for a client at another loopback address. Connections are reused if keep is
// true.
func (s *server) from(address string, keep bool) *server {
	transport := &http.Transport{
		DialContext:       dialer(address).DialContext,
		DisableKeepAlives: !keep, MaxIdleConnsPerHost: 1024, DisableCompression: true,
		TLSClientConfig: s.secure, ForceAttemptHTTP2: s.secure != nil,
	}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &server{t: s.t, addr: s.addr, secure: s.secure, cmd: s.cmd, log: s.log, client: &http.Client{Transport: transport, Timeout: waitLimit}}
}

// polite checks that shuffles from another address are answered, one after the other.
func (s *server) polite(times int, body string) {
	s.t.Helper()
	caller := s.from("127.0.0.2", true)
	for range times {
		a, err := caller.ask(http.MethodPost, "/shuffle", body)
		assert.Truef(s.t, err == nil && a.status == http.StatusOK, "a polite caller is answered %v, %v", a, err)
	}
}

// withstands checks that an attack is within the promised memory, in MiB, and that other callers are
// served.
func (s *server) withstands(attack string, promised int) {
	s.t.Helper()
	s.polite(10, smallShuffle)
	if peak := s.memory("VmHWM"); peak > promised {
		s.t.Errorf("%s take %d MiB, want at most %d", attack, peak, promised)
	} else {
		s.t.Logf("%s take %d of %d MiB", attack, peak, promised)
	}
}

// limited returns a launch under a limit of descriptors.
func limited(descriptors int) launch {
	return launch{wrapper: []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, descriptors), "sh"}}
}

const idleRequest = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

// slowRequest is a request without the last byte of its body.
var slowRequest = "POST /shuffle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n" +
	`{"size": 52` + strings.Repeat(" ", 65536-12)

// TestHealthChecksBesideManyConnections has one or many peers take all connections under a limit of
// 220 descriptors, idle or with slow bodies. Health checks are still answered.
func TestHealthChecksBesideManyConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		peers      int
		served     bool // a polite caller is, too
	}{
		{"idle, of one peer", idleRequest, 1, true},
		{"idle, of many peers", idleRequest, 50, true},
		{"silent, of many peers", "", 50, true},
		{"slow, of one peer", slowRequest, 1, true},
		{"slow, of many peers", slowRequest, 50, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := limited(220).start(t)
			before := s.shuffle(smallShuffle).LogIndex
			s.attackFrom(c.peers, 400, c.text)
			for _, address := range []string{"127.0.0.2", "127.0.1.1"} {
				prober := s.from(address, false)
				for _, path := range []string{"/healthz", "/readyz", "/healthz"} {
					a, err := prober.ask(http.MethodGet, path, "")
					assert.Truef(t, err == nil && a.status == http.StatusOK, "%s from %s is answered %v, %v", path, address, a, err)
				}
			}
			if c.served {
				s.polite(10, smallShuffle)
				return
			}
			answers := s.sendRaw(t, wire(smallShuffle)+idleRequest)
			assert.Truef(t, len(answers) == 1 && answers[0].status == http.StatusServiceUnavailable && answers[0].header.Get("Retry-After") != "",
				"a shuffle without a place is answered %v, want 503 and nothing else", answers)
			s.kill() // its connections are held
			s = launch{data: s.data}.start(t)
			assert.Equal(t, before+1, s.shuffle(smallShuffle).LogIndex, "the next record")
		})
	}
}

// TestRequestsAtOnceAreAnswered has many more clients connect concurrently than fit. Each gets an
// answer, unless a second has passed before its request is sent: then others may replace it. No other
// test of the package runs beside it, since it needs both processors.
func TestRequestsAtOnceAreAnswered(t *testing.T) {
	for _, c := range []struct{ requests, peers int }{{attackSize(1_200, 4_000), 1}, {attackSize(1_500, 4_000), 30}} {
		t.Run(fmt.Sprintf("%d of %d peers", c.requests, c.peers), func(t *testing.T) {
			canOpen(t, c.requests+200)
			s := limited(1024).start(t)
			var mu sync.Mutex
			var group sync.WaitGroup
			statuses, open, late := map[int]int{}, []net.Conn{}, 0
			for i := range c.requests {
				group.Go(func() {
					began := time.Now()
					conn, err := dialer(fmt.Sprintf("127.0.2.%d", i%c.peers+1)).DialContext(t.Context(), "tcp", s.addr)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.WriteString(conn, wire(smallShuffle)) // fails if the server has closed it
					sent := time.Since(began)
					_ = conn.SetReadDeadline(time.Now().Add(waitLimit))
					status, retry := 0, ""
					answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err == nil {
						status, retry = answer.StatusCode, answer.Header.Get("Retry-After")
					}
					mu.Lock()
					defer mu.Unlock()
					open = append(open, conn)
					if err != nil && sent >= time.Second && !errors.Is(err, os.ErrDeadlineExceeded) {
						late++
						return
					}
					if statuses[status]++; (status == 503 || status == 429) && retry == "" {
						t.Errorf("%d without Retry-After", status)
					}
				})
			}
			group.Wait()
			for _, conn := range open {
				_ = conn.Close()
			}
			assert.Truef(t, statuses[200] >= c.requests/10 && statuses[200]+statuses[429]+statuses[503]+late == c.requests,
				"%d requests at once are answered %v (0 is none), %d late ones are not", c.requests, statuses, late)
			assert.False(t, c.peers == 1 && statuses[503] > 0, "the only peer is told that all places are taken")
			for reason, status := range map[string]int{"connections": 503, "share": 429} {
				rejected := s.metric("riffle_rejected_requests_total", fmt.Sprintf("reason=%q", reason))
				if more := int(rejected) - statuses[status]; more < 0 || more > late {
					t.Errorf("%v requests are counted for the reason %q, and %d were answered %d, and %d late ones at most", rejected, reason, statuses[status], status, late)
				}
			}
			closed := int(s.metric("riffle_connections_closed_total", ""))
			assert.LessOrEqualf(t, late, closed, "%d late ones have no answer, and %d connections are counted as closed", late, closed)
			s.stop()
			if log := s.log.String(); strings.Count(log, `"dropped"`) > late || strings.Contains(log, `"route":"none","status":200`) {
				t.Error("the access log has requests that were dropped")
			}
			t.Logf("answered %v, %d late ones not", statuses, late)
		})
	}
}

// canOpen skips the test unless so many descriptors can be open.
func canOpen(t *testing.T, descriptors int) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < uint64(descriptors) {
		skipOrFail(t, "only %d of %d descriptors can be open: %v", limit.Cur, descriptors, err)
	}
}
