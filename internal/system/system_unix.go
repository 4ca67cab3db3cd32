//go:build unix

package system

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Lock locks an open file for this process until [Unlock], or returns [ErrLocked]. It uses flock(2),
// LockFileEx on Windows.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Unlock unlocks and closes a file. Closing it is not enough: a program that is starting has all
// files of this process, and their locks, until it is loaded.
func Unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// SyncFolder fsyncs the folder of a file, so that the file's name survives power loss. Windows has
// no such call: there NTFS brings names back from its journal.
func SyncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Permissions returns the permission bits of a file, or 0 if it cannot be found, and on Windows,
// where the access list of the folder decides.
func Permissions(path string) fs.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}

// Inherit gives a draft the permissions of the file that it will replace, if that is there, and its
// owner, which only root may. Windows has the access list of the folder for that.
func Inherit(draft, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // it is new, and inherits nothing
	}
	by := info.Sys().(*syscall.Stat_t) //nolint:forcetypeassert // of the same package
	_ = os.Chown(draft, int(by.Uid), int(by.Gid))
	return os.Chmod(draft, info.Mode().Perm())
}

// Replaced reports whether an open file's name leads to another file now; never on Windows, where
// an open file can be neither deleted nor replaced.
func Replaced(now, opened fs.FileInfo) bool { return !os.SameFile(now, opened) }

// Writable returns an error if this process may not write the file; never on Windows.
func Writable(path string) error {
	const wOK = 2
	return syscall.Access(path, wOK)
}

// Free returns the bytes that this process may still write to the file system of a path; ok is
// false if it cannot tell.
func Free(path string) (bytes uint64, ok bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil || fs.Blocks == 0 {
		return 0, false
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), true //nolint:unconvert // signed on FreeBSD
}

// OpenFiles returns the number of files that this process may have open. Windows has no such limit.
func OpenFiles() (int64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return int64(min(limit.Cur, 1<<30)), err // it may be unlimited
}

// NoCores keeps the kernel from writing core files of this process, which have all of its memory;
// Windows has none.
func NoCores() error {
	var none, limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit)
	if err != nil || limit == none { // systemd's unit permits no change
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &none)
}

// Number returns what tells a file from another that has its name later: its inode, or the time at
// which it was made on Windows.
func Number(info fs.FileInfo) int64 {
	return int64(info.Sys().(*syscall.Stat_t).Ino) //nolint:forcetypeassert // of the same package
}

// Unread reports whether a connection has bytes that were not read yet; never on Windows.
func Unread(c syscall.Conn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = raw.Control(func(fd uintptr) {
		n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT) // negative for nothing
	})
	return err == nil && n > 0
}

// Group prepares a command to run as a group of processes, and returns the function that kills it
// and all that it started; on Windows the command alone.
func Group(c *exec.Cmd) (kill func() error) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
