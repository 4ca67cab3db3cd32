package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// longest is a request with one of the longest answers: ten times a million items, 80 MB.
const longest = `{"size": 1000000, "repeat": 10}`

// readSlowly reads an answer at so many bytes a second until either side closes the connection.
func readSlowly(c net.Conn, rate int) {
	tick := time.NewTicker(100 * time.Millisecond) // the pace of the client
	defer tick.Stop()
	buf := make([]byte, rate/10)
	for range tick.C {
		if _, err := io.ReadFull(c, buf); err != nil {
			return
		}
	}
}

// wire returns the bytes of a POST /shuffle.
func wire(body string) string { return postText("/shuffle", body) }

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
	s.polite(20, `{"items":["a"`+strings.Repeat(`,"a"`, 1_999)+`]}`)
	s.polite(3, items)
	s.withstands("slow readers", 2*512+256)
}

// TestAnswersHaveALeastRate has callers read nothing of a long answer, or so little that every part
// is accepted within the write timeout. They are disconnected, and a fast caller gets the whole
// answer. The kernel accepts more the faster a caller reads, so the second caller takes a minute.
func TestAnswersHaveALeastRate(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-write-timeout", fmt.Sprintf("%dms", attackSize(300, 3_000))}}.start(t)
	slow := s.attack(1, "127.0.0.3", wire(longest))
	require.Len(t, slow, 1, "no connection")
	if everyHostile {
		go readSlowly(slow[0], 25_000)
	}
	until(t, "the slow answer is cut off", func() bool {
		return s.metric("riffle_http_request_duration_seconds_count", `route="/shuffle"`) > 0
	})
	s.servesLongest()
}

// servesLongest waits until a caller gets a whole long answer. On a busy machine even a fast caller may
// be slower than the least rate.
func (s *server) servesLongest() {
	s.t.Helper()
	until(s.t, "a fast caller gets the whole answer", func() bool {
		a, err := s.ask(http.MethodPost, "/shuffle", longest)
		return err == nil && a.status == http.StatusOK && len(a.body) >= 60<<20
	})
}
