package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"riffle/internal/fairshare"
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
	media   string // the type of the answer
	sent    bool
	job     *fairshare.Job  // of an answer that takes long; nil for others
	ctx     context.Context // of the job
}

// part is how many bytes of an answer are sent at a time.
const part = 64 << 10

// answers are buffers of answers of the common size. Without the pool, a shuffle of 52 items takes
// a tenth more processor time.
var answers = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

func (a *API) newStream(w http.ResponseWriter) *stream {
	pooled := answers.Get().(*[]byte)
	return &stream{buf: *pooled, pooled: pooled, w: w, api: a, media: "application/json"}
}

func (s *stream) head() {
	h := s.w.Header()
	h.Set("Content-Type", s.media)
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
	s.wait()
}

// wait returns when an answer that takes long may go on. It panics with http.ErrAbortHandler if it
// may not, since the caller has left or the service stops.
func (s *stream) wait() {
	if s.job != nil && s.job.Wait(s.ctx) != nil {
		panic(http.ErrAbortHandler)
	}
}

// send sends what was encoded. A slow client holds up nobody else: the job has no place meanwhile.
func (s *stream) send() {
	s.job.Release()
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
	s.job.Release()
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
