package dealer

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/semaphore"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/rng"
)

// maxBooks is the capacity of the cache of books: 9 KiB each, 40 with the longest
// seeds and most hands.
const maxBooks = 2048

// A book tells which round of a book of commitments is next.
type book struct {
	turn *semaphore.Weighted // of the one request that deals a round
	tree *audit.Book         // nil until a round is dealt

	isKnown bool   // the other members are as in the log, unless another process dealt a round
	used    uint64 // rounds
	holder  uint64 // log index of the record that holds the claim: the book, or its last round
}

func newBook(tree *audit.Book) *book { return &book{turn: semaphore.NewWeighted(1), tree: tree} }

// errRoundTaken is for a round that another process dealt first.
var errRoundTaken = errors.New("the round of the book was taken")

// dealRound deals the next round of the draft's book, one request after the other, and again if
// another process took the round.
func (d *Dealer) dealRound(ctx context.Context, t *Draft, r *Request) (*Shuffle, error) {
	c, b := t.committed, t.committed.book
	if err := b.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer b.turn.Release(1)
	for {
		if err := d.locate(ctx, b, c); err != nil {
			return nil, err
		}
		if now := d.journal.Now(); b.used == c.record.Count || !now.Before(c.record.Deadline) {
			return nil, d.checkOpen(ctx, c, now) // it is not
		}
		if err := b.grow(ctx, c, r); err != nil {
			return nil, err
		}
		round := b.used + 1
		t.committed = &committed{c.index, c.record, audit.RoundSeed(c.seed, round), nil, b.holder, round, b.tree.Path(round)}
		made, err := d.deal(ctx, t, r.Key)
		if b.isKnown = err == nil; b.isKnown {
			b.used, b.holder = made.Round, made.LogIndex
		}
		if !errors.Is(err, errRoundTaken) {
			return made, err
		}
	}
}

// grow makes the tree of the book for a request, unless it is there, and checks the seed by it.
func (b *book) grow(ctx context.Context, c *committed, r *Request) error {
	if b.tree != nil {
		return nil
	}
	statement := c.record.Statement
	statement.Seed = c.seed
	tree, err := r.makeBook(ctx, &statement, c.record.Count)
	if err != nil {
		return err
	}
	if audit.Commitment(tree.Root()) != c.record.Commitment {
		return fmt.Errorf("%w: the seed of the book %s does not lead to its commitment", ledger.ErrCorrupt, c.record.ID)
	}
	b.tree = tree
	return nil
}

// blockSteps is the cost of each block of a book's seeds, in steps of [audit.Statement.Cost] as the
// service makes them: half a microsecond. The largest book takes 8 ms.
const blockSteps = 2000

// makeBook makes the tree of a book once the request may take as long.
func (r *Request) makeBook(ctx context.Context, s *audit.Statement, rounds uint64) (tree *audit.Book, err error) {
	blocks := rounds * uint64(len(s.Seed)/rng.BlockSize)
	err = r.work(ctx, blocks*blockSteps, func() { tree = audit.NewBook(s, rounds) })
	return tree, err
}

// locate finds how much of the book was used, unless that is known.
func (d *Dealer) locate(ctx context.Context, b *book, c *committed) error {
	if b.isKnown {
		return nil
	}
	holder, err := d.journal.Holder(ctx, journal.CommitmentClaim(c.record.ID))
	if err != nil {
		return err
	}
	b.used, b.holder = holder.Round, holder.Index // the book itself has no round
	if holder.EndsCommitment() {
		b.used = c.record.Count
	}
	return nil
}
