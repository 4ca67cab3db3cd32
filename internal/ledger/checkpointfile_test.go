package ledger_test

import (
	"bytes"
	"path/filepath"
	"testing"

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
	// The same goes for an empty store,
	removeFile(t, db)
	wantOpenError(t, folder, ledger.Options{}, "has 0 records", "signed checkpoint of 301")
	copyFile(t, newest, db)
	grow(t, folder, "on", 1)
	// and for a log that had no records yet.
	begun := t.TempDir()
	grow(t, begun, "none", 0)
	removeFile(t, filepath.Join(begun, "riffle.db"))
	wantOpenError(t, begun, ledger.Options{}, "signed checkpoint of 0", "Put the newer store back")

	// Without the checkpoint file the backup grows differently: the key has signed two histories.
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	moveFile(t, filepath.Join(folder, ledger.CheckpointName), checkpoint)
	copyFile(t, backup, db)
	grow(t, folder, "fork", 2)
	copyFile(t, checkpoint, filepath.Join(folder, ledger.CheckpointName))
	wantOpenError(t, folder, ledger.Options{}, "two histories")
	// The fork may also be longer than the checkpoint.
	removeFile(t, filepath.Join(folder, ledger.CheckpointName))
	grow(t, folder, "longer", 500)
	copyFile(t, checkpoint, filepath.Join(folder, ledger.CheckpointName))
	wantOpenError(t, folder, ledger.Options{}, "two histories")
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

// So it is up to date after the process is killed.
func TestCheckpointFileIsWrittenBeforeAppendReturns(t *testing.T) {
	folder := t.TempDir()
	l := openFolder(t, folder)
	defer closeLog(t, l)
	for i, e := range ledgertest.Entries("copied", 120) {
		appendEntry(t, l, e)
		text := readFile(t, filepath.Join(folder, ledger.CheckpointName))
		if c, err := proof.OpenCheckpoint(text, verifier(t, l)); err != nil || c.Size != uint64(i+1) {
			t.Fatalf("after record %d was acknowledged the checkpoint file has %+v, %v", i, c, err)
		}
	}
}

// It may be missing, or behind after a crash.
func TestCheckpointFileIsWrittenAtOpen(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, ledger.CheckpointName)
	grow(t, folder, "first", 1)
	older := filepath.Join(t.TempDir(), "older")
	copyFile(t, path, older)
	grow(t, folder, "second", 1)
	for name, lose := range map[string]func(){
		"missing": func() { removeFile(t, path) },
		"behind":  func() { copyFile(t, older, path) },
	} {
		lose()
		l := openFolder(t, folder)
		if text, want := readFile(t, path), l.Checkpoint(t.Context()); !bytes.Equal(text, want) {
			t.Errorf("%s: after Open the checkpoint file has %q, want %q", name, text, want)
		}
		closeLog(t, l)
	}
}
