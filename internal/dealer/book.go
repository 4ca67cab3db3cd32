package dealer

import (
	"context"
	"errors"

	"golang.org/x/sync/semaphore"

	"riffle/internal/audit"
	"riffle/internal/journal"
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
func (d *Dealer) dealRound(ctx context.Context, t *Draft, key *journal.IdempotencyKey) (*Shuffle, error) {
	c, b := t.committed, t.committed.book
	if err := b.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer b.turn.Release(1)
	if b.tree == nil {
		statement := c.record.Statement
		statement.Seed = c.seed
		b.tree = audit.NewBook(&statement, c.record.Count)
	}
	for {
		if err := d.locate(ctx, b, c); err != nil {
			return nil, err
		}
		if b.used == c.record.Count {
			return nil, d.checkOpen(ctx, c, d.journal.Now()) // it is not
		}
		round := b.used + 1
		t.committed = &committed{c.index, c.record, audit.RoundSeed(c.seed, round), nil, b.holder, round, b.tree.Path(round)}
		made, err := d.deal(ctx, t, key)
		if b.isKnown = err == nil; b.isKnown {
			b.used, b.holder = made.Round, made.LogIndex
		}
		if !errors.Is(err, errRoundTaken) {
			return made, err
		}
	}
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
