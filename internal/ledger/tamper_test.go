package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/proof"
	"riffle/internal/ledger/sqlite"
)

// openFolder opens the log of a folder: its file riffle.db, its key and its second copy.
func openFolder(ctx context.Context, folder string, o ledger.Options) (*ledger.Log, error) {
	s, err := sqlite.Open(ctx, filepath.Join(folder, "riffle.db"))
	if err != nil {
		return nil, err
	}
	o.Folder = folder
	l, err := ledger.Open(ctx, s, o)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return l, nil
}

// grow appends n entries to the log of a folder and closes it.
func grow(t *testing.T, folder, label string, n int) {
	t.Helper()
	l, err := openFolder(t.Context(), folder, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ledgertest.Entries(label, n) {
		if _, err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	closeLog(t, l)
}

// refused opens the log of a folder, which must not open, and must say these words.
func refused(t *testing.T, folder string, o ledger.Options, words ...string) {
	t.Helper()
	l, err := openFolder(t.Context(), folder, o)
	if err == nil {
		closeLog(t, l)
		t.Fatalf("the log opened; want an error with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error is %q, want it to have %q", err, w)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func verifier(t *testing.T, l *ledger.Log) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(l.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestKeyIsMadeOnceAndForItsOwnerAlone(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "first", 1)
	path := filepath.Join(folder, ledger.KeyName)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the key file: %v, %v, want mode 600", info.Mode(), err)
	}
	first, _ := os.ReadFile(path)
	grow(t, folder, "second", 1)
	if again, _ := os.ReadFile(path); !bytes.Equal(first, again) {
		t.Error("the key has changed")
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".key-*")); len(left) > 0 {
		t.Errorf("drafts of the key are left behind: %q", left)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused(t, folder, ledger.Options{}, "its key is not there", "backup")
	if _, err := os.Stat(path); err == nil {
		t.Error("a new key was made for a log that has one")
	}
	second := filepath.Join(folder, ledger.CopyName)
	if err := os.Rename(second, second+".away"); err != nil {
		t.Fatal(err)
	}
	refused(t, folder, ledger.Options{}, "its key is not there", "backup")
	if err := os.Rename(second+".away", second); err != nil {
		t.Fatal(err)
	}
	// Not even the store's loss makes it a new log, as long as the second copy tells of the old one.
	if err := os.Rename(filepath.Join(folder, "riffle.db"), filepath.Join(t.TempDir(), "away")); err != nil {
		t.Fatal(err)
	}
	refused(t, folder, ledger.Options{}, "its key is not there", "backup")

	if err := os.WriteFile(path, bytes.Replace(first, []byte("riffle/"), []byte("riffle:"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, folder, ledger.Options{}, path, "backup")
}

func TestOriginIsTheLogsForEver(t *testing.T) {
	folder := t.TempDir()
	l, err := openFolder(t.Context(), folder, ledger.Options{Origin: "shuffles.example.com/2026"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := proof.OpenCheckpoint(l.Checkpoint(t.Context()), verifier(t, l))
	if err != nil || c.Origin != "shuffles.example.com/2026" || c.Size != 0 {
		t.Errorf("the first checkpoint is %+v, %v", c, err)
	}
	closeLog(t, l)
	refused(t, folder, ledger.Options{Origin: "shuffles.example.com/2027"}, "the origin of a log cannot change")
	for _, bad := range []string{"two words", "a+b", "line\nbreak", strings.Repeat("x", 129), "zero\x00"} {
		refused(t, t.TempDir(), ledger.Options{Origin: bad}, "the origin of a log")
	}
	closeLog(t, open(t, store(t), ledger.Options{Origin: strings.Repeat("x", 128)}))
}

func TestAnotherKeyIsRefused(t *testing.T) {
	mine, other := t.TempDir(), t.TempDir()
	grow(t, mine, "mine", 3)
	grow(t, other, "other", 3)
	refused(t, mine, ledger.Options{KeyFile: filepath.Join(other, ledger.KeyName)}, "is of another log")
	if err := os.Remove(filepath.Join(mine, ledger.CopyName)); err != nil {
		t.Fatal(err)
	}
	refused(t, mine, ledger.Options{KeyFile: filepath.Join(other, ledger.KeyName)}, "is of another log", "the key that the store was written with")
}

func TestStoreFromAnOldBackupIsRefused(t *testing.T) {
	folder, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	db := filepath.Join(folder, "riffle.db")
	grow(t, folder, "before", 300)
	copyFile(t, db, backup)
	grow(t, folder, "after", 1)
	newest := filepath.Join(t.TempDir(), "newest.db")
	copyFile(t, db, newest)

	copyFile(t, backup, db)
	refused(t, folder, ledger.Options{}, "has 300 records", "signed checkpoint of 301", "Put the newer store back")
	// A store that is new altogether is the same thing.
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	refused(t, folder, ledger.Options{}, "has 0 records", "signed checkpoint of 301")
	copyFile(t, newest, db)
	grow(t, folder, "on", 1)
	// So it is where the log had no records yet.
	begun := t.TempDir()
	grow(t, begun, "none", 0)
	if err := os.Remove(filepath.Join(begun, "riffle.db")); err != nil {
		t.Fatal(err)
	}
	refused(t, begun, ledger.Options{}, "signed checkpoint of 0", "Put the newer store back")

	// Without the second copy the backup grows another way. Now there are two histories of one key.
	second := filepath.Join(t.TempDir(), "checkpoint")
	if err := os.Rename(filepath.Join(folder, ledger.CopyName), second); err != nil {
		t.Fatal(err)
	}
	copyFile(t, backup, db)
	grow(t, folder, "fork", 2)
	copyFile(t, second, filepath.Join(folder, ledger.CopyName))
	refused(t, folder, ledger.Options{}, "two histories")
	// Also once it is longer.
	if err := os.Remove(filepath.Join(folder, ledger.CopyName)); err != nil {
		t.Fatal(err)
	}
	grow(t, folder, "longer", 500)
	copyFile(t, second, filepath.Join(folder, ledger.CopyName))
	refused(t, folder, ledger.Options{}, "two histories")
}

func TestDamagedSecondCopyIsRefused(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "some", 3)
	path := filepath.Join(folder, ledger.CopyName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 0x15
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, folder, ledger.Options{}, path)
	}
}

// A killed process leaves the second copy as new as the last answer.
func TestSecondCopyIsWrittenBeforeTheAnswer(t *testing.T) {
	folder := t.TempDir()
	l, err := openFolder(t.Context(), folder, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, l)
	for i, e := range ledgertest.Entries("copied", 120) {
		if _, err := l.Append(e); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(folder, ledger.CopyName))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := proof.OpenCheckpoint(text, verifier(t, l)); err != nil || c.Size != uint64(i+1) {
			t.Fatalf("after record %d was acknowledged the second copy is %+v, %v", i, c, err)
		}
	}
}

// A second copy that is missing or behind, as after a crash, is written at start, before anything is appended.
func TestSecondCopyIsWrittenAtStart(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, ledger.CopyName)
	grow(t, folder, "first", 1)
	older := filepath.Join(t.TempDir(), "older")
	copyFile(t, path, older)
	grow(t, folder, "second", 1)
	for name, lose := range map[string]func(){
		"missing": func() {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"behind": func() { copyFile(t, older, path) },
	} {
		lose()
		l, err := openFolder(t.Context(), folder, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, l.Checkpoint(t.Context())) {
			t.Errorf("%s: after the start the second copy is %q, %v, want %q", name, text, err, l.Checkpoint(t.Context()))
		}
		closeLog(t, l)
	}
}

func TestFolderIsForOneProcess(t *testing.T) {
	folder := t.TempDir()
	l := open(t, store(t), ledger.Options{Folder: folder})
	refused(t, folder, ledger.Options{}, "another process uses this data folder", "a folder of its own")
	closeLog(t, l)
}

// A tampered store is a real one whose answers are changed on the way, as if it had been changed on disk.
type tampered struct {
	ledger.Store
	record func(*ledger.Stored)
	head   func(*ledger.Head)
	hash   func(level int, index uint64, h *tlog.Hash)
	short  bool // ranges lack their last record
}

func (s *tampered) Head(ctx context.Context) (ledger.Head, error) {
	h, err := s.Store.Head(ctx)
	if s.head != nil {
		s.head(&h)
	}
	return h, err
}

func (s *tampered) Range(ctx context.Context, from uint64, n int) ([]ledger.Stored, error) {
	list, err := s.Store.Range(ctx, from, n)
	for i := range list {
		if s.record != nil {
			s.record(&list[i])
		}
	}
	if s.short {
		list = list[:len(list)-1]
	}
	return list, err
}

func (s *tampered) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	list, err := s.Range(ctx, from, n)
	for _, e := range list {
		if err := each(e.Index, e.Record, e.Hash); err != nil {
			return err
		}
	}
	return err
}

func (s *tampered) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	return s.one(s.Store.ByID(ctx, id))
}

func (s *tampered) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	return s.one(s.Store.ByClaim(ctx, claim))
}

func (s *tampered) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	list, err := s.Store.ByReference(ctx, reference, from, limit)
	for i := range list {
		_, _ = s.one(&list[i], nil)
	}
	return list, err
}

