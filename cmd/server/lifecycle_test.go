package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestShutdownAnswersRequestsInFlight stops the server under load. The answered shuffles are
// exactly those in the log: none is recorded without an answer (F11).
func TestShutdownAnswersRequestsInFlight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		signal   os.Signal
		postgres bool
	}{
		{"SIGTERM", syscall.SIGTERM, false}, {"SIGINT", os.Interrupt, false}, {"SIGTERM on PostgreSQL", syscall.SIGTERM, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := launch{data: filepath.Join(t.TempDir(), "data")}
			if c.postgres {
				l = newDatabase(t).replica()
			}
			s := l.start(t)
			done := make(chan *loadResult)
			go func() { done <- s.load(16, 1<<30, smallShuffle) }()
			until(t, "200 shuffles are answered", func() bool { return s.metric("riffle_items_shuffled_total", "") >= 20*200 })
			s.signal(c.signal)
			code := s.wait()
			assert.Equalf(t, 0, code, "the server exited with %d:\n%s", code, s.log)
			_, err := os.Stat(filepath.Join(s.data, "riffle.db-wal"))
			assert.ErrorIs(t, err, os.ErrNotExist, "the write-ahead log was not copied into the database")
			results := <-done
			for _, err := range results.failed {
				assert.NotErrorIs(t, err, errCutOff)
			}
			assert.Emptyf(t, results.rejected, "requests in flight were rejected: %v", results.rejected)
			assert.Equal(t, len(results.answered), l.start(t).checkLog("fault", results.answered))
			t.Logf("%d answers", len(results.answered))
		})
	}
}

// TestShutdownFinishesStreamedAnswer stops the server while it streams a long answer to a slow
// client.
func TestShutdownFinishesStreamedAnswer(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	response, err := s.client.Post("http://"+s.addr+"/shuffle", "application/json", strings.NewReader(`{"size": 1000000, "repeat": 5}`))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	s.signal(syscall.SIGTERM)
	until(t, "no new connection is accepted", func() bool {
		_, err := s.ask(http.MethodGet, "/healthz", "")
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil || !bytes.HasSuffix(text.Bytes(), []byte("\"}\n")) {
		t.Errorf("after %d bytes: %v", text.Len(), err)
	}
	code := s.wait()
	assert.Equalf(t, 0, code, "the server exited with %d:\n%s", code, s.log)
}

// TestShutdownGivesUpAfterGrace does not read an answer. The server exits with an error after -grace.
func TestShutdownGivesUpAfterGrace(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-grace", "100ms"}}.start(t)
	response, err := s.client.Post("http://"+s.addr+"/shuffle", "application/json", strings.NewReader(`{"size": 1000000, "repeat": 10}`))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	s.signal(syscall.SIGTERM)
	code := s.wait()
	assert.Truef(t, code == 1 && strings.Contains(s.log.String(), "still in flight after 100ms"), "the server exited with %d:\n%s", code, s.log)
	_, err = new(bytes.Buffer).ReadFrom(response.Body)
	assert.Error(t, err, "an answer that was cut off looks complete")
}

// TestDrainsForLoadBalancers stops a server whose /readyz is asked for as often as by a load
// balancer, while a request has begun, and one that was asked once, as by an engine for containers.
func TestDrainsForLoadBalancers(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	for range 2 {
		require.Equal(t, http.StatusOK, s.get("/readyz").status)
	}
	answered := func(c net.Conn, request string) *http.Response {
		_, err := io.WriteString(c, request)
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		return response
	}
	begun := s.dial(t)
	head := answered(begun, "POST /shuffle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
	require.Equal(t, http.StatusContinue, head.StatusCode)
	s.signal(syscall.SIGTERM)
	until(t, "the server is not ready", func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable })
	for _, response := range []*http.Response{answered(begun, `{"size":5}`), answered(s.dial(t), "GET /decks HTTP/1.1\r\nHost: localhost\r\n\r\n")} {
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.True(t, response.Close, "the load balancer may keep its connection")
	}
	assert.Zero(t, s.wait())

	s = launch{}.start(t)
	require.Equal(t, http.StatusOK, s.get("/readyz").status)
	s.stop()
	assert.Contains(t, s.log.String(), `"drain":"0s"`)
}

func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-drain", "1h"}}.start(t)
	answered := s.load(4, 5, smallShuffle).answered
	s.signal(syscall.SIGTERM)
	until(t, "the server is not ready", func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable })
	until(t, "a second signal kills the server", func() bool { return s.cmd.Process.Signal(syscall.SIGTERM) != nil })
	assert.NotEqualf(t, 0, s.wait(), "the server exited with 0 before -drain was over:\n%s", s.log)
	s = launch{data: s.data}.start(t)
	s.checkLog("fault", answered)
}

// TestNoCoreFiles reads the limits of a running service. With --core-dumps it has its
// parent's, which the service's tests may have at 0.
func TestNoCoreFiles(t *testing.T) {
	t.Parallel()
	cores := regexp.MustCompile(`Max core file size +(\w+) +(\w+)`)
	limits := func(args ...string) string {
		s := launch{args: args}.start(t)
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", s.cmd.Process.Pid))
		require.NoError(t, err)
		return cores.FindString(string(text))
	}
	own, err := os.ReadFile("/proc/self/limits")
	require.NoError(t, err)
	assert.Equal(t, []string{"0", "0"}, cores.FindStringSubmatch(limits())[1:])
	assert.Equal(t, cores.FindString(string(own)), limits("--core-dumps"))
}
