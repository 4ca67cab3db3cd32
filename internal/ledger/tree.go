package ledger

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

// tileHeight is how many levels of the tree a tile has. C2SP's tlog-tiles fixes it.
const tileHeight = 8

// tileWidth is how many hashes a full tile has.
const tileWidth = 1 << tileHeight

// A Tree is the right edge of a Merkle tree, which is all that it takes to let the tree grow. The zero Tree is empty.
// It is a value: a copy grows by itself.
type Tree struct {
	size int64
	edge [63]tlog.Hash // by level: the last complete subtree of 2^level records, where size has that bit
}

// ReadHashes gives tlog the hashes of the edge. It never asks for others while the tree grows.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		if t.size>>level&1 == 0 || n != t.size>>level-1 {
			return nil, fmt.Errorf("the hash %d of level %d is not on the edge of a tree of %d", n, level, t.size)
		}
		hashes[i] = t.edge[level]
	}
	return hashes, nil
}

// Size returns how many records the tree is over.
func (t *Tree) Size() uint64 { return uint64(t.size) }

// Root returns the hash of the tree.
func (t *Tree) Root() (tlog.Hash, error) { return tlog.TreeHash(t.size, t) }

// Add lets the tree grow by the hash of a record, and appends to nodes those that this completes.
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

// Seal lets the tree grow by entries, which have their hashes, and returns the batch that takes a store along.
func (t *Tree) Seal(entries []Entry, signer note.Signer) (b Batch, err error) {
	b.Size, b.Entries = t.Size(), entries
	for i := range entries {
		b.Nodes = t.Add(entries[i].Hash, b.Nodes)
	}
	root, err := t.Root()
	if err != nil {
		return b, err
	}
	b.Head = t.Head()
	b.Head.Checkpoint, err = proof.Checkpoint{Origin: signer.Name(), Size: t.Size(), Root: root}.Sign(signer)
	return b, err
}

// Head returns the head that a store has for the tree, which nobody has signed.
func (t *Tree) Head() Head {
	edge := []byte{}
	for level := len(t.edge) - 1; level >= 0; level-- {
		if t.size>>level&1 == 1 {
			edge = append(edge, t.edge[level][:]...)
		}
	}
	return Head{Size: t.Size(), Edge: edge}
}

// treeOf returns the tree of a head. Its hashes are to be believed only as far as its root is.
func treeOf(h Head) (t Tree, err error) {
	t.size = int64(h.Size)
	rest := h.Edge
	for level := len(t.edge) - 1; level >= 0; level-- {
		if t.size>>level&1 == 0 {
			continue
		}
		if len(rest) < tlog.HashSize {
			return t, fmt.Errorf("%w: the edge of the tree is too short", ErrCorrupt)
		}
		t.edge[level] = tlog.Hash(rest[:tlog.HashSize])
		rest = rest[tlog.HashSize:]
	}
	if t.size < 0 || len(rest) > 0 {
		return t, fmt.Errorf("%w: the edge of the tree does not go with its size of %d", ErrCorrupt, h.Size)
	}
	return t, nil
}

// openHead checks a head against itself and the key: the checkpoint is signed, is of this size, and has the root that
// the edge leads to.
func openHead(h Head, verifier note.Verifier) (t Tree, c proof.Checkpoint, err error) {
	if c, err = proof.OpenCheckpoint(h.Checkpoint, verifier); err != nil {
		return t, c, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if t, err = treeOf(h); err != nil {
		return t, c, err
	}
	root, err := t.Root()
	if err != nil {
		return t, c, err
	}
	if c.Size != h.Size || c.Root != root {
		return t, c, fmt.Errorf("%w: the head has %d records with the root %s, and the checkpoint was signed for %d with %s",
			ErrCorrupt, h.Size, root, c.Size, c.Root)
	}
	return t, c, nil
}

// tiles reads the tiles of a store. [tlog.TileHashReader] checks what is read against a signed root.
type tiles struct {
	ctx   context.Context
	store Store
}

// hashes returns the hashes of the store's tree that the checkpoint's root vouches for.
func hashes(ctx context.Context, store Store, c proof.Checkpoint) tlog.HashReader {
	return tlog.TileHashReader(c.Tree(), tiles{ctx, store})
}

func (tiles) Height() int { return tileHeight }

func (r tiles) ReadTiles(list []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(list))
	for i, t := range list {
		found, err := r.store.Hashes(r.ctx, t.L, uint64(t.N)<<tileHeight, t.W)
		if err != nil {
			return nil, err
		}
		if len(found) != t.W {
			return nil, fmt.Errorf("%w: of %d hashes of level %d from %d on there are %d", ErrCorrupt, t.W, t.L, t.N<<tileHeight, len(found))
		}
		for _, h := range found {
			data[i] = append(data[i], h[:]...)
		}
	}
	return data, nil
}

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// prefix returns the tree of the first n records of a checkpoint.
func prefix(ctx context.Context, store Store, c proof.Checkpoint, n uint64) (t Tree, err error) {
	t.size = int64(n)
	var indexes []int64
	var levels []int
	for level := range t.edge {
		if t.size>>level&1 == 1 {
			indexes = append(indexes, tlog.StoredHashIndex(level, t.size>>level-1))
			levels = append(levels, level)
		}
	}
	if len(indexes) == 0 {
		return t, nil
	}
	found, err := hashes(ctx, store, c).ReadHashes(indexes)
	if err != nil {
		return t, fmt.Errorf("%w: reading the tree of the first %d records: %w", ErrCorrupt, n, err)
	}
	for i, level := range levels {
		t.edge[level] = found[i]
	}
	return t, nil
}

// extends checks that the tree of the checkpoint is the earlier tree with records added. ErrCorrupt: it is not.
func extends(ctx context.Context, store Store, c, earlier proof.Checkpoint) error {
	if earlier.Size == c.Size && earlier.Root == c.Root || earlier.Size == 0 {
		return nil
	}
	consistency, err := tlog.ProveTree(int64(c.Size), int64(earlier.Size), hashes(ctx, store, c))
	if err == nil {
		err = tlog.CheckTree(consistency, int64(c.Size), c.Root, int64(earlier.Size), earlier.Root)
	}
	if err != nil {
		return fmt.Errorf("%w: the %d records do not continue the %d of the earlier checkpoint: %w", ErrCorrupt, c.Size, earlier.Size, err)
	}
	return nil
}
