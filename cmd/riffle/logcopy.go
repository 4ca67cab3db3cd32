package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/sqlite"
)

// A logCopy moves a log to another store.
type logCopy struct {
	logSource
	To    string `required:"" placeholder:"URL|DIR" help:"An empty PostgreSQL database, postgres://..., or a data folder without a log for a new SQLite file."`
	Ahead bool   `help:"Copy what is there by now, while the service runs, and check it, so that it needs to be stopped for seconds only. No service starts on the copy before the rest was copied without --ahead."`
}

// Run copies the log.
func (k *logCopy) Run(ctx context.Context, c *console) error {
	location, folder := "", k.To
	if strings.Contains(k.To, "://") {
		location, folder = k.To, dataFolder(k.Data)
	} else if same(k.folder(), k.To) && k.Store == "" {
		return errors.New("the new store would be the old one: use --to to name another")
	}
	t := &transfer{console: c, source: &k.logSource, folder: folder, location: location, ahead: k.Ahead, movedTo: identityOf(folder, location)}
	return t.copyLog(ctx, t.openToMove, t.fill)
}

// openToMove opens the source to read it, and unless ahead is set also as the one that ends.
func (t *transfer) openToMove(ctx context.Context, folder, location string) (from ledger.Inspector, name string, err error) {
	from, name, err = openStore(ctx, folder, location)
	if err != nil || t.ahead {
		return from, name, err
	}
	if _, moved, err := from.Status(ctx); err != nil || moved {
		return from, name, err
	}
	if err = from.Close(); err == nil {
		t.moving, name, err = t.source.openAlone(ctx)
	}
	if errors.Is(err, ledger.ErrInUse) {
		err = fmt.Errorf("%w; --ahead copies what is there by now", err)
	}
	return t.moving, name, err
}

// openAlone opens an existing store to write to it, unless a service does.
func (s *logSource) openAlone(ctx context.Context) (store ledger.Store, name string, err error) {
	if name = storeName(s.folder(), s.Store); s.Store != "" {
		store, err = openUnused(ctx, s.Store)
	} else if reader, _, errRead := openStore(ctx, s.folder(), ""); errRead != nil {
		err = errRead
	} else if err = reader.Close(); err == nil {
		store, err = sqlite.Open(ctx, name)
	}
	if errors.Is(err, ledger.ErrInUse) {
		err = fmt.Errorf("%s is in use: stop the service first: %w", name, err)
	}
	return store, name, err
}

// copyName is the application_name of sessions on a database that a log leaves.
const copyName = "riffle-log-copy"

// openUnused opens a database to which no service is connected.
func openUnused(ctx context.Context, location string) (ledger.Store, error) {
	u, err := url.Parse(location)
	if err != nil {
		return postgres.Open(ctx, location)
	}
	q := u.Query()
	q.Set("application_name", copyName)
	u.RawQuery = q.Encode()
	store, err := postgres.Open(ctx, u.String())
	if err != nil {
		return nil, err
	}
	if n, err := store.Sessions(ctx, postgres.Service); err != nil || n > 0 {
		return nil, errors.Join(err, store.Close(), ledger.ErrInUse)
	}
	return store, nil
}

// movedName is the file in the data folder of stores that were moved. A line has the identities of
// the old and of the new one, with a tab between.
const movedName = "moved-to"

// checkMoved returns an error if the store was not moved to the one with an identity.
func (s *logSource) checkMoved(target string) error {
	text, _ := os.ReadFile(filepath.Join(s.folder(), movedName))
	own, to := identityOf(s.folder(), s.Store), "another store"
	for line := range strings.Lines(string(text)) {
		if from, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); from == own {
			to = name
		}
	}
	if to != target {
		return fmt.Errorf("%s was moved to %s: a second copy would fork the log", own, to)
	}
	return nil
}

// end has the old store take no more records, so that only the store with an identity can go on.
func (t *transfer) end(ctx context.Context, target string) error {
	if t.moving == nil {
		return nil
	}
	path := filepath.Join(t.source.folder(), movedName)
	text, _ := os.ReadFile(path)
	err := ledger.ReplaceFile(path, fmt.Appendf(text, "%s\t%s\n", identityOf(t.source.folder(), t.source.Store), target))
	if err == nil {
		err = t.moving.Leave(ctx)
	}
	if err != nil {
		return fmt.Errorf("ending the old store: %w", err)
	}
	_, err = fmt.Fprintln(t.out, "moved        the old store takes no more records")
	return err
}
