package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/proof"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/system"
)

// checkedName is the file in a copy's folder that tells how far its check came. See [checkState].
const checkedName = "checked"

// A transfer copies a log from one store to another, and checks what it has written.
type transfer struct {
	*console
	source   *logSource
	folder   string // of the target
	location string // of the target's database; empty for SQLite
	movedTo  string // the identity of the one store to which a moved source may be copied
	from     ledger.Inspector
	name     string // of from
	verifier note.Verifier
	key      string // of verifier
	vault    *ledger.Vault
	checker  journal.Checker
	moving   ledger.Store // from, if it is to take no more records; otherwise nil
	moved    bool         // from takes no more records already
	ahead    bool         // see ledger.Copy
	known    *known       // of a restore, whose target must have no other log; otherwise nil
	checked  checkState   // of the copy; the zero value for one that is checked whole
}

// An opener opens the store of a log to read it, such as openStore. It also returns its name.
type opener func(ctx context.Context, folder, location string) (ledger.Inspector, string, error)

// open opens the source; close it when done. A store that was moved is copied only to the one where
// it was moved to. One that lacks records of the checkpoint beside it is not copied.
func (t *transfer) open(ctx context.Context, open opener) (err error) {
	if t.from, t.name, err = open(ctx, t.source.folder(), t.source.Store); err != nil {
		return err
	}
	if err = t.prepare(ctx); err != nil {
		return errors.Join(err, t.from.Close())
	}
	return nil
}

// close closes the source, and adds what fails to an error.
func (t *transfer) close(err *error) { *err = errors.Join(*err, t.from.Close()) }

// copyLog copies the records of a store by do, which is called when the target has no other log, and
// the keys can be copied.
func (t *transfer) copyLog(ctx context.Context, open opener, do func(ctx context.Context, to ledger.Store) error) (err error) {
	if err := t.open(ctx, open); err != nil {
		return err
	}
	defer t.close(&err)
	if t.known != nil {
		if err := t.known.check(ctx, t); err != nil {
			return err
		}
	}
	if err := t.reserve(ctx); err != nil {
		return err
	}
	to, err := openTarget(ctx, t.folder, t.location)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	name := storeName(t.folder, t.location)
	_, _ = fmt.Fprintf(t.out, "store        %s\ncopy         %s\n", t.name, name)
	if err := inOrder(
		func() error { return t.accepts(ctx, to, name) },
		func() error { return errors.Join(t.copyKeys(false), t.resume(ctx, to)) },
	); err != nil {
		return err
	}
	return do(ctx, to)
}

// prepare reads the keys of the source, and checks that it may be copied to the target.
func (t *transfer) prepare(ctx context.Context) (err error) {
	t.verifier, t.key, err = t.source.readVerifier(ctx)
	head, errHead := t.from.Head(ctx)
	if err = cmp.Or(err, errHead); err != nil {
		return err
	}
	if t.vault, err = t.source.vault(ctx, head, ""); err != nil {
		return err
	}
	t.checker.Decrypt = t.vault.Decrypt
	if _, t.moved, err = t.from.Status(ctx); err == nil && t.moved {
		return t.source.checkMoved(t.movedTo)
	} else if err != nil {
		return err
	}
	return t.isNewest(ctx, t.from, t.source.folder())
}

// inOrder calls steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// run brings a store up to date, without the last record if ahead is set.
func (t *transfer) run(ctx context.Context, to ledger.Store, ahead bool) error {
	before, _ := to.Head(ctx) // an error is one of the copy, too
	c := ledger.Copy{Verifier: t.verifier, Visit: t.checker.Visit, Ahead: ahead, Progress: t.showing("records copied", before.Size)}
	err := c.Run(ctx, t.from, to)
	t.clear()
	return t.wrong(err)
}

// wrong returns an error that says what is wrong with the source if it does not hold what was
// signed.
func (t *transfer) wrong(err error) error {
	if errors.Is(err, proof.ErrSignature) {
		return fmt.Errorf("the log is not signed with the key of %s: use --key to name its key", t.verifier.Name())
	} else if errors.Is(err, ledger.ErrCorrupt) {
		return fmt.Errorf("%w: %w", errFindings, err)
	}
	return err
}

