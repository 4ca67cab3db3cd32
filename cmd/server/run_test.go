package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRunInProcess runs the program within the test. The other tests run what they have built, of which the Go tool knows
// nothing; because of this one it knows that their results are out of date once any package of the program changes.
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
