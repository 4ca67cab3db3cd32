package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// A Checker checks that each record's sidecar and claims agree with the record, which the log does
// not prove. The store must not change meanwhile.
type Checker struct {
	// Decrypt returns an entry's sidecar. If it is nil, the checker skips seeds, idempotency keys
	// and shoe states.
	Decrypt func(*ledger.Stored) ([]byte, error)
	// ByID and ByClaim return an entry by its id or claim, or [ledger.ErrNotFound].
	ByID    func(ctx context.Context, id uuid.UUID) (*ledger.Stored, error)
	ByClaim func(ctx context.Context, name string) (*ledger.Stored, error)
}

// Unchecked returns the prefix of the claims that cannot be checked, which are idempotency keys if
// there is no Decrypt; empty if all can be checked.
func (c *Checker) Unchecked() string {
	if c.Decrypt == nil {
		return keyClaims
	}
	return ""
}

// Entry checks one entry and returns the claims that it must hold. The error wraps
// [ledger.ErrCorrupt]; the claims found so far are returned with it.
//
// It checks the id, the reference of a record with a statement, that only the right records have a
// seed and the seed opens the commitment, and that a shuffle agrees with the commitment it used. It
// does not check the references of reveals and voids, which repeat another record's.
func (c *Checker) Entry(ctx context.Context, e *ledger.Stored) (claims []ledger.Claim, err error) {
	s, err := parse(e, nil)
	if err != nil {
		return nil, err
	}
	usesCommitment := s.UsesCommitment()
	switch s.Kind {
	case audit.KindCommitment:
		if claims, err = c.commitmentClaims(ctx, s); err != nil {
			return nil, err
		}
	case audit.KindReveal:
		claims = []ledger.Claim{{Name: RevealClaim(s.AuditID)}}
	case audit.KindVoid:
		claims = []ledger.Claim{{Name: CommitmentClaim(s.CommitmentID), Status: Void}}
	case audit.KindShuffle:
	default: // of a shoe
		if claims, err = c.shoeClaims(ctx, s); err != nil {
			return nil, err
		}
	}
	if usesCommitment {
		claims = append(claims, ledger.Claim{Name: CommitmentClaim(s.CommitmentID)})
	}
	if s.ID != e.ID {
		return claims, corrupt(s, "is stored under another id")
	}
	if s.States() && s.Reference != s.Statement.Reference {
		return claims, corrupt(s, "is stored under another reference")
	}
	if usesCommitment {
		if err := c.checkUse(ctx, s); err != nil {
			return claims, err
		}
	}
	key, err := c.checkSidecar(s, s.States() && !usesCommitment)
	return append(claims, key.claims()...), err
}

// Void is the status of the claim on a commitment that was not used in time.
const Void = "void"

func corrupt(s *Stored, format string, args ...any) error {
	return fmt.Errorf("%w: record %d "+format, append([]any{ledger.ErrCorrupt, s.Index}, args...)...)
}

// ifMissing returns err, or the text as [ledger.ErrCorrupt] if err is [ledger.ErrNotFound].
func ifMissing(err error, s *Stored, text string) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return corrupt(s, text)
	}
	return err
}

// commitmentClaims returns the claim that a commitment holds until it is used or void.
func (c *Checker) commitmentClaims(ctx context.Context, s *Stored) ([]ledger.Claim, error) {
	claim := ledger.Claim{Name: CommitmentClaim(s.ID), Due: s.Deadline.UnixMicro()}
	holder, err := parse(c.ByClaim(ctx, claim.Name))
	switch {
	case err != nil:
		return nil, ifMissing(err, s, "is a commitment whose claim no record holds")
	case holder.Index == s.Index:
		return []ledger.Claim{claim}, nil
	case holder.CommitmentID != s.ID:
		return nil, corrupt(s, "is a commitment whose claim record %d holds without having used it", holder.Index)
	}
	return nil, nil
}

