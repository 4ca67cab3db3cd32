// Package postgres stores the ledger in a PostgreSQL database, to which several processes may
// append.
//
// One statement, in its own transaction, writes a batch: it moves the head from the batch's start
// size, and writes the rest only if the head moved. So an append is one round trip even if it
// conflicts, and a stalled client blocks nobody. A batch that conflicted is appended in a
// transaction that first locks the head's row and so gets its turn. Only migrations take an
// advisory lock.
//
// Durability is the server's. A connection is refused if the server's settings would lose committed
// transactions, and an append fails if they have changed since. If commits wait for a standby, a
// commit without errors and warnings has reached the standby; a read may return more: see
// [Store.Confirm]. A connection to a server closes once another server was promoted: see primary.
//
// One connection writes, and readers share a pool. A statement's connection is closed at its time
// limit. A writer never asks the server to cancel a statement, since that would end the wait for
// the standby and not the commit.
package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlread"
)

// timeout is the time limit of a batch, a read or a new connection. After it the server counts as
// unreachable.
const timeout = 10 * time.Second

// migrationTimeout is the time limit of bringing the tables up to date, which takes longer for a
// longer log.
const migrationTimeout = time.Hour

// pingTimeout is the time limit of a ping to an idle pooled connection.
const pingTimeout = time.Second

const closeTimeout = time.Second

// A Store is a [ledger.Store] in one PostgreSQL database.
type Store struct {
	sqlread.Reader
	writer
	readers *pgxpool.Pool
	primary primary
}

// Open connects to the URL's database and brings its tables up to date. The URL may have a pgx
// pool's parameters, such as pool_max_conns. No error contains the password.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	c := config.ConnConfig
	s := &Store{}
	s.Reader = s.read
	s.timeout, s.writer.primary = timeout, &s.primary
	c.ValidateConnect = s.primary.validate(c.ValidateConnect)
	config.PrepareConn = s.primary.prepare
	s.configure(c.Copy())
	s.version, err = migrate(ctx, c.Copy(), timeout, migrationTimeout)
	if err == nil {
		err = s.connect(ctx)
	}
	if err == nil {
		s.readers, err = pgxpool.NewWithConfig(ctx, config)
	}
	if err != nil {
		if s.conn != nil {
			s.close()
		}
		return nil, fmt.Errorf("opening the database %s on %s:%d: %w", c.Database, c.Host, c.Port, classify(ctx, err))
	}
	return s, nil
}

// Holders implements [ledger.Store].
func (s *Store) Holders(ctx context.Context, claims []string) (map[string]ledger.Place, error) {
	holders := map[string]ledger.Place{}
	err := s.places(ctx, selectHolders, claims, func(name string, p ledger.Place) { holders[name] = p })
	return holders, err
}

// Firsts implements [ledger.Store].
func (s *Store) Firsts(ctx context.Context, references []string) (map[string][]ledger.Place, error) {
	firsts := map[string][]ledger.Place{}
	err := s.places(ctx, selectFirsts, references, func(name string, p ledger.Place) { firsts[name] = append(firsts[name], p) })
	return firsts, err
}

const selectHolders = "SELECT c.name, e.idx, e.id FROM claims AS c JOIN entries AS e ON e.idx = c.idx WHERE c.name = ANY($1::text[])"

const selectFirsts = "SELECT r.name, e.idx, e.id FROM unnest($1::text[]) AS r (name) CROSS JOIN LATERAL " +
	"(SELECT idx, id FROM entries WHERE reference = r.name ORDER BY idx LIMIT 2) AS e ORDER BY e.idx"

// places calls each for every entry that a query finds for the names. The server plans the query
// anew each time, since a plan from when the log was short would scan it all while the log's writer
// waits.
func (s *Store) places(ctx context.Context, query string, names []string, each func(string, ledger.Place)) error {
	return s.read(ctx, func(row sqlread.Row) error {
		var name string
		var index int64
		var id [16]byte
		if err := row.Scan(&name, &index, &id); err != nil {
			return err
		}
		each(name, ledger.Place{Index: uint64(index), ID: id})
		return nil
	}, query, pgx.QueryExecModeCacheDescribe, names)
}

// read implements [sqlread.Reader]. After an error, rows may come from a former primary.
func (s *Store) read(ctx context.Context, each func(sqlread.Row) error, query string, args ...any) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	rows, err := s.readers.Query(limited, query, args...)
	if err != nil {
		return classify(ctx, err)
	}
	defer rows.Close()
	conn := rows.Conn().PgConn()
	for rows.Next() {
		if err = each(rows); err != nil {
			break
		}
	}
	if err == nil {
		err = rows.Err()
	}
	if former := s.primary.check(conn); former != nil {
		err = former
	}
	return classify(ctx, err)
}

// Readers returns the number of reading connections.
func (s *Store) Readers() int { return int(s.readers.Config().MaxConns) }

// CheckFiles returns nil: the server checks its files.
func (s *Store) CheckFiles() error { return nil }

// CheckRoom returns nil: the server's disk is unknown.
func (s *Store) CheckRoom() error { return nil }

// Close closes all connections.
func (s *Store) Close() error {
	s.readers.Close()
	s.close()
	return nil
}
