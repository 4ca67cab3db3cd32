package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/proof"
)

func TestKeyFileIsMadeOnce(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "first", 1)
	path := filepath.Join(folder, ledger.KeyName)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValuesf(t, 0o600, info.Mode().Perm(), "the key file: %v", info.Mode())
	first := readFile(t, path)
	grow(t, folder, "second", 1)
	assert.Equal(t, readFile(t, path), first, "the key file changed")
	drafts, _ := filepath.Glob(filepath.Join(folder, ".log.key*"))
	assert.Emptyf(t, drafts, "drafts of the key file were not removed: %q", drafts)

	must(t, os.Remove(path))
	wantOpenError(t, folder, ledger.Options{}, "its key is not there", "backup")
	_, err = os.Stat(path)
	assert.Error(t, err, "a new key was made for a log that has one")
	// Either the store or the checkpoint file shows that the log exists.
	checkpoint := filepath.Join(folder, ledger.CheckpointName)
	must(t, os.Rename(checkpoint, checkpoint+".away"))
	wantOpenError(t, folder, ledger.Options{}, "its key is not there", "backup")
	must(t, os.Rename(checkpoint+".away", checkpoint))
	must(t, os.Rename(filepath.Join(folder, "riffle.db"), filepath.Join(t.TempDir(), "away")))
	wantOpenError(t, folder, ledger.Options{}, "its key is not there", "backup")

	writeFile(t, path, bytes.Replace(first, []byte("riffle/"), []byte("riffle:"), 1))
	wantOpenError(t, folder, ledger.Options{}, path, "backup")
}

func TestOriginCannotChange(t *testing.T) {
	folder := t.TempDir()
	l := open(t, openStore(t, folder), ledger.Options{Folder: folder, Origin: "shuffles.example.com/2026"})
	c, err := proof.OpenCheckpoint(l.Checkpoint(t.Context()), verifier(t, l))
	assert.Truef(t, err == nil && c.Origin == "shuffles.example.com/2026" && c.Size == 0, "the first checkpoint is %+v, %v", c, err)
	closeLog(t, l)
	wantOpenError(t, folder, ledger.Options{Origin: "shuffles.example.com/2027"}, "the origin of a log cannot change")
	for _, bad := range []string{"two words", "a+b", "line\nbreak", strings.Repeat("x", 129), "zero\x00"} {
		wantOpenError(t, t.TempDir(), ledger.Options{Origin: bad}, "the origin of a log")
	}
	open(t, newStore(t), ledger.Options{Origin: strings.Repeat("x", 128)})
}

func TestOpenRejectsAnotherKey(t *testing.T) {
	mine, other := t.TempDir(), t.TempDir()
	grow(t, mine, "mine", 3)
	grow(t, other, "other", 3)
	wantOpenError(t, mine, ledger.Options{KeyFile: filepath.Join(other, ledger.KeyName)}, "is of another log")
	must(t, os.Remove(filepath.Join(mine, ledger.CheckpointName)))
	wantOpenError(t, mine, ledger.Options{KeyFile: filepath.Join(other, ledger.KeyName)}, "is of another log", "the key that the store was written with")
}

func TestOpenRejectsFolderInUse(t *testing.T) {
	folder := t.TempDir()
	open(t, newStore(t), ledger.Options{Folder: folder})
	wantOpenError(t, folder, ledger.Options{}, "another process is writing to this store", "a data folder of its own")
}

func TestOpenRejectsTamperedStore(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "some", 700)
	for name, damage := range map[string]*faultyStore{
		"a late record":          {record: func(e *ledger.StoredEntry) { flipIf(e.Index == 650, &e.Record[9]) }},
		"a late record and hash": {record: func(e *ledger.StoredEntry) { flipIf(e.Index == 650, &e.Record[9]); e.Hash = tlog.RecordHash(e.Record) }},
		"an index":               {record: func(e *ledger.StoredEntry) { e.Index++ }},
		"a missing record":       {short: true},
		"the size":               {head: func(h *ledger.Head) { h.Size-- }},
		"the edge":               {head: func(h *ledger.Head) { flipIf(true, &h.Edge[40]) }},
		"a short edge":           {head: func(h *ledger.Head) { h.Edge = h.Edge[:len(h.Edge)-1] }},
		"a long edge":            {head: func(h *ledger.Head) { h.Edge = append(h.Edge, h.Edge[:tlog.HashSize]...) }},
		"the checkpoint":         {head: func(h *ledger.Head) { flipIf(true, &h.Checkpoint[3]) }},
		"an enormous size":       {head: func(h *ledger.Head) { h.Size = 1 << 63 }},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, folder)
			defer func() { _ = s.Close() }()
			damage.Store = s
			_, err := ledger.Open(t.Context(), damage, ledger.Options{Folder: folder})
			assert.ErrorIs(t, err, ledger.ErrCorrupt)
		})
	}
}

func TestOpenReadsBackLast4096Records(t *testing.T) {
	folder := t.TempDir()
	const size = 5000
	l := open(t, openStore(t, folder), ledger.Options{Folder: folder, Queue: size})
	var wait sync.WaitGroup
	for _, e := range ledgertest.Entries("tail", size) {
		wait.Go(func() {
			_, err := l.Append(e)
			assert.NoError(t, err)
		})
	}
	wait.Wait()
	closeLog(t, l)
	for damaged, want := range map[uint64]error{size - 4096: ledger.ErrCorrupt, 256: nil} {
		s := openStore(t, folder)
		tampered := &faultyStore{Store: s, record: func(e *ledger.StoredEntry) { flipIf(e.Index == damaged, &e.Record[9]) }}
		l, err := ledger.Open(t.Context(), tampered, ledger.Options{Folder: folder})
		assert.ErrorIsf(t, err, want, "record %d is damaged", damaged)
		if err == nil {
			closeLog(t, l)
		} else if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
