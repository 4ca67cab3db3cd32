package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExampleConfig reads deploy/riffle.yaml unchanged, which sets only the log level, and with every
// comment mark removed, which sets every flag to its default.
func TestExampleConfig(t *testing.T) {
	t.Parallel()
	const example = "../../deploy/riffle.yaml"
	text, err := os.ReadFile(example)
	require.NoError(t, err)
	o := newOptions()
	f := o.flags
	o.config = example
	if err := o.fromFile().Err(); err != nil || len(given(f)) != 1 || !given(f)["log-level"] {
		t.Errorf("the example sets %v: %v", given(f), err)
	}

	whole := filepath.Join(t.TempDir(), "riffle.yaml")
	require.NoError(t, os.WriteFile(whole, regexp.MustCompile(`(?m)^#(\S)`).ReplaceAll(text, []byte("$1")), 0o600))
	o.config = whole
	assert.NoError(t, o.fromFile().Err())
	o.config = "" // a flag as well, which the file does not set
	set := given(f)
	f.VisitAll(func(fl *flag.Flag) {
		assert.Equalf(t, hasKey(fl.Name), set[fl.Name], "the example sets -%s", fl.Name)
		assert.Equalf(t, fl.DefValue, fl.Value.String(), "the example has %s", fl.Name)
	})
}
