package main_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nested returns empty arrays nested to a depth.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// TestRejectsMalformedJSON sends bodies that must be answered 400 and not recorded, in level memory. The
// grammar itself is jsontext's, and internal/httpjson tests more.
func TestRejectsMalformedJSON(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	next := s.shuffle(`{"size": 2}`).LogIndex + 1
	before := s.memory("VmHWM")
	bodies := map[string]string{
		"nested 101 deep":                  `{"items": [` + nested(99) + `]}`,
		"nested 101 deep in objects":       `{"items": [` + strings.Repeat(`{"a":`, 99) + "1" + strings.Repeat("}", 99) + `]}`,
		"nested a million deep":            `{"items": ` + nested(1_000_000) + `}`,
		"opened a million times":           `{"items": ` + strings.Repeat("[", 1_000_000),
		"objects opened a million times":   strings.Repeat(`{"items":`, 1_000_000),
		"deep in an unknown member":        `{"size": 5, "x": ` + nested(20_000) + `}`,
		"deep in a member of another type": `{"size": ` + nested(20_000) + `}`,
		"deep hands":                       `{"size": 5, "hands": ` + nested(20_000) + `}`,
	}
	for member, accepts := range map[string]string{
		"size": "number", "draw": "number", "decks": "number", "repeat": "number", "items": "array", "hands": "array or text", "parameters": "object",
		"deck": "text", "reference": "text", "client_seed": "text", "reveal": "text", "items_salt": "text", "unique_reference": "boolean",
	} {
		for value, kind := range map[string]string{
			`"5"`: "text", `[1]`: "array", `{"a": 1}`: "object", "true": "boolean", "5": "number",
			"null": "-", "5.0": "-", "5e0": "-", "2.5": "-", "1e400": "-", "1e-400": "-", // no member is one of these
		} {
			if !strings.Contains(accepts, kind) {
				bodies[member+" "+value] = fmt.Sprintf(`{%q: %s}`, member, value)
			}
		}
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			s.post("/shuffle", body).problem(t, http.StatusBadRequest)
			if index := s.shuffle(`{"size": 2}`).LogIndex; index != next {
				t.Errorf("the next shuffle has index %d, want %d: something was recorded", index, next)
				next = index
			}
			next++
		})
	}
	after := s.memory("VmHWM")
	assert.Truef(t, after <= before+96, "memory grew from %d to %d MiB", before, after)
	a := s.post("/shuffle", "", "Content-Type", "application/json")
	assert.Equalf(t, http.StatusBadRequest, a.status, "an empty body is answered %v", a)
	a = s.post("/shuffle", `{"items": [`+nested(98)+`, 1]}`)
	assert.Equalf(t, http.StatusOK, a.status, "a body nested 100 deep is answered %v", a)
}

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

// TestRejectsLongBodies sends bodies above -max-body, with a Content-Length and in chunks (B2).
func TestRejectsLongBodies(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-max-body", "1048576", "-memory", "8388608", "-max-items", "1000"}}.start(t)
	next := s.shuffle(smallShuffle).LogIndex + 1

	// A Content-Length above the limit is rejected before any of the body arrives.
	answers := s.sendRaw(t, shuffleHead+"Content-Length: 1048577\r\n\r\n")
	require.Len(t, answers, 1)
	answers[0].problem(t, http.StatusRequestEntityTooLarge)
	// A Content-Length above 64 bits is malformed.
	if answers := s.sendRaw(t, shuffleHead+"Content-Length: 99999999999999999999\r\n\r\n"); len(answers) != 1 || answers[0].status != http.StatusBadRequest {
		t.Errorf("a length beyond 64 bits is answered %v", answers)
	}
	// Endless chunks are rejected as soon as they exceed the limit.
	before := s.memory("VmHWM")
	c := s.dial(t)
	sent := make(chan int)
	go func() {
		total, chunk := 0, "1000\r\n"+strings.Repeat(" ", 4096)+"\r\n"
		_, err := io.WriteString(c, shuffleHead+"Transfer-Encoding: chunked\r\n\r\n")
		for err == nil && total < 1<<30 {
			_, err = io.WriteString(c, chunk)
			total += len(chunk)
		}
		sent <- total
	}()
	status := 0
	if response, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
		status = response.StatusCode
	} else if !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	total := <-sent // returns because the server closes the connection
	assert.Truef(t, status == http.StatusRequestEntityTooLarge || status == 0, "an endless body is answered %d", status)
	assert.True(t, total < 1<<30, "the server reads an endless body")
	after := s.memory("VmHWM")
	assert.Truef(t, after <= before+64, "memory grew from %d to %d MiB", before, after)
	// A body at the limit is accepted and one byte more is not, either way.
	for size, want := range map[int]int{1 << 20: http.StatusOK, 1<<20 + 1: http.StatusRequestEntityTooLarge} {
		body := `{"size": 2` + strings.Repeat(" ", size-11) + "}"
		for _, text := range []string{
			fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, body),
			fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, body),
		} {
			answers := s.sendRaw(t, "POST /shuffle HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"+text)
			assert.Lenf(t, answers, 1, "a body of %d bytes", size)
			assert.Equalf(t, want, answers[0].status, "a body of %d bytes", size)
		}
	}
	assert.Equal(t, next+2, s.shuffle(smallShuffle).LogIndex, "the next shuffle has index")
	t.Logf("the endless body was cut off after %d KiB; peak memory %d MiB before, %d MiB after", total>>10, before, after)
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
