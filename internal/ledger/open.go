package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// File names in the log's folder.
const (
	KeyName        = "log.key"
	SeedKeyName    = "seed.key"
	CheckpointName = "checkpoint" // the last checkpoint, to detect a rolled back store
)

// Options configures Open. Every zero field has the default given here.
type Options struct {
	Folder  string // has the checkpoint file; it must exist and belong to one process
	KeyFile string // the log's private key; default log.key in Folder, created with the log
	Origin  string // the log's name, for a new key; default riffle/ and random hex digits

	MustExist bool // return ErrNoLog unless the store has a log and Folder its checkpoint file

	// Anchors are checkpoints that the log must extend, besides the checkpoint file.
	Anchors []Anchor

	// ReadKey returns the key that the file of a name would have, KeyName or SeedKeyName. The default
	// reads KeyFile and SeedKeyFile.
	ReadKey func(name string) (string, error)

	SeedKey     SeedKey // encrypts sidecars; default: that in SeedKeyFile
	SeedKeyFile string  // default seed.key beside KeyFile, created unless the store has encrypted sidecars

	Queue    int           // queue capacity in entries; default 4,096
	Patience time.Duration // how long to retry an unreachable store; default 2 min
	Observe  func(Commit)  // called by the writer after each commit; may be nil
}

// An Anchor is a checkpoint from outside the store. It detects a store that was rolled back or
// forked.
type Anchor struct {
	Source string // names the origin in errors
	Note   []byte // the signed checkpoint; empty if none is known yet
}

// Origin returns the name of the log whose checkpoint the anchor is; empty if it has none.
func (a *Anchor) Origin() string {
	origin, _, _ := strings.Cut(string(a.Note), "\n")
	return origin
}

func (o *Options) setDefaults() {
	o.KeyFile = cmp.Or(o.KeyFile, filepath.Join(o.Folder, KeyName))
	o.SeedKeyFile = cmp.Or(o.SeedKeyFile, filepath.Join(filepath.Dir(o.KeyFile), SeedKeyName))
	o.Queue = cmp.Or(o.Queue, 4096)
	o.Patience = cmp.Or(o.Patience, 2*time.Minute)
	if o.Observe == nil {
		o.Observe = func(Commit) {}
	}
}

// Open opens a store's log or begins it. [Log.Close] also closes the store; after an error the
// caller must close it.
//
// Open returns [ErrCorrupt] unless the key signed the head, the last records lead to the signed
// root, and the store extends the checkpoint file and all anchors. Its cost does not grow with the
// log.
func Open(ctx context.Context, store Store, options Options) (*Log, error) {
	options.setDefaults()
	l := newLog(store, store.Readers()-reservedReaders)
	l.writer, l.options = store, options
	if err := l.open(ctx); err != nil {
		if l.checkpoint != nil {
			err = errors.Join(err, l.checkpoint.close())
		}
		return nil, err
	}
	go l.write()
	l.guards.Go(l.guardFiles)
	return l, nil
}

func (l *Log) open(ctx context.Context) error {
	head, err := l.confirm(ctx, time.Now().Add(l.options.Patience))
	if err != nil {
		return fmt.Errorf("reading the head of the log: %w", err)
	}
	begun := len(head.Checkpoint) > 0
	path := filepath.Join(l.options.Folder, CheckpointName)
	if l.options.MustExist {
		if err := mustExist(begun, path); err != nil {
			return err
		}
	}
	var last []byte
	if l.checkpoint, last, err = openCheckpointFile(path); err != nil {
		return fmt.Errorf("opening the checkpoint file: %w", err)
	}
	anchors := append([]Anchor{{Source: path, Note: last}}, l.options.Anchors...)
	exists := begun || slices.ContainsFunc(anchors, func(a Anchor) bool { return len(a.Note) > 0 })
	if l.key, err = l.loadKey(exists); err != nil {
		return err
	}
	for _, a := range anchors {
		if err := l.checkAnchor(ctx, a); err != nil {
			return err
		}
	}
	if !begun {
		if l.vault, err = l.openVault(head); err != nil {
			return err
		}
		if head, err = l.begin(ctx, head); err != nil {
			return fmt.Errorf("beginning the log: %w", err)
		}
	}
	c, err := l.openHead(head)
	if err != nil {
		return err
	}
	// Again for a new log: another process may have begun it with another key.
	if l.vault, err = l.openVault(head); err != nil {
		return err
	}
	l.durable.Store(&head)
	return l.startFollower(ctx, head, c)
}

