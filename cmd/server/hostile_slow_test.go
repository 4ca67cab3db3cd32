package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// longest is a request for one of the longest answers: a million items ten times, 80 MB.
const longest = `{"size": 1000000, "repeat": 10}`

// readSlowly reads an answer at so many bytes a second until the connection is closed by either side,
// and returns how much had come.
func readSlowly(c net.Conn, rate int) (read int) {
	tick := time.NewTicker(100 * time.Millisecond) // the pace of the client
	defer tick.Stop()
	buf := make([]byte, rate/10)
	for range tick.C {
		n, err := io.ReadFull(c, buf)
		if read += n; err != nil {
			return read
		}
	}
	return read
}

// wire returns a request with a body as it goes over the wire.
func wire(body string) string {
	return fmt.Sprintf("POST /shuffle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// TestSlowReadersLeaveMemory has readers of the longest answers, from one address, take 4 KB a
// second (H4). Beside them another caller gets lists of 2,000 and of a million.
func TestSlowReadersLeaveMemory(t *testing.T) {
	t.Parallel()
	const readers = 14
	s := launch{}.start(t)
	items := `{"items":["0123456789"` + strings.Repeat(`,"0123456789"`, 999_999) + `]}`
	attacks := []string{wire(longest), wire(strings.Replace(items, "}", `,"repeat":10}`, 1))}
	for i := range readers {
		for _, c := range s.attack(1, "127.0.0.3", attacks[i%2]) {
			go readSlowly(c, 4_000) // until the test closes it
		}
	}
	short := s.polite(20, `{"items":["a"`+strings.Repeat(`,"a"`, 1_999)+`]}`)
	long := s.polite(3, items)
	if peak := s.memory("VmHWM"); peak > 2*512+256 {
		t.Errorf("%d slow readers take %d MiB, want at most %d", readers, peak, 2*512+256)
	} else {
		t.Logf("beside %d slow readers, which take %d MiB, a list of 2,000 takes %v and one of a million %v", readers, peak, short, long)
	}
}

// TestAnswersHaveALeastRate has callers take nothing of a long answer, or so little at a time that
// every part of it is accepted within the write timeout. They are cut off, and a fast caller gets
// all of it. What the kernel accepts ahead of a caller grows with what it reads, so the second one
// takes a minute.
func TestAnswersHaveALeastRate(t *testing.T) {
	t.Parallel()
	rate, limit := attackSize(0, 25_000), time.Duration(attackSize(20, 180))*time.Second
	s := launch{args: []string{"-write-timeout", fmt.Sprintf("%dms", attackSize(300, 3_000))}}.start(t)
	slow := s.attack(1, "127.0.0.3", wire(longest))
	if len(slow) != 1 {
		t.Fatal("no connection")
	}
	began := time.Now()
	if rate > 0 {
		go readSlowly(slow[0], rate)
	}
	cut := func() bool { return s.metric("riffle_http_request_duration_seconds_count", `route="/shuffle"`) > 0 }
	for ; !cut(); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("after %v an answer at %d bytes a second is not cut off", limit, rate)
		}
	}
	t.Logf("an answer at %d bytes a second is cut off after %v", rate, time.Since(began))
	if a := s.post("/shuffle", longest); a.status != http.StatusOK || len(a.body) < 60<<20 {
		t.Errorf("a fast caller is answered %d and %d bytes", a.status, len(a.body))
	}
}
