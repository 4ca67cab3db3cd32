package httpserver

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/budget"
	"riffle/internal/quota"
)

// TestTimeLimitSaysWhoseShareIsFull has reads reach the time limit. One that was alone at its
// address ends since the service is slow, and those that were beside others of it for their own
// share.
func TestTimeLimitSaysWhoseShareIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := budget.New(1 << 30)
		l := NewLongRequests(memory, time.Minute, 0)
		begin := func(caller string) *LongRead {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = caller + ":1"
			read := l.Read(httptest.NewRecorder(), r, memory.Lease(netip.Addr{}))
			t.Cleanup(read.Done)
			job, err := l.Admit(read.w, r)
			require.NoError(t, err)
			read.Job = job
			return read
		}
		first := begin("192.0.2.1")
		time.Sleep(time.Second)
		second, alone := begin("192.0.2.1"), begin("192.0.2.2")
		time.Sleep(time.Minute)
		synctest.Wait()
		for read, want := range map[*LongRead]bool{first: true, second: true, alone: false} {
			err := read.Cause(read.Context.Err())
			require.ErrorIs(t, err, ErrTime)
			assert.Equal(t, want, errors.Is(err, quota.ErrShare))
		}
		first.Job.Done()
		first.Job = nil
		assert.ErrorIs(t, second.Cause(second.Context.Err()), quota.ErrShare, "the last of several")
		l.Stop()
	})
}
