package main

import (
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

// Connections, bytes and file descriptors, from which the limits follow; docs/decisions/memory.md
// has the measurements.
const (
	adminConnections  = 32        // of the admin server
	noContainer       = 1 << 50   // bytes of a container without a limit
	leastContainer    = 61 << 20  // 64 MB
	smallContainer    = 256 << 20 // has small sockets and caches
	processorMemory   = 16 << 20  // of a small container for each processor
	idleMemory        = 17 << 20  // of Go in a container, without connections and long requests
	fewConnections    = 4 << 20   // of eight or more connections, which settings must leave
	connectionMemory  = 272 << 10 // of a connection, without the memory budget of its requests
	tlsMemory         = 64 << 10  // of TLS for a connection; see httpserver.Server.OverTLS for HTTP/2
	socketBuffer      = 32 << 10  // of a connection for each direction, in a small container
	socketMemory      = 192 << 10 // of the kernel for a connection: to send 64, received 128
	baseDescriptors   = 32        // listener, log, standard output and the like
	readerDescriptors = 4         // of an SQLite reader: database, write-ahead log, shared memory
)

// fit chooses the limits that are not given: --memory by the container, --max-body and --max-items
// by --memory, each halved up to five times. The container's limit is the smallest of the process's
// cgroups.
func (o *options) fit(given map[string]bool) {
	limit, err := memlimit.FromCgroup()
	if o.found = config.Bytes(limit).String(); err != nil {
		limit, o.found = noContainer, err.Error()
	}
	o.container = int64(min(limit, noContainer))
	most := o.memory
	if !given["memory"] { // it stays 512 MiB where the container has 1.25 GiB
		o.memory = max(0, min(most, (o.container-48<<20)*5/12>>10<<10))
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

// room returns the bytes that a container leaves for connections and long requests. Beside Go it
// has the program, SQLite and the kernel, sockets apart.
func (o *options) room(container int64) int64 {
	return container - min(96<<20, container/4+15<<20) - idleMemory
}

// bounds returns the most connections that fit into memory, and the limit of Go's memory with them:
// the process then peaks at 2 x --memory + 256 MiB, and the container at its limit.
func (o *options) bounds() (connections, goLimit int64) {
	each, room := int64(connectionMemory), o.room(o.container)
	if o.tls != nil {
		each += tlsMemory
	}
	connections = min(int64(o.maxConnections), (o.memory+192<<20)/each, (room-o.memory)/(each+socketMemory))
	return connections, min(2*o.memory+160<<20, room+idleMemory-connections*socketMemory)
}

// checkContainer calls refuse if the container has too little memory, or too little for the
// settings.
func (o *options) checkContainer(refuse func(err error, flags ...string)) {
	need, enough, lower := max(o.memory, o.leastMemory()), int64(leastContainer), ""
	for o.room(enough) < need+fewConnections {
		enough += 1 << 20
	}
	if o.container >= leastContainer {
		lower = fmt.Sprintf(", or lower --memory, --max-body or --max-items, which need %s, so that %s is enough", config.Bytes(need), config.Bytes((o.room(o.container)-fewConnections)>>20<<20))
	}
	if o.container < enough && !o.version && !o.healthcheck {
		refuse(fmt.Errorf("the container's memory limit of %s is too low: give it %s or more%s", o.found, config.Bytes(enough), lower), "memory", "max-body", "max-items")
	}
}

// descriptors returns the connections that the limit on open files allows.
func (o *options) descriptors() (int64, error) {
	files, err := system.OpenFiles()
	if err != nil {
		return 0, fmt.Errorf("reading the limit on open files: %w", err)
	}
	others := httpserver.ExtraConnections
	if o.adminAddr != "" {
		others += adminConnections + httpserver.ExtraConnections
	}
	readers := ledger.DefaultReaders()
	return max(files/4, files-int64(baseDescriptors+readerDescriptors*readers+others)), nil
}

// memoryWarnings returns what is wrong with the variables that Go's runtime has read.
func (o *options) memoryWarnings(env func(string) string) (list []string) {
	_, chosen := o.bounds()
	if limit := debug.SetMemoryLimit(-1); env("GOMEMLIMIT") != "" && (limit < o.memory+16<<20 || limit > o.room(o.container)+idleMemory && o.container < noContainer) {
		list = append(list, fmt.Sprintf("GOMEMLIMIT is %s: if it is too low, Go may do little but collect garbage, and if it is too high, the kernel may kill the service; unset it, which is as good as %s",
			env("GOMEMLIMIT"), config.Bytes(chosen)))
	}
	if most := o.container / processorMemory; env("GOMAXPROCS") != "" && int64(runtime.GOMAXPROCS(0)) > most {
		list = append(list, fmt.Sprintf("GOMAXPROCS is %s, and the container has memory for %d: the kernel may kill the service; unset it, or lower it", env("GOMAXPROCS"), most))
	}
	return list
}

// limitMemory makes garbage collections rare, and frequent as the process nears its peak. A
// container has few processors for its memory, since each takes readers of the store and memory of
// Go. GOGC, GOMEMLIMIT and GOMAXPROCS take precedence. It logs all limits, and returns the limit on
// connections.
func limitMemory(o *options, env func(string) string, logger *slog.Logger) (int, error) {
	connections, goLimit := o.bounds()
	if env("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(goLimit)
	}
	if most := int(o.container / processorMemory); env("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > most {
		runtime.GOMAXPROCS(most) // not if that changes nothing: Go would follow the container's processors no more
	}
	descriptors, err := o.descriptors()
	if err != nil {
		return 0, err
	}
	connections = min(connections, descriptors)
	logger.Info("memory", "container", o.found, "memory", config.Bytes(o.memory), "max-body", config.Bytes(o.api.MaxBody), "max-items", o.shared.Limits.Items,
		"connections", connections, "GOMEMLIMIT", config.Bytes(debug.SetMemoryLimit(-1)), "GOMAXPROCS", runtime.GOMAXPROCS(0))
	for _, warning := range o.memoryWarnings(env) {
		logger.Warn(warning)
	}
	return int(connections), nil
}
