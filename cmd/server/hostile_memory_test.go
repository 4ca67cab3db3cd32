package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// attacked returns a launch with default settings, and the most memory that the README promises for
// it in MiB. Attacks that take seconds are on a service that promises less.
func attacked() (l launch, promised int) {
	if everyHostile {
		return launch{}, 2*512 + 256
	}
	return launch{args: []string{"-memory", fmt.Sprint(64 << 20), "-max-body", fmt.Sprint(1 << 20), "-max-items", "10000"}}, 2*64 + 256
}

// TestHeldBodiesStayWithinMemory has thousands of connections each hold back the last byte of a body
// of 64 KiB (H3), from one address and from many.
func TestHeldBodiesStayWithinMemory(t *testing.T) {
	connections := attackSize(4_500, 17_000)
	canOpen(t, connections+500)
	for _, path := range []string{"/shuffle", "/api/deck/new/"} {
		for _, peers := range []int{1, 17} {
			t.Run(fmt.Sprintf("%s of %d peers", path[1:], peers), func(t *testing.T) {
				l, promised := attacked()
				s := l.start(t)
				open := 0
				for i := range peers {
					open += len(s.attack(connections/peers, fmt.Sprintf("127.0.1.%d", i+1), strings.Replace(slowRequest, "/shuffle", path, 1)))
				}
				took := s.polite(20, smallShuffle)
				peak := s.memory("VmHWM")
				if peak > promised {
					t.Errorf("%d bodies take %d MiB, want at most %d", open, peak, promised)
				}
				t.Logf("%d bodies take %d of %d MiB; a polite caller waits %v", open, peak, promised, took)
			})
		}
	}
}

// TestIdleConnectionsStayWithinMemory has thousands of connections that have sent requests before,
// among them long ones, and are idle (H3).
func TestIdleConnectionsStayWithinMemory(t *testing.T) {
	connections := attackSize(3_500, 19_000)
	canOpen(t, connections+500)
	body := `{"deck": "standard52", "repeat": 20}`
	text := fmt.Sprintf("POST /shuffle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	for _, peers := range []int{1, 19} {
		t.Run(fmt.Sprintf("of %d peers", peers), func(t *testing.T) {
			l, promised := attacked()
			s := l.start(t)
			open := 0
			for i := range peers {
				open += len(s.attack(connections/peers, fmt.Sprintf("127.0.1.%d", i+1), strings.Repeat(text, 5)))
			}
			took := s.polite(20, smallShuffle)
			peak, now := s.memory("VmHWM"), s.memory("VmRSS")
			if peak > promised {
				t.Errorf("%d idle connections take %d MiB, want at most %d", open, peak, promised)
			}
			polite := s.from("127.0.0.2", true)
			kept, capacity := polite.metric("riffle_connections", ""), polite.metric("riffle_connections_capacity", "")
			if kept > capacity || peers == 1 && kept > capacity/2+2 {
				t.Errorf("%v connections are open, of at most %v", kept, capacity)
			}
			t.Logf("%d idle connections, of which %v are open, take %d, at most %d of %d MiB; a polite caller waits %v",
				open, kept, now, peak, promised, took)
		})
	}
}

// TestHeldAnswersStayWithinMemory has connections ask for everything that has a long answer, and
// take none of it.
func TestHeldAnswersStayWithinMemory(t *testing.T) {
	connections := attackSize(300, 2_000)
	l, promised := attacked()
	s := l.start(t)
	dealt := s.from("127.0.0.2", true)
	var deck struct {
		ID string `json:"shoe_id"`
	}
	s.read(dealt.post("/shoes", `{"size": 4096}`), &deck)
	if a := dealt.post("/shoes/"+deck.ID+"/draw", `{"count": 4096}`); a.status != http.StatusOK {
		t.Fatalf("a draw was answered %v", a)
	}
	for range 300 {
		dealt.shuffle(largeShuffle)
	}
	var group sync.WaitGroup
	before := s.memory("VmHWM")
	paths := []string{
		"/shoes/" + deck.ID + "/dealt?proof=true",
		"/audits?reference=fault&limit=1000",
		"/log/tile/entries/000",
		"/decks/standard52?repeat=10000&reference=fault",
		"/metrics",
		"/docs/operations/README",
		"/docs/search.json",
	}
	for i, path := range paths {
		group.Go(func() {
			s.attack(connections, fmt.Sprintf("127.0.1.%d", i+1), "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
		})
	}
	group.Wait()
	took := s.polite(20, smallShuffle)
	peak := s.memory("VmHWM")
	if peak > promised {
		t.Errorf("%d held answers take %d MiB, want at most %d", len(paths)*connections, peak, promised)
	}
	t.Logf("%d held answers take %d MiB, %d before; a polite caller waits %v", len(paths)*connections, peak, before, took)
}
