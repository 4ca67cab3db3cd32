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
	advance, node           driver.Stmt
	inserts, claims         [len(rowsAtOnce)]driver.Stmt
	take, takes             driver.Stmt // one claim, and as many as the longest insert has rows; few cost more in a list
	move                    driver.Stmt // a claim whose status and due stay, which no index of them has to hear of
	args                    []driver.NamedValue
	sinceMeasured           int // entries and commits since the write-ahead log was measured
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
		&w.advance:    "UPDATE head SET size = ?, edge = ?, checkpoint = ?, seed_key = ?, seeds_from = ? WHERE size = ? AND (checkpoint = x'') = ?",
		&w.take:       "UPDATE claims SET idx = ?2, status = ?3, due = ?4 WHERE name = ?1 AND idx = ?5",
		&w.move:       "UPDATE claims SET idx = ?2 WHERE name = ?1 AND idx = ?3",
		&w.node:       "INSERT INTO nodes (level, idx, hash) VALUES (?, ?, ?)",
	}
	for i, rows := range rowsAtOnce {
		list := func(row string) string { return strings.Repeat(", "+row, rows)[2:] }
		queries[&w.inserts[i]] = "INSERT INTO entries (idx, id, reference, record, secret, hash) VALUES " + list("(?, ?, ?, ?, ?, ?)")
		queries[&w.claims[i]] = "INSERT INTO claims (name, idx, status, due) VALUES " + list("(?, ?, ?, ?)")
		if rows == rowsAtOnce[0] {
			queries[&w.takes] = "UPDATE claims SET idx = v.column2, status = v.column3, due = v.column4 FROM (VALUES " + list("(?, ?, ?, ?, ?)") +
				") AS v WHERE claims.name = v.column1 AND claims.idx = v.column5"
		}
	}
	for stmt, query := range queries {
		if *stmt, err = conn.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	// A file whose header says that it is not to be written opens like any other, and would fail the first batch.
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, "DELETE FROM head WHERE FALSE", nil); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// append commits the batch. A conflict and a full disk are rolled back, and then nothing has changed; any other failure
// may have left the batch on disk, and the connection is not to be used again.
func (w *writer) append(ctx context.Context, batch ledger.Batch) error {
	if err := exec(ctx, w.begin, nil); err != nil {
		return err
	}
	err := w.write(ctx, batch)
	if err == nil {
		err = exec(ctx, w.commit, nil)
	}
	if err == nil {
		return w.copyBack(ctx, batch)
	}
	if errBack := w.rollBack(ctx); errBack != nil {
		return fmt.Errorf("%s, and rolling back: %w", err.Error(), errBack)
	}
	switch {
	case full(err):
		return fmt.Errorf("%w: %w", ledger.ErrNoSpace, err)
	case taken(err):
		return fmt.Errorf("%w: %w", ledger.ErrConflict, err)
	}
	return err
}

// rollBack ends the transaction, if SQLite has not done so itself, as it does where the disk is full while it spills.
func (w *writer) rollBack(ctx context.Context) error {
	err := exec(ctx, w.rollback, nil)
	if err != nil && strings.Contains(err.Error(), "no transaction is active") {
		return nil
	}
	return err
}

// write takes the log along, if it is where the batch continues it.
func (w *writer) write(ctx context.Context, batch ledger.Batch) error {
	w.args = w.args[:0]
	w.bind(int64(batch.Head.Size))
	w.bind(batch.Head.Edge)
	w.bind(batch.Head.Checkpoint)
	w.bind(notNull(batch.Head.SeedKey))
	w.bind(int64(batch.Head.SeedsFrom))
	w.bind(int64(batch.Size))
	w.bind(len(batch.Entries) == 0)
	result, err := w.advance.(driver.StmtExecContext).ExecContext(ctx, w.args)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, fmt.Errorf("%w, which is %d", ledger.ErrConflict, batch.Size))
	}
	for i := range batch.Nodes {
		n := &batch.Nodes[i]
		w.args = w.args[:0]
		w.bind(int64(n.Level))
		w.bind(int64(n.Index))
		w.bind(n.Hash[:])
		if err := exec(ctx, w.node, w.args); err != nil {
			return err
		}
	}
	err = w.insertRows(ctx, &w.inserts, len(batch.Entries), func(i int) { w.bindEntry(batch.Size+uint64(i), &batch.Entries[i]) })
	if err != nil {
		return err
	}
	return w.hold(ctx, batch)
}

