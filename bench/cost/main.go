// Cost checks what a request costs on the hot path: its allocations, and its instructions, which
// do not depend on how busy the machine is.
//
//	go run -pgo=cmd/server/default.pgo ./bench/cost
//	go run -pgo=cmd/server/default.pgo ./bench/cost -update
//
// It sends requests to the handlers in this process, over a ledger in SQLite. It fails if a figure
// exceeds the one in cost.json by more than its margin; -update writes the measured figures there.
// The profile is required because it decides what the compiler inlines, and hence what escapes to
// the heap.
//
// Valgrind counts the instructions: it presents the same processor on every machine. Without
// valgrind they are skipped, except in CI.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
)

// figures are the rounded costs of a request.
type figures struct {
	Allocations  float64 `json:"allocations"`
	Bytes        float64 `json:"bytes"`
	Instructions float64 `json:"instructions"` // 0 if not counted
}

func main() {
	file := flag.String("file", "bench/cost/cost.json", "the recorded figures")
	update := flag.Bool("update", false, "record the measured figures")
	only := flag.String("only", "", "send only the request of this name, and compare nothing; for valgrind")
	times := flag.Int("times", 1, "how often -only sends it")
	flag.Parse()
	if err := run(context.Background(), *file, *update, *only, *times); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string, update bool, only string, times int) error {
	info, ok := debug.ReadBuildInfo()
	if !ok || !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-pgo" }) {
		return errors.New("build with -pgo=cmd/server/default.pgo, as the service is")
	}
	// One goroutine at a time and no garbage collection, so that nothing else runs during a
	// request.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	if only != "" {
		_, _, err := allocated(ctx, requests[only], times)
		return err
	}
	counts := runtime.GOARCH == "amd64" // like the recorded figures
	if _, err := exec.LookPath("valgrind"); err != nil && counts {
		if os.Getenv("CI") != "" || update {
			return fmt.Errorf("install valgrind, which counts instructions: %w", err)
		}
		fmt.Println("valgrind is not installed: instructions are skipped.")
		counts = false
	}
	got, err := measure(ctx, counts)
	if err != nil {
		return err
	}
	if update {
		return write(file, got)
	}
	recorded, err := read(file)
	if err != nil {
		return err
	}
	report, err := compare(recorded, got)
	fmt.Print(report)
	return err
}

// measure returns the figures of every request.
func measure(ctx context.Context, counts bool) (map[string]figures, error) {
	got := map[string]figures{}
	for name, r := range requests {
		var f figures
		var allocations, sizes []float64
		for range 5 {
			a, b, err := allocated(ctx, r, r.times)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			allocations, sizes = append(allocations, a), append(sizes, b)
		}
		slices.Sort(allocations)
		slices.Sort(sizes)
		f.Allocations, f.Bytes = math.Round(allocations[2]), math.Round(sizes[2])
		if counts {
			n, err := instructions(ctx, name, r)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			f.Instructions = math.Round(n)
		}
		got[name] = f
	}
	return got, nil
}

// compare reports the measured figures beside the recorded ones. It fails if one exceeds its
// margin, or if a request is missing on either side.
func compare(recorded, got map[string]figures) (report string, err error) {
	for _, name := range slices.Sorted(maps.Keys(got)) {
		was, ok := recorded[name]
		if !ok {
			err = errors.Join(err, fmt.Errorf("%s is not recorded; run it with -update", name))
			continue
		}
		is := got[name]
		for _, c := range []struct {
			cost    string
			was, is float64
			margin  float64 // percent
		}{
			{"allocations", was.Allocations, is.Allocations, 5},
			{"bytes", was.Bytes, is.Bytes, 10},
			{"instructions", was.Instructions, is.Instructions, 10},
		} {
			if c.is == 0 {
				continue // not counted
			}
			change := 100 * (c.is/c.was - 1)
			report += fmt.Sprintf("%-36s %-12s %10.0f was %10.0f  %+.1f%%\n", name, c.cost, c.is, c.was, change)
			if c.is > c.was*(1+c.margin/100) {
				err = errors.Join(err, fmt.Errorf("%s: %s grew by %.1f%%, more than %g%%; if this is intended, run it with -update", name, c.cost, change, c.margin))
			}
		}
	}
	for name := range recorded {
		if _, ok := got[name]; !ok {
			err = errors.Join(err, fmt.Errorf("%s is recorded, but was not measured", name))
		}
	}
	return report, err
}

func read(file string) (recorded map[string]figures, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return recorded, json.Unmarshal(text, &recorded)
}

// write writes a line per request.
func write(file string, got map[string]figures) error {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(got)) {
		line, err := json.Marshal(got[name])
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("  %q: %s", name, line))
	}
	return os.WriteFile(file, []byte("{\n"+strings.Join(lines, ",\n")+"\n}\n"), 0o644)
}

// instructions returns the instructions of a request: the difference between many and few requests,
// divided by the difference of their numbers, which leaves out the start.
func instructions(ctx context.Context, name string, r request) (float64, error) {
	few := max(1, r.times/10)
	a, err := valgrind(ctx, name, few)
	if err != nil {
		return 0, err
	}
	b, err := valgrind(ctx, name, r.times)
	return (b - a) / float64(r.times-few), err
}

var countLine = regexp.MustCompile(`(?m)^==\d+== I +refs: +([0-9,]+)$`)

// valgrind runs this program under valgrind and returns its instructions.
func valgrind(ctx context.Context, name string, times int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	command := exec.CommandContext(ctx, "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
		self, "-only", name, "-times", strconv.Itoa(times))
	// Set in the environment, so that they hold from the first instruction on.
	command.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off")
	out, err := command.CombinedOutput()
	m := countLine.FindSubmatch(out)
	if err != nil || m == nil {
		return 0, fmt.Errorf("valgrind: %w\n%s", err, out)
	}
	return strconv.ParseFloat(string(bytes.ReplaceAll(m[1], []byte(","), nil)), 64)
}
