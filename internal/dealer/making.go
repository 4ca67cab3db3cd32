package dealer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/rng"
	"riffle/internal/shoe"
	"riffle/internal/shuffle"
)

// MaxItemBytes is how long the items of a shoe may be together, for they are kept with it.
const MaxItemBytes = 1 << 20

// MaxExpiry is the longest time after which a shoe expires.
const MaxExpiry = 366 * 24 * time.Hour

// PlanShoe checks a request for a shoe. The errors are those of [Dealer.Plan].
func (d *Dealer) PlanShoe(ctx context.Context, r *ShoeRequest) (*Plan, error) {
	none := uint64(0)
	if r.Unshuffled {
		r.Draw = &none
	}
	p, err := d.Plan(ctx, &r.Request)
	if err != nil {
		return nil, err
	}
	p.shoe = r
	total := 0
	for _, item := range r.Values {
		total += len(item)
	}
	s := &p.statement
	switch {
	case s.Size < 1 || s.Size > shoe.MaxCards:
		return nil, invalid("", "a shoe has 1 to %d cards, and this would have %d", shoe.MaxCards, s.Size)
	case s.Repeat != 1 || len(s.Hands) > 0 || s.Draw != s.Size && !r.Unshuffled:
		return nil, invalid("/commitment_id", "a shoe uses a commitment to one shuffle of a whole deck: without hands, draw and repeat")
	case total > MaxItemBytes:
		return nil, invalid("/items", "the items of a shoe have at most %d bytes together; seal names or numbers in place of long items", MaxItemBytes)
	case r.Expires < 0 || r.Expires > MaxExpiry || r.Expires%time.Second != 0:
		return nil, invalid("/expires_in", "a shoe expires after 1 to %d seconds", MaxExpiry/time.Second)
	}
	return p, nil
}

// MakeShoe seals a planned deck. A retry of its call gets the first one. The errors are those of [Dealer.Deal].
func (d *Dealer) MakeShoe(ctx context.Context, plan *Plan) (*Changed, error) {
	r := plan.shoe
	seed, err := d.seedFor(plan)
	if err != nil {
		return nil, err
	}
	k := &shoeKept{
		Layout: shoe.New(plan.statement.Size, !r.Unshuffled), Seals: []uint64{0}, Status: ShoeOpen, Shuffled: !r.Unshuffled, Items: r.Values,
	}
	if k.ID = r.Replaces; k.ID == uuid.Nil {
		if k.ID, err = uuid.NewRandomFromReader(d.options.Random); err != nil {
			return nil, fmt.Errorf("reading randomness for an id: %w", err)
		}
	}
	record, err := d.newRecord(audit.KindShoe)
	if err != nil {
		return nil, err
	}
	plan.state(record, seed)
	if r.Expires > 0 {
		k.Expires = record.Time.Add(r.Expires)
		record.Expires = k.Expires
	}
	if r.Sliding {
		k.Keep = int64(r.Expires / time.Second)
	}
	order, err := ordered(record, seed, r.Unshuffled)
	if err != nil {
		return nil, err
	}
	k.Order = make([]uint32, len(order))
	for i, number := range order {
		k.Order[i] = uint32(number)
	}
	base, err := d.base(0, record, k)
	if err != nil {
		return nil, err
	}
	if !r.Unshuffled {
		base.seals[1].sealed = audit.Seal(seed, record.Commitment, base.texts(k.Order))
		root := base.seals[1].sealed.Root()
		record.Root = &root
	}
	return d.beginShoe(ctx, plan, base, record, kept{shoe: k, seed: seed, call: plan.request.Call})
}

// ordered returns the order that a record shuffles: the first of its draw, or all as they are.
func ordered(record *audit.Record, seed rng.Seed, asTheyAre bool) ([]uint64, error) {
	s := &record.Statement
	if asTheyAre {
		order := make([]uint64, s.Size)
		for i := range order {
			order[i] = uint64(i)
		}
		return order, nil
	}
	stream, err := stream(seed, record)
	if err != nil {
		return nil, err
	}
	defer streams.Put(stream)
	return shuffle.Positions(s.Algorithm, s.Size, s.Draw, stream, nil), nil
}

// beginShoe appends the first record of a shoe.
func (d *Dealer) beginShoe(ctx context.Context, plan *Plan, base *shoeBase, record *audit.Record, beside kept) (*Changed, error) {
	k := beside.shoe
	t, done, err := d.tables.sit(ctx, k.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	own, last := ledger.Claim{Name: ownerClaim(k.ID)}, claimOf(record.ID, k)
	claims := []ledger.Claim{own, last}
	if plan.shoe.Replaces != uuid.Nil {
		old, err := d.read(ctx, t)
		if err != nil {
			return nil, err
		}
		claims[0].Taken, claims[0].From = true, old.base.index
		claims = append(claims, ledger.Claim{Name: shoeClaim(old.base.record.ID), Taken: true, From: old.index})
		record.AuditID = old.base.record.ID
	}
	t.state.Store(nil)
	index, err := d.appendOrder(ctx, plan, record, beside, claims)
	var claimed *ledger.ClaimError
	switch {
	case beside.call.isTaken(err):
		return d.Changed(ctx, beside.call, false)
	case plan.shoe.Replaces != uuid.Nil && errors.As(err, &claimed) && strings.Contains(claimed.Name, shoeClaims):
		return nil, ErrRunning
	case err != nil:
		return nil, err
	}
	base.index, k.Seals[0] = index, index
	state := &shoeState{base: base, kept: k, id: record.ID, index: index}
	t.state.Store(state)
	d.observe(EventShoeMade)
	return &Changed{AuditID: record.ID, LogIndex: index, Record: record, Shoe: *state.show(record.Time)}, nil
}
