package main

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"riffle/internal/suggest"
)

// The access log is written when this many bytes are buffered, or after this time.
const (
	flushSize     = 64 << 10
	flushInterval = time.Second
)

// A logOutput writes log lines in order. It buffers the access log, so that a request does not cost a
// system call, and flushes the buffer with each other line.
type logOutput struct {
	w io.Writer

	mu     sync.Mutex
	buffer []byte // whole lines
}

func newLogOutput(w io.Writer) *logOutput { return &logOutput{w: w} }

// Write writes a line immediately. It masks tokens, which may come from a path or an error.
func (o *logOutput) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buffer = append(o.buffer, suggest.Mask(string(line))...)
	return len(line), o.flushLocked()
}

// flush writes the buffer. There is nobody to tell about an error.
func (o *logOutput) flush() { _, _ = o.Write(nil) }

// flushLocked writes the buffer and empties it, even if the write fails: a full disk loses these
// lines, and later ones are written again.
func (o *logOutput) flushLocked() error {
	if len(o.buffer) == 0 {
		return nil
	}
	_, err := o.w.Write(o.buffer)
	o.buffer = o.buffer[:0]
	return err
}

// accessLog buffers lines of level info.
type accessLog struct {
	*logOutput
	level slog.Leveler // lowest level to log
}

func (o accessLog) Write(line []byte) (int, error) {
	if o.level.Level() > slog.LevelInfo {
		return len(line), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.buffer) == 0 {
		time.AfterFunc(flushInterval, o.flush)
	}
	if o.buffer = append(o.buffer, line...); len(o.buffer) < flushSize {
		return len(line), nil
	}
	return len(line), o.flushLocked()
}

// logger returns a logger that writes immediately, with each error on one line.
func (o *logOutput) logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(o, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(oneLine(err))
		}
		return a
	}}))
}
