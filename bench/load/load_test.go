package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestReceiveReadsWholeResponses(t *testing.T) {
	const next = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	for name, test := range map[string]struct{ response, body string }{
		"a length":      {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"a\":\r\n\r\n[]}", "{\"a\":\r\n\r\n[]}"},
		"chunks":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab\r\nc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n", "ab\r\nc0123456789abcdef"},
		"lower case":    {"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}", "{}"},
		"an empty body": {next, ""},
	} {
		for _, fetch := range []bool{false, true} {
			c := &Conn{in: bufio.NewReader(strings.NewReader(test.response + next))}
			if err := c.receive(fetch); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if fetch && c.body.String() != test.body {
				t.Errorf("%s: fetched %q, want %q", name, &c.body, test.body)
			}
			if err := c.receive(fetch); err != nil {
				t.Errorf("%s: the response after it: %v", name, err)
			}
			if _, err := c.in.Peek(1); err != io.EOF {
				t.Errorf("%s: bytes are left over", name)
			}
		}
	}
	for name, response := range map[string]string{
		"a refusal":           "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
		"no length":           "HTTP/1.1 200 OK\r\n\r\n",
		"a truncated body":    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
		"a truncated chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"a malformed chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nab",
		"no status":           "HTTP/1.1\r\n\r\n",
		"nothing but a blank": "\r\n",
	} {
		c := &Conn{in: bufio.NewReader(strings.NewReader(response))}
		if err := c.receive(false); err == nil {
			t.Errorf("%s passes for a response", name)
		}
	}
}

// serve serves a handler and returns its address.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// bounded returns a context for a loop that must end by itself, with an error.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func busy(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "busy", http.StatusServiceUnavailable)
}

func TestClosedCountsEveryResponse(t *testing.T) {
	var requests atomic.Int64
	sent := Post("/shuffle", `{"items":["a","b"]}`)
	sent.Header += "Idempotency-Key: 7\r\n"
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != sent.Body || r.URL.Path != "/shuffle" || r.Header.Get("Idempotency-Key") != "7" {
			t.Errorf("%s with %q and %v, %v", r.URL, body, r.Header, err)
		}
		requests.Add(1)
		_, _ = w.Write(bytes.Repeat(body, 1000)) // in chunks
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	got, err := Closed(ctx, Target{Addrs: []string{addr}, Connections: 3, Exchange: Repeat(sent)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Latencies); n == 0 || n != int(requests.Load()) || len(got.FirstBytes) != n || got.Took < 100*time.Millisecond {
		t.Errorf("%d responses, %d first bytes, %d requests in %s", n, len(got.FirstBytes), requests.Load(), got.Took)
	}
	for i := range got.FirstBytes {
		if got.FirstBytes[i] > got.Latencies[i] {
			t.Fatal("a first byte comes after the last")
		}
	}
	if _, err := Closed(bounded(t), Target{Addrs: []string{serve(t, busy)}, Connections: 2, Exchange: Repeat(sent)}); err == nil {
		t.Error("refusals pass for responses")
	}
}

func TestClosedStopsWhenDone(t *testing.T) {
	addrs := []string{serve(t, func(http.ResponseWriter, *http.Request) {}), serve(t, func(http.ResponseWriter, *http.Request) {})}
	var next atomic.Int64
	got, err := Closed(t.Context(), Target{Addrs: addrs, Connections: 4, Exchange: func() Exchange {
		return func(c *Conn) error {
			if next.Add(1) > 100 {
				return ErrDone
			}
			return c.Send(Get("/"))
		}
	}})
	if err != nil || len(got.Latencies) != 100 {
		t.Errorf("%d responses, want 100: %v", len(got.Latencies), err)
	}
}

// TestClosedRetriesFaults asks a server that fails every other time and closes each connection.
func TestClosedRetriesFaults(t *testing.T) {
	var requests, served atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		if requests.Add(1)%2 == 1 {
			busy(w, r)
		} else {
			served.Add(1)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	target := Target{Addrs: []string{addr}, Connections: 1, Exchange: Repeat(Get("/")), RetryFaults: true}
	got, err := Closed(ctx, target)
	if err != nil || len(got.Latencies) == 0 || len(got.Latencies) != int(served.Load()) {
		t.Errorf("%d responses were counted of %d: %v", len(got.Latencies), served.Load(), err)
	}
	target.Addrs = []string{serve(t, http.NotFound)}
	status := (*StatusError)(nil)
	if _, err := Closed(bounded(t), target); !errors.As(err, &status) || status.Status != http.StatusNotFound {
		t.Errorf("a request that is at fault itself is repeated: %v", err)
	}
}

// TestOpenCountsWaiting sends requests to a server that stalls on the first, over one connection:
// those that were due meanwhile have waited, however fast they were answered once they were sent.
func TestOpenCountsWaiting(t *testing.T) {
	const stall, rate = 200 * time.Millisecond, 100
	var requests atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			time.Sleep(stall)
		}
		_, _ = w.Write([]byte("{}"))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*stall)
	defer cancel()
	got, err := Open(ctx, addr, Get("/decks/standard52"), 1, rate)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got.Latencies)
	waited := 0
	for _, l := range got.Latencies {
		if l > stall/4 {
			waited++
		}
	}
	if due := int(stall.Seconds() * rate * 3 / 4); waited < due {
		t.Errorf("%d of %d requests waited, want %d: %s", waited, len(got.Latencies), due, fmt.Sprint(got.Latencies))
	}
	if most := int(got.Took.Seconds()*rate) + 1; len(got.Latencies) > most {
		t.Errorf("%d requests were sent, at most %d were due", len(got.Latencies), most)
	}
	if _, err := Open(bounded(t), serve(t, busy), Get("/"), 2, rate); err == nil {
		t.Error("refusals pass for responses")
	}
}
