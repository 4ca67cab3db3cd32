package main

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"riffle/bench/measure"
	"riffle/bench/service"
)

// A machine is what was measured on, and the versions that the server is built from.
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

func newMachine(env *service.Env) (m machine, err error) {
	m = machine{
		When: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: unknown, Commit: unknown,
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	m.CPU, m.Load = fromProc()
	info, err := buildinfo.ReadFile(env.Server)
	if err != nil {
		return m, err
	}
	m.Go = info.GoVersion
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			m.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			m.Commit += ", modified" // follows vcs.revision
		}
	}
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
	m.Fsync, err = fsync(env.Path("fsync"))
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

// fsync returns the median time to append 4 KiB to a file and fsync it.
func fsync(path string) (median time.Duration, err error) {
	file, err := os.Create(path)
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
