package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"riffle/bench/measure"
)

// A machine is what was measured on, and which versions. What could not be found out is unknown.
type machine struct {
	When              time.Time
	Cores             int
	CPU, Kernel       string
	System            string // such as linux/amd64
	Load              string // the load averages before
	Fsync             time.Duration
	Go, Commit        string
	Chi, SQLite, JSON string // versions of modules
	Batched           string // the version of batchedModule; empty if it could not be downloaded
	Postgres          string
}

const unknown = "unknown"

func newMachine(ctx context.Context, folder string) (m machine, err error) {
	m = machine{
		When: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: unknown, Go: runtime.Version(), Commit: cmp.Or(commit(ctx), unknown),
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	m.CPU, m.Load = fromProc()
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			versions[d.Path] = d.Version
		}
	}
	version := func(module string) string { return cmp.Or(versions[module], unknown) }
	m.Chi, m.SQLite, m.JSON = version("github.com/go-chi/chi/v5"), version("modernc.org/sqlite"), version("github.com/go-json-experiment/json")
	m.Fsync, err = fsync(folder)
	return m, err
}

// fromProc returns the model of the CPU and the load averages.
func fromProc() (model, load string) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return unknown, unknown
	}
	model, load = unknown, unknown
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
		model = cmp.Or(cpus[0].ModelName, unknown)
	}
	if l, err := fs.LoadAvg(); err == nil {
		load = fmt.Sprintf("%.2f %.2f %.2f", l.Load1, l.Load5, l.Load15)
	}
	return model, load
}

// commit returns the commit that is checked out, and whether the sources differ from it. What this program writes is no
// difference.
func commit(ctx context.Context) string {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/performance.*").Output()
	if err != nil {
		return ""
	}
	if len(changes) > 0 {
		return strings.TrimSpace(string(head)) + ", changed"
	}
	return strings.TrimSpace(string(head))
}

// fsync returns the median time to append 4 KiB to a file of the folder and fsync it.
func fsync(folder string) (median time.Duration, err error) {
	file, err := os.Create(filepath.Join(folder, "fsync"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	page := make([]byte, 4<<10)
	var took []time.Duration
	for range 200 {
		began := time.Now()
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return measure.Percentile(took, 50), nil
}
