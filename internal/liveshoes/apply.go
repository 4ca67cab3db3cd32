package liveshoes

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// A Change is something to do to a shoe.
type Change struct {
	Kind audit.Kind // draw, add, return, reshuffle, close or expire

	From     shoe.Place // where cards are taken, or sealed anew
	Taken    shoe.End   // how they are chosen there
	Count    *uint64    // how many, unless they are named; one if nil
	Cards    []CardName // the named cards; with [shoe.Named] and nil, all that are there. An add may have none
	To       shoe.Place // where they are put
	Put      shoe.End   // and at which end
	Openings bool       // return the cards with their openings

	Algorithm  string // of a shuffle; fisher-yates if empty
	ClientSeed string // of a reshuffle
	// Cut is the cut card of a reshuffle of the deck or of all cards: at a position, or a range to
	// draw it from. If nil, it is put where it was before, or drawn again from the same range.
	Cut *shoe.Cut

	IfVersion uint64       // the version to change; 0 for any
	Key       *journal.Key // identifies retries; nil for a change that cannot be repeated
}

// A CardName names a card of a shoe: by its number or, if only one card there has it, by its code.
type CardName struct {
	Number *uint64
	Code   string
}

// A Result is a change whose record is durable.
type Result struct {
	AuditID  uuid.UUID
	LogIndex uint64
	Record   *audit.Record
	Shoe     Shoe   // after the change
	Cards    []Card // those that were moved, in the order in which they were taken
}

// Apply makes a change of the shoe with the id in one record, or replays the first attempt. If
// there is an error, nothing was changed: [journal.ErrNoShoe], a [*ClosedError], a [*VersionError],
// a [*CardsError], an [*order.Invalid], an error of the package shoe, [journal.ErrInFlight],
// [journal.ErrKeyReused], or an error of the source of randomness or the ledger.
func (s *Service) Apply(ctx context.Context, id uuid.UUID, c *Change) (*Result, error) {
	return s.once(ctx, c.Key, c.Openings, func() (*Result, error) {
		return s.update(ctx, id, func(*state) (*Change, error) { return c, nil })
	})
}

// Update makes the change that plan returns for the shoe as it is, or replays the first attempt of
// the key, which may be nil. plan is called again whenever the shoe was changed in the meantime, so
// that its answer, be it a change or an error, is always about the shoe as it is. If plan returns
// nil, nothing is recorded, and the result is the shoe as it is.
func (s *Service) Update(ctx context.Context, id uuid.UUID, key *journal.Key, plan func(*Shoe) (*Change, error)) (*Result, error) {
	return s.once(ctx, key, false, func() (*Result, error) {
		return s.update(ctx, id, func(now *state) (*Change, error) {
			c, err := plan(s.shoe(now, s.journal.Now()))
			if c != nil {
				c.Key = key
			}
			return c, err
		})
	})
}

// once is [journal.Once] for a request about shoes.
func (s *Service) once(ctx context.Context, key *journal.Key, openings bool, do func() (*Result, error)) (*Result, error) {
	return journal.Once(ctx, s.journal, key, func(first *journal.Stored) (*Result, error) {
		return s.replay(ctx, first, openings)
	}, do)
}

// replay returns the result of the change that the first attempt recorded.
func (s *Service) replay(ctx context.Context, first *journal.Stored, openings bool) (*Result, error) {
	held, err := s.stateOf(first)
	if err != nil {
		return nil, err
	}
	begun := first
	if first.Kind != audit.KindShoe {
		if begun, err = s.journal.ByID(ctx, first.AuditID); err != nil {
			return nil, err
		}
	}
	made, err := s.stateOf(begun)
	if err != nil {
		return nil, err
	}
	b, err := s.newBase(begun, made)
	if err != nil {
		return nil, err
	}
	return s.result(ctx, &state{base: b, ShoeState: held, id: first.ID, index: first.Index}, first.Record, openings)
}

// update makes the change that plan returns. A refusal that rests on a cached state is only final
// once the state was read: another process may have changed the shoe.
func (s *Service) update(ctx context.Context, id uuid.UUID, plan func(*state) (*Change, error)) (*Result, error) {
	release, err := s.locks.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	if current := s.cached(id); current != nil {
		p, err := s.pending(ctx, current, plan)
		if err == nil && p != nil {
			result, err := s.commit(ctx, p)
			if !isConflict(err) {
				return result, err
			}
		}
	}
	return retry(ctx, func() (*Result, error) {
		current, err := s.read(ctx, id)
		if err != nil {
			return nil, err
		}
		p, err := s.pending(ctx, current, plan)
		if err != nil {
			return nil, err
		}
		if p == nil {
			return &Result{AuditID: current.id, LogIndex: current.index, Shoe: *s.shoe(current, s.journal.Now())}, nil
		}
		return s.commit(ctx, p)
	})
}

