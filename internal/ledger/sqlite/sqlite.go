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
	"os"
	"time"

	"github.com/google/uuid"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlread"
)

// A Store is a [ledger.Store] in one SQLite file.
type Store struct {
	sqlread.Reader
	*writer
	readers *sql.DB
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
	s.Reader = s.read
	if err := s.open(ctx, path, cache); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string, cache int) error {
	version, err := migrate(ctx, path)
	if err != nil {
		return err
	}
	// The new files' names must survive power loss too.
	if err := ledger.SyncFolder(path); err != nil {
		return err
	}
	limit := fmt.Sprintf("cache_size(-%d)", cache)
	if s.writer, err = newWriter(ctx, path, limit); err != nil {
		return err
	}
	s.version = version
	// A process that was killed before its fsync may have left visible commits. The checkpoint
	// begins with that fsync.
	if err := s.checkpointNow(ctx); err != nil {
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

// Confirm returns the head. Commits become visible after their fsync.
func (s *Store) Confirm(ctx context.Context) (ledger.Head, error) { return s.Head(ctx) }

// AppendNext implements [ledger.Store]. No other process can append.
func (s *Store) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendFromHead(ctx, s, next)
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
// waits for it: a name takes a few microseconds.
func (s *Store) places(ctx context.Context, query string, names []string, each func(string, ledger.Place)) error {
	return s.withConn(ctx, func(conn driver.Conn) (err error) {
		stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stmt.Close()) }()
		var index int64
		var id []byte
		columns := []any{&index, &id}
		for _, name := range names {
			rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, named(nil, name))
			err = eachRow(rows, err, func(row sqlread.Row) error {
				if err := row.Scan(columns...); err != nil {
					return err
				}
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

// Close checkpoints the write-ahead log, closes all connections and releases the lock.
func (s *Store) Close() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Check runs SQLite's integrity check of the file's pages and indexes.
func (s *Store) Check(ctx context.Context) (findings []string, err error) {
	err = s.read(ctx, func(row sqlread.Row) error {
		var finding string
		err := row.Scan(&finding)
		if finding != "ok" {
			findings = append(findings, finding)
		}
		return err
	}, "PRAGMA integrity_check")
	return findings, err
}
