package ledger_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/proof"
	"riffle/internal/ledger/sqlite"
)

func TestProofsTilesAndBundles(t *testing.T) {
	folder := t.TempDir()
	const size = 256 + 70
	grow(t, folder, "proven", size)
	l := openFolder(t, folder)
	v := verifier(t, l)
	entries := ledgertest.Entries("proven", size)
	for i, e := range entries {
		p, err := l.Prove(t.Context(), uint64(i))
		require.NoError(t, err)
		c, err := p.Check(e.Record, v)
		require.Truef(t, err == nil && c.Size == size && p.Index == uint64(i), "record %d: %+v, %v", i, c, err)
	}
	for _, w := range []struct {
		level  int
		index  uint64
		width  int
		exists bool
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
		if w.exists != (err == nil) || !w.exists && !errors.Is(err, ledger.ErrNotFound) || len(tile) != 0 && len(tile) != 32*w.width {
			t.Errorf("tile %d/%d of %d: %d bytes, %v", w.level, w.index, w.width, len(tile), err)
		}
	}
	bundle, err := l.Entries(t.Context(), 1, 70)
	require.NoError(t, err)
	for _, e := range entries[256:] {
		n := int(bundle[0])<<8 | int(bundle[1])
		require.Equal(t, e.Record, bundle[2:2+n], "the bundle")
		bundle = bundle[2+n:]
	}
	assert.Emptyf(t, bundle, "the bundle has %d bytes too many", len(bundle))
}

// TestView proves records from a store that grows, with nothing but a verifier key.
func TestView(t *testing.T) {
	folder := t.TempDir()
	store := openStore(t, folder)
	l := open(t, store, ledger.Options{Folder: folder})
	entries := ledgertest.Entries("viewed", 2)
	appendEntry(t, l, entries[0])
	vault, err := ledger.OpenVault(ledger.Head{}, make(ledger.SeedKey, ledger.SeedKeySize))
	require.NoError(t, err)
	view, err := ledger.View(t.Context(), store, &ledger.SigningKey{Verifier: verifier(t, l), Public: l.Verifier()}, vault)
	require.NoError(t, err)
	appendEntry(t, l, entries[1])
	p, err := view.Prove(t.Context(), 0)
	require.NoError(t, err)
	c, err := p.Check(entries[0].Record, verifier(t, view))
	require.NoError(t, err)
	assert.EqualValues(t, 1, c.Size)
	assert.Equal(t, l.Origin(), view.Origin())
	for _, fails := range []func() error{
		func() error { _, err := view.ByID(t.Context(), entries[1].ID); return err },
		func() error { _, err := view.Prove(t.Context(), 1); return err },
	} {
		assert.ErrorIs(t, fails(), ledger.ErrGrown)
	}
	_, err = view.Append(ledgertest.Entries("more", 1)[0])
	assert.ErrorIs(t, err, ledger.ErrReadOnly)
	_, err = ledger.View(t.Context(), newStore(t), &ledger.SigningKey{Verifier: verifier(t, l)}, vault)
	assert.ErrorIs(t, err, ledger.ErrNoLog)
	_, err = ledger.View(t.Context(), store, &ledger.SigningKey{Verifier: verifier(t, open(t, newStore(t), ledger.Options{}))}, vault)
	assert.ErrorIs(t, err, proof.ErrSignature)
}

// TestOpenReadOnly reads a log whose folder and store nobody may write to, and refuses what Open refuses.
func TestOpenReadOnly(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "kept", 300)
	l := openFolder(t, folder)
	want, err := l.Prove(t.Context(), 7)
	require.NoError(t, err)
	closeLog(t, l)
	before := readFile(t, filepath.Join(folder, ledger.CheckpointName))
	path := filepath.Join(folder, "riffle.db")
	readOnly := func(options ledger.Options) (*ledger.Log, error) {
		store, err := sqlite.OpenReader(t.Context(), path)
		require.NoError(t, err)
		options.Folder = folder
		log, err := ledger.OpenReadOnly(t.Context(), store, options)
		if err != nil {
			must(t, store.Close())
		}
		return log, err
	}
	l, err = readOnly(ledger.Options{})
	require.NoError(t, err)
	e, err := l.At(t.Context(), 7)
	require.NoError(t, err)
	sidecar, err := l.Sidecar(e)
	assert.Truef(t, err == nil && len(sidecar) > 0, "the sidecar is %x, %v", sidecar, err)
	got, err := l.Prove(t.Context(), 7)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	_, err = l.Append(ledgertest.Entries("more", 1)[0])
	assert.ErrorIs(t, err, ledger.ErrReadOnly)
	assert.NoError(t, l.Health())
	must(t, l.Close())
	assert.Equal(t, before, readFile(t, filepath.Join(folder, ledger.CheckpointName)))

	_, err = readOnly(ledger.Options{SeedKey: make(ledger.SeedKey, ledger.SeedKeySize)})
	assert.ErrorContains(t, err, "are encrypted under the key")
	_, err = readOnly(ledger.Options{Origin: "another"})
	assert.ErrorContains(t, err, "the origin of a log cannot change")
	_, err = readOnly(ledger.Options{Anchors: []ledger.Anchor{{Source: "elsewhere", Note: []byte("no note")}}})
	assert.ErrorContains(t, err, "elsewhere cannot be read")
	older := readFile(t, path)
	grow(t, folder, "later", 1)
	writeFile(t, path, older)
	_, err = readOnly(ledger.Options{})
	assert.ErrorIs(t, err, ledger.ErrCorrupt)
	must(t, os.Remove(filepath.Join(folder, ledger.CheckpointName)))
	_, err = readOnly(ledger.Options{})
	assert.ErrorIs(t, err, ledger.ErrNoLog)
}

