package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	engine "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
)

// openStore opens the store as the service does, the database that a URL names or else the SQLite file in the data
// folder, and says what to call it.
func openStore(ctx context.Context, folder, location string) (store ledger.Store, name string, err error) {
	if location == "" {
		name = filepath.Join(folder, "riffle.db")
		store, err = openSQLite(ctx, name)
	} else {
		name = nameOf(location)
		store, err = postgres.Open(ctx, location)
	}
	return store, name, err
}

// nameOf returns the server and the database of a URL, and leaves out what may be secret.
func nameOf(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return "the database" // which will not open either
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// openSQLite makes no file where there is none.
func openSQLite(ctx context.Context, path string) (ledger.Store, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no store %s: name the folder of a copy with --data", path)
	} else if err != nil {
		return nil, fmt.Errorf("looking for the store: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the store %s is no file", path)
	}
	store, err := sqlite.Open(ctx, path)
	if errors.Is(err, ledger.ErrInUse) {
		return nil, fmt.Errorf("the store %s is in use: check a copy of the folder, from a snapshot or a backup, or stop the service first: %w", path, err)
	} else if err != nil {
		return nil, err
	}
	return store, nil
}

// damaged reports whether a store could not be opened because of what it holds. SQLite's plain error is for a statement
// that does not fit the tables, and its files could be written to when a header calls them read-only.
func damaged(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_FORMAT:
		return true
	}
	return errors.Is(err, ledger.ErrCorrupt) || errors.Is(err, sql.ErrNoRows)
}

// outside reports whether an open store could not be read for a reason that does not lie in what it holds.
func outside(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	// Of what PostgreSQL reports, these are damage: internal errors, for which it takes bad pages and indexes as well, and
	// files, tables and columns that are gone.
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return !strings.HasPrefix(e.Code, "XX") && !slices.Contains([]string{"58P01", "42P01", "42703"}, e.Code)
	}
	return errors.Is(err, ledger.ErrUnavailable)
}

// sqliteCode returns SQLite's code of an error, or 0.
func sqliteCode(err error) int {
	if e := (*engine.Error)(nil); errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
