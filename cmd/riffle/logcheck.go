package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/dealer"
	"riffle/internal/ledger"
	"riffle/internal/ledger/proof"
)

// logCommands are the commands about a log.
type logCommands struct {
	Check logCheck `cmd:"" help:"Check a copy of a store, offline."`
}

// A logCheck checks a whole store: the engine's own structures, every record against the tree and the signed root, and
// the root against the second copy of the checkpoint. Its settings are those of the service, by the same names; an empty
// one is as good as none.
type logCheck struct {
	Data  string `placeholder:"DIR" env:"RIFFLE_DATA" help:"The data folder: checkpoint, log.key, and for SQLite riffle.db and riffle.db-wal if there is one. ./data unless given."`
	Store string `placeholder:"URL" env:"RIFFLE_STORE" help:"The PostgreSQL database that has the log, postgres://... SQLite in the data folder unless given."`
	Key   string `placeholder:"FILE" env:"RIFFLE_KEY_FILE" help:"The key of the log: its private key, of which only the public half is used, or the verifier key as GET /log/key answers it. log.key in the data folder unless given."`

	SeedKey      string `placeholder:"FILE" env:"RIFFLE_SEED_KEY_FILE" help:"The key that seeds are encrypted under; RIFFLE_SEED_KEY may have the key itself. seed.key beside the log's key unless given."`
	WithoutSeeds bool   `help:"Leave out what only the key of the seeds can tell."`
}

// Help is the longer text of riffle log check --help.
func (*logCheck) Help() string {
	return `Reads every record and hashes it anew, builds the tree anew, and compares it with the signed checkpoint; looks every record up in every way that the service does; and compares the store with the second copy of the checkpoint, which tells whether records are missing at its end. Each finding is printed; of the records, no more than 20. With the key that the seeds are encrypted under it also checks that every seed opens the commitment of its record.

Run it on a copy that can be written to: a file system snapshot, a restored backup, or what a stopped service has left. A store that a service is writing to is refused. No record is changed, but opening a store completes what SQLite has begun (riffle.db-wal is copied into riffle.db), brings the tables of an older version up to date, and makes the tables in a database that has none.

The exit code is 0 if the log adds up, 1 if it does not, and 2 if that could not be found out.`
}

// checkpointName is what the second copy of the checkpoint is called in what is printed.
const checkpointName = "second copy"

// Run checks the store and prints what it finds.
func (k *logCheck) Run(ctx context.Context, c *console) error {
	data := cmp.Or(k.Data, "./data")
	keyFile := cmp.Or(k.Key, filepath.Join(data, ledger.KeyName))
	verifier, err := readVerifier(keyFile)
	if err != nil {
		return err
	}
	copyFile := filepath.Join(data, ledger.CopyName)
	second, err := os.ReadFile(copyFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the second copy of the checkpoint: %w", err)
	}
	r := &logReport{console: c, ctx: ctx, verifier: verifier, copyFile: copyFile, second: second}
	r.seedKey = func() ([]byte, error) { return k.seedKey(filepath.Dir(keyFile), data) }
	r.step("key", "%s, %s", verifier.Name(), keyFile)
	return r.verdict(r.checkStore(data, k.Store))
}

// seedKey reads the key that seeds are encrypted under, from the first of the folders that has it; nil if seeds are to be
// left out.
func (k *logCheck) seedKey(folders ...string) ([]byte, error) {
	if k.WithoutSeeds {
		return nil, nil
	}
	if text := os.Getenv("RIFFLE_SEED_KEY"); text != "" && k.SeedKey == "" {
		key, err := ledger.ParseSeedKey(text)
		if err != nil {
			return nil, fmt.Errorf("RIFFLE_SEED_KEY: %w", err)
		}
		return key, nil
	}
	paths := []string{k.SeedKey}
	if k.SeedKey == "" {
		paths = paths[:0]
		for _, folder := range folders {
			paths = append(paths, filepath.Join(folder, ledger.SeedKeyName))
		}
	}
	for _, path := range paths {
		if key, err := ledger.ReadSeedKey(path); !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
	}
	return nil, fmt.Errorf("there is no key file %s for the seeds: name one with --seed-key, or leave the seeds out with --without-seeds", paths[len(paths)-1])
}

