// Package sqlite stores the ledger in one SQLite file for one process.
//
// Commits are durable: every connection uses WAL mode with synchronous=FULL, so that a commit
// returns after the write-ahead log's fsync. The writer checkpoints that log explicitly, since
// SQLite's automatic checkpoint would not report a failed fsync.
//
// One connection writes, with prepared statements below database/sql: see [writer]. Readers share a
// bounded pool of connections that cannot write. A locked file beside the database rejects other
// processes.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// A Store is a [ledger.Store] in one SQLite file.
type Store struct {
	readers *sql.DB
	writer  *writer
	lock    *os.File
	files   ledger.OpenFiles
}

// Open opens or creates the file at path and brings its tables up to date. It returns
// [ledger.ErrInUse] if another process has opened the file.
func Open(ctx context.Context, path string) (*Store, error) {
	const usual = 2000 // SQLite's default
	return OpenCached(ctx, path, usual)
}

// OpenCached is Open with a page cache of the given KiB per connection, for processes with many
// stores.
func OpenCached(ctx context.Context, path string, cache int) (*Store, error) {
	lock, err := ledger.LockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	// Only the owner may read seeds. SQLite gives the write-ahead log the file's mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s := &Store{lock: lock}
	if err := s.open(ctx, path, cache); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string, cache int) error {
	if err := migrate(ctx, path); err != nil {
		return err
	}
	// The new files' names must survive power loss too.
	if err := ledger.SyncFolder(path); err != nil {
		return err
	}
	var err error
	limit := fmt.Sprintf("cache_size(-%d)", cache)
	if s.writer, err = newWriter(ctx, path, limit); err != nil {
		return err
	}
	// A process that was killed before its fsync may have left visible commits. The checkpoint
	// begins with that fsync.
	if err := s.writer.checkpointNow(ctx); err != nil {
		return err
	}
	s.readers = sql.OpenDB(connector{dsn: dsn(path, limit, "query_only(1)")})
	s.readers.SetMaxOpenConns(s.Readers())
	s.readers.SetMaxIdleConns(s.Readers())
	s.readers.SetConnMaxIdleTime(idleTime)
	if err := s.readers.PingContext(ctx); err != nil {
		return err
	}
	s.files, err = ledger.NewOpenFiles(path, path+"-wal", path+"-shm", path+".lock")
	return err
}

// idleTime is the time after which an idle connection is closed. Each has two open files and uses
// up to two megabytes.
const idleTime = 5 * time.Second

// Readers returns the number of reading connections.
func (s *Store) Readers() int { return ledger.DefaultReaders() }

// CheckFiles checks the database, SQLite's files beside it, and the lock.
func (s *Store) CheckFiles() error { return s.files.Check() }

// Head implements [ledger.Store].
func (s *Store) Head(ctx context.Context) (h ledger.Head, err error) {
	var size, from int64
	err = s.readers.QueryRowContext(ctx, "SELECT size, edge, checkpoint, seed_key, seeds_from FROM head").
		Scan(&size, &h.Edge, &h.Checkpoint, &h.SeedKey, &from)
	h.Size, h.SeedsFrom = uint64(size), uint64(from)
	return h, err
}

// Confirm returns the head. Commits become visible after their fsync.
func (s *Store) Confirm(ctx context.Context) (ledger.Head, error) { return s.Head(ctx) }

// Append implements [ledger.Store].
func (s *Store) Append(ctx context.Context, batch ledger.Batch) error {
	return s.writer.append(ctx, batch)
}

// AppendNext implements [ledger.Store]. No other process can append.
func (s *Store) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendFromHead(ctx, s, next)
}

// Hashes implements [ledger.Store].
func (s *Store) Hashes(ctx context.Context, level int, from uint64, n int) (hashes []tlog.Hash, err error) {
	query, args := "SELECT idx, hash FROM nodes WHERE level = ? AND idx >= ? ORDER BY idx LIMIT ?", []any{level, int64(from), n}
	if level == 0 {
		query, args = "SELECT idx, hash FROM entries WHERE idx >= ? ORDER BY idx LIMIT ?", args[1:]
	}
	next := int64(from)
	err = s.read(ctx, func(rows *sql.Rows) error {
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

// Records implements [ledger.Store]. The follower reads every record with it, so it bypasses
// database/sql, which takes 1.5 times as long.
func (s *Store) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) (err error) {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(c any) error {
		rows, err := c.(driver.QueryerContext).QueryContext(ctx, "SELECT idx, record, hash FROM entries WHERE idx >= ? ORDER BY idx LIMIT ?",
			[]driver.NamedValue{{Ordinal: 1, Value: int64(from)}, {Ordinal: 2, Value: int64(n)}})
		return eachRow(rows, err, func(row []driver.Value) error {
			index, _ := row[0].(int64)
			record, isRecord := row[1].([]byte)
			hash, isHash := row[2].([]byte)
			if !isRecord || !isHash || len(hash) != tlog.HashSize {
				return fmt.Errorf("%w: record %d is a %T and has a hash of %d bytes", ledger.ErrCorrupt, index, row[1], len(hash))
			}
			return each(uint64(index), record, tlog.Hash(hash))
		})
	})
}

const selectEntries = "SELECT idx, id, coalesce(reference, ''), record, secret, hash FROM entries "

const selectHolder = "SELECT e.idx, e.id, coalesce(e.reference, ''), e.record, e.secret, e.hash, " +
	"coalesce(c.status, ''), coalesce(c.due, 0) FROM claims AS c JOIN entries AS e ON e.idx = c.idx WHERE c.name = ?"

// Range implements [ledger.Store].
func (s *Store) Range(ctx context.Context, from uint64, n int) ([]ledger.Stored, error) {
	return s.list(ctx, nil, selectEntries+"WHERE idx >= ? ORDER BY idx LIMIT ?", int64(from), n)
}

// ByID implements [ledger.Store].
func (s *Store) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	return ledger.FirstOrNotFound(s.list(ctx, nil, selectEntries+"WHERE id = ?", id[:]))
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
	return s.list(ctx, nil, selectEntries+"WHERE reference = ? AND idx >= ? ORDER BY idx LIMIT ?", reference, int64(from), limit)
}

