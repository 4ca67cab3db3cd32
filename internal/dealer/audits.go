package dealer

import (
	"context"
	"crypto/subtle"
	"errors"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/rng"
)

// Errors of a reveal.
var (
	// ErrNotTheSeed is for a seed that is not the record's.
	ErrNotTheSeed = errors.New("this is not the seed of the record")
	// ErrNoSeed is for a record of a kind that has no seed.
	ErrNoSeed = errors.New("a record of this kind has no seed")
)

// An Audit is what may be shown of a record.
type Audit struct {
	ID       uuid.UUID
	LogIndex uint64
	Record   []byte   // the exact bytes
	Seed     rng.Seed // nil while it is held back, and for a record that has none
}

// Audit returns the record with the id, or [ledger.ErrNotFound].
func (d *Dealer) Audit(ctx context.Context, id uuid.UUID) (*Audit, error) {
	stored, err := d.log.Store().ByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return d.show(ctx, stored)
}

// show leaves the seed out unless it is revealed.
func (d *Dealer) show(ctx context.Context, stored *ledger.Stored) (*Audit, error) {
	a := &Audit{ID: stored.ID, LogIndex: stored.Index, Record: stored.Record}
	revealed, err := d.revealed(ctx, stored)
	if err != nil {
		return nil, err
	}
	if revealed {
		a.Seed = stored.Secret
	}
	return a, nil
}

func (d *Dealer) revealed(ctx context.Context, stored *ledger.Stored) (bool, error) {
	record, err := audit.ParseRecord(stored.Record)
	if err != nil {
		return false, err
	}
	if record.RevealNow {
		return true, nil
	}
	_, err = d.log.Store().ByClaim(ctx, revealClaim(stored.ID))
	if errors.Is(err, ledger.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// revealClaim is held by the one record that reveals the seed of another.
func revealClaim(id uuid.UUID) string { return "reveal " + id.String() }

// Audits returns the records of a reference in log order, at most limit, from a log index on.
func (d *Dealer) Audits(ctx context.Context, reference string, from uint64, limit int) ([]Audit, error) {
	list, err := d.log.Store().ByReference(ctx, reference, from, limit)
	if err != nil {
		return nil, err
	}
	audits := make([]Audit, 0, len(list))
	for i := range list {
		a, err := d.show(ctx, &list[i])
		if err != nil {
			return nil, err
		}
		audits = append(audits, *a)
	}
	return audits, nil
}

// Reveal makes the seed of a record public, for good, if seed is it: only who was given the answer knows. The reveal is
// a record of its own. Revealing again changes nothing. The error is [ErrNotTheSeed], [ErrNoSeed] or the ledger's.
func (d *Dealer) Reveal(ctx context.Context, id uuid.UUID, seed rng.Seed) (*Audit, error) {
	stored, err := d.log.Store().ByID(ctx, id)
	if err != nil {
		return nil, err
	}
	record, err := audit.ParseRecord(stored.Record)
	switch {
	case err != nil:
		return nil, err
	case record.Kind != audit.KindShuffle:
		return nil, ErrNoSeed
	case subtle.ConstantTimeCompare(seed, stored.Secret) != 1:
		return nil, ErrNotTheSeed
	}
	public, err := d.revealed(ctx, stored)
	if err != nil {
		return nil, err
	}
	if !public {
		if err := d.recordReveal(stored, record); err != nil {
			return nil, err
		}
	}
	return &Audit{ID: stored.ID, LogIndex: stored.Index, Record: stored.Record, Seed: stored.Secret}, nil
}

func (d *Dealer) recordReveal(stored *ledger.Stored, record *audit.Record) error {
	now := d.now()
	id, err := newID(now, d.random)
	if err != nil {
		return err
	}
	reveal := audit.Record{ID: id, Time: now, Kind: audit.KindReveal, AuditID: stored.ID, Commitment: record.Commitment}
	_, err = d.log.Append(ledger.Entry{
		ID: id, Reference: stored.Reference, Claim: revealClaim(stored.ID), Record: reveal.Append(nil),
	})
	if errors.Is(err, ledger.ErrClaimed) {
		return nil // somebody else has revealed it in the meantime
	}
	return err
}

// Verify replays a record with the seed that the service keeps. Up to keep positions of the replayed orders are
// returned, and those only once the seed is revealed: they are the cards.
func (d *Dealer) Verify(ctx context.Context, id uuid.UUID, keep uint64) (*Audit, *audit.Verification, error) {
	stored, err := d.log.Store().ByID(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	a, err := d.show(ctx, stored)
	if err != nil {
		return nil, nil, err
	}
	v := audit.Verify(stored.Record, stored.Secret, keep)
	if v.Record != nil && v.Record.Kind != audit.KindShuffle {
		return nil, nil, ErrNoSeed
	}
	if a.Seed == nil {
		v.Orders, v.OrderDigest = nil, ""
	}
	return a, v, nil
}
