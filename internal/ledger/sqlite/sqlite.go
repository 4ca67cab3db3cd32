// Package sqlite keeps the ledger's entries in one SQLite file.
//
// Durability is WAL with synchronous=FULL, set and read back on every connection: a commit returns after the fsync of
// the write-ahead log. One connection writes, driven below database/sql, because there is one writer and its
// statements never change; readers have a pool of their own that cannot write. The write-ahead log is copied back into
// the file by the writer itself and not by SQLite's automatic checkpoint, which would not tell of a failed fsync.
//
// A lock beside the file, released by the kernel when the process dies, lets one process write: a second one refuses.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"riffle/internal/ledger"
)

//go:embed migrations/*.sql
var migrations embed.FS

// A Store is a [ledger.Store] in one SQLite file.
type Store struct {
	readers *sql.DB
	writer  *writer
	lock    *os.File
}

// Open opens the file at path, or makes it, and brings its tables up to date. An error says what to do where the
// caller can do something: another process has the file, or it is of a newer version.
func Open(ctx context.Context, path string) (*Store, error) {
	lock, err := acquire(path + ".lock")
	if err != nil {
		return nil, err
	}
	// SQLite gives the write-ahead log the mode of the file. The seeds lie in both.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := f.Close(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s := &Store{lock: lock}
	if err := s.open(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string) error {
	if err := migrate(ctx, path); err != nil {
		return err
	}
	// The file and its write-ahead log exist now; their names have to survive power loss as well.
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return err
	}
	var err error
	if s.writer, err = newWriter(ctx, path); err != nil {
		return err
	}
	s.readers = sql.OpenDB(connector{dsn: dsn(path, "query_only(1)")})
	s.readers.SetMaxIdleConns(4)
	return s.readers.PingContext(ctx)
}

// migrate brings the tables up to date, over a connection of its own.
func migrate(ctx context.Context, path string) (err error) {
	db := sql.OpenDB(connector{dsn: dsn(path)})
	defer func() { err = errors.Join(err, db.Close()) }()
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder)
	if err != nil {
		return err
	}
	have, newest, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > newest {
		return fmt.Errorf("the store has version %d, and this program knows versions up to %d; start a newer program", have, newest)
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	// What a killed process has left in the write-ahead log need not have reached the disk, and what follows it there
	// is readable only as long as it has. Closing would copy it back as well, but would not tell of a failed fsync.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil && !full(err) {
		return fmt.Errorf("copying the write-ahead log back: %w", err)
	}
	return nil
}

func syncFolder(path string) (err error) {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	return folder.Sync()
}

// dsn names the file with the pragmas of every connection and those given.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(0)",
		"trusted_schema(0)", "cell_size_check(1)",
	}, pragmas...)}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// A connector makes connections and reads back that they are durable.
type connector struct{ dsn string }

func (c connector) Driver() driver.Driver { return &sqlite.Driver{} }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	for pragma, want := range map[string]driver.Value{"journal_mode": "wal", "synchronous": int64(2)} {
		got, err := queryOne(ctx, conn, "PRAGMA "+pragma)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		if got != want {
			return nil, errors.Join(fmt.Errorf("PRAGMA %s is %v where %v is needed: this file cannot be written durably", pragma, got, want), conn.Close())
		}
	}
	return conn, nil
}

// queryOne returns the first column of the first row.
func queryOne(ctx context.Context, conn driver.Conn, query string) (value driver.Value, err error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	err = rows.Next(row)
	return row[0], err
}

// Size returns how many entries there are.
func (s *Store) Size(ctx context.Context) (uint64, error) {
	var size int64
	err := s.readers.QueryRowContext(ctx, "SELECT coalesce(max(idx) + 1, 0) FROM entries").Scan(&size)
	return uint64(size), err
}

// Append adds a batch in one transaction.
func (s *Store) Append(ctx context.Context, batch ledger.Batch) error {
	return s.writer.append(ctx, batch)
}

const columns = "SELECT idx, id, coalesce(reference, ''), coalesce(claim, ''), record, secret FROM entries "

// ByID returns the entry with the id.
func (s *Store) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	return s.one(ctx, columns+"WHERE id = ?", id[:])
}

// ByClaim returns the entry that holds the claim.
func (s *Store) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	return s.one(ctx, columns+"WHERE claim = ?", claim)
}

// ByReference returns entries of a reference in log order.
func (s *Store) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	return s.list(ctx, columns+"WHERE reference = ? AND idx >= ? ORDER BY idx LIMIT ?", reference, int64(from), limit)
}

func (s *Store) one(ctx context.Context, query string, args ...any) (*ledger.Stored, error) {
	list, err := s.list(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, ledger.ErrNotFound
	}
	return &list[0], nil
}

func (s *Store) list(ctx context.Context, query string, args ...any) (list []ledger.Stored, err error) {
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e ledger.Stored
		var index int64
		var id []byte
		if err := rows.Scan(&index, &id, &e.Reference, &e.Claim, &e.Record, &e.Secret); err != nil {
			return nil, err
		}
		e.Index = uint64(index)
		if e.ID, err = uuid.FromBytes(id); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, rows.Err()
}

// Close copies the write-ahead log back into the file, closes all connections and lets other processes have the file.
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

// full reports whether the error is SQLite's for a disk, quota or file size that is used up.
func full(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
}
