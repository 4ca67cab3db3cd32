package api_test

import (
	"net/http"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
)

// TestOutageIsTwoLines rejects requests every nine seconds and answers others in between. Then work
// in the background fails. After the end it rejects another request.
func TestOutageIsTwoLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var full error
		output := &journaltest.Buffer{}
		s := start(t, setup{output: output, faults: &journaltest.Faults{Appending: func() error { return full }}})
		shuffle := func(status int) { require.Equal(t, status, s.send(t, post(t, "/shuffle", `{"size":5}`)).status) }
		const begin = `level=WARN msg=outage reason=space error="the store has no space left"`
		const end = `level=INFO msg="outage over" reason=space lasted=1m30s rejected=10`
		logged := func(want ...string) {
			t.Helper()
			assert.Equal(t, want, regexp.MustCompile(`level=.* msg="?outage.*`).FindAllString(output.String(), -1))
		}
		for range 10 {
			full = ledger.ErrNoSpace
			shuffle(http.StatusServiceUnavailable)
			full = nil
			time.Sleep(6 * time.Second)
			shuffle(http.StatusOK)
			time.Sleep(3 * time.Second)
		}
		s.Failed(ledger.ErrNoSpace)
		time.Sleep(9500 * time.Millisecond)
		logged(begin)
		time.Sleep(2 * time.Second)
		logged(begin, end)
		full = ledger.ErrNoSpace
		shuffle(http.StatusServiceUnavailable)
		logged(begin, end, begin)
	})
}
