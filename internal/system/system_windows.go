package system

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Lock locks a byte far behind the end of the file, since Windows keeps others from reading what
// is locked.
func Lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{OffsetHigh: math.MaxInt32})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

func Unlock(f *os.File) error { return f.Close() }

func Inherit(_, _ string) error { return nil }

func SyncFolder(string) error { return nil }

func Permissions(string) fs.FileMode { return 0 }

func Replaced(_, _ fs.FileInfo) bool { return false }

func Writable(string) error { return nil }

func Free(path string) (bytes uint64, ok bool) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, false
	}
	return bytes, windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil) == nil
}

func OpenFiles() (int64, error) { return 1 << 30, nil }

func NoCores() error { return nil }

func Number(info fs.FileInfo) int64 {
	return info.Sys().(*syscall.Win32FileAttributeData).CreationTime.Nanoseconds() //nolint:forcetypeassert // of the same package
}

func Unread(syscall.Conn) bool { return false }

func Group(c *exec.Cmd) (kill func() error) { return func() error { return c.Process.Kill() } }