// A held claim is one that the entry at the index is to hold.
type held struct {
	index uint64
	*ledger.Claim
}

// hold writes the claims of a batch, those that nobody holds and then those that are taken from others.
func (w *writer) hold(ctx context.Context, batch ledger.Batch) error {
	var free, taken []held
	for i := range batch.Entries {
		for k := range batch.Entries[i].Claims {
			h := held{batch.Size + uint64(i), &batch.Entries[i].Claims[k]}
			switch {
			case h.Taken && h.Unchanged:
				if err := w.moveClaim(ctx, &h); err != nil {
					return err
				}
			case h.Taken:
				taken = append(taken, h)
			default:
				free = append(free, h)
			}
		}
	}
	if err := w.insertRows(ctx, &w.claims, len(free), func(i int) { w.bindClaim(&free[i]) }); err != nil {
		return err
	}
	for len(taken) > 0 {
		n, take := 1, w.take
		if len(taken) >= rowsAtOnce[0] {
			n, take = rowsAtOnce[0], w.takes
		}
		w.args = w.args[:0]
		for i := range taken[:n] {
			w.bindClaim(&taken[i])
			w.bind(int64(taken[i].From))
		}
		if err := w.takeRows(ctx, take, n); err != nil {
			return err
		}
		taken = taken[n:]
	}
	return nil
}

// moveClaim has a claim go to another record, and nothing else of it change.
func (w *writer) moveClaim(ctx context.Context, c *held) error {
	w.args = w.args[:0]
	w.bind(c.Name)
	w.bind(int64(c.index))
	w.bind(int64(c.From))
	return w.takeRows(ctx, w.move, 1)
}

// takeRows runs a statement that takes so many claims, with the arguments that are bound.
func (w *writer) takeRows(ctx context.Context, take driver.Stmt, n int) error {
	result, err := take.(driver.StmtExecContext).ExecContext(ctx, w.args)
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err != nil || rows != int64(n) {
		return errors.Join(err, fmt.Errorf("%w: another record holds one of the claims of the batch", ledger.ErrConflict))
	}
	return nil
}

func (w *writer) bindClaim(c *held) {
	w.bind(c.Name)
	w.bind(int64(c.index))
	w.bind(nullable(c.Status))
	if c.Due == 0 {
		w.bind(nil)
	} else {
		w.bind(c.Due)
	}
}

// insertRows inserts so many rows, each bound by bind, with the forms of a statement.
func (w *writer) insertRows(ctx context.Context, forms *[len(rowsAtOnce)]driver.Stmt, rows int, bind func(i int)) error {
	for i := 0; i < rows; {
		form := slices.IndexFunc(rowsAtOnce[:], func(n int) bool { return n <= rows-i })
		w.args = w.args[:0]
		for range rowsAtOnce[form] {
			bind(i)
			i++
		}
		if err := exec(ctx, forms[form], w.args); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) bindEntry(index uint64, e *ledger.Entry) {
	w.bind(int64(index))
	w.bind(e.ID[:])
	w.bind(nullable(e.Reference))
	w.bind(e.Record)
	w.bind(e.Sidecar)
	w.bind(e.Hash[:])
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

// notNull returns empty bytes for nil, which would be NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
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
	for _, stmt := range slices.Concat(w.inserts[:], w.claims[:], []driver.Stmt{w.begin, w.commit, w.rollback, w.walPages, w.checkpoint, w.advance, w.node, w.take, w.takes, w.move}) {
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
