package main

import (
	"fmt"
	"runtime/debug"

	"riffle/internal/httpserver"
	"riffle/internal/ledger"
	"riffle/internal/system"
)

// gcPercent is the service's GOGC. The live heap of short requests is about 5 MB, which Go's default
// of 100 collects dozens of times a second under load; 400 saves a tenth of a small shuffle's CPU time.
const gcPercent = 400

// adminConnections is the number of connections of the admin server.
const adminConnections = 32

// Bytes and file descriptors, from which the limit on connections follows.
const (
	baseMemory        = 64 << 20  // of a service without connections
	connectionMemory  = 272 << 10 // of a connection, without the memory budget of its requests
	tlsMemory         = 64 << 10  // of TLS for a connection; see httpserver.Server.OverTLS for HTTP/2
	programMemory     = 96 << 20  // not counted by Go: the program, and SQLite's memory maps
	baseDescriptors   = 32        // listener, log, standard output and the like
	readerDescriptors = 4         // of an SQLite reader: database, write-ahead log, shared memory
)

// peakMemory returns the largest memory use in bytes that the README promises. It does not include
// SQLite's memory for logs besides the main one.
func (o *options) peakMemory() int64 { return 2*o.memory + 256<<20 }

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
	memory := (o.peakMemory() - o.memory - baseMemory) / each
	return int(min(int64(o.maxConnections), descriptors, memory)), nil
}

// limitMemory makes garbage collections rare, and frequent as the process nears peakMemory. GOGC and
// GOMEMLIMIT take precedence.
func limitMemory(o *options, env func(string) string) {
	if env("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(o.peakMemory() - programMemory)
	}
}
