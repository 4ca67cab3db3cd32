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
)

// A checkpointFile is a file outside of the store with the last checkpoint that this process signed
// or published. It detects a store that was rolled back, by an old backup for example.
//
// The file is overwritten before any caller gets an answer that the checkpoint covers, and it is
// always a whole checkpoint: a note is shorter than a disk sector and never gets shorter. It is
// up to date after the process is killed; against power loss it is synced about once a second, so
// that callers need not wait.
type checkpointFile struct {
	mu    sync.Mutex
	file  *os.File
	files OpenFiles // the file and its folder
	size  uint64    // of the checkpoint that was written last
	dirty bool      // written since the last sync
}

// openCheckpointFile opens or makes the file, locks it for this process, and returns its content.
func openCheckpointFile(path string) (*checkpointFile, []byte, error) {
	f, err := LockFile(path)
	if err != nil {
		return nil, nil, err
	}
	c := &checkpointFile{file: f}
	text, err := io.ReadAll(f)
	if err == nil {
		err = SyncFolder(path)
	}
	if err == nil {
		c.files, err = NewOpenFiles(path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return c, text, nil
}

// write replaces the checkpoint, unless that of a larger tree was written before.
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

// replace replaces the content by a checkpoint that may be shorter.
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
	if err := c.file.Sync(); err != nil { // not under the lock, so that writes need not wait
		return fmt.Errorf("syncing the checkpoint file: %w", err)
	}
	return nil
}

func (c *checkpointFile) close() error { return errors.Join(c.sync(), c.file.Close()) }

// CheckRollback checks that the store has every record of the anchor. It returns [ErrCorrupt] if
// not, and another error for an anchor that the key did not sign. Errors say what the operator can
// do.
func CheckRollback(ctx context.Context, store Store, verifier note.Verifier, anchor Anchor) error {
	if len(anchor.Note) == 0 {
		return nil
	}
	last, err := proof.OpenCheckpoint(anchor.Note, verifier)
	if errors.Is(err, proof.ErrSignature) {
		return fmt.Errorf("%s is of another log, or was changed: %w. Start with the key and the store that belong to this data folder", anchor.Source, err)
	} else if err != nil {
		return fmt.Errorf("%s cannot be read: %w. It protects against starting with an older backup of the store. "+
			"Find out elsewhere how many records the log must have (a monitor, a replica, a proof); "+
			"only if the store has them, and `riffle log check` finds nothing wrong, remove the file and start again", anchor.Source, err)
	}
	head, err := store.Head(ctx)
	if err != nil {
		return err
	}
	if head.Size < last.Size || len(head.Checkpoint) == 0 {
		return fmt.Errorf("%w: the store has %d records, and %s is a signed checkpoint of %d: the store lost records, or comes from an older backup. "+
			"Put the newer store back. To go on without those records would fork the log; if they are lost, `riffle log fork` begins a new one with a new key, "+
			"in a data folder and a store of its own; keep this one for its proofs", ErrCorrupt, head.Size, anchor.Source, last.Size)
	}
	_, c, err := openHead(head, verifier)
	if err != nil {
		return err
	}
	if err := extends(ctx, store, c, last); errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("%w. The store and %s are of two histories: records were changed, or the log was forked. Put the right store back", err, anchor.Source)
	} else if err != nil {
		return err
	}
	return nil
}
