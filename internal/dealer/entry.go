package dealer

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
)

// A Checker checks that what a store keeps beside a record, which the log does not prove, goes with it.
type Checker struct {
	// Secret decrypts what is kept beside a record; nil if the key is not known. Seeds and calls are not checked then.
	Secret func(*ledger.Stored) ([]byte, error)
	// ByID and ByClaim return the entry that has an id or holds a claim, or [ledger.ErrNotFound].
	ByID    func(ctx context.Context, id uuid.UUID) (*ledger.Stored, error)
	ByClaim func(ctx context.Context, name string) (*ledger.Stored, error)
}

// Unknown begins the names of claims that the checker knows nothing of, which without the key are those of calls; empty for
// none.
func (c *Checker) Unknown() string {
	if c.Secret == nil {
		return callClaims
	}
	return ""
}

// Entry checks one entry and returns the claims that it has to hold: the id; the reference of a shuffle and a commitment; a
// seed that opens the commitment, and none for other kinds; and that a shuffle which used a commitment kept to it. A
// commitment that does not hold its claim was used, or is void: the holder says so. The references of reveals and voids
// are those of other records and are passed over. The error wraps [ledger.ErrCorrupt]; the claims are those that the
// record has whatever is wrong.
func (c *Checker) Entry(ctx context.Context, e *ledger.Stored) (claims []ledger.Claim, err error) {
	wrong := func(what string) error { return fmt.Errorf("%w: record %d %s", ledger.ErrCorrupt, e.Index, what) }
	record, err := parse(e)
	if err != nil {
		return nil, err
	}
	used := record.Kind == audit.KindShuffle && record.CommitmentID != uuid.Nil
	switch record.Kind {
	case audit.KindCommitment:
		if claims, err = c.commitment(ctx, e, record); err != nil {
			return nil, err
		}
	case audit.KindReveal:
		claims = []ledger.Claim{{Name: revealClaim(record.AuditID)}}
	case audit.KindVoid:
		claims = []ledger.Claim{{Name: commitmentClaim(record.CommitmentID), Status: string(StatusVoid)}}
	case audit.KindShuffle:
		if used {
			claims = []ledger.Claim{{Name: commitmentClaim(record.CommitmentID)}}
		}
	}
	if record.ID != e.ID {
		return claims, wrong("is kept under another id")
	}
	hasStatement := record.Kind == audit.KindShuffle || record.Kind == audit.KindCommitment
	if hasStatement && e.Reference != record.Statement.Reference {
		return claims, wrong("is kept under another reference")
	}
	if used {
		if err := c.used(ctx, e, record); err != nil {
			return claims, err
		}
	}
	call, err := c.kept(e, record, hasStatement && !used) // the seed of a commitment that was used is beside that
	return append(claims, call.claims()...), err
}

// commitment returns the claims that a commitment still holds.
func (c *Checker) commitment(ctx context.Context, e *ledger.Stored, record *audit.Record) ([]ledger.Claim, error) {
	own := ledger.Claim{Name: commitmentClaim(e.ID), Due: record.Deadline.UnixMicro()}
	holder, err := c.ByClaim(ctx, own.Name)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, fmt.Errorf("%w: record %d is a commitment, and nobody holds its claim", ledger.ErrCorrupt, e.Index)
	} else if err != nil {
		return nil, err
	}
	if holder.Index == e.Index {
		return []ledger.Claim{own}, nil
	}
	taker, err := parse(holder)
	if err == nil && taker.CommitmentID != e.ID {
		err = fmt.Errorf("%w: record %d is a commitment, and record %d holds its claim without having used it", ledger.ErrCorrupt, e.Index, holder.Index)
	}
	return nil, err
}

// used checks that a shuffle kept to its commitment, which is before it in the log.
func (c *Checker) used(ctx context.Context, e *ledger.Stored, record *audit.Record) error {
	stored, err := c.ByID(ctx, record.CommitmentID)
	if errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("%w: record %d used a commitment that is not there", ledger.ErrCorrupt, e.Index)
	} else if err != nil {
		return err
	}
	if err := keptTo(stored, record, e.Index); err != nil {
		return fmt.Errorf("%w: record %d did not keep to its commitment, record %d: %w", ledger.ErrCorrupt, e.Index, stored.Index, err)
	}
	return nil
}

// keptTo returns an error unless the record at an index used the commitment in an entry, and that is before it in the log.
func keptTo(commitment *ledger.Stored, record *audit.Record, index uint64) error {
	committed, err := parse(commitment)
	if err == nil {
		err = record.CheckCommitted(committed)
	}
	if err == nil && commitment.Index >= index {
		err = fmt.Errorf("the commitment is record %d, which is not before this one", commitment.Index)
	}
	return err
}

// kept checks what is kept beside a record and returns its call.
func (c *Checker) kept(e *ledger.Stored, record *audit.Record, hasSeed bool) (*Call, error) {
	if c.Secret == nil {
		return nil, nil
	}
	text, err := c.Secret(e)
	if err != nil {
		return nil, err
	}
	k, err := parseKept(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("record %d: %w", e.Index, err)
	case !hasSeed && k.seed != nil:
		return k.call, fmt.Errorf("%w: record %d is a %s that has a seed, and should have none", ledger.ErrCorrupt, e.Index, record.Kind)
	case hasSeed && !opens(k.seed, record):
		return k.call, errNotOpened(e)
	}
	return k.call, nil
}
