// Package disclosure decides what may be shown of a record, and to whom.
//
// A record is public and its seed is not, until it is revealed: by a caller who has it, by the
// request itself, or by the close of its shoe. [Service.Audit] shows a record with its seed if that
// is public, [Service.Prove] adds the proof that the record is in the log, [Service.Verify] replays
// it, and [Service.Reveal] makes a seed public for good.
package disclosure

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/rng"
)

// Errors of a reveal.
var (
	// ErrWrongSeed is for a seed that is not the record's.
	ErrWrongSeed = errors.New("this is not the seed of the record")
	// ErrNoSeed is for a record of a kind that has no seed to show. That of a commitment is shown
	// with the shuffle that used it.
	ErrNoSeed = errors.New("a record of this kind has no seed")
)

// A Service answers for records. It may be used concurrently.
type Service struct {
	journal *journal.Journal
	rules   *plan.Rules
	reveals singleflight.Group // by the record, so that they do not race for its claim
}

// New returns a service over a journal. The rules know the decks of its records.
func New(j *journal.Journal, rules *plan.Rules) *Service {
	return &Service{journal: j, rules: rules}
}

// An Audit is what may be shown of a record.
type Audit struct {
	ID       uuid.UUID
	LogIndex uint64
	Record   []byte   // the exact bytes
	Seed     rng.Seed // nil unless it is public
}

// Audit returns the record with the id. The error is [ledger.ErrNotFound] or another of the
// ledger's.
func (s *Service) Audit(ctx context.Context, id uuid.UUID) (*Audit, error) {
	stored, err := s.journal.ByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.show(ctx, stored)
}

// Audits returns the records of a reference in log order, at most limit, from a log index on.
func (s *Service) Audits(ctx context.Context, reference string, from uint64, limit int) ([]*Audit, error) {
	list, err := s.journal.ByReference(ctx, reference, from, limit)
	if err != nil {
		return nil, err
	}
	audits := make([]*Audit, len(list))
	for i, stored := range list {
		if audits[i], err = s.show(ctx, stored); err != nil {
			return nil, err
		}
	}
	return audits, nil
}

// show returns a record, with its seed if that is public.
func (s *Service) show(ctx context.Context, stored *journal.Stored) (*Audit, error) {
	a := &Audit{ID: stored.ID, LogIndex: stored.Index, Record: stored.Bytes}
	public, err := s.isPublic(ctx, stored)
	if err != nil || !public {
		return a, err
	}
	a.Seed, err = s.journal.Seed(ctx, stored)
	return a, err
}

// isPublic reports whether the seed of a record is public. That of a random draw from a shoe always
// is: it only says which positions were drawn, and so does the record.
func (s *Service) isPublic(ctx context.Context, stored *journal.Stored) (bool, error) {
	switch {
	case stored.Kind == audit.KindShoe:
		return s.isClosed(ctx, stored.ID)
	case stored.Kind == audit.KindReshuffle:
		return s.isClosed(ctx, stored.AuditID)
	case stored.Kind != audit.KindShuffle || stored.RevealNow:
		return stored.Deals(), nil
	}
	reveal, err := s.journal.ByClaim(ctx, journal.RevealClaim(stored.ID))
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case reveal.Kind != audit.KindReveal || reveal.AuditID != stored.ID: // the claim was moved
		return false, fmt.Errorf("%w: record %d holds the claim of a reveal and is none", ledger.ErrCorrupt, reveal.Index)
	}
	return true, nil
}

// isClosed reports whether the shoe with the first record is closed.
func (s *Service) isClosed(ctx context.Context, first uuid.UUID) (bool, error) {
	last, err := s.journal.LastOfShoe(ctx, first)
	if err != nil {
		return false, err
	}
	return last.Kind == audit.KindClose && last.IsOfShoe(first), nil
}

// Reveal makes the seed of a shuffle public for good, if seed is it: only those who were given the
// answer know that. The reveal is a record of its own; a second one changes nothing. The key may be
// nil. The error is [ErrWrongSeed], [ErrNoSeed], [journal.ErrInFlight], [journal.ErrKeyReused] or
// one of the ledger's.
func (s *Service) Reveal(ctx context.Context, id uuid.UUID, seed rng.Seed, key *journal.Key) (*Audit, error) {
	reveal := func() (*Audit, error) { return s.reveal(ctx, id, seed, key) }
	return journal.Once(ctx, s.journal, key, func(*journal.Stored) (*Audit, error) { return reveal() }, reveal)
}

func (s *Service) reveal(ctx context.Context, id uuid.UUID, seed rng.Seed, key *journal.Key) (*Audit, error) {
	stored, err := s.journal.ByID(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case stored.Kind != audit.KindShuffle:
		return nil, ErrNoSeed
	case !journal.Opens(seed, stored.Record): // whatever the sidecar holds: the commitment decides
		return nil, ErrWrongSeed
	}
	// What is revealed must be there to be shown.
	if _, err := s.journal.Seed(ctx, stored); err != nil {
		return nil, err
	}
	// Of callers who reveal the record at once, the first does it for all, whether it stays or not.
	// Like any append it is waited for, so that the request which commits it is charged for it.
	_, err, _ = s.reveals.Do(id.String(), func() (any, error) {
		return nil, s.publish(context.WithoutCancel(ctx), stored, key)
	})
	if err != nil {
		return nil, err
	}
	return &Audit{ID: stored.ID, LogIndex: stored.Index, Record: stored.Bytes, Seed: seed}, nil
}

// publish logs that a seed is public, unless it is. Another process may do so first.
func (s *Service) publish(ctx context.Context, stored *journal.Stored, key *journal.Key) error {
	public, err := s.isPublic(ctx, stored)
	if err != nil || public {
		return err
	}
	record, err := s.journal.NewRecord(audit.KindReveal)
	if err != nil {
		return err
	}
	record.AuditID, record.Commitment = stored.ID, stored.Commitment
	claim := journal.RevealClaim(stored.ID)
	_, err = s.journal.Append(ctx, &journal.Entry{
		Record: record, Reference: stored.Reference,
		Sidecar: journal.Sidecar{Key: key}, Claims: []ledger.Claim{{Name: claim}},
	})
	if journal.Conflicts(err, claim) {
		return nil
	}
	return err
}
