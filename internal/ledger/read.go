package ledger

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/semaphore"

	"riffle/internal/ledger/proof"
)

// ByID returns the entry with the id, or [ErrNotFound].
func (l *Log) ByID(ctx context.Context, id uuid.UUID) (*StoredEntry, error) {
	return l.readDurable(ctx, ByID(id))
}

// At returns the entry at an index, or [ErrNotFound].
func (l *Log) At(ctx context.Context, index uint64) (*StoredEntry, error) {
	return l.readDurable(ctx, Range(index, 1))
}

// ByClaim returns the claim's holder, or [ErrNotFound].
func (l *Log) ByClaim(ctx context.Context, claim string) (*StoredEntry, error) {
	return l.readDurable(ctx, ByClaim(claim))
}

// ByReference returns at most limit entries of a reference in log order, from index on.
func (l *Log) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]StoredEntry, error) {
	for {
		list, err := reading(ctx, l.readers, func() ([]StoredEntry, error) {
			return l.store.Select(ctx, ByReference(reference, from, limit))
		})
		if err != nil {
			return nil, err
		}
		for i := range list {
			if _, err := l.validated(&list[i], nil); err != nil {
				return nil, err
			}
		}
		if len(list) == 0 {
			return nil, nil
		}
		size := list[len(list)-1].Index + 1
		if size <= l.durable.Load().Size {
			return list, nil
		}
		if err := l.awaitDurable(ctx, size); err != nil {
			return nil, err
		}
	}
}

// first returns the first entry that q selects, or [ErrNotFound].
func (l *Log) first(ctx context.Context, q EntryQuery) (*StoredEntry, error) {
	return l.validated(FirstOrNotFound(reading(ctx, l.readers, func() ([]StoredEntry, error) { return l.store.Select(ctx, q) })))
}

// validated checks an entry that the store returned.
func (l *Log) validated(e *StoredEntry, err error) (*StoredEntry, error) {
	if err != nil {
		return nil, err
	}
	return e, checkRecord(e.Index, e.Record, e.Hash, e.Index)
}

// Sidecar returns the entry's decrypted sidecar, or nil if it has none.
func (l *Log) Sidecar(e *StoredEntry) ([]byte, error) { return l.vault.Decrypt(e) }

// Claims returns the selected claims with name, status and due time, sorted by name.
func (l *Log) Claims(ctx context.Context, q ClaimQuery) ([]Claim, error) {
	return reading(ctx, l.readers, func() ([]Claim, error) { return l.store.Claims(ctx, q) })
}

// CountClaims returns the number of selected claims.
func (l *Log) CountClaims(ctx context.Context, q ClaimQuery) (uint64, error) {
	return reading(ctx, l.readers, func() (uint64, error) { return l.store.CountClaims(ctx, q) })
}

// Sizes returns the number of committed records that this process knows, and the size of the
// published checkpoint.
func (l *Log) Sizes() (committed, published uint64) {
	published = l.published.Load().Size
	return max(l.durable.Load().Size, published), published
}

// Verifier returns the log's verifier key as text: name, hash and Ed25519 public key.
func (l *Log) Verifier() string { return l.key.Public }

// Origin returns the log's name.
func (l *Log) Origin() string { return l.key.Name() }

// Checkpoint returns the published checkpoint as a signed note. It waits up to a second for one
// that covers all records that this process has committed.
func (l *Log) Checkpoint(ctx context.Context) []byte {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if size := l.durable.Load().Size; size > 0 {
		if p, err := l.await(ctx, size-1, &l.published, ErrNotPublished); err == nil {
			return p.text
		}
	}
	return l.published.Load().text
}

// Extend checks that the log has every record of an anchor, and returns the published checkpoint if that
// is newer, to replace the anchor with. A log that lacks one of them breaks.
func (l *Log) Extend(ctx context.Context, a Anchor) ([]byte, error) {
	l.Checkpoint(ctx) // waits for one that covers all committed records
	p := l.published.Load()
	if string(a.Note) == string(p.text) {
		return nil, nil
	}
	if err := CheckRollback(ctx, l.store, l.key.Verifier, a); err != nil {
		if errors.Is(err, ErrCorrupt) {
			l.fail(err)
		}
		return nil, err
	}
	if c, err := proof.OpenCheckpoint(a.Note, l.key.Verifier); err == nil && c.Size >= p.Size {
		return nil, nil // another process has published it, or signed it again
	}
	return p.text, nil
}

// Published returns the published checkpoint, for witnesses to cosign its note.
func (l *Log) Published() (c proof.Checkpoint, note []byte) {
	p := l.published.Load()
	return p.Checkpoint, p.text
}

// ProveEarlier proves that the tree of a published checkpoint extends the tree of an earlier size.
func (l *Log) ProveEarlier(ctx context.Context, c proof.Checkpoint, earlier uint64) ([]tlog.Hash, error) {
	return reading(ctx, l.readers, func() ([]tlog.Hash, error) {
		return tlog.ProveTree(int64(c.Size), int64(earlier), hashReader(ctx, l.store, c))
	})
}

// AwaitsWitnesses says that witnesses cosign the log's checkpoints.
func (l *Log) AwaitsWitnesses() { l.witnessed.CompareAndSwap(nil, &published{}) }

// SetWitnessed sets the checkpoint that enough witnesses have cosigned.
func (l *Log) SetWitnessed(c proof.Checkpoint, note []byte) {
	l.publish(&l.witnessed, &published{Checkpoint: c, text: note})
}

