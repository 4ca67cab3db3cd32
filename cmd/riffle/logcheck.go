package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/anchor"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/proof"
)

// logCommands groups the commands on a log.
type logCommands struct {
	Check logCheck `cmd:"" help:"Check a store."`
	Copy  logCopy  `cmd:"" help:"Move a log from SQLite to PostgreSQL, or back."`
}

// A logCheck checks a whole store: the engine's own structures, every record against the tree and
// the signed root, and the root against the second copy of the checkpoint. Settings have the names
// that they have in the service, and an empty one counts as unset.
type logCheck struct {
	logSource

	Anchor anchor.Places `placeholder:"PLACES" env:"RIFFLE_ANCHOR" help:"Places with the log's last checkpoint, as the service's --anchor."`

	WithoutSeeds bool   `help:"Skip the checks that need the seed key."`
	State        string `placeholder:"FILE" help:"Continue the check of which the file says how far it came, and keep that file up to date. Keep it where only you can write."`
}

// copyStep is the name of the step that checks the second copy of the checkpoint.
const copyStep = "second copy"

// Run checks the log.
func (k *logCheck) Run(ctx context.Context, c *console) error {
	r, err := k.newReport(ctx, c)
	if err != nil {
		return err
	}
	r.step("key", "%s, %s", r.verifier.Name(), k.keyFile())
	return r.verdict(r.checkStore())
}

// newReport returns the report of the check.
func (k *logCheck) newReport(ctx context.Context, c *console) (*logReport, error) {
	verifier, _, err := k.readVerifier(ctx)
	if err != nil {
		return nil, err
	}
	second := ledger.Anchor{Source: filepath.Join(k.folder(), ledger.CheckpointName)}
	if second.Note, err = os.ReadFile(second.Source); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the second copy of the checkpoint: %w", err)
	}
	r := &logReport{console: c, ctx: ctx, logCheck: k, verifier: verifier, second: second}
	r.state = checkState{path: k.State, Origin: verifier.Name(), Seeds: !k.WithoutSeeds}
	return r, r.state.read()
}

// A logReport runs the steps of the check of a log: it prints the outcome of each and collects the
// findings.
type logReport struct {
	*console
	*logCheck
	ctx        context.Context
	verifier   note.Verifier
	second     ledger.Anchor // the second copy of the checkpoint; without a note if there is no file
	state      checkState
	checkpoint proof.Checkpoint
	findings   []string
}

