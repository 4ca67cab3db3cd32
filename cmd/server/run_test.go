package main

import (
	"bytes"
	"io"
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
