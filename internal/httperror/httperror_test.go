package httperror

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"riffle/internal/budget"
	"riffle/internal/httpserver"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/quota"
	"riffle/internal/scheduler"
)

// Each row has one error, a whole sentence, and what its status needs: a 503 or 429 a reason and a
// time to retry after, other answers neither, except for a request in flight and a broken log.
func TestTableIsComplete(t *testing.T) {
	seen := map[error]bool{}
	for _, row := range table {
		busy := row.Status == http.StatusServiceUnavailable || row.Status == http.StatusTooManyRequests
		retry := busy || row.Err == journal.ErrInFlight //nolint:errorlint // a row's own error
		reason := busy || row.Err == ledger.ErrBroken   //nolint:errorlint // a row's own error
		if (row.RetryAfter > 0) != retry || (row.Reason != "") != reason || seen[row.Err] {
			t.Errorf("%v is answered %d, after %d seconds, for the reason %q", row.Err, row.Status, row.RetryAfter, row.Reason)
		}
		if http.StatusText(row.Status) == "" || row.Text == "" || !strings.HasSuffix(row.Text, ".") {
			t.Errorf("%v is answered %d %q", row.Err, row.Status, row.Text)
		}
		seen[row.Err] = true
		wrapped := fmt.Errorf("a request: %w", row.Err)
		if found, ok := Find(wrapped); !ok || found != row {
			t.Errorf("%v is found as %+v", wrapped, found)
		}
		if want := Reason(wrapped); row.Reason != "" && want != row.Reason || row.Reason == "" && want != otherReason || !slices.Contains(Reasons(), want) {
			t.Errorf("%v has the reason %q of %q", wrapped, want, Reasons())
		}
	}
	for _, pool := range []error{budget.ErrFull, scheduler.ErrFull, httpserver.ErrConnections, httpserver.ErrTime} {
		if found, _ := Find(fmt.Errorf("%w: %w", pool, quota.ErrShare)); found.Status != http.StatusTooManyRequests || found.Reason != "share" {
			t.Errorf("%v of the caller's own share is found as %+v", pool, found)
		}
	}
	if _, ok := Find(errors.New("another")); ok || Reason(errors.New("another")) != otherReason || !slices.Contains(Reasons(), otherReason) {
		t.Errorf("an unknown error has the reason %q", Reason(errors.New("another")))
	}
}
