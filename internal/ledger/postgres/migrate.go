package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the tables up to date over a separate connection. If several processes start
// together, one migrates and the others wait. It reads the version within checkTimeout and migrates
// within upTimeout; after that the server rolls back the current migration.
func migrate(ctx context.Context, config *pgx.ConnConfig, checkTimeout, upTimeout time.Duration) (err error) {
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	const retryEvery, retries = 1, 60 // in seconds
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
	have, newest, err := provider.GetVersions(checking)
	if err != nil {
		return err
	}
	if have > newest {
		return fmt.Errorf("the store has version %d, and this program knows versions up to %d; start a newer program", have, newest)
	}
	if have == newest {
		return nil // without the lock, so that processes need not wait for each other
	}
	migrating, cancel := context.WithTimeout(ctx, upTimeout)
	defer cancel()
	_, err = provider.Up(migrating)
	return err
}
