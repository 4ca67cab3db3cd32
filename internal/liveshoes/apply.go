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

// A Change is one change of a shoe.
type Change struct {
	Kind audit.Kind // draw, add, return, reshuffle, close or expire

	From     shoe.Place // where cards are taken, or shuffled
	Taken    shoe.End   // how they are chosen
	Count    *uint64    // number of cards if they are not named; one if nil
	Cards    []CardName // names for [shoe.Named]: nil takes all cards, and only an add may be empty
	To       shoe.Place // where the cards go
	Put      shoe.End   // the end of To where they are put
	Openings bool       // return the cards with their openings

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
	return s.once(ctx, c.Key, c.Openings, func() (*Result, error) {
		return s.update(ctx, id, func(*state) (*Change, error) { return c, nil })
	})
}

// Update makes the change that decide returns for the current shoe, or replays the first attempt
// with the key, which may be nil. If another process changes the shoe first, decide is called
// again. If it returns nil, nothing is recorded and the result is the current shoe.
func (s *Service) Update(ctx context.Context, id uuid.UUID, key *journal.IdempotencyKey, decide func(*Shoe) (*Change, error)) (*Result, error) {
	return s.once(ctx, key, false, func() (*Result, error) {
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
func (s *Service) once(ctx context.Context, key *journal.IdempotencyKey, openings bool, do func() (*Result, error)) (*Result, error) {
	return journal.Once(ctx, s.journal, key, func(first *journal.StoredRecord) (*Result, error) {
		return s.replay(ctx, first, openings)
	}, do)
}

// replay returns the result recorded by the first attempt.
func (s *Service) replay(ctx context.Context, first *journal.StoredRecord, openings bool) (*Result, error) {
	after, err := s.stateOf(first)
	if err != nil {
		return nil, err
	}
	begin, err := s.journal.ShoeOf(ctx, first)
	if err != nil {
		return nil, err
	}
	b, err := s.readBase(begin)
	if err != nil {
		return nil, err
	}
	return s.result(ctx, &state{base: b, ShoeState: after, id: first.ID, index: first.Index}, first.Record, openings)
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
		if p, err := s.prepareChange(ctx, current, decide); err == nil && p != nil {
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
		p, err := s.prepareChange(ctx, current, decide)
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
	seed   rng.Seed           // nil if the change draws nothing at random
	next   *journal.ShoeState // the state after the change
}

// moves lists the kinds of changes, each with the function that completes its record and next state.
var moves = map[audit.Kind]func(*Service, context.Context, *pendingChange) error{
	audit.KindDraw:      (*Service).move,      // takes cards out of the deck or a pile
	audit.KindAdd:       (*Service).move,      // puts cards from outside the deck onto a pile
	audit.KindReturn:    (*Service).move,      // puts cards back into the deck
	audit.KindReshuffle: (*Service).reshuffle, // seals the cards of a place in a new order
	audit.KindClose:     (*Service).end,       // makes the seeds public
	audit.KindExpire:    (*Service).end,       // stops dealing; the shoe can still be closed
}

// prepareChange checks the change that decide returns and makes its record. It returns nil if there
// is nothing to change.
func (s *Service) prepareChange(ctx context.Context, from *state, decide func(*state) (*Change, error)) (*pendingChange, error) {
	c, err := decide(from)
	if c == nil || err != nil {
		return nil, err
	}
	if err := s.check(from, c); err != nil {
		return nil, err
	}
	record := &audit.Record{Kind: c.Kind, AuditID: from.base.first.ID, Commitment: from.base.first.Commitment}
	next := *from.ShoeState
	next.Previous, next.Order, next.ID, next.Items = from.index, nil, uuid.Nil, nil
	p := &pendingChange{Change: c, from: from, record: record, next: &next}
	if err := moves[c.Kind](s, ctx, p); err != nil {
		return nil, err
	}
	if err := s.journal.Identify(record); err != nil {
		return nil, err
	}
	record.Version = next.Layout.Version
	p.prolong()
	return p, nil
}

// check returns an error if the shoe cannot take the change now.
func (s *Service) check(from *state, c *Change) error {
	ends := c.Kind == audit.KindClose || c.Kind == audit.KindExpire
	switch {
	case from.Status == shoe.Closed || from.Status == shoe.Expired && c.Kind != audit.KindClose:
		return &ClosedError{Status: from.Status, AuditID: from.id}
	case from.overdue(s.journal.Now()) && !ends:
		return &ClosedError{Status: shoe.Expired}
	case c.IfVersion != 0 && c.IfVersion != from.Layout.Version:
		return &VersionError{from.Layout.Version}
	case !ends:
		return from.base.changed
	}
	return nil
}

// end closes or expires the shoe.
func (*Service) end(_ context.Context, p *pendingChange) error {
	p.next.Layout, p.next.Status = p.from.Layout.End(), shoe.Closed
	if p.Kind == audit.KindExpire {
		p.next.Status = shoe.Expired
	}
	p.next.Expires, p.next.TTL = time.Time{}, 0
	return nil
}

// move takes cards from one place and puts them at another.
func (s *Service) move(ctx context.Context, p *pendingChange) (err error) {
	r := p.record
	r.From, r.Taken, r.To, r.Put = p.From, p.Taken, p.To, p.Put
	if r.Cards, err = s.choose(ctx, p); err != nil {
		return err
	}
	p.next.Layout, err = p.from.Layout.Apply(&shoe.Move{From: r.From, Cards: r.Cards, To: r.To, Put: r.Put})
	return err
}

// reshuffle seals the cards of a place in a new order.
func (s *Service) reshuffle(ctx context.Context, p *pendingChange) error {
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
	p.record.Cut = cutCard(cut, p.record, p.seed)
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

// cutFor returns the cut card for a reshuffle of size cards: the change's, or the previous one.
// Fewer than two cards have no cut card.
func (p *pendingChange) cutFor(size uint64) (*shoe.Cut, error) {
	before, _ := p.from.Layout.Cut()
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

// shuffle draws count of size cards with a new seed for the change.
func (s *Service) shuffle(p *pendingChange, size, count uint64) ([]uint64, error) {
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
	return draw(p.record, p.seed), nil
}

// prolong moves the expiry of a shoe with a time to live. It adds a hundredth, so that not every
// change has to update the claim's due time, which the store indexes.
func (p *pendingChange) prolong() {
	ttl := time.Duration(p.next.TTL) * time.Second
	if ttl > 0 && p.next.Expires.Before(p.record.Time.Add(ttl)) {
		p.next.Expires = p.record.Time.Add(ttl + ttl/100).Truncate(time.Microsecond)
		p.record.Expires = p.next.Expires
	}
}

// commit appends a pending change and caches the new state.
func (s *Service) commit(ctx context.Context, p *pendingChange) (*Result, error) {
	b, before := p.from.base, p.from.Claim(p.from.base.first.ID)
	claim := p.next.Claim(b.first.ID)
	claim.Unchanged = claim == before
	claim.Taken, claim.From = true, p.from.index
	index, err := s.journal.Append(ctx, &journal.Addition{
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

// result returns a change with the shoe after it.
func (s *Service) result(ctx context.Context, after *state, record *audit.Record, openings bool) (*Result, error) {
	cards, err := s.cards(ctx, after, record.Cards, openings)
	if err != nil {
		return nil, err
	}
	return &Result{AuditID: record.ID, LogIndex: after.index, Record: record, Shoe: *s.shoe(after, record.Time), Cards: cards}, nil
}
