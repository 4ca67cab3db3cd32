package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longShuffles are small requests near the permitted cost.
var longShuffles = []string{
	`{"size":9007199254740991,"draw":1024,"repeat":4100,"reference":"long"}`,
	`{"size":1000000,"draw":1024,"repeat":17,"algorithm":"durstenfeld","reference":"long"}`,
}

// crowd has callers send the same request from an address of this machine, and reads no answer. They
// stay until leave is called.
func (s *server) crowd(callers int, from, request string) (leave func()) {
	s.t.Helper()
	open := s.attack(callers, from, request)
	require.Truef(s.t, len(open) == callers, "%d of %d callers are connected", len(open), callers)
	return func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}
}

// getText and postText return the bytes of a request.
func getText(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n" }

func postText(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// processorTime returns the processor time that the server has used.
func (s *server) processorTime() time.Duration {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		skipOrFail(s.t, "reading the processor time of the server: %v", err)
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name of the program
	ticks := 0
	for _, field := range strings.Fields(after)[11:13] {
		n, err := strconv.Atoi(field)
		require.NoError(s.t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// idles waits until the server uses less than a tenth of a processor for half a second.
func (s *server) idles(what string) {
	s.t.Helper()
	period := time.NewTicker(500 * time.Millisecond)
	defer period.Stop()
	until(s.t, what+" the server idles", func() bool {
		<-period.C
		before := s.processorTime()
		<-period.C
		return s.processorTime()-before < 50*time.Millisecond
	})
}

// busy waits until the server has used processor time for its requests.
func (s *server) busy() {
	s.t.Helper()
	before := s.processorTime()
	until(s.t, "the server works", func() bool { return s.processorTime() > before+50*time.Millisecond })
}

// TestLongRequestsAreBounded fills the capacity for long requests from one address and from many. One
// more is refused for the share of its address and counted, and a caller at another address is
// served.
func TestLongRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	picture := "/audits/" + s.shuffle(smallShuffle).AuditID + "/picture.png"
	const half = 64 // of what may be in flight
	rejected := func() float64 { return s.metric("riffle_rejected_requests_total", `reason="share"`) }
	before, long := rejected(), postText("/shuffle", longShuffles[0])
	defer s.stop()
	defer s.crowd(half+1, "127.0.0.1", long)()
	until(t, "one is rejected and all others have begun", func() bool { return rejected() == before+1 })
	s.get(picture).problem(t, http.StatusTooManyRequests)
	after := rejected()
	assert.Equalf(t, before+2, after, "%v rejected requests were counted, and two were answered 429", after-before)
	s.shuffle(smallShuffle)
	// Other addresses find room, each less than the last.
	local := func(n int) string { return fmt.Sprintf("127.0.1.%d", n) }
	for n := range 3 {
		defer s.crowd(half, local(n+1), long)()
	}
	s.wantOK(s.from(local(9), false).get(picture))
}

// TestGreedyReaderPagesNobody has one address send 90 expensive reads in parallel, and another
// address a few beside them. Only the first is refused, for its own share, and what alerts and
// objectives are calculated from stays.
func TestGreedyReaderPagesNobody(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	shoe := "/shoes/" + s.newShoe(`{"deck":"standard52","decks":16}`).ID
	for range attackSize(100, 600) {
		s.wantOK(s.post(shoe+"/draw", `{"count":1}`))
	}
	s.wantOK(s.get(shoe + "/proof")) // once all records are published
	reads := []string{shoe + "/proof", shoe + "/proof", "/audits/" + s.shuffle(smallShuffle).AuditID + "/picture.png"}
	pages := func() float64 {
		return s.metric("riffle_http_shed_total", "") + s.metric("riffle_http_request_duration_seconds_count", `status="5`)
	}
	before := pages()
	const share = `"type":"/docs/operations/limits#one-address"`
	var greedy, polite sync.WaitGroup
	var refused atomic.Int64
	for i := range 90 {
		greedy.Go(func() {
			a, err := s.from("127.0.0.1", false).ask(http.MethodGet, reads[i%len(reads)], "")
			switch {
			case err != nil:
				t.Error(err)
			case a.status != http.StatusOK:
				refused.Add(1)
				a.problem(t, http.StatusTooManyRequests)
				assert.Contains(t, string(a.body), share)
			}
		})
	}
	for i := range 6 {
		polite.Go(func() {
			a, err := s.from("127.0.0.2", false).ask(http.MethodGet, reads[i%len(reads)], "")
			assert.Truef(t, err == nil && a.status == http.StatusOK, "a polite caller is answered %v, %v", a, err)
		})
	}
	polite.Wait()
	greedy.Wait()
	assert.NotZero(t, refused.Load(), "no request of 90 was refused")
	t.Logf("%d of 90 were refused", refused.Load())
	assert.EqualValues(t, refused.Load(), s.metric("riffle_rejected_requests_total", `reason="share"`), "refused requests that are counted")
	assert.Equal(t, before, pages(), "what RiffleShedding and the objective of availability count")
	assert.NotContains(t, s.log.String(), `"msg":"outage"`)
}

// TestLongRequestsOutlastTheReadTimeout makes shuffles until one takes longer than the read timeout.
func TestLongRequestsOutlastTheReadTimeout(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-read-timeout", "100ms"}}.start(t)
	for repeat, used := 500, time.Duration(0); used < 200*time.Millisecond; repeat *= 2 {
		before := s.processorTime()
		s.wantOK(s.post("/shuffle", fmt.Sprintf(`{"size":9007199254740991,"draw":1024,"repeat":%d}`, repeat)))
		used = s.processorTime() - before
	}
}

// TestProofsOfShoesEndWithTheirCallers has 40 callers request the proof of a shoe of many versions
// (H2). None reads the answer.
func TestProofsOfShoesEndWithTheirCallers(t *testing.T) {
	t.Parallel()
	versions := attackSize(200, 600)
	s := launch{}.start(t)
	path := "/shoes/" + s.newShoe(`{"deck":"standard52","decks":16}`).ID
	for range versions - 1 {
		a := s.post(path+"/draw", `{"count":1}`)
		require.Equalf(t, http.StatusOK, a.status, "a draw is answered %v", a)
	}
	picture := "/audits/" + s.shuffle(smallShuffle).AuditID + "/picture.png"
	proof := s.get(path + "/proof")
	require.Equalf(t, http.StatusOK, proof.status, "the proof of the shoe is %.200s", proof)
	require.Equalf(t, versions, strings.Count(string(proof.body), `"record":`), "the proof of the shoe is %.200s", proof)
	leave := s.crowd(40, "127.0.0.1", getText(path+"/proof"))
	s.busy()
	s.wantOK(s.get(picture))
	leave()
	s.idles("after 40 callers left")
	s.crowd(40, "127.0.0.1", getText(path+"/proof"))
	s.busy()
	s.stop()
}

// TestLongShufflesEndWithTheirCallers has 40 callers request the most expensive shuffle and disconnect.
// Short shuffles beside them are answered, and the work ends.
func TestLongShufflesEndWithTheirCallers(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	leave := s.crowd(40, "127.0.0.1", postText("/shuffle", longShuffles[1]))
	s.busy()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				a, err := s.ask(http.MethodPost, "/shuffle", smallShuffle)
				assert.Truef(t, err == nil && a.status == http.StatusOK, "a short shuffle is answered %v, %v", a, err)
			}
		})
	}
	group.Wait()
	leave()
	s.idles("after 40 callers left")
	var found struct{ Audits []json.RawMessage } // durable before their callers left
	if s.read(s.get("/audits?reference=long"), &found); len(found.Audits) == 0 {
		t.Error("no long shuffle is recorded")
	}
	s.stop()
}
