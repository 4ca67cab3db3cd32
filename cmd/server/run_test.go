package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/release"
)

// TestRunInProcess runs the program within the test. The other tests run a binary that they build,
// which the Go tool does not know about. This one makes the test depend on all packages of the
// program, so that cached results expire.
func TestRunInProcess(t *testing.T) {
	var stdout bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-version"}, nil, &stdout, io.Discard))
	assert.Equal(t, release.Current().String()+"\n", stdout.String())
}

// TestStopDoesNotWaitForAFile stops a service whose configuration file is on a volume that hangs.
func TestStopDoesNotWaitForAFile(t *testing.T) {
	o, err := parse([]string{"--addr=localhost:0", "--data=" + filepath.Join(t.TempDir(), "data")}, nil, true)
	require.NoError(t, err)
	s, err := build(t.Context(), o, 100, nil, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	hangups := make(chan os.Signal, 1)
	hangups <- syscall.SIGHUP
	require.NoError(t, s.run(ctx, hangups, func() func() {
		stop()
		<-t.Context().Done()
		return nil
	}))
}