func (s *tampered) one(e *ledger.Stored, err error) (*ledger.Stored, error) {
	if err == nil && s.record != nil {
		s.record(e)
	}
	return e, err
}

func (s *tampered) Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error) {
	list, err := s.Store.Hashes(ctx, level, from, n)
	for i := range list {
		if s.hash != nil {
			s.hash(level, from+uint64(i), &list[i])
		}
	}
	return list, err
}

func TestStoreThatDoesNotAddUpIsRefusedAtStart(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "some", 700)
	for name, damage := range map[string]tampered{
		"a late record":          {record: func(e *ledger.Stored) { flip(e.Index == 650, &e.Record[9]) }},
		"a late record and hash": {record: func(e *ledger.Stored) { flip(e.Index == 650, &e.Record[9]); e.Hash = tlog.RecordHash(e.Record) }},
		"an index":               {record: func(e *ledger.Stored) { e.Index++ }},
		"a lost record":          {short: true},
		"the size":               {head: func(h *ledger.Head) { h.Size-- }},
		"the edge":               {head: func(h *ledger.Head) { flip(true, &h.Edge[40]) }},
		"a short edge":           {head: func(h *ledger.Head) { h.Edge = h.Edge[:len(h.Edge)-1] }},
		"a long edge":            {head: func(h *ledger.Head) { h.Edge = append(h.Edge, h.Edge[:tlog.HashSize]...) }},
		"the checkpoint":         {head: func(h *ledger.Head) { flip(true, &h.Checkpoint[3]) }},
		"an enormous size":       {head: func(h *ledger.Head) { h.Size = 1 << 63 }},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			damage.Store = s
			if _, err := ledger.Open(t.Context(), &damage, ledger.Options{Folder: folder}); !errors.Is(err, ledger.ErrCorrupt) {
				t.Errorf("%v, want ErrCorrupt", err)
			}
		})
	}
}

