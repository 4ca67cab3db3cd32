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

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
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
	readers *pgxpool.Pool
	writer  writer
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
	s.writer.timeout, s.writer.primary = timeout, &s.primary
	c.ValidateConnect = s.primary.validate(c.ValidateConnect)
	config.PrepareConn = s.primary.prepare
	s.writer.configure(c.Copy())
	err = migrate(ctx, c.Copy(), timeout, migrationTimeout)
	if err == nil {
		err = s.writer.connect(ctx)
	}
	if err == nil {
		s.readers, err = pgxpool.NewWithConfig(ctx, config)
	}
	if err != nil {
		if s.writer.conn != nil {
			s.writer.close()
		}
		return nil, fmt.Errorf("opening the database %s on %s:%d: %w", c.Database, c.Host, c.Port, classify(ctx, err))
	}
	return s, nil
}

const selectHead = "SELECT size, edge, checkpoint, seed_key, seeds_from FROM head WHERE one"

func scanHead(row pgx.Row, h *ledger.Head) error {
	var size, from int64
	err := row.Scan(&size, &h.Edge, &h.Checkpoint, &h.SeedKey, &from)
	h.Size, h.SeedsFrom = uint64(size), uint64(from)
	return err
}

// Head implements [ledger.Store].
func (s *Store) Head(ctx context.Context) (h ledger.Head, err error) {
	found := false
	err = s.read(ctx, func(rows pgx.Rows) error {
		found = true
		return scanHead(rows, &h)
	}, selectHead)
	if err == nil && !found {
		err = errNoHead
	}
	return h, err
}

// Confirm commits an update of the head that changes nothing. A standby that has its commit record
// also has every transaction that it sees.
func (s *Store) Confirm(ctx context.Context) (ledger.Head, error) {
	return s.writer.confirm(ctx)
}

// Append implements [ledger.Store].
func (s *Store) Append(ctx context.Context, batch ledger.Batch) error {
	return s.writer.append(ctx, batch)
}

// AppendNext implements [ledger.Store]. It locks the head's row.
func (s *Store) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return s.writer.appendNext(ctx, next)
}

// Hashes implements [ledger.Store].
func (s *Store) Hashes(ctx context.Context, level int, from uint64, n int) (hashes []tlog.Hash, err error) {
	query, args := "SELECT idx, hash FROM nodes WHERE level = $3 AND idx >= $1 ORDER BY idx LIMIT $2", []any{int64(from), n, level}
	if level == 0 {
		query, args = "SELECT idx, hash FROM entries WHERE idx >= $1 ORDER BY idx LIMIT $2", args[:2]
	}
	next := int64(from)
	err = s.read(ctx, func(rows pgx.Rows) error {
		var index int64
		var hash []byte
		if err := rows.Scan(&index, &hash); err != nil {
			return err
		}
		if index != next || len(hash) != tlog.HashSize {
			return fmt.Errorf("%w: the hash %d of level %d is missing or has %d bytes", ledger.ErrCorrupt, next, level, len(hash))
		}
		hashes = append(hashes, tlog.Hash(hash))
		next++
		return nil
	}, query, args...)
	return hashes, err
}

// Records implements [ledger.Store].
func (s *Store) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	return s.read(ctx, func(rows pgx.Rows) error {
		var index int64
		var record, hash pgtype.DriverBytes
		if err := rows.Scan(&index, &record, &hash); err != nil {
			return err
		}
		if len(hash) != tlog.HashSize {
			return fmt.Errorf("%w: record %d has a hash of %d bytes", ledger.ErrCorrupt, index, len(hash))
		}
		return each(uint64(index), record, tlog.Hash(hash))
	}, "SELECT idx, record, hash FROM entries WHERE idx >= $1 ORDER BY idx LIMIT $2", int64(from), n)
}

const selectEntries = "SELECT idx, id, coalesce(reference, ''), record, secret, hash FROM entries "

const selectHolder = "SELECT e.idx, e.id, coalesce(e.reference, ''), e.record, e.secret, e.hash, " +
	"coalesce(c.status, ''), coalesce(c.due, 0) FROM claims AS c JOIN entries AS e ON e.idx = c.idx WHERE c.name = $1"