// resume reads how far an earlier check of the copy in a store came.
func (t *transfer) resume(ctx context.Context, store ledger.Inspector) error {
	name := identityOf(t.folder, t.location)
	if info, err := os.Stat(name); err == nil {
		name += fmt.Sprint(" ", system.Number(info))
	}
	t.checked = checkState{path: filepath.Join(t.folder, checkedName), Origin: t.verifier.Name() + " in " + name, Seeds: true}
	_ = t.checked.read() // of another copy, or damaged: the check begins anew
	head, err := store.Head(ctx)
	if t.checked.Size > head.Size { // the copy was made anew
		t.checked.CheckState = ledger.CheckState{}
	}
	return err
}

// check checks the records of a store that no earlier check of this copy has covered. It prints what is
// wrong.
func (t *transfer) check(ctx context.Context, store ledger.Inspector, ahead bool) (*ledger.CheckResult, error) {
	result, err := ledger.Check{
		Verifier: t.verifier, Visit: t.checker.Visit, Except: t.checker.Unchecked(), From: t.checked.CheckState, Ahead: ahead,
		Progress: t.showing("records checked", t.checked.Size), Save: t.checked.saveSometimes,
	}.Run(ctx, store)
	t.clear()
	if from := &t.checked.CheckState; (err != nil || len(result.Findings) > 0) && ctx.Err() == nil && (from.Size > 0 || from.Claims > 0) {
		*from = ledger.CheckState{} // the file may be damaged
		return t.check(ctx, store, ahead)
	}
	if err != nil {
		return nil, err
	}
	for _, finding := range result.Findings {
		_, _ = fmt.Fprintf(t.out, "records      WRONG: %s\n", finding)
	}
	if len(result.Findings) > 0 {
		return nil, fmt.Errorf("the copy was checked, and %w", errFindings)
	}
	t.checked.CheckState = result.State
	return result, t.checked.save(result.State)
}

// conclude checks the rest of a copy and prints the outcome, with the number of records that were
// checked before.
func (t *transfer) conclude(ctx context.Context, store ledger.Inspector, before uint64) error {
	result, err := t.check(ctx, store, false)
	if err != nil {
		return err
	}
	newest, err := newestOf(ctx, store, result.Checkpoint.Size)
	if err != nil {
		return err
	}
	_, err = io.WriteString(t.out, words("copied", map[string]any{"Checkpoint": result.Checkpoint, "Before": before, "New": result.Checkpoint.Size - before, "Newest": newest}))
	return err
}

// openTarget opens or creates a store to write to: a database at a URL, or a file in a folder.
func openTarget(ctx context.Context, folder, location string) (ledger.Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("the folder to write to: %w", err)
	}
	if location != "" {
		return postgres.Open(ctx, location)
	}
	return sqlite.Open(ctx, storeName(folder, location))
}

// identityOf returns what tells a store from others: the absolute path of its file, or its URL
// without the password.
func identityOf(folder, location string) string {
	if u, err := url.Parse(location); err == nil && location != "" {
		u.User = url.User(u.User.Username())
		return u.String()
	}
	path, _ := filepath.Abs(storeName(folder, ""))
	return path
}

// exists reports whether a file is there.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// storeName returns the name of a store for messages.
func storeName(folder, location string) string {
	if location != "" {
		return nameOf(location)
	}
	return filepath.Join(folder, "riffle.db")
}

// copyKeys copies the keys in the source's folder to the target's, and prints which are there.
// Without write it only looks whether it can: until the store has the log's head, a service that
// has the key would begin the log anew.
func (t *transfer) copyKeys(write bool) error {
	from := t.source.folder()
	for _, name := range []string{ledger.KeyName, ledger.SeedKeyName} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			if write {
				_, _ = fmt.Fprintf(t.out, "%-12s is not in %s, so it is not copied: keep it elsewhere\n", name, from)
			}
			continue
		} else if err != nil {
			return fmt.Errorf("reading a key: %w", err)
		}
		path := filepath.Join(t.folder, name)
		have, err := os.ReadFile(path)
		switch isThere, same := err == nil, bytes.Equal(have, text); {
		case !isThere && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("reading a key: %w", err)
		case isThere && !same:
			return fmt.Errorf("%s is the key of another log", path)
		case write && !isThere:
			if err := ledger.ReplaceFile(path, text); err != nil {
				return fmt.Errorf("copying a key: %w", err)
			}
		}
	}
	return nil
}

