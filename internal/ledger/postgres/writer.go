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
// is the same for a batch of any length. A claim whose name is there violates the key of its table; one that is not taken
// from its holder leaves fewer rows taken than there are to take, and has the statement fail by a division by zero, for
// nothing else that a statement can find out by itself takes back what it has written.
const appendBatch = `WITH moved AS (
	UPDATE head SET size = $3::bigint, edge = $4::bytea, checkpoint = $5::bytea, seed_key = $6::bytea, seeds_from = $7::bigint
	WHERE one AND size = $1::bigint AND (checkpoint = ''::bytea) = $2::boolean RETURNING size
), added AS (
	INSERT INTO entries (idx, id, reference, record, secret, hash)
	SELECT e.idx, e.id, e.reference, e.record, e.secret, e.hash FROM moved,
	unnest($8::bigint[], $9::uuid[], $10::text[], $11::bytea[], $12::bytea[], $13::bytea[])
	AS e (idx, id, reference, record, secret, hash)
), covered AS (
	INSERT INTO nodes (level, idx, hash)
	SELECT n.level, n.idx, n.hash FROM moved, unnest($14::smallint[], $15::bigint[], $16::bytea[]) AS n (level, idx, hash)
), claimed AS (
	INSERT INTO claims (name, idx, status, due)
	SELECT c.name, c.idx, c.status, c.due FROM moved, unnest($17::text[], $18::bigint[], $19::text[], $20::bigint[]) AS c (name, idx, status, due)
), taken AS (
	UPDATE claims SET idx = c.idx, status = c.status, due = c.due FROM moved,
	unnest($21::text[], $22::bigint[], $23::text[], $24::bigint[], $25::bigint[]) AS c (name, idx, status, due, holder)
	WHERE claims.name = c.name AND claims.idx = c.holder RETURNING claims.idx
) SELECT 1 / ((SELECT count(*) FROM taken) = cardinality($21::text[]))::int FROM moved`

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
	if err := scanHead(tx.QueryRow(ctx, selectHead+" FOR UPDATE"), &head); err != nil {
		return err
	}
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
	var claimed, taken claims
	indexes, ids, hashes := make([]int64, n), make([]uuid.UUID, n), make([][]byte, n)
	references := make([]*string, n)
	records, secrets := make([][]byte, n), make([][]byte, n)
	for i := range batch.Entries {
		e := &batch.Entries[i]
		indexes[i], ids[i], hashes[i] = int64(batch.Size)+int64(i), e.ID, e.Hash[:]
		references[i], records[i], secrets[i] = nullable(&e.Reference), notNil(e.Record), e.Sidecar
		for k := range e.Claims {
			if c := &e.Claims[k]; c.Taken {
				taken.add(indexes[i], c)
			} else {
				claimed.add(indexes[i], c)
			}
		}
	}
	n = len(batch.Nodes)
	levels, places, nodes := make([]int16, n), make([]int64, n), make([][]byte, n)
	for i := range batch.Nodes {
		levels[i], places[i], nodes[i] = int16(batch.Nodes[i].Level), int64(batch.Nodes[i].Index), batch.Nodes[i].Hash[:]
	}
	return []any{
		int64(batch.Size), len(batch.Entries) == 0, int64(batch.Head.Size), notNil(batch.Head.Edge), notNil(batch.Head.Checkpoint),
		notNil(batch.Head.SeedKey), int64(batch.Head.SeedsFrom),
		indexes, ids, references, records, secrets, hashes,
		levels, places, nodes,
		notNil(claimed.names), notNil(claimed.indexes), notNil(claimed.statuses), notNil(claimed.due),
		notNil(taken.names), notNil(taken.indexes), notNil(taken.statuses), notNil(taken.due), notNil(taken.holders),
	}
}

// claims are the columns of claims.
type claims struct {
	names    []string
	indexes  []int64
	statuses []*string
	due      []*int64
	holders  []int64 // that they are taken from
}

func (c *claims) add(index int64, claim *ledger.Claim) {
	var due *int64
	if claim.Due != 0 {
		due = &claim.Due
	}
	c.names, c.indexes, c.holders = append(c.names, claim.Name), append(c.indexes, index), append(c.holders, int64(claim.From))
	c.statuses, c.due = append(c.statuses, nullable(&claim.Status)), append(c.due, due)
}

// notNil returns an empty list for nil, which would be NULL.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// nullable returns nil, which is NULL, for an empty text.
func nullable(s *string) *string {
	if *s == "" {
		return nil
	}
	return s
}

// close closes the connection. A server that is gone is not waited for; it would not change anything.
func (w *writer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = w.conn.Close(ctx)
}
