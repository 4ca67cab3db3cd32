package disclosure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// Prove returns the file that proves offline that a record is in the log. The error is the
// ledger's; [ledger.ErrNotPublished] is temporary. A witnessed proof waits for the witnesses.
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
	return &prooffile.File{Record: a.Record, Seed: a.Seed, ClientSeed: stored.ClientSeed, Inclusion: inclusion, LogKey: key}, nil
}

// Work is the cost of a replay or of a shoe's proof, known before it begins.
type Work struct {
	Steps uint64 // of about 12 ns each; see [audit.Statement.Cost]
	Most  uint64 // limit of Steps
	Bytes uint64 // of memory
}

// Limits admit work and pace it.
type Limits interface {
	// Begin is called once, before the work. Its error cancels the work.
	Begin(ctx context.Context, work Work) error
	// Wait is called between units of work of usually at most 1 ms. Its error cancels the work.
	Wait(ctx context.Context) error
}

// elementBytes is the memory of an element in a replay: a position, a copy of it in a slice or map,
// a tree node, and up to 20 bytes of text with half as much unused capacity.
const elementBytes = 64

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
	// Until the first part is sent, each record is read, and its log index stored. The items of the
	// first record take a mebibyte. The caller paces the rest.
	versions := max(1, stored.Version)
	if err := limits.Begin(ctx, Work{Steps: 20_000 * versions, Most: 10_000_000_000, Bytes: max(16*versions, 1<<20)}); err != nil {
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

// Verify replays a record with the stored seed, within limits, and checks that it agrees with its
// commitment, if it used one. Once the seed is public, it also returns the first positions of the
// replayed orders, which are the cards. The error is [ErrNoSeed], a ledger error or an error of
// limits.
func (s *Service) Verify(ctx context.Context, id uuid.UUID, positions uint64, limits Limits) (*PublicRecord, *audit.Verification, error) {
	stored, err := s.journal.ByID(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if !stored.Deals() {
		return nil, nil, ErrNoSeed
	}
	a, err := s.show(ctx, stored)
	if err != nil {
		return nil, nil, err
	}
	seed := a.Seed
	if seed == nil {
		if seed, err = s.journal.Seed(ctx, stored); err != nil && !errors.Is(err, ledger.ErrCorrupt) {
			return nil, nil, err
		}
	}
	statement := &stored.Statement
	if err := limits.Begin(ctx, Work{Steps: statement.Cost(), Most: audit.MaxCost, Bytes: elementBytes * plan.Elements(statement)}); err != nil {
		return nil, nil, err
	}
	// A damaged seed is nil here, and becomes a failed step.
	v, err := audit.Verify(stored.Bytes, seed, positions, func() error { return limits.Wait(ctx) })
	if err != nil {
		return nil, nil, err
	}
	if v.OK && stored.Root != nil {
		if err := addStep(ctx, v, prooffile.StepRoot, s.checkRoot(ctx, stored, seed)); err != nil {
			return nil, nil, err
		}
	}
	if v.OK && stored.UsesCommitment() {
		if err := addStep(ctx, v, prooffile.StepCommitted, s.checkUse(ctx, stored)); err != nil {
			return nil, nil, err
		}
	}
	if a.Seed == nil {
		v.Orders, v.OrderDigest = nil, ""
	}
	prooffile.Explain(v, seed)
	return a, v, nil
}

// addStep adds a step, which failed if err is not nil. It returns only errors that say nothing
// about the record: an unreachable or busy store, or a done ctx.
func addStep(ctx context.Context, v *audit.Verification, name string, err error) error {
	if errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, ledger.ErrOverloaded) || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	step := audit.Step{Name: name, OK: err == nil}
	if err != nil {
		step.Detail, v.OK = err.Error(), false
	}
	v.Steps = append(v.Steps, step)
	return nil
}

// checkUse checks that a shuffle agrees with its commitment.
func (s *Service) checkUse(ctx context.Context, stored *journal.StoredRecord) error {
	commitment, err := s.journal.ByID(ctx, stored.CommitmentID)
	if err != nil {
		return err
	}
	return journal.CheckCommitted(commitment, stored.Record, stored.Index)
}

// checkRoot seals a record's cards again and compares the root.
func (s *Service) checkRoot(ctx context.Context, stored *journal.StoredRecord, seed rng.Seed) error {
	first, err := s.journal.ShoeOf(ctx, stored)
	if err != nil {
		return err
	}
	begun, err := s.journal.Sidecar(first)
	if err != nil {
		return err
	}
	sealed, err := s.journal.Sidecar(stored)
	if err != nil {
		return err
	}
	if begun.Shoe == nil || sealed.Shoe == nil {
		return errors.New("the record is not of a shoe")
	}
	cards, err := s.rules.DeckOf(first.Record)
	if err != nil {
		return err
	}
	for _, number := range sealed.Shoe.Order {
		if uint64(number) >= first.Statement.Size {
			return errors.New("the order has cards that the shoe does not have")
		}
	}
	faces := shoe.NewFaces(cards, begun.Shoe.Items)
	if audit.Seal(seed, stored.Commitment, faces.Texts(sealed.Shoe.Order)).Root() != *stored.Root {
		return errors.New("the cards in this order do not have the root in the record")
	}
	return nil
}
