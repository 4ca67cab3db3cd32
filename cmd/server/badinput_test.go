package main_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLargestAnswerIsStreamed asks for ten million items and counts them. Memory shows that the
// server streams them.
func TestLargestAnswerIsStreamed(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	response, err := s.client.Post("http://"+s.addr+"/shuffle", "application/json", strings.NewReader(`{"size": 1000000, "repeat": 10}`))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	size, arrays, commas, end := 0, 0, 0, []byte(nil)
	for buf := make([]byte, 1<<20); err == nil; {
		var n int
		n, err = response.Body.Read(buf)
		size, arrays, commas = size+n, arrays+bytes.Count(buf[:n], []byte("]")), commas+bytes.Count(buf[:n], []byte(","))
		end = append(end, buf[max(0, n-100):n]...)
		end = end[max(0, len(end)-100):]
	}
	require.ErrorIsf(t, err, io.EOF, "after %d bytes", size)
	// Ten arrays within one; commas between the million items of each, between the ten, and between
	// six members.
	if want := 10*999_999 + 9 + 5; arrays != 11 || commas != want || !bytes.HasSuffix(end, []byte("\"}\n")) {
		t.Errorf("%d bytes with %d closing brackets and %d commas, want 11 and %d; they end in %q", size, arrays, commas, want, end)
	}
	most := s.memory("VmHWM")
	assert.Truef(t, most <= 256, "an answer took %d MiB of memory and has %d MiB", most, size>>20)
	t.Logf("an answer of %d MiB took at most %d MiB of memory", size>>20, most)
}

// TestRejectsWrongContentLength sends bodies shorter or longer than declared, and malformed lengths
// and chunks (B2).
func TestRejectsWrongContentLength(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-read-timeout", "2s", "-header-timeout", "2s"}}.start(t)
	next := s.shuffle(smallShuffle).LogIndex + 1
	for name, c := range map[string]struct {
		text   string
		hangUp bool
		want   []int
	}{
		"too short":                 {shuffleHead + "Content-Length: 5\r\n\r\n{\"size\": 5}", false, []int{400, 400}},
		"none":                      {shuffleHead + "\r\n{\"size\": 5}", false, []int{400, 400}},
		"too long, then silence":    {shuffleHead + "Content-Length: 100\r\n\r\n{\"size\": 5}", false, []int{408}},
		"too long, then the end":    {shuffleHead + "Content-Length: 100\r\n\r\n{\"size\": 5}", true, []int{400}},
		"negative":                  {shuffleHead + "Content-Length: -11\r\n\r\n{\"size\": 5}", false, []int{400}},
		"with a sign":               {shuffleHead + "Content-Length: +11\r\n\r\n{\"size\": 5}", false, []int{400}},
		"in words":                  {shuffleHead + "Content-Length: eleven\r\n\r\n{\"size\": 5}", false, []int{400}},
		"two in one":                {shuffleHead + "Content-Length: 11, 11\r\n\r\n{\"size\": 5}", false, []int{400}},
		"chunks without an end":     {shuffleHead + "Transfer-Encoding: chunked\r\n\r\nb\r\n{\"size\": 5}\r\n", false, []int{408}},
		"chunks that are cut off":   {shuffleHead + "Transfer-Encoding: chunked\r\n\r\nb\r\n{\"size\": 5}\r\n", true, []int{400}},
		"a chunk that is too short": {shuffleHead + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"size\": 5}\r\n0\r\n\r\n", false, []int{400}},
		"a chunk size of -1":        {shuffleHead + "Transfer-Encoding: chunked\r\n\r\n-1\r\n{\"size\": 5}\r\n0\r\n\r\n", false, []int{400}},
		"a chunk size of 17 digits": {shuffleHead + "Transfer-Encoding: chunked\r\n\r\n1000000000000000b\r\n{\"size\": 5}\r\n0\r\n\r\n", false, []int{400}},
	} {
		conn := s.dial(t)
		_, err := io.WriteString(conn, c.text)
		require.NoError(t, err)
		if c.hangUp {
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		}
		var got []int
		for _, a := range readAnswers(t, conn) {
			got = append(got, a.status)
		}
		assert.Equal(t, c.want, got, name)
	}
	assert.Equal(t, next, s.shuffle(smallShuffle).LogIndex, "the next shuffle has index")
}

// shuffleHead is the start of a POST /shuffle.
const shuffleHead = "POST /shuffle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

// TestRejectsAmbiguousFraming sends requests whose length a proxy and the server could read differently
// (B3). net/http rejects each and closes the connection, so the bytes behind it are not a request.
func TestRejectsAmbiguousFraming(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	for _, c := range []struct{ name, text string }{
		{"two lengths", shuffleHead + "Content-Length: 11\r\nContent-Length: <length>\r\n\r\n{\"size\": 5}"},
		{"two codings", shuffleHead + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunkedBody},
		{"an unknown coding", shuffleHead + "Transfer-Encoding: xchunked\r\n\r\n" + chunkedBody},
		{"a space before the colon", shuffleHead + "Content-Length: 11\r\nTransfer-Encoding : chunked\r\n\r\n{\"size\": 5}"},
		{"a bare line feed in a chunk", shuffleHead + "Transfer-Encoding: chunked\r\n\r\nb;x\n{\"size\": 5}\r\n0\r\n\r\n"},
		{"no host", "POST /shuffle HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"size\": 5}"},
		{"a carriage return alone", shuffleHead + "Content-Length: 11\r\nX: a\rTransfer-Encoding: chunked\r\n\r\n{\"size\": 5}"},
	} {
		s.requireFraming(t, c.name, c.text, func(got []int) bool {
			return slices.Equal(got, []int{http.StatusBadRequest}) || slices.Equal(got, []int{http.StatusNotImplemented})
		})
	}
}

