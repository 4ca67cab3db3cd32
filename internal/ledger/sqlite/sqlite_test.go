package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	folders := map[string]string{}
	ledgertest.Run(t, func(t *testing.T) ledger.Store {
		if folders[t.Name()] == "" {
			folders[t.Name()] = filepath.Join(t.TempDir(), "a folder ? with % signs")
			if err := os.Mkdir(folders[t.Name()], 0o700); err != nil {
				t.Fatal(err)
			}
		}
		return open(t, filepath.Join(folders[t.Name()], "riffle.db"))
	})
}

func TestEveryConnectionIsDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "riffle.db")
	s := open(t, path)
	defer func() { _ = s.Close() }()
	conns := map[string]driver.Conn{"writer": s.writer.conn}
	for i := range 3 {
		c, err := connector{dsn: dsn(path, "query_only(1)")}.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		conns[fmt.Sprint("reader ", i)] = c
	}
	for name, c := range conns {
		for pragma, want := range map[string]driver.Value{"journal_mode": "wal", "synchronous": int64(2), "wal_autocheckpoint": int64(0)} {
			if got, err := queryOne(t.Context(), c, "PRAGMA "+pragma); err != nil || got != want {
				t.Errorf("%s: %s is %v, %v, want %v", name, pragma, got, err, want)
			}
		}
	}
	if _, err := s.readers.ExecContext(t.Context(), "DELETE FROM entries"); err == nil {
		t.Error("a reader can write")
	}
}

func TestFileThatCannotBeDurableIsRefused(t *testing.T) {
	_, err := connector{dsn: "file::memory:?_pragma=journal_mode(WAL)"}.Connect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "journal_mode is memory") {
		t.Errorf("a store in memory: %v", err)
	}
}

func TestSecondWriterIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "riffle.db")
	first := open(t, path)
	second, err := Open(t.Context(), path)
	if err == nil || second != nil || !strings.Contains(err.Error(), "another process is writing to this store") {
		t.Fatalf("a second writer: %v", err)
	}
	if err := first.Append(t.Context(), ledger.Batch{Entries: ledgertest.Entries("first", 1)}); err != nil {
		t.Errorf("the first writer, after the second was refused: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path).Close(); err != nil {
		t.Error(err)
	}
}

func TestNewerStoreIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "riffle.db")
	s := open(t, path)
	newer, err := s.writer.conn.(driver.ConnPrepareContext).PrepareContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(exec(t.Context(), newer, nil), newer.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "start a newer program") {
		t.Errorf("a store of a newer version: %v", err)
	}
}

func TestNobodyElseCanReadTheSeeds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "riffle.db")
	s := open(t, path)
	defer func() { _ = s.Close() }()
	if err := s.Append(t.Context(), ledger.Batch{Entries: ledgertest.Entries("secret", 1)}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", filepath.Base(name), mode)
		}
	}
}

func TestWriteAheadLogStaysBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "riffle.db")
	s := open(t, path)
	defer func() { _ = s.Close() }()
	size := uint64(0)
	for range 200 {
		batch := ledgertest.Entries(fmt.Sprint(size), 500)
		if err := s.Append(context.Background(), ledger.Batch{Size: size, Entries: batch}); err != nil {
			t.Fatal(err)
		}
		size += uint64(len(batch))
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if pages := info.Size() / 4096; pages > 2*checkpointPages {
		t.Errorf("the write-ahead log has grown to %d pages; it is to be copied back after %d", pages, checkpointPages)
	}
	file, err := os.Stat(path)
	if err != nil || file.Size() < int64(size)*50 {
		t.Errorf("the file has %v bytes (%v) after %d entries", file.Size(), err, size)
	}
}
