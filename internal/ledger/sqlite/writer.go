package sqlite

import (
	"context"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlread"
	"riffle/internal/system"
)

// measureEvery is the number of written entries and commits between measurements of the write-ahead
// log. Each of them writes a few pages at most.
const measureEvery = 256

// checkpointPages is the size of the write-ahead log, in pages, that triggers a checkpoint: 8 MiB.
const checkpointPages = 8 << 20 / pageSize

// writerSQL has the statements of a writer, each after a comment with its name.
//
//go:embed writer.sql
var writerSQL string

// A writer is the connection that appends. It uses the driver's prepared statements, since
// database/sql takes twice the time for each row.
type writer struct {
	path          string
	conn          driver.Conn
	statements    map[string]driver.Stmt // by their names in writer.sql
	args          []driver.NamedValue    // of the statement in execution
	sinceMeasured int                    // written entries and commits
}

func newWriter(ctx context.Context, path string, pragmas ...string) (*writer, error) {
	conn, err := connector{dsn: dsn(path, pragmas...)}.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{path: path, conn: conn, statements: map[string]driver.Stmt{}}
	for section := range strings.SplitSeq(strings.TrimPrefix(writerSQL, "-- "), "\n-- ") {
		name, query, _ := strings.Cut(section, "\n")
		if w.statements[name], err = conn.(driver.ConnPrepareContext).PrepareContext(ctx, strings.TrimSpace(query)); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	// A file that its header marks as read-only opens like any other and would fail the first
	// batch.
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, "DELETE FROM head WHERE FALSE", nil); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// Append implements [ledger.Store]. A conflict or a full disk writes nothing. After any other error the
// batch may have been committed, and the writer must not be used again. Before it writes, Append
// checks that the whole batch fits on the disk.
func (w *writer) Append(ctx context.Context, batch ledger.Batch) error {
	if err := checkRoom(w.path, room(&batch)); err != nil {
		return err
	}
	return w.transaction(ctx, 1+len(batch.Entries), func() error { return w.write(ctx, batch) })
}

// Reseal implements [ledger.Store].
func (w *writer) Reseal(ctx context.Context, seedKey []byte, entries []ledger.Stored) error {
	return w.transaction(ctx, 1+len(entries), func() error {
		if _, err := w.exec(ctx, "name the seed key", seedKey); err != nil {
			return err
		}
		for i := range entries {
			if _, err := w.exec(ctx, "replace a sidecar", entries[i].Sidecar, int64(entries[i].Index)); err != nil {
				return err
			}
		}
		return nil
	})
}

// transaction commits what write writes, about so many entries, or writes nothing.
func (w *writer) transaction(ctx context.Context, entries int, write func() error) error {
	if _, err := w.exec(ctx, "begin"); err != nil {
		return err
	}
	err := write()
	if err == nil {
		_, err = w.exec(ctx, "commit")
	}
	if err == nil {
		return w.checkpointWAL(ctx, entries)
	}
	// A full disk may have ended it.
	if _, errBack := w.exec(ctx, "rollback"); errBack != nil && !strings.Contains(errBack.Error(), "no transaction is active") {
		return fmt.Errorf("%s, and rolling back: %w", err.Error(), errBack)
	}
	switch Code(err) {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ledger.ErrNoSpace, err)
	case sqlite3.SQLITE_CONSTRAINT: // a duplicate id, claim or index
		return fmt.Errorf("%w: %w", ledger.ErrConflict, err)
	}
	return err
}

// Raise implements [ledger.Store]. No other process is writing.
func (w *writer) Raise(ctx context.Context, v ledger.Version) error {
	const raise = "INSERT INTO goose_db_version (version_id, is_applied) " +
		"SELECT ?1, TRUE WHERE NOT EXISTS (SELECT 1 FROM goose_db_version WHERE version_id >= ?1)"
	return w.transaction(ctx, 1, func() error {
		_, err := w.conn.(driver.ExecerContext).ExecContext(ctx, raise, named(nil, int64(v)))
		return err
	})
}

