package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"riffle/internal/ledger"
)

// acquireLock locks the file at path for this process, or returns [ledger.ErrInUse]. It uses
// flock(2): the kernel releases the lock when the process ends, and the file may stay.
func acquireLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w (it holds %s): stop it, or give this one a data folder of its own", ledger.ErrInUse, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
