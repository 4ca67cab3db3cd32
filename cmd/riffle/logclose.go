package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/journal"
	"riffle/internal/keycommand"
	"riffle/internal/ledger"
	"riffle/internal/ledger/archive"
	"riffle/internal/ledger/proof"
)

// A logClose ends a log, and begins the one that follows it.
type logClose struct {
	logSource
	newLog
}

// Run ends the log or, if others follow it in its folder, the last of them. Earlier ones may be
// archives only.
func (k *logClose) Run(ctx context.Context, c *console) (err error) {
	if verifier, _, err := k.readVerifier(ctx); err == nil && verifier.Name() == k.NewOrigin {
		return fmt.Errorf("the new log cannot have the origin of one before it: use --new-origin to name another, such as %s-new", k.NewOrigin)
	}
	if archive.Exists(archive.Folder(k.folder())) && exists(ledger.SuccessorFolder(k.Log.folder(k.Data), k.following())) {
		k.number = k.following()
		return k.Run(ctx, c)
	}
	old, err := k.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Log.Close()) }()
	_, end, err := journal.Neighbours(ctx, old.Log)
	if err != nil {
		return err
	}
	if end != nil && k.isInFolder(end.Successor, old.Log.Origin()) {
		k.number = k.following()
		return k.Run(ctx, c)
	}
	if key, _ := readVerifierKey(filepath.Join(k.NewData, ledger.KeyName)); end != nil && key != end.Successor {
		return fmt.Errorf("the log was closed before: it goes on as %s, whose key is not in %s. Nothing was changed", end.Successor, k.NewData)
	}
	next, err := k.newLog.open(ctx, end != nil)
	if err != nil {
		return fmt.Errorf("beginning the new log: %w", err)
	}
	defer func() { err = errors.Join(err, next.Log.Close()) }()
	if end == nil {
		if err := old.EndLog(ctx, next.Log.Verifier()); err != nil {
			return fmt.Errorf("ending the log: %w", err)
		}
	}
	last := old.Log.Checkpoint(ctx)
	if err := next.BeginLog(ctx, old.Log.Verifier(), string(last)); err != nil {
		return fmt.Errorf("the log has ended. Beginning the new one: %w", err)
	}
	_, err = fmt.Fprintf(c.out, "%s\nnew log      %s\nkey          %s\n", last, next.Log.Origin(), next.Log.Verifier())
	return err
}

// open opens the log to write to it, unless a service does.
func (k *logClose) open(ctx context.Context) (*journal.Journal, error) {
	seedKeys, err := k.seedKeys(ctx, "")
	verifier, _, errKey := k.readVerifier(ctx)
	if err = cmp.Or(err, errKey); err != nil {
		return nil, err
	}
	store, name, err := k.openAlone(ctx)
	if err != nil {
		return nil, err
	}
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: k.folder(), KeyFile: k.keyFile(), SeedKeys: seedKeys, ReadKey: keycommand.Reader(ctx, k.keyCommand()), As: verifier.Name(), MustExist: true})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), store.Close())
	}
	return journal.New(log, rand.Reader, time.Now), nil
}

// A logFork ends a log that has lost records, and begins the one that follows it. It writes down
// what was lost, so that the operator can publish it.
type logFork struct {
	logSource        // of the old log
	Lost      string `placeholder:"URL|DIR" help:"A store that still has the lost records: the database of the server that was the primary, or a folder with riffle.db. They are copied."`

	newLog
}

// A newLog is the log that follows another one.
type newLog struct {
	NewData   string `required:"" placeholder:"DIR" help:"A new data folder for the new log, in which its keys are made."`
	NewStore  string `placeholder:"URL" help:"An empty PostgreSQL database for the new log. Default SQLite in its data folder."`
	NewOrigin string `required:"" placeholder:"NAME" help:"The name of the new log, which no other log has; empty for one of random digits."`
}

// A forkReport is the content of fork.json.
type forkReport struct {
	Origin  string       `json:"origin"`            // of the old log
	Signed  string       `json:"signed_checkpoint"` // the last one that is known to have been signed
	Stored  string       `json:"stored_checkpoint"` // the store's; it lacks records of the other
	From    *uint64      `json:"lost_from"`         // index of the first lost record; null if unknown
	To      uint64       `json:"lost_before"`       // index after the last one
	Records []lostRecord `json:"lost_records"`      // those that are still known
	Follows string       `json:"new_origin"`
}

// A lostRecord is one that was signed and that the store does not have.
type lostRecord struct {
	Index  uint64 `json:"log_index"`
	Record string `json:"record"`
}

