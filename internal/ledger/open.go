package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"riffle/internal/ledger/proof"
)

// Open starts the log on a store and takes the store over: the log's Close closes it. A store that does not add up is
// refused with [ErrCorrupt]: what its head says has to be signed by the key, its last records have to lead to the signed
// root, and it must not be behind the second copy of the checkpoint, nor part from it. The cost does not grow with the
// log. If the log has not begun, this begins it, with a key of its own unless there is one.
func Open(ctx context.Context, store Store, options Options) (*Log, error) {
	if options.KeyFile == "" {
		options.KeyFile = filepath.Join(options.Folder, KeyName)
	}
	if options.SeedKeyFile == "" {
		options.SeedKeyFile = filepath.Join(filepath.Dir(options.KeyFile), SeedKeyName)
	}
	if options.Queue == 0 {
		options.Queue = 4096
	}
	if options.Patience == 0 {
		options.Patience = 30 * time.Second
	}
	if options.Observe == nil {
		options.Observe = func(Commit) {}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Random == nil {
		options.Random = rand.Reader
	}
	l := &Log{
		store: store, options: options, news: make(chan struct{}), queue: newBatch(),
		wake: make(chan struct{}, 1), failed: make(chan struct{}), done: make(chan struct{}),
	}
	if err := l.open(ctx); err != nil {
		if l.copy != nil {
			err = errors.Join(err, l.copy.close())
		}
		return nil, err
	}
	go l.write()
	return l, nil
}

func (l *Log) open(ctx context.Context) error {
	head, err := l.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("reading the head of the log: %w", err)
	}
	begun := len(head.Checkpoint) > 0
	var kept []byte
	copyFile := filepath.Join(l.options.Folder, CopyName)
	if l.copy, kept, err = openCopy(copyFile); err != nil {
		return fmt.Errorf("opening the second copy of the checkpoint: %w", err)
	}
	if l.key, err = l.obtainKey(begun || len(kept) > 0); err != nil {
		return err
	}
	if err := CheckCopy(ctx, l.store, l.key.Verifier, copyFile, kept); err != nil {
		return err
	}
	if !begun {
		if l.vault, err = l.openVault(head); err != nil {
			return err
		}
		if head, err = l.begin(ctx, head); err != nil {
			return fmt.Errorf("beginning the log: %w", err)
		}
	}
	var c proof.Checkpoint
	if l.tree, c, err = openHead(head, l.key.Verifier); errors.Is(err, proof.ErrSignature) {
		return fmt.Errorf("the key file %s has the key %s, and the store is of another log: %w. Start with the key that the store was written with",
			l.options.KeyFile, l.key.Name(), err)
	} else if err != nil {
		return err
	}
	if l.vault, err = l.openVault(head); err != nil { // a log that another process has begun may have another key
		return err
	}
	l.committed.Store(l.tree.Size())
	if err := l.beginFollower(ctx, c); err != nil {
		return fmt.Errorf("checking the last records of the log: %w. Run `riffle log check` on a copy of the store to see what is wrong", err)
	}
	return nil
}

// obtainKey reads the key, and makes one for a log that has not begun.
func (l *Log) obtainKey(begun bool) (*Key, error) {
	o := &l.options
	key, err := readKey(o.KeyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && begun:
		return nil, fmt.Errorf("there is a log already, and its key is not there (%s): put the key back from a backup. No other key can continue the log", o.KeyFile)
	case errors.Is(err, fs.ErrNotExist):
		origin := o.Origin
		if origin == "" {
			var unique [8]byte
			if _, err := io.ReadFull(o.Random, unique[:]); err != nil {
				return nil, fmt.Errorf("reading randomness for a name of the log: %w", err)
			}
			origin = "riffle/" + hex.EncodeToString(unique[:])
		} else if err := CheckOrigin(origin); err != nil {
			return nil, err
		}
		if key, err = makeKey(o.KeyFile, origin, o.Random); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if o.Origin != "" && o.Origin != key.Name() {
		return nil, fmt.Errorf("the key in %s is of the log %s and not of %s: a log keeps its origin for ever", o.KeyFile, key.Name(), o.Origin)
	}
	return key, nil
}

// begin signs the first checkpoint, unless another process has done so in the meantime.
func (l *Log) begin(ctx context.Context, head Head) (Head, error) {
	tree, err := treeOf(head)
	if err != nil {
		return head, err
	}
	first, err := tree.Seal(nil, l.key)
	if err != nil {
		return head, err
	}
	l.vault.mark(&first.Head)
	if err := l.store.Append(ctx, first); err != nil && !errors.Is(err, ErrConflict) {
		return head, err
	}
	return l.store.Head(ctx)
}
