package main

import (
	"fmt"
	"runtime/debug"
	"syscall"

	"riffle/internal/httpserver"
	"riffle/internal/ledger"
)

// gcPercent is the GOGC of the service. Short requests leave some 5 MB live, which Go's default of
// 100 collects dozens of times a second under load; 400 saves a tenth of the CPU time of a small
// shuffle.
const gcPercent = 400

// adminConnections is the number of connections of the admin server.
const adminConnections = 32

// Memory and descriptors that connections must leave.
const (
	baseMemory        = 64 << 20  // bytes of a service without connections
	connectionMemory  = 272 << 10 // most bytes of a connection beside what its requests are charged for
	tlsMemory         = 64 << 10  // most bytes more of one over TLS; see httpserver.Server.OverTLS for HTTP/2
	baseDescriptors   = 32        // of listener, log, standard output and the like
	readerDescriptors = 4         // of a reader of SQLite: database, write-ahead log, shared memory
	programMemory     = 96 << 20  // bytes that Go does not count as its own: the program, and what SQLite maps
)

// peakMemory returns the most bytes that the process may take, as the README has it: without what
// SQLite takes for logs besides the main one, which Go does not count.
func (o *options) peakMemory() int64 { return 2*o.memory + 256<<20 }

// connections returns how many connections may be open: -max-connections, or as many as peakMemory
// and the limit on descriptors allow.
func (o *options) connections() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("reading the limit on open files: %w", err)
	}
	most := int64(min(limit.Cur, 1<<30)) // it may be unlimited
	others := httpserver.ExtraConnections
	if o.adminAddr != "" {
		others += adminConnections + httpserver.ExtraConnections
	}
	readers := len(o.logs()) * ledger.DefaultReaders()
	descriptors := max(most/4, most-int64(baseDescriptors+readerDescriptors*readers+others))
	each := int64(connectionMemory)
	if o.tls != nil {
		each += tlsMemory
	}
	memory := (o.peakMemory() - o.memory - baseMemory) / each
	return int(min(int64(o.maxConnections), descriptors, memory)), nil
}

// limitMemory makes the garbage collector rare while there is room, and eager as the process nears
// peakMemory. GOGC and GOMEMLIMIT take precedence.
func limitMemory(o *options, env func(string) string) {
	if env("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(o.peakMemory() - programMemory)
	}
}