// saveCheckpoint writes the checkpoint of a store into the target's folder, unless a newer one is
// there.
func (t *transfer) saveCheckpoint(ctx context.Context, store ledger.Inspector) error {
	head, err := store.Head(ctx)
	if err = cmp.Or(t.isNewest(ctx, store, t.folder), err); err != nil {
		return err
	}
	return ledger.ReplaceFile(filepath.Join(t.folder, ledger.CheckpointName), head.Checkpoint)
}

// reserve gives a new folder the checkpoint of the source, before its store is made: until the
// records are there, a service that has the key would begin the log anew.
func (t *transfer) reserve(ctx context.Context) error {
	if exists(storeName(t.folder, "")) || exists(filepath.Join(t.folder, ledger.CheckpointName)) {
		return nil
	}
	if t.copyKeys(false) != nil {
		return nil //nolint:nilerr // the folder is of another log, which is reported once its store was looked at
	}
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return fmt.Errorf("the folder of the copy: %w", err)
	}
	return t.saveCheckpoint(ctx, t.from)
}

// isNewest returns an error if the checkpoint in a folder has records that a store lacks.
func (t *transfer) isNewest(ctx context.Context, store ledger.Inspector, folder string) error {
	path := filepath.Join(folder, ledger.CheckpointName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return t.continues(ctx, store, ledger.Anchor{Source: path, Note: text})
}

// continues returns an error if a store does not have the records of a checkpoint.
func (t *transfer) continues(ctx context.Context, store ledger.Inspector, checkpoint ledger.Anchor) error {
	err := ledger.CheckRollback(ctx, store, t.verifier, checkpoint)
	if errors.Is(err, ledger.ErrCorrupt) {
		return fmt.Errorf("%w: %w", errFindings, err)
	}
	return err
}

// hasCheckpoint reports whether there is a checkpoint in the target's folder.
func (t *transfer) hasCheckpoint() bool {
	info, err := os.Stat(filepath.Join(t.folder, ledger.CheckpointName))
	return err == nil && info.Size() > 0
}

// A checkState is the content of the file of --state. Whoever can change it can hide changes of the
// records that were checked before.
type checkState struct {
	Origin string `json:"origin"`
	Seeds  bool   `json:"seeds"` // whether seeds and keys were checked, too
	ledger.CheckState

	path string // empty for none
	last time.Time
}

// read reads the file if it exists.
func (s *checkState) read() error {
	text, err := os.ReadFile(s.path)
	was := checkState{path: s.path}
	switch {
	case s.path == "" || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reading how far a check came: %w", err)
	case json.Unmarshal(text, &was) != nil:
		return fmt.Errorf("%s does not tell how far a check came: remove it to begin anew", s.path)
	case was.Origin != s.Origin:
		return fmt.Errorf("%s is about the log %s, and this is %s", s.path, was.Origin, s.Origin)
	case was.Seeds != s.Seeds:
		return fmt.Errorf("%s is about checks with another --without-seeds", s.path)
	}
	*s = was
	return nil
}

// save replaces the file.
func (s *checkState) save(now ledger.CheckState) error {
	if s.path == "" {
		return nil
	}
	text, _ := json.Marshal(checkState{Origin: s.Origin, Seeds: s.Seeds, CheckState: now}) // texts, numbers and hashes
	if err := ledger.ReplaceFile(s.path, append(text, '\n')); err != nil {
		return fmt.Errorf("writing down how far the check came: %w", err)
	}
	return nil
}

// saveSometimes saves every few seconds. A failure shows at the end.
func (s *checkState) saveSometimes(now ledger.CheckState) {
	const every = 2 * time.Second
	if time.Since(s.last) >= every {
		s.last = time.Now()
		_ = s.save(now)
	}
}
