package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"riffle/internal/system"
)

// LockFile opens or creates the file at path and locks it for this process, or returns [ErrInUse].
// The kernel releases the lock when the process ends, and the file may stay.
func LockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = system.Lock(f); errors.Is(err, system.ErrLocked) {
		err = fmt.Errorf("%w (it holds %s): stop it, or give this one a data folder of its own", ErrInUse, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReplaceFile replaces a file, whose owner and permissions stay, or the one that a link leads to. A new
// one can only be read by its owner. It is durable, and never there in part.
func ReplaceFile(path string, text []byte) error {
	file, _ := filepath.EvalSymlinks(path) // empty for a new one
	return writeFile(cmp.Or(file, path), text, func(draft, path string) error {
		return errors.Join(system.Inherit(draft, path), os.Rename(draft, path))
	})
}

// writeFile writes a draft in the same folder, calls put to have it take the path, and fsyncs both.
func writeFile(path string, text []byte, put func(draft, path string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)) // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = put(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return system.SyncFolder(path)
}

// OpenFiles are files that this process has open, and their folders. A process can still write an
// open file whose name is gone or leads to another file, and would lose the data.
type OpenFiles []openFile

type openFile struct {
	path     string
	info     fs.FileInfo // device and inode of the open file
	writable bool        // when opened
}

// NewOpenFiles returns the files at the paths, which the process must have open, and their folders.
// It opens nothing: closing a second descriptor of a file would release SQLite's locks.
func NewOpenFiles(paths ...string) (OpenFiles, error) {
	names := slices.Clone(paths)
	for _, path := range paths {
		if folder := filepath.Dir(path); !slices.Contains(names, folder) {
			names = append(names, folder)
		}
	}
	var files OpenFiles
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		files = append(files, openFile{name, info, writable(name, info) == nil})
	}
	return files, nil
}

// Check returns an error if a name is gone or leads to another file, or if a file is no longer
// writable.
func (o OpenFiles) Check() error {
	for _, f := range o {
		info, err := os.Stat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s was deleted or moved while the service had it open. %s", f.path, restoreHint)
		case err != nil:
			return fmt.Errorf("%s can no longer be read: %w", f.path, err)
		case system.Replaced(info, f.info):
			return fmt.Errorf("%s was replaced while the service had it open. %s", f.path, restoreHint)
		}
		if err := writable(f.path, info); f.writable && err != nil {
			return fmt.Errorf("%s was made read-only while the service had it open (%w). Make it writable, and start again", f.path, err)
		}
	}
	return nil
}

// restoreHint tells the operator how to restore a file.
const restoreHint = "Put the folder back as it was, or restore a backup, before you start again; " +
	"with --create=never the service starts only if the log is there"

// writable returns an error if the file must not be written. It checks the mode because access(2)
// ignores it for the superuser.
func writable(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("it has mode %#o", info.Mode().Perm())
	}
	return system.Writable(path)
}

// guardInterval is the interval at which the log checks its files.
const guardInterval = time.Second

// guardFiles breaks the log if a file of the store or the checkpoint file was deleted, replaced or
// made read-only, since later records might be lost. It ends with the writer.
func (l *Log) guardFiles() {
	for {
		select {
		case <-l.done:
			return
		case <-time.After(guardInterval):
		}
		if err := l.checkFiles(); err != nil {
			l.fail(err)
			return
		}
	}
}

func (l *Log) checkFiles() error { return cmp.Or(l.writer.CheckFiles(), l.checkpoint.files.Check()) }
