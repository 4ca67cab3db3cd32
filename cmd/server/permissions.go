package main

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"riffle/internal/ledger"
)

// othersMode are the bits of a mode that let others than the owner use a file.
const othersMode fs.FileMode = 0o077

// checkPermissions warns about key files and a folder of a log that others than the owner may read. It
// removes that permission from the files that the service creates in the data folder; files and
// folders that the operator may have created are left alone.
func checkPermissions(l *logOptions, logger *slog.Logger) {
	for _, name := range []string{
		ledger.KeyName, ledger.SeedKeyName, ledger.CheckpointName, storeName, storeName + "-wal", storeName + "-shm", storeName + ".lock",
	} {
		path := filepath.Join(l.data, name)
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue // the service creates no links
		}
		mode, open := openToOthers(path)
		if !open {
			continue
		}
		if err := os.Chmod(path, mode&^othersMode); err != nil {
			logger.Warn("others may read a file with secrets, and its mode cannot be changed", "file", path, "mode", mode.String(), "error", err)
			continue
		}
		logger.Warn("others could read a file with secrets; its mode was changed", "file", path, "from", mode.String(), "to", (mode &^ othersMode).String())
	}
	for _, path := range []string{l.data, l.key, l.seedKeyFile} {
		if path == "" {
			continue
		}
		if mode, open := openToOthers(path); open {
			logger.Warn("others may read the data folder or a key: remove that permission with chmod go= if they need none", "path", path, "mode", mode.String())
		}
	}
}

// openToOthers returns the permissions of a file, and whether others than the owner have any. A
// file that does not exist has none.
func openToOthers(path string) (mode fs.FileMode, open bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode().Perm()&othersMode != 0
}
