package journal

import (
	"fmt"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// A Checker checks that each record's sidecar and claims agree with the record, which the log does
// not prove.
type Checker struct {
	// Decrypt returns an entry's sidecar. If it is nil, the checker skips seeds, idempotency keys
	// and shoes.
	Decrypt func(*ledger.StoredEntry) ([]byte, error)
}

// Unchecked returns the prefix of the claims that cannot be checked, which are idempotency keys if
// there is no Decrypt; empty if all can be checked.
func (c *Checker) Unchecked() string {
	if c.Decrypt == nil {
		return keyClaims
	}
	return ""
}

// Visit checks one entry and returns the claims that it began or took, and how to check the
// commitment that it used or the shoe that it changed. The error wraps [ledger.ErrCorrupt]; the
// claims found so far are returned with it.
//
// It checks the id, the reference of a record with a statement, that only the right records have a
// seed and the seed opens the commitment, and that a shuffle agrees with the commitment it used. It
// does not check the references of reveals and voids, which repeat another record's.
func (c *Checker) Visit(e *ledger.StoredEntry) (v ledger.Visited, err error) {
	s, err := parse(e, nil)
	if err != nil {
		return v, err
	}
	sidecar, err := c.sidecar(s)
	if err != nil {
		return v, err
	}
	switch {
	case s.UsesCommitment():
		v.Origin, v.CheckOrigin = s.CommitmentID, s.checkCommitment
	case s.Kind.ChangesShoe():
		v.Origin, v.CheckOrigin = s.AuditID, s.checkFirstOfShoe
	}
	v.Claims = s.claims(sidecar)
	if sidecar != nil {
		v.Claims = append(v.Claims, sidecar.Key.claims()...)
	}
	return v, s.check(sidecar)
}

// claims returns the claims that a record began or took, besides its key's. sidecar is nil without
// Decrypt.
func (s *StoredRecord) claims(sidecar *Sidecar) (claims []ledger.Claim) {
	add := func(claim ledger.Claim) { claims = append(claims, claim) }
	if s.UsesCommitment() {
		add(ledger.Claim{Name: CommitmentClaim(s.CommitmentID), Taken: true, Unchanged: !s.EndsCommitment()})
	}
	switch s.Kind {
	case audit.KindCommitment:
		add(ledger.Claim{Name: CommitmentClaim(s.ID), Due: s.Deadline.UnixMicro()})
	case audit.KindReveal:
		add(ledger.Claim{Name: RevealClaim(s.AuditID)})
	case audit.KindVoid:
		add(ledger.Claim{Name: CommitmentClaim(s.CommitmentID), Taken: true, Status: Void})
	case audit.KindShuffle:
	default: // of a shoe
		claims = append(claims, s.shoeClaims(sidecar)...)
	}
	return claims
}

// check checks an entry without other entries. sidecar is nil without Decrypt.
func (s *StoredRecord) check(sidecar *Sidecar) error {
	if s.ID != s.entry.ID {
		return corrupt(s, "is stored under another id")
	}
	if s.States() && s.Reference != s.Statement.Reference {
		return corrupt(s, "is stored under another reference")
	}
	if sidecar == nil {
		return nil
	}
	if sidecar.Shoe != nil {
		if _, err := sidecar.Shoe.ReadSnapshot(s); err != nil {
			return err
		}
	}
	switch hasSeed := s.States() && !s.UsesCommitment(); {
	case !hasSeed && sidecar.Seed != nil:
		return corrupt(s, "is a %s that has a seed in its sidecar, and should have none", s.Kind)
	case hasSeed:
		return s.Opens(sidecar.Seed)
	}
	return nil
}

// shoeClaims returns the claims that a shoe's record began or took. sidecar is nil without Decrypt.
func (s *StoredRecord) shoeClaims(sidecar *Sidecar) (claims []ledger.Claim) {
	begins, first := s.Kind == audit.KindShoe, s.AuditID
	if begins {
		first = s.ID
	}
	claim := ledger.Claim{Name: ShoeClaim(first)}
	switch {
	case sidecar != nil:
		claim = sidecar.Shoe.Claim(s.Record)
	case !s.Expires.IsZero():
		claim.Due = s.Expires.UnixMicro()
	default: // only the sidecar says when the shoe expires
		claim.Unchanged = s.Kind != audit.KindClose && s.Kind != audit.KindExpire
	}
	claim.Taken = !begins
	claims = append(claims, claim)
	replaces := begins && s.AuditID != uuid.Nil
	if replaces {
		claims = append(claims, ledger.Claim{Name: ShoeClaim(s.AuditID), Taken: true, Unchanged: sidecar == nil})
	}
	if begins && sidecar != nil {
		claims = append(claims, ledger.Claim{Name: OwnerClaim(sidecar.Shoe.ID), Taken: replaces})
	}
	return claims
}

// checkFirstOfShoe checks the first record of the shoe that the record changed. It may be nil.
func (s *StoredRecord) checkFirstOfShoe(first *ledger.StoredEntry) error {
	switch {
	case first == nil:
		return corrupt(s, "changes a shoe that is not in the log")
	case first.Index > s.Index:
		return corrupt(s, "changes a shoe that begins after it in the log")
	}
	return nil
}

// checkCommitment checks that a shuffle agrees with the commitment it used, which may be nil.
func (s *StoredRecord) checkCommitment(entry *ledger.StoredEntry) error {
	if entry == nil {
		return corrupt(s, "used a commitment that is not in the log")
	}
	commitment, err := parse(entry, nil)
	if err == nil {
		err = checkCommitted(commitment, s.Record, s.Index)
	}
	if err != nil {
		return corrupt(s, "does not agree with its commitment, record %d: %w", entry.Index, err)
	}
	return nil
}

// Void is the status of the claim on a commitment that was not used in time.
const Void = "void"

func corrupt(s *StoredRecord, format string, args ...any) error {
	return fmt.Errorf("%w: record %d "+format, append([]any{ledger.ErrCorrupt, s.Index}, args...)...)
}

// Claim returns the claim on a shoe that its record begins or takes: due when the shoe expires, or
// with the status open if it is open and never expires.
func (s *ShoeSidecar) Claim(r *audit.Record) ledger.Claim {
	claim := ledger.Claim{Name: ShoeClaim(r.AuditID), Taken: true}
	if r.Kind == audit.KindShoe {
		claim = ledger.Claim{Name: ShoeClaim(r.ID)}
	}
	switch {
	case r.Kind == audit.KindClose || r.Kind == audit.KindExpire:
	case s.Expires.IsZero():
		claim.Status = string(shoe.Open)
	default:
		claim.Due = s.Expires.UnixMicro()
	}
	return claim
}

// sidecar returns the decrypted sidecar, or nil without Decrypt.
func (c *Checker) sidecar(s *StoredRecord) (*Sidecar, error) {
	if c.Decrypt == nil {
		return nil, nil
	}
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
