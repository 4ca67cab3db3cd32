package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

// checkUnnamed looks for logs in the data folder that the configuration does not name. It returns an
// error if one has open shoes, whose players would find nothing, and warns of the others.
func checkUnnamed(ctx context.Context, o *options, logger *slog.Logger) error {
	folder := filepath.Join(o.data, logsFolder)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil // if the data folder is a file, the main log says so
	} else if err != nil {
		return fmt.Errorf("looking for logs: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if _, err := os.Stat(filepath.Join(path, ledger.CheckpointName)); err != nil || o.find(entry.Name()) != nil {
			continue
		}
		open, err := countShoes(ctx, filepath.Join(path, storeName))
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s has a log that the configuration does not name, and whether it has open shoes cannot be seen: %w. Name it with retired: true, or move the folder", path, err))
		case open > 0:
			errs = append(errs, fmt.Errorf("%s has a log that the configuration does not name, with %d open shoes. Name it with retired: true, which shows them still, or move the folder", path, open))
		default:
			logger.Warn("a folder has a log that the configuration does not name, and that is not served", "path", path)
		}
	}
	return errors.Join(errs...)
}

// countShoes returns how many shoes are open in an SQLite store, and 0 if there is none.
func countShoes(ctx context.Context, path string) (open uint64, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return journal.CountShoes(ctx, store, time.Now())
}