// Holders implements [ledger.Store].
func (s *Store) Holders(ctx context.Context, claims []string) (map[string]ledger.Place, error) {
	holders := map[string]ledger.Place{}
	err := s.places(ctx, "SELECT c.idx, e.id FROM claims AS c JOIN entries AS e ON e.idx = c.idx WHERE c.name = ?", claims,
		func(name string, p ledger.Place) { holders[name] = p })
	return holders, err
}

// Firsts implements [ledger.Store].
func (s *Store) Firsts(ctx context.Context, references []string) (map[string][]ledger.Place, error) {
	firsts := map[string][]ledger.Place{}
	err := s.places(ctx, "SELECT idx, id FROM entries WHERE reference = ? ORDER BY idx LIMIT 2", references,
		func(name string, p ledger.Place) { firsts[name] = append(firsts[name], p) })
	return firsts, err
}

// places executes a query for each name and calls each for every entry found. The log's writer
// waits for it, so it bypasses database/sql: a name takes a few microseconds.
func (s *Store) places(ctx context.Context, query string, names []string, each func(string, ledger.Place)) (err error) {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(c any) (err error) {
		stmt, err := c.(driver.ConnPrepareContext).PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		for _, name := range names {
			rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, []driver.NamedValue{{Ordinal: 1, Value: name}})
			err = eachRow(rows, err, func(row []driver.Value) error {
				index, _ := row[0].(int64)
				id, _ := row[1].([]byte)
				if len(id) != len(uuid.UUID{}) {
					return fmt.Errorf("%w: record %d has an id of %d bytes", ledger.ErrCorrupt, index, len(id))
				}
				each(name, ledger.Place{Index: uint64(index), ID: uuid.UUID(id)})
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// list returns the selected entries. It scans later columns into extra.
func (s *Store) list(ctx context.Context, extra []any, query string, args ...any) (list []ledger.Stored, err error) {
	err = s.read(ctx, func(rows *sql.Rows) error {
		var e ledger.Stored
		var index int64
		var id, hash []byte
		if err := rows.Scan(append([]any{&index, &id, &e.Reference, &e.Record, &e.Sidecar, &hash}, extra...)...); err != nil {
			return err
		}
		if len(id) != len(e.ID) || len(hash) != len(e.Hash) {
			return fmt.Errorf("%w: record %d has an id of %d bytes and a hash of %d", ledger.ErrCorrupt, index, len(id), len(hash))
		}
		e.Index, e.ID, e.Hash = uint64(index), uuid.UUID(id), tlog.Hash(hash)
		list = append(list, e)
		return nil
	}, query, args...)
	return list, err
}

// Claims implements [ledger.Store].
func (s *Store) Claims(ctx context.Context, q ledger.ClaimQuery) (claims []ledger.Claim, err error) {
	where, args := condition(q)
	query := fmt.Sprintf("SELECT name, coalesce(status, ''), coalesce(due, 0) FROM claims %s ORDER BY name LIMIT ?", where)
	err = s.read(ctx, func(rows *sql.Rows) error {
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
	err = s.readers.QueryRowContext(ctx, "SELECT count(*) FROM claims "+where, args...).Scan(&n)
	return n, err
}

// condition returns a query's WHERE clause. A due time or a status matches an index's condition.
func condition(q ledger.ClaimQuery) (where string, args []any) {
	after, before := q.NameBounds()
	where, args = "WHERE name > ? AND name < ?", []any{after, before}
	switch {
	case q.DueBy != 0:
		where, args = where+" AND due <= ?", append(args, q.DueBy)
	case q.Done && q.Status == "":
		where += " AND due IS NULL AND status IS NULL"
	case q.Done:
		where, args = where+" AND due IS NULL AND status = ?", append(args, q.Status)
	}
	return where, args
}

// Close checkpoints the write-ahead log, closes all connections and releases the lock.
func (s *Store) Close() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Check runs SQLite's integrity check of the file's pages and indexes.
func (s *Store) Check(ctx context.Context) (findings []string, err error) {
	err = s.read(ctx, func(rows *sql.Rows) error {
		var finding string
		err := rows.Scan(&finding)
		if finding != "ok" {
			findings = append(findings, finding)
		}
		return err
	}, "PRAGMA integrity_check")
	return findings, err
}

// read calls row for each row that a query returns. After an error, rows may be missing.
func (s *Store) read(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// eachRow calls each for every row of a driver's query, whose outcome is rows or err.
func eachRow(rows driver.Rows, err error, each func(row []driver.Value) error) error {
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		if err = rows.Next(row); err == nil {
			err = each(row)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}
