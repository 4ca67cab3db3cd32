package disclosure

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit/prooffile"
	"riffle/internal/journal"
	"riffle/internal/ledger"
)

// Prove returns the file that proves offline that a record is in the log, and that the commitment
// is that the record used. The error is the ledger's; [ledger.ErrNotPublished] is temporary. A
// witnessed proof waits for the witnesses.
func (s *Service) Prove(ctx context.Context, id uuid.UUID, witnessed bool) (*prooffile.File, error) {
	stored, err := s.journal.ByID(ctx, id)
	if err == nil && witnessed {
		err = s.journal.Log.AwaitWitnessed(ctx, stored.Index)
	}
	if err != nil {
		return nil, err
	}
	return s.prove(ctx, stored)
}

func (s *Service) prove(ctx context.Context, stored *journal.StoredRecord) (*prooffile.File, error) {
	log := s.journal.Log
	inclusion, err := log.Prove(ctx, stored.Index)
	if err != nil {
		return nil, err
	}
	key := log.Verifier()
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, err
	}
	// The store may have returned another record: its index on ids is not proven.
	if _, err := inclusion.Check(stored.Bytes, verifier); err != nil {
		return nil, fmt.Errorf("%w: record %d: %w", ledger.ErrCorrupt, stored.Index, err)
	}
	a, err := s.show(ctx, stored)
	if err != nil {
		return nil, err
	}
	file := &prooffile.File{Record: a.Record, Seed: a.Seed, ClientSeed: stored.ClientSeed, Inclusion: inclusion, LogKey: key}
	if stored.UsesCommitment() {
		commitment, err := s.journal.ByID(ctx, stored.CommitmentID)
		if err != nil {
			return nil, err
		}
		nested, err := s.prove(ctx, commitment)
		if err != nil {
			return nil, err
		}
		file.Commitment = nested.AppendTo(nil)
	}
	return file, nil
}

// Limits admit the proof of a shoe and pace it.
type Limits interface {
	// Begin is called once, before the work. Each version has a record, which is read before the first
	// proof is made; its log index is stored. The error cancels the work.
	Begin(ctx context.Context, versions uint64) error
	// Wait is called between units of work of usually at most 1 ms. Its error cancels the work.
	Wait(ctx context.Context) error
}

// ProveShoe calls each with the proof of every record of the shoe with a secret id, in order. It
// begins once all records can be proven, witnessed if that is asked for. The error is
// [journal.ErrNoShoe], a ledger error, or an error of limits or each.
func (s *Service) ProveShoe(ctx context.Context, id uuid.UUID, witnessed bool, limits Limits, each func(*prooffile.File) error) error {
	indexes, err := s.history(ctx, id, limits)
	if err != nil {
		return err
	}
	last := indexes[len(indexes)-1] // earlier records are published before later ones
	if witnessed {
		if err := s.journal.Log.AwaitWitnessed(ctx, last); err != nil {
			return err
		}
	}
	prove := func(index uint64) (*prooffile.File, error) {
		if err := limits.Wait(ctx); err != nil {
			return nil, err
		}
		stored, err := s.journal.At(ctx, index)
		if err != nil {
			return nil, err
		}
		return s.prove(ctx, stored)
	}
	if _, err := prove(last); err != nil {
		return err
	}
	for _, index := range indexes {
		p, err := prove(index)
		if err != nil {
			return err
		}
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// history returns the log indexes of all records of a shoe in order. It follows the previous indexes
// in the sidecars, starting from the record that holds the shoe's claim.
func (s *Service) history(ctx context.Context, id uuid.UUID, limits Limits) (indexes []uint64, err error) {
	first, stored, err := s.journal.EndsOfShoe(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := s.rules.DeckOf(first.Record); err != nil {
		return nil, err
	}
	if err := limits.Begin(ctx, stored.Version); err != nil {
		return nil, err
	}
	for {
		if !stored.IsOfShoe(first.ID) {
			return nil, fmt.Errorf("%w: record %d is not of the shoe %s", ledger.ErrCorrupt, stored.Index, first.ID)
		}
		indexes = append(indexes, stored.Index)
		if stored.Index == first.Index {
			slices.Reverse(indexes)
			return indexes, nil
		}
		if err := limits.Wait(ctx); err != nil {
			return nil, err
		}
		if stored, err = s.journal.Previous(ctx, stored); err != nil {
			return nil, err
		}
	}
}
