package dealer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/rng"
	"riffle/internal/shoe"
	"riffle/internal/shuffle"
)

// Change does something to the shoe with the id, in one record. However many do so at once, each change is of the shoe as the one
// before has left it. A retry of its call is answered as the first time. Nothing has changed if the error is [ErrNoShoe], a
// [*ShoeOverError], a [*VersionError], a [*shoe.ShortError], a [*CardsError], one of the package shoe, an [*Invalid],
// [ErrOtherRequest], or of the source of randomness or the ledger.
func (d *Dealer) Change(ctx context.Context, id uuid.UUID, c *Change) (*Changed, error) {
	if made, err := d.Changed(ctx, c.Call, c.Openings); made != nil || err != nil {
		return made, err
	}
	t, done, err := d.tables.sit(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	for attempt := 0; ; attempt++ {
		known := t.state.Load() != nil
		if !known {
			if _, err := d.read(ctx, t); err != nil {
				return nil, err
			}
		}
		changed, err := d.change(ctx, t, c)
		var claimed *ledger.ClaimError
		switch {
		case err == nil:
			return changed, nil
		case c.Call.isTaken(err):
			t.state.Store(nil)
			return d.Changed(ctx, c.Call, c.Openings)
		case errors.As(err, &claimed): // through another process
			t.state.Store(nil)
			if err := Pause(ctx, attempt); err != nil {
				return nil, err
			}
		case known && isOfState(err): // which may be old
			t.state.Store(nil)
		default:
			t.state.Store(nil)
			return nil, err
		}
	}
}

// Pause lets whoever was first have its turn, for longer the more often somebody was. The error is the context's.
func Pause(ctx context.Context, attempt int) error {
	most := min(time.Millisecond<<min(attempt, 5), 20*time.Millisecond)
	timer := time.NewTimer(time.Duration(time.Now().UnixNano()) % most) // the clocks of two processes are never that close
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isOfState reports whether an error may be of what was known of a shoe rather than of the request.
func isOfState(err error) bool {
	var short *shoe.ShortError
	var cards *CardsError
	var over *ShoeOverError
	var version *VersionError
	return errors.As(err, &short) || errors.As(err, &cards) || errors.As(err, &over) || errors.As(err, &version) ||
		errors.Is(err, shoe.ErrNoPile) || errors.Is(err, shoe.ErrNotThere) || errors.Is(err, shoe.ErrTooMany)
}

// A changing is a change on its way.
type changing struct {
	*Change
	d      *Dealer
	from   *shoeState
	record *audit.Record
	seed   rng.Seed // nil unless it makes an order
	kept   *shoeKept
}

// change makes and appends the record of a change of the shoe as the table has it.
func (d *Dealer) change(ctx context.Context, t *table, c *Change) (*Changed, error) {
	s := t.state.Load()
	if err := d.allows(s, c); err != nil {
		return nil, err
	}
	next := *s.kept
	next.Previous, next.Order, next.ID, next.Items = s.index, nil, uuid.Nil, nil
	g := &changing{Change: c, d: d, from: s, kept: &next, record: &audit.Record{Kind: c.Kind}}
	if err := g.make(ctx); err != nil {
		return nil, err
	}
	record := g.record
	k := kept{seed: g.seed, shoe: g.kept, call: c.Call}
	index, err := d.log.Append(ledger.Entry{
		ID: record.ID, Reference: s.base.record.Statement.Reference, Record: record.Append(nil), Sidecar: k.text(),
		Claims: append(c.Call.claims(), s.passOn(g.kept)),
	})
	if err != nil {
		return nil, err
	}
	if record.Root != nil {
		g.kept.Seals[len(g.kept.Seals)-1] = index
		if err := s.base.know(g.kept.Layout.Version, record, g.kept); err != nil {
			return nil, err
		}
	}
	state := &shoeState{base: s.base, kept: g.kept, id: record.ID, index: index}
	t.state.Store(state)
	d.observe(shoeEvent[c.Kind])
	return d.changed(ctx, state, record, index, c.Openings)
}

// passOn returns the claim of the shoe as it goes from the record of this state to that of the next.
func (s *shoeState) passOn(next *shoeKept) ledger.Claim {
	c, before := claimOf(s.base.record.ID, next), claimOf(s.base.record.ID, s.kept)
	c.Unchanged = c == before
	c.Taken, c.From = true, s.index
	return c
}

var shoeEvent = map[audit.Kind]Event{
	audit.KindDraw: EventShoeDrawn, audit.KindAdd: EventShoeAdded, audit.KindReturn: EventShoeReturned,
	audit.KindReshuffle: EventShoeReshuffled, audit.KindClose: EventShoeClosed, audit.KindExpire: EventShoeExpired,
}

// allows returns an error unless the shoe can be changed so now.
func (d *Dealer) allows(s *shoeState, c *Change) error {
	now := d.options.Now()
	switch {
	case s.kept.Status == ShoeClosed || s.kept.Status == ShoeExpired && c.Kind != audit.KindClose:
		return &ShoeOverError{Status: s.kept.Status, AuditID: s.id}
	case s.late(now) && c.Kind != audit.KindClose && c.Kind != audit.KindExpire:
		return &ShoeOverError{Status: ShoeExpired}
	case c.IfVersion != 0 && c.IfVersion != s.kept.Layout.Version:
		return &VersionError{s.kept.Layout.Version}
	}
	return nil
}

// make makes the record and what is kept beside it.
func (g *changing) make(ctx context.Context) error {
	layout := g.from.kept.Layout
	if g.Kind == audit.KindReshuffle {
		return g.reshuffle(ctx)
	}
	if g.Kind == audit.KindClose || g.Kind == audit.KindExpire {
		g.kept.Layout, g.kept.Status, g.kept.Expires, g.kept.Keep = layout.End(), ShoeClosed, time.Time{}, 0
		if g.Kind == audit.KindExpire {
			g.kept.Status = ShoeExpired
		}
		return g.stamp()
	}
	var err error
	r := g.record
	r.From, r.Taken, r.To, r.Put = g.From, g.Taken, g.To, g.Put
	if r.Cards, err = g.choose(ctx); err != nil {
		return err
	}
	if g.kept.Layout, err = layout.Apply(&shoe.Move{From: r.From, Cards: r.Cards, To: r.To, Put: r.Put}); err != nil {
		return err
	}
	return g.stamp()
}

// stamp completes the record: when it is made, of which shoe, and what it is a version of.
func (g *changing) stamp() error {
	made, err := g.d.newRecord(g.Kind)
	if err != nil {
		return err
	}
	r, first := g.record, g.from.base.record
	r.ID, r.Time, r.AuditID, r.Version = made.ID, made.Time, first.ID, g.kept.Layout.Version
	if g.seed == nil {
		r.Commitment = first.Commitment
	}
	if keep := time.Duration(g.kept.Keep) * time.Second; keep > 0 && g.kept.Expires.Before(r.Time.Add(keep)) {
		// By a little more, so that not every change has to put it off: the store sorts what expires by its time.
		g.kept.Expires = r.Time.Add(keep + keep/100).Truncate(time.Microsecond)
		r.Expires = g.kept.Expires
	}
	return nil
}

// choose returns the cards that a change takes, in the order in which it takes them.
func (g *changing) choose(ctx context.Context) (shoe.Cards, error) {
	layout := g.from.kept.Layout
	lying, err := layout.At(g.From)
	if err != nil {
		return lying, err
	}
	if g.Taken == shoe.Named {
		if g.Cards == nil {
			if lying.Len() == 0 {
				return lying, &shoe.ShortError{Have: 0, Want: 1}
			}
			return lying, nil
		}
		return g.named(ctx, lying)
	}
	count := uint64(1)
	if g.Count != nil {
		count = *g.Count
	}
	if g.AtMost && lying.Len() > 0 {
		count = min(count, lying.Len())
	}
	if count > lying.Len() {
		return lying, &shoe.ShortError{Have: lying.Len(), Want: count}
	}
	if count == 0 {
		return lying, invalid("/count", "take at least 1 card")
	}
	if g.Taken != shoe.Random {
		return layout.Take(g.From, g.Taken, count)
	}
	order, err := g.shuffle(lying.Len(), count)
	if err != nil {
		return lying, err
	}
	return layout.Pick(g.From, order)
}

// shuffle makes an order of its own, from a new seed, of which so many are drawn.
func (g *changing) shuffle(size, draw uint64) ([]uint64, error) {
	s := &g.record.Statement
	*s = audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: size, Draw: draw, Repeat: 1, Input: audit.RangeInput,
		Reference: g.from.base.record.Statement.Reference,
	}
	if g.Algorithm != "" {
		s.Algorithm = shuffle.Algorithm(g.Algorithm)
	}
	switch {
	case !s.Algorithm.Known():
		return nil, invalid("/algorithm", "there is no algorithm %q; there are %s", g.Algorithm, names())
	case s.Algorithm == shuffle.AlgorithmSattolo && size == 1:
		return nil, invalid("/algorithm", "sattolo moves every card, and a single one can only keep its place")
	}
	var err error
	if g.seed, err = rng.NewSeed(g.d.options.Random, rng.Blocks(size, draw)); err != nil {
		return nil, err
	}
	s.Seed = g.seed
	g.record.Commitment = s.Commitment()
	return ordered(g.record, g.seed, false)
}

// reshuffle seals the cards of a place in a new order.
func (g *changing) reshuffle(ctx context.Context) error {
	layout := g.from.kept.Layout
	lying, err := layout.At(g.From)
	if err != nil {
		return err
	}
	g.record.From, g.record.ClientSeed = g.From, g.ClientSeed
	order, err := g.shuffle(lying.Len(), lying.Len())
	if err != nil {
		return err
	}
	if g.kept.Layout, err = layout.Shuffle(g.From); err != nil {
		return err
	}
	numbers, err := g.numbers(ctx, lying)
	if err != nil {
		return err
	}
	g.kept.Order = make([]uint32, len(order))
	for i, place := range order {
		g.kept.Order[i] = uint32(numbers[place])
	}
	root := audit.Seal(g.seed, g.record.Commitment, g.from.base.texts(g.kept.Order)).Root()
	g.record.Root = &root
	g.kept.Seals = append(slices.Clone(g.from.kept.Seals), 0) // its own index is not known before it is written
	_, ofPile := g.From.Pile()
	g.kept.Shuffled = g.kept.Shuffled || !ofPile
	return g.stamp()
}

// numbers returns the numbers of cards.
func (g *changing) numbers(ctx context.Context, cards shoe.Cards) ([]uint64, error) {
	numbers := make([]uint64, 0, cards.Len())
	for ref := range cards.All() {
		_, number, err := g.d.sealedAt(ctx, g.from, ref)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

// named returns the cards that a request names, which have to lie there.
func (g *changing) named(ctx context.Context, lying shoe.Cards) (shoe.Cards, error) {
	if len(g.Cards) == 0 {
		return lying, invalid("/cards", "name at least 1 card, or leave cards out")
	}
	refs := lying.Refs()
	numbers, err := g.numbers(ctx, lying)
	if err != nil {
		return lying, err
	}
	codes := map[string][]int{} // where cards of a code lie
	places := map[uint64]int{}  // and that of a number
	for i, number := range numbers {
		places[number] = i
		if code := g.from.base.code(number); code != "" {
			codes[code] = append(codes[code], i)
		}
	}
	gone := make([]bool, len(refs))
	var picked []shoe.Ref
	for i := range g.Cards {
		place, err := g.place(i, places, codes, gone)
		if err != nil {
			return lying, err
		}
		gone[place] = true
		picked = append(picked, refs[place])
	}
	return shoe.List(picked), nil
}

// place returns where a card of the request lies, of those that are not taken yet.
func (g *changing) place(i int, places map[uint64]int, codes map[string][]int, gone []bool) (int, error) {
	name := &g.Cards[i]
	wrong := &CardsError{Index: i, Name: name.String()}
	if name.Number != nil {
		place, found := places[*name.Number]
		if !found || gone[place] {
			return 0, wrong
		}
		return place, nil
	}
	code := name.Code
	if b := g.from.base; b.deck != nil {
		if card, found := b.deck.Find(code); found { // by another of its codes, say 10S for TS
			code = card.Code
		}
	}
	var there []int
	for _, place := range codes[code] {
		if !gone[place] {
			there = append(there, place)
		}
	}
	if len(there) == 0 {
		return 0, wrong
	}
	if len(there) > 1 && !name.First {
		wrong.Ambiguous = true
		return 0, wrong
	}
	return there[0], nil
}

// changed returns the answer to a change.
func (d *Dealer) changed(ctx context.Context, s *shoeState, record *audit.Record, index uint64, openings bool) (*Changed, error) {
	cards, err := d.cards(ctx, s, record.Cards, openings)
	if err != nil {
		return nil, err
	}
	return &Changed{AuditID: record.ID, LogIndex: index, Record: record, Shoe: *s.show(record.Time), Cards: cards}, nil
}

// Changed returns what the call changed before, as it was answered; nil if this is its first attempt. The error is
// [ErrOtherRequest] or one of the ledger's.
func (d *Dealer) Changed(ctx context.Context, call *Call, openings bool) (*Changed, error) {
	stored, record, err := d.earlier(ctx, call)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	_, k, err := d.ofShoe(stored)
	if err != nil {
		return nil, err
	}
	first := record.AuditID
	if record.Kind == audit.KindShoe {
		first = record.ID
	}
	base, err := d.baseOf(ctx, first)
	if err != nil {
		return nil, err
	}
	return d.changed(ctx, &shoeState{base: base, kept: k, id: stored.ID, index: stored.Index}, record, stored.Index, openings)
}

// own fills in what was not known when the text was made: the index of the record beside which it is kept.
func (k *shoeKept) own(index uint64) {
	if n := len(k.Seals); k.Order != nil && n > 0 {
		k.Seals[n-1] = index
	}
}

// expireShoe logs that the time of a shoe has passed.
func (d *Dealer) expireShoe(ctx context.Context, claim *ledger.Claim) error {
	first, err := claimed(claim, shoeClaims)
	if err != nil {
		return err
	}
	stored, err := d.log.ByID(ctx, first)
	if err != nil {
		return err
	}
	_, k, err := d.ofShoe(stored)
	if err != nil {
		return err
	}
	t, done, err := d.tables.sit(ctx, k.ID)
	if err != nil {
		return err
	}
	defer done()
	s, err := d.read(ctx, t)
	if err != nil {
		return err
	}
	if !s.late(d.options.Now()) || s.base.record.ID != first { // it was changed in between
		return ledger.ErrClaimed
	}
	_, err = d.change(ctx, t, &Change{Kind: audit.KindExpire})
	return err
}
