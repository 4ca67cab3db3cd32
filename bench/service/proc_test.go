package service

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestOwnProcess reads what the system says of this process.
func TestOwnProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	pid := os.Getpid()
	before := cpu(pid)
	for began := time.Now(); cpu(pid)-before < 50*time.Millisecond; {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the CPU time of this loop does not count")
		}
	}
	if resident, peak := memory(pid); resident < 1<<20 || peak < resident/2 {
		t.Errorf("%d bytes resident, at most %d", resident, peak)
	}
	if !slices.Contains(children(os.Getppid()), pid) {
		t.Error("this process is not among the children of its parent")
	}
	if got := cpu(-1); got != 0 {
		t.Errorf("a process that does not exist has spent %s", got)
	}
}
