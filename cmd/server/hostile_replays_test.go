package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// longShuffles are made by small requests, and take a processor several seconds to replay: about
// the most that is permitted.
var longShuffles = []string{
	`{"size":9007199254740991,"draw":1024,"repeat":4100,"reference":"long"}`,
	`{"size":1000000,"draw":1024,"repeat":17,"algorithm":"durstenfeld","reference":"long"}`,
}

// mediumShuffle takes some milliseconds to replay, so it has to wait for its turn.
const mediumShuffle = `{"size":15000}`

// A crowd of callers have each sent a request on a connection of their own.
type crowd []net.Conn

// ask has callers send the same request from an address of this machine, and reads no answer.
func (s *server) crowd(callers int, from, request string) (c crowd) {
	s.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	for range callers {
		conn, err := dialer.DialContext(s.t.Context(), "tcp", s.addr)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = conn.Close() })
		if _, err := conn.Write([]byte(request)); err != nil {
			s.t.Fatal(err)
		}
		c = append(c, conn)
	}
	return c
}

func (c crowd) leave() {
	for _, conn := range c {
		_ = conn.Close()
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
		if err != nil {
			s.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// idles waits until the server uses less than a tenth of a processor for half a second. That a
// second passes before is generous: work ends within milliseconds.
func (s *server) idles(what string) {
	s.t.Helper()
	const period = 500 * time.Millisecond
	var used time.Duration
	for range 4 {
		before := s.processorTime()
		time.Sleep(period)
		if used = s.processorTime() - before; used < period/10 {
			return
		}
	}
	s.t.Errorf("%s: the server used %v of processor time in the last %v", what, used, period)
}

// busy waits until the server has used processor time for what it was asked.
func (s *server) busy() {
	s.t.Helper()
	before := s.processorTime()
	until(s.t, "the server works", func() bool { return s.processorTime() > before+50*time.Millisecond })
}

// longRecord makes the record of a long shuffle, whose caller leaves, and returns its audit id.
func (s *server) longRecord(body string) string {
	s.t.Helper()
	var found struct{ Audits []listedRecord }
	callers := s.crowd(1, "127.0.0.1", postText("/shuffle", body))
	until(s.t, "the long shuffle is recorded", func() bool {
		s.read(s.get("/audits?reference=long"), &found)
		return len(found.Audits) > 0
	})
	callers.leave()
	return found.Audits[len(found.Audits)-1].AuditID
}

// verified verifies a record and returns how long that took.
func (s *server) verified(id string) time.Duration {
	s.t.Helper()
	began := time.Now()
	var v struct{ Verified bool }
	if s.read(s.get("/audits/"+id+"/verify"), &v); !v.Verified {
		s.t.Errorf("%s does not verify", id)
	}
	return time.Since(began)
}

// stopsSoon stops the server, which has to exit with 0 long before the grace time of 30 s is over.
func (s *server) stopsSoon() {
	s.t.Helper()
	began := time.Now()
	s.stop()
	if took := time.Since(began); took > 10*time.Second {
		s.t.Errorf("the server took %v to stop", took)
	}
}

// TestReplaysEndWithTheirCallers has 60 callers verify the most expensive records there are (H2).
// Beside them others are verified in turn; when they leave, their work ends; and the server stops
// in time while they stay.
func TestReplaysEndWithTheirCallers(t *testing.T) {
	t.Parallel()
	for _, body := range longShuffles {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			s := launch{}.start(t)
			id := s.longRecord(body)
			s.idles("after the caller of a long shuffle left")
			small, medium := s.shuffle(smallShuffle).AuditID, s.shuffle(mediumShuffle).AuditID
			alone := s.verified(medium)
			callers := s.crowd(60, "127.0.0.1", getText("/audits/"+id+"/verify"))
			s.busy()
			var took []time.Duration
			for range 5 {
				s.verified(small)
				took = append(took, s.verified(medium))
			}
			// It waits for a slice of 10 ms of each that has a place, and perhaps for a second one of all.
			if typical := quantile(took, 0.5); typical > 20*alone+time.Second {
				t.Errorf("a short replay took %v alone, and %v beside 60 long ones", alone, typical)
			}
			callers.leave()
			s.idles("after 60 callers left")
			s.crowd(60, "127.0.0.1", getText("/audits/"+id+"/verify"))
			s.busy()
			s.stopsSoon()
			t.Logf("a short replay took %v alone, and %v beside 60 long ones", alone, took)
		})
	}
}

// TestLongRequestsAreBounded fills the places of long requests from one address and from many. One
// more is answered 503 and counted, and a caller at another address still finds room.
func TestLongRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	id := s.longRecord(longShuffles[0])
	s.idles("after the caller of a long shuffle left") // its place is free
	medium := s.shuffle(mediumShuffle).AuditID
	const half = 64 // of what may be in flight
	rejected := func() float64 { return s.metric("riffle_rejected_requests_total", `reason="replays"`) }
	before := rejected()
	s.crowd(half+1, "127.0.0.1", getText("/audits/"+id+"/verify"))
	until(t, "one is rejected and all others have begun", func() bool { return rejected() == before+1 })
	s.get("/audits/"+medium+"/verify").problem(t, http.StatusServiceUnavailable)
	if after := rejected(); after != before+2 {
		t.Errorf("%v rejected requests were counted, and two were answered 503", after-before)
	}
	if a := s.post("/shuffle", `{"size":1000000}`); a.status != http.StatusServiceUnavailable {
		t.Errorf("a long shuffle beyond the bound is answered %d", a.status)
	}
	s.shuffle(smallShuffle)
	// Other addresses find room, each less than the last.
	local := func(n int) string { return fmt.Sprintf("127.0.1.%d", n) }
	for n := range 3 {
		s.crowd(half, local(n+1), getText("/audits/"+id+"/verify"))
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(local(9))}}
	other := &http.Client{Timeout: waitLimit, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	response, err := other.Get("http://" + s.addr + "/audits/" + medium + "/verify")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("a caller at another address is answered %s", response.Status)
	}
	s.stopsSoon()
}

