package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	sqlite3 "modernc.org/sqlite/lib"

	"riffle/internal/ledger"
	"riffle/internal/ledger/archive"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
)

// openStore opens the store that the service would open, to read it: the archive in the data folder, or
// what openEngine opens.
func openStore(ctx context.Context, folder, location string) (store ledger.Reader, name string, err error) {
	if name = archive.Folder(folder); archive.Exists(name) {
		store, err = archive.OpenReader(ctx, name)
		return store, name, err
	}
	return openEngine(ctx, folder, location)
}

// openEngine opens the PostgreSQL database at the URL location, or the SQLite file in the data folder if
// location is empty. It also returns the store's name for messages, which has no password in it.
func openEngine(ctx context.Context, folder, location string) (store ledger.Reader, name string, err error) {
	if name = storeName(folder, location); location == "" {
		store, err = openSQLite(ctx, name)
	} else {
		store, err = postgres.OpenReader(ctx, location)
	}
	if errors.Is(err, ledger.ErrNoLog) {
		err = fmt.Errorf("there is no log in %s", name)
	}
	return store, name, err
}

// nameOf returns a database URL without its user, password and parameters.
func nameOf(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return "the database"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// openSQLite opens an existing SQLite store to read it.
func openSQLite(ctx context.Context, path string) (ledger.Reader, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no store at %s: use --data to name its folder", path)
	} else if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the store %s is not a file", path)
	}
	return sqlite.OpenReader(ctx, path)
}

// damaged reports whether a store could not be opened because its contents are damaged.
// SQLITE_ERROR means that a statement does not fit the tables, and SQLITE_READONLY that a header
// forbids writing, since the files are writable.
func damaged(err error) bool {
	switch sqlite.Code(err) {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_FORMAT:
		return true
	}
	return errors.Is(err, ledger.ErrCorrupt) || errors.Is(err, sql.ErrNoRows)
}

// environmental reports whether an open store could not be read for a reason other than its
// contents, such as a lock or a lost connection.
func environmental(err error) bool {
	switch sqlite.Code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	// These PostgreSQL errors are damage: internal errors (class XX, which covers bad pages and
	// indexes), and missing files (58P01), tables (42P01) and columns (42703).
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return !strings.HasPrefix(e.Code, "XX") && !slices.Contains([]string{"58P01", "42P01", "42703"}, e.Code)
	}
	return errors.Is(err, ledger.ErrUnavailable)
}

// withoutSeeds reports whether a store is an archive whose seeds were forgotten.
func withoutSeeds(store ledger.Reader) bool {
	a, ok := store.(*archive.Reader)
	return ok && a.WithoutSeeds()
}
