package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"golang.org/x/mod/sumdb/tlog"

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
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder, goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(goose.NewGoMigration(2, &goose.GoFunc{RunTx: addTree}, nil)))
	if err != nil {
		return err
	}
	have, newest, err := provider.GetVersions(ctx)
	if err == nil {
		err = ledger.CheckVersion(ledger.Version(have), ledger.Version(newest))
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

// treeTables adds the tables of version 2.
//
//go:embed tree.sql
var treeTables string

// addTree migrates to version 2. Version 1's records become the tree's first leaves. The log
// begins, with its first signature, when it is opened.
func addTree(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, treeTables); err != nil {
		return err
	}
	var tree ledger.Tree
	for {
		var record []byte
		err := tx.QueryRowContext(ctx, "SELECT record FROM entries WHERE idx = ?", int64(tree.Size())).Scan(&record)
		if errors.Is(err, sql.ErrNoRows) {
			break
		} else if err != nil {
			return err
		}
		hash := tlog.RecordHash(record)
		if _, err := tx.ExecContext(ctx, "UPDATE entries SET hash = ? WHERE idx = ?", hash[:], int64(tree.Size())); err != nil {
			return err
		}
		for _, n := range tree.Add(hash, nil) {
			if _, err := tx.ExecContext(ctx, "INSERT INTO nodes VALUES (?, ?, ?)", n.Level, int64(n.Index), n.Hash[:]); err != nil {
				return err
			}
		}
	}
	head := tree.Head()
	_, err := tx.ExecContext(ctx, "UPDATE head SET size = ?, edge = ?", int64(head.Size), head.Edge)
	return err
}
