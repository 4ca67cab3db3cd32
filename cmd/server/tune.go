package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heap is how far the heap may grow before garbage is collected, unless two thirds of that are in use. Short requests alone have
// some 5 MB in use. Go's own measure, twice what is in use, would have it collect fifty times a second under load; several
// times what is in use would be much where long requests have a lot of it.
const heap = 32 << 20

// least is the garbage that is always allowed, in percent of what is in use.
const least = 50

// collectLess sets how much garbage there may be, as long as it serves. What keeps the process small when long requests make
// a lot of it is a limit of its memory. GOGC and GOMEMLIMIT win where they are set.
func collectLess(o *options, env func(string) string) {
	if env("GOGC") == "" {
		debug.SetGCPercent(garbage(0))
		afterCollections(func() { debug.SetGCPercent(garbage(inUse())) })
	}
	if env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(2*o.memory + 256<<20)
	}
}

// spareProcessor has Go run on one processor more than there are. SQLite's calls of the system do not tell Go that they wait, so
// the one that commits stands still for each fsync, which on two is half of them. GOMAXPROCS wins where it is set.
func spareProcessor(env func(string) string) {
	if env("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// forgetStart collects what the start has left: the migrations' pools alone have 12 MB, which go at the second collection.
func forgetStart() {
	runtime.GC()
	runtime.GC()
}

// garbage returns how much garbage there may be beside what is in use, in percent of that, for the heap to be collected at its
// size. Go takes 4 MiB for what is in use where it is less.
func garbage(inUse uint64) int {
	inUse = max(inUse, 4<<20)
	return max(least, (heap-int(inUse))*100/int(inUse))
}

// inUse returns how many bytes the last collection found in use.
func inUse() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// afterCollections calls do after each collection from now on, which is when something is found that nobody refers to.
func afterCollections(do func()) {
	unused := &struct{ do func() }{do}
	runtime.AddCleanup(unused, func(do func()) {
		do()
		afterCollections(do)
	}, do)
}
