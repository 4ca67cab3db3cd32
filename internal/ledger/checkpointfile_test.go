package ledger_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/proof"
)

func TestOpenRejectsRolledBackStore(t *testing.T) {
	folder, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	db := filepath.Join(folder, "riffle.db")
	grow(t, folder, "before", 300)
	copyFile(t, db, backup)
	grow(t, folder, "after", 1)
	newest := filepath.Join(t.TempDir(), "newest.db")
	copyFile(t, db, newest)

	copyFile(t, backup, db)
	wantOpenError(t, folder, ledger.Options{}, "has 300 records", "signed checkpoint of 301", "Put the newer store back")
	// An empty store is rejected too,
	must(t, os.Remove(db))
	wantOpenError(t, folder, ledger.Options{}, "has 0 records", "signed checkpoint of 301")
	copyFile(t, newest, db)
	grow(t, folder, "on", 1)
	// and so is an empty log's.
	begun := t.TempDir()
	grow(t, begun, "none", 0)
	must(t, os.Remove(filepath.Join(begun, "riffle.db")))
	wantOpenError(t, begun, ledger.Options{}, "signed checkpoint of 0", "Put the newer store back")
}

// TestOpenRejectsFolderBehindAnchor restores an old folder with its checkpoint file. The anchor
// shows that it is older or forked.
func TestOpenRejectsFolderBehindAnchor(t *testing.T) {
	folder, older := t.TempDir(), t.TempDir()
	grow(t, folder, "before", 300)
	must(t, os.CopyFS(older, os.DirFS(folder)))
	l := openFolder(t, folder)
	appendEntry(t, l, ledgertest.Entries("after", 1)[0])
	anchors := []ledger.Anchor{{Source: "the test"}, {Source: "what was acknowledged", Note: l.Durable()}} // may be unpublished
	closeLog(t, l)
	assert.Equal(t, anchors[1].Note, l.Durable(), "after Close the checkpoint")
	for _, c := range []struct {
		name string
		grow int // number of records to append to the copy
		want []string
	}{
		{"older", 0, []string{"has 300 records", "what was acknowledged is a signed checkpoint of 301", "Put the newer store back"}},
		{"another history", 1, []string{"the 301 records do not continue the 301", "The store and what was acknowledged are of two histories"}},
		{"a longer other history", 900, []string{"the 1200 records do not continue the 301", "two histories"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			copied := t.TempDir()
			must(t, os.CopyFS(copied, os.DirFS(older)))
			grow(t, copied, "fork", c.grow)
			wantOpenError(t, copied, ledger.Options{Anchors: anchors}, c.want...)
			// After a restart without the anchor, the checkpoint file has it.
			wantOpenError(t, copied, ledger.Options{}, "the store", filepath.Join(copied, ledger.CheckpointName))
			assert.Equal(t, anchors[1].Note, readFile(t, filepath.Join(copied, ledger.CheckpointName)),
				"the checkpoint file")
		})
	}

	empty := t.TempDir()
	wantOpenError(t, empty, ledger.Options{Anchors: anchors}, "its key is not there")
	copyFile(t, filepath.Join(folder, ledger.KeyName), filepath.Join(empty, ledger.KeyName))
	wantOpenError(t, empty, ledger.Options{Anchors: anchors}, "has 0 records")

	// Another process may have appended.
	grow(t, folder, "by another", 700)
	must(t, os.Remove(filepath.Join(folder, ledger.CheckpointName)))
	open(t, openStore(t, folder), ledger.Options{Folder: folder, Anchors: anchors})
}

func TestUnreadableStoreIsNoOtherHistory(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "before", 1)
	l := openFolder(t, folder)
	anchor := ledger.Anchor{Source: "the test", Note: l.Durable()}
	closeLog(t, l)
	grow(t, folder, "after", 1)
	newest := readFile(t, filepath.Join(folder, ledger.CheckpointName))
	s := openStore(t, folder)
	unreadable := &faultyStore{Store: s, called: func(method string) error {
		if method == "Hashes" {
			return ledger.ErrUnavailable
		}
		return nil
	}}
	_, err := ledger.Open(t.Context(), unreadable, ledger.Options{Folder: folder, Anchors: []ledger.Anchor{anchor}})
	assert.ErrorIs(t, err, ledger.ErrUnavailable)
	assert.False(t, errors.Is(err, ledger.ErrCorrupt))
	must(t, s.Close())
	assert.Equal(t, newest, readFile(t, filepath.Join(folder, ledger.CheckpointName)), "the checkpoint file")
}

func TestOpenRejectsDamagedCheckpointFile(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "some", 3)
	path := filepath.Join(folder, ledger.CheckpointName)
	text := readFile(t, path)
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 0x15
		writeFile(t, path, changed)
		wantOpenError(t, folder, ledger.Options{}, path)
	}
}

func TestCheckpointFileIsWrittenBeforeAppendReturns(t *testing.T) {
	folder := t.TempDir()
	l := openFolder(t, folder)
	for i, e := range ledgertest.Entries("copied", 120) {
		appendEntry(t, l, e)
		text := readFile(t, filepath.Join(folder, ledger.CheckpointName))
		c, err := proof.OpenCheckpoint(text, verifier(t, l))
		require.Truef(t, err == nil && c.Size == uint64(i+1), "after record %d was acknowledged the checkpoint file has %+v, %v", i, c, err)
	}
}

func TestCheckpointFileIsWrittenAtOpen(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, ledger.CheckpointName)
	grow(t, folder, "first", 1)
	older := filepath.Join(t.TempDir(), "older")
	copyFile(t, path, older)
	grow(t, folder, "second", 1)
	for name, lose := range map[string]func(){
		"missing": func() { must(t, os.Remove(path)) },
		"behind":  func() { copyFile(t, older, path) },
	} {
		lose()
		l := openFolder(t, folder)
		assert.Equalf(t, l.Checkpoint(t.Context()), readFile(t, path), "%s: after Open the checkpoint file", name)
		closeLog(t, l)
	}
}
