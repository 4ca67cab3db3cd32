package openlog

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"riffle/internal/ledger"
	"riffle/internal/system"
)

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
	for _, path := range []string{s.Folder, s.Key, s.SeedKeyFile} {
		if mode := system.Permissions(path); mode&othersMode != 0 {
			logger.Warn("others may read the data folder or a key: remove that permission with chmod go= if they need none", "path", path, "mode", mode.String())
		}
	}
}
