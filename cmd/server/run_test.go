package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/release"
)

// TestRunInProcess runs the program within the test. The other tests run a binary that they build,
// which the Go tool does not know about. This one makes the test depend on all packages of the
// program, so that cached results expire.
func TestRunInProcess(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	none := func(string) string { return "" }
	require.NoError(t, run(t.Context(), []string{"-version"}, none, &stdout, &stderr), "-version")
	assert.Equal(t, release.Current().String()+"\n", stdout.String(), "-version")
	err := run(t.Context(), []string{"-queue", "0"}, none, &stdout, &stderr)
	assert.Truef(t, err != nil && strings.Contains(err.Error(), "-queue"), "-queue 0: %v", err)
}
