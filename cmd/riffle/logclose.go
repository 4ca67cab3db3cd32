package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"riffle/internal/journal"
	"riffle/internal/keycommand"
	"riffle/internal/ledger"
)

// A logClose ends a log, and begins the one that follows it.
type logClose struct {
	logSource
	newLog
}

// Run ends the log.
func (k *logClose) Run(ctx context.Context, c *console) (err error) {
	old, err := k.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Log.Close()) }()
	_, end, err := journal.Neighbours(ctx, old.Log)
	if err != nil {
		return err
	}
	if err := os.Mkdir(k.NewData, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the folder of the new log: %w", err)
	}
	next, err := k.newLog.open(ctx)
	if err != nil {
		return fmt.Errorf("beginning the new log: %w", err)
	}
	defer func() { err = errors.Join(err, next.Log.Close()) }()
	switch {
	case end == nil:
		if err := old.EndLog(ctx, next.Log.Verifier()); err != nil {
			return fmt.Errorf("ending the log: %w", err)
		}
	case end.Successor != next.Log.Verifier():
		return fmt.Errorf("the log was closed before: it goes on as %s, and the log in %s is %s", end.Successor, k.NewData, next.Log.Verifier())
	}
	last := old.Log.Checkpoint(ctx)
	if err := next.BeginLog(ctx, old.Log.Verifier(), string(last)); err != nil {
		return fmt.Errorf("the log has ended. Beginning the new one: %w", err)
	}
	_, err = fmt.Fprintf(c.out, "%s\nnew log      %s\nkey          %s\n", last, k.NewOrigin, next.Log.Verifier())
	return err
}

// open opens the log to write to it, unless a service does.
func (k *logClose) open(ctx context.Context) (*journal.Journal, error) {
	seedKeys, err := k.seedKeys(ctx, "")
	if err != nil {
		return nil, err
	}
	store, name, err := k.openAlone(ctx)
	if err != nil {
		return nil, err
	}
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: k.folder(), KeyFile: k.keyFile(), SeedKeys: seedKeys, ReadKey: keycommand.Reader(ctx, k.keyCommand()), MustExist: true})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), store.Close())
	}
	return journal.New(log, rand.Reader, time.Now), nil
}
