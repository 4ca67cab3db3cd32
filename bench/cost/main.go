// Cost guards what requests on the hot path cost, in figures that do not depend on how busy the
// machine is: what a request allocates, and how many instructions it takes.
//
//	go run -pgo=cmd/server/default.pgo ./bench/cost
//
// It sends requests to the handlers in its own process, one after the other, over a ledger in
// SQLite, and compares their cost with cost.json. It must be built by the service's profile, as the
// service is, because the profile decides what the compiler inlines and hence what escapes to the
// heap. It fails where a figure exceeds the recorded one by more than its margin, in percent.
// --update records what was measured and keeps the margins that are in the file.
//
// Instructions are counted by valgrind, which presents the same processor on every machine. Where
// valgrind is not installed they are skipped, but not in CI.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"riffle/bench/measure"
)

// goRun runs this program as it must be built.
const goRun = "go run -pgo=cmd/server/default.pgo ./bench/cost"

type command struct {
	File   string `default:"bench/cost/cost.json" help:"The recorded figures."`
	Update bool   `help:"Record what is measured instead of comparing it."`
	Rounds int    `default:"5" help:"How often allocations are measured; the median counts."`

	// For valgrind, which runs this program with one request.
	Only  string `hidden:"" help:"Send only the request of this name, and compare nothing."`
	Times int    `hidden:"" default:"1" help:"How often --only sends it."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cmd := &command{}
	parsed := kong.Parse(cmd, kong.Name("cost"), kong.Description("Compares what requests cost with the recorded figures."))
	parsed.FatalIfErrorf(cmd.run(ctx))
}

func (cmd *command) run(ctx context.Context) error {
	if cmd.Rounds < 1 || cmd.Times < 1 {
		return errors.New("--rounds and --times must be above 0")
	}
	if !profiled() {
		return errors.New("this program was not built by the service's profile, as the service is: " + goRun)
	}
	// One goroutine at a time and no garbage collection, so that nothing else runs during a
	// request.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	if cmd.Only != "" {
		r, err := named(cmd.Only)
		if err != nil {
			return err
		}
		_, _, err = allocated(ctx, r, cmd.Times)
		return err
	}
	counts := runtime.GOARCH == "amd64" // which the recorded figures are of
	if _, err := exec.LookPath("valgrind"); err != nil && counts {
		if os.Getenv("CI") != "" || cmd.Update {
			return fmt.Errorf("instructions cannot be counted; install valgrind: %w", err)
		}
		fmt.Println("valgrind is not installed: instructions are skipped.")
		counts = false
	}
	got, err := measured(ctx, cmd.Rounds, counts)
	if err != nil {
		return err
	}
	recorded, err := read(cmd.File)
	if err != nil && (!cmd.Update || !errors.Is(err, os.ErrNotExist)) {
		return err
	}
	fmt.Print(table(recorded, got))
	if cmd.Update {
		return write(cmd.File, withMargins(recorded, got))
	}
	if wrong := compare(recorded, got, counts); len(wrong) > 0 {
		return fmt.Errorf("%s\nIf this is intended: %s --update", strings.Join(wrong, "\n"), goRun)
	}
	return nil
}

// profiled reports whether this program was built by a profile.
func profiled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-pgo" })
}

// measured measures every request.
func measured(ctx context.Context, rounds int, counts bool) (got []figure, err error) {
	for _, r := range requests {
		var allocations, bytes []float64
		for range rounds {
			a, b, err := allocated(ctx, r, r.times)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			allocations, bytes = append(allocations, a), append(bytes, b)
		}
		got = append(got, newFigure(r.name, costAllocations, measure.Median(allocations)), newFigure(r.name, costBytes, measure.Median(bytes)))
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
