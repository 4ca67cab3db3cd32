// Package disclosure decides which parts of a record may be shown.
//
// A record is public, but its seed is secret until revealed: by a caller who has it, by the request
// itself, or by closing its shoe. [Service.Audit] shows a record, [Service.Prove] proves that it is
// in the log, and [Service.Reveal] reveals a seed.
package disclosure

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"
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
	// ErrNoSeed is for a kind of record without a seed of its own to show. A commitment's seed is
	// shown with the shuffle that used it.
	ErrNoSeed = errors.New("a record of this kind has no seed")
)

// A Service shows records. It may be used concurrently.
type Service struct {
	journal *journal.Journal
	rules   *plan.Rules
	reveals singleflight.Group // by record id, so that concurrent reveals of a record do not conflict
}

// New returns a service over a journal. The rules know the records' decks.
func New(j *journal.Journal, rules *plan.Rules) *Service { return &Service{journal: j, rules: rules} }

// A PublicRecord is the public part of a record.
type PublicRecord struct {
	ID       uuid.UUID
	LogIndex uint64
	Record   []byte   // the exact bytes
	Seed     rng.Seed // nil while it is secret
}

// Audit returns the record with an id. The error is [ledger.ErrNotFound] or another ledger error.
func (s *Service) Audit(ctx context.Context, id uuid.UUID) (*PublicRecord, error) {
	stored, err := s.journal.ByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.show(ctx, stored)
}

// pages bounds the lists that are read together: see [Service.Audits].
var pages = semaphore.NewWeighted(4)

// Audits returns at most limit records of a reference in log order, starting at a log index. It
// calls reserve with each before it reads further. A record with its sidecar may take 300 KiB while
// it is read, so few are read together.
func (s *Service) Audits(ctx context.Context, reference string, from uint64, limit int, reserve func(*PublicRecord) error) (audits []*PublicRecord, err error) {
	if err := pages.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer pages.Release(1)
	for len(audits) < limit {
		list, err := s.journal.ByReference(ctx, reference, from, min(16, limit-len(audits)))
		if err != nil || len(list) == 0 {
			return audits, err
		}
		for _, stored := range list {
			a, err := s.show(ctx, stored)
			if err := cmp.Or(err, reserve(a)); err != nil {
				return nil, err
			}
			audits, from = append(audits, a), stored.Index+1
		}
	}
	return audits, nil
}

// show returns a record, with its seed if that is public.
func (s *Service) show(ctx context.Context, stored *journal.StoredRecord) (*PublicRecord, error) {
	a := &PublicRecord{ID: stored.ID, LogIndex: stored.Index, Record: stored.Bytes}
	public, err := s.isPublic(ctx, stored)
	if err != nil || !public {
		return a, err
	}
	a.Seed, err = s.journal.Seed(ctx, stored)
	return a, err
}

// isPublic reports whether a record's seed is public. The seed of a random draw from a shoe always
// is, since the record lists the drawn positions anyway.
func (s *Service) isPublic(ctx context.Context, stored *journal.StoredRecord) (bool, error) {
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
		return false, fmt.Errorf("%w: record %d holds the claim of a reveal and is not a reveal", ledger.ErrCorrupt, reveal.Index)
	}
	return true, nil
}

// isClosed reports whether a shoe, named by its first record, is closed.
func (s *Service) isClosed(ctx context.Context, first uuid.UUID) (bool, error) {
	last, err := s.journal.LastOfShoe(ctx, first)
	if err != nil {
		return false, err
	}
	return last.Kind == audit.KindClose && last.IsOfShoe(first), nil
}

// Reveal makes a shuffle's seed public for good. The caller proves the right to do so by sending
// the seed. It appends a record; further reveals change nothing. The key may be nil. The error is
// [ErrWrongSeed], [ErrNoSeed], [journal.ErrInFlight], [journal.ErrKeyReused] or a ledger error.
func (s *Service) Reveal(ctx context.Context, id uuid.UUID, seed rng.Seed, key *journal.IdempotencyKey) (*PublicRecord, error) {
	reveal := func() (*PublicRecord, error) { return s.reveal(ctx, id, seed, key) }
	return journal.Once(ctx, s.journal, key, func(*journal.StoredRecord) (*PublicRecord, error) { return reveal() }, reveal)
}

func (s *Service) reveal(ctx context.Context, id uuid.UUID, seed rng.Seed, key *journal.IdempotencyKey) (*PublicRecord, error) {
	stored, err := s.journal.ByID(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case stored.Kind != audit.KindShuffle:
		return nil, ErrNoSeed
	case stored.CheckSeed(seed) != nil: // even if the sidecar is damaged
		return nil, ErrWrongSeed
	}
	// After the reveal, every reader needs the stored seed.
	if _, err := s.journal.Seed(ctx, stored); err != nil {
		return nil, err
	}
	// Concurrent reveals share one append, which continues if the first caller leaves.
	_, err, _ = s.reveals.Do(id.String(), func() (any, error) {
		return nil, s.publish(context.WithoutCancel(ctx), stored, key)
	})
	if err != nil {
		return nil, err
	}
	return &PublicRecord{ID: stored.ID, LogIndex: stored.Index, Record: stored.Bytes, Seed: seed}, nil
}

// publish logs that a seed is public, if no process has done so.
func (s *Service) publish(ctx context.Context, stored *journal.StoredRecord, key *journal.IdempotencyKey) error {
	public, err := s.isPublic(ctx, stored)
	if err != nil || public {
		return err
	}
	claim := journal.RevealClaim(stored.ID)
	err = s.journal.AppendNew(ctx, &journal.Addition{
		Record:    &audit.Record{Kind: audit.KindReveal, AuditID: stored.ID, Commitment: stored.Commitment},
		Reference: stored.Reference,
		Sidecar:   journal.Sidecar{Key: key}, Claims: []ledger.Claim{{Name: claim}},
	})
	if journal.Conflicts(err, claim) {
		return nil
	}
	return err
}
