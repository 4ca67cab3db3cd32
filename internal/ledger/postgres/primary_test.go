package postgres

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/postgres/postgrestest"
)

// hangingServer returns the address of a server that accepts connections and never answers, as one
// that was stopped by a signal.
func hangingServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// With sslmode=prefer every host is tried twice.
func TestHostThatHangsLeavesTimeForTheNext(t *testing.T) {
	url := newDatabase(t)
	t.Parallel()
	hosts := hangingServer(t) + "," + cluster.Address()
	began := time.Now()
	s := open(t, strings.Replace(postgrestest.URLAt(hosts, database(t, url)), "sslmode=disable", "sslmode=prefer", 1))
	defer closeStore(t, s)
	// The migrations, the writer and a reader connect, one after the other.
	if _, err := s.Head(t.Context()); err != nil {
		t.Errorf("reading: %v", err)
	}
	if took := time.Since(began); took > 3*timeout {
		t.Errorf("three connections took %s", took)
	}
}

func TestCountHosts(t *testing.T) {
	for url, want := range map[string]int{
		"postgres://a/riffle":                            1,
		"postgres://a:1,b:2,c:3/riffle?sslmode=prefer":   3,
		"postgres://a:1,a:2/riffle?sslmode=disable":      2,
		"postgres://a,b/riffle?connect_timeout=1":        2,
		"postgres://a,b/riffle?target_session_attrs=any": 2,
		"postgres:///riffle?host=/run/one,/run/two":      2,
	} {
		config, err := parseURL(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if n, limit := countHosts(config.ConnConfig), config.ConnConfig.ConnectTimeout; n != want || limit > timeout/time.Duration(want) {
			t.Errorf("%s has %d hosts with %s for each, want %d", url, n, limit, want)
		}
	}
}

// A server that was the primary before is neither written to nor read from, in new and in old
// connections.
func TestFormerPrimaryIsGivenUp(t *testing.T) {
	url := newDatabase(t)
	s, c := open(t, url), ledgertest.NewChain(t)
	defer closeStore(t, s)
	if err := s.Append(t.Context(), c.Next()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	current := s.primary.timeline.Load()
	if current < 1 {
		t.Fatalf("the timeline is %d", current)
	}
	s.primary.timeline.Store(current + 1)
	next := c.Next(ledgertest.Entries("next", 1)...)
	_, errHead := s.Head(t.Context())
	_, errConfirm := s.Confirm(t.Context())
	for what, err := range map[string]error{"reading": errHead, "confirming": errConfirm, "appending": s.Append(t.Context(), next)} {
		if !errors.Is(err, errFormerPrimary) || !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("%s: %v, want errFormerPrimary", what, err)
		}
	}
	s.primary.timeline.Store(current)
	if err := s.Append(t.Context(), next); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	c.CheckLog(s)
}

// A reader that is answered by the former primary returns nothing of it.
func TestReadFromFormerPrimaryIsDiscarded(t *testing.T) {
	url := newDatabase(t)
	s, c := open(t, url), ledgertest.NewChain(t)
	defer closeStore(t, s)
	if err := errors.Join(s.Append(t.Context(), c.Next()), s.Append(t.Context(), c.Next(ledgertest.Entries("some", 3)...))); err != nil {
		t.Fatal(err)
	}
	err := s.read(t.Context(), func(pgx.Rows) error {
		s.primary.timeline.Add(1) // while it is read
		return nil
	}, selectHead)
	if !errors.Is(err, errFormerPrimary) || !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("%v, want errFormerPrimary", err)
	}
}
