package httpserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A slowWriter takes as long for every write as its caller needs for the bytes, and notes the
// deadlines. It fails once the last one has passed.
type slowWriter struct {
	http.ResponseWriter
	rate     int // bytes a second
	deadline time.Time
	taken    int
}

func (w *slowWriter) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

func (w *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(len(p)) * time.Second / time.Duration(w.rate))
	if !w.deadline.IsZero() && time.Now().After(w.deadline) {
		return 0, http.ErrHandlerTimeout
	}
	w.taken += len(p)
	return len(p), nil
}

// TestMinimumRate sends long answers to callers of several speeds. A caller below the least rate is cut
// off after the write timeout and what its bytes have earned it, and nobody has longer than the
// longest time.
func TestMinimumRate(t *testing.T) {
	const timeout = 30 * time.Second
	for _, c := range []struct {
		rate, length int
		want         time.Duration // 0 if the answer is sent whole
	}{
		{minRate, 64 << 20, 0},
		{minRate + 1, 64 << 20, 0},
		{minRate / 2, 64 << 20, 2 * timeout}, // t = 30 s + t/2
		{minRate / 4, 64 << 20, timeout * 4 / 3},
		{2_500, 64 << 20, timeout + timeout/25},
		{minRate, 1 << 30, longestAnswer},
		{2 << 20, 1 << 30, 0},
		{100, Part - 1, 0}, // a short one has the deadline of the server
	} {
		synctest.Test(t, func(t *testing.T) {
			slow := &slowWriter{ResponseWriter: httptest.NewRecorder(), rate: c.rate}
			var w Response
			w.Begin(slow, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), timeout)
			began := time.Now()
			n, err := w.Write(make([]byte, c.length))
			took := time.Since(began)
			if c.want == 0 && (err != nil || n != c.length || slow.taken != n) {
				t.Errorf("at %d bytes a second %d of %d bytes are sent, %v", c.rate, n, c.length, err)
			}
			one := time.Duration(Part) * time.Second / time.Duration(c.rate) // the time of the last write
			if c.want > 0 && (err == nil || took < c.want-time.Second || took > c.want+one) {
				t.Errorf("at %d bytes a second the answer ends after %v, want %v: %v", c.rate, took, c.want, err)
			}
		})
	}
}

type readDeadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *readDeadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestReadDeadlineIsLiftedWithTheBody lifts the deadlines before and after a body is read. The client
// keeps its deadline for the body.
func TestReadDeadlineIsLiftedWithTheBody(t *testing.T) {
	for _, early := range []bool{true, false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}"))
		d := &readDeadlines{ResponseWriter: httptest.NewRecorder()}
		var w Response
		w.Begin(d, r, time.Minute)
		if early {
			w.LiftDeadlines()
		}
		assert.Empty(t, d.set)
		_, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		if !early {
			assert.Empty(t, d.set)
			w.LiftDeadlines()
		}
		assert.Equal(t, []time.Time{{}}, d.set)
	}
}
