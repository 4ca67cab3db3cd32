package postgres

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/postgres/postgrestest"
	"riffle/internal/ledger/sqlread"
)

func hangingServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// With sslmode=prefer every host is tried twice.
func TestHostThatHangsLeavesTimeForTheNext(t *testing.T) {
	url := newDatabase(t)
	t.Parallel()
	hosts := hangingServer(t) + "," + cluster.Address()
	location := strings.Replace(postgrestest.URLAt(hosts, database(t, url)), "sslmode=disable", "sslmode=prefer", 1)
	s := open(t, withParameter(location, "connect_timeout=1")) // TestCountHosts has the default
	defer closeStore(t, s)
	// What looks for the tables, the writer and a reader connect in sequence.
	_, err := s.Head(t.Context())
	assert.NoError(t, err, "reading")
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
		config, err := parseURL(url, true)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		n, limit := countHosts(config.ConnConfig), config.ConnConfig.ConnectTimeout
		assert.Truef(t, n == want && limit <= timeout/time.Duration(want), "%s has %d hosts with %s for each, want %d", url, n, limit, want)
	}
}

func TestFormerPrimaryIsGivenUp(t *testing.T) {
	s, _, c := newLog(t)
	_, err := s.Head(t.Context())
	require.NoError(t, err)
	current := s.Reader.primary.timeline.Load()
	require.Truef(t, current >= 1, "the timeline is %d", current)
	s.Reader.primary.timeline.Store(current + 1)
	next := c.Next(ledgertest.Entries("next", 1)...)
	_, errHead := s.Head(t.Context())
	_, errConfirm := s.Confirm(t.Context())
	for what, err := range map[string]error{"reading": errHead, "confirming": errConfirm, "appending": s.Append(t.Context(), next)} {
		assert.ErrorIs(t, err, errFormerPrimary, what)
		assert.ErrorIs(t, err, ledger.ErrUnavailable, what)
	}
	s.Reader.primary.timeline.Store(current)
	assert.NoError(t, s.Append(t.Context(), next), "afterwards")
	c.CheckLog(s)
}

// A reader discards a former primary's rows.
func TestReadFromFormerPrimaryIsDiscarded(t *testing.T) {
	s, _, _ := newLog(t)
	err := s.read(t.Context(), func(sqlread.Row) error {
		s.Reader.primary.timeline.Add(1) // while it is read
		return nil
	}, sqlread.SelectHead)
	assert.ErrorIs(t, err, errFormerPrimary)
	assert.ErrorIs(t, err, ledger.ErrUnavailable)
}

// A standby is promoted while the former primary keeps running. There a killed session waits
// forever for the standby and has locked the head.
func TestPrimaryWithoutStandbyIsLeft(t *testing.T) {
	t.Parallel()
	former, key := newAbsentStandby(t), newKeyFile(t)
	standby := former.Standby(t)
	hosts := postgrestest.URLAt(former.Address()+","+standby.Address(), database(t, former.url))
	l := former.openLog(t, hosts, key)
	former.wait(t, true)
	entries := ledgertest.Entries("promoted", 2)
	wantAnswered(t, startAppend(l, entries[0]))
	require.NoError(t, standby.Exec(t.Context(), "SELECT pg_promote()"))
	killed, err := pgconn.Connect(t.Context(), former.url)
	require.NoError(t, err)
	killed.Frontend().SendQuery(&pgproto3.Query{String: "UPDATE head SET size = size"})
	require.NoError(t, killed.Frontend().Flush())
	eventually(t, func() bool { return former.waiting(t, "") == 1 })
	require.NoError(t, killed.Conn().Close())

	wantAnswered(t, startAppend(l, entries[1]))
	assert.Equal(t, "1", former.size(t), "the former primary shows")
	assert.Equal(t, "2", query(t, standby.URL(database(t, former.url)), "SELECT count(*)::text FROM entries")[0],
		"the primary")
}

func TestServersThatAWriterLeaves(t *testing.T) {
	for code, want := range map[string]bool{
		"55P03": true,  // lock_timeout
		"57014": true,  // canceled, or statement_timeout
		"57P01": true,  // shut down
		"57P05": true,  // idle_session_timeout
		"25006": true,  // has become a standby
		"25P04": true,  // transaction_timeout
		"53100": true,  // disk full
		"53200": true,  // out of memory
		"08006": true,  // connection failure
		"40001": false, // serialization failure
		"40P01": false, // deadlock
		"23505": false, // conflict
		"42501": false, // no privilege
		"":      false, // from a broken server
		"5":     false,
	} {
		assert.Equalf(t, want, cannotAppend(classify(t.Context(), &pgconn.PgError{Code: code})), "SQLSTATE %s", code)
	}
	assert.True(t, cannotAppend(classify(t.Context(), context.DeadlineExceeded)),
		"a server that does not answer in time is not left")
}
