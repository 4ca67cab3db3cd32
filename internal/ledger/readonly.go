package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/semaphore"

	"riffle/internal/ledger/proof"
)

// OpenReadOnly opens the log that a store has now, to read it: nothing is written to the store or to
// the folder, and [Log.Append] fails with [ErrReadOnly]. Key, checkpoint file, anchors and the last
// records are checked as by [Open]. [Log.Close] also closes the store; after an error the caller must
// close it.
//
// A look-up that leads to a record which another process appended later fails with [ErrGrown].
func OpenReadOnly(ctx context.Context, store Reader, options Options) (*Log, error) {
	options.setDefaults()
	path := filepath.Join(options.Folder, CheckpointName)
	head, err := store.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the head of the log: %w", err)
	}
	if err := mustExist(len(head.Checkpoint) > 0, path); err != nil {
		return nil, err
	}
	l := newView(store, head, DefaultReaders()-reservedReaders)
	l.options = options
	last, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the checkpoint file: %w", err)
	}
	if l.key, err = l.loadKey(true); err != nil {
		return nil, err
	}
	for _, a := range append([]Anchor{{Source: path, Note: last}}, options.Anchors...) {
		if err := CheckRollback(ctx, store, l.key.Verifier, a); err != nil {
			return nil, err
		}
	}
	c, err := l.openHead(head)
	if err != nil {
		return nil, err
	}
	if l.vault, err = l.openVault(head); err != nil {
		return nil, err
	}
	if err := l.readTail(ctx, c); err != nil {
		return nil, err
	}
	l.published.Store(&published{Checkpoint: c, text: head.Checkpoint})
	return l, nil
}

// View returns the log that a store has now, to prove its records with the public half of its key. It
// is opened like [OpenReadOnly], without a folder, and checks the signature alone. The caller closes
// the store, and does not close the log.
func View(ctx context.Context, store Reader, key *SigningKey, vault *Vault) (*Log, error) {
	head, err := store.Head(ctx)
	if err == nil && len(head.Checkpoint) == 0 { // it is just beginning
		err = ErrNoLog
	}
	_, c, wrong := openHead(head, key.Verifier)
	l := newView(store, head, 1)
	l.key, l.vault = key, vault
	l.published.Store(&published{Checkpoint: c, text: head.Checkpoint})
	return l, cmp.Or(err, wrong)
}

// newView returns a log with a head that stays, whose store serves a number of concurrent reads.
func newView(store Reader, head Head, slots int) *Log {
	l := newLog(store, slots)
	l.readOnly = true
	l.durable.Store(&head)
	return l
}

// newLog returns a log of a store that serves a number of concurrent reads to callers.
func newLog(store Reader, slots int) *Log {
	return &Log{
		store:         store,
		readers:       &readers{slots: semaphore.NewWeighted(int64(max(1, slots)))},
		queue:         newBatch(),
		wake:          make(chan struct{}, 1),
		failed:        make(chan struct{}),
		done:          make(chan struct{}),
		nextPublished: make(chan struct{}),
	}
}

// openHead sets the tree of a head that the log's key signed, and returns its checkpoint.
func (l *Log) openHead(head Head) (c proof.Checkpoint, err error) {
	l.tree, c, err = openHead(head, l.key.Verifier)
	if errors.Is(err, proof.ErrSignature) {
		err = fmt.Errorf("the key file %s has the key %s, and the store is of another log: %w. Start with the key that the store was written with",
			l.options.KeyFile, l.key.Name(), err)
	}
	return c, err
}