// checkAnchor checks that the store extends the anchor. Otherwise it saves the anchor in the
// checkpoint file, so that the next start rejects the store too.
func (l *Log) checkAnchor(ctx context.Context, a Anchor) error {
	err := CheckRollback(ctx, l.store, l.key.Verifier, a)
	if errors.Is(err, ErrCorrupt) {
		err = errors.Join(err, l.checkpoint.replace(a.Note))
	}
	return err
}

// mustExist returns [ErrNoLog] unless the log has begun and the file at path has a checkpoint.
func mustExist(begun bool, path string) error {
	if !begun {
		return fmt.Errorf("%w: the store is empty", ErrNoLog)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return fmt.Errorf("%w: there is no checkpoint in %s, which shows that the store is not an older one", ErrNoLog, path)
	}
	return err
}

// loadKey reads the key file, or creates it if no log exists.
func (l *Log) loadKey(exists bool) (*SigningKey, error) {
	o := &l.options
	var key *SigningKey
	var err error
	if o.ReadKey != nil {
		text, err := o.ReadKey(KeyName)
		if err != nil {
			return nil, err
		}
		if key, err = ParseKey(strings.TrimSpace(text)); err != nil {
			return nil, fmt.Errorf("the key of the log: %w", err)
		}
	} else if key, err = readKey(o.KeyFile); errors.Is(err, fs.ErrNotExist) && exists {
		return nil, fmt.Errorf("there is a log already, and its key is not there (%s): put the key back from a backup. No other key can continue the log", o.KeyFile)
	} else if errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(o.KeyFile, cmp.Or(o.Origin, "riffle/"+strings.ReplaceAll(uuid.NewString(), "-", "")[:16]))
	}
	if err != nil {
		return nil, err
	}
	if o.Origin != "" && o.Origin != key.Name() {
		return nil, fmt.Errorf("the key in %s is of the log %s and not of %s: the origin of a log cannot change", o.KeyFile, key.Name(), o.Origin)
	}
	return key, nil
}

// openVault opens the vault of a store with this head. It creates a key file unless the options
// have a key or the store has encrypted sidecars.
func (l *Log) openVault(head Head) (*Vault, error) {
	o := &l.options
	key, source := o.SeedKey, "the one given"
	var err error
	if o.ReadKey != nil {
		var text string
		if text, err = o.ReadKey(SeedKeyName); err == nil {
			key, err = ParseSeedKey(text)
		}
	} else if key == nil {
		source = o.SeedKeyFile
		key, err = ReadSeedKey(source)
		if missing := errors.Is(err, fs.ErrNotExist); missing && len(head.SeedKey) == 0 {
			key, err = makeSeedKey(source)
		} else if missing {
			return nil, fmt.Errorf("the seeds of the store are encrypted, and their key is not there (%s): put it back from a backup. Without it no earlier shuffle can be checked or revealed", o.SeedKeyFile)
		}
	}
	if err != nil {
		return nil, err
	}
	v, err := OpenVault(head, key)
	if err != nil {
		return nil, fmt.Errorf("%w (%s). Start with the key that the store was written with", err, source)
	}
	return v, nil
}

// begin signs and appends the first checkpoint, unless another process was faster, and returns the
// new head.
func (l *Log) begin(ctx context.Context, head Head) (Head, error) {
	tree, err := treeOf(head)
	if err != nil {
		return head, err
	}
	first, err := tree.NextBatch(nil, l.key)
	if err != nil {
		return head, err
	}
	first.Head.SeedKey = l.vault.name
	if err := l.writer.Append(ctx, first); err != nil && !errors.Is(err, ErrConflict) {
		return head, err
	}
	return l.writer.Confirm(ctx)
}