// TestStoppingEndsReplays has a caller wait for a long replay when the server stops. The caller is
// answered 503.
func TestStoppingEndsReplays(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	path := "/audits/" + s.longRecord(longShuffles[0]) + "/verify"
	answered := make(chan *answer, 1)
	go func() {
		a, err := s.ask(http.MethodGet, path, "")
		if err != nil {
			t.Errorf("the caller of a replay has no answer: %v", err)
		}
		answered <- a
	}()
	s.busy()
	s.stopsSoon()
	if a := <-answered; a != nil {
		a.problem(t, http.StatusServiceUnavailable)
	}
}

// TestReplaysOutlastTheReadTimeout verifies for longer than a request may take to arrive.
func TestReplaysOutlastTheReadTimeout(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-read-timeout", "100ms", "-write-timeout", "1s"}}.start(t)
	made := s.shuffle(`{"size":9007199254740991,"draw":1024,"repeat":150}`)
	if took := s.verified(made.AuditID); took < 200*time.Millisecond {
		t.Errorf("it took only %v", took)
	}
}

// TestProofsOfShoesEndWithTheirCallers has 40 callers ask for the proof of a shoe of 600 versions
// (H2). None of them reads the answer.
func TestProofsOfShoesEndWithTheirCallers(t *testing.T) {
	t.Parallel()
	versions := 200
	if everyAttack {
		versions = 600
	}
	s := launch{}.start(t)
	path := s.longShoe(versions)
	medium := s.shuffle(mediumShuffle).AuditID
	proof := s.get(path + "/proof")
	if lines := strings.Count(string(proof.body), "\n"); proof.status != http.StatusOK || lines != versions {
		t.Fatalf("the proof of the shoe is %.200s with %d lines, want %d", proof, lines, versions)
	}
	callers := s.crowd(40, "127.0.0.1", getText(path+"/proof"))
	s.busy()
	s.verified(medium)
	callers.leave()
	s.idles("after 40 callers left")
	s.crowd(40, "127.0.0.1", getText(path+"/proof"))
	s.busy()
	s.stopsSoon()
}

// longShoe makes a shoe with so many versions and returns its path.
func (s *server) longShoe(versions int) string {
	s.t.Helper()
	path := "/shoes/" + textMember(s.t, s.post("/shoes", `{"deck":"standard52","decks":16}`), "shoe_id")
	for range versions - 1 {
		if a := s.post(path+"/draw", `{"count":1}`); a.status != http.StatusOK {
			s.t.Fatalf("a draw is answered %v", a)
		}
	}
	return path
}

// TestLongShufflesEndWithTheirCallers has 40 callers ask for the most expensive shuffle there is
// and leave. Short shuffles beside them are answered, and no work goes on.
func TestLongShufflesEndWithTheirCallers(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	callers := s.crowd(40, "127.0.0.1", postText("/shuffle", longShuffles[1]))
	s.busy()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				if a, err := s.ask(http.MethodPost, "/shuffle", smallShuffle); err != nil || a.status != http.StatusOK {
					t.Errorf("a short shuffle is answered %v, %v", a, err)
				}
			}
		})
	}
	group.Wait()
	callers.leave()
	s.idles("after 40 callers left")
	// Those that left are recorded, since their records were durable before.
	var found struct{ Audits []json.RawMessage }
	if s.read(s.get("/audits?reference=long"), &found); len(found.Audits) == 0 {
		t.Error("no long shuffle is recorded")
	}
	s.stopsSoon()
}

// everyAttack makes hostile tests run their longer form.
var everyAttack = os.Getenv("RIFFLE_HOSTILE") == "all"