// The start reads the last 4,096 records back, and not the whole log, or it would take ever longer.
func TestLastRecordsAreReadBackAtStart(t *testing.T) {
	folder := t.TempDir()
	const size = 5000
	l, err := openFolder(t.Context(), folder, ledger.Options{Queue: size})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for _, e := range ledgertest.Entries("tail", size) {
		wait.Go(func() {
			if _, err := l.Append(e); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	closeLog(t, l)
	for damaged, want := range map[uint64]error{size - 4096: ledger.ErrCorrupt, 256: nil} {
		s, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
		if err != nil {
			t.Fatal(err)
		}
		wrong := &tampered{Store: s, record: func(e *ledger.Stored) { flip(e.Index == damaged, &e.Record[9]) }}
		l, err := ledger.Open(t.Context(), wrong, ledger.Options{Folder: folder})
		if !errors.Is(err, want) {
			t.Errorf("record %d is damaged: %v, want %v", damaged, err, want)
		}
		if err == nil {
			closeLog(t, l)
		} else if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedRecordIsNotServed(t *testing.T) {
	wrong := &tampered{Store: store(t).Store}
	l := open(t, wrong, ledger.Options{})
	defer closeLog(t, l)
	e := ledgertest.Entries("served", 1)[0]
	e.Claims, e.Reference = []ledger.Claim{{Name: "claim"}}, "game"
	if _, err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Prove(t.Context(), 0); err != nil { // it was read back in good order
		t.Fatal(err)
	}
	wrong.record = func(e *ledger.Stored) { flip(true, &e.Record[9]) }
	_, byID := l.ByID(t.Context(), e.ID)
	_, byClaim := l.ByClaim(t.Context(), e.Claims[0].Name)
	_, byReference := l.ByReference(t.Context(), e.Reference, 0, 1)
	for way, err := range map[string]error{"id": byID, "claim": byClaim, "reference": byReference} {
		if !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("by its %s: %v, want ErrCorrupt", way, err)
		}
	}
}

func flip(really bool, b *byte) {
	if really {
		*b ^= 1
	}
}

// A record that is not read back as it was written must never come under a published checkpoint.
func TestNothingIsPublishedThatWasNotReadBack(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "riffle.db"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := &tampered{Store: s, record: func(e *ledger.Stored) { flip(e.Index == 2, &e.Record[9]) }}
	l := open(t, wrong, ledger.Options{})
	for i, e := range ledgertest.Entries("read back", 2) {
		if _, err := l.Append(e); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Prove(t.Context(), uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Append(ledgertest.Entries("wrong", 1)[0]); err != nil && !errors.Is(err, ledger.ErrBroken) {
		t.Fatal(err)
	}
	<-l.Failed()
	if err := l.Err(); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), "record 2") {
		t.Errorf("the log failed with %v, want it to name record 2", err)
	}
	if _, published := l.Sizes(); published != 2 {
		t.Errorf("a checkpoint of %d records was published", published)
	}
	if _, err := l.Prove(t.Context(), 2); !errors.Is(err, ledger.ErrBroken) {
		t.Errorf("a proof of the wrong record: %v", err)
	}
	closeLog(t, l)
}

func TestDamagedTilesAreNotServed(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "tiles", 600)
	s, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := &tampered{Store: s}
	l, err := ledger.Open(t.Context(), wrong, ledger.Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, l)
	wrong.hash = func(level int, index uint64, h *tlog.Hash) { flip(level == 0 && index == 300, &h[0]) }
	if _, err := l.Tile(t.Context(), 0, 1, 256); err == nil || errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a tile with a wrong hash: %v", err)
	}
	if _, err := l.Prove(t.Context(), 301); err == nil {
		t.Error("a proof was made with a wrong hash")
	}
	wrong.hash, wrong.record = nil, func(e *ledger.Stored) { flip(e.Index == 300, &e.Record[4]) }
	if _, err := l.Entries(t.Context(), 1, 256); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("a bundle with a wrong record: %v, want ErrCorrupt", err)
	}
	wrong.record = func(e *ledger.Stored) { flip(e.Index == 300, &e.Record[4]); e.Hash = tlog.RecordHash(e.Record) }
	if _, err := l.Entries(t.Context(), 1, 256); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("a bundle with a wrong record and its hash: %v, want ErrCorrupt", err)
	}
	wrong.record, wrong.short = nil, true
	if _, err := l.Entries(t.Context(), 1, 256); !errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("a bundle that lacks a record: %v, want ErrCorrupt", err)
	}
}