func TestLongestRecord(t *testing.T) {
	l := open(t, newStore(t), ledger.Options{})
	_, err := l.Append(ledger.Entry{Record: make([]byte, 65536)})
	assert.ErrorIs(t, err, ledger.ErrTooLong, "a longer record")
	entries := ledgertest.Entries("long", 2)
	var want []byte
	for i, length := range []int{65535, 0x1234} {
		entries[i].Record = bytes.Repeat([]byte{'0' + byte(i)}, length)
		appendEntry(t, l, entries[i])
		want = append(append(want, byte(length>>8), byte(length)), entries[i].Record...)
	}
	if _, err := l.Prove(t.Context(), 1); err != nil { // waits until they are published
		t.Fatal(err)
	}
	bundle, err := l.Entries(t.Context(), 0, 2)
	assert.Truef(t, err == nil && bytes.Equal(bundle, want), "the bundle has %d bytes, %v, want %d", len(bundle), err, len(want))
}

func TestReadsRejectDamagedRecord(t *testing.T) {
	tampered := newStore(t)
	l := open(t, tampered, ledger.Options{})
	e := ledgertest.Entries("served", 1)[0]
	e.Claims, e.Reference = []ledger.Claim{{Name: "claim"}}, "game"
	appendEntry(t, l, e)
	if _, err := l.Prove(t.Context(), 0); err != nil { // waits until it was read back undamaged
		t.Fatal(err)
	}
	tampered.record = func(e *ledger.StoredEntry) { flipIf(true, &e.Record[9]) }
	_, byID := l.ByID(t.Context(), e.ID)
	_, byClaim := l.ByClaim(t.Context(), e.Claims[0].Name)
	_, byReference := l.ByReference(t.Context(), e.Reference, 0, 1)
	for way, err := range map[string]error{"id": byID, "claim": byClaim, "reference": byReference} {
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "by its %s", way)
	}
}

func TestTilesAndBundlesRejectDamage(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "tiles", 600)
	tampered := &faultyStore{Store: openStore(t, folder)}
	l := open(t, tampered, ledger.Options{Folder: folder})
	tampered.hash = func(level int, index uint64, h *tlog.Hash) { flipIf(level == 0 && index == 300, &h[0]) }
	if _, err := l.Tile(t.Context(), 0, 1, 256); err == nil || errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a tile with a wrong hash: %v", err)
	}
	_, err := l.Prove(t.Context(), 301)
	assert.Error(t, err, "a proof was made with a wrong hash")
	tampered.hash, tampered.record = nil, func(e *ledger.StoredEntry) { flipIf(e.Index == 300, &e.Record[4]) }
	_, err = l.Entries(t.Context(), 1, 256)
	assert.ErrorIs(t, err, ledger.ErrCorrupt, "a bundle with a wrong record")
	tampered.record = func(e *ledger.StoredEntry) { flipIf(e.Index == 300, &e.Record[4]); e.Hash = tlog.RecordHash(e.Record) }
	_, err = l.Entries(t.Context(), 1, 256)
	assert.ErrorIs(t, err, ledger.ErrCorrupt, "a bundle with a wrong record and its hash")
	tampered.record, tampered.short = nil, true
	_, err = l.Entries(t.Context(), 1, 256)
	assert.ErrorIs(t, err, ledger.ErrCorrupt, "a bundle that lacks a record")
}
