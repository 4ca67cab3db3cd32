package journal

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// carryBatch is the number of shoes or commitments that are carried over concurrently, sharing a few
// commits.
const carryBatch = 64

// Carry copies the unused commitments and the open shoes of the log that this one follows into this
// one, where they go on. A shoe is copied with all its records in one transaction, so it can be proven
// from one log. Copies have no idempotency key: a retry is answered from the log of its first attempt. What was
// copied before is left alone, so Carry can be called again after an error.
func (j *Journal) Carry(ctx context.Context) error {
	from, err := j.Log.Earlier()
	if from == nil || err != nil {
		return err
	}
	for _, q := range []ledger.ClaimQuery{
		{Prefix: Commitments, DueBy: math.MaxInt64},
		{Prefix: Shoes, DueBy: math.MaxInt64},
		{Prefix: Shoes, Done: true, Status: string(shoe.Open)},
	} {
		q.Limit = carryBatch
		for {
			claims, err := from.Claims(ctx, q)
			if err != nil {
				return err
			}
			if len(claims) == 0 {
				break
			}
			q.After = claims[len(claims)-1].Name
			var group errgroup.Group
			for _, c := range claims {
				group.Go(func() error {
					holder, err := j.ByClaim(ctx, c.Name)
					if err == nil {
						err = j.carry(ctx, holder)
					}
					return err
				})
			}
			if err := group.Wait(); err != nil {
				return err
			}
		}
	}
	return nil
}

// CarryCommitment returns a commitment's record in this log, to which it copies an unused one.
func (j *Journal) CarryCommitment(ctx context.Context, s *StoredRecord) (*StoredRecord, error) {
	if s.log == j.Log {
		return s, nil
	}
	holder, err := j.ByClaim(ctx, CommitmentClaim(s.ID))
	if err != nil || holder.ID != s.ID {
		return s, err
	}
	if err := j.carry(ctx, holder); err != nil {
		return nil, err
	}
	return j.ByID(ctx, s.ID)
}

// CarryShoe copies the shoe with a secret id into this log unless it is there. The error is [ErrNoShoe]
// or a ledger error.
func (j *Journal) CarryShoe(ctx context.Context, id uuid.UUID) error {
	_, last, err := j.EndsOfShoe(ctx, id)
	if err != nil {
		return err
	}
	return j.carry(ctx, last)
}

// carry copies a commitment or all records of a shoe, given the record that holds its claim. A book
// ends with its log, so that each of its rounds is proven from the log that has the book.
func (j *Journal) carry(ctx context.Context, holder *StoredRecord) error {
	if holder.log == j.Log || holder.Count > 0 {
		return nil
	}
	records, err := j.recordsUpTo(ctx, holder)
	if err != nil {
		return err
	}
	entries := make([]ledger.Entry, len(records))
	places := map[uint64]uint64{} // by log index
	claims, holders := map[string]ledger.Claim{}, map[string]*ledger.Entry{}
	for i, s := range records {
		places[s.Index] = uint64(i)
		sidecar, err := j.Sidecar(s)
		if err != nil {
			return err
		}
		sidecar.Key = nil
		if state := sidecar.Shoe; state != nil {
			state.Place, state.Previous = uint64(i)+1, places[state.Previous]
			for k, index := range state.Seals {
				state.Seals[k] = places[index]
			}
		}
		entries[i] = (&Addition{Record: s.Record, Reference: s.Reference, Sidecar: *sidecar}).encode()
		entries[i].Copied = true
		for _, c := range s.claims(sidecar) { // later ones win
			c.Taken = false
			claims[c.Name], holders[c.Name] = c, &entries[i]
		}
	}
	for name, e := range holders {
		e.Claims = append(e.Claims, claims[name])
	}
	entries[0].Rest = entries[1:]
	_, err = j.Log.Append(entries[0])
	if errors.Is(err, ledger.ErrClaimed) { // another request or process copied it
		return nil
	}
	return err
}

// recordsUpTo returns a commitment's record; or all records of a shoe in their order, given the last one,
// after the commitment that it used.
func (j *Journal) recordsUpTo(ctx context.Context, last *StoredRecord) (list []*StoredRecord, err error) {
	for s := last; ; {
		list = append(list, s)
		switch {
		case s.UsesCommitment():
			s, err = s.ByID(ctx, s.CommitmentID)
		case !s.Kind.ChangesShoe():
			slices.Reverse(list)
			return list, nil
		default:
			s, err = j.Previous(ctx, s)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Previous returns the record of a shoe before one that changed it. The error is a ledger error.
func (j *Journal) Previous(ctx context.Context, s *StoredRecord) (*StoredRecord, error) {
	sidecar, err := j.Sidecar(s)
	if err != nil {
		return nil, err
	}
	if sidecar.Shoe.Previous >= s.Index {
		return nil, corrupt(s, "does not lead back to the first of its shoe")
	}
	return s.At(ctx, sidecar.Shoe.Previous)
}
