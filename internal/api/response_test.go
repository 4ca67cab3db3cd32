package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"riffle/internal/httpjson"
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

// TestLeastRate sends long answers to callers of several speeds. A caller below the least rate is cut
// off after the write timeout and what its bytes have earned it, and nobody has longer than the
// longest time.
func TestLeastRate(t *testing.T) {
	const timeout = 30 * time.Second
	for _, c := range []struct {
		rate, length int
		want         time.Duration // 0 if the answer is sent whole
	}{
		{leastRate, 64 << 20, 0},
		{leastRate + 1, 64 << 20, 0},
		{leastRate / 2, 64 << 20, 2 * timeout}, // t = 30 s + t/2
		{leastRate / 4, 64 << 20, timeout * 4 / 3},
		{2_500, 64 << 20, timeout + timeout/25},
		{leastRate, 1 << 30, longestAnswer},
		{2 << 20, 1 << 30, 0},
		{100, part - 1, 0}, // a short one has the deadline of the server
	} {
		synctest.Test(t, func(t *testing.T) {
			slow := &slowWriter{ResponseWriter: httptest.NewRecorder(), rate: c.rate}
			w := &response{ResponseWriter: slow, api: &API{writeTimeout: timeout}, ctx: t.Context()}
			began := time.Now()
			n, err := w.Write(make([]byte, c.length))
			took := time.Since(began)
			if c.want == 0 && (err != nil || n != c.length || slow.taken != n) {
				t.Errorf("at %d bytes a second %d of %d bytes are sent, %v", c.rate, n, c.length, err)
			}
			one := time.Duration(part) * time.Second / time.Duration(c.rate) // the time of the last write
			if c.want > 0 && (err == nil || took < c.want-time.Second || took > c.want+one) {
				t.Errorf("at %d bytes a second the answer ends after %v, want %v: %v", c.rate, took, c.want, err)
			}
		})
	}
}

// TestLongAnswersAreCharged has answers find no room in the budget. One that is sent whole is 503; one
// that is streamed goes out in short parts, since its record is there.
func TestLongAnswersAreCharged(t *testing.T) {
	a := &API{Options: Options{Logger: slog.New(slog.DiscardHandler)}}
	write := func(memory int64, length int) (*httptest.ResponseRecorder, error) {
		recorder := httptest.NewRecorder()
		w := &response{ResponseWriter: recorder, api: a, lease: httpjson.NewBudget(memory).Lease("192.0.2.1:1"), ctx: t.Context()}
		defer w.lease.Release()
		return recorder, writeBody(w, http.StatusOK, make([]byte, length))
	}
	for _, c := range []struct {
		memory  int64
		length  int
		refused bool
	}{{0, shortAnswer, false}, {0, shortAnswer + 1, true}, {1 << 20, 400_000, false}, {1 << 20, 600_000, true}} {
		recorder, err := write(c.memory, c.length)
		if refused := err != nil; refused != c.refused || refused == (recorder.Body.Len() > 0) {
			t.Errorf("an answer of %d bytes with a budget of %d: %v, and %d bytes are sent", c.length, c.memory, err, recorder.Body.Len())
		}
	}
	for _, memory := range []int64{0, 1 << 20} {
		recorder := httptest.NewRecorder()
		counted := &countedWrites{ResponseRecorder: recorder}
		out := a.newStream(&response{ResponseWriter: counted, api: a, lease: httpjson.NewBudget(memory).Lease("192.0.2.1:1"), ctx: t.Context()})
		want := bytes.Repeat([]byte("0123456789"), 100_000)
		for i := 0; i < len(want); i += 1000 {
			out.flush()
			out.buf = append(out.buf, want[i:i+1000]...)
		}
		if err := out.finish(); err != nil || !bytes.Equal(recorder.Body.Bytes(), want) {
			t.Errorf("a stream with a budget of %d: %d bytes, %v", memory, recorder.Body.Len(), err)
		}
		if long := counted.longest >= part; long != (memory > 0) || counted.longest > part+1000 {
			t.Errorf("a stream with a budget of %d is sent in parts of %d", memory, counted.longest)
		}
	}
}

// countedWrites notes the longest write.
type countedWrites struct {
	*httptest.ResponseRecorder
	longest int
}

func (w *countedWrites) Write(p []byte) (int, error) {
	w.longest = max(w.longest, len(p))
	return w.ResponseRecorder.Write(p)
}
