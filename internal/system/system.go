// Package system holds what operating systems do in different ways: locks of files, permissions,
// free space, open files, core files, groups of processes. Windows has some of it in a weaker form,
// which each function says.
package system

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrLocked is returned for a file that another process has locked.
var ErrLocked = errors.New("the file is locked by another process")

// ReadFile reads a regular file of at most a number of bytes. It waits for no named pipe, whose text
// may never come. Its errors do not name the file.
func ReadFile(path string, most int64) (text []byte, err error) {
	defer func() {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err
		}
	}()
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("this is not a regular file")
	}
	if text, err = io.ReadAll(io.LimitReader(f, most+1)); err == nil && int64(len(text)) > most {
		err = fmt.Errorf("the file has more than %d bytes", most)
	}
	return text, err
}