func TestEveryRecordIsProvenAndServed(t *testing.T) {
	folder := t.TempDir()
	const size = 256 + 70
	grow(t, folder, "proven", size)
	l, err := openFolder(t.Context(), folder, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, l)
	v := verifier(t, l)
	entries := ledgertest.Entries("proven", size)
	for i, e := range entries {
		p, err := l.Prove(t.Context(), uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := p.Check(e.Record, v); err != nil || c.Size != size || p.Index != uint64(i) {
			t.Fatalf("record %d: %+v, %v", i, c, err)
		}
	}
	for _, w := range []struct {
		level int
		index uint64
		width int
		there bool
	}{
		{0, 0, 256, true},
		{0, 0, 1, true},
		{0, 1, 70, true},
		{0, 1, 69, true},
		{1, 0, 1, true},
		{0, 1, 71, false},
		{0, 1, 256, false},
		{0, 2, 1, false},
		{1, 0, 2, false},
		{1, 1, 1, false},
		{2, 0, 1, false},
		{0, 0, 0, false},
		{0, 0, 257, false},
		{-1, 0, 1, false},
		{8, 0, 1, false},
		{63, 0, 1, false},
		{0, 1 << 60, 1, false},
		{0, ^uint64(0), 1, false},
	} {
		tile, err := l.Tile(t.Context(), w.level, w.index, w.width)
		if w.there != (err == nil) || !w.there && !errors.Is(err, ledger.ErrNotFound) || len(tile) != 0 && len(tile) != 32*w.width {
			t.Errorf("tile %d/%d of %d: %d bytes, %v", w.level, w.index, w.width, len(tile), err)
		}
	}
	bundle, err := l.Entries(t.Context(), 1, 70)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries[256:] {
		n := int(bundle[0])<<8 | int(bundle[1])
		if !bytes.Equal(bundle[2:2+n], e.Record) {
			t.Fatalf("the bundle has %q, want %q", bundle[2:2+n], e.Record)
		}
		bundle = bundle[2+n:]
	}
	if len(bundle) > 0 {
		t.Errorf("the bundle has %d bytes too many", len(bundle))
	}
}

func TestRecordThatNoLogCanServeIsRefused(t *testing.T) {
	l := open(t, store(t), ledger.Options{})
	defer closeLog(t, l)
	if _, err := l.Append(ledger.Entry{Record: make([]byte, 65536)}); !errors.Is(err, ledger.ErrTooLong) {
		t.Errorf("%v, want ErrTooLong", err)
	}
}

func TestLongestRecordsAreServedWhole(t *testing.T) {
	l := open(t, store(t), ledger.Options{})
	defer closeLog(t, l)
	entries := ledgertest.Entries("long", 2)
	var want []byte
	for i, length := range []int{65535, 0x1234} {
		entries[i].Record = bytes.Repeat([]byte{'0' + byte(i)}, length)
		if _, err := l.Append(entries[i]); err != nil {
			t.Fatal(err)
		}
		want = append(append(want, byte(length>>8), byte(length)), entries[i].Record...)
	}
	if _, err := l.Prove(t.Context(), 1); err != nil { // they are published
		t.Fatal(err)
	}
	if bundle, err := l.Entries(t.Context(), 0, 2); err != nil || !bytes.Equal(bundle, want) {
		t.Errorf("the bundle has %d bytes, %v, want %d", len(bundle), err, len(want))
	}
}

// A flaky store loses its connection: in an append, before or after the batch is there.
type flaky struct {
	ledger.Store
	mu            sync.Mutex // of the numbers, since the follower reads as well
	before, after int        // how many appends are lost
	down          int        // how many reads of the head are lost
	lookups       int        // how many look-ups by id are lost
	then          error      // if not nil, what the other appends fail with
}

// lose sets the numbers.
func (f *flaky) lose(set func(*flaky)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(f)
}

// lost counts one of the numbers down.
func (f *flaky) lost(number *int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *number == 0 {
		return false
	}
	*number--
	return true
}

func (f *flaky) Append(ctx context.Context, b ledger.Batch) error {
	if len(b.Entries) == 0 { // the log begins
		return f.Store.Append(ctx, b)
	}
	if f.lost(&f.before) {
		return fmt.Errorf("%w: connection reset", ledger.ErrUnavailable)
	}
	late := f.lost(&f.after)
	if !late && f.then != nil {
		return f.then
	}
	if err := f.Store.Append(ctx, b); err != nil || !late {
		return err
	}
	return fmt.Errorf("%w: connection reset", ledger.ErrUnavailable)
}

func (f *flaky) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendAlone(ctx, f, next)
}

