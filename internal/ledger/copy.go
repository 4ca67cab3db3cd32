package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger/proof"
)

// A secondCopy is a file beside the store with the last checkpoint that was signed or published here, so that a store that
// has gone back in time shows. It is written in place, before anyone is told of the records of that checkpoint: a note is
// shorter than a sector of a disk and never gets shorter, so the file has always the one or the other. A process that is
// killed leaves it as it is; against power loss it is synced now and then, which costs the callers nothing.
type secondCopy struct {
	mu    sync.Mutex
	file  *os.File
	size  uint64 // of the checkpoint that was written last
	dirty bool
}

// openCopy opens the file or makes it, for this process alone, and returns what is in it.
func openCopy(path string) (*secondCopy, []byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another process uses this data folder (it holds %s): give every process a folder of its own", path)
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(f)
	}
	if err == nil {
		err = syncFolder(path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return &secondCopy{file: f}, text, nil
}

// write keeps the checkpoint of a size, unless that of a larger one is there already.
func (c *secondCopy) write(size uint64, checkpoint []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if size < c.size {
		return nil
	}
	c.size, c.dirty = size, true
	if _, err := c.file.WriteAt(checkpoint, 0); err != nil {
		return fmt.Errorf("writing the second copy of the checkpoint: %w", err)
	}
	return nil
}

func (c *secondCopy) sync() error {
	c.mu.Lock()
	dirty := c.dirty
	c.dirty = false
	c.mu.Unlock()
	if !dirty {
		return nil
	}
	if err := c.file.Sync(); err != nil { // writes go on meanwhile, and make it dirty again
		return fmt.Errorf("syncing the second copy of the checkpoint: %w", err)
	}
	return nil
}

func (c *secondCopy) close() error { return errors.Join(c.sync(), c.file.Close()) }

// CheckCopy checks that the store has not fallen behind the second copy of its checkpoint, nor parted from it. An empty
// text is a copy that was never written. The error says what to do.
func CheckCopy(ctx context.Context, store Store, verifier note.Verifier, path string, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	kept, err := proof.OpenCheckpoint(text, verifier)
	if errors.Is(err, proof.ErrSignature) {
		return fmt.Errorf("%s is of another log, or was changed: %w. Start with the key and the store that belong to this data folder", path, err)
	} else if err != nil {
		return fmt.Errorf("%s cannot be read: %w. It is what tells an older backup of the store from the store. Find out elsewhere how many records the log has to have "+
			"(a monitor, a replica, a proof); only if the store has them, and `riffle log check` finds nothing wrong, remove the file and start again", path, err)
	}
	head, err := store.Head(ctx)
	if err != nil {
		return err
	}
	if head.Size < kept.Size || len(head.Checkpoint) == 0 {
		return fmt.Errorf("%w: the store has %d records, and %s is a signed checkpoint of %d: the store lost records, or comes from an older backup. "+
			"Put the newer store back. To go on without those records would fork the log; if they are lost, begin a new log with a new key, "+
			"in a data folder and a store of its own, and keep this one for its proofs", ErrCorrupt, head.Size, path, kept.Size)
	}
	_, c, err := openHead(head, verifier)
	if err != nil {
		return err
	}
	if err := extends(ctx, store, c, kept); errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("%w. The store and %s are of two histories: records were changed, or the log was forked. Put the right store back", err, path)
	} else if err != nil {
		return err
	}
	return nil
}