// readVerifier reads the key that checks checkpoints, from a file with the verifier key or with the private key.
func readVerifier(path string) (note.Verifier, error) {
	key, err := readVerifierKey(path)
	if err != nil {
		return nil, err
	}
	return note.NewVerifier(key)
}

// readVerifierKey reads the text of that key.
func readVerifierKey(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no key file %s: name one with --key. The verifier key that GET /log/key answers will do", path)
	} else if err != nil {
		return "", fmt.Errorf("reading the key file: %w", err)
	}
	text := strings.TrimSuffix(string(data), "\n")
	if _, err := note.NewVerifier(text); err == nil {
		return text, nil
	}
	key, err := ledger.ParseKey(text)
	if err != nil {
		return "", fmt.Errorf("the key file %s has neither the verifier key nor the private key of a log, or a damaged one", path)
	}
	return key.Public, nil
}

// A logReport is a check under way: it prints each step, and collects what is wrong.
type logReport struct {
	*console
	ctx        context.Context
	verifier   note.Verifier
	seedKey    func() ([]byte, error)
	copyFile   string
	second     []byte // what copyFile holds; nil if it is not there
	checkpoint proof.Checkpoint
	findings   []string
	err        error // of printing
}

// checkStore opens the store and goes through it.
func (r *logReport) checkStore(folder, location string) (err error) {
	store, name, err := openStore(r.ctx, folder, location)
	if damaged(err) {
		r.find("store", err.Error())
		return nil
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	r.step("store", "%s", name)
	return r.check(store, name)
}

func (r *logReport) check(store ledger.Store, name string) error {
	head, err := store.Head(r.ctx)
	if err == nil {
		err = r.rightLog(store, head, name)
	} else {
		err = r.unreadable(err) // what its content is to blame for is found with the records
	}
	if err != nil {
		return err
	}
	if err := r.checkEngine(store); err != nil {
		return err
	}
	if err := r.checkRecords(store, head); err != nil {
		return err
	}
	return r.checkSecond(store)
}

// rightLog returns an error for a store that is not the one to check: it has no log, and there is no sign that it had
// one, or its log is another one than the key's. A key that does not fit is told from a log that was tampered with by the
// checkpoints: here they are whole in both places, and both are of the other log.
func (r *logReport) rightLog(store ledger.Store, head ledger.Head, name string) error {
	if head.Size == 0 && len(head.Checkpoint) == 0 && len(r.second) == 0 {
		if records, err := store.Range(r.ctx, 0, 1); err == nil && len(records) == 0 {
			return fmt.Errorf("there is no log in %s", name)
		}
	}
	var unverified *note.UnverifiedNoteError
	if _, err := note.Open(head.Checkpoint, note.VerifierList()); !errors.As(err, &unverified) {
		return nil
	}
	for _, s := range unverified.Note.UnverifiedSigs {
		if s.Name == r.verifier.Name() && s.Hash == r.verifier.KeyHash() {
			return nil
		}
	}
	if _, err := proof.OpenCheckpoint(r.second, r.verifier); err == nil {
		return nil
	}
	origin, _, _ := strings.Cut(unverified.Note.Text, "\n")
	return fmt.Errorf("the key is of the log %s, and the store is of %s, signed with another key: name the key of this log with --key", r.verifier.Name(), origin)
}

// checkEngine has the engine check itself, if it can.
func (r *logReport) checkEngine(store ledger.Store) error {
	engine, ok := store.(interface {
		Check(ctx context.Context) (findings []string, err error)
	})
	if !ok {
		return nil
	}
	findings, err := engine.Check(r.ctx)
	if err != nil {
		if err := r.unreadable(err); err != nil {
			return err
		}
		findings = append(findings, err.Error())
	}
	if len(findings) > 0 {
		r.find("engine", findings...)
		return nil
	}
	r.step("engine", "its files and indexes agree")
	return nil
}

// checkRecords runs the check of the ledger, and lets the dealer look at every record. The head is what the store had
// before. A database does not say that somebody is writing to it, but it shows.
func (r *logReport) checkRecords(store ledger.Store, head ledger.Head) error {
	checker := dealer.Checker{ByID: store.ByID, ByClaim: store.ByClaim}
	seedKey := make([]byte, ledger.SeedKeySize) // any will do for a store from before seeds were encrypted
	if len(head.SeedKey) > 0 {
		var err error
		if seedKey, err = r.seedKey(); err != nil {
			return err
		}
	}
	if seedKey != nil {
		vault, err := ledger.OpenVault(head, seedKey)
		if err != nil {
			return fmt.Errorf("%w: name the key of this store with --seed-key, or leave the seeds out with --without-seeds", err)
		}
		checker.Secret = vault.Secret
	}
	visit := func(e *ledger.Stored) ([]ledger.Claim, error) { return checker.Entry(r.ctx, e) }
	check := ledger.Check{Verifier: r.verifier, Visit: visit, Except: checker.Unknown(), Progress: r.watch()}
	result, err := check.Run(r.ctx, store)
	if r.progress != nil {
		_, _ = fmt.Fprint(r.progress, clearLine)
	}
	if after, err := store.Head(r.ctx); err == nil && after.Size > head.Size {
		return fmt.Errorf("%w: it grew from %d records to %d while they were checked. Check a copy, or stop the service first", ledger.ErrInUse, head.Size, after.Size)
	}
	r.checkpoint = result.Checkpoint
	findings := result.Findings
	if err != nil {
		if err := r.unreadable(err); err != nil {
			return err
		}
		findings = append(findings, fmt.Sprintf("the store cannot be read: %v", err))
	}
	if len(findings) > 0 {
		r.find("records", findings...)
		return nil
	}
	r.step("records", "all %d are as they were signed, and are found by id, reference and claim", r.checkpoint.Size)
	if seedKey == nil {
		r.step("seeds", "left out")
	} else {
		r.step("seeds", "every seed opens the commitment of its record")
	}
	return nil
}

// checkSecond compares the store with the second copy of the checkpoint.
func (r *logReport) checkSecond(store ledger.Store) error {
	if len(r.second) == 0 {
		r.step(checkpointName, "there is none (%s): records that are missing at the end of the log would not show", r.copyFile)
		return nil
	}
	if err := ledger.CheckCopy(r.ctx, store, r.verifier, r.copyFile, r.second); err != nil {
		if err := r.unreadable(err); err != nil {
			return err
		}
		r.find(checkpointName, err.Error())
		return nil
	}
	r.step(checkpointName, "the store continues %s", r.copyFile)
	return nil
}

// unreadable returns the error if it says nothing about what the store holds: the check was ended, or the store has gone
// out of reach. Any other error of an open store comes from its content.
func (r *logReport) unreadable(err error) error {
	if r.ctx.Err() != nil || outside(err) {
		return err
	}
	return nil
}

// clearLine takes back a line of a terminal.
const clearLine = "\r\x1b[K"

// watch returns what tells a terminal how far the check has come, or nil.
func (r *logReport) watch() func(done, total uint64) {
	if r.progress == nil {
		return nil
	}
	var last time.Time
	return func(done, total uint64) {
		if now := time.Now(); now.Sub(last) > 100*time.Millisecond {
			last = now
			_, _ = fmt.Fprintf(r.progress, clearLine+"%d of %d records", done, total)
		}
	}
}

// step prints the outcome of a step.
func (r *logReport) step(name, format string, args ...any) {
	r.printf("%-12s "+format+"\n", append([]any{name}, args...)...)
}

// find notes and prints what a step has found wrong.
func (r *logReport) find(name string, findings ...string) {
	for _, f := range findings {
		r.step(name, "WRONG: %s", f)
	}
	r.findings = append(r.findings, findings...)
}

// verdict prints what it all comes to. The error is that of a check that did not come to its end; what it has found
// until then stands.
func (r *logReport) verdict(err error) error {
	if err != nil && len(r.findings) == 0 {
		return err
	}
	if r.checkpoint.Origin != "" {
		r.printf("\norigin       %s\nsize         %d\nroot         %s\n", r.checkpoint.Origin, r.checkpoint.Size, r.checkpoint.Root)
	}
	if n := len(r.findings); n > 0 {
		r.printf("\nThe log does not add up (findings: %d). Keep this copy as it is.\n", n)
		return errors.Join(fmt.Errorf("the log was checked, and %w", errFindings), err, r.err)
	}
	r.printf("\nThe log adds up.\n")
	return r.err
}

func (r *logReport) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil && r.err == nil {
		r.err = fmt.Errorf("printing: %w", err)
	}
}
