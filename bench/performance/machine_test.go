package main

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestWhatTheSystemTells(t *testing.T) {
	if got := cpuModel("processor\t: 0\nvendor_id\t: X\nmodel\t\t: 2\nmodel name\t: Some CPU: fast\nflags\t: a b\n"); got != "Some CPU: fast" {
		t.Errorf("the model is %q", got)
	}
	if got := cpuModel(""); got != "" {
		t.Errorf("nothing has the model %q", got)
	}
	if got := loadAverages("0.10 0.20 0.30 1/100 42"); got != "0.10 0.20 0.30" {
		t.Errorf("the load is %q", got)
	}
	if got := loadAverages(""); got != "" {
		t.Errorf("no load is %q", got)
	}
	const status = "Name:\tserver\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\nThreads:\t9\n"
	if resident, peak := kilobytes(status, "VmRSS:"), kilobytes(status, "VmHWM:"); resident != 10<<20 || peak != 20<<20 {
		t.Errorf("%d bytes, at most %d", resident, peak)
	}
}

// TestOwnProcess reads what the system tells of this process.
func TestOwnProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc as it is read here")
	}
	pid := os.Getpid()
	before := cpu(pid)
	for began := time.Now(); cpu(pid)-before < 50*time.Millisecond; {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the time that this loop takes is not counted")
		}
	}
	if resident, peak := memory(pid); resident < 1<<20 || peak < resident/2 {
		t.Errorf("%d bytes, at most %d", resident, peak)
	}
	if !slices.Contains(children(os.Getppid()), pid) {
		t.Error("this process is not among the children of its parent")
	}
	if got := cpu(-1); got != 0 {
		t.Errorf("no process has spent %s", got)
	}
}
