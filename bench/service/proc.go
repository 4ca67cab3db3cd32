package service

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// CPU returns the CPU time that the process and those that work for it have spent, in ticks of 10
// ms, or 0 where the system does not say.
func (p *Process) CPU() time.Duration {
	total := cpu(p.cmd.Process.Pid)
	if p.workers != nil {
		for _, pid := range p.workers() {
			total += cpu(pid)
		}
	}
	return total
}

// Memory returns the resident bytes of the process and the peak since [Process.ResetPeak], or 0
// where the system does not say.
func (p *Process) Memory() (resident, peak int64) { return memory(p.cmd.Process.Pid) }

// ResetPeak makes the peak of [Process.Memory] start anew. Where the system refuses, it stays that
// of the process's life.
func (p *Process) ResetPeak() {
	const peakOfResident = "5" // proc_pid_clear_refs(5)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte(peakOfResident), 0)
}

func cpu(pid int) time.Duration {
	stat := statOf(pid)
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// statOf returns /proc/PID/stat, which is zero where the system does not say.
func statOf(pid int) procfs.ProcStat {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}
	}
	stat, err := process.Stat()
	if err != nil {
		return procfs.ProcStat{}
	}
	return stat
}

// children returns the processes whose parent is pid.
func children(pid int) (found []int) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	for _, p := range all {
		if statOf(p.PID).PPID == pid {
			found = append(found, p.PID)
		}
	}
	return found
}

func memory(pid int) (resident, peak int64) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0
	}
	status, err := process.NewStatus()
	if err != nil {
		return 0, 0
	}
	return int64(status.VmRSS), int64(status.VmHWM)
}
