package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"riffle/internal/ledger"
)

//go:embed migrations/*.sql
var migrations embed.FS

// tables is the version that the migrations lead to.
const tables = 3

// migrate brings the tables up to date over a separate connection.
func migrate(ctx context.Context, path string) (err error) {
	db := sql.OpenDB(connector{dsn: dsn(path)})
	defer func() { err = errors.Join(err, db.Close()) }()
	folder, _ := fs.Sub(migrations, "migrations") // fails only for an invalid path
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	have, newest, err := provider.GetVersions(ctx)
	if err == nil {
		err = ledger.CheckVersion(ledger.StoreVersion(have), ledger.StoreVersion(newest))
	}
	if err == nil {
		_, err = provider.Up(ctx)
	}
	if err != nil {
		return err
	}
	// A killed process may not have fsynced its write-ahead log, on which everything later depends.
	// Closing would checkpoint it too, but would not report a failed fsync.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil && !isFull(err) {
		return fmt.Errorf("checkpointing the write-ahead log: %w", err)
	}
	return nil
}