// Range implements [ledger.Store].
func (s *Store) Range(ctx context.Context, from uint64, n int) ([]ledger.Stored, error) {
	return s.list(ctx, nil, selectEntries+"WHERE idx >= $1 ORDER BY idx LIMIT $2", int64(from), n)
}

// ByID implements [ledger.Store].
func (s *Store) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	return ledger.FirstOrNotFound(s.list(ctx, nil, selectEntries+"WHERE id = $1", [16]byte(id)))
}

// ByClaim implements [ledger.Store].
func (s *Store) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	c := ledger.Claim{Name: claim}
	found, err := ledger.FirstOrNotFound(s.list(ctx, []any{&c.Status, &c.Due}, selectHolder, claim))
	if err != nil {
		return nil, err
	}
	found.Claims = []ledger.Claim{c}
	return found, nil
}

// ByReference implements [ledger.Store].
func (s *Store) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	return s.list(ctx, nil, selectEntries+"WHERE reference = $1 AND idx >= $2 ORDER BY idx LIMIT $3", reference, int64(from), limit)
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
	return s.read(ctx, func(rows pgx.Rows) error {
		var name string
		var index int64
		var id [16]byte
		if err := rows.Scan(&name, &index, &id); err != nil {
			return err
		}
		each(name, ledger.Place{Index: uint64(index), ID: id})
		return nil
	}, query, pgx.QueryExecModeCacheDescribe, names)
}

// list returns the selected entries. It scans later columns into extra.
func (s *Store) list(ctx context.Context, extra []any, query string, args ...any) (list []ledger.Stored, err error) {
	err = s.read(ctx, func(rows pgx.Rows) error {
		var e ledger.Stored
		var index int64
		var hash []byte
		if err := rows.Scan(append([]any{&index, (*[16]byte)(&e.ID), &e.Reference, &e.Record, &e.Sidecar, &hash}, extra...)...); err != nil {
			return err
		}
		if len(hash) != len(e.Hash) {
			return fmt.Errorf("%w: record %d has a hash of %d bytes", ledger.ErrCorrupt, index, len(hash))
		}
		e.Index, e.Hash = uint64(index), tlog.Hash(hash)
		list = append(list, e)
		return nil
	}, query, args...)
	return list, err
}

// Claims implements [ledger.Store].
func (s *Store) Claims(ctx context.Context, q ledger.ClaimQuery) (claims []ledger.Claim, err error) {
	where, args := condition(q)
	query := fmt.Sprintf("SELECT name, coalesce(status, ''), coalesce(due, 0) FROM claims %s ORDER BY name LIMIT $%d", where, len(args)+1)
	err = s.read(ctx, func(rows pgx.Rows) error {
		var c ledger.Claim
		err := rows.Scan(&c.Name, &c.Status, &c.Due)
		claims = append(claims, c)
		return err
	}, query, append(args, q.Limit)...)
	return claims, err
}

// CountClaims implements [ledger.Store].
func (s *Store) CountClaims(ctx context.Context, q ledger.ClaimQuery) (n uint64, err error) {
	where, args := condition(q)
	err = s.read(ctx, func(rows pgx.Rows) error { return rows.Scan(&n) }, "SELECT count(*) FROM claims "+where, args...)
	return n, err
}

// condition returns a query's WHERE clause. A due time or a status matches an index's condition.
func condition(q ledger.ClaimQuery) (where string, args []any) {
	after, before := q.NameBounds()
	where, args = "WHERE name > $1 AND name < $2", []any{after, before}
	switch {
	case q.DueBy != 0:
		where, args = where+" AND due <= $3", append(args, q.DueBy)
	case q.Done && q.Status == "":
		where += " AND due IS NULL AND status IS NULL"
	case q.Done:
		where, args = where+" AND due IS NULL AND status = $3", append(args, q.Status)
	}
	return where, args
}

// read calls row for each row that a query returns. After an error, rows may be missing or come
// from a former primary.
func (s *Store) read(ctx context.Context, row func(pgx.Rows) error, query string, args ...any) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	rows, err := s.readers.Query(limited, query, args...)
	if err != nil {
		return classify(ctx, err)
	}
	defer rows.Close()
	conn := rows.Conn().PgConn()
	for rows.Next() {
		if err = row(rows); err != nil {
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
	s.writer.close()
	return nil
}
