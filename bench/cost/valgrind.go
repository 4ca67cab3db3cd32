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

// instructions returns how many instructions a request takes: the difference between a process that
// sends it often and one that sends it seldom, divided by the difference of the numbers of
// requests, so that what both do to start cancels out.
func instructions(ctx context.Context, r *request) (float64, error) {
	seldom := max(1, r.times/10)
	few, err := counted(ctx, r, seldom)
	if err != nil {
		return 0, err
	}
	many, err := counted(ctx, r, r.times)
	if err != nil {
		return 0, err
	}
	return (many - few) / float64(r.times-seldom), nil
}

// counted runs this program under valgrind and returns how many instructions it took.
func counted(ctx context.Context, r *request, times int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
		self, "--only", r.name, "--times", strconv.Itoa(times))
	// Set in the environment, so that they hold from the first instruction on.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("valgrind: %w\n%s", err, out)
	}
	return parseCount(string(out))
}

var countLine = regexp.MustCompile(`(?m)^==\d+== I +refs: +([0-9,]+)$`)

// parseCount returns the number of instructions from valgrind's output.
func parseCount(out string) (float64, error) {
	m := countLine.FindStringSubmatch(out)
	if m == nil {
		return 0, errors.New("valgrind did not print a line of I refs:\n" + out)
	}
	return strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
}
