// Package postgres stores the ledger in a PostgreSQL database, to which several processes may
// append.
//
// One statement, in its own transaction, writes a batch: it moves the head from the batch's start
// size, and writes the rest only if the head moved. So an append is one round trip even if it
// conflicts, and a stalled client blocks nobody. A batch that conflicted is appended in a
// transaction that first locks the head's row and so gets its turn.
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
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlread"
)

// timeout is the time limit of a batch, a read or a new connection. After it the server counts as
// unreachable.
const timeout = 10 * time.Second

// checkTimeout is the time limit of a query by which a whole log is checked or copied.
const checkTimeout = time.Hour

// pingTimeout is the time limit of a ping to an idle pooled connection.
const pingTimeout = time.Second

// idleTime is the time after which an idle connection is closed.
const idleTime = 10 * time.Second

const closeTimeout = time.Second

// A Store is a [ledger.Store] in one PostgreSQL database.
type Store struct {
	Reader
	writer
}

// A Reader is a [ledger.Inspector] of a PostgreSQL database.
type Reader struct {
	sqlread.Query
	pool    *pgxpool.Pool
	timeout time.Duration // of a query
	primary primary
}

// OpenReader connects to the URL's database to read it, also on a standby.
func OpenReader(ctx context.Context, url string) (*Reader, error) {
	config, err := parseURL(url, false)
	if err != nil {
		return nil, err
	}
	c := config.ConnConfig
	c.RuntimeParams["application_name"] = "riffle-reader"
	c.RuntimeParams["default_transaction_read_only"] = "on"
	r := &Reader{timeout: checkTimeout}
	r.Query = r.read
	if r.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, opened(ctx, c, err)
	}
	version, _, err := r.Status(ctx)
	err = cmp.Or(err, ledger.CheckStatus(version, false))
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == undefinedTable {
		err = ledger.ErrNoLog
	}
	if err != nil {
		return nil, errors.Join(opened(ctx, c, err), r.Close())
	}
	return r, nil
}

// opened returns the error of opening a database.
func opened(ctx context.Context, c *pgx.ConnConfig, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("opening the database %s on %s:%d: %w", c.Database, c.Host, c.Port, classify(ctx, err))
}

// Open connects to the URL's database, and creates the tables if it is empty. The URL may have a pgx
// pool's parameters, such as pool_max_conns. No error contains the password.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := parseURL(url, true)
	if err != nil {
		return nil, err
	}
	c := config.ConnConfig
	s := &Store{}
	s.Query, s.Reader.timeout = s.read, timeout
	primary := &s.Reader.primary
	s.writer.timeout, s.writer.primary = timeout, primary
	c.ValidateConnect = primary.validate(c.ValidateConnect)
	// The pool closes a connection to a former primary.
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		return primary.check(conn.PgConn()) == nil, nil
	}
	s.configure(c.Copy())
	if err = createTables(ctx, c.Copy()); err == nil {
		err = s.connect(ctx)
	}
	if err == nil {
		s.pool, err = pgxpool.NewWithConfig(ctx, config)
	}
	if err == nil {
		version, moved, errStatus := s.Status(ctx)
		if err = cmp.Or(errStatus, ledger.CheckStatus(version, moved)); err != nil {
			s.pool.Close()
		}
	}
	if err != nil && s.conn != nil {
		s.close()
	}
	if err = opened(ctx, c, err); err != nil {
		return nil, err
	}
	return s, nil
}

// Holders implements [ledger.Store].
func (r *Reader) Holders(ctx context.Context, claims []string) (map[string]ledger.Holder, error) {
	return r.FindHolders(ctx, sqlread.SelectHolders+"= ANY($1::text[])", planAnew, claims)
}

// Firsts implements [ledger.Store].
func (r *Reader) Firsts(ctx context.Context, references []string) (map[string][]ledger.Position, error) {
	return r.FindPositions(ctx, selectFirsts, planAnew, references)
}

// ByIDs implements [ledger.Store].
func (r *Reader) ByIDs(ctx context.Context, ids []uuid.UUID) ([]ledger.StoredEntry, error) {
	return r.List(ctx, sqlread.SelectEntries+"WHERE id = ANY($1::uuid[])", planAnew, ids)
}

const selectFirsts = "SELECT e.idx, e.id, r.name FROM unnest($1::text[]) AS r (name) CROSS JOIN LATERAL " +
	"(SELECT idx, id FROM entries WHERE reference = r.name ORDER BY idx LIMIT 2) AS e ORDER BY e.idx"

// planAnew has the server plan a query for many keys each time, since a plan from when the log was short
// would scan it all while the log's writer waits.
const planAnew = pgx.QueryExecModeCacheDescribe

// read implements [sqlread.Query]. After an error, rows may come from a former primary.
func (r *Reader) read(ctx context.Context, each func(sqlread.Row) error, query string, args ...any) error {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	rows, err := r.pool.Query(limited, query, args...)
	if err != nil {
		return classify(ctx, err)
	}
	defer rows.Close()
	conn := rows.Conn().PgConn()
	for err == nil && rows.Next() {
		err = each(rows)
	}
	return classify(ctx, cmp.Or(r.primary.check(conn), err, rows.Err()))
}

// Sessions returns the number of sessions on the database that have an application_name.
func (s *Store) Sessions(ctx context.Context, name string) (n int64, err error) {
	err = s.read(ctx, func(row sqlread.Row) error { return row.Scan(&n) },
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", name)
	return n, err
}

// Readers returns the number of reading connections.
func (s *Store) Readers() int { return int(s.pool.Config().MaxConns) }

// CheckFiles returns nil: the server checks its files.
func (s *Store) CheckFiles() error { return nil }

// CheckRoom returns nil: the server's disk is unknown.
func (s *Store) CheckRoom() error { return nil }

// Close closes all connections.
func (s *Store) Close() error {
	s.close()
	return s.Reader.Close()
}

// Close closes all connections.
func (r *Reader) Close() error {
	r.pool.Close()
	return nil
}
