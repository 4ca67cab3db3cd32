// Cost guards what the hot path costs, in figures that do not depend on how busy the machine is: what a request allocates,
// and how many instructions it takes.
//
//	go run -pgo=cmd/server/default.pgo ./bench/cost
//
// It sends requests to the handlers in its own process, one after the other, over a ledger in SQLite, and compares what they
// cost with cost.json. It is built as the service is, by the service's profile: what the compiler makes of that decides what
// escapes to the heap. It fails where a figure is above the one kept there by more than its margin, in percent. -update keeps
// what was measured, under the margins that are in the file.
//
// Instructions are counted by valgrind, which shows programs the same processor on every machine. Where there is no valgrind
// they are left out, but not in CI.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"riffle/bench/contest"
)

// command runs this program as it is to be built.
const command = "go run -pgo=cmd/server/default.pgo ./bench/cost"

func main() { contest.Main("cost", run) }

func run(ctx context.Context) error {
	file := flag.String("file", "bench/cost/cost.json", "`file` of the figures to compare with")
	update := flag.Bool("update", false, "write the file instead of comparing with it")
	rounds := flag.Int("rounds", 5, "how often allocations are measured, of which the median counts")
	only := flag.String("only", "", "send the request of this `name`, and compare nothing; for valgrind")
	times := flag.Int("times", 1, "how often -only sends it")
	flag.Parse()
	if *rounds < 1 || *times < 1 {
		return errors.New("-rounds and -times have to be above 0")
	}
	if !profiled() {
		return errors.New("the service is built by its profile, and this is not: " + command)
	}
	// One goroutine at a time and no collector: what runs beside the request is the same every time.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	if *only != "" {
		r, err := named(*only)
		if err != nil {
			return err
		}
		_, _, err = allocated(ctx, r, *times)
		return err
	}
	counts := runtime.GOARCH == "amd64" // which the kept figures are of
	if _, err := exec.LookPath("valgrind"); err != nil && counts {
		if os.Getenv("CI") != "" || *update {
			return fmt.Errorf("instructions cannot be counted; install valgrind: %w", err)
		}
		fmt.Println("There is no valgrind: instructions are left out.")
		counts = false
	}
	got, err := measure(ctx, *rounds, counts)
	if err != nil {
		return err
	}
	kept, err := read(*file)
	if err != nil && (!*update || !errors.Is(err, os.ErrNotExist)) {
		return err
	}
	fmt.Print(table(kept, got))
	if *update {
		return write(*file, renewed(kept, got))
	}
	if wrong := compare(kept, got, counts); len(wrong) > 0 {
		return fmt.Errorf("%s\nIf that is meant to be: %s -update", strings.Join(wrong, "\n"), command)
	}
	return nil
}

// profiled reports whether this program was built by a profile.
func profiled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-pgo" })
}

// measure measures every request.
func measure(ctx context.Context, rounds int, counts bool) (got []figure, err error) {
	for _, r := range requests {
		var allocations, bytes []float64
		for range rounds {
			a, b, err := allocated(ctx, r, r.times)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			allocations, bytes = append(allocations, a), append(bytes, b)
		}
		got = append(got, newFigure(r.name, costAllocations, contest.Median(allocations)), newFigure(r.name, costBytes, contest.Median(bytes)))
		if !counts {
			continue
		}
		n, err := instructions(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		got = append(got, newFigure(r.name, costInstructions, n))
	}
	return got, nil
}
