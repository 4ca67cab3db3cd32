package api

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipe returns a connection of the service's, and its other end.
func pipe(t *testing.T) (ours, theirs net.Conn) {
	bare, theirs := net.Pipe()
	t.Cleanup(func() { _, _ = bare.Close(), theirs.Close() })
	return &conn{Conn: bare}, theirs
}

// TestDeadlinesAreThoseOfABareConnection sets deadlines at random, past and none among them, before a read or a write and
// while it waits, and compares with a connection that hears of each.
func TestDeadlinesAreThoseOfABareConnection(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		synctest.Test(t, func(t *testing.T) {
			ours, _ := pipe(t)
			bare, other := net.Pipe()
			defer func() { _, _ = bare.Close(), other.Close() }()
			write := round%2 == 1
			began := time.Now()
			set := func(to time.Time) {
				for _, c := range []net.Conn{ours, bare} {
					var err error
					if write {
						err = c.SetWriteDeadline(to)
					} else {
						err = c.SetReadDeadline(to)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			change := func() {
				switch n := random.IntN(6); n {
				case 0:
					set(time.Time{})
				case 1:
					set(time.Unix(1, 0))
				default:
					set(time.Now().Add(time.Duration(random.IntN(2000))*time.Millisecond + 500*time.Microsecond)) // between the steps
				}
				time.Sleep(time.Duration(1+random.IntN(500)) * time.Millisecond)
			}
			for range 1 + random.IntN(4) {
				change()
			}
			ended := make(chan string, 2)
			for i, c := range []net.Conn{ours, bare} {
				go func() {
					b := make([]byte, 10)
					var err error
					if write {
						_, err = c.Write(b)
					} else {
						_, err = c.Read(b)
					}
					ended <- fmt.Sprintf("%d: %v after %v", i, errors.Is(err, os.ErrDeadlineExceeded), time.Since(began))
				}()
			}
			synctest.Wait() // until both wait, or have ended
			for range random.IntN(4) {
				change()
			}
			set(time.Now().Add(time.Second)) // so that it ends
			outcomes := []string{<-ended, <-ended}
			slices.Sort(outcomes)
			if outcomes[0][2:] != outcomes[1][2:] {
				t.Errorf("round %d: %q", round, outcomes)
			}
		})
	}
}

// TestWritesGoOnWhereTheTimerWas has the timer run off while a part of what is written was taken.
func TestWritesGoOnWhereTheTimerWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := pipe(t)
		_ = ours.SetWriteDeadline(time.Now().Add(time.Second))
		_ = ours.SetWriteDeadline(time.Now().Add(time.Minute))
		text := []byte("0123456789")
		var got []byte
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range text {
				time.Sleep(300 * time.Millisecond)
				b := make([]byte, 1)
				_, _ = theirs.Read(b)
				got = append(got, b...)
			}
		}()
		if n, err := ours.Write(text); n != len(text) || err != nil {
			t.Errorf("wrote %d: %v", n, err)
		}
		if <-done; !bytes.Equal(got, text) {
			t.Errorf("%q arrived, want %q", got, text)
		}
	})
}

// serve serves a handler with the limits of the service, behind its listener or a bare one, and returns the address.
func serve(t *testing.T, handler http.Handler, bare bool) string {
	s := httptest.NewUnstartedServer(handler)
	s.Config = NewServer(&API{Options: Options{Logger: slog.New(slog.DiscardHandler)}}, Timeouts{Header: time.Minute, Read: time.Minute, Write: time.Minute, Idle: time.Minute})
	s.Config.Handler = handler
	if !bare {
		s.Listener = Listen(s.Listener)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestHeadersEndWhereTheyDidBefore sends headers of lengths around the limit, of which the last byte is read alone.
func TestHeadersEndWhereTheyDidBefore(t *testing.T) {
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	answered := func(addr string, length int) int {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		const head, end = "GET / HTTP/1.1\r\nHost: x\r\nX: ", "\r\n\r\n"
		text := head + strings.Repeat("x", length-len(head)-len(end)) + end
		_, _ = io.WriteString(c, text[:maxHeader+4096-1])
		time.Sleep(5 * time.Millisecond) // in which that is read
		_, _ = io.WriteString(c, text[maxHeader+4096-1:])
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("a header of %d bytes: %v", length, err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	ours, bare := serve(t, ok, false), serve(t, ok, true)
	seen := map[int]int{}
	for length := maxHeader + 4096 - 1; length < maxHeader+4096+20; length++ {
		got, want := answered(ours, length), answered(bare, length)
		if got != want {
			t.Errorf("a header of %d bytes is answered %d, want %d", length, got, want)
		}
		seen[got]++
	}
	if seen[200] == 0 || seen[431] == 0 {
		t.Errorf("answered %v: both were wanted", seen)
	}
}

// TestRequestsFollowEachOther sends requests together, and while the one before is being answered.
func TestRequestsFollowEachOther(t *testing.T) {
	begun, end := make(chan struct{}, 10), make(chan struct{})
	addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-end
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(text)
	}), false)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	request := func(body string) string {
		return fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	_, _ = io.WriteString(c, request("one")+request("two"))
	<-begun
	_, _ = io.WriteString(c, request("three"))
	close(end)
	in := bufio.NewReader(c)
	for _, want := range []string{"one", "two", "three"} {
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(response.Body); string(text) != want || err != nil {
			t.Errorf("answered %q, want %q: %v", text, want, err)
		}
	}
}

// TestLeavingCancelsNothing has the caller leave while the answer is made, which is made all the same.
func TestLeavingCancelsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, outcome := make(chan struct{}), make(chan error, 1)
		ours, theirs := net.Pipe()
		one := &oneConn{conn: ours, done: make(chan struct{})}
		s := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(begun)
			time.Sleep(time.Second) // in which the caller leaves
			outcome <- r.Context().Err()
		})}
		go func() { _ = s.Serve(Listen(one)) }()
		_, _ = io.WriteString(theirs, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-begun
		_ = theirs.Close()
		if err := <-outcome; err != nil {
			t.Errorf("the request ended with %v", err)
		}
		_ = s.Close()
	})
}

// A oneConn is a listener of one connection.
type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	close(l.done)
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
