package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestGarbageFillsTheHeap(t *testing.T) {
	for inUse, want := range map[uint64]int{0: 700, 1 << 20: 700, 4 << 20: 700, 8 << 20: 300, 16 << 20: 100, 24 << 20: 50, 40 << 20: 50, 1 << 40: 50} {
		if got := garbage(inUse); got != want {
			t.Errorf("with %d bytes in use there may be %d%% of garbage, want %d%%", inUse, got, want)
		}
	}
}

// TestGarbageFollowsWhatIsInUse has more in use, and less again.
func TestGarbageFollowsWhatIsInUse(t *testing.T) {
	collectLess(&options{memory: 64 << 20}, func(string) string { return "" })
	defer debug.SetMemoryLimit(math.MaxInt64)
	allowed := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	await := func(what string, is func(uint64) bool) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); !is(allowed()); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: there may be %d%% of garbage", what, allowed())
			}
			runtime.GC()
		}
	}
	await("little in use", func(percent uint64) bool { return percent > 300 })
	much := make([]byte, 100<<20)
	await("much in use", func(percent uint64) bool { return percent == least })
	runtime.KeepAlive(much)
	await("little again", func(percent uint64) bool { return percent > 300 })
}
