// Package cost checks what a request costs on the hot path: its allocations, and its instructions,
// which do not depend on how busy the machine is.
//
//	go test -pgo=../../cmd/server/default.pgo -cost            # compares with cost.json
//	go test -pgo=../../cmd/server/default.pgo -cost -update
//	go test -run Bytes -v -cost                                # prints the bytes of records on disk
//
// It sends requests to the handlers in this process, over a ledger in SQLite. A figure must not exceed
// the one in cost.json by more than its margin. The profile is needed because it decides which functions
// the compiler inlines, and hence what escapes to the heap.
//
// Valgrind counts the instructions: it presents the same processor on every machine. Without
// valgrind they are skipped, except in CI.
package cost

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	cost   = flag.Bool("cost", false, "measure, and compare with cost.json")
	update = flag.Bool("update", false, "record the measured figures")
	only   = flag.String("only", "", "send only the request of this name; for valgrind")
	times  = flag.Int("times", 2, "how often -only sends it")
)

// figures are the rounded costs of a request.
type figures struct {
	Allocations  float64 `json:"allocations"`
	Bytes        float64 `json:"bytes"`
	Instructions float64 `json:"instructions"` // 0 if not counted
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
			if *only == "" || *only == name {
				a, b := allocated(t, r, *times)
				assert.Truef(t, a >= 1 && b > a, "%s: %g allocations of %g bytes", name, a, b)
			}
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
	counts := runtime.GOARCH == "amd64" // like the recorded figures
	if _, err := exec.LookPath("valgrind"); err != nil && counts {
		require.True(t, os.Getenv("CI") == "" && !*update, "install valgrind, which counts instructions")
		t.Log("valgrind is not installed: instructions are skipped")
		counts = false
	}
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
		if counts {
			f.Instructions = math.Round(instructions(t, name, r))
		}
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
			{"instructions", was.Instructions, is.Instructions, 5},
		} {
			if c.is == 0 {
				continue // not counted
			}
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
	recorded := map[string]figures{"a": {100, 1000, 10_000}}
	for want, got := range map[string]figures{
		"": {101, 1050, 10_500}, // at the margins
		"a: allocations grew by 2.0%, more than 1%": {102, 1000, 0},
		"a: bytes grew by 5.1%":                     {100, 1051, 10_000},
		"a: instructions grew by 5.0%":              {1, 1, 10_501},
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

// instructions returns the instructions of a request: the difference between many and few requests,
// divided by the difference of their numbers, which leaves out the start.
func instructions(t *testing.T, name string, r request) float64 {
	few := max(1, r.times/10)
	return (valgrind(t, name, r.times) - valgrind(t, name, few)) / float64(r.times-few)
}

var countLine = regexp.MustCompile(`(?m)^==\d+== I +refs: +([0-9,]+)$`)

// valgrind runs this program under valgrind and returns its instructions.
func valgrind(t *testing.T, name string, times int) float64 {
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
		self, "-test.run", "^TestCost$", "-only", name, "-times", strconv.Itoa(times))
	// Set in the environment, so that they hold from the first instruction on. valgrind says that its
	// processor has RDTSCP, and fails at one if the machine's has none.
	command.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off", "GOMAXPROCS=1", "GOGC=off")
	out, err := command.CombinedOutput()
	m := countLine.FindSubmatch(out)
	require.Truef(t, err == nil && m != nil, "valgrind: %v\n%s", err, out)
	count, err := strconv.ParseFloat(string(bytes.ReplaceAll(m[1], []byte(","), nil)), 64)
	require.NoError(t, err)
	return count
}
