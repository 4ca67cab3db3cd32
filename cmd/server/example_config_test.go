package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestExampleConfig reads deploy/riffle.yaml unchanged, which sets only the log level, and with every
// comment mark removed, which sets every flag to its default.
func TestExampleConfig(t *testing.T) {
	t.Parallel()
	const example = "../../deploy/riffle.yaml"
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	o := newOptions()
	f := o.flags
	o.config = example
	if err := o.fromFile().Err(); err != nil || len(given(f)) != 1 || !given(f)["log-level"] {
		t.Errorf("the example sets %v: %v", given(f), err)
	}

	whole := filepath.Join(t.TempDir(), "riffle.yaml")
	if err := os.WriteFile(whole, regexp.MustCompile(`(?m)^#(\S)`).ReplaceAll(text, []byte("$1")), 0o600); err != nil {
		t.Fatal(err)
	}
	o.config = whole
	if err := o.fromFile().Err(); err != nil {
		t.Error(err)
	}
	o.config = "" // a flag as well, which the file does not set
	set := given(f)
	f.VisitAll(func(fl *flag.Flag) {
		if set[fl.Name] != hasKey(fl.Name) {
			t.Errorf("the example sets -%s: %t, want %t", fl.Name, set[fl.Name], hasKey(fl.Name))
		}
		if value := fl.Value.String(); value != fl.DefValue {
			t.Errorf("the example has %s: %q; the default is %q", fl.Name, value, fl.DefValue)
		}
	})
}
