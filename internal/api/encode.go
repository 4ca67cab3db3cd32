package api

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// A stream is an answer that is sent in parts if it is long. Its first parts are sent before the
// last are encoded, so an answer that fails on the way closes the connection: what has arrived is
// then not JSON.
type stream struct {
	buf     []byte
	pooled  *[]byte
	w       http.ResponseWriter
	control *http.ResponseController
	api     *API
	sent    bool
}

// part is how many bytes of an answer are sent at a time.
const part = 64 << 10

// answers are buffers of answers of the common size. Without the pool, a shuffle of 52 items takes
// a tenth more processor time.
var answers = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

func (a *API) newStream(w http.ResponseWriter) *stream {
	pooled := answers.Get().(*[]byte)
	return &stream{buf: *pooled, pooled: pooled, w: w, api: a}
}

func (s *stream) head() {
	h := s.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store") // it may have a seed
}

// flush sends what was encoded, if that is a part. It panics with http.ErrAbortHandler if the
// caller has left.
func (s *stream) flush() {
	if len(s.buf) < part {
		return
	}
	if !s.sent {
		s.sent = true
		s.head()
		s.w.Header().Set("X-Content-Type-Options", "nosniff")
		s.control = http.NewResponseController(s.w)
	}
	s.send()
}

func (s *stream) send() {
	deadline := time.Now().Add(s.api.writeTimeout)
	if err := s.control.SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		panic(http.ErrAbortHandler)
	}
	if _, err := s.w.Write(s.buf); err != nil {
		panic(http.ErrAbortHandler)
	}
	s.buf = s.buf[:0]
}

// finish sends the rest of the answer.
func (s *stream) finish() error {
	if s.sent {
		s.send()
	} else {
		s.head()
		if err := writeBody(s.w, http.StatusOK, s.buf); err != nil {
			return err
		}
	}
	if cap(s.buf) <= 2*part {
		*s.pooled = s.buf[:0]
	}
	answers.Put(s.pooled)
	return nil
}
