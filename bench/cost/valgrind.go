package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// instructions returns how many instructions a request takes: those of a process that sends it often less those of one that
// sends it seldom, for each time more. What both do to start falls out.
func instructions(ctx context.Context, r *request) (float64, error) {
	seldom := max(1, r.times/10)
	less, err := counted(ctx, r, seldom)
	if err != nil {
		return 0, err
	}
	more, err := counted(ctx, r, r.times)
	if err != nil {
		return 0, err
	}
	return (more - less) / float64(r.times-seldom), nil
}

// counted runs this program under valgrind and returns how many instructions it took.
func counted(ctx context.Context, r *request, times int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
		self, "-only", r.name, "-times", strconv.Itoa(times))
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off") // from the first instruction on
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("valgrind: %w\n%s", err, out)
	}
	return parseCount(string(out))
}

var countLine = regexp.MustCompile(`(?m)^==\d+== I +refs: +([0-9,]+)$`)

// parseCount reads the number of instructions off what valgrind prints.
func parseCount(out string) (float64, error) {
	m := countLine.FindStringSubmatch(out)
	if m == nil {
		return 0, errors.New("valgrind has not told how many instructions there were:\n" + out)
	}
	return strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
}
