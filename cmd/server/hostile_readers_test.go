package main_test

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// descriptors returns the number of open file descriptors of the server.
func (s *server) descriptors() int {
	s.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		skipOrFail(s.t, "counting the descriptors of the server: %v", err)
	}
	return len(open)
}

// TestManyReadersShareFewConnections has hundreds of connections repeat a reveal under a limit of
// 1,024 descriptors (H1). None is answered 500, a shuffle beside them is answered, and the
// descriptors are closed afterwards.
func TestManyReadersShareFewConnections(t *testing.T) {
	t.Parallel()
	const callers, requests = 600, 10
	s := limited(1024).start(t)
	dealt := s.shuffle(smallShuffle)
	body := fmt.Sprintf(`{"seed":%q}`, dealt.Seed)
	path := "/audits/" + dealt.AuditID + "/reveal"
	a := s.post(path, body)
	require.Equalf(t, http.StatusOK, a.status, "a reveal was answered %v", a)
	statuses := map[int]int{} // 0 is no answer
	var mu sync.Mutex
	var group sync.WaitGroup
	var addresses []*server // so many that each has fewer connections than are left for the others
	for n := range 12 {
		from := s.from(fmt.Sprint("127.0.0.", n+2), true)
		from.client.Transport.(*http.Transport).MaxConnsPerHost = callers / 12 // or it opens some that it does not use
		addresses = append(addresses, from)
	}
	for i := range callers {
		group.Go(func() {
			for range requests {
				status := 0
				if a, err := addresses[i%len(addresses)].ask(http.MethodPost, path, body); err == nil {
					status = a.status
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	for range 20 {
		s.shuffle(smallShuffle)
	}
	group.Wait()
	assert.Truef(t, statuses[http.StatusOK] != 0 && statuses[http.StatusOK]+statuses[http.StatusServiceUnavailable] == callers*requests,
		"reveals were answered %v; want 200, or 503 when there are too many:\n%.2000s", statuses, s.log)
	rejected := s.metric("riffle_rejected_requests_total", `reason="readers"`)
	assert.Equalf(t, statuses[http.StatusServiceUnavailable], int(rejected),
		"%v rejected requests were counted, and", rejected)
	for _, caller := range append(addresses, s) {
		caller.client.CloseIdleConnections()
	}
	const few = 40
	until(t, fmt.Sprintf("at most %d descriptors are open", few), func() bool { return s.descriptors() <= few })
}
