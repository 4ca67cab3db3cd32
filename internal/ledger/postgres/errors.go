package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"riffle/internal/ledger"
)

// SQLSTATE codes, and classes of them by their first two digits.
const (
	uniqueViolation = "23505"
	divisionByZero  = "22012" // of appendBatch
	diskFull        = "53100"

	connectionClass   = "08"
	rollbackClass     = "40" // the server asks for another attempt, or does not know itself how the last one ended
	resourcesClass    = "53" // too many connections, out of memory
	interventionClass = "57" // an operator, a shutdown, a recovery that is not finished

	readOnly          = "25006" // the server has become a standby
	idleInTransaction = "25P03"
	transactionTime   = "25P04"
	lockTime          = "55P03"
)

// errNotDurable is for a server that is not to be written to.
var errNotDurable = errors.New("the server would lose what it has committed when the power fails")

// classify says what an error means to a ledger. The log ends with an error that stays as it is, so nothing does that comes
// and goes. What the caller has called off says nothing about the server.
func classify(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if lost(err) {
			return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
		}
		return err
	}
	switch e.Code {
	case uniqueViolation, divisionByZero:
		return fmt.Errorf("%w: %w", ledger.ErrConflict, err)
	case diskFull:
		return fmt.Errorf("%w: %w", ledger.ErrNoSpace, err)
	case readOnly, idleInTransaction, transactionTime, lockTime:
		return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
	}
	switch e.Code[:2] {
	case connectionClass, rollbackClass, resourcesClass, interventionClass:
		return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
	}
	return err
}

// lost reports whether an error that is not the server's is the connection's, or that of an attempt to connect.
func lost(err error) bool {
	if errors.Is(err, errNotDurable) {
		return false
	}
	var network net.Error
	var connecting *pgconn.ConnectError
	return errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) || pgconn.SafeToRetry(err)
}