func (f *flaky) Head(ctx context.Context) (ledger.Head, error) {
	if f.lost(&f.down) {
		return ledger.Head{}, fmt.Errorf("%w: connection refused", ledger.ErrUnavailable)
	}
	return f.Store.Head(ctx)
}

func (f *flaky) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	if f.lost(&f.lookups) {
		return nil, fmt.Errorf("%w: connection refused", ledger.ErrUnavailable)
	}
	return f.Store.ByID(ctx, id)
}

func TestLostConnectionIsReconciled(t *testing.T) {
	for name, lose := range map[string]func(*flaky){
		"before":                 func(f *flaky) { f.before = 1 },
		"after":                  func(f *flaky) { f.after = 1 },
		"before, and for longer": func(f *flaky) { f.before, f.down = 3, 2 },
		"after, and for longer":  func(f *flaky) { f.after, f.down = 1, 3 },
		"after, and the look-up": func(f *flaky) { f.after, f.lookups = 1, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			f := &flaky{Store: store(t).Store}
			l := open(t, f, ledger.Options{})
			defer closeLog(t, l)
			for i, e := range ledgertest.Entries(name, 6) {
				if i == 2 || i == 4 {
					f.lose(lose)
				}
				e.Claims = []ledger.Claim{{Name: e.ID.String()}}
				if index, err := l.Append(e); err != nil || index != uint64(i) {
					t.Fatalf("entry %d: index %d, %v", i, index, err)
				}
			}
			if n := ledgertest.CheckLog(t, f.Store, verifier(t, l)); n != 6 {
				t.Errorf("the log has %d records, want 6", n)
			}
		})
	}
}

func TestConnectionThatStaysLostEndsTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{Store: &memory{}}
		l := open(t, f, ledger.Options{ReconnectTimeout: 5 * time.Second})
		f.lose(func(f *flaky) { f.before, f.down = 1, 1<<30 })
		began := time.Now()
		if _, err := l.Append(ledgertest.Entries("lost", 1)[0]); !errors.Is(err, ledger.ErrBroken) {
			t.Errorf("%v, want ErrBroken", err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 7*time.Second {
			t.Errorf("it was given up after %s", took)
		}
		f.lose(func(f *flaky) { f.down = 0 })
		closeLog(t, l)
	})
}