// shoeClaims checks the state in a shoe's record, and returns the claims that the record still
// holds.
func (c *Checker) shoeClaims(ctx context.Context, s *Stored) (claims []ledger.Claim, err error) {
	first := s.AuditID
	if s.Kind == audit.KindShoe {
		first = s.ID
	}
	var state *ShoeState
	if c.Decrypt != nil {
		if state, err = c.checkShoeState(ctx, s, first); err != nil {
			return nil, err
		}
	}
	last, err := parse(c.ByClaim(ctx, ShoeClaim(first)))
	switch {
	case err != nil:
		return nil, ifMissing(err, s, "is of a shoe whose claim no record holds")
	case last.Index == s.Index:
		claims = append(claims, lastClaim(last, first, state))
	// A shoe that replaces this one begins at its first version.
	case last.AuditID != first || last.Version <= s.Version && last.Kind != audit.KindShoe:
		return nil, corrupt(s, "is of a shoe whose claim record %d holds without having changed it later", last.Index)
	}
	if s.Kind == audit.KindShoe && s.AuditID != uuid.Nil {
		claims = append(claims, ledger.Claim{Name: ShoeClaim(s.AuditID)})
	}
	if s.Kind != audit.KindShoe || state == nil {
		return claims, nil
	}
	owner, err := parse(c.ByClaim(ctx, OwnerClaim(state.ID)))
	const lost = "begins a shoe that its secret id does not lead to"
	switch {
	case err != nil:
		return nil, ifMissing(err, s, lost)
	case owner.Index < s.Index:
		return nil, corrupt(s, lost)
	case owner.Index == s.Index: // otherwise a later shoe has replaced this one
		claims = append(claims, ledger.Claim{Name: OwnerClaim(state.ID)})
	}
	return claims, nil
}

// lastClaim returns the claim on a shoe as its last record must hold it. state is nil without
// Decrypt.
func lastClaim(last *Stored, first uuid.UUID, state *ShoeState) ledger.Claim {
	claim := ledger.Claim{Name: ShoeClaim(first)}
	switch {
	case state != nil:
		return state.Claim(first)
	case !last.Expires.IsZero():
		claim.Due = last.Expires.UnixMicro()
	case last.Kind != audit.KindClose && last.Kind != audit.KindExpire:
		// Only the encrypted state says when the shoe expires.
		claim.Status, claim.Due = last.entry.Claims[0].Status, last.entry.Claims[0].Due
	}
	return claim
}

// Claim returns the claim on a shoe in this state: due when the shoe expires, or with the status
// open if it is open and never expires.
func (s *ShoeState) Claim(first uuid.UUID) ledger.Claim {
	claim := ledger.Claim{Name: ShoeClaim(first)}
	switch {
	case s.Status != shoe.Open:
	case s.Expires.IsZero():
		claim.Status = string(shoe.Open)
	default:
		claim.Due = s.Expires.UnixMicro()
	}
	return claim
}

// checkShoeState checks the shoe state in a record's sidecar, and returns it.
func (c *Checker) checkShoeState(ctx context.Context, s *Stored, first uuid.UUID) (*ShoeState, error) {
	sidecar, err := c.sidecar(s)
	if err != nil {
		return nil, err
	}
	begun := s.Index
	if s.Kind != audit.KindShoe {
		entry, err := c.ByID(ctx, first)
		if err != nil {
			return nil, corrupt(s, "changes a shoe that is not in the log")
		}
		begun = entry.Index
	}
	state := sidecar.Shoe
	switch {
	case state.Layout.Version != max(s.Version, 1):
		return nil, corrupt(s, "has the state of another version in its sidecar")
	case begun > s.Index:
		return nil, corrupt(s, "changes a shoe that begins after it in the log")
	case s.Root != nil && uint64(len(state.Order)) != s.Statement.Size:
		return nil, corrupt(s, "does not have the order that it sealed in its sidecar")
	}
	return state, nil
}

func (c *Checker) sidecar(s *Stored) (*Sidecar, error) {
	text, err := c.Decrypt(s.entry)
	if err != nil {
		return nil, err
	}
	sidecar, err := decodeSidecar(s.Kind, text)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", s.Index, err)
	}
	return sidecar, nil
}

// checkUse checks that a shuffle agrees with the commitment it used.
func (c *Checker) checkUse(ctx context.Context, s *Stored) error {
	entry, err := c.ByID(ctx, s.CommitmentID)
	if err != nil {
		return ifMissing(err, s, "used a commitment that is not in the log")
	}
	commitment, err := parse(entry, nil)
	if err == nil {
		err = CheckCommitted(commitment, s.Record, s.Index)
	}
	if err != nil {
		return corrupt(s, "does not agree with its commitment, record %d: %w", entry.Index, err)
	}
	return nil
}

// checkSidecar checks the seed in a record's sidecar, and returns the request's key.
func (c *Checker) checkSidecar(s *Stored, hasSeed bool) (*Key, error) {
	if c.Decrypt == nil {
		return nil, nil
	}
	sidecar, err := c.sidecar(s)
	switch {
	case err != nil:
		return nil, err
	case !hasSeed && sidecar.Seed != nil:
		return sidecar.Key, corrupt(s, "is a %s that has a seed in its sidecar, and should have none", s.Kind)
	case hasSeed && !Opens(sidecar.Seed, s.Record):
		return sidecar.Key, errNotOpened(s.Index)
	}
	return sidecar.Key, nil
}
