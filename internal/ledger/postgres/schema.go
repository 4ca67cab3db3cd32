package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed schema.sql
var schema string

// createTables creates the tables of an empty database over a separate connection. If several
// processes start together, one creates them and the others wait for its lock, which ends with its
// connection.
func createTables(ctx context.Context, config *pgx.ConnConfig) (err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if missing, err := lacksTables(ctx, conn); err != nil || !missing {
		return err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('riffle schema'))"); err != nil && !isUnsupported(err) {
		return err
	}
	// In a transaction that began before the lock was granted, this would find what the server cached.
	if missing, err := lacksTables(ctx, conn); err != nil || !missing {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, schema); err != nil {
			return fmt.Errorf("creating the tables; start once with a role that may: %w", err)
		}
		return nil
	})
}

// lacksTables reports whether a database has no log.
func lacksTables(ctx context.Context, conn *pgx.Conn) (missing bool, err error) {
	err = conn.QueryRow(ctx, "SELECT to_regclass('head') IS NULL").Scan(&missing)
	return missing, err
}
