package config

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadLogs(t *testing.T) {
	f, got := readText(t, `
data: a
logs:
  - name: poker
    data: p
  - {max-items: 5, retired: true, name: bridge.eu-1}
keys: [{name: k, sha256: `+aHash+`, may: [read], logs: [bridge.eu-1, main]}]
`)
	want := map[string]string{"data": "a", "log 1 data": "p", "log 2 max-items": "5"}
	require.NoErrorf(t, f.Err(), "sets %v, want %v; mistakes", got, want)
	assert.Equalf(t, fmt.Sprint(want), fmt.Sprint(got), "sets %v, want %v; mistakes", got, want)
	assert.Truef(t, len(f.Logs) == 2 && f.Logs[0].Name == "poker" && !f.Logs[0].Retired && f.Logs[1].Name == "bridge.eu-1" && f.Logs[1].Retired,
		"%+v", f.Logs)
	reason := errors.New("too few")
	f.RefuseLog(f.Logs[1], reason, "max-items")
	f.RefuseLog(f.Logs[1], reason, "data")
	if err := f.Err(); err == nil || err.Error() != "riffle.yaml:6:17: too few\nriffle.yaml:6:41: too few" {
		t.Errorf("mistakes of a setting, and of one that is not in the file: %v", err)
	}
}