// isConflict reports whether another process changed the shoe first.
func isConflict(err error) bool {
	var conflict *ledger.ClaimError
	return errors.As(err, &conflict) && journal.IsShoeClaim(conflict.Name)
}

// maxBackoff is the longest pause of retry, which begins with a millisecond.
const maxBackoff = 20 * time.Millisecond

// retry calls try until it has no conflict with another process. Its pauses grow, and the clock
// makes them differ between processes. It gives up only when ctx is done: at each conflict, another
// process has made progress.
func retry(ctx context.Context, try func() (*Result, error)) (*Result, error) {
	for backoff := time.Millisecond; ; backoff = min(2*backoff, maxBackoff) {
		result, err := try()
		if !isConflict(err) {
			return result, err
		}
		timer := time.NewTimer(time.Duration(time.Now().UnixNano()) % backoff)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// pending is a change on its way into the log.
type pending struct {
	*Change
	from   *state
	record *audit.Record
	seed   rng.Seed           // nil unless the change shuffles
	next   *journal.ShoeState // after the change
}

// pending checks the change that plan returns and makes its record. It is nil if there is nothing
// to change.
func (s *Service) pending(ctx context.Context, from *state, plan func(*state) (*Change, error)) (*pending, error) {
	c, err := plan(from)
	if c == nil || err != nil {
		return nil, err
	}
	if err := s.check(from, c); err != nil {
		return nil, err
	}
	record := &audit.Record{Kind: c.Kind, AuditID: from.base.first.ID, Commitment: from.base.first.Commitment}
	next := *from.ShoeState
	next.Previous, next.Order, next.ID, next.Items = from.index, nil, uuid.Nil, nil
	p := &pending{Change: c, from: from, record: record, next: &next}
	switch c.Kind {
	case audit.KindReshuffle:
		err = s.reshuffle(ctx, p)
	case audit.KindClose:
		p.end(shoe.Closed)
	case audit.KindExpire:
		p.end(shoe.Expired)
	default:
		err = s.move(ctx, p)
	}
	if err == nil {
		err = s.journal.Identify(record)
	}
	if err != nil {
		return nil, err
	}
	record.Version = next.Layout.Version
	p.prolong()
	return p, nil
}

// check returns an error unless the shoe takes the change now.
func (s *Service) check(from *state, c *Change) error {
	ends := c.Kind == audit.KindClose || c.Kind == audit.KindExpire
	switch {
	case from.Status == shoe.Closed || from.Status == shoe.Expired && c.Kind != audit.KindClose:
		return &ClosedError{Status: from.Status, AuditID: from.id}
	case from.overdue(s.journal.Now()) && !ends:
		return &ClosedError{Status: shoe.Expired}
	case c.IfVersion != 0 && c.IfVersion != from.Layout.Version:
		return &VersionError{from.Layout.Version}
	}
	return nil
}

// end is a change after which nothing is dealt.
func (p *pending) end(status shoe.Status) {
	p.next.Layout, p.next.Status = p.from.Layout.End(), status
	p.next.Expires, p.next.TTL = time.Time{}, 0
}

// move is a change that moves cards.
func (s *Service) move(ctx context.Context, p *pending) (err error) {
	r := p.record
	r.From, r.Taken, r.To, r.Put = p.From, p.Taken, p.To, p.Put
	if r.Cards, err = s.choose(ctx, p); err != nil {
		return err
	}
	p.next.Layout, err = p.from.Layout.Apply(&shoe.Move{From: r.From, Cards: r.Cards, To: r.To, Put: r.Put})
	return err
}

// reshuffle is a change that seals the cards of a place in a new order.
func (s *Service) reshuffle(ctx context.Context, p *pending) error {
	cards, err := p.from.Layout.At(p.From)
	if err != nil {
		return err
	}
	_, ofPile := p.From.Pile()
	cut, err := p.cutFor(cards.Len())
	if err != nil {
		return err
	}
	p.record.From, p.record.ClientSeed = p.From, p.ClientSeed
	positions, err := s.shuffle(p, cards.Len(), cards.Len())
	if err != nil {
		return err
	}
	if p.record.Cut, err = cutCard(cut, p.record, p.seed); err != nil {
		return err
	}
	if p.next.Layout, err = p.from.Layout.Shuffle(p.From); err != nil {
		return err
	}
	p.next.Layout = p.next.Layout.WithCut(p.record.Cut)
	numbers, err := s.numbers(ctx, p.from, cards)
	if err != nil {
		return err
	}
	p.next.Order = make([]uint32, len(positions))
	for i, position := range positions {
		p.next.Order[i] = uint32(numbers[position])
	}
	root := audit.Seal(p.seed, p.record.Commitment, p.from.base.faces.Texts(p.next.Order)).Root()
	p.record.Root = &root
	p.next.Seals = append(slices.Clone(p.from.Seals), 0) // completed by SetIndex
	p.next.Shuffled = p.next.Shuffled || !ofPile
	return nil
}

// cutFor returns the cut card of a reshuffle of size cards: that of the change, or the one before.
// Fewer than two cards have none.
func (p *pending) cutFor(size uint64) (*shoe.Cut, error) {
	if p.Cut != nil {
		return p.Cut, checkCut(p.Cut, size)
	}
	before, _ := p.from.Layout.Cut()
	if _, ofPile := p.From.Pile(); before == nil || ofPile || size < 2 {
		return nil, nil
	}
	if err := checkCut(before, size); err != nil {
		return nil, plan.Refuse("/cut", "cut is required: the previous cut position is past the end of these %d cards", size)
	}
	return before, nil
}

// shuffle draws some of size cards by an order of the change's own, from a new seed.
func (s *Service) shuffle(p *pending, size, count uint64) ([]uint64, error) {
	algorithm, err := plan.Algorithm(p.Algorithm)
	if err == nil {
		err = plan.CheckMovable(algorithm, size)
	}
	if err != nil {
		return nil, err
	}
	if p.seed, err = s.journal.NewSeed(size, count); err != nil {
		return nil, err
	}
	p.record.Statement = audit.Statement{
		Algorithm: algorithm, Size: size, Draw: count, Repeat: 1, Input: audit.RangeInput,
		Reference: p.from.base.first.Statement.Reference, Seed: p.seed,
	}
	p.record.Commitment = p.record.Statement.Commitment()
	return draw(p.record, p.seed)
}

// prolong lets a shoe with a time to live expire later. It adds a hundredth, so that not every
// change moves the expiry, by which the store sorts.
func (p *pending) prolong() {
	ttl := time.Duration(p.next.TTL) * time.Second
	if ttl > 0 && p.next.Expires.Before(p.record.Time.Add(ttl)) {
		p.next.Expires = p.record.Time.Add(ttl + ttl/100).Truncate(time.Microsecond)
		p.record.Expires = p.next.Expires
	}
}

// commit appends a pending change.
func (s *Service) commit(ctx context.Context, p *pending) (*Result, error) {
	b, before := p.from.base, p.from.Claim(p.from.base.first.ID)
	claim := p.next.Claim(b.first.ID)
	claim.Unchanged = claim == before
	claim.Taken, claim.From = true, p.from.index
	index, err := s.journal.Append(ctx, &journal.Entry{
		Record: p.record, Reference: b.first.Statement.Reference, Claims: []ledger.Claim{claim},
		Sidecar: journal.Sidecar{Seed: p.seed, Key: p.Key, Shoe: p.next},
	})
	if err != nil {
		return nil, err
	}
	if p.record.Root != nil {
		p.next.SetIndex(index)
		if err := b.addSealing(p.next.Layout.Version, p.record.ID, p.next); err != nil {
			return nil, err
		}
	}
	after := &state{base: b, ShoeState: p.next, id: p.record.ID, index: index}
	s.store(after)
	s.observe(p.Kind)
	return s.result(ctx, after, p.record, p.Openings)
}

// result returns a change and the shoe after it.
func (s *Service) result(ctx context.Context, after *state, record *audit.Record, openings bool) (*Result, error) {
	cards, err := s.cards(ctx, after, record.Cards, openings)
	if err != nil {
		return nil, err
	}
	return &Result{AuditID: record.ID, LogIndex: after.index, Record: record, Shoe: *s.shoe(after, record.Time), Cards: cards}, nil
}
