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
	// ErrNoSeed is for a record of a kind that has no seed to show. That of a commitment is shown with the shuffle that used it.
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
	a.Seed, err = d.seedOf(ctx, stored, record)
	return a, err
}

// seedOf returns the seed of a shuffle or a commitment. That of a shuffle that used a commitment is kept beside the
// commitment. The log proves the record and not what is kept beside it: a seed that was damaged there is not shown as the
// seed. The error is [ledger.ErrCorrupt] or another of the ledger's.
func (d *Dealer) seedOf(ctx context.Context, stored *ledger.Stored, record *audit.Record) (rng.Seed, error) {
	beside, kind := stored, record.Kind
	if record.UsesCommitment() {
		var err error
		kind = audit.KindCommitment
		if beside, err = d.log.ByID(ctx, record.CommitmentID); errors.Is(err, ledger.ErrNotFound) {
			return nil, fmt.Errorf("%w: record %d used a commitment that is not there", ledger.ErrCorrupt, stored.Index)
		} else if err != nil {
			return nil, err
		}
	}
	k, err := d.keptOf(beside, kind)
	if err != nil {
		return nil, err
	}
	if !opens(k.seed, record) {
		return nil, errNotOpened(stored)
	}
	return k.seed, nil
}

// parse reads the record of an entry. The error is [ledger.ErrCorrupt].
func parse(e *ledger.Stored) (*audit.Record, error) {
	record, err := audit.ParseRecord(e.Record)
	if err != nil {
		return nil, fmt.Errorf("%w: record %d: %w", ledger.ErrCorrupt, e.Index, err)
	}
	return record, nil
}

// opens reports whether a seed is the one that a record commits to.
func opens(seed rng.Seed, record *audit.Record) bool {
	statement := record.Statement
	statement.Seed = seed
	return statement.Commitment() == record.Commitment
}

func errNotOpened(e *ledger.Stored) error {
	return fmt.Errorf("%w: the seed beside record %d does not open its commitment", ledger.ErrCorrupt, e.Index)
}

// revealed reports whether the seed of a record is public. That of cards which were drawn at random always is: it says nothing
// but which places they had, and the record says that, too.
func (d *Dealer) revealed(ctx context.Context, stored *ledger.Stored, record *audit.Record) (bool, error) {
	switch {
	case record.Kind == audit.KindShoe:
		return d.isClosed(ctx, stored.ID)
	case record.Kind == audit.KindReshuffle:
		return d.isClosed(ctx, record.AuditID)
	case record.Kind != audit.KindShuffle || record.RevealNow:
		return record.Deals(), nil
	}
	holder, err := d.log.ByClaim(ctx, revealClaim(stored.ID))
	if errors.Is(err, ledger.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	reveal, err := parse(holder)
	if err == nil && (reveal.Kind != audit.KindReveal || reveal.AuditID != stored.ID) { // a claim that was changed in the store is no reveal
		err = fmt.Errorf("%w: record %d holds the claim of a reveal that it is not", ledger.ErrCorrupt, holder.Index)
	}
	return err == nil, err
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
	return d.prove(ctx, stored)
}

func (d *Dealer) prove(ctx context.Context, stored *ledger.Stored) (*Proof, error) {
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
// a record of its own. Revealing again changes nothing. The call may be nil. The error is [ErrNotTheSeed], [ErrNoSeed],
// [ErrOtherRequest] or the ledger's.
func (d *Dealer) Reveal(ctx context.Context, id uuid.UUID, seed rng.Seed, call *Call) (*Audit, error) {
	// Of a key that another request had, nothing is revealed.
	if _, _, err := d.earlier(ctx, call); err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return nil, err
	}
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
	}
	kept, err := d.seedOf(ctx, stored, record)
	if err != nil { // then there is nothing to show once it is revealed
		return nil, err
	}
	public, err := d.revealed(ctx, stored, record)
	if err != nil {
		return nil, err
	}
	if !public {
		if err := d.recordReveal(ctx, stored, record, call); err != nil {
			return nil, err
		}
	}
	return &Audit{ID: stored.ID, LogIndex: stored.Index, Record: stored.Record, Seed: kept}, nil
}

func (d *Dealer) recordReveal(ctx context.Context, stored *ledger.Stored, record *audit.Record, call *Call) error {
	reveal, err := d.newRecord(audit.KindReveal)
	if err != nil {
		return err
	}
	reveal.AuditID, reveal.Commitment = stored.ID, record.Commitment
	k := kept{call: call}
	_, err = d.log.Append(ledger.Entry{
		ID: reveal.ID, Reference: stored.Reference, Record: reveal.Append(nil), Sidecar: k.text(),
		Claims: append(call.claims(), ledger.Claim{Name: revealClaim(stored.ID)}),
	})
	switch {
	case call.isTaken(err):
		_, _, err = d.earlier(ctx, call)
	case errors.Is(err, ledger.ErrClaimed):
		return nil // somebody else has revealed it in the meantime
	}
	return err
}

// Verify replays a record with the seed that the service keeps, and compares a shuffle with the commitment that it used. Up
// to keep positions of the replayed orders are returned, and those only once the seed is revealed: they are the cards.
func (d *Dealer) Verify(ctx context.Context, id uuid.UUID, keep uint64) (*Audit, *audit.Verification, error) {
	stored, err := d.log.ByID(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	record, err := parse(stored)
	if err != nil {
		return nil, nil, err
	}
	if !record.Deals() {
		return nil, nil, ErrNoSeed
	}
	a, err := d.showRecord(ctx, stored, record)
	if err != nil {
		return nil, nil, err
	}
	seed := a.Seed
	if seed == nil {
		if seed, err = d.seedOf(ctx, stored, record); err != nil && !errors.Is(err, ledger.ErrCorrupt) {
			return nil, nil, err
		}
	}
	v := audit.Verify(stored.Record, seed, keep) // of none it says that it does not open the commitment
	if v.OK && record.Root != nil {
		if err := d.verifySealed(ctx, v, stored, seed); err != nil {
			return nil, nil, err
		}
	}
	if v.OK && record.UsesCommitment() {
		if err := d.verifyCommitted(ctx, v, stored.Index); err != nil {
			return nil, nil, err
		}
	}
	if a.Seed == nil {
		v.Orders, v.OrderDigest = nil, ""
	}
	return a, v, nil
}

// verifyCommitted adds the step that compares a shuffle with its commitment.
func (d *Dealer) verifyCommitted(ctx context.Context, v *audit.Verification, index uint64) error {
	stored, err := d.log.ByID(ctx, v.Record.CommitmentID)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return err
	}
	step := audit.Step{Name: "committed", OK: true}
	if err == nil {
		err = keptTo(stored, v.Record, index)
		step.Detail = fmt.Sprintf("seed and statement stood in the log as record %d, %s", stored.Index, stored.ID)
	}
	if err != nil {
		step.OK, step.Detail, v.OK = false, err.Error(), false
	}
	v.Steps = append(v.Steps, step)
	return nil
}
