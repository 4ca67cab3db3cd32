package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Kernels are benchmarks of go test: those of internal/shuffle, those of this folder, and one of a module that the service
// does not need and go.mod does not name. Their test binaries are built once, by the profile that the service is built by, and
// run in turn, on one core.

// A kernel is a benchmark by its name, without Benchmark in front.
type kernel struct {
	Name  string
	Times []float64 // ns, run by run
}

// The benchmarks that the page shows, less the size of the deck.
const (
	kernelRiffle  = "Deck/%d-bytes/riffle"
	kernelChaCha8 = "Deck/%d-bytes/chacha8"
	kernelCrypto  = "Deck/%d-bytes/crypto-rand-int"
	kernelSeek    = "SeekAndShuffle/%d-bytes"
	kernelPaper   = "Batched/%d-bytes"     // of this folder
	kernelBatched = "Batchedrand/%d-bytes" // of the module
)

// batchedModule has the batched shuffle by one of the authors of the paper that riffle/1 has its integers from.
const batchedModule = "github.com/lemire/batchedrand"

//go:embed testdata/batchedrand_test.go.txt
var batchedTest []byte

// A bencher is a test binary.
type bencher struct{ path, folder, pattern string }

// kernels runs the benchmarks, and returns which version of the module it found; none if the module was not to be had.
func kernels(ctx context.Context, s *settings) (found []kernel, version string, err error) {
	benchers := []bencher{
		{filepath.Join(s.folder, "shuffle.test"), "./internal/shuffle", "^(BenchmarkDeck|BenchmarkSeekAndShuffle)$/bytes"},
		{filepath.Join(s.folder, "performance.test"), "./bench/performance", "^BenchmarkBatched$"},
	}
	for _, b := range benchers {
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-pgo", profilePath, "-o", b.path, b.folder).CombinedOutput(); err != nil {
			return nil, "", fmt.Errorf("building the benchmarks of %s: %w\n%s", b.folder, err, out)
		}
	}
	batched, version, err := newBatched(ctx, s.folder)
	if err != nil {
		say("%s is left out: %v", batchedModule, err)
	} else {
		benchers = append(benchers, *batched)
	}
	at := map[string]int{}
	for range s.runs + 1 {
		for _, b := range benchers {
			times, err := b.run(ctx, s.benchtime)
			if err != nil {
				return nil, "", err
			}
			for _, t := range times {
				i, ok := at[t.Name]
				if !ok { // the first run does not count
					at[t.Name] = len(found)
					found = append(found, kernel{Name: t.Name})
					continue
				}
				found[i].Times = append(found[i].Times, t.Times...)
			}
		}
	}
	return found, version, nil
}

// newBatched makes a module that needs the other one and nothing else, so that the service does not depend on it.
func newBatched(ctx context.Context, folder string) (b *bencher, version string, err error) {
	folder, err = filepath.Abs(folder) // for it is named from within
	if err != nil {
		return nil, "", err
	}
	pgo, err := filepath.Abs(profilePath)
	if err != nil {
		return nil, "", err
	}
	b = &bencher{filepath.Join(folder, "batched.test"), filepath.Join(folder, "batched"), "."}
	if err := os.Mkdir(b.folder, 0o755); err != nil {
		return nil, "", err
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(b.folder, "go.mod"), []byte("module batched\n\ngo 1.26\n"), 0o644),
		os.WriteFile(filepath.Join(b.folder, "batched_test.go"), batchedTest, 0o644),
	); err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"get", batchedModule + "@latest"},
		{"test", "-c", "-pgo", pgo, "-o", b.path},
		{"list", "-m", "-f", "{{.Version}}", batchedModule},
	} {
		command := exec.CommandContext(ctx, "go", args...)
		command.Dir = b.folder
		var stderr bytes.Buffer
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			return nil, "", fmt.Errorf("go %s: %w\n%s", args[0], err, &stderr)
		}
		version = strings.TrimSpace(string(out))
	}
	return b, version, nil
}

func (b *bencher) run(ctx context.Context, benchtime string) ([]kernel, error) {
	path, err := filepath.Abs(b.path)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, path, "-test.run", "^$", "-test.bench", b.pattern, "-test.benchtime", benchtime, "-test.cpu", "1")
	command.Dir = b.folder
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the benchmarks of %s: %w\n%s", b.folder, err, out)
	}
	found := parseBenchmarks(string(out))
	if len(found) == 0 {
		return nil, fmt.Errorf("the benchmarks of %s have no result:\n%s", b.folder, out)
	}
	return found, nil
}

// parseBenchmarks reads what go test -bench prints: lines of a name, with -N behind it where GOMAXPROCS is not 1, a count,
// and values each followed by a unit. Lines without a time are left out.
func parseBenchmarks(out string) (found []kernel) {
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 {
			continue
		}
		name, ok := strings.CutPrefix(fields[0], "Benchmark")
		if !ok {
			continue
		}
		if i := strings.LastIndexByte(name, '-'); i >= 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i]
			}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if ns, err := strconv.ParseFloat(fields[i], 64); err == nil && fields[i+1] == "ns/op" {
				found = append(found, kernel{name, []float64{ns}})
			}
		}
	}
	return found
}
