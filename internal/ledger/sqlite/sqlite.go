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
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/google/uuid"
	sqlite3 "modernc.org/sqlite/lib"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlread"
	"riffle/internal/system"
)

// A Store is a [ledger.Store] in one SQLite file.
type Store struct {
	Reader
	*writer
	lock  *os.File
	files ledger.OpenFiles
}

// A Reader is a [ledger.Inspector] of an SQLite file.
type Reader struct {
	sqlread.Query
	conns *sql.DB
}

// OpenReader opens a store to read it. Another process may be writing to it. The file is mapped
// into memory, up to SQLite's limit of 2 GiB: a check of a million records takes three quarters of
// the time. If SQLite cannot create its files beside it, as in a read-only folder, it is read
// without them.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	return OpenReaderCached(ctx, path, 65536)
}

// OpenReaderCached is OpenReader with a page cache of the given KiB per connection.
func OpenReaderCached(ctx context.Context, path string, cache int) (*Reader, error) {
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	r, err := openReader(ctx, path, "ro", cache)
	wal, errWAL := os.Stat(path + "-wal")
	isAll := errors.Is(errWAL, fs.ErrNotExist) || errWAL == nil && wal.Size() == 0
	if code := Code(err); isAll && (code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN) {
		return openReader(ctx, path, "ro&immutable=1", cache) // the file alone is the whole store
	}
	return r, err
}

func openReader(ctx context.Context, path, mode string, cache int) (*Reader, error) {
	r := &Reader{}
	r.open(connector{dsn: dsnOf(mode, path, []string{"mmap_size(2147418112)", fmt.Sprintf("cache_size(-%d)", cache)}), reads: true})
	version, _, err := r.Status(ctx)
	if err = cmp.Or(err, ledger.CheckStatus(version, false)); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), r.Close())
	}
	return r, nil
}

// checkHeader returns an error if the header of a file forbids to write, which no reader notices: it is
// for another version of SQLite.
func checkHeader(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a named pipe would wait for a writer
		return fmt.Errorf("the store %s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	var header [20]byte
	_, err = io.ReadFull(f, header[:])
	_ = f.Close()
	switch {
	case errors.Is(err, io.EOF):
		return ledger.ErrNoLog
	case err != nil || header[18] > 2 || header[19] > 2:
		return fmt.Errorf("opening %s: %w: its header is damaged", path, ledger.ErrCorrupt)
	}
	return nil
}

// open opens the connections when they are first used.
func (r *Reader) open(c connector) {
	r.Query = r.read
	r.conns = sql.OpenDB(c)
	r.conns.SetMaxOpenConns(ledger.DefaultReaders())
	r.conns.SetMaxIdleConns(ledger.DefaultReaders())
	r.conns.SetConnMaxIdleTime(idleTime)
}

// Close closes all connections.
func (r *Reader) Close() error { return r.conns.Close() }

// Open opens or creates the file at path. It returns
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
		return nil, errors.Join(err, system.Unlock(lock))
	}
	s := &Store{lock: lock}
	if err := s.open(ctx, path, cache); err != nil {
		return nil, errors.Join(checkRoom(path, smallCommit), fmt.Errorf("opening %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string, cache int) error {
	err := createTables(ctx, path)
	if err != nil {
		return err
	}
	// The new files' names must survive power loss too.
	if err := system.SyncFolder(path); err != nil {
		return err
	}
	limit := fmt.Sprintf("cache_size(-%d)", cache)
	if s.writer, err = newWriter(ctx, path, limit); err != nil {
		return err
	}
	// A process that was killed before its fsync may have left visible commits. The checkpoint
	// begins with that fsync.
	if err := s.checkpointNow(ctx); err != nil {
		return err
	}
	s.Reader.open(connector{dsn: dsn(path, limit, "query_only(1)")})
	version, moved, err := s.Status(ctx)
	if err = cmp.Or(err, ledger.CheckStatus(version, moved)); err != nil {
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
func (r *Reader) Holders(ctx context.Context, claims []string) (map[string]ledger.Holder, error) {
	return forEach(r, claims).FindHolders(ctx, sqlread.SelectHolders+"= ?")
}

// Firsts implements [ledger.Store].
func (r *Reader) Firsts(ctx context.Context, references []string) (map[string][]ledger.Position, error) {
	return forEach(r, references).FindPositions(ctx, "SELECT idx, id, reference FROM entries WHERE reference = ? ORDER BY idx LIMIT 2")
}

// ByIDs implements [ledger.Store].
func (r *Reader) ByIDs(ctx context.Context, ids []uuid.UUID) ([]ledger.StoredEntry, error) {
	return forEach(r, ids).List(ctx, sqlread.SelectEntries+"WHERE id = ?")
}

// forEach executes a query once for each key. The log's writer waits for it: a key takes a few
// microseconds.
func forEach[K string | uuid.UUID](r *Reader, keys []K) sqlread.Query {
	return func(ctx context.Context, each func(sqlread.Row) error, query string, _ ...any) error {
		return r.withConn(ctx, func(conn driver.Conn) (err error) {
			stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, stmt.Close()) }()
			for _, key := range keys {
				var value any = key
				if id, ok := value.(uuid.UUID); ok {
					value = id[:]
				}
				rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, named(nil, value))
				if err := eachRow(rows, err, each); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Close checkpoints the write-ahead log, closes all connections and releases the lock.
func (s *Store) Close() error {
	var errs []error
	if s.conns != nil {
		errs = append(errs, s.Reader.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, system.Unlock(s.lock))...)
}

// Check runs SQLite's integrity check of the file's pages and indexes.
func (r *Reader) Check(ctx context.Context) (findings []string, err error) {
	err = r.read(ctx, func(row sqlread.Row) error {
		var finding string
		err := row.Scan(&finding)
		if finding != "ok" {
			findings = append(findings, finding)
		}
		return err
	}, "PRAGMA integrity_check")
	return findings, err
}
