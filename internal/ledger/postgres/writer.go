package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"riffle/internal/ledger"
)

// appendBatch is a whole batch. The head moves only from the size that the batch continues, and whatever else there is to
// write is joined to the row that moved: if there is none, nothing is written, and the answer has no row. A second writer
// waits for the first at the head's row and then looks at it again. Rows come as one array a column, so that the statement
// is the same for a batch of any length.
const appendBatch = `WITH moved AS (
	UPDATE head SET size = $3::bigint, edge = $4::bytea, checkpoint = $5::bytea
	WHERE one AND size = $1::bigint AND (checkpoint = ''::bytea) = $2::boolean RETURNING size
), added AS (
	INSERT INTO entries (idx, id, reference, claim, record, secret, hash)
	SELECT e.idx, e.id, e.reference, e.claim, e.record, e.secret, e.hash FROM moved,
	unnest($6::bigint[], $7::uuid[], $8::text[], $9::text[], $10::bytea[], $11::bytea[], $12::bytea[])
	AS e (idx, id, reference, claim, record, secret, hash)
), covered AS (
	INSERT INTO nodes (level, idx, hash)
	SELECT n.level, n.idx, n.hash FROM moved, unnest($13::smallint[], $14::bigint[], $15::bytea[]) AS n (level, idx, hash)
) SELECT size FROM moved`

// A writer is the connection that appends.
type writer struct {
	config *pgx.ConnConfig
	conn   *pgx.Conn // closed after a batch whose outcome is unknown
}

// connect opens the connection, if it is not open, and prepares what a batch needs.
func (w *writer) connect(ctx context.Context) error {
	if w.conn != nil && !w.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, w.config)
	if err != nil {
		return err
	}
	w.conn = conn
	// A statement that was prepared by hand stays prepared when it fails; what pgx itself keeps does not.
	if _, err := conn.Prepare(ctx, appendBatch, appendBatch); err != nil {
		w.close()
		return err
	}
	return nil
}

// append commits the batch. pgx closes the connection after an error that leaves the outcome open.
func (w *writer) append(ctx context.Context, batch ledger.Batch) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := w.connect(limited); err != nil {
		return classify(ctx, err)
	}
	answer, err := w.conn.Exec(limited, appendBatch, arguments(batch)...)
	if err != nil {
		return classify(ctx, err)
	}
	if answer.RowsAffected() == 0 {
		return fmt.Errorf("%w, which is %d", ledger.ErrConflict, batch.Size)
	}
	return nil
}

// appendNext commits the batch that next makes, in a transaction that holds the lock of the head's row from before next
// gets to see it. Those who wait for the lock get it in turn.
func (w *writer) appendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := w.connect(limited); err != nil {
		return classify(ctx, err)
	}
	tx, err := w.conn.Begin(limited)
	if err != nil {
		return classify(ctx, err)
	}
	err = commitNext(limited, tx, next)
	_ = tx.Rollback(limited) // of what was not committed; pgx closes the connection where that fails
	return classify(ctx, err)
}

// commitNext locks the head, and appends what next makes of it.
func commitNext(ctx context.Context, tx pgx.Tx, next func(ledger.Head) (*ledger.Batch, error)) error {
	var head ledger.Head
	var size int64
	if err := tx.QueryRow(ctx, selectHead+" FOR UPDATE").Scan(&size, &head.Edge, &head.Checkpoint); err != nil {
		return err
	}
	head.Size = uint64(size)
	batch, err := next(head)
	if err != nil || batch == nil {
		return err
	}
	answer, err := tx.Exec(ctx, appendBatch, arguments(*batch)...)
	if err != nil {
		return err
	}
	if answer.RowsAffected() == 0 {
		return fmt.Errorf("%w, which is %d", ledger.ErrConflict, batch.Size)
	}
	return tx.Commit(ctx)
}

// arguments returns the parameters of appendBatch.
func arguments(batch ledger.Batch) []any {
	n := len(batch.Entries)
	indexes, ids, hashes := make([]int64, n), make([]uuid.UUID, n), make([][]byte, n)
	references, claims := make([]*string, n), make([]*string, n)
	records, secrets := make([][]byte, n), make([][]byte, n)
	for i := range batch.Entries {
		e := &batch.Entries[i]
		indexes[i], ids[i], hashes[i] = int64(batch.Size)+int64(i), e.ID, e.Hash[:]
		references[i], claims[i] = nullable(&e.Reference), nullable(&e.Claim)
		records[i], secrets[i] = notNull(e.Record), e.Secret
	}
	n = len(batch.Nodes)
	levels, places, nodes := make([]int16, n), make([]int64, n), make([][]byte, n)
	for i := range batch.Nodes {
		levels[i], places[i], nodes[i] = int16(batch.Nodes[i].Level), int64(batch.Nodes[i].Index), batch.Nodes[i].Hash[:]
	}
	return []any{
		int64(batch.Size), len(batch.Entries) == 0, int64(batch.Head.Size), notNull(batch.Head.Edge), notNull(batch.Head.Checkpoint),
		indexes, ids, references, claims, records, secrets, hashes,
		levels, places, nodes,
	}
}

// nullable returns nil, which is NULL, for an empty text.
func nullable(s *string) *string {
	if *s == "" {
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

// close closes the connection. A server that is gone is not waited for; it would not change anything.
func (w *writer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = w.conn.Close(ctx)
}