// checkStore opens the store and checks it. A store too damaged to open is a finding, not an error.
func (r *logReport) checkStore() (err error) {
	store, name, err := openStore(r.ctx, r.folder(), r.Store)
	if damaged(err) {
		return r.conclude("store", nil, err, "")
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	r.step("store", "%s", name)
	return r.check(store, name)
}

// check runs all steps on an open store.
func (r *logReport) check(store ledger.Inspector, name string) error {
	head, err := store.Head(r.ctx)
	if err == nil {
		err = r.rightLog(store, head, name)
	} else if !r.aborts(err) {
		err = nil // a damaged head is a finding of checkRecords
	}
	if err != nil {
		return err
	}
	if engine, ok := store.(interface {
		Check(ctx context.Context) (findings []string, err error)
	}); ok && r.state.Size == 0 {
		findings, err := engine.Check(r.ctx)
		if err := r.conclude("engine", findings, err, "its files and indexes agree"); err != nil {
			return err
		}
	}
	if err := r.checkRecords(store, head); err != nil {
		return err
	}
	if _, moved, err := store.Status(r.ctx); r.aborts(err) {
		return err
	} else if moved {
		r.step(copyStep, "not compared: the log was moved and goes on in another store, whose records it may have")
		return nil
	}
	for _, place := range r.Anchor {
		if err := r.checkAnchor(store, place); err != nil {
			return err
		}
	}
	return r.compare(store, copyStep, "there is none at %s", r.second)
}

func (r *logReport) checkAnchor(store ledger.Inspector, place anchor.Place) error {
	note, _, err := place.Read(r.ctx)
	if err != nil {
		return fmt.Errorf("the anchor %s cannot be read: %w", place.Name, err)
	}
	return r.compare(store, "anchor", "%s does not exist", ledger.Anchor{Source: place.Name, Note: note})
}

// compare checks that the store continues a checkpoint. none says that there is no checkpoint.
func (r *logReport) compare(store ledger.Inspector, step, none string, a ledger.Anchor) error {
	if len(a.Note) == 0 {
		r.step(step, none+", so records missing at the end of the log would not show", a.Source)
		return nil
	}
	return r.conclude(step, nil, ledger.CheckRollback(r.ctx, store, r.verifier, a), "the store continues %s", a.Source)
}

// rightLog returns an error if the store is empty, or holds the log of another key.
//
// A signature that does not verify can mean a wrong key or a changed checkpoint. The key is wrong if the
// store's checkpoint is well-formed and signed by another key, and the second copy does not verify with
// the given key either. Anything else is a finding of the check.
func (r *logReport) rightLog(store ledger.Inspector, head ledger.Head, name string) error {
	if head.Size == 0 && len(head.Checkpoint) == 0 && len(r.second.Note) == 0 {
		if records, err := store.Select(r.ctx, ledger.Range(0, 1)); err == nil && len(records) == 0 {
			return fmt.Errorf("there is no log in %s", name)
		}
	}
	signed := proof.Unverified(head.Checkpoint)
	isOurs := func(s note.Signature) bool { return s.Name == r.verifier.Name() && s.Hash == r.verifier.KeyHash() }
	if _, err := proof.OpenCheckpoint(r.second.Note, r.verifier); err == nil || signed.Text == "" || slices.ContainsFunc(signed.UnverifiedSigs, isOurs) {
		return nil
	}
	origin, _, _ := strings.Cut(signed.Text, "\n")
	return fmt.Errorf("the key is of the log %s, but the store is of %s and signed with another key: use --key to name the key of this log", r.verifier.Name(), origin)
}

// checkRecords checks every record, alone and in the tree.
func (r *logReport) checkRecords(store ledger.Inspector, head ledger.Head) error {
	var checker journal.Checker
	seeds := "every seed opens the commitment of its record"
	switch {
	case r.WithoutSeeds && len(head.SeedKey) > 0:
		seeds = "skipped"
	default:
		vault, err := r.vault(r.ctx, head, ", or --without-seeds to skip the seeds")
		if err != nil {
			return err
		}
		checker.Decrypt = vault.Decrypt
	}
	check := ledger.Check{Verifier: r.verifier, Visit: checker.Visit, Except: checker.Unchecked(), From: r.state.CheckState, Progress: r.showing("records", r.state.Size), Save: r.state.saveSometimes}
	debug.SetGCPercent(400) // it allocates much and keeps little
	result, err := check.Run(r.ctx, store)
	r.clear()
	r.checkpoint = result.Checkpoint
	if err != nil {
		err = fmt.Errorf("the store cannot be read: %w", err)
	}
	before := len(r.findings)
	which := "all"
	if r.state.Size > 0 {
		which = fmt.Sprintf("the first %d were checked before;", r.state.Size)
	}
	err = r.conclude("records", result.Findings, err,
		"%s %d match the signed root, and are found by id, reference and claim", which, r.checkpoint.Size)
	if err != nil || len(r.findings) > before {
		return err
	}
	if err := r.state.save(result.State); err != nil {
		return err
	}
	r.step("seeds", "%s", seeds)
	return nil
}

// aborts reports whether err says nothing about the contents of the store: the check was cancelled,
// or the store became unreachable. Any other error of an open store is a finding.
func (r *logReport) aborts(err error) bool {
	return err != nil && (r.ctx.Err() != nil || environmental(err))
}

// step prints the outcome of a step.
func (r *logReport) step(name, format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, "%-12s "+format+"\n", append([]any{name}, args...)...)
}

// conclude prints the findings of a step and collects them, or says what is right. An error that
// does not abort the check is a finding as well.
func (r *logReport) conclude(name string, findings []string, err error, right string, args ...any) error {
	if r.aborts(err) {
		return err
	}
	if err != nil {
		findings = append(findings, err.Error())
	}
	if len(findings) == 0 {
		r.step(name, right, args...)
	}
	for _, f := range findings {
		r.step(name, "WRONG: %s", f)
	}
	r.findings = append(r.findings, findings...)
	return nil
}

// verdict prints the summary and returns the error that determines the exit code. err is from a
// check that did not complete; its earlier findings count.
func (r *logReport) verdict(err error) error {
	if err != nil && len(r.findings) == 0 {
		return err
	}
	if r.checkpoint.Origin != "" {
		_, _ = fmt.Fprintf(r.out, "\norigin       %s\nsize         %d\nroot         %s\n", r.checkpoint.Origin, r.checkpoint.Size, r.checkpoint.Root)
	}
	if n := len(r.findings); n > 0 {
		_, _ = fmt.Fprintf(r.out, "\nThe log does not add up (findings: %d). Keep this copy unchanged.\n", n)
		return errors.Join(fmt.Errorf("the log was checked, and %w", errFindings), err)
	}
	_, err = fmt.Fprintln(r.out, "\nThe log adds up.")
	return err
}
