package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

var engine = ledgertest.Engine{
	New: func(t *testing.T) string {
		folder := filepath.Join(t.TempDir(), "a folder ? with % signs")
		require.NoError(t, os.Mkdir(folder, 0o700))
		return filepath.Join(folder, "riffle.db")
	},
	Open: func(ctx context.Context, path string) (ledger.Store, error) { return Open(ctx, path) },
}

func TestMain(m *testing.M) { engine.Main(m) }

func TestStore(t *testing.T) { engine.Run(t) }

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "riffle.db") }

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	return s
}

// newLog returns a new store with an empty log, which is closed with the test.
func newLog(t *testing.T) (s *Store, path string, chain *ledgertest.Chain) {
	t.Helper()
	path, chain = newPath(t), ledgertest.NewChain(t)
	s = open(t, path)
	t.Cleanup(func() { closeStore(t, s) })
	chain.Append(s)
	return s, path, chain
}

func closeStore(t *testing.T, s *Store) {
	t.Helper()
	assert.NoError(t, s.Close())
}

// openDB opens or creates a store's file for the test's statements.
func openDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE, 0o600)
	require.NoError(t, err)
	_ = file.Close()
	db := sql.OpenDB(connector{dsn: dsn(path)})
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
}

func TestEveryConnectionIsDurable(t *testing.T) {
	s, path, _ := newLog(t)
	conns := map[string]driver.Conn{"writer": s.conn}
	for i := range 3 {
		c, err := connector{dsn: dsn(path, "query_only(1)")}.Connect(t.Context())
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		conns[fmt.Sprint("reader ", i)] = c
	}
	for name, c := range conns {
		for pragma, want := range map[string]driver.Value{"journal_mode": "wal", "synchronous": int64(2), "wal_autocheckpoint": int64(0)} {
			got, err := queryValue(t.Context(), c, "PRAGMA "+pragma)
			assert.Truef(t, err == nil && got == want, "%s: %s is %v, %v, want %v", name, pragma, got, err, want)
		}
	}
	_, err := s.conns.ExecContext(t.Context(), "DELETE FROM entries")
	assert.Error(t, err, "a reader can write")
}

func TestConnectRejectsFilesThatAreNotDurable(t *testing.T) {
	_, err := connector{dsn: "file::memory:?_pragma=journal_mode(WAL)"}.Connect(t.Context())
	assert.Error(t, err, "a store in memory")
	assert.Contains(t, err.Error(), "journal_mode is memory", "a store in memory")
	_, err = connector{dsn: "file:" + newPath(t) + "?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"}.Connect(t.Context())
	assert.Error(t, err, "a connection that does not sync at every commit")
	assert.Contains(t, err.Error(), "synchronous is 1", "a connection that does not sync at every commit")
}

// A page limit has the same effect as a full disk.
func TestFullDiskRollsBack(t *testing.T) {
	s, _, chain := newLog(t)
	chain.Append(s, ledgertest.Entries("before", 10)...)
	limit := func(pages int) {
		_, err := queryValue(t.Context(), s.conn, fmt.Sprint("PRAGMA max_page_count = ", pages))
		require.NoError(t, err)
	}
	limit(1) // becomes the current size
	for _, n := range []int{1000, 1} {
		var err error
		for round := 0; err == nil; round++ {
			before := *chain
			if err = s.Append(t.Context(), chain.Next(ledgertest.Entries(fmt.Sprint(n, "at once", round), n)...)); err != nil {
				*chain = before
			}
		}
		assert.ErrorIsf(t, err, ledger.ErrNoSpace, "batches of %d", n)
		chain.CheckLog(s)
	}
	limit(1 << 30)
	chain.Append(s, ledgertest.Entries("after", 10)...)
	chain.CheckLog(s)
}

