package main

import (
	"log/slog"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMemorySettings also shows that an operator's GOGC and GOMEMLIMIT, which the runtime applies
// by itself, are left alone.
func TestMemorySettings(t *testing.T) {
	t.Cleanup(func() {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	})
	for _, c := range []struct {
		env            map[string]string
		percent, limit uint64
	}{
		{nil, 400, 2*64<<20 + 160<<20},
		{map[string]string{"GOGC": "150"}, 150, 2*64<<20 + 160<<20},
		{map[string]string{"GOMEMLIMIT": "1GiB"}, 400, 1 << 30},
	} {
		debug.SetGCPercent(150)
		debug.SetMemoryLimit(1 << 30)
		_, err := limitMemory(&options{memory: 64 << 20, container: noContainer}, func(name string) string { return c.env[name] }, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		settings := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
		metrics.Read(settings)
		if percent, limit := settings[0].Value.Uint64(), settings[1].Value.Uint64(); percent != c.percent || limit != c.limit {
			t.Errorf("with %v GOGC is %d and the limit %d bytes, want %d and %d", c.env, percent, limit, c.percent, c.limit)
		}
	}
}