func (w *writer) write(ctx context.Context, batch ledger.Batch) error {
	head := &batch.Head
	advanced, err := w.exec(ctx, "move the head", int64(head.Size), head.Edge, head.Checkpoint, head.SeedKey, int64(head.SeedsFrom),
		int64(batch.Size), len(batch.Entries) == 0)
	if err != nil {
		return err
	}
	if advanced == 0 {
		return fmt.Errorf("%w, which is %d", ledger.ErrConflict, batch.Size)
	}
	for i := range batch.Nodes {
		n := &batch.Nodes[i]
		if _, err := w.exec(ctx, "insert a node", int64(n.Level), int64(n.Index), n.Hash[:]); err != nil {
			return err
		}
	}
	for i := range batch.Entries {
		e, index := &batch.Entries[i], int64(batch.Size)+int64(i)
		if _, err := w.exec(ctx, "insert an entry", index, e.ID[:], nullable(e.Reference), e.Record, e.Sidecar, e.Hash[:]); err != nil {
			return err
		}
		for k := range e.Claims {
			if err := w.claim(ctx, index, &e.Claims[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// claim makes the record at index hold a claim.
func (w *writer) claim(ctx context.Context, index int64, c *ledger.Claim) error {
	status, due := nullable(c.Status), nullable(c.Due)
	var rows int64
	var err error
	switch {
	case !c.Taken:
		rows, err = w.exec(ctx, "insert a claim", c.Name, index, status, due)
	case c.Unchanged:
		rows, err = w.exec(ctx, "take a claim whose indexes stay unchanged", c.Name, index, int64(c.From))
	default:
		rows, err = w.exec(ctx, "take a claim", c.Name, index, status, due, int64(c.From))
	}
	if err == nil && rows == 0 {
		err = fmt.Errorf("%w: record %d does not hold the claim %s", ledger.ErrConflict, c.From, c.Name)
	}
	return err
}

// checkpointWAL counts written entries and commits, and checkpoints the write-ahead log when it has
// reached its limit. A failed write or fsync is an error although the batch is durable: the disk
// can no longer be trusted. A full disk is no error: the write-ahead log stays, and the next batch
// fails.
func (w *writer) checkpointWAL(ctx context.Context, written int) error {
	w.sinceMeasured += written
	if w.sinceMeasured < measureEvery {
		return nil
	}
	w.sinceMeasured = 0
	pages, err := w.wal(ctx, "measure the write-ahead log")
	if err != nil {
		return fmt.Errorf("measuring the write-ahead log: %w", err)
	}
	if pages < checkpointPages {
		return nil
	}
	return w.checkpointNow(ctx)
}

func (w *writer) checkpointNow(ctx context.Context) error {
	if _, err := w.wal(ctx, "checkpoint the write-ahead log"); err != nil && !isFull(err) {
		return fmt.Errorf("checkpointing the write-ahead log: %w", err)
	}
	return nil
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.statements {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func (w *writer) exec(ctx context.Context, statement string, args ...any) (rows int64, err error) {
	w.args = named(w.args[:0], args...)
	result, err := w.statements[statement].(driver.StmtExecContext).ExecContext(ctx, w.args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// wal executes a PRAGMA wal_checkpoint and returns the number of pages in the write-ahead log.
func (w *writer) wal(ctx context.Context, statement string) (pages int64, err error) {
	rows, err := w.statements[statement].(driver.StmtQueryContext).QueryContext(ctx, nil)
	err = eachRow(rows, err, func(row sqlread.Row) error {
		var busy, done int64
		return row.Scan(&busy, &pages, &done)
	})
	return pages, err
}

// nullable returns NULL for a zero value.
func nullable[T comparable](v T) driver.Value {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// frameSize is the size of a page in the write-ahead log.
const frameSize = pageSize + 24

// smallCommit is the space for a commit of a few dozen records.
const smallCommit = 1 << 20

// CheckRoom returns [ledger.ErrNoSpace] if a small commit does not fit on the disk.
func (s *Store) CheckRoom() error { return checkRoom(s.path, smallCommit) }

// room returns the maximum number of bytes that a batch adds to the write-ahead log: 180 MB for
// 4,096 records with two claims each; a small store uses a tenth. Rows fill pages in sequence,
// while a claim's name and a reference can be on any page of an index.
func room(batch *ledger.Batch) uint64 {
	const fixed = 16 // pages of the head, the trees' inner nodes and partly filled leaves
	pages, bytes := fixed, 0
	for i := range batch.Entries {
		e := &batch.Entries[i]
		pages += 1 + len(e.Claims)
		for _, c := range e.Claims {
			if c.Status != "" || c.Due != 0 { // one more index
				pages++
			}
		}
		bytes += len(e.Record) + len(e.Sidecar) + len(e.Reference)
	}
	return uint64(pages)*frameSize + 2*uint64(bytes)
}

// checkRoom returns [ledger.ErrNoSpace] if the path's file system has less space. It takes
// microseconds. A file system that cannot tell has space until a commit fails.
func checkRoom(path string, room uint64) error {
	if free, ok := system.Free(path); ok && free < room {
		return fmt.Errorf("%w: %d bytes are free, and a commit takes up to %d", ledger.ErrNoSpace, free, room)
	}
	return nil
}