// Run writes the report and begins the new log.
func (k *logFork) Run(ctx context.Context, c *console) error {
	verifier, predecessor, err := k.readVerifier(ctx)
	if err != nil {
		return err
	}
	copyFile := filepath.Join(k.folder(), ledger.CheckpointName)
	second, err := os.ReadFile(copyFile)
	if err != nil {
		return fmt.Errorf("reading the last checkpoint that was signed: %w", err)
	}
	last, err := proof.OpenCheckpoint(second, verifier)
	if err != nil {
		return fmt.Errorf("%s is not a checkpoint of %s: %w", copyFile, verifier.Name(), err)
	}
	if k.NewOrigin == last.Origin {
		return fmt.Errorf("the new log cannot have the origin of the old one, %s: use --new-origin to name another, such as %s-2", last.Origin, last.Origin)
	}
	report := &forkReport{Origin: last.Origin, Signed: string(second), To: last.Size, Records: []lostRecord{}, Follows: k.NewOrigin}
	if err := k.compare(ctx, ledger.Anchor{Source: copyFile, Note: second}, verifier, report); err != nil {
		return err
	}
	if err := os.Mkdir(k.NewData, 0o700); err != nil {
		return fmt.Errorf("the folder of the new log: %w", err)
	}
	text, _ := json.MarshalIndent(report, "", "  ") // texts and numbers
	path := filepath.Join(k.NewData, "fork.json")
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing down what was lost: %w", err)
	}
	next, err := k.open(ctx, false)
	if err == nil {
		err = errors.Join(next.BeginLog(ctx, predecessor, string(second)), next.Log.Close())
	}
	if err != nil {
		return fmt.Errorf("beginning the new log: %w. Remove %s before you try again", err, k.NewData)
	}
	from := "unknown; --lost names a store that has it"
	if report.From != nil {
		from = fmt.Sprint(*report.From)
	}
	_, err = fmt.Fprintf(c.out, "old log      %s\nsigned       %d records\nlost from    %s\nwritten down %d lost records, in %s\n\nnew log      %s\nkey          %s\nrecord 0     it follows %s after %d records\n",
		last.Origin, last.Size, from, len(report.Records), path, next.Log.Origin(), next.Log.Verifier(), last.Origin, last.Size)
	return err
}

// compare fills in what the store has, and what it has lost. It returns an error if it has lost
// nothing.
func (k *logFork) compare(ctx context.Context, anchor ledger.Anchor, verifier note.Verifier, report *forkReport) (err error) {
	store, name, err := openStore(ctx, k.folder(), k.location())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	head, errHead := store.Head(ctx)
	_, moved, err := store.StoredVersion(ctx)
	if err = cmp.Or(errHead, err); err != nil || moved {
		return cmp.Or(err, k.checkMoved(""))
	}
	if err := ledger.CheckRollback(ctx, store, verifier, anchor); err == nil {
		return fmt.Errorf("%s has every record of %s: the log has lost nothing, so start its service", name, anchor.Source)
	} else if !errors.Is(err, ledger.ErrCorrupt) {
		return err
	}
	report.Stored = string(head.Checkpoint)
	if k.Lost == "" {
		return nil
	}
	folder, location := k.Lost, ""
	if strings.Contains(k.Lost, "://") {
		folder, location = "", k.Lost
	}
	lost, lostName, err := openStore(ctx, folder, location)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lost.Close()) }()
	if err := ledger.CheckRollback(ctx, lost, verifier, anchor); err != nil {
		return fmt.Errorf("%s does not have the records of %s: %w", lostName, anchor.Source, err)
	}
	from, err := firstDifference(ctx, store, lost, report.To)
	if err != nil {
		return err
	}
	report.From = &from
	return lost.Records(ctx, from, int(report.To-from), func(index uint64, record []byte, hash tlog.Hash) error {
		if tlog.RecordHash(record) != hash {
			return fmt.Errorf("%w: record %d of %s does not have its hash", ledger.ErrCorrupt, index, lostName)
		}
		report.Records = append(report.Records, lostRecord{index, string(record)})
		return nil
	})
}

// firstDifference returns the index of the first of size records that two stores do not share. They share
// none after it, as every record has its own id.
func firstDifference(ctx context.Context, a, b ledger.Inspector, size uint64) (uint64, error) {
	var failed error
	index := sort.Search(int(size), func(i int) bool {
		ours, err := a.Hashes(ctx, 0, uint64(i), 1)
		theirs, errLost := b.Hashes(ctx, 0, uint64(i), 1)
		failed = errors.Join(failed, err, errLost)
		return !slices.Equal(ours, theirs)
	})
	return uint64(index), failed
}

// open begins the new log, or opens it if it has no records or a command is repeated.
func (k *newLog) open(ctx context.Context, again bool) (*journal.Journal, error) {
	store, err := openTarget(ctx, k.NewData, k.NewStore)
	if err != nil {
		return nil, err
	}
	if head, err := store.Head(ctx); err != nil || head.Size > 0 && !again {
		return nil, errors.Join(err, errors.New("its store has a log already"), store.Close())
	}
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: k.NewData, Origin: k.NewOrigin})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return journal.New(log, rand.Reader, time.Now), nil
}
