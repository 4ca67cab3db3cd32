package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
)

//go:embed schema.sql
var schema string

// createTables creates the tables of a new file over a separate connection.
func createTables(ctx context.Context, path string) (err error) {
	db := sql.OpenDB(connector{dsn: dsn(path)})
	defer func() { err = errors.Join(err, db.Close()) }()
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		if _, err := db.ExecContext(ctx, "BEGIN IMMEDIATE; "+schema+" COMMIT"); err != nil {
			return fmt.Errorf("creating the tables: %w", err)
		}
	}
	// A killed process may not have fsynced its write-ahead log, on which everything later depends.
	// Closing would checkpoint it too, but would not report a failed fsync.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil && !isFull(err) {
		return fmt.Errorf("checkpointing the write-ahead log: %w", err)
	}
	return nil
}
