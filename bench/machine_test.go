package bench

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// A machine describes the machine and the version that was measured.
type machine struct {
	When        time.Time
	Commit      string
	Cores       int
	CPU, Kernel string
	Load        float64 // average of the minute before
	Fsync       float64 // median seconds of a write and fsync of 4 KiB
	Go, SQLite  string
}

// maxLoad is the load average of a minute above which figures are not comparable.
const maxLoad = 0.5

// newMachine describes this machine once its load is below maxLoad. It waits so long because
// building the server is load too.
func newMachine(ctx context.Context, e *env, busy bool, patience time.Duration) (m machine, err error) {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		return m, fmt.Errorf("git describe, for the commit that is measured: %w", err)
	}
	m = machine{Commit: strings.TrimSpace(string(commit)), Cores: runtime.NumCPU(), Go: runtime.Version()}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return m, err
	}
	m.Kernel = strings.TrimSpace(string(kernel))
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return m, err
	}
	if cpus, err := proc.CPUInfo(); err == nil && len(cpus) > 0 {
		m.CPU = cpus[0].ModelName
	}
	info, err := buildinfo.ReadFile(e.server)
	if err != nil {
		return m, err
	}
	for _, d := range info.Deps {
		if d.Path == "modernc.org/sqlite" {
			m.SQLite = d.Version
		}
	}
	for deadline := time.Now().Add(patience); ; {
		load, err := proc.LoadAvg()
		if err != nil {
			return m, err
		}
		m.Load, m.When = load.Load1, time.Now().UTC()
		if busy || m.Load < maxLoad {
			break
		}
		if time.Now().After(deadline) {
			return m, fmt.Errorf("the machine is busy: its load is %.2f, and must be below %.1f; stop other programs, or pass -busy", m.Load, maxLoad)
		}
		progress("waiting until the load is below %.1f; it is %.2f", maxLoad, m.Load)
		select {
		case <-ctx.Done():
			return m, ctx.Err()
		case <-time.After(10 * time.Second):
		}
	}
	m.Fsync, err = fsync(filepath.Join(e.folder, "fsync"))
	return m, err
}

// fsync returns the median seconds that a write and fsync of 4 KiB to a new file takes.
func fsync(path string) (seconds float64, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	page := make([]byte, 4<<10)
	var list []float64
	for range 200 {
		began := time.Now()
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		list = append(list, time.Since(began).Seconds())
	}
	return median(list), nil
}
