package dealer

import (
	"context"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/order"
	"riffle/internal/rng"
)

// A Draft is a checked order on its way into the log.
type Draft struct {
	Order *order.Order
	Seed  rng.Seed // nil before [Dealer.Seed]

	committed *committed // the commitment that it uses; nil for none
}

// Prepare checks a request. Nothing is drawn yet. The error is an [*order.Invalid],
// [ErrNoCommitment], or one of the ledger's.
func (d *Dealer) Prepare(ctx context.Context, r *order.Request) (*Draft, error) {
	if r.CommitmentID == uuid.Nil {
		o, err := d.rules.Check(r, nil)
		return &Draft{Order: o}, err
	}
	c, err := d.findCommitment(ctx, r.CommitmentID)
	if err != nil {
		return nil, err
	}
	o, err := d.rules.Check(r, c.record)
	return &Draft{Order: o, committed: c}, err
}

// Seed draws the seed of a draft, or takes that of its commitment. The error is one of the source
// of randomness.
func (d *Dealer) Seed(t *Draft) (err error) {
	if t.committed != nil {
		t.Seed = t.committed.seed
		return nil
	}
	t.Seed, err = d.journal.NewSeed(t.Order.Statement.Size, t.Order.Statement.Draw)
	return err
}

// Record returns the record of a draft, as one of a kind. It panics if the draft has no seed yet.
// The error is one of the source of randomness.
func (d *Dealer) Record(kind audit.Kind, t *Draft) (*audit.Record, error) {
	if len(t.Seed) == 0 {
		panic("dealer: a record of a draft without a seed")
	}
	record, err := d.journal.NewRecord(kind)
	if err != nil {
		return nil, err
	}
	s := t.Order.Statement
	s.Seed = t.Seed
	record.Statement, record.Parameters, record.ClientSeed = s, t.Order.Parameters(), t.Order.Request.ClientSeed
	if t.committed != nil {
		record.CommitmentID, record.Commitment = t.committed.record.ID, t.committed.record.Commitment
	} else {
		record.Commitment = s.Commitment()
	}
	return record, nil
}

// Append appends the record of a draft: with its seed, or using its commitment, whose sidecar has
// the seed. The errors are those of [journal.Journal.Append], [journal.ErrInFlight] and a
// [*SettledError].
func (d *Dealer) Append(ctx context.Context, t *Draft, e *journal.Entry) (index uint64, err error) {
	e.Reference, e.Unique = e.Record.Statement.Reference, t.Order.Request.UniqueReference
	if t.committed != nil {
		return d.use(ctx, t.committed, e)
	}
	e.Sidecar.Seed = t.Seed
	return d.journal.Append(ctx, e)
}
