package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/system"
)

// A Store is the [ledger.Store] of an archive. A whole one takes no more entries.
type Store struct {
	*Reader
	ledger.Engine               // of the index
	store         *sqlite.Store // the index
}

// Open opens an archive, or begins one in a folder that has none. It returns [ledger.ErrInUse] if another
// process has opened it.
func Open(ctx context.Context, folder string) (*Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	index, err := sqlite.Open(ctx, filepath.Join(folder, indexName))
	if err != nil {
		return nil, err
	}
	r, err := newReader(ctx, folder, index)
	return &Store{Reader: r, Engine: index, store: index}, err
}

// Append implements [ledger.Store]. Only the last batch may end within a bundle.
func (s *Store) Append(ctx context.Context, b ledger.Batch) error {
	if b.Size%bundleSize != 0 {
		return fmt.Errorf("%w: the archive ends with record %d", ledger.ErrConflict, b.Size)
	}
	b.Entries = slices.Clone(b.Entries)
	number := b.Size / bundleSize
	for part := range slices.Chunk(b.Entries, bundleSize) {
		var records, sidecars []byte
		for i := range part {
			records = appendText(records, part[i].Record, recordLength)
			sidecars = appendText(sidecars, part[i].Sidecar, sidecarLength)
			part[i].Record, part[i].Sidecar = []byte{}, nil
		}
		width := uint64(len(part))
		if err := cmp.Or(s.write(entriesPath(number, width), records), s.write(sidecarsPath(number, width), sidecars)); err != nil {
			return err
		}
		number++
	}
	return s.store.Append(ctx, b)
}

// WriteTiles writes the tiles of a log of a size, once all entries were appended.
func (s *Store) WriteTiles(ctx context.Context, size uint64) error {
	s.size = size
	return s.eachTile(ctx, size, s.write)
}

// Finish writes the signed checkpoint, after which the archive is whole.
func (s *Store) Finish(checkpoint []byte) error { return s.write(checkpointName, checkpoint) }

// write writes a file.
func (s *Store) write(name string, text []byte) error {
	path := filepath.Join(s.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return ledger.ReplaceFile(path, text)
}

// Reseal implements [ledger.Store].
func (s *Store) Reseal(ctx context.Context, seedKey []byte, entries []ledger.StoredEntry) error {
	for len(entries) > 0 {
		b, err := s.read(ctx, entries[0].Index/bundleSize)
		if err != nil || b.sidecars == nil {
			return err
		}
		for len(entries) > 0 && entries[0].Index/bundleSize == b.number {
			b.sidecars[entries[0].Index%bundleSize] = entries[0].Sidecar
			entries = entries[1:]
		}
		var text []byte
		for _, sidecar := range b.sidecars {
			text = appendText(text, sidecar, sidecarLength)
		}
		if err := s.write(sidecarsPath(b.number, uint64(len(b.sidecars))), text); err != nil {
			return err
		}
	}
	return s.store.Reseal(ctx, seedKey, nil)
}

// Confirm implements [ledger.Store].
func (s *Store) Confirm(ctx context.Context) (ledger.Head, error) { return s.Head(ctx) }

// AppendNext implements [ledger.Store].
func (s *Store) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendFromHead(ctx, s, next)
}

// Copy copies an archive, unless the target is a whole one.
func Copy(from, to string) error {
	if Exists(to) {
		return nil
	}
	part := to + ".new"
	defer system.Private()() // CopyFS gives what it creates to all
	err := errors.Join(os.RemoveAll(part), os.RemoveAll(to), os.CopyFS(part, os.DirFS(from)))
	if err != nil {
		return err
	}
	system.SyncAll()
	if err := os.Rename(part, to); err != nil {
		return err
	}
	return system.SyncFolder(to)
}
