package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/archive"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/proof"
	"riffle/internal/ledger/sqlite"
)

// A transfer copies a log from one store to another, and checks what it has written.
type transfer struct {
	*console
	from     ledger.Reader
	verifier note.Verifier
	checker  journal.Checker
	source   *logSource
	moving   ledger.Store // from, if it is to take no more records; otherwise nil
	ahead    bool         // see ledger.Copy
	fresh    bool         // the target must have no log that is finished
}

// newTransfer returns a transfer from an open store.
func newTransfer(ctx context.Context, c *console, s *logSource, from ledger.Reader) (*transfer, error) {
	verifier, err := s.readVerifier()
	if err != nil {
		return nil, err
	}
	head, err := from.Head(ctx)
	if err != nil {
		return nil, err
	}
	keys := ledger.SeedKeys{make([]byte, ledger.SeedKeySize)} // any key, for a store without encrypted seeds
	if len(head.SeedKey) > 0 {
		if keys, err = s.seedKeys(""); err != nil {
			return nil, err
		}
	}
	vault, err := ledger.OpenVault(head, keys)
	if err != nil {
		return nil, fmt.Errorf("%w: use --seed-key to name the key of this store", err)
	}
	t := &transfer{console: c, from: from, source: s, verifier: verifier, checker: journal.Checker{Decrypt: vault.Decrypt}}
	if a, ok := from.(*archive.Reader); ok && a.WithoutSeeds() {
		t.checker.Decrypt = nil
	}
	return t, nil
}

// run brings a store up to date.
func (t *transfer) run(ctx context.Context, to ledger.Store) error {
	before, err := to.Head(ctx)
	if err != nil {
		return err
	}
	c := ledger.Copy{Verifier: t.verifier, Visit: t.checker.Visit, Ahead: t.ahead, Progress: t.showing("records copied", before.Size)}
	err = c.Run(ctx, t.from, to)
	t.clear()
	if errors.Is(err, proof.ErrSignature) {
		return fmt.Errorf("the log is not signed with the key of %s: use --key to name its key", t.verifier.Name())
	} else if errors.Is(err, ledger.ErrCorrupt) {
		err = fmt.Errorf("the log was copied, and %w: %w", errFindings, err)
	}
	return err
}

// check checks the records of a store after those that were there before, and prints the outcome.
func (t *transfer) check(ctx context.Context, store ledger.Reader, before ledger.CheckState) error {
	result, err := ledger.Check{Verifier: t.verifier, Visit: t.checker.Visit, Except: t.checker.Unchecked(), From: before, Progress: t.showing("records checked", before.Size)}.Run(ctx, store)
	t.clear()
	if err != nil {
		return err
	}
	for _, finding := range result.Findings {
		_, _ = fmt.Fprintf(t.out, "records      WRONG: %s\n", finding)
	}
	if len(result.Findings) > 0 {
		return fmt.Errorf("the copy was checked, and %w", errFindings)
	}
	c := result.Checkpoint
	_, err = fmt.Fprintf(t.out, "records      all %d match the signed root, and are found by id, reference and claim; %d are new\n\norigin       %s\nsize         %d\nroot         %s\n",
		c.Size, c.Size-before.Size, c.Origin, c.Size, c.Root)
	return err
}

// stateOf returns the state of a store that was checked, or of an empty one if there is no log or its
// copy is not finished.
func (t *transfer) stateOf(ctx context.Context, store ledger.Reader) (s ledger.CheckState, finished bool, err error) {
	head, claims, err := store.Snapshot(ctx, "")
	if err != nil {
		return s, false, err
	}
	if c, err := proof.OpenCheckpoint(head.Checkpoint, t.verifier); err != nil || c.Size != head.Size {
		return s, false, nil //nolint:nilerr // the copy finds out
	}
	return ledger.CheckState{Size: head.Size, Edge: head.Edge, Claims: claims}, true, nil
}

// openTarget opens or creates a store to write to: a database at a URL, or a file in a folder.
func openTarget(ctx context.Context, folder, location string) (ledger.Store, string, error) {
	if location != "" {
		store, err := postgres.Open(ctx, location)
		return store, nameOf(location), err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, "", fmt.Errorf("the folder of the copy: %w", err)
	}
	name := filepath.Join(folder, "riffle.db")
	store, err := sqlite.Open(ctx, name)
	return store, name, err
}

// copyKeys copies the keys in a data folder to another, and prints which are there.
func (t *transfer) copyKeys(from, to string) error {
	for _, name := range []string{ledger.KeyName, ledger.SeedKeyName} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			_, _ = fmt.Fprintf(t.out, "%-12s is not in %s, so it is not copied: keep it elsewhere\n", name, from)
			continue
		} else if err != nil {
			return fmt.Errorf("reading a key: %w", err)
		}
		path := filepath.Join(to, name)
		have, err := os.ReadFile(path)
		if name == ledger.SeedKeyName { // what was copied before may be under a key that is no more in use
			text = allKeys(text, have)
		}
		switch {
		case err == nil && name == ledger.SeedKeyName && !bytes.Equal(have, text):
		case err == nil && !bytes.Equal(have, text):
			return fmt.Errorf("%s is the key of another log", path)
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("reading a key: %w", err)
		}
		if err := replaceFile(path, text); err != nil {
			return fmt.Errorf("copying a key: %w", err)
		}
	}
	return nil
}

// allKeys returns the text of seed keys, with those in another text that it lacks at the end.
func allKeys(text, others []byte) []byte {
	for line := range bytes.Lines(others) {
		if !bytes.Contains(text, bytes.TrimSpace(line)) {
			text = append(text, line...)
		}
	}
	return text
}

// saveCheckpoint writes the checkpoint of a store into a data folder.
func saveCheckpoint(ctx context.Context, store ledger.Reader, folder string) error {
	head, err := store.Head(ctx)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(folder, ledger.CheckpointName), head.Checkpoint)
}

// replaceFile replaces a file that only its owner can read. It is durable, and never in part.
func replaceFile(path string, text []byte) error {
	next, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	err = errors.Join(err, next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return ledger.SyncFolder(path)
}
