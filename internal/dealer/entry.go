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

// Entry checks one entry and returns the claims that it has to hold: the id; the reference of what has a statement; a
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
	used := record.UsesCommitment()
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
	default: // of a shoe
		if claims, err = c.shoe(ctx, e, record); err != nil {
			return nil, err
		}
	}
	if used {
		claims = append(claims, ledger.Claim{Name: commitmentClaim(record.CommitmentID)})
	}
	if record.ID != e.ID {
		return claims, wrong("is kept under another id")
	}
	if record.States() && e.Reference != record.Statement.Reference {
		return claims, wrong("is kept under another reference")
	}
	if used {
		if err := c.used(ctx, e, record); err != nil {
			return claims, err
		}
	}
	call, err := c.kept(e, record, record.States() && !used) // the seed of a commitment that was used is beside that
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

// shoe returns the claims that a record of a shoe still holds.
func (c *Checker) shoe(ctx context.Context, e *ledger.Stored, record *audit.Record) (claims []ledger.Claim, err error) {
	first := record.AuditID
	if record.Kind == audit.KindShoe {
		first = e.ID
	}
	var k *shoeKept
	if c.Secret != nil {
		if k, err = c.shoeKept(ctx, e, record, first); err != nil {
			return nil, err
		}
	}
	holder, err := c.ByClaim(ctx, shoeClaim(first))
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, fmt.Errorf("%w: record %d is of a shoe, and nobody holds its claim", ledger.ErrCorrupt, e.Index)
	} else if err != nil {
		return nil, err
	}
	if holder.Index == e.Index {
		own := ledger.Claim{Name: shoeClaim(first)}
		switch {
		case k != nil:
			own = claimOf(first, k)
		case !record.Expires.IsZero():
			own.Due = record.Expires.UnixMicro()
		case record.Kind != audit.KindClose && record.Kind != audit.KindExpire:
			own = holder.Claims[0] // when it expires, an earlier record may say, and without the key this one does not tell which
			own.Taken, own.From = false, 0
		}
		claims = append(claims, own)
	} else if last, err := parse(holder); err != nil {
		return nil, err
	} else if last.AuditID != first || last.Version <= record.Version && last.Kind != audit.KindShoe { // a shoe that replaces it has a first version
		return nil, fmt.Errorf("%w: record %d is of a shoe, and record %d holds its claim without having changed it after", ledger.ErrCorrupt, e.Index, holder.Index)
	}
	if record.Kind == audit.KindShoe && record.AuditID != uuid.Nil {
		claims = append(claims, ledger.Claim{Name: shoeClaim(record.AuditID)})
	}
	if record.Kind != audit.KindShoe || k == nil {
		return claims, nil
	}
	holder, err = c.ByClaim(ctx, ownerClaim(k.ID))
	switch {
	case err == nil && holder.Index == e.Index:
		return append(claims, ledger.Claim{Name: ownerClaim(k.ID)}), nil
	case errors.Is(err, ledger.ErrNotFound) || err == nil && holder.Index < e.Index: // a later one may have replaced it
		return nil, fmt.Errorf("%w: record %d is of a shoe that its owner's id does not lead to", ledger.ErrCorrupt, e.Index)
	}
	return claims, err
}

// shoeKept checks what is kept of a shoe beside a record of it, and returns it.
func (c *Checker) shoeKept(ctx context.Context, e *ledger.Stored, record *audit.Record, first uuid.UUID) (*shoeKept, error) {
	text, err := c.Secret(e)
	if err != nil {
		return nil, err
	}
	k, err := parseKeptOf(record.Kind, text)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", e.Index, err)
	}
	wrong := func(what string) error { return fmt.Errorf("%w: record %d %s", ledger.ErrCorrupt, e.Index, what) }
	version := max(record.Version, 1)
	begun := e
	if record.Kind != audit.KindShoe {
		if begun, err = c.ByID(ctx, first); err != nil {
			return nil, wrong("changes a shoe that is not there")
		}
	}
	switch {
	case k.shoe.Layout.Version != version:
		return nil, wrong("has the state of another version beside it")
	case begun.Index > e.Index:
		return nil, wrong("changes a shoe that is after it in the log")
	case record.Root != nil && uint64(len(k.shoe.Order)) != record.Statement.Size:
		return nil, wrong("has not the order beside it that it sealed")
	}
	return k.shoe, nil
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
	k, err := parseKeptOf(record.Kind, text)
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
