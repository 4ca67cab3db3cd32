package main

import (
	"bufio"
	"io"
	"log/slog"
	"sync"
	"time"
)

// flushInterval is how long a line of the access log may wait before it is written.
const flushInterval = time.Second

// A logOutput writes log lines in the order in which they came. Lines of the access log wait for
// others, so that a request does not cost a system call; any other line is written at once, behind
// those.
type logOutput struct {
	mu     sync.Mutex
	buffer *bufio.Writer
}

func newLogOutput(w io.Writer) *logOutput { return &logOutput{buffer: bufio.NewWriterSize(w, 64<<10)} }

// Write writes a line at once.
func (o *logOutput) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.buffer.Write(line)
	if err == nil {
		err = o.buffer.Flush()
	}
	return n, err
}

// later is the same output for lines that may wait.
type later struct{ *logOutput }

func (o later) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(line)
}

// logger returns a logger of lines that are written at once.
func (o *logOutput) logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(o, &slog.HandlerOptions{Level: level}))
}

// accessLog returns the logger of requests.
func (o *logOutput) accessLog(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(later{o}, &slog.HandlerOptions{Level: level}))
}

// flush writes the lines that wait.
func (o *logOutput) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.buffer.Flush() // there is nobody to tell
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