// TestClosesConnectionBehindAmbiguousFraming sends requests with both headers, and HTTP/1.0 requests
// with chunks (B3). net/http follows RFC 9112, section 6.3: Transfer-Encoding overrides Content-Length,
// and HTTP/1.0 has no Transfer-Encoding. A proxy may read another length, so the server answers and
// closes the connection (section 6.1).
func TestClosesConnectionBehindAmbiguousFraming(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	for _, c := range []struct {
		name, text string
		want       []int
	}{
		{"both lengths", shuffleHead + "Content-Length: <length>\r\nTransfer-Encoding: chunked\r\n\r\n" + chunkedBody, []int{200}},
		{"both lengths, the other way round", shuffleHead + "Transfer-Encoding: chunked\r\nContent-Length: <length>\r\n\r\n" + chunkedBody, []int{200}},
		{"both lengths behind a good request", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /shuffle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: <length>\r\nTransfer-Encoding: chunked\r\n\r\n" + chunkedBody, []int{200, 200}},
		{"both lengths behind a long header", shuffleHead + "Content-Length: <length>\r\nX: " + strings.Repeat("x", 7_000) + "\r\nTransfer-Encoding: chunked\r\n\r\n" + chunkedBody, []int{200}},
		{"both lengths of a GET", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: <length>\r\nTransfer-Encoding: chunked\r\n\r\n" + chunkedBody, []int{200}},
		{"both lengths to nowhere", "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: <length>\r\nTransfer-Encoding: chunked\r\n\r\n" + chunkedBody, []int{404}},
		{"HTTP/1.0 with both", "POST /shuffle HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nContent-Length: 11\r\nTransfer-Encoding: chunked\r\n\r\n{\"size\": 5}", []int{200}},
		{"HTTP/1.0 with chunks", "POST /shuffle HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", []int{400}},
	} {
		s.requireFraming(t, c.name, c.text, func(got []int) bool { return slices.Equal(got, c.want) })
	}
}

// requireFraming sends a request with another one behind it, which must not be executed, and checks the
// statuses of the answers. <length> in the text becomes a Content-Length that covers both.
func (s *server) requireFraming(t *testing.T, name, text string, want func(statuses []int) bool) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		reference := fmt.Sprintf("framing-%x", sha256.Sum256([]byte(t.Name())))
		body := `{"size": 5, "reference": "` + reference + `"}`
		second := fmt.Sprintf("%sConnection: close\r\nContent-Length: %d\r\n\r\n%s", shuffleHead, len(body), body)
		_, first, _ := strings.Cut(strings.ReplaceAll(text, "\r", ""), "\n\n")
		var got []int
		for _, a := range s.sendRaw(t, strings.ReplaceAll(text, "<length>", fmt.Sprint(len(first)+len(second)))+second) {
			got = append(got, a.status)
		}
		assert.Truef(t, want(got), "answered %v", got)
		found := s.records(reference)
		assert.Emptyf(t, found, "the second request was executed %d times", len(found))
	})
}

const chunkedBody = "b\r\n{\"size\": 5}\r\n0\r\n\r\n"

// TestDisconnectsSlowClients connects clients that send slowly or not at all (B1).
func TestDisconnectsSlowClients(t *testing.T) {
	t.Parallel()
	// Each server has one short timeout, so that each case shows which timeout applies.
	header := launch{args: []string{"-header-timeout", "300ms"}}.start(t)
	idle := launch{args: []string{"-idle-timeout", "300ms"}}.start(t)
	body := launch{args: []string{"-read-timeout", "700ms"}}.start(t)
	next := body.shuffle(smallShuffle).LogIndex + 1
	for name, c := range map[string]struct {
		s    *server
		text string // sent first
		slow string // sent byte by byte, without end
		want []int
	}{
		"nothing":            {header, "", "", nil},
		"half a header":      {header, "POST /shuffle HTTP/1.1\r\nHost: localhost\r\n", "", nil},
		"a slow header":      {header, "POST /shuffle HTTP/1.1\r\nHost: localhost\r\nX: ", "x", nil},
		"half a body":        {body, shuffleHead + "Content-Length: 1000\r\n\r\n{\"size\"", "", []int{408}},
		"a slow body":        {body, shuffleHead + "Content-Length: 100000\r\n\r\n", " ", []int{408}},
		"slow chunks":        {body, shuffleHead + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", []int{408}},
		"an idle connection": {idle, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "", []int{200}},
	} {
		t.Run(name, func(t *testing.T) {
			conn := c.s.dial(t)
			_, err := io.WriteString(conn, c.text)
			require.NoError(t, err)
			if c.slow != "" {
				go func() {
					tick := time.NewTicker(20 * time.Millisecond) // the pace of the client
					defer tick.Stop()
					for range tick.C {
						if _, err := io.WriteString(conn, c.slow); err != nil {
							return
						}
					}
				}()
			}
			began := time.Now()
			var got []int
			for _, a := range readAnswers(t, conn) {
				got = append(got, a.status)
			}
			assert.Equal(t, c.want, got)
			t.Logf("closed after %v", time.Since(began).Round(time.Millisecond))
		})
	}
	assert.Equal(t, next, body.shuffle(smallShuffle).LogIndex, "the next shuffle has index")
}
