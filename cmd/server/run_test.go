package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRunInProcess runs the program within the test. The other tests run a binary that they build,
// which the Go tool does not know about. This one makes the test depend on all packages of the
// program, so that cached results expire.
func TestRunInProcess(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	none := func(string) string { return "" }
	if err := run(t.Context(), []string{"-version"}, none, &stdout, &stderr); err != nil || stdout.String() != "riffle "+version+" "+revision()+"\n" {
		t.Errorf("-version: %v, %q", err, stdout.String())
	}
	if err := run(t.Context(), []string{"-queue", "0"}, none, &stdout, &stderr); err == nil || !strings.Contains(err.Error(), "-queue") {
		t.Errorf("-queue 0: %v", err)
	}
}
