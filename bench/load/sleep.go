package load

import (
	"runtime"
	"syscall"
	"time"
)

// sleeper returns a sleep for the calling goroutine, which it locks to its thread until done is
// called. It sleeps in the kernel, because Go's timers wake an idle program up to a millisecond
// late, which would count as the server's latency.
func sleeper() (sleep func(time.Duration), done func()) {
	runtime.LockOSThread()
	const timerSlack = 29 // PR_SET_TIMERSLACK of prctl(2), in ns; the default is 50 µs
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, timerSlack, 1, 0)
	sleep = func(d time.Duration) {
		if d > 0 {
			t := syscall.NsecToTimespec(int64(d))
			_ = syscall.Nanosleep(&t, nil) // a signal may end it early, which does no harm
		}
	}
	return sleep, runtime.UnlockOSThread
}
