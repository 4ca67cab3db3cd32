package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlread"
)

// appendBatch writes a whole batch and returns one row, or writes nothing and returns no row if the
// log is not at the batch's start size: everything else is joined to the moved head's row. Of two
// writers, the second waits for the first at that row and then evaluates its condition again. Each
// column is one array, so that the statement fits batches of any length. Zero values become NULL, which
// indexes leave out.
//
// A duplicate claim violates the primary key. If another record holds a claim to transfer, fewer
// rows are taken than wanted, and the statement divides by zero: only an error undoes a statement's
// writes.
//
// Its last operand is durableOrFail.
var appendBatch = fmt.Sprintf(appendSQL, durableOrFail)

//go:embed append.sql
var appendSQL string

// confirmHead writes what it reads.
var confirmHead = "UPDATE head SET size = size + " + durableOrFail + " WHERE one RETURNING size, edge, checkpoint, seed_key"

// errWarning: the server warned about a commit, probably because it canceled the wait for the
// standby. The commit is visible nevertheless.
var errWarning = errors.New("the server warned")

// A writer is the connection that appends.
type writer struct {
	config  *pgx.ConnConfig
	timeout time.Duration // of a statement
	primary *primary
	conn    *pgx.Conn // closed after a server failure, see cannotAppend
	warning string    // from the server during the current statement
	avoid   string    // address of the server that failed, tried last
}

// dialing marks the contexts in which a writer connects.
type dialing struct{}

// dropConnection is a [ctxwatch.Handler] that closes a connection when its context ends.
type dropConnection struct{ conn *pgconn.PgConn }

func (d dropConnection) HandleCancel(context.Context) { _ = d.conn.Conn().Close() }

func (dropConnection) HandleUnwatchAfterCancel() {}

// configure sets how to connect. The connection never asks the server to cancel a statement: pgx
// would dial a second connection for that whenever one is lost.
func (w *writer) configure(config *pgx.ConnConfig) {
	dial, validate := config.DialFunc, config.ValidateConnect
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if ctx.Value(dialing{}) == nil {
			return nil, errors.New("no statement of a writer may be canceled")
		}
		return dial(ctx, network, address)
	}
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler { return dropConnection{conn} }
	config.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if address := conn.Conn().RemoteAddr().String(); address == w.avoid {
			return fmt.Errorf("%s was left; other servers are tried first", address)
		}
		return validate(ctx, conn)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			w.warning = n.Message
		}
	}
	config.AfterConnect = setUpWriter
	w.config = config
}

// connect opens the connection unless it is open, and prepares the statement. It tries the server
// that failed last, since that may be the only one.
func (w *writer) connect(ctx context.Context) error {
	if w.conn != nil && !w.conn.IsClosed() {
		if w.primary.check(w.conn.PgConn()) == nil {
			return nil
		}
		w.close()
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, dialing{}, true), timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, w.config)
	if err != nil && w.avoid != "" {
		w.avoid = ""
		conn, err = pgx.ConnectConfig(ctx, w.config)
	}
	w.avoid = ""
	if err != nil {
		return err
	}
	w.conn = conn
	// Explicitly, since pgx removes a failed statement from its cache.
	if _, err := conn.Prepare(ctx, appendBatch, appendBatch); err != nil {
		w.close()
		return err
	}
	return nil
}

// do connects and calls f to execute statements within the time limit. A commit counts only if the
// server did not warn. A server that cannot append is avoided next time.
func (w *writer) do(ctx context.Context, f func(ctx context.Context) error) error {
	if err := w.connect(ctx); err != nil {
		return classify(ctx, err)
	}
	limited, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	w.warning = ""
	err := f(limited)
	if err == nil && w.warning != "" {
		err = fmt.Errorf("%w: %w: %s", ledger.ErrUnavailable, errWarning, w.warning)
	}
	if err = classify(ctx, err); cannotAppend(err) {
		w.avoid = w.conn.PgConn().Conn().RemoteAddr().String()
		w.close()
	}
	return err
}