// The write-ahead log grows by at most room, whichever pages the batch changes.
func TestCommitFitsIntoItsRoom(t *testing.T) {
	s, _, chain := newLog(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for round, n := range []int{1, 2000, 1000, 100, 1, 1} {
		entries := ledgertest.Entries(fmt.Sprint("round ", round), n)
		for i := range entries {
			name := fmt.Sprintf("%016x", rng.Uint64()) // anywhere in an index
			entries[i].Reference, entries[i].Record = name, fmt.Append(nil, name, strings.Repeat("x", rng.IntN(2000)))
			entries[i].Claims = []ledger.Claim{{Name: name, Status: name}, {Name: "due " + name, Due: rng.Int64()}}
		}
		if err := s.checkpointNow(t.Context()); err != nil { // the next commit begins the log anew
			t.Fatal(err)
		}
		batch := chain.Next(entries...)
		require.NoError(t, s.Append(t.Context(), batch))
		frames, err := s.wal(t.Context(), s.walSize)
		require.NoError(t, err)
		took, room := uint64(frames)*frameSize, room(&batch)
		assert.Truef(t, took <= room, "a batch of %d took %d bytes, and there was to be room for %d", n, took, room)
	}
}

func TestCheckFindsDamagedIndex(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	chain := ledgertest.NewChain(t)
	chain.Append(s)
	chain.Append(s, ledgertest.Entries("indexed", 3)...)
	findings, err := s.Check(t.Context())
	assert.Truef(t, err == nil && len(findings) == 0, "the check of an undamaged store finds %q, %v", findings, err)
	closeStore(t, s)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	id := chain.Entries[1].ID[:]
	require.Equal(t, 2, bytes.Count(file, id), "the id is in the file")
	file[bytes.LastIndex(file, id)+15] ^= 1
	require.NoError(t, os.WriteFile(path, file, 0o600))
	s = open(t, path)
	defer closeStore(t, s)
	findings, err = s.Check(t.Context())
	assert.Truef(t, err == nil && len(findings) > 0, "the check of a damaged index finds %q, %v", findings, err)
}

// The hashes after a missing one must not take its place.
func TestHashesDetectsMissingHash(t *testing.T) {
	s, path, chain := newLog(t)
	chain.Append(s, ledgertest.Entries("hashed", 600)...)
	execute(t, openDB(t, path), "DELETE FROM entries WHERE idx = 7; DELETE FROM nodes WHERE idx = 0")
	for level, from := range []uint64{5, 0} {
		_, err := s.Hashes(t.Context(), level, from, 5)
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "level %d", level)
	}
}

func TestOpenRejectsAnotherVersion(t *testing.T) {
	path := newPath(t)
	closeStore(t, open(t, path))
	execute(t, openDB(t, path), "UPDATE head SET version = 2")
	_, err := Open(t.Context(), path)
	assert.ErrorContains(t, err, "the store has version 2, and this program knows version 1")
	_, err = OpenReader(t.Context(), path)
	assert.ErrorContains(t, err, "the store has version 2, and this program knows version 1")
}

// An empty reference is NULL, so that the index does not grow.
func TestEmptyReferenceIsNotIndexed(t *testing.T) {
	s, path, chain := newLog(t)
	chain.Append(s, ledgertest.Entries("no reference", 3)...)
	execute(t, openDB(t, path), "DELETE FROM entries WHERE reference IS NULL")
	list, err := s.Select(t.Context(), ledger.Range(0, 3))
	assert.Truef(t, err == nil && len(list) == 0, "%d entries with an empty reference, %v, want none", len(list), err)
}

func TestOnlyTheOwnerCanReadTheFiles(t *testing.T) {
	_, path, _ := newLog(t)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.EqualValuesf(t, 0o600, info.Mode().Perm(), "%s has mode", filepath.Base(name))
	}
}

// A program has the files of its parent until it is loaded, so it has its locks, too.
func TestClosedStoreIsUnlockedWhileProgramsStart(t *testing.T) {
	var done atomic.Bool
	t.Cleanup(func() { done.Store(true) })
	for range 4 {
		go func() {
			for !done.Load() {
				_ = exec.Command("true").Run()
			}
		}()
	}
	path := newPath(t)
	for range 50 {
		s, err := Open(t.Context(), path)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

func TestWriteAheadLogStaysBounded(t *testing.T) {
	s, path, chain := newLog(t)
	size := 0
	for ; size < 100_000; size += 500 {
		chain.Append(s, ledgertest.Entries(fmt.Sprint(size), 500)...)
	}
	info, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	pages := info.Size() / frameSize
	assert.Truef(t, pages <= 2*checkpointPages, "the write-ahead log has grown to %d pages, and is to be checkpointed at %d", pages, checkpointPages)
	file, err := os.Stat(path)
	assert.Truef(t, err == nil && file.Size() >= int64(size)*50, "the file has %v bytes (%v) after %d entries", file.Size(), err, size)
}
