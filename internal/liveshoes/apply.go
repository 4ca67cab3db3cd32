package liveshoes

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// A Change is one change of a shoe.
type Change struct {
	Kind audit.Kind // draw, add, return, reshuffle, close or expire

	From  shoe.Place // where cards are taken, or shuffled
	Taken shoe.End   // how they are chosen
	Count *uint64    // number of cards if they are not named; one if nil
	Cards []CardName // names for [shoe.Named]: nil takes all cards, and only an add may be empty
	To    shoe.Place // where the cards go
	Put   shoe.End   // the end of To where they are put

	// Admit is called before the change with the cost of opening its cards. If it fails, so does
	// the change. It is nil if the caller will not [Service.Open] them.
	Admit func(OpeningCost) error

	Algorithm  string // of a shuffle; fisher-yates if empty
	ClientSeed string // of a reshuffle
	// Cut is the cut card of a reshuffle of the deck or all cards: a position, or a range to draw
	// it from. If nil, the previous position or range is used again.
	Cut *shoe.Cut

	IfVersion uint64                  // required version of the shoe; 0 for any
	Key       *journal.IdempotencyKey // identifies retries; nil for a change that cannot be retried
}

// A CardName names a card by its number, or by its code if only one card at the place has it.
type CardName struct {
	Number *uint64
	Code   string
}

// A Result is a change with a durable record.
type Result struct {
	AuditID  uuid.UUID
	LogIndex uint64
	Record   *audit.Record
	Shoe     Shoe   // after the change
	Cards    []Card // those that were moved, in the order in which they were taken
}

// Apply makes a change of the shoe with an id in one record, or replays the first attempt. On an
// error nothing was changed: [journal.ErrNoShoe], a [*ClosedError], a [*VersionError], a
// [*CardsError], a [*plan.Invalid], an error of package shoe, [journal.ErrInFlight],
// [journal.ErrKeyReused], or an error of the source of randomness or the ledger.
func (s *Service) Apply(ctx context.Context, id uuid.UUID, c *Change) (*Result, error) {
	return s.once(ctx, c.Key, func() (*Result, error) {
		return s.update(ctx, id, func(*state) (*Change, error) { return c, nil })
	})
}

// Update makes the change that decide returns for the current shoe, or replays the first attempt
// with the key, which may be nil. If another process changes the shoe first, decide is called
// again. If it returns nil, nothing is recorded and the result is the current shoe.
func (s *Service) Update(ctx context.Context, id uuid.UUID, key *journal.IdempotencyKey, decide func(*Shoe) (*Change, error)) (*Result, error) {
	return s.once(ctx, key, func() (*Result, error) {
		return s.update(ctx, id, func(now *state) (*Change, error) {
			c, err := decide(s.shoe(now, s.journal.Now()))
			if c != nil {
				c.Key = key
			}
			return c, err
		})
	})
}

// once is [journal.Once] for requests about shoes.
func (s *Service) once(ctx context.Context, key *journal.IdempotencyKey, do func() (*Result, error)) (*Result, error) {
	return journal.Once(ctx, s.journal, key, func(first *journal.StoredRecord) (*Result, error) {
		return s.replay(ctx, first)
	}, do)
}

// replay returns the result recorded by the first attempt.
func (s *Service) replay(ctx context.Context, first *journal.StoredRecord) (*Result, error) {
	if err := loads.Acquire(ctx, s.load); err != nil {
		return nil, err
	}
	defer loads.Release(s.load)
	begin, err := s.journal.ShoeOf(ctx, first)
	if err != nil {
		return nil, err
	}
	b, err := s.readBase(ctx, begin)
	if err != nil {
		return nil, err
	}
	after, err := s.stateAfter(ctx, b.start, first)
	if err != nil {
		return nil, err
	}
	return s.result(after, first.Record)
}

