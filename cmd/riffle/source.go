package main

import (
	"cmp"
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
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/mod/sumdb/note"
	sqlite3 "modernc.org/sqlite/lib"

	"riffle/internal/keycommand"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
)

// A logSource is the log that a command reads. Its settings have the names that they have in the
// service, and an empty one counts as unset.
type logSource struct {
	Data    string `placeholder:"DIR" env:"RIFFLE_DATA" help:"The data folder, with checkpoint, log.key and, for SQLite, riffle.db and riffle.db-wal. Default ./data."`
	Store   string `placeholder:"URL" env:"RIFFLE_STORE" help:"The PostgreSQL database of the log, postgres://... Default SQLite in the data folder."`
	Key     string `placeholder:"FILE" env:"RIFFLE_KEY_FILE" help:"The log's verifier key, as GET /log/key answers it, or its private key, of which only the public half is used. Default log.key in the data folder."`
	SeedKey string `placeholder:"FILE" env:"RIFFLE_SEED_KEY_FILE" help:"The key that encrypts seeds; RIFFLE_SEED_KEY may hold the key itself. Default seed.key beside the log's key."`
	Command string `name:"key-command" placeholder:"COMMAND" env:"RIFFLE_KEY_COMMAND" help:"A command that prints a key in place of the files, such as 'cat /keys/{}'; {} becomes log.key or seed.key. There is no shell."`
}

func (s *logSource) folder() string { return dataFolder(s.Data) }

func (s *logSource) keyFile() string {
	return cmp.Or(s.Key, filepath.Join(s.folder(), ledger.KeyName))
}

// seedKey reads the key that encrypts seeds: from --key-command, --seed-key, RIFFLE_SEED_KEY, or
// beside the log's key or in the data folder. The error for a missing file ends with what else one
// can do.
func (s *logSource) seedKey(ctx context.Context, otherwise string) (ledger.SeedKey, error) {
	if s.Command != "" {
		text, err := keycommand.Run(ctx, s.Command, ledger.SeedKeyName)
		if err != nil {
			return nil, err
		}
		return ledger.ParseSeedKey(text)
	}
	if text := os.Getenv("RIFFLE_SEED_KEY"); text != "" && s.SeedKey == "" {
		key, err := ledger.ParseSeedKey(text)
		if err != nil {
			return nil, fmt.Errorf("RIFFLE_SEED_KEY: %w", err)
		}
		return key, nil
	}
	paths := []string{s.SeedKey}
	if s.SeedKey == "" {
		paths = []string{filepath.Join(filepath.Dir(s.keyFile()), ledger.SeedKeyName), filepath.Join(s.folder(), ledger.SeedKeyName)}
	}
	for _, path := range paths {
		if key, err := ledger.ReadSeedKey(path); !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
	}
	return nil, fmt.Errorf("there is no seed key at %s: use --seed-key to name it%s", paths[len(paths)-1], otherwise)
}

// vault opens the vault of a store that has the head. Without encrypted seeds, any key will do.
// otherwise is what else one can do without the right one.
func (s *logSource) vault(ctx context.Context, head ledger.Head, otherwise string) (_ *ledger.Vault, err error) {
	key := make(ledger.SeedKey, ledger.SeedKeySize)
	if len(head.SeedKey) > 0 {
		if key, err = s.seedKey(ctx, otherwise); err != nil {
			return nil, err
		}
	}
	vault, err := ledger.OpenVault(head, key)
	if err != nil {
		return nil, fmt.Errorf("%w: use --seed-key to name the key of this store%s", err, otherwise)
	}
	return vault, nil
}

// readVerifier reads the key that verifies the log's checkpoints, and returns its text, too.
func (s *logSource) readVerifier(ctx context.Context) (verifier note.Verifier, key string, err error) {
	if s.Command == "" {
		key, err = readVerifierKey(s.keyFile())
	} else if key, err = keycommand.Run(ctx, s.Command, ledger.KeyName); err == nil {
		key, err = verifierKey(key, "what --key-command printed")
	}
	if err == nil {
		verifier, err = note.NewVerifier(key)
	}
	return verifier, key, err
}

// readVerifierKey reads the verifier key in a file that holds it or the private key.
func readVerifierKey(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no key file %s: use --key to name it. The verifier key from GET /log/key is enough", path)
	} else if err != nil {
		return "", fmt.Errorf("reading the key file: %w", err)
	}
	return verifierKey(string(data), "the key file "+path)
}

// verifierKey returns the verifier key in a text that is one or a private key. source names it in
// errors.
func verifierKey(text, source string) (string, error) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if _, err := note.NewVerifier(text); err == nil {
		return text, nil
	}
	key, err := ledger.ParseKey(text)
	if err != nil {
		return "", fmt.Errorf("%s has neither the verifier key nor the private key of a log, or holds a damaged one", source)
	}
	return key.Public, nil
}

// openStore opens, to read it, the PostgreSQL database at the URL location, or the SQLite file in
// the data folder if location is empty. It also returns the store's name for messages, which has no
// password in it.
func openStore(ctx context.Context, folder, location string) (store ledger.Inspector, name string, err error) {
	if name = storeName(folder, location); location != "" {
		store, err = postgres.OpenReader(ctx, location)
	} else if store, err = sqlite.OpenReader(ctx, name); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = ledger.ErrNoLog
	}
	if errors.Is(err, ledger.ErrNoLog) {
		err = fmt.Errorf("%w in %s: use --data or --store to name another place", ledger.ErrNoLog, name)
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

// damaged reports whether a store could not be opened because its contents are damaged.
// SQLITE_ERROR means that a statement does not fit the tables.
func damaged(err error) bool {
	codes := []int{sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_FORMAT}
	return slices.Contains(codes, sqlite.Code(err)) || errors.Is(err, ledger.ErrCorrupt) || errors.Is(err, sql.ErrNoRows)
}

// environmental reports whether an open store could not be read for a reason other than its
// contents, such as a lock or a lost connection.
func environmental(err error) bool {
	codes := []int{sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT}
	// These PostgreSQL errors are damage: internal errors (class XX, which covers bad pages and
	// indexes), and missing files (58P01), tables (42P01) and columns (42703).
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return !strings.HasPrefix(e.Code, "XX") && !slices.Contains([]string{"58P01", "42P01", "42703"}, e.Code)
	}
	return slices.Contains(codes, sqlite.Code(err)) || errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, fs.ErrPermission)
}

// dataFolder returns the data folder; an empty name is for the default.
func dataFolder(name string) string { return cmp.Or(name, "./data") }
