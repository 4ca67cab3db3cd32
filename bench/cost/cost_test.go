// Package cost checks what a request allocates on the hot path, which does not depend on how busy the
// machine is.
//
//	go test -pgo=../../cmd/server/default.pgo -cost            # compares with cost.json
//	go test -pgo=../../cmd/server/default.pgo -cost -update
//	go test -run Bytes -v -cost                                # prints the bytes of records on disk
//
// It sends requests to the handlers in this process, over a ledger in SQLite. A figure must not exceed
// the one in cost.json by more than its margin. The profile is needed because it decides which functions
// the compiler inlines, and hence what escapes to the heap.
package cost

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	cost   = flag.Bool("cost", false, "measure, and compare with cost.json")
	update = flag.Bool("update", false, "record the measured figures")
)

// figures are the rounded costs of a request.
type figures struct {
	Allocations float64 `json:"allocations"`
	Bytes       float64 `json:"bytes"`
}

// TestCost measures with -cost. Otherwise it sends each request, since one that fails would cost little.
func TestCost(t *testing.T) {
	// One goroutine at a time and no garbage collection, so that nothing else runs during a
	// request.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	text, err := os.ReadFile("cost.json")
	require.NoError(t, err)
	var recorded map[string]figures
	require.NoError(t, json.Unmarshal(text, &recorded))
	assert.Equal(t, slices.Sorted(maps.Keys(requests)), slices.Sorted(maps.Keys(recorded)), "the recorded requests")
	if !*cost {
		for name, r := range requests {
			a, b := allocated(t, r, 2)
			assert.Truef(t, a >= 1 && b > a, "%s: %g allocations of %g bytes", name, a, b)
		}
		return
	}
	got := measure(t)
	for _, complaint := range compare(t, recorded, got) {
		if !*update {
			t.Error(complaint)
		}
	}
	if *update {
		write(t, got)
	}
}

// measure returns the figures of every request.
func measure(t *testing.T) map[string]figures {
	got := map[string]figures{}
	for name, r := range requests {
		var f figures
		var allocations, sizes []float64
		for range 5 {
			a, b := allocated(t, r, r.times)
			allocations, sizes = append(allocations, a), append(sizes, b)
		}
		// The least, since a busy machine only adds: its commits have fewer requests each.
		f.Allocations, f.Bytes = math.Round(slices.Min(allocations)), math.Round(slices.Min(sizes))
		got[name] = f
	}
	return got
}

// compare logs the measured figures beside the recorded ones, and returns those that exceed their margin.
func compare(t *testing.T, recorded, got map[string]figures) (complaints []string) {
	for _, name := range slices.Sorted(maps.Keys(got)) {
		was, is := recorded[name], got[name]
		for _, c := range []struct {
			cost    string
			was, is float64
			margin  float64 // percent
		}{
			{"allocations", was.Allocations, is.Allocations, 1},
			{"bytes", was.Bytes, is.Bytes, 5},
		} {
			change := 100 * (c.is/c.was - 1)
			t.Logf("%-36s %-12s %10.0f was %10.0f  %+.1f%%", name, c.cost, c.is, c.was, change)
			if c.is > c.was*(1+c.margin/100) {
				complaints = append(complaints, fmt.Sprintf("%s: %s grew by %.1f%%, more than %g%%; if this is intended, run it with -update", name, c.cost, change, c.margin))
			}
		}
	}
	return complaints
}

func TestCompare(t *testing.T) {
	recorded := map[string]figures{"a": {100, 1000}}
	for want, got := range map[string]figures{
		"": {101, 1050}, // at the margins
		"a: allocations grew by 2.0%, more than 1%": {102, 1000},
		"a: bytes grew by 5.1%":                     {100, 1051},
	} {
		complaints := compare(t, recorded, map[string]figures{"a": got})
		assert.Contains(t, strings.Join(complaints, ""), want)
		assert.Equal(t, want != "", len(complaints) == 1, want)
	}
}

// write writes a line per request.
func write(t *testing.T, got map[string]figures) {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(got)) {
		line, err := json.Marshal(got[name])
		require.NoError(t, err)
		lines = append(lines, fmt.Sprintf("  %q: %s", name, line))
	}
	require.NoError(t, os.WriteFile("cost.json", []byte("{\n"+strings.Join(lines, ",\n")+"\n}\n"), 0o644))
}