// update makes the change that decide returns. An error based on a cached state is not final, since
// the state may be stale: update then reads the state and tries again.
func (s *Service) update(ctx context.Context, id uuid.UUID, decide func(*state) (*Change, error)) (*Result, error) {
	release, err := s.lock(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	if current := s.cached(id); current != nil {
		if p, err := s.prepareChange(current, decide); err == nil && p != nil {
			if result, err := s.commit(ctx, p); !isConflict(err) {
				return result, err
			}
		}
	}
	return retry(ctx, func() (*Result, error) {
		current, err := s.read(ctx, id)
		if err != nil {
			return nil, err
		}
		p, err := s.prepareChange(current, decide)
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
	conflict, ok := errors.AsType[*ledger.ClaimError](err)
	return ok && journal.IsShoeClaim(conflict.Name)
}

// maxBackoff is the longest pause of retry; the first is up to 1 ms.
const maxBackoff = 20 * time.Millisecond

// retry calls try until it has no conflict or ctx is done. The clock spreads its growing pauses
// between processes. It needs no limit, because each conflict is another process's progress.
func retry(ctx context.Context, try func() (*Result, error)) (*Result, error) {
	for backoff := time.Millisecond; ; backoff = min(2*backoff, maxBackoff) {
		result, err := try()
		if !isConflict(err) {
			return result, err
		}
		select {
		case <-time.After(time.Duration(time.Now().UnixNano()) % backoff):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// pendingChange is a checked change before its record is appended.
type pendingChange struct {
	*Change
	from   *state
	record *audit.Record
	seed   rng.Seed // nil if the change draws nothing at random
	next   *state   // after the change

	snapshot []byte // of next; nil for none
}

// prepareChange checks the change that decide returns and makes its record. It returns nil if there
// is nothing to change.
func (s *Service) prepareChange(from *state, decide func(*state) (*Change, error)) (*pendingChange, error) {
	c, err := decide(from)
	if c == nil || err != nil {
		return nil, err
	}
	if err := s.check(from, c); err != nil {
		return nil, err
	}
	record := &audit.Record{Kind: c.Kind, AuditID: from.base.first.ID, Commitment: from.base.first.Commitment, Version: from.layout.Version + 1}
	p := &pendingChange{Change: c, from: from, record: record}
	switch c.Kind {
	case audit.KindClose, audit.KindExpire:
	case audit.KindReshuffle:
		err = s.reshuffle(p)
	default:
		err = s.move(p)
	}
	if err == nil && c.Admit != nil {
		err = c.Admit(from.openingCost(record.Cards.Seals()...))
	}
	if err == nil {
		err = s.journal.Identify(record)
	}
	if err != nil {
		return nil, err
	}
	p.prolong()
	if p.next, err = from.after(record, p.seed); err != nil {
		return nil, err
	}
	if c.Kind == audit.KindReshuffle {
		var numbers []uint16 // none in an empty pile
		if sealed := p.next.orders[record.Version]; sealed != nil {
			numbers = sealed.numbers
		}
		root := audit.Seal(p.seed, record.Commitment, from.base.faces.Texts(numbers)).Root()
		record.Root = &root
	}
	if p.next.owed > 2*int(p.next.layout.Total) { // which the numbers alone take
		if text := p.next.snapshot(); len(text) <= p.next.owed {
			p.snapshot, p.next.owed = text, 0
		}
	}
	return p, nil
}

// check returns an error if the shoe cannot take the change now.
func (s *Service) check(from *state, c *Change) error {
	ends := c.Kind == audit.KindClose || c.Kind == audit.KindExpire
	switch {
	case from.status == shoe.Closed || from.status == shoe.Expired && c.Kind != audit.KindClose:
		return &ClosedError{Status: from.status, AuditID: from.id}
	case from.overdue(s.journal.Now()) && !ends:
		return &ClosedError{Status: shoe.Expired}
	case c.IfVersion != 0 && c.IfVersion != from.layout.Version:
		return &VersionError{from.layout.Version}
	case !ends:
		return from.base.changed
	}
	return nil
}

// move takes cards from one place and puts them at another.
func (s *Service) move(p *pendingChange) (err error) {
	r := p.record
	r.From, r.Taken, r.To, r.Put = p.From, p.Taken, p.To, p.Put
	r.Cards, err = s.choose(p)
	return err
}

// reshuffle seals the cards of a place in a new order.
func (s *Service) reshuffle(p *pendingChange) error {
	cards, err := p.from.layout.At(p.From)
	if err != nil {
		return err
	}
	cut, err := p.cutFor(cards.Len())
	if err != nil {
		return err
	}
	p.record.From, p.record.ClientSeed = p.From, p.ClientSeed
	if err := s.seed(p, cards.Len(), cards.Len()); err != nil {
		return err
	}
	p.record.Cut = cutCard(cut, p.record, p.seed)
	return nil
}

// cutFor returns the cut card for a reshuffle of size cards: the change's, or the previous one.
// Fewer than two cards have no cut card.
func (p *pendingChange) cutFor(size uint64) (*shoe.Cut, error) {
	before, _ := p.from.layout.Cut()
	_, ofPile := p.From.Pile()
	switch {
	case p.Cut != nil && !p.Cut.Fits(size):
		return nil, refuseCut(p.Cut, size)
	case p.Cut != nil || before == nil || ofPile || size < 2:
		return p.Cut, nil // nil for none
	case !before.Fits(size):
		return nil, plan.Refuse("/cut", "cut is required: the previous cut position is past the end of these %d cards", size)
	}
	return before, nil
}

// seed draws a seed for the change, which draws count of size cards.
func (s *Service) seed(p *pendingChange, size, count uint64) error {
	algorithm, err := plan.Algorithm(p.Algorithm)
	if err == nil {
		err = plan.CheckMovable(algorithm, size)
	}
	if err != nil {
		return err
	}
	if p.seed, err = s.journal.NewSeed(size, count); err != nil {
		return err
	}
	p.record.Statement = audit.Statement{
		Algorithm: algorithm, Size: size, Draw: count, Repeat: 1, Input: audit.RangeInput,
		Reference: p.from.base.first.Statement.Reference, Seed: p.seed,
	}
	p.record.Commitment = p.record.Statement.Commitment()
	return nil
}

// prolong moves the expiry of a shoe with a time to live. It adds a hundredth, so that not every
// change has to update the claim's due time, which the store indexes.
func (p *pendingChange) prolong() {
	ttl := p.from.base.ttl
	if ends := p.Kind == audit.KindClose || p.Kind == audit.KindExpire; ttl > 0 && !ends && p.from.expires.Before(p.record.Time.Add(ttl)) {
		p.record.Expires = p.record.Time.Add(ttl + ttl/100).Truncate(time.Microsecond)
	}
}

// commit appends a pending change and caches the new state.
func (s *Service) commit(ctx context.Context, p *pendingChange) (*Result, error) {
	first := p.from.base.first
	sidecar := &journal.ShoeSidecar{Previous: p.from.index, Expires: p.next.expires, Snapshot: p.snapshot}
	claim := sidecar.Claim(p.record)
	claim.Unchanged = p.next.status == p.from.status && p.next.expires.Equal(p.from.expires)
	claim.From = p.from.index
	index, err := s.journal.Append(ctx, &journal.Addition{
		Record: p.record, Reference: first.Statement.Reference, Claims: []ledger.Claim{claim},
		Sidecar: journal.Sidecar{Seed: p.seed, Key: p.Key, Shoe: sidecar},
	})
	if err != nil {
		return nil, err
	}
	p.next.index = index
	s.store(p.next)
	s.observe(p.Kind)
	return s.result(p.next, p.record)
}

// result returns a change with the shoe after it.
func (s *Service) result(after *state, record *audit.Record) (*Result, error) {
	cards, err := after.cards(record.Cards)
	if err != nil {
		return nil, err
	}
	return &Result{AuditID: record.ID, LogIndex: after.index, Record: record, Shoe: *s.shoe(after, record.Time), Cards: cards}, nil
}
