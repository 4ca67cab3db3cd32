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
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
	"golang.org/x/mod/sumdb/tlog"
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
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder, goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(goose.NewGoMigration(2, &goose.GoFunc{RunTx: plantTree}, nil)))
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

// Head returns where the log has got to.
func (s *Store) Head(ctx context.Context) (h ledger.Head, err error) {
	var size, from int64
	err = s.readers.QueryRowContext(ctx, "SELECT size, edge, checkpoint, seed_key, seeds_from FROM head").
		Scan(&size, &h.Edge, &h.Checkpoint, &h.SeedKey, &from)
	h.Size, h.SeedsFrom = uint64(size), uint64(from)
	return h, err
}

// Append adds a batch in one transaction.
func (s *Store) Append(ctx context.Context, batch ledger.Batch) error {
	return s.writer.append(ctx, batch)
}

// AppendNext adds the batch that next makes from the head. No other process writes to the file.
func (s *Store) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendAlone(ctx, s, next)
}

// Hashes returns hashes of a level of the tree.
func (s *Store) Hashes(ctx context.Context, level int, from uint64, n int) (hashes []tlog.Hash, err error) {
	query, args := "SELECT idx, hash FROM nodes WHERE level = ? AND idx >= ? ORDER BY idx LIMIT ?", []any{level, int64(from), n}
	if level == 0 {
		query, args = "SELECT idx, hash FROM entries WHERE idx >= ? ORDER BY idx LIMIT ?", args[1:]
	}
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for next := int64(from); rows.Next(); next++ {
		var index int64
		var hash []byte
		if err := rows.Scan(&index, &hash); err != nil {
			return nil, err
		}
		if index != next || len(hash) != tlog.HashSize {
			return nil, fmt.Errorf("%w: the hash %d of level %d is missing or has %d bytes", ledger.ErrCorrupt, next, level, len(hash))
		}
		hashes = append(hashes, tlog.Hash(hash))
	}
	return hashes, rows.Err()
}

// Records calls each for entries in log order from an index on, at most n. Everything that is written is read through it
// once, so it goes below database/sql, which would take half as long again.
func (s *Store) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) (err error) {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(c any) error {
		return records(ctx, c.(driver.QueryerContext), from, n, each)
	})
}

func records(ctx context.Context, conn driver.QueryerContext, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) (err error) {
	rows, err := conn.QueryContext(ctx, "SELECT idx, record, hash FROM entries WHERE idx >= ? ORDER BY idx LIMIT ?",
		[]driver.NamedValue{{Ordinal: 1, Value: int64(from)}, {Ordinal: 2, Value: int64(n)}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, 3)
	for {
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		index, _ := row[0].(int64)
		record, isRecord := row[1].([]byte)
		hash, isHash := row[2].([]byte)
		if !isRecord || !isHash || len(hash) != tlog.HashSize {
			return fmt.Errorf("%w: record %d is a %T and has a hash of %d bytes", ledger.ErrCorrupt, index, row[1], len(hash))
		}
		if err := each(uint64(index), record, tlog.Hash(hash)); err != nil {
			return err
		}
	}
}

const columns = "SELECT idx, id, coalesce(reference, ''), record, secret, hash FROM entries "

const holder = "SELECT e.idx, e.id, coalesce(e.reference, ''), e.record, e.secret, e.hash, coalesce(c.status, ''), coalesce(c.due, 0) FROM claims AS c JOIN entries AS e ON e.idx = c.idx WHERE c.name = ?"

// Range returns entries in log order from an index on, at most n.
func (s *Store) Range(ctx context.Context, from uint64, n int) ([]ledger.Stored, error) {
	return s.list(ctx, nil, columns+"WHERE idx >= ? ORDER BY idx LIMIT ?", int64(from), n)
}

// ByID returns the entry with the id.
func (s *Store) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	return ledger.First(s.list(ctx, nil, columns+"WHERE id = ?", id[:]))
}

// ByClaim returns the entry that holds the claim.
func (s *Store) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	c := ledger.Claim{Name: claim}
	found, err := ledger.First(s.list(ctx, []any{&c.Status, &c.Due}, holder, claim))
	if err != nil {
		return nil, err
	}
	found.Claims = []ledger.Claim{c}
	return found, nil
}

// ByReference returns entries of a reference in log order.
func (s *Store) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	return s.list(ctx, nil, columns+"WHERE reference = ? AND idx >= ? ORDER BY idx LIMIT ?", reference, int64(from), limit)
}

// list returns the entries that a query selects. More columns than theirs go where more says.
func (s *Store) list(ctx context.Context, more []any, query string, args ...any) (list []ledger.Stored, err error) {
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e ledger.Stored
		var index int64
		var id, hash []byte
		if err := rows.Scan(append([]any{&index, &id, &e.Reference, &e.Record, &e.Sidecar, &hash}, more...)...); err != nil {
			return nil, err
		}
		if len(id) != len(e.ID) || len(hash) != len(e.Hash) {
			return nil, fmt.Errorf("%w: record %d has an id of %d bytes and a hash of %d", ledger.ErrCorrupt, index, len(id), len(hash))
		}
		e.Index, e.ID, e.Hash = uint64(index), uuid.UUID(id), tlog.Hash(hash)
		list = append(list, e)
	}
	return list, rows.Err()
}

// Claims returns claims by name.
func (s *Store) Claims(ctx context.Context, q ledger.ClaimQuery) (claims []ledger.Claim, err error) {
	where, args := selection(q)
	query := fmt.Sprintf("SELECT name, coalesce(status, ''), coalesce(due, 0) FROM claims %s ORDER BY name LIMIT ?", where) //nolint:gosec // where is made of constants
	rows, err := s.readers.QueryContext(ctx, query, append(args, q.Limit)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c ledger.Claim
		if err := rows.Scan(&c.Name, &c.Status, &c.Due); err != nil {
			return nil, err
		}
		claims = append(claims, c)
	}
	return claims, rows.Err()
}

// CountClaims returns how many claims there are.
func (s *Store) CountClaims(ctx context.Context, q ledger.ClaimQuery) (n uint64, err error) {
	where, args := selection(q)
	err = s.readers.QueryRowContext(ctx, "SELECT count(*) FROM claims "+where, args...).Scan(&n)
	return n, err
}

// selection returns the condition of a query, which for claims that are due and for those of a status is that of an index.
func selection(q ledger.ClaimQuery) (where string, args []any) {
	after, before := q.Between()
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

// Check has SQLite check the file itself: its pages, its indexes and that each agrees with its table.
func (s *Store) Check(ctx context.Context) (findings []string, err error) {
	rows, err := s.readers.QueryContext(ctx, "PRAGMA integrity_check")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var finding string
		if err := rows.Scan(&finding); err != nil {
			return nil, err
		}
		if finding != "ok" {
			findings = append(findings, finding)
		}
	}
	return findings, rows.Err()
}

// full reports whether the error is SQLite's for a disk, quota or file size that is used up.
func full(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
}

// taken reports whether the error is SQLite's for a row whose id, claim or index is there already.
func taken(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}
