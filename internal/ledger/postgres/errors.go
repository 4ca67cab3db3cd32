package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"riffle/internal/ledger"
)

// SQLSTATE codes and a class, which is the first two characters of a code.
const (
	idleInTransaction = "25P03"
	rollbackClass     = "40" // the server asks for a retry, or does not know the outcome
)

// meanings maps SQLSTATEs and classes to errors.
var meanings = map[string]error{
	"23505": ledger.ErrConflict, // a unique violation
	"22012": ledger.ErrConflict, // a division by zero, with which appendBatch fails
	// An invalid text, with which durableOrFail fails.
	"22P02":           fmt.Errorf("%w: one of the settings of a durable commit was changed while the service ran, see the next start", errNotDurable),
	"53100":           ledger.ErrNoSpace,     // the disk is full
	"25006":           ledger.ErrUnavailable, // read-only: the server has become a standby
	idleInTransaction: ledger.ErrUnavailable,
	"25P04":           ledger.ErrUnavailable, // the time limit of a transaction
	"55P03":           ledger.ErrUnavailable, // the time limit of a lock
	"08":              ledger.ErrUnavailable, // the class of connections
	rollbackClass:     ledger.ErrUnavailable,
	"53":              ledger.ErrUnavailable, // the class of resources: too many connections, out of memory
	"57":              ledger.ErrUnavailable, // the class of interventions: an operator, a shutdown, a recovery in progress
}

// errNotDurable: the server's settings would lose committed transactions.
var errNotDurable = errors.New("the server would lose what it has committed when the power fails")

// classify wraps an error in the error of package ledger that it means. Unknown errors break the
// log, so temporary ones must be ErrUnavailable. Once the caller's ctx is done, an error reveals
// nothing about the server and is returned unchanged, as nil always is.
func classify(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		if meaning := cmp.Or(meanings[e.Code], meanings[class(e)]); meaning != nil {
			return fmt.Errorf("%w: %w", meaning, err)
		}
	} else if isConnectionError(err) {
		return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
	}
	return err
}

// class returns the first two characters of an SQLSTATE, or fewer if it is malformed.
func class(e *pgconn.PgError) string { return e.Code[:min(2, len(e.Code))] }

// cannotAppend reports whether a classified error means that the server may be unable to append,
// although it accepts connections and reads: then another one should be tried first. On a former
// primary without standbys, a commit waits until its time limit, and those behind it until
// lock_timeout. After a rollback, the same server may succeed.
func cannotAppend(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && class(e) == rollbackClass {
		return false
	}
	return errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, ledger.ErrNoSpace)
}

// isConnectionError reports whether a client-side error is about the connection or an attempt to
// connect.
func isConnectionError(err error) bool {
	var network net.Error
	var connecting *pgconn.ConnectError
	return !errors.Is(err, errNotDurable) && (errors.As(err, &connecting) || errors.As(err, &network) ||
		errors.Is(err, errFormerPrimary) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) || pgconn.SafeToRetry(err))
}
