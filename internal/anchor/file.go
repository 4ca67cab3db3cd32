package anchor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"riffle/internal/ledger"
	"riffle/internal/system"
)

// A file is a path. Its folder must exist, as a volume that is not mounted must not look empty.
type file string

// Read implements holder. The checkpoint itself is the tag.
func (f file) Read(context.Context) (note []byte, tag string, err error) {
	in, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(string(f))); err != nil {
			return nil, "", err
		}
		return nil, "", nil
	} else if err != nil {
		return nil, "", err
	}
	note, err = io.ReadAll(io.LimitReader(in, maxNote))
	if err == nil && len(note) == 0 {
		err = errEmpty
	}
	return note, string(note), errors.Join(err, in.Close())
}

// Replace implements holder. A locked file beside this one excludes other processes.
func (f file) Replace(ctx context.Context, note []byte, tag string) (err error) {
	lock, err := os.OpenFile(string(f)+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := system.Lock(lock); err != nil {
		return ErrReplaced
	}
	if _, have, err := f.Read(ctx); err != nil || have != tag {
		return errors.Join(err, ErrReplaced)
	}
	return ledger.ReplaceFile(string(f), note)
}
