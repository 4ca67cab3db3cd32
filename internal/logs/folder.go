package logs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/system"
)

// checkUnnamed looks for logs in the main log's folder that the configuration does not name. It
// returns an error if one has open shoes, whose players would not find them, and warns of the others.
func checkUnnamed(ctx context.Context, named []*Settings, logger *slog.Logger) error {
	folder := filepath.Join(named[0].Folder, logsFolder)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil // opening the main log reports a data folder that is a file
	} else if err != nil {
		return fmt.Errorf("looking for logs: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		found := Settings{Folder: filepath.Join(folder, entry.Name())}
		isNamed := slices.ContainsFunc(named, func(s *Settings) bool { return s.Name == entry.Name() })
		if _, err := os.Stat(found.checkpointFile()); err != nil || isNamed {
			continue
		}
		shoes, err := countShoes(ctx, found.StoreFile())
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s has a log that the configuration does not name, and counting its open shoes failed: %w. Name it with retired: true, or move the folder", found.Folder, err))
		case shoes > 0:
			errs = append(errs, fmt.Errorf("%s has a log that the configuration does not name, with %d open shoes. Name it with retired: true, which still shows them, or move the folder", found.Folder, shoes))
		default:
			logger.Warn("a folder has a log that the configuration does not name, and that is not served", "path", found.Folder)
		}
	}
	return errors.Join(errs...)
}

// countShoes returns the number of open shoes in an SQLite store, or 0 if the file does not exist.
func countShoes(ctx context.Context, file string) (open uint64, err error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return journal.CountShoes(ctx, store, time.Now())
}

// othersMode are the permission bits of group and others.
const othersMode fs.FileMode = 0o077

// checkPermissions warns about a log's files and folders that others can access. It removes that
// permission from the files that the service creates in the data folder, and leaves alone files and
// folders that the operator may have created.
func checkPermissions(s *Settings, logger *slog.Logger) {
	for _, name := range []string{
		ledger.KeyName, ledger.SeedKeyName, ledger.CheckpointName, storeName, storeName + "-wal", storeName + "-shm", storeName + ".lock",
	} {
		path := filepath.Join(s.Folder, name)
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue // the service creates no links
		}
		mode := system.Permissions(path)
		if mode&othersMode == 0 {
			continue
		}
		if err := os.Chmod(path, mode&^othersMode); err != nil {
			logger.Warn("others may read a file with secrets, and its mode cannot be changed", "file", path, "mode", mode.String(), "error", err)
			continue
		}
		logger.Warn("others could read a file with secrets; its mode was changed", "file", path, "from", mode.String(), "to", (mode &^ othersMode).String())
	}
	paths := []string{s.Folder, s.Key, s.SeedKeyFile}
	for _, key := range s.secondKeys {
		paths = append(paths, key.path)
	}
	for _, path := range paths {
		if mode := system.Permissions(path); mode&othersMode != 0 {
			logger.Warn("others may read the data folder or a key: remove that permission with chmod go= if they need none", "path", path, "mode", mode.String())
		}
	}
}
