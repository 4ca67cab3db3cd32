package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"riffle/internal/budget"
	"riffle/internal/httpserver"
)

// TestLongAnswersAreCharged has answers find no room in the budget. One that is sent whole is 503; one
// that is streamed goes out in short parts, since its record is there.
func TestLongAnswersAreCharged(t *testing.T) {
	begin := func(w http.ResponseWriter, memory int64) *exchange {
		x := &exchange{lease: budget.New(memory).Lease(netip.Addr{})}
		x.Begin(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), 0)
		return x
	}
	write := func(memory int64, length int) (*httptest.ResponseRecorder, error) {
		recorder := httptest.NewRecorder()
		return recorder, begin(recorder, memory).send(typeJSON, make([]byte, length))
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
		out := newStream(begin(counted, memory))
		want := bytes.Repeat([]byte("0123456789"), 100_000)
		for i := 0; i < len(want); i += 1000 {
			out.flush()
			out.buf = append(out.buf, want[i:i+1000]...)
		}
		if err := out.finish(); err != nil || !bytes.Equal(recorder.Body.Bytes(), want) {
			t.Errorf("a stream with a budget of %d: %d bytes, %v", memory, recorder.Body.Len(), err)
		}
		if long := counted.longest >= httpserver.Part; long != (memory > 0) || counted.longest > httpserver.Part+1000 {
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
