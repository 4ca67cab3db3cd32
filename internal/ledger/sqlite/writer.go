package sqlite

import (
	"context"
	"database/sql/driver"
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

// A writer is the connection that appends. It uses the driver's prepared statements, since
// database/sql takes twice the time for each row.
type writer struct {
	path                    string
	conn                    driver.Conn
	begin, commit, rollback driver.Stmt
	advance                 driver.Stmt // moves the head from the batch's start size
	insertEntry, insertNode driver.Stmt
	insertClaim             driver.Stmt // a new one
	takeClaim               driver.Stmt // a held one
	moveClaim               driver.Stmt // a held one with the same status and due time, so that their indexes stay unchanged
	walSize, checkpoint     driver.Stmt
	args                    []driver.NamedValue // of the statement in execution
	sinceMeasured           int                 // written entries and commits
}

// statements returns the SQL of every prepared statement.
func (w *writer) statements() map[*driver.Stmt]string {
	return map[*driver.Stmt]string{
		&w.begin:       "BEGIN IMMEDIATE",
		&w.commit:      "COMMIT",
		&w.rollback:    "ROLLBACK",
		&w.advance:     "UPDATE head SET size = ?, edge = ?, checkpoint = ?, seed_key = coalesce(?, x'') WHERE size = ? AND (checkpoint = x'') = ?",
		&w.insertEntry: "INSERT INTO entries (idx, id, reference, record, secret, hash) VALUES (?, ?, ?, ?, ?, ?)",
		&w.insertNode:  "INSERT INTO nodes (level, idx, hash) VALUES (?, ?, ?)",
		&w.insertClaim: "INSERT INTO claims (name, idx, status, due) VALUES (?, ?, ?, ?)",
		&w.takeClaim:   "UPDATE claims SET idx = ?2, status = ?3, due = ?4 WHERE name = ?1 AND idx = ?5",
		&w.moveClaim:   "UPDATE claims SET idx = ?2 WHERE name = ?1 AND idx = ?3",
		&w.walSize:     "PRAGMA wal_checkpoint(NOOP)",
		&w.checkpoint:  "PRAGMA wal_checkpoint(PASSIVE)",
	}
}

func newWriter(ctx context.Context, path string, pragmas ...string) (*writer, error) {
	conn, err := connector{dsn: dsn(path, pragmas...)}.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{path: path, conn: conn}
	for stmt, query := range w.statements() {
		if *stmt, err = conn.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
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

// transaction commits what write writes, about so many entries, or writes nothing.
func (w *writer) transaction(ctx context.Context, entries int, write func() error) error {
	if _, err := w.exec(ctx, w.begin); err != nil {
		return err
	}
	err := write()
	if err == nil {
		_, err = w.exec(ctx, w.commit)
	}
	if err == nil {
		return w.checkpointWAL(ctx, entries)
	}
	// A full disk may have ended it.
	if _, errBack := w.exec(ctx, w.rollback); errBack != nil && !strings.Contains(errBack.Error(), "no transaction is active") {
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

// Leave implements [ledger.Store]. No other process is writing.
func (w *writer) Leave(ctx context.Context) error {
	return w.transaction(ctx, 1, func() error {
		_, err := w.conn.(driver.ExecerContext).ExecContext(ctx, "UPDATE head SET moved = 1", nil)
		return err
	})
}

func (w *writer) write(ctx context.Context, batch ledger.Batch) error {
	head := &batch.Head
	advanced, err := w.exec(ctx, w.advance, int64(head.Size), head.Edge, head.Checkpoint, head.SeedKey,
		int64(batch.Size), len(batch.Entries) == 0)
	if err != nil {
		return err
	}
	if advanced == 0 {
		return fmt.Errorf("%w, which is %d", ledger.ErrConflict, batch.Size)
	}
	for i := range batch.Nodes {
		n := &batch.Nodes[i]
		if _, err := w.exec(ctx, w.insertNode, int64(n.Level), int64(n.Index), n.Hash[:]); err != nil {
			return err
		}
	}
	for i := range batch.Entries {
		e, index := &batch.Entries[i], int64(batch.Size)+int64(i)
		if _, err := w.exec(ctx, w.insertEntry, index, e.ID[:], nullable(e.Reference), e.Record, e.Sidecar, e.Hash[:]); err != nil {
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
		rows, err = w.exec(ctx, w.insertClaim, c.Name, index, status, due)
	case c.Unchanged:
		rows, err = w.exec(ctx, w.moveClaim, c.Name, index, int64(c.From))
	default:
		rows, err = w.exec(ctx, w.takeClaim, c.Name, index, status, due, int64(c.From))
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
	pages, err := w.wal(ctx, w.walSize)
	if err != nil {
		return fmt.Errorf("measuring the write-ahead log: %w", err)
	}
	if pages < checkpointPages {
		return nil
	}
	return w.checkpointNow(ctx)
}

func (w *writer) checkpointNow(ctx context.Context) error {
	if _, err := w.wal(ctx, w.checkpoint); err != nil && !isFull(err) {
		return fmt.Errorf("checkpointing the write-ahead log: %w", err)
	}
	return nil
}

func (w *writer) close() error {
	var errs []error
	for stmt := range w.statements() {
		errs = append(errs, (*stmt).Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func (w *writer) exec(ctx context.Context, stmt driver.Stmt, args ...any) (rows int64, err error) {
	w.args = named(w.args[:0], args...)
	result, err := stmt.(driver.StmtExecContext).ExecContext(ctx, w.args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// wal executes a PRAGMA wal_checkpoint and returns the number of pages in the write-ahead log.
func (w *writer) wal(ctx context.Context, stmt driver.Stmt) (pages int64, err error) {
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, nil)
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
