package dealer

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/ledger/proof"
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
	stored, err := d.log.ByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return d.show(ctx, stored)
}

// show leaves the seed out unless it is revealed.
func (d *Dealer) show(ctx context.Context, stored *ledger.Stored) (*Audit, error) {
	record, err := parse(stored)
	if err != nil {
		return nil, err
	}
	return d.showRecord(ctx, stored, record)
}

func (d *Dealer) showRecord(ctx context.Context, stored *ledger.Stored, record *audit.Record) (*Audit, error) {
	a := &Audit{ID: stored.ID, LogIndex: stored.Index, Record: stored.Record}
	revealed, err := d.revealed(ctx, stored, record)
	if err != nil || !revealed {
		return a, err
	}
	// The log proves the record and not what is kept beside it: a seed that was damaged there is not shown as the seed.
	if !opens(stored.Secret, record) {
		return nil, errNotOpened(stored)
	}
	a.Seed = stored.Secret
	return a, nil
}

// parse reads the record of an entry. The error is [ledger.ErrCorrupt].
func parse(e *ledger.Stored) (*audit.Record, error) {
	record, err := audit.ParseRecord(e.Record)
	if err != nil {
		return nil, fmt.Errorf("%w: record %d: %w", ledger.ErrCorrupt, e.Index, err)
	}
	return record, nil
}

// opens reports whether a seed is the one that the record of a shuffle commits to.
func opens(seed rng.Seed, record *audit.Record) bool {
	statement := record.Statement
	statement.Seed = seed
	return statement.Commitment() == record.Commitment
}

func errNotOpened(e *ledger.Stored) error {
	return fmt.Errorf("%w: the seed beside record %d does not open its commitment", ledger.ErrCorrupt, e.Index)
}

func (d *Dealer) revealed(ctx context.Context, stored *ledger.Stored, record *audit.Record) (bool, error) {
	if record.RevealNow {
		return true, nil
	}
	reveal, err := d.log.ByClaim(ctx, revealClaim(stored.ID))
	if errors.Is(err, ledger.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, CheckEntry(reveal) // a claim that was changed in the store is no reveal
}

// CheckEntry checks that what the store keeps beside a record, which the log does not prove, goes with it: the id and,
// of a shuffle, the reference, a seed that opens the commitment and no claim; of a reveal, the claim of what it reveals
// and no seed. The reference of a reveal is that of another record and is passed over. The error wraps
// [ledger.ErrCorrupt].
func CheckEntry(e *ledger.Stored) error {
	wrong := func(what string) error { return fmt.Errorf("%w: record %d %s", ledger.ErrCorrupt, e.Index, what) }
	record, err := parse(e)
	if err != nil {
		return err
	}
	if record.ID != e.ID {
		return wrong("is kept under another id")
	}
	if record.Kind == audit.KindReveal {
		switch {
		case e.Claim != revealClaim(record.AuditID):
			return wrong("is a reveal and does not hold the claim of what it reveals")
		case len(e.Secret) > 0:
			return wrong("is a reveal and has a seed")
		}
		return nil
	}
	switch {
	case e.Reference != record.Statement.Reference:
		return wrong("is kept under another reference")
	case e.Claim != "":
		return wrong("is a shuffle and holds a claim")
	case !opens(e.Secret, record):
		return errNotOpened(e)
	}
	return nil
}

// revealClaim is held by the one record that reveals the seed of another.
func revealClaim(id uuid.UUID) string { return "reveal " + id.String() }

// A Proof is all that it takes to check a record offline.
type Proof struct {
	Audit
	ClientSeed string           // the record's; empty for none
	Inclusion  *proof.Inclusion // of the record, under a published checkpoint
	LogKey     string           // checks the checkpoint
}

// Prove returns the proof that the record with the id is in the log. The error is one of the ledger's;
// [ledger.ErrNotPublished] passes.
func (d *Dealer) Prove(ctx context.Context, id uuid.UUID) (*Proof, error) {
	stored, err := d.log.ByID(ctx, id)
	if err != nil {
		return nil, err
	}
	record, err := parse(stored)
	if err != nil {
		return nil, err
	}
	inclusion, err := d.log.Prove(ctx, stored.Index)
	if err != nil {
		return nil, err
	}
	key := d.log.Verifier()
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, err
	}
	// The path was found by an index that the store keeps beside the record.
	if _, err := inclusion.Check(stored.Record, verifier); err != nil {
		return nil, fmt.Errorf("%w: record %d: %w", ledger.ErrCorrupt, stored.Index, err)
	}
	a, err := d.showRecord(ctx, stored, record)
	if err != nil {
		return nil, err
	}
	return &Proof{Audit: *a, ClientSeed: record.ClientSeed, Inclusion: inclusion, LogKey: key}, nil
}

// Audits returns the records of a reference in log order, at most limit, from a log index on.
func (d *Dealer) Audits(ctx context.Context, reference string, from uint64, limit int) ([]Audit, error) {
	list, err := d.log.ByReference(ctx, reference, from, limit)
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
	stored, err := d.log.ByID(ctx, id)
	if err != nil {
		return nil, err
	}
	record, err := parse(stored)
	switch {
	case err != nil:
		return nil, err
	case record.Kind != audit.KindShuffle:
		return nil, ErrNoSeed
	case !opens(seed, record): // whatever the store has: it is the commitment that says which seed is the record's
		return nil, ErrNotTheSeed
	case !opens(stored.Secret, record):
		return nil, errNotOpened(stored) // and there is nothing to show once it is revealed
	}
	public, err := d.revealed(ctx, stored, record)
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
	stored, err := d.log.ByID(ctx, id)
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
