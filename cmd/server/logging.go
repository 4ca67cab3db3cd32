package main

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"riffle/internal/suggest"
)

// flushAt is how many bytes of the access log wait at most.
const flushAt = 64 << 10

// flushInterval is how long a line of the access log may wait before it is written.
const flushInterval = time.Second

// A logOutput writes log lines in the order in which they came. Lines of the access log wait for
// others, so that a request does not cost a system call; any other line is written at once, behind
// those.
type logOutput struct {
	w io.Writer

	mu      sync.Mutex
	waiting []byte // whole lines
}

func newLogOutput(w io.Writer) *logOutput { return &logOutput{w: w} }

// Write writes a line at once, without the tokens that it may have from a path or an error.
func (o *logOutput) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, suggest.Mask(string(line))...)
	return len(line), o.flushLocked()
}

// flushLocked writes the lines that wait. Those that cannot be written are lost, and later ones are
// tried again: the disk of the log may have been full.
func (o *logOutput) flushLocked() error {
	_, err := o.w.Write(o.waiting)
	o.waiting = o.waiting[:0]
	return err
}

// later is the same output for lines at level info that may wait.
type later struct {
	*logOutput
	level slog.Leveler // the lowest that is logged
}

func (o later) Write(line []byte) (int, error) {
	if o.level.Level() > slog.LevelInfo {
		return len(line), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting = append(o.waiting, line...); len(o.waiting) < flushAt {
		return len(line), nil
	}
	return len(line), o.flushLocked()
}

// logger returns a logger of lines that are written at once.
func (o *logOutput) logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(o, &slog.HandlerOptions{Level: level}))
}

// accessLog returns what lines of requests are written to.
func (o *logOutput) accessLog(level slog.Leveler) io.Writer { return later{o, level} }

// flush writes the lines that wait.
func (o *logOutput) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) > 0 {
		_ = o.flushLocked() // there is nobody to tell
	}
}

// keepFlushing writes the lines that wait each flushInterval. stop ends it and writes the rest.
func (o *logOutput) keepFlushing() (stop func()) {
	tick, done := time.NewTicker(flushInterval), make(chan struct{})
	go func() {
		for {
			select {
			case <-tick.C:
				o.flush()
			case <-done:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(done)
		o.flush()
	}
}
