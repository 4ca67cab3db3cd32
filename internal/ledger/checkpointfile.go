package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger/proof"
	"riffle/internal/system"
)

// A checkpointFile holds, outside of the store, the last checkpoint that this process signed or
// published. It detects a store that was rolled back, for example by an old backup.
//
// The file is overwritten before any caller gets a response that the checkpoint covers. It is
// always one whole checkpoint: a note is shorter than a disk sector and never gets shorter. A
// killed process leaves it up to date; for power loss it is fsynced about once a second, so that
// callers need not wait.
type checkpointFile struct {
	mu    sync.Mutex
	file  *os.File
	files OpenFiles // the file and its folder
	size  uint64    // size of the last written checkpoint
	dirty bool      // written since the last fsync
}

// openCheckpointFile opens or creates the file, locks it for this process, and returns its content.
func openCheckpointFile(path string) (*checkpointFile, []byte, error) {
	f, err := LockFile(path)
	if err != nil {
		return nil, nil, err
	}
	c := &checkpointFile{file: f}
	text, err := io.ReadAll(f)
	if err == nil {
		err = system.SyncFolder(path)
	}
	if err == nil {
		c.files, err = NewOpenFiles(path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, system.Unlock(f))
	}
	return c, text, nil
}

// write overwrites the checkpoint, unless a larger tree's was written before.
func (c *checkpointFile) write(size uint64, checkpoint []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if size < c.size {
		return nil
	}
	c.size, c.dirty = size, true
	if _, err := c.file.WriteAt(checkpoint, 0); err != nil {
		return fmt.Errorf("writing the checkpoint file: %w", err)
	}
	return nil
}

// replace overwrites the file with a checkpoint that may be shorter.
func (c *checkpointFile) replace(checkpoint []byte) error {
	return errors.Join(c.write(c.size, checkpoint), c.file.Truncate(int64(len(checkpoint))))
}

func (c *checkpointFile) sync() error {
	c.mu.Lock()
	dirty := c.dirty
	c.dirty = false
	c.mu.Unlock()
	if !dirty {
		return nil
	}
	if err := c.file.Sync(); err != nil { // without the lock, so that writes need not wait
		return fmt.Errorf("syncing the checkpoint file: %w", err)
	}
	return nil
}

func (c *checkpointFile) close() error { return errors.Join(c.sync(), system.Unlock(c.file)) }

// CheckRollback returns [ErrCorrupt] unless the store has every record of the anchor, and another
// error if the key did not sign the anchor. Errors tell the operator what to do.
func CheckRollback(ctx context.Context, store Reader, verifier note.Verifier, anchor Anchor) error {
	if len(anchor.Note) == 0 {
		return nil
	}
	last, err := proof.OpenCheckpoint(anchor.Note, verifier)
	if errors.Is(err, proof.ErrSignature) {
		return fmt.Errorf("%s is of another log, or was changed: %w. Start with the key and the store that belong to this data folder", anchor.Source, err)
	} else if err != nil {
		return fmt.Errorf("%s cannot be read: %w. It protects against starting with an older backup of the store. "+
			"Find out elsewhere how many records the log must have (a monitor, a replica, a proof); "+
			"only if the store has them, and `riffle log check` finds nothing wrong, remove it and start again (an anchor with --anchor-create)", anchor.Source, err)
	}
	head, err := store.Head(ctx)
	if err != nil {
		return err
	}
	_, c, err := openHead(head, verifier)
	if errors.Is(err, errUnfinished) {
		return err
	}
	if head.Size < last.Size || len(head.Checkpoint) == 0 {
		return fmt.Errorf("%w: the store has %d records, and %s is a signed checkpoint of %d: the store lost records, or comes from an older backup. "+
			"Put the newer store back. To go on without those records would fork the log; if they are lost, begin a new log, with a new key, "+
			"in a data folder and a store of its own, and keep this one for its proofs", ErrCorrupt, head.Size, anchor.Source, last.Size)
	}
	if err != nil {
		return err
	}
	if err = extends(ctx, store, c, last); errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("%w. The store and %s are of two histories: records were changed, or the log was forked. Put the right store back", err, anchor.Source)
	}
	return err
}