// Append implements [ledger.Store]. After an error with an unknown outcome, pgx closes the
// connection.
func (w *writer) Append(ctx context.Context, batch ledger.Batch) error {
	return w.do(ctx, func(ctx context.Context) error {
		tag, err := w.conn.Exec(ctx, appendBatch, arguments(batch)...)
		if err == nil && tag.RowsAffected() == 0 {
			return fmt.Errorf("%w, which is %d", ledger.ErrConflict, batch.Size)
		}
		return err
	})
}

// Confirm commits an update of the head that changes nothing. A standby that has its commit record
// also has every transaction that it sees.
func (w *writer) Confirm(ctx context.Context) (head ledger.Head, err error) {
	err = w.do(ctx, func(ctx context.Context) error { return sqlread.ScanHead(w.conn.QueryRow(ctx, confirmHead), &head) })
	if errors.Is(err, pgx.ErrNoRows) {
		err = sqlread.ErrNoHead
	}
	return head, err
}

// AppendNext implements [ledger.Store]. Its transaction first locks the head's row. PostgreSQL
// grants the lock in request order.
func (w *writer) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return w.do(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, w.conn, func(tx pgx.Tx) error {
			var head ledger.Head
			if err := sqlread.ScanHead(tx.QueryRow(ctx, sqlread.SelectHead+" FOR UPDATE"), &head); err != nil {
				return err
			}
			batch, err := next(head)
			if err != nil {
				return err
			}
			query, args := confirmHead, []any(nil)
			if batch != nil {
				query, args = appendBatch, arguments(*batch)
			}
			tag, err := tx.Exec(ctx, query, args...)
			if err == nil && tag.RowsAffected() == 0 {
				return fmt.Errorf("%w, which is %d", ledger.ErrConflict, head.Size)
			}
			return err
		})
	})
}

// Leave implements [ledger.Store].
func (w *writer) Leave(ctx context.Context) error {
	return w.do(ctx, func(ctx context.Context) error {
		_, err := w.conn.Exec(ctx, "UPDATE head SET moved = 1 + "+durableOrFail)
		return err
	})
}

func arguments(batch ledger.Batch) []any {
	n := len(batch.Entries)
	var claimed, taken claimColumns
	indexes, ids, hashes := make([]int64, n), make([]uuid.UUID, n), make([][]byte, n)
	references := make([]string, n)
	records, secrets := make([][]byte, n), make([][]byte, n)
	for i := range batch.Entries {
		e := &batch.Entries[i]
		indexes[i], ids[i], hashes[i] = int64(batch.Size)+int64(i), e.ID, e.Hash[:]
		references[i], records[i], secrets[i] = e.Reference, e.Record, e.Sidecar
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
		int64(batch.Size), len(batch.Entries) == 0, int64(batch.Head.Size), batch.Head.Edge, batch.Head.Checkpoint,
		batch.Head.SeedKey,
		indexes, ids, references, records, secrets, hashes,
		levels, places, nodes,
		claimed.names, claimed.indexes, claimed.statuses, claimed.due,
		taken.names, taken.indexes, taken.statuses, taken.due, taken.holders,
	}
}

type claimColumns struct {
	names    []string
	indexes  []int64
	statuses []string
	due      []int64
	holders  []int64 // current holders of claims to transfer; unused for new claims
}

func (c *claimColumns) add(index int64, claim *ledger.Claim) {
	c.names, c.indexes = append(c.names, claim.Name), append(c.indexes, index)
	c.statuses, c.due = append(c.statuses, claim.Status), append(c.due, claim.Due)
	c.holders = append(c.holders, int64(claim.From))
}

// close closes the connection. It ignores errors: committed transactions stay committed.
func (w *writer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = w.conn.Close(ctx)
}
