package keycommand

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script returns a command that runs lines of shell.
func script(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+lines), 0o700))
	return path + " {}"
}

func TestRun(t *testing.T) {
	key, err := Run(t.Context(), script(t, "printf key-$1"), "log.key")
	assert.NoError(t, err)
	assert.Equal(t, "key-log.key", key)
	assert.Nil(t, Reader(t.Context(), ""))
	_, err = Run(t.Context(), " ", "log.key")
	assert.ErrorContains(t, err, "is empty")
	_, err = Run(t.Context(), script(t, "echo PRIVATE+KEY+secret >&2; exit 1"), "log.key")
	assert.NotContains(t, err.Error(), "secret")
}

// TestRunEnds runs commands that would print or wait for ever. What they have started ends with them.
func TestRunEnds(t *testing.T) {
	for lines, want := range map[string]string{
		"yes secret":                 "printed more than 65536 bytes",
		"yes secret >&2":             "printed more than 65536 bytes",
		"(yes secret; true) & wait":  "printed more than 65536 bytes",
		"sleep 600 & echo $! >$0.id": "a process that it started keeps its output open",
		"sleep 600":                  "it took longer than 1m0s",
		"echo why >&2; exit 3":       "exit status 3: why",
	} {
		command := script(t, lines)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		key, err := Run(ctx, command, "log.key")
		cancel()
		assert.Empty(t, key, lines)
		path := command[:len(command)-len(" {}")]
		assert.ErrorContains(t, err, "key-command "+path+" for log.key: ", lines)
		assert.ErrorContains(t, err, want, lines)
		assert.Less(t, time.Since(began), timeout, lines)
		if id, err := os.ReadFile(path + ".id"); err == nil {
			assert.Eventually(t, func() bool { _, err := os.Stat("/proc/" + string(id[:len(id)-1])); return err != nil }, 10*time.Second, time.Millisecond)
		}
	}
}
