package liveshoes

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/rng"
	"riffle/internal/shoe"
	"riffle/internal/shuffle"
)

// A NewShoe asks for a shoe of a whole deck, shuffled once and without hands. A Draw of 0 leaves
// the cards in input order, unsealed, until they are reshuffled.
type NewShoe struct {
	dealer.Request
	Items   []string      // the caller's items as JSON; nil for other inputs
	Expires time.Duration // from creation; 0 for never
	TTL     time.Duration // instead of Expires: from the last change, or up to a hundredth longer
	Cut     *shoe.Cut     // a position, or a range to draw it from; nil for no cut card
}

// Create seals a deck, or replays the first attempt. It fails like [dealer.Dealer.Shuffle].
func (s *Service) Create(ctx context.Context, r *NewShoe) (*Result, error) {
	return s.once(ctx, r.Key, func() (*Result, error) {
		draft, err := s.prepare(ctx, r)
		if err != nil {
			return nil, err
		}
		return s.create(ctx, uuid.Nil, r, draft, nil)
	})
}

// Replace seals a deck as a new shoe that takes over the id of an old one. It fails with
// [journal.ErrNoShoe] or like [Service.Create].
func (s *Service) Replace(ctx context.Context, id uuid.UUID, r *NewShoe) (*Result, error) {
	return s.once(ctx, r.Key, func() (*Result, error) {
		draft, err := s.prepare(ctx, r)
		if err != nil {
			return nil, err
		}
		release, err := s.lock(ctx, id)
		if err != nil {
			return nil, err
		}
		defer release()
		return retry(ctx, func() (*Result, error) {
			old, err := s.read(ctx, id)
			if err != nil {
				return nil, err
			}
			return s.create(ctx, id, r, draft, old)
		})
	})
}

// create appends the first record of a shoe. If old is not nil, the new shoe takes over its id.
func (s *Service) create(ctx context.Context, id uuid.UUID, r *NewShoe, draft *dealer.Draft, old *state) (*Result, error) {
	err := s.dealer.Seed(draft)
	if err != nil {
		return nil, err
	}
	if old == nil {
		if id, err = uuid.NewRandomFromReader(s.journal.Random); err != nil {
			return nil, fmt.Errorf("reading randomness for an id: %w", err)
		}
	}
	record, err := s.dealer.Record(audit.KindShoe, draft)
	if err != nil {
		return nil, err
	}
	record.Cut = cutCard(r.Cut, record, draft.Seed)
	sidecar := &journal.ShoeSidecar{ID: id, Items: r.Items, TTL: int64(r.TTL / time.Second)}
	if lifetime := r.Expires + r.TTL; lifetime > 0 {
		record.Expires = record.Time.Add(lifetime)
		sidecar.Expires = record.Expires
	}
	claims := []ledger.Claim{{Name: journal.OwnerClaim(id)}, sidecar.Claim(record)}
	if old != nil {
		record.AuditID = old.base.first.ID
		claims[0].Taken, claims[0].From = true, old.base.first.Index
		claims = append(claims, ledger.Claim{Name: journal.ShoeClaim(old.base.first.ID), Taken: true, From: old.index})
	}
	b := s.newBase(&journal.StoredRecord{Record: record}, sidecar, draft.Seed)
	if record.Statement.Draw > 0 {
		numbers := b.start.orders[1].numbers
		made := &tree{1, numbers, audit.Seal(draft.Seed, record.Commitment, b.faces.Texts(numbers))}
		b.tree.Store(made)
		root := made.Root()
		record.Root = &root
	}
	index, err := s.dealer.Append(ctx, draft, &journal.Addition{
		Record: record, Sidecar: journal.Sidecar{Key: r.Key, Shoe: sidecar}, Claims: claims,
	})
	if err != nil {
		return nil, err
	}
	b.first.Index, b.start.index = index, index
	s.store(b.start)
	s.observe(audit.KindShoe)
	return s.result(b.start, record)
}

// prepare checks a request for a shoe.
func (s *Service) prepare(ctx context.Context, r *NewShoe) (*dealer.Draft, error) {
	r.MaxCards = shoe.MaxCards
	draft, err := s.dealer.Prepare(ctx, &r.Request)
	if err != nil {
		return nil, err
	}
	statement, lifetime, bytes := &draft.Plan.Statement, r.Expires+r.TTL, shoe.NewFaces(nil, r.Items).Bytes()
	unsealed := r.Draw != nil && *r.Draw == 0
	switch {
	case statement.Size < 1 || statement.Size > shoe.MaxCards:
		return nil, plan.Refuse("", "a shoe must have 1 to %d cards; this one would have %d", shoe.MaxCards, statement.Size)
	case statement.Repeat != 1 || len(statement.Hands) > 0 || statement.Draw != statement.Size && !unsealed:
		return nil, plan.Refuse("/commitment_id", "commitment_id must name a commitment to one shuffle of a whole deck, without hands, draw and repeat")
	case bytes > MaxItemBytes:
		return nil, plan.Refuse("/items", "items must have at most %d bytes together in a shoe; got %d", MaxItemBytes, bytes)
	case r.Expires < 0 || r.TTL < 0 || lifetime > MaxExpiry || lifetime%time.Second != 0:
		return nil, plan.Refuse("/expires_in", "expires_in must be from 1 to %d seconds", MaxExpiry/time.Second)
	case r.Cut != nil && !r.Cut.Fits(statement.Size):
		return nil, refuseCut(r.Cut, statement.Size)
	}
	return draft, r.ReserveFor(statement)
}

// refuseCut returns the error for a cut card that does not fit into size cards.
func refuseCut(c *shoe.Cut, size uint64) error {
	if size < 2 {
		return plan.Refuse("/cut", "cut requires at least 2 cards, and there are %d; omit cut", size)
	}
	got := fmt.Sprint(c.At)
	if c.IsDrawn() {
		got = fmt.Sprintf("[%d,%d]", c.From, c.To)
	}
	return plan.Refuse("/cut", "cut must be the number of cards before the cut card, from 1 to %d, or a range such as [1,%d]; got %s", size-1, size-1, got)
}

// cutCard returns the cut card of a record, drawn with the record's seed if a range is wanted; nil
// for none.
func cutCard(wanted *shoe.Cut, record *audit.Record, seed rng.Seed) *shoe.Cut {
	if wanted == nil || !wanted.IsDrawn() {
		return wanted
	}
	stream := dealer.Stream(record, seed)
	defer stream.Release()
	stream.Seek(audit.CutStream)
	return &shoe.Cut{At: audit.DrawCut(wanted, stream), From: wanted.From, To: wanted.To}
}

// newOrder returns the card number at each position: the record's shuffle, or input order if it
// draws nothing.
func newOrder(record *audit.Record, seed rng.Seed) []uint16 {
	numbers := make([]uint16, record.Statement.Size)
	for i := range numbers {
		numbers[i] = uint16(i)
	}
	for i, position := range draw(record, seed) {
		numbers[i] = uint16(position)
	}
	return numbers
}

// draw returns the positions drawn by a record with its seed.
func draw(record *audit.Record, seed rng.Seed) []uint64 {
	stream := dealer.Stream(record, seed)
	defer stream.Release()
	s := &record.Statement
	return shuffle.Positions(s.Algorithm, s.Size, s.Draw, stream, nil)
}
