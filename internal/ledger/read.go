package ledger

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

// Verifier returns the public key that checks the log's checkpoints, as text: name, hash and Ed25519 key.
func (l *Log) Verifier() string { return l.key.Public }

// Checkpoint returns a published checkpoint, signed. It covers every record that this process has committed or, if that is
// not to be had within a second, is the last one that was published.
func (l *Log) Checkpoint(ctx context.Context) []byte {
	ctx, cancel := context.WithTimeout(ctx, followEvery)
	defer cancel()
	if size := l.committed.Load(); size > 0 {
		if p, err := l.awaitPublished(ctx, size-1); err == nil {
			return p.text
		}
	}
	return l.published.Load().text
}

// Sizes returns how many records the log has, as far as this process knows, and how many the published checkpoint covers.
func (l *Log) Sizes() (committed, published uint64) {
	published = l.published.Load().Size
	return max(l.committed.Load(), published), published
}

// ByID returns the entry with the id, or [ErrNotFound].
func (l *Log) ByID(ctx context.Context, id uuid.UUID) (*Stored, error) {
	return whole(l.store.ByID(ctx, id))
}

// At returns the entry at an index, or [ErrNotFound].
func (l *Log) At(ctx context.Context, index uint64) (*Stored, error) {
	return whole(First(l.store.Range(ctx, index, 1)))
}

// ByClaim returns the entry that holds the claim, or [ErrNotFound].
func (l *Log) ByClaim(ctx context.Context, claim string) (*Stored, error) {
	return whole(l.store.ByClaim(ctx, claim))
}

// whole lets an entry pass whose record has its hash.
func whole(e *Stored, err error) (*Stored, error) {
	if err != nil {
		return nil, err
	}
	return e, intact(e.Index, e.Record, e.Hash, e.Index)
}

// ByReference returns entries of a reference in log order, at most limit, from the index on.
func (l *Log) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]Stored, error) {
	list, err := l.store.ByReference(ctx, reference, from, limit)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if _, err := whole(&list[i], nil); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// FirstByReference returns the first entry of a reference that the function picks, or [ErrNotFound].
func (l *Log) FirstByReference(ctx context.Context, reference string, pick func(*Stored) bool) (*Stored, error) {
	return whole(FirstOf(ctx, l.store, reference, pick))
}

// Claims returns claims by name, without Taken and From.
func (l *Log) Claims(ctx context.Context, q ClaimQuery) ([]Claim, error) {
	return l.store.Claims(ctx, q)
}

// CountClaims returns how many claims there are.
func (l *Log) CountClaims(ctx context.Context, q ClaimQuery) (uint64, error) {
	return l.store.CountClaims(ctx, q)
}

// Sidecar returns what is kept beside the record of an entry, in the clear; nil if nothing is.
func (l *Log) Sidecar(e *Stored) ([]byte, error) { return l.vault.Secret(e) }

// Prove returns the proof that the record at an index is in the log, under a published checkpoint. A record that has
// just been appended is waited for; the error is [ErrNotPublished] if that takes long.
func (l *Log) Prove(ctx context.Context, index uint64) (*proof.Inclusion, error) {
	p, err := l.awaitPublished(ctx, index)
	if err != nil {
		return nil, err
	}
	path, err := tlog.ProveRecord(int64(p.Size), int64(index), hashes(ctx, l.store, p.Checkpoint))
	if err != nil {
		return nil, fmt.Errorf("proving record %d of %d: %w", index, p.Size, err)
	}
	return &proof.Inclusion{Index: index, Hashes: path, Checkpoint: p.text}, nil
}

// Tile returns a tile of the published tree: width hashes of a level of tiles, from index times 256 on. [ErrNotFound]:
// the tree does not have it.
func (l *Log) Tile(ctx context.Context, level int, index uint64, width int) ([]byte, error) {
	p := l.published.Load()
	found, err := tileOf(ctx, l.store, p.Checkpoint, level, index, width)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, len(found)*tlog.HashSize)
	for _, h := range found {
		data = append(data, h[:]...)
	}
	return data, nil
}

// tileOf returns hashes of a tile, checked against the root of the checkpoint.
func tileOf(ctx context.Context, store Store, c proof.Checkpoint, level int, index uint64, width int) ([]tlog.Hash, error) {
	if level < 0 || level > 63/tileHeight || width < 1 || width > tileWidth {
		return nil, ErrNotFound
	}
	if have := c.Size >> (level * tileHeight); have < uint64(width) || index > (have-uint64(width))>>tileHeight {
		return nil, ErrNotFound
	}
	indexes := make([]int64, width)
	for i := range indexes {
		indexes[i] = tlog.StoredHashIndex(level*tileHeight, int64(index)<<tileHeight+int64(i))
	}
	return hashes(ctx, store, c).ReadHashes(indexes)
}

// Entries returns an entry bundle of the published log: the records of the tile of that index and width at level 0, each
// behind its length in two bytes, big-endian. [ErrNotFound]: the log does not have it.
func (l *Log) Entries(ctx context.Context, index uint64, width int) ([]byte, error) {
	p := l.published.Load()
	leaves, err := tileOf(ctx, l.store, p.Checkpoint, 0, index, width)
	if err != nil {
		return nil, err
	}
	first := index << tileHeight
	var bundle []byte
	next := first
	err = l.store.Records(ctx, first, width, func(index uint64, record []byte, hash tlog.Hash) error {
		if err := intact(index, record, hash, next); err != nil {
			return err
		}
		if hash != leaves[next-first] {
			return fmt.Errorf("%w: record %d is not the one in the tree", ErrCorrupt, index)
		}
		next++
		bundle = binary.BigEndian.AppendUint16(bundle, uint16(len(record)))
		bundle = append(bundle, record...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if next != first+uint64(width) {
		return nil, fmt.Errorf("%w: of %d records from %d on there are %d", ErrCorrupt, width, first, next-first)
	}
	return bundle, nil
}
