package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"riffle/bench/measure"
	"riffle/bench/report"
	"riffle/bench/service"
)

// Kernels are shuffles in process, as benchmarks of go test: those of internal/shuffle, those of
// this folder, and one of a module that the service does not need and go.mod does not name. Their
// test binaries are built once, by the service's profile, and run in turn on one core.

// The benchmarks that are compared, with the size of the deck left open.
const (
	kernelRiffle  = "Deck/%d-bytes/riffle"
	kernelChaCha8 = "Deck/%d-bytes/chacha8"
	kernelCrypto  = "Deck/%d-bytes/crypto-rand-int"
	kernelSeek    = "SeekAndShuffle/%d-bytes"
	kernelPaper   = "Batched/%d-bytes"     // of this folder
	kernelBatched = "Batchedrand/%d-bytes" // of batchedModule
)

// kernelNames are the rows of the table of kernels.
var kernelNames = []struct{ kernel, name string }{
	{kernelRiffle, "Riffle, from a ready stream"},
	{kernelSeek, "Riffle, one more of a repeat"},
	{kernelBatched, "lemire/batchedrand, on ChaCha8"},
	{kernelPaper, "batching by the paper, on ChaCha8"},
	{kernelChaCha8, "math/rand/v2, ChaCha8"},
	{kernelCrypto, "crypto/rand, Int"},
}

// batchedModule has the batched shuffle of one of the authors of the paper that riffle/1 takes its
// bounded integers from.
const batchedModule = "github.com/lemire/batchedrand"

// kernelTimes are the times of benchmarks in ns, run by run, by the names of the benchmarks without
// "Benchmark".
type kernelTimes map[string][]float64

// of returns the times of a kernel for a deck of so many cards, or nil.
func (k kernelTimes) of(kernel string, cards int) []float64 { return k[fmt.Sprintf(kernel, cards)] }

// table compares the kernels with math/rand/v2.
func (k kernelTimes) table() *report.Table {
	t := report.NewTable(1, "", "52 cards", "to math/rand/v2", "136 cards", "to math/rand/v2")
	for _, n := range kernelNames {
		row := []string{n.name}
		for _, cards := range []int{52, 136} {
			times := k.of(n.kernel, cards)
			if times == nil {
				row = append(row, "not measured", "")
				continue
			}
			ratio := measure.Ratio(times, k.of(kernelChaCha8, cards))
			row = append(row, fmt.Sprintf("%.0f ns", measure.Median(times)), fmt.Sprintf("%.2fx", ratio.Median))
		}
		t.Row(row...)
	}
	return t
}

// kernelsCommand measures shuffles in process.
type kernelsCommand struct{ timing }

// Run measures the kernels and prints their times.
func (cmd *kernelsCommand) Run(ctx context.Context) error {
	return service.WithEnv(ctx, func(env *service.Env) error {
		times, _, err := measureKernels(ctx, env.Folder, cmd.runs())
		if err != nil {
			return err
		}
		fmt.Printf("%s; one core, medians of %d runs in turn\n\n%s", report.Machine(), cmd.Runs, times.table().Text())
		return nil
	})
}

// A bencher is a test binary with benchmarks.
type bencher struct{ binary, folder, pattern string }

// measureKernels runs the benchmarks, each for a third of a run's length. version is that of
// batchedModule, or empty if it could not be downloaded.
func measureKernels(ctx context.Context, folder string, runs measure.Runs) (times kernelTimes, version string, err error) {
	benchers := []bencher{
		{filepath.Join(folder, "shuffle.test"), "./internal/shuffle", "^(BenchmarkDeck|BenchmarkSeekAndShuffle)$/bytes"},
		{filepath.Join(folder, "bench.test"), "./bench", "^BenchmarkBatched$"},
	}
	for _, b := range benchers {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-pgo", profilePath, "-o", b.binary, b.folder)
		if out, err := build.CombinedOutput(); err != nil {
			return nil, "", fmt.Errorf("building the benchmarks of %s: %w\n%s", b.folder, err, out)
		}
	}
	batched, version, err := buildBatched(ctx, folder)
	if err != nil {
		progress("%s is not measured: %v", batchedModule, err)
	} else {
		benchers = append(benchers, batched)
	}
	times = kernelTimes{}
	for round := range runs.Count + 1 {
		for _, b := range benchers {
			if err := b.run(ctx, runs.Length/3, times); err != nil {
				return nil, "", err
			}
		}
		if round == 0 { // which does not count
			clear(times)
		}
	}
	return times, version, nil
}

// buildBatched builds the benchmark of batchedModule in a module that needs it and nothing else, so
// that the service does not depend on it.
func buildBatched(ctx context.Context, folder string) (b bencher, version string, err error) {
	b = bencher{filepath.Join(folder, "batched.test"), filepath.Join(folder, "batched"), "."}
	profile, err := filepath.Abs(profilePath)
	if err == nil {
		err = os.CopyFS(b.folder, os.DirFS("bench/testdata/batched")) // because go get changes go.mod
	}
	if err != nil {
		return b, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"get", batchedModule + "@latest"},
		{"test", "-c", "-pgo", profile, "-o", b.binary},
		{"list", "-m", "-f", "{{.Version}}", batchedModule},
	} {
		command := exec.CommandContext(ctx, "go", args...)
		command.Dir = b.folder
		var stderr bytes.Buffer
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			return b, "", fmt.Errorf("go %s: %w\n%s", args[0], err, &stderr)
		}
		version = strings.TrimSpace(string(out))
	}
	return b, version, nil
}

// run runs the benchmarks once and adds their times.
func (b *bencher) run(ctx context.Context, length time.Duration, times kernelTimes) error {
	command := exec.CommandContext(ctx, b.binary, "-test.run", "^$", "-test.bench", b.pattern, "-test.benchtime", length.String(), "-test.cpu", "1")
	command.Dir = b.folder
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the benchmarks of %s: %w\n%s", b.folder, err, out)
	}
	return times.read(out)
}

// read adds the times that benchmarks have printed.
func (k kernelTimes) read(out []byte) error {
	r := benchfmt.NewReader(bytes.NewReader(out), "benchmarks")
	found := false
	for r.Scan() {
		result, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		if seconds, ok := result.Value("sec/op"); ok {
			name := result.Name.String()
			k[name] = append(k[name], seconds*1e9)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("the benchmarks printed no times:\n%s", out)
	}
	return r.Err()
}
