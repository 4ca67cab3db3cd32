package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"riffle/internal/ledger"
)

//go:embed migrations/*.sql
var migrations embed.FS

// tables is the version that the migrations lead to.
const tables = 2

// migrate brings the tables up to date over a separate connection. If several processes start
// together, one migrates and the others wait. It reads the version within checkTimeout and migrates
// within upTimeout; after that the server rolls back the current migration.
func migrate(ctx context.Context, config *pgx.ConnConfig, checkTimeout, upTimeout time.Duration) (err error) {
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	folder, _ := fs.Sub(migrations, "migrations") // fails only for an invalid path
	const retryEvery, retries = 1, 60             // in seconds
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(retryEvery, retries))
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, folder, goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	checking, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := createSchema(checking, db, config.RuntimeParams["search_path"]); err != nil {
		return err
	}
	have, newest, err := provider.GetVersions(checking)
	if err != nil {
		return err
	}
	if err := ledger.CheckVersion(ledger.StoreVersion(have), ledger.StoreVersion(newest)); err != nil {
		return err
	}
	if have >= newest {
		return createRaise(checking, db) // without the lock, so that processes need not wait for each other
	}
	migrating, cancel := context.WithTimeout(ctx, upTimeout)
	defer cancel()
	if _, err = provider.Up(migrating); err != nil {
		return err
	}
	return createRaise(migrating, db)
}

// createSchema creates the schema of a log that shares its database with the one that it follows.
func createSchema(ctx context.Context, db *sql.DB, schema string) error {
	if schema == "" || strings.ContainsAny(schema, ",$\"") {
		return nil
	}
	return createMissing(ctx, db, "to_regnamespace", schema, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{schema}.Sanitize())
}

// createMissing creates what a function of the server does not find by its name.
func createMissing(ctx context.Context, db *sql.DB, find, name, create string) error {
	missing := false
	err := db.QueryRowContext(ctx, "SELECT "+find+"($1) IS NULL", name).Scan(&missing)
	if err == nil && missing {
		_, err = db.ExecContext(ctx, create)
	}
	return err
}

// raiseVersion creates the SQL function raise_version. It is not a numbered migration, because
// earlier programs refuse a store that has one which they do not know.
//
//go:embed raise_version.sql
var raiseVersion string

// Remove removes the tables for good. It returns [ledger.ErrInUse] if another store has a session
// with the log, or this one has read from it.
func (s *Store) Remove(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
			alone := false
			if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock"+openLock).Scan(&alone); err != nil {
				return err
			}
			if !alone {
				return ledger.ErrInUse
			}
			_, err := tx.Exec(ctx, "DROP TABLE entries, nodes, claims, head, goose_db_version; DROP FUNCTION IF EXISTS raise_version, require_version")
			return err
		})
	})
}

// createRaise creates the function unless it is there.
func createRaise(ctx context.Context, db *sql.DB) error {
	err := createMissing(ctx, db, "to_regproc", "raise_version", raiseVersion)
	if err != nil {
		err = fmt.Errorf("creating the function raise_version; start once with the role that owns the tables: %w", err)
	}
	return err
}
