package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"riffle/internal/ledger"
)

// acquire takes the lock that lets one process write. It is flock(2) and not the file's existence, so that a killed
// process leaves nothing behind that an operator would have to remove.
func acquire(path string) (*os.File, error) {
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
