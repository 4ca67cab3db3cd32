package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger/proof"
)

// copyBatch is the number of records that are copied in a transaction.
const copyBatch = 4 * tileWidth

// ErrOtherLog means that the target of a copy has records that the source does not have.
var ErrOtherLog = errors.New("the target has other records than the source")

// A Copy brings one store up to date with another, record for record, with the same claims and the same
// signed checkpoint. It goes on where an earlier copy ended. Until its last transaction the target has
// a checkpoint for more records than it has, with which no log opens.
type Copy struct {
	Verifier note.Verifier
	Visit    func(*StoredEntry) (Visited, error) // as in Check; must know all claims
	// Ahead leaves out the last record, so that no log can be opened on the target before the rest
	// was copied, too.
	Ahead    bool
	Progress func(done, total uint64) // called after every few records; may be nil
}

// Run copies the log. The error is [ErrCorrupt] if the source is not what was signed, and [ErrOtherLog] if
// the target is no earlier state of it.
func (k Copy) Run(ctx context.Context, from Inspector, to Store) error {
	head, err := from.Head(ctx)
	if err != nil {
		return err
	}
	_, c, err := openHead(head, k.Verifier)
	if err != nil {
		return fmt.Errorf("the head of the source: %w", err)
	}
	tree, err := k.begin(ctx, from, to, head, c)
	end := c.Size
	if k.Ahead && end > 0 {
		end--
	}
	for err == nil && tree.Size() < end {
		if err = k.copyRecords(ctx, from, to, &tree, head, min(copyBatch, end-tree.Size())); err == nil && k.Progress != nil {
			k.Progress(tree.Size(), end)
		}
	}
	return err
}

// begin returns the tree of the target, which it begins.
func (k Copy) begin(ctx context.Context, from Inspector, to Store, head Head, c proof.Checkpoint) (tree Tree, err error) {
	t, err := to.Head(ctx)
	if err != nil {
		return tree, err
	}
	if tree, err = treeOf(t); err == nil && len(t.Checkpoint) > 0 {
		err = k.isEarlier(ctx, t, &tree, from, c)
	}
	if err == nil && len(t.Checkpoint) == 0 {
		head.Size, head.Edge = 0, []byte{}
		err = to.Append(ctx, Batch{Head: head})
	}
	return tree, err
}

// isEarlier returns an error if the target's head, with its tree, is not an earlier one of the source.
func (k Copy) isEarlier(ctx context.Context, head Head, tree *Tree, from Inspector, c proof.Checkpoint) error {
	if _, err := proof.OpenCheckpoint(head.Checkpoint, k.Verifier); err != nil {
		return fmt.Errorf("%w: %w", ErrOtherLog, err)
	}
	if tree.Size() > c.Size {
		return fmt.Errorf("%w: it has %d, and the source has %d", ErrOtherLog, tree.Size(), c.Size)
	}
	err := extends(ctx, from, c, proof.Checkpoint{Size: tree.Size(), Root: tree.Root()})
	if errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("%w: the first %d differ", ErrOtherLog, tree.Size())
	}
	return err
}

// copyRecords appends the next n records. The last ones bring the target to the head, which must have
// their root.
func (k Copy) copyRecords(ctx context.Context, from Inspector, to Store, tree *Tree, head Head, n uint64) error {
	list, err := from.Select(ctx, Range(tree.Size(), int(n)))
	if err != nil {
		return err
	}
	if uint64(len(list)) != n {
		return fmt.Errorf("%w: of the %d records from %d on there are %d", ErrCorrupt, n, tree.Size(), len(list))
	}
	b := Batch{Size: tree.Size(), Entries: make([]Entry, n), Head: head}
	for i := range list {
		e := &list[i]
		if err := checkRecord(e.Index, e.Record, e.Hash, tree.Size()); err != nil {
			return err
		}
		b.Entries[i] = e.Entry
		b.Nodes = tree.Add(e.Hash, b.Nodes)
	}
	if err := k.claim(ctx, to, list, b.Entries); err != nil {
		return err
	}
	now := tree.Head()
	if now.Size == head.Size && !bytes.Equal(now.Edge, head.Edge) {
		return fmt.Errorf("%w: the %d records have another root than the one that was signed", ErrCorrupt, now.Size)
	}
	b.Head.Size, b.Head.Edge = now.Size, now.Edge
	if err := to.Append(ctx, b); err != nil {
		return fmt.Errorf("writing %d records from %d on: %w", n, b.Size, err)
	}
	return nil
}

// claim gives the entries the claims that they began or took. Of several entries that take a claim, only
// the last one does, since a store takes a claim once in a batch.
func (k Copy) claim(ctx context.Context, to Store, list []StoredEntry, entries []Entry) error {
	last := map[string]int{}
	claims := map[string]Claim{}
	var taken []string
	for i := range list {
		v, err := k.Visit(&list[i])
		if err != nil {
			return fmt.Errorf("record %d: %w", list[i].Index, err)
		}
		for _, c := range v.Claims {
			if first, again := claims[c.Name]; again {
				c.Taken = first.Taken
				if c.Unchanged {
					c.Status, c.Due, c.Unchanged = first.Status, first.Due, first.Unchanged
				}
			} else if c.Taken {
				taken = append(taken, c.Name)
			}
			claims[c.Name], last[c.Name] = c, i
		}
	}
	holders, err := to.Holders(ctx, taken)
	if err != nil {
		return err
	}
	for name, c := range claims {
		holder, held := holders[name]
		if c.Taken && !held {
			return fmt.Errorf("%w: record %d took the claim %s, which no record held", ErrCorrupt, list[last[name]].Index, name)
		}
		if c.Unchanged {
			c.Status, c.Due = holder.Status, holder.Due
		}
		c.From = holder.Index
		entries[last[name]].Claims = append(entries[last[name]].Claims, c)
	}
	return nil
}
