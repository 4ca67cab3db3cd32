package main_test

import (
	"fmt"
	"strings"
	"testing"

	"riffle/internal/httpserver"
)

// attacked returns a launch with default settings, and the README's promise of its memory in MiB.
// Attacks that take seconds are on a service that promises less.
func attacked() (l launch, promised int) {
	if everyHostile {
		return launch{args: []string{"-deckofcards"}}, 2*512 + 256
	}
	return launch{args: []string{"-deckofcards", "-memory", fmt.Sprint(64 << 20), "-max-body", fmt.Sprint(1 << 20), "-max-items", "10000"}}, 2*64 + 256
}

// testAttack has several addresses send a text on many connections, and checks memory and service.
func testAttack(t *testing.T, peers, connections int, text string) {
	t.Parallel()
	canOpen(t, connections+500)
	l, promised := attacked()
	s := l.start(t)
	open := s.attackFrom(peers, connections, text)
	s.withstands(fmt.Sprintf("%d connections of %d peers", len(open), peers), promised)
	// A peer may have half of the places, and the extra connections until they are answered.
	polite := s.from("127.0.0.2", true)
	if kept, capacity := polite.metric("riffle_connections", ""), polite.metric("riffle_connections_capacity", ""); kept > capacity || peers == 1 && kept > capacity/2+2+httpserver.ExtraConnections {
		t.Errorf("%v connections are open, of at most %v", kept, capacity)
	}
}

// TestHeldBodiesStayWithinMemory has thousands of connections each hold back the last byte of a body
// of 64 KiB (H3), from one address and from many.
func TestHeldBodiesStayWithinMemory(t *testing.T) {
	t.Parallel()
	for path, peers := range map[string]int{"/shuffle": 17, "/api/deck/new/": 1} {
		t.Run(path[1:], func(t *testing.T) {
			testAttack(t, peers, attackSize(4_500, 17_000), strings.Replace(slowRequest, "/shuffle", path, 1))
		})
	}
}

// TestIdleConnectionsStayWithinMemory has thousands of connections that are idle after several
// requests with long answers (H3).
func TestIdleConnectionsStayWithinMemory(t *testing.T) {
	t.Parallel()
	for _, peers := range []int{1, 19} {
		t.Run(fmt.Sprintf("of %d peers", peers), func(t *testing.T) {
			testAttack(t, peers, attackSize(3_500, 19_000), strings.Repeat(wire(`{"deck": "standard52", "repeat": 20}`), 5))
		})
	}
}
