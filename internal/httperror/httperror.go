// Package httperror is the table of errors that any request may end with: the status, when to retry,
// the reason in metrics, and the text. Both APIs answer from it. A new 503 is a new row.
//
// A caller who is refused for his own share is answered 429, whichever pool it is of: the service
// is not full.
//
// Errors of a single endpoint are in the tables of their API.
package httperror

import (
	"cmp"
	"errors"
	"net/http"

	"riffle/internal/budget"
	"riffle/internal/httpserver"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/quota"
	"riffle/internal/relay"
	"riffle/internal/scheduler"
)

// An Answer is the answer to a request that ended with Err.
type Answer struct {
	Err        error
	Status     int
	RetryAfter int    // seconds; 0 for none
	Reason     string // of an outage, and label of riffle_rejected_requests_total; empty for none
	Text       string
}

const (
	busy     = http.StatusServiceUnavailable
	conflict = http.StatusConflict
)

var table = []Answer{
	// First, since it is joined with the pool's error.
	{quota.ErrShare, http.StatusTooManyRequests, 1, "share", "Your address has its share of the connections, the memory or the long requests in use. Nothing was done; retry in a second, with fewer requests at a time, on connections that you keep open."},
	{journal.ErrInFlight, conflict, 1, "", "A request with this key, commitment or shoe is in flight. Wait for its answer, or retry in a second."},
	{journal.ErrKeyReused, http.StatusUnprocessableEntity, 0, "", "This Idempotency-Key was used for a different request. Repeat that request unchanged, or use a new key for this one."},
	{journal.ErrOtherCaller, conflict, 0, "", "This Idempotency-Key was used by another caller. Use a new one, such as a random UUID."},
	{budget.ErrFull, busy, 1, "memory", "Too many long requests are in flight. Nothing was done; retry in a second, or split the request."},
	{ledger.ErrBusy, busy, 1, "queue", "Too many requests are waiting to become durable. Nothing was recorded; retry in a second."},
	{ledger.ErrNoSpace, busy, 1, "space", "The store has no space left. Nothing was recorded; earlier records can be read. Retry once the operator has made room."},
	{ledger.ErrClosed, busy, 1, "stopping", "The service is stopping. Nothing was recorded; retry, another instance may answer."},
	{httpserver.ErrStopping, busy, 1, "stopping", "The service is stopping. Nothing was recorded; retry, another instance may answer."},
	{ledger.ErrGrown, busy, 5, "store", "Another process has written to this log, which is served read-only as it was at the start. Retry at that service, or once this one was restarted."},
	{ledger.ErrReadOnly, http.StatusForbidden, 0, "", "This log takes no more records: it is served read-only. What it has can be read; send what writes to the service of the new log."},
	{ledger.ErrBroken, http.StatusInternalServerError, 0, "log", "The record could not be made durable, so there is no shuffle. The service ends and must be restarted."},
	{ledger.ErrNotPublished, busy, 1, "checkpoint", "The record is durable, but no published checkpoint covers it yet. Retry in a second."},
	{ledger.ErrNotWitnessed, busy, 1, "witnesses", "The record is durable, but too few witnesses have cosigned a checkpoint that covers it yet. Retry in a second, or leave out witnessed=true."},
	{ledger.ErrNoWitnesses, http.StatusUnprocessableEntity, 0, "", "This log has no witnesses: leave out witnessed=true, or have the operator set witness-policy."},
	{ledger.ErrOverloaded, busy, 1, "readers", "Too many requests are reading from the store at the moment. Retry in a second."},
	{scheduler.ErrFull, busy, 1, "long", "Too many long requests are in flight. Nothing was done; retry in a second."},
	{relay.ErrNone, busy, 3, "relays", "No relay has the signature of the beacon's round. Nothing was used; retry in a few seconds, or send the signature as beacon_signature."},
	{httpserver.ErrTime, busy, 1, "long", "The service is too busy to finish this in time. Retry later."},
	{ledger.ErrUnavailable, busy, 1, "store", "The store cannot be reached at the moment. Retry in a second."},
	{httpserver.ErrConnections, busy, 1, "connections", "Too many connections are open. Nothing was done; retry in a second, on connections that you keep open."},
}

// Find returns the answer for an error, and whether the table has it. Any other error is ours.
func Find(err error) (Answer, bool) {
	for _, row := range table {
		if errors.Is(err, row.Err) {
			return row, true
		}
	}
	return Answer{Status: http.StatusInternalServerError, Text: "Internal error; details are in the server log. Retry, or contact the operator."}, false
}

// otherReason is the reason of a 503 for any other error: /readyz while the service is not ready.
const otherReason = "other"

// Reason returns the reason in metrics why a request was rejected.
func Reason(err error) string {
	row, _ := Find(err)
	return cmp.Or(row.Reason, otherReason)
}

// Reasons returns all reasons, some more than once.
func Reasons() []string {
	reasons := []string{otherReason}
	for _, row := range table {
		if row.Reason != "" {
			reasons = append(reasons, row.Reason)
		}
	}
	return reasons
}
