package main

import (
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

	"github.com/jackc/pgx/v5"
)

// A machine is what was measured on, and what of. Empty strings are for what could not be found out.
type machine struct {
	When              time.Time
	Cores             int
	CPU, Kernel       string
	System            string // such as linux/amd64
	Load              string // the load averages before
	Fsync             time.Duration
	Go, Commit        string
	Chi, SQLite, JSON string // the modules
	Batched           string // lemire/batchedrand; empty if it was not to be had
	Postgres          string
}

func newMachine(ctx context.Context, folder string) (m machine, err error) {
	m = machine{
		When: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPU: cpuModel(readText("/proc/cpuinfo")), Kernel: readText("/proc/sys/kernel/osrelease"), Load: loadAverages(readText("/proc/loadavg")),
		Go: runtime.Version(), Commit: commitOf(ctx),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			switch d.Path {
			case "github.com/go-chi/chi/v5":
				m.Chi = d.Version
			case "modernc.org/sqlite":
				m.SQLite = d.Version
			case "github.com/go-json-experiment/json":
				m.JSON = d.Version
			}
		}
	}
	m.Fsync, err = fsync(folder)
	return m, err
}

// readText returns a file without the space around it, or "" if it cannot be read.
func readText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func cpuModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func loadAverages(loadavg string) string {
	fields := strings.Fields(loadavg)
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// commitOf returns the commit that is checked out, and whether the sources differ from it. What this program writes is
// no difference.
func commitOf(ctx context.Context) string {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/performance.*").Output()
	if err != nil {
		return ""
	}
	if len(changes) > 0 {
		return strings.TrimSpace(string(commit)) + ", changed"
	}
	return strings.TrimSpace(string(commit))
}

// fsync returns the median of what it takes to append 4 KiB to a file of the folder and to have them on disk.
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
	return percentile(took, 50), nil
}

func postgresVersion(ctx context.Context, url string) (version string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if err := conn.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", fmt.Errorf("asking PostgreSQL for its version: %w", err)
	}
	return version, nil
}
