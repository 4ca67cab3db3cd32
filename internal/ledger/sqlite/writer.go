package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"riffle/internal/ledger"
)

// rowsAtOnce is how many rows each form of the insert takes. The longest has most of what there is to gain over single rows.
var rowsAtOnce = [...]int{16, 4, 1}

// measureEvery is how many entries and commits are written before the write-ahead log is measured again. Each writes a few
// pages at most.
const measureEvery = 256

// checkpointPages is how many pages the write-ahead log takes before it is copied back: 8 MiB.
const checkpointPages = 2048

// A writer is the connection that appends. The writer's statements are driven directly: database/sql would take twice
// the time for each row.
type writer struct {
	conn                    driver.Conn
	begin, commit, rollback driver.Stmt
	walPages, checkpoint    driver.Stmt
	inserts                 [len(rowsAtOnce)]driver.Stmt
	args                    []driver.NamedValue
	size                    uint64 // of the log: nobody else writes while this process holds the lock
	sinceMeasured           int    // entries and commits since the write-ahead log was measured
}

func newWriter(ctx context.Context, path string) (*writer, error) {
	conn, err := connector{dsn: dsn(path)}.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn}
	queries := map[*driver.Stmt]string{
		&w.begin:      "BEGIN IMMEDIATE",
		&w.commit:     "COMMIT",
		&w.rollback:   "ROLLBACK",
		&w.walPages:   "PRAGMA wal_checkpoint(NOOP)",
		&w.checkpoint: "PRAGMA wal_checkpoint(PASSIVE)",
	}
	const row = ", (?, ?, ?, ?, ?, ?)"
	for i, rows := range rowsAtOnce {
		queries[&w.inserts[i]] = "INSERT INTO entries (idx, id, reference, claim, record, secret) VALUES " + strings.Repeat(row, rows)[2:]
	}
	for stmt, query := range queries {
		if *stmt, err = conn.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	size, err := queryOne(ctx, conn, "SELECT coalesce(max(idx) + 1, 0) FROM entries")
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	w.size = uint64(size.(int64))
	return w, nil
}

// append commits the batch. A full disk is rolled back, and then nothing has changed; any other failure may have left
// the batch on disk, and the connection is not to be used again.
func (w *writer) append(ctx context.Context, batch ledger.Batch) error {
	if w.size != batch.Size {
		return fmt.Errorf("%w: it has %d entries, the batch continues %d", ledger.ErrConflict, w.size, batch.Size)
	}
	if err := exec(ctx, w.begin, nil); err != nil {
		return err
	}
	err := w.insert(ctx, batch)
	if err == nil {
		err = exec(ctx, w.commit, nil)
	}
	switch {
	case err == nil:
		w.size += uint64(len(batch.Entries))
		return w.copyBack(ctx, batch)
	case full(err):
		if errBack := w.rollBack(ctx); errBack != nil {
			return fmt.Errorf("rolling back after a full disk: %w", errBack)
		}
		return fmt.Errorf("%w: %w", ledger.ErrNoSpace, err)
	}
	return errors.Join(err, w.rollBack(ctx))
}

// rollBack ends the transaction, if SQLite has not done so itself, as it does where the disk is full while it spills.
func (w *writer) rollBack(ctx context.Context) error {
	err := exec(ctx, w.rollback, nil)
	if err != nil && strings.Contains(err.Error(), "no transaction is active") {
		return nil
	}
	return err
}

func (w *writer) insert(ctx context.Context, batch ledger.Batch) error {
	index, entries := batch.Size, batch.Entries
	for len(entries) > 0 {
		form := slices.IndexFunc(rowsAtOnce[:], func(rows int) bool { return rows <= len(entries) })
		n := rowsAtOnce[form]
		w.args = w.args[:0]
		for i := range entries[:n] {
			e := &entries[i]
			w.bind(int64(index))
			w.bind(e.ID[:])
			w.bind(nullable(e.Reference))
			w.bind(nullable(e.Claim))
			w.bind(e.Record)
			w.bind(e.Secret)
			index++
		}
		if err := exec(ctx, w.inserts[form], w.args); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

func (w *writer) bind(v driver.Value) {
	w.args = append(w.args, driver.NamedValue{Ordinal: len(w.args) + 1, Value: v})
}

func nullable(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

// copyBack moves the write-ahead log into the file once enough has been written. The batch is durable already; what
// makes this an error all the same is a failed write or fsync, after which nothing on this disk is to be trusted. No
// space is none: the log stays where it is, and the next batch comes to hear of it.
func (w *writer) copyBack(ctx context.Context, batch ledger.Batch) error {
	w.sinceMeasured += 1 + len(batch.Entries)
	if w.sinceMeasured < measureEvery {
		return nil
	}
	w.sinceMeasured = 0
	const pages = 1 // the column of wal_checkpoint that counts the pages in the write-ahead log
	written, err := queryInt(ctx, w.walPages, pages)
	if err != nil {
		return fmt.Errorf("measuring the write-ahead log: %w", err)
	}
	if written < checkpointPages {
		return nil
	}
	if _, err := queryInt(ctx, w.checkpoint, pages); err != nil && !full(err) {
		return fmt.Errorf("copying the write-ahead log back: %w", err)
	}
	return nil
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range append(w.inserts[:], w.begin, w.commit, w.rollback, w.walPages, w.checkpoint) {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func exec(ctx context.Context, stmt driver.Stmt, args []driver.NamedValue) error {
	_, err := stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	return err
}

// queryInt returns the integer in a column of the first row.
func queryInt(ctx context.Context, stmt driver.Stmt, column int) (n int64, err error) {
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return 0, err
	}
	n, ok := row[column].(int64)
	if !ok {
		return 0, fmt.Errorf("%T where an integer was expected", row[column])
	}
	return n, nil
}
