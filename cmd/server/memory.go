package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"riffle/internal/config"
	"riffle/internal/httpserver"
	"riffle/internal/ledger"
	"riffle/internal/system"
)

// gcPercent is the service's GOGC. The live heap of short requests is about 5 MB, which Go's default
// of 100 collects dozens of times a second under load; 400 saves a tenth of a small shuffle's CPU time.
const gcPercent = 400

// adminConnections is the number of connections of the admin server.
const adminConnections = 32

// Bytes and file descriptors, from which the limits follow.
const (
	leastContainer    = 61 << 20  // for one log: 64 MB; docs/decisions/memory.md has the measurements
	processorMemory   = 16 << 20  // of a small container for each processor
	logMemory         = 8 << 20   // of a log on SQLite besides the main one
	connectionMemory  = 272 << 10 // of a connection, without the memory budget of its requests
	tlsMemory         = 64 << 10  // of TLS for a connection; see httpserver.Server.OverTLS for HTTP/2
	baseDescriptors   = 32        // listener, log, standard output and the like
	readerDescriptors = 4         // of an SQLite reader: database, write-ahead log, shared memory
)

// fit chooses the limits that are not given: --memory by the container, --max-body and --max-items
// by --memory, each halved up to five times. The container's limit is the smallest of the process's
// cgroups.
func (o *options) fit(given map[string]bool) {
	limit, err := memlimit.FromCgroup()
	if o.found = config.Bytes(limit).String(); err != nil {
		limit, o.found = 0, err.Error()
	}
	o.container = int64(min(limit, 1<<62))
	most := o.memory
	if !given["memory"] && o.container > 0 {
		o.memory = max(0, min(most, o.fitting()))
	}
	for range 5 {
		if o.memory < o.leastMemory() && !given["max-body"] {
			o.api.MaxBody /= 2
		}
		if o.memory < o.leastMemory() && !given["max-items"] {
			o.shared.Limits.Items /= 2
		}
	}
	if !given["memory"] { // but max-body or max-items was
		o.memory = min(most, max(o.memory, o.leastMemory()))
	}
	o.shared.CacheShare = int(max(1, most/max(1, o.memory)))
}

// fitting returns the largest --memory that fits into the container. It is the default, 512 MiB, where
// the container has the default of peakMemory.
func (o *options) fitting() int64 { return (o.container - o.otherLogs() - 48<<20) * 5 / 12 >> 10 << 10 }

// otherLogs returns the memory of the logs besides the main one.
func (o *options) otherLogs() (bytes int64) {
	for _, l := range o.logs[1:] {
		if l.Store == "" {
			bytes += logMemory
		}
	}
	return bytes
}

// peakMemory returns the largest memory use in bytes that the README promises. otherLogs come on top.
func (o *options) peakMemory() int64 {
	peak := 2*o.memory + 256<<20
	if o.container > 0 {
		peak = min(peak, o.container-o.otherLogs())
	}
	return peak
}

// connections returns the limit on open connections: --max-connections, or less if peakMemory or the
// limit on open files requires it.
func (o *options) connections() (int, error) {
	files, err := system.OpenFiles()
	if err != nil {
		return 0, fmt.Errorf("reading the limit on open files: %w", err)
	}
	others := httpserver.ExtraConnections
	if o.adminAddr != "" {
		others += adminConnections + httpserver.ExtraConnections
	}
	readers := len(o.logs) * ledger.DefaultReaders()
	descriptors := max(files/4, files-int64(baseDescriptors+readerDescriptors*readers+others))
	each := int64(connectionMemory)
	if o.tls != nil {
		each += tlsMemory
	}
	peak := o.peakMemory()
	base := min(64<<20, peak/4+26<<20) // of a service without connections
	return int(min(int64(o.maxConnections), descriptors, max(2, (peak-o.memory-base)/each))), nil
}

// limitMemory makes garbage collections rare, and frequent as the process nears peakMemory. A container
// has few processors for its memory, since each takes readers of the store and memory of Go. GOGC,
// GOMEMLIMIT and GOMAXPROCS take precedence. It logs all limits, and warns of those that do not fit into
// the container. It returns the limit on connections, or an error if the container is too small.
func limitMemory(o *options, env func(string) string, logger *slog.Logger) (connections int, err error) {
	if least := leastContainer + o.otherLogs(); o.container > 0 && o.container < least {
		return 0, fmt.Errorf("the container's memory limit of %s is too low: give it %s or more", o.found, config.Bytes(least))
	}
	if env("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	peak := o.peakMemory()
	if env("GOMEMLIMIT") == "" { // the rest is for what Go does not count: the program, and SQLite's memory maps
		debug.SetMemoryLimit(peak - min(96<<20, peak/4+18<<20))
	}
	processors := runtime.GOMAXPROCS(0)
	if most := int(o.container / processorMemory); env("GOMAXPROCS") == "" && o.container > 0 && processors > most {
		processors = most
		runtime.GOMAXPROCS(most) // not if that changes nothing: Go would follow the container's processors no more
	}
	if connections, err = o.connections(); err != nil {
		return 0, err
	}
	level, text, goLimit := slog.LevelInfo, "memory", debug.SetMemoryLimit(-1)
	if o.container > 0 && (o.memory > o.fitting() || goLimit > o.container) {
		level, text = slog.LevelWarn, "these limits may take more memory than the container has, which then ends the service; lower memory, max-body, max-items or GOMEMLIMIT, or give it more"
	}
	logger.Log(context.Background(), level, text, "container", o.found, "memory", config.Bytes(o.memory), "max-body", config.Bytes(o.api.MaxBody),
		"max-items", o.shared.Limits.Items, "connections", connections, "GOMEMLIMIT", config.Bytes(goLimit), "GOMAXPROCS", processors)
	return connections, nil
}
