package main

import (
	"bufio"
	"bytes"
	"context"
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

func TestAnswersAreReadToTheirEnds(t *testing.T) {
	const next = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	for name, answer := range map[string]string{
		"a length":   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"a\":\r\n\r\n[]}",
		"chunks":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab\r\nc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
		"no content": next,
	} {
		c := &connection{in: bufio.NewReader(strings.NewReader(answer + next))}
		for i := range 2 {
			if err := c.discardAnswer(); err != nil {
				t.Errorf("%s: answer %d: %v", name, i, err)
			}
		}
		if _, err := c.in.Peek(1); err != io.EOF {
			t.Errorf("%s: something is left", name)
		}
	}
	for name, answer := range map[string]string{
		"a refusal":   "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
		"no length":   "HTTP/1.1 200 OK\r\n\r\n",
		"a short one": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
		"short parts": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
	} {
		c := &connection{in: bufio.NewReader(strings.NewReader(answer))}
		if err := c.discardAnswer(); err == nil {
			t.Errorf("%s is taken for an answer", name)
		}
	}
}

// serverOf serves a handler and returns its address.
func serverOf(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestClosedLoop(t *testing.T) {
	var asked atomic.Int64
	addr := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != shuffleOf52.body || r.URL.Path != "/shuffle" {
			t.Errorf("asked %s for %q, %v", r.URL, body, err)
		}
		asked.Add(1)
		_, _ = w.Write(bytes.Repeat(body, 100)) // in chunks
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	got, err := closedLoop(ctx, addr, shuffleOf52, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.latencies) == 0 || len(got.latencies) != int(asked.Load()) || len(got.firsts) != len(got.latencies) || got.took < 100*time.Millisecond {
		t.Errorf("%d answers, of which %d began, to %d requests in %s", len(got.latencies), len(got.firsts), asked.Load(), got.took)
	}
	for i := range got.firsts {
		if got.firsts[i] > got.latencies[i] {
			t.Fatal("an answer ends before it begins")
		}
	}
	refusing := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) })
	if _, err := closedLoop(t.Context(), refusing, shuffleOf52, 2); err == nil {
		t.Error("refusals are taken for answers")
	}
}

// TestOpenLoopCountsWaits asks a server that stands still for the first request over its only connection: those that were due
// meanwhile have waited, whatever they took once they were sent.
func TestOpenLoopCountsWaits(t *testing.T) {
	const stall, rate = 200 * time.Millisecond, 100
	var asked atomic.Int64
	addr := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			time.Sleep(stall)
		}
		_, _ = w.Write([]byte("{}"))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*stall)
	defer cancel()
	got, err := openLoop(ctx, addr, deckOf52, 1, rate)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got.latencies)
	waited := 0
	for _, l := range got.latencies {
		if l > stall/4 {
			waited++
		}
	}
	if due := int(stall.Seconds() * rate * 3 / 4); waited < due {
		t.Errorf("of %d requests %d have waited, want %d: %s", len(got.latencies), waited, due, fmt.Sprint(got.latencies))
	}
	if most := int(got.took.Seconds()*rate) + 1; len(got.latencies) > most {
		t.Errorf("%d requests were sent, at most %d were due", len(got.latencies), most)
	}
	refusing := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) })
	if _, err := openLoop(t.Context(), refusing, deckOf52, 2, rate); err == nil {
		t.Error("refusals are taken for answers")
	}
}
