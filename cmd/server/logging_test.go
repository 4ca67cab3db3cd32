package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/access"
)

// A brokenWriter fails once.
type brokenWriter struct {
	strings.Builder
	failed bool
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if !w.failed {
		w.failed = true
		return 0, errors.New("no space left on device")
	}
	return w.Builder.Write(p)
}

// TestLogOutputMasksTokens logs tokens in an error and in a path.
func TestLogOutputMasksTokens(t *testing.T) {
	var w strings.Builder
	log := newLogOutput(&w).logger(slog.LevelInfo)
	token := string(access.NewToken())
	log.Error("request failed", "path", "/"+token, "error", errors.New("no "+token[:20]+" and no "+token))
	text := w.String()
	assert.Truef(t, !strings.Contains(text, token[4:10]) && strings.Contains(text, `"path":"/rfl_...","error":"no rfl_... and no rfl_..."`), "the log has %s", text)
}

// TestLogOutput checks that lines keep their order, that the access log is buffered, and that logging
// continues after a failed write.
func TestLogOutput(t *testing.T) {
	w := &brokenWriter{}
	o := newLogOutput(w)
	var level slog.LevelVar
	log, requests := o.logger(&level), slog.New(slog.NewJSONHandler(accessLog{o, &level}, nil))
	log.Info("lost")
	requests.Info("first")
	requests.Info("second")
	assert.Truef(t, w.Len() == 0, "lines of the access log do not wait: %s", w.String())
	log.Info("third")
	requests.Info("fourth")
	level.Set(slog.LevelWarn)
	requests.Info("left out")
	o.flush()
	var messages []string
	for line := range strings.Lines(w.String()) {
		_, message, _ := strings.Cut(line, `"msg":"`)
		messages = append(messages, strings.TrimSuffix(message, "\"}\n"))
	}
	assert.Equal(t, "first second third fourth", strings.Join(messages, " "), "the log")
}