// Witnessed returns the last checkpoint that enough witnesses have cosigned; nil for none.
func (l *Log) Witnessed() (note []byte) {
	if p := l.witnessed.Load(); p != nil {
		note = p.text
	}
	return note
}

// AwaitWitnessed waits up to ten seconds until enough witnesses have cosigned a checkpoint that
// covers the record at index. The error is [ErrNotWitnessed] or [ErrNoWitnesses].
func (l *Log) AwaitWitnessed(ctx context.Context, index uint64) error {
	if l.witnessed.Load() == nil {
		return ErrNoWitnesses
	}
	_, err := l.await(ctx, index, &l.witnessed, ErrNotWitnessed)
	return err
}

// Prove returns an inclusion proof of the record at index, under the witnessed checkpoint if that
// covers it, and else under the published one. It waits up to ten seconds for the checkpoint of a
// new record, and then returns [ErrNotPublished].
func (l *Log) Prove(ctx context.Context, index uint64) (*proof.Inclusion, error) {
	p, err := l.await(ctx, index, &l.published, ErrNotPublished)
	if err != nil {
		return nil, err
	}
	if w := l.witnessed.Load(); w != nil && index < w.Size {
		p = w
	}
	path, err := reading(ctx, l.readers, func() (tlog.RecordProof, error) {
		return tlog.ProveRecord(int64(p.Size), int64(index), hashReader(ctx, l.store, p.Checkpoint))
	})
	if err != nil {
		return nil, fmt.Errorf("proving record %d of %d: %w", index, p.Size, err)
	}
	return &proof.Inclusion{Index: index, Hashes: path, Checkpoint: p.text}, nil
}

// Tile returns the first width hashes of a tile of the published tree, as in C2SP tlog-tiles, or
// [ErrNotFound].
func (l *Log) Tile(ctx context.Context, level int, index uint64, width int) ([]byte, error) {
	return reading(ctx, l.readers, func() ([]byte, error) {
		return readTile(ctx, l.store, l.published.Load().Checkpoint, level, index, width)
	})
}

// readTile is [Log.Tile] of a store, for a checkpoint that its head has.
func readTile(ctx context.Context, store Reader, c proof.Checkpoint, level int, index uint64, width int) ([]byte, error) {
	if level < 0 || level > 63/tileHeight || width < 1 || width > tileWidth {
		return nil, ErrNotFound
	}
	if have := c.Size >> (level * tileHeight); have < uint64(width) || index > (have-uint64(width))>>tileHeight {
		return nil, ErrNotFound
	}
	return tlog.ReadTileData(tlog.Tile{H: tileHeight, L: level, N: int64(index), W: width}, hashReader(ctx, store, c))
}

// Entries returns the first width records of an entry bundle of the published log, as in C2SP
// tlog-tiles, or [ErrNotFound]. Each record follows its length in two bytes, big-endian.
func (l *Log) Entries(ctx context.Context, index uint64, width int) ([]byte, error) {
	return reading(ctx, l.readers, func() ([]byte, error) {
		leaves, err := readTile(ctx, l.store, l.published.Load().Checkpoint, 0, index, width)
		if err != nil {
			return nil, err
		}
		first, bundle := index<<tileHeight, []byte(nil)
		next := first
		err = l.store.Records(ctx, first, width, func(index uint64, record []byte, _ tlog.Hash) error {
			if err := checkRecord(index, record, tlog.Hash(leaves[(next-first)*tlog.HashSize:]), next); err != nil {
				return err
			}
			next++
			bundle = binary.BigEndian.AppendUint16(bundle, uint16(len(record)))
			bundle = append(bundle, record...)
			return nil
		})
		if err == nil && next != first+uint64(width) {
			err = fmt.Errorf("%w: of %d records from %d on there are %d", ErrCorrupt, width, first, next-first)
		}
		return bundle, err
	})
}

// reservedReaders are the store's reads for the log itself, one for the writer and one for the
// follower. They never wait for callers.
const reservedReaders = 2

// maxWaiting is the number of callers that may wait for a reader. A look-up takes less than a
// millisecond, so the last caller waits much less than readerTimeout unless the store is slow.
const maxWaiting = 1024

// readerTimeout is the time that a caller waits for a reader.
const readerTimeout = time.Second

// DefaultReaders returns the number of concurrent reads that a store should serve: two for each
// processor and at least four, plus the reserved ones. More are slower.
func DefaultReaders() int { return max(4, 2*runtime.GOMAXPROCS(0)) + reservedReaders }

// readers is a semaphore of callers that read from the store, with a bounded queue.
type readers struct {
	slots   *semaphore.Weighted
	waiting atomic.Int64
}

// acquire waits, first come first served, until the caller may read from the store. The caller must
// release the slot. acquire returns [ErrOverloaded] if maxWaiting callers wait already or after
// readerTimeout, and the error of ctx when ctx is done.
func (r *readers) acquire(ctx context.Context) error {
	if r.slots.TryAcquire(1) {
		return nil
	}
	defer r.waiting.Add(-1)
	if r.waiting.Add(1) > maxWaiting {
		return ErrOverloaded
	}
	limited, cancel := context.WithTimeout(ctx, readerTimeout)
	defer cancel()
	if r.slots.Acquire(limited, 1) != nil {
		return cmp.Or(ctx.Err(), ErrOverloaded)
	}
	return nil
}

// reading calls read between [readers.acquire] and the release.
func reading[T any](ctx context.Context, r *readers, read func() (T, error)) (T, error) {
	if err := r.acquire(ctx); err != nil {
		var none T
		return none, err
	}
	defer r.slots.Release(1)
	return read()
}
