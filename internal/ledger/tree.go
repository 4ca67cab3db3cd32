package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

// tileHeight is the number of tree levels in a tile, as in C2SP tlog-tiles (https://c2sp.org).
const tileHeight = 8

// tileWidth is the number of hashes in a full tile.
const tileWidth = 1 << tileHeight

// A Tree is the right edge of a Merkle tree (RFC 6962), enough to append to it. The zero Tree is
// empty. A copy of a Tree is independent of it.
type Tree struct {
	size int64
	edge [63]tlog.Hash // by level: the last complete subtree of 2^level records, if size has that bit
}

// Size returns the number of records.
func (t *Tree) Size() uint64 { return uint64(t.size) }

// Root returns the tree's root hash.
func (t *Tree) Root() tlog.Hash {
	root, _ := tlog.TreeHash(t.size, t) // ReadHashes never fails
	return root
}

// ReadHashes implements [tlog.HashReader] for the edge's hashes, the only ones that [tlog.TreeHash] reads.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, _ := tlog.SplitStoredHashIndex(index)
		hashes[i] = t.edge[level]
	}
	return hashes, nil
}

// Add adds a record by its hash, and appends the nodes that it completes to nodes.
func (t *Tree) Add(record tlog.Hash, nodes []Node) []Node {
	h, level := record, 0
	for ; t.size>>level&1 == 1; level++ {
		h = tlog.NodeHash(t.edge[level], h)
		if above := level + 1; above%tileHeight == 0 {
			nodes = append(nodes, Node{Level: above / tileHeight, Index: uint64(t.size >> above), Hash: h})
		}
	}
	t.edge[level] = h
	t.size++
	return nodes
}

// NextBatch adds entries by their hashes and returns the batch that appends them to a store, with
// the new tree's signed checkpoint.
func (t *Tree) NextBatch(entries []Entry, signer note.Signer) (b Batch, err error) {
	b.Size, b.Entries = t.Size(), entries
	for i := range entries {
		b.Nodes = t.Add(entries[i].Hash, b.Nodes)
	}
	b.Head = t.Head()
	b.Head.Checkpoint, err = proof.Checkpoint{Origin: signer.Name(), Size: t.Size(), Root: t.Root()}.Sign(signer)
	return b, err
}

// Head returns the head of a store with this tree, without a checkpoint.
func (t *Tree) Head() Head {
	edge := []byte{}
	for level := len(t.edge) - 1; level >= 0; level-- {
		if t.size>>level&1 == 1 {
			edge = append(edge, t.edge[level][:]...)
		}
	}
	return Head{Size: t.Size(), Edge: edge}
}

// treeOf is the inverse of [Tree.Head]. It does not validate the hashes: compare the root.
func treeOf(h Head) (t Tree, err error) {
	if h.Size > math.MaxInt64 || len(h.Edge) != bits.OnesCount64(h.Size)*tlog.HashSize {
		return t, fmt.Errorf("%w: the edge of a tree of %d records cannot have %d bytes", ErrCorrupt, h.Size, len(h.Edge))
	}
	t.size = int64(h.Size)
	rest := h.Edge
	for level := len(t.edge) - 1; level >= 0; level-- {
		if t.size>>level&1 == 1 {
			t.edge[level] = tlog.Hash(rest[:tlog.HashSize])
			rest = rest[tlog.HashSize:]
		}
	}
	return t, nil
}

// openHead validates a head: the key must have signed its checkpoint for the size and root of its
// edge.
func openHead(h Head, verifier note.Verifier) (t Tree, c proof.Checkpoint, err error) {
	if c, err = proof.OpenCheckpoint(h.Checkpoint, verifier); err != nil {
		return t, c, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if t, err = treeOf(h); err != nil {
		return t, c, err
	}
	if c.Size > h.Size {
		return t, c, fmt.Errorf("%w: the store has %d of the %d records that its checkpoint was signed for: %w", ErrCorrupt, h.Size, c.Size, errUnfinished)
	}
	root := t.Root()
	if c.Size != h.Size || c.Root != root {
		return t, c, fmt.Errorf("%w: the head has %d records with the root %s, and the checkpoint was signed for %d with %s",
			ErrCorrupt, h.Size, root, c.Size, c.Root)
	}
	return t, c, nil
}

// errUnfinished means that a [Copy] to the store was not finished.
var errUnfinished = errors.New("it is a copy that is not finished, so run the command that makes it again")

// hashReader returns a reader of the store's tree that checks every hash against the checkpoint.
func hashReader(ctx context.Context, store Reader, c proof.Checkpoint) tlog.HashReader {
	return tlog.TileHashReader(tlog.Tree{N: int64(c.Size), Hash: c.Root}, tileReader{ctx, store})
}

// A tileReader implements [tlog.TileReader] for a store. It checks nothing.
type tileReader struct {
	ctx   context.Context
	store Reader
}

func (tileReader) Height() int { return tileHeight }

func (r tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, t := range tiles {
		hashes, err := r.store.Hashes(r.ctx, t.L, uint64(t.N)<<tileHeight, t.W)
		if err != nil {
			return nil, err
		}
		if len(hashes) != t.W {
			return nil, fmt.Errorf("%w: of %d hashes of level %d from %d on there are %d", ErrCorrupt, t.W, t.L, t.N<<tileHeight, len(hashes))
		}
		data[i] = Joined(hashes)
	}
	return data, nil
}

// Joined returns the bytes of hashes.
func Joined(hashes []tlog.Hash) []byte {
	data := make([]byte, 0, len(hashes)*tlog.HashSize)
	for _, h := range hashes {
		data = append(data, h[:]...)
	}
	return data
}

func (tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

// prefix returns the tree of a checkpoint's first n records.
func prefix(ctx context.Context, store Reader, c proof.Checkpoint, n uint64) (t Tree, err error) {
	if n == 0 {
		return t, nil
	}
	var indexes []int64
	for level := len(t.edge) - 1; level >= 0; level-- {
		if n>>level&1 == 1 {
			indexes = append(indexes, tlog.StoredHashIndex(level, int64(n>>level)-1))
		}
	}
	hashes, err := hashReader(ctx, store, c).ReadHashes(indexes)
	if err != nil {
		return t, fmt.Errorf("%w: reading the tree of the first %d records: %w", ErrCorrupt, n, err)
	}
	return treeOf(Head{Size: n, Edge: Joined(hashes)})
}

// extends returns [ErrCorrupt] unless the checkpoint's tree extends the earlier one's.
func extends(ctx context.Context, store Reader, c, earlier proof.Checkpoint) error {
	if earlier.Size == c.Size && earlier.Root == c.Root || earlier.Size == 0 {
		return nil
	}
	consistency, err := tlog.ProveTree(int64(c.Size), int64(earlier.Size), hashReader(ctx, store, c))
	if errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	if err == nil {
		err = tlog.CheckTree(consistency, int64(c.Size), c.Root, int64(earlier.Size), earlier.Root)
	}
	if err != nil {
		return fmt.Errorf("%w: the %d records do not continue the %d of the earlier checkpoint: %w", ErrCorrupt, c.Size, earlier.Size, err)
	}
	return nil
}
