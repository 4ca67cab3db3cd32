package service

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPU returns the CPU time that the process and those that work for it have spent, or 0 where the system does not say.
func (p *Process) CPU() time.Duration {
	total := cpu(p.cmd.Process.Pid)
	if p.workers != nil {
		for _, pid := range p.workers() {
			total += cpu(pid)
		}
	}
	return total
}

// Memory returns the resident bytes of the process and the peak since [Process.ResetPeak], or 0 where the system does not say.
func (p *Process) Memory() (resident, peak int64) { return memory(p.cmd.Process.Pid) }

// ResetPeak makes the peak of [Process.Memory] start anew. Where the system refuses, it stays that of the process's life.
func (p *Process) ResetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// cpu reads utime and stime of /proc/PID/stat, in ticks of 10 ms (proc_pid_stat(5)).
func cpu(pid int) time.Duration {
	fields := stat(pid)
	const utime, stime = 14 - 3, 15 - 3 // stat starts with field 3
	if len(fields) <= stime {
		return 0
	}
	user, _ := strconv.ParseInt(fields[utime], 10, 64)
	system, _ := strconv.ParseInt(fields[stime], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// stat returns the fields of /proc/PID/stat after the name of the program, which may itself contain spaces.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// children returns the processes whose parent is pid.
func children(pid int) (found []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields := stat(child); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			found = append(found, child)
		}
	}
	return found
}

func memory(pid int) (resident, peak int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	return kilobytes(string(text), "VmRSS:"), kilobytes(string(text), "VmHWM:")
}

// kilobytes returns a line of /proc/PID/status in bytes, or 0 if it is missing.
func kilobytes(status, name string) int64 {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}
