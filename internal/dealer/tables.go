package dealer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// Tables are the shoes that this process deals from, so that a draw need not read back what the last one wrote. What another
// process has done to one shows when its claim is taken.
type tables struct {
	mu     sync.Mutex
	list   map[uuid.UUID]*table
	weight int // of all, in bytes, about
}

// mostTables is how many shoes are remembered, and mostWeight how much of them, in bytes.
const (
	mostTables = 1 << 15
	mostWeight = 128 << 20
)

// A table is one shoe. Who changes it sits at it alone.
type table struct {
	id     uuid.UUID
	turn   chan struct{}             // has room for one
	state  atomic.Pointer[shoeState] // as far as is known here; nil for unknown. Only who sits changes it
	users  int                       // who sit or wait; of tables.mu, as the next
	weight int
}

// sit waits for the turn of the caller at the table of a shoe. Call done to get up.
func (t *tables) sit(ctx context.Context, id uuid.UUID) (found *table, done func(), err error) {
	t.mu.Lock()
	if t.list == nil {
		t.list = map[uuid.UUID]*table{}
	}
	found = t.list[id]
	if found == nil {
		found = &table{id: id, turn: make(chan struct{}, 1)}
		t.list[id] = found
	}
	found.users++
	t.mu.Unlock()
	select {
	case found.turn <- struct{}{}:
		return found, func() {
			weight := 0
			if s := found.state.Load(); s != nil {
				weight = s.weight()
			}
			<-found.turn
			t.leave(found, weight)
		}, nil
	case <-ctx.Done():
		t.leave(found, -1)
		return nil, nil, ctx.Err()
	}
}

// leave notes how much a table has got, unless that is not known, and forgets those that are too much.
func (t *tables) leave(left *table, weight int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left.users--
	if weight >= 0 {
		t.weight += weight - left.weight
		left.weight = weight
	}
	if left.weight == 0 {
		t.forget(left)
	}
	for _, other := range t.list {
		if len(t.list) <= mostTables && t.weight <= mostWeight {
			break
		}
		t.forget(other) // any one: it is read back when it is needed
	}
}

// recall returns what is known of a shoe; nil if nothing is.
func (t *tables) recall(id uuid.UUID) *shoeState {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.list[id]; found != nil {
		return found.state.Load()
	}
	return nil
}

// forget forgets a table that nobody sits at.
func (t *tables) forget(left *table) {
	if left.users == 0 {
		delete(t.list, left.id)
		t.weight -= left.weight
	}
}

// A shoeBase is what never changes of a shoe.
type shoeBase struct {
	id     uuid.UUID
	index  uint64 // of the first record
	record *audit.Record
	deck   *deck.Deck // nil unless it is of a deck
	count  map[string]int
	items  []string // nil unless it is of items
	weight int

	mu    sync.Mutex
	seals map[uint64]*sealing
}

// A sealing is one order of cards.
type sealing struct {
	id     uuid.UUID // of its record
	order  []uint32  // the number of the card at each position
	sealed *audit.Sealed
}

// A shoeState is a shoe as one record left it. It is never changed.
type shoeState struct {
	base  *shoeBase
	kept  *shoeKept
	id    uuid.UUID // of the record
	index uint64    // and its place in the log
}

// weight is how much memory a state takes up, about.
func (s *shoeState) weight() int {
	const each = 4 + 32 + 2*32 // bytes of a card in a sealing: its number, its salt, and the hashes over it
	weight := 1024 + s.base.weight
	for i := range s.kept.Layout.Seals {
		weight += each * int(s.kept.Layout.Seals[i].Size)
	}
	return weight
}

// show returns what the owner may see at a time.
func (s *shoeState) show(now time.Time) *Shoe {
	l := s.kept.Layout
	shown := &Shoe{
		ID: s.base.id, First: s.base.record, LogIndex: s.base.index, ChangedBy: s.id, Version: l.Version, Status: s.kept.Status,
		Size: l.Size(), Remaining: l.Deck.Len(), Dealt: l.Dealt.Len(), Shuffled: s.kept.Shuffled, Expires: s.kept.Expires, state: s,
	}
	if s.late(now) {
		shown.Status = ShoeExpired
	}
	for i := range l.Piles {
		shown.Piles = append(shown.Piles, PileSize{l.Piles[i].Name, l.Piles[i].Cards.Len()})
	}
	return shown
}

// late reports whether the time of an open shoe has passed.
func (s *shoeState) late(now time.Time) bool {
	return s.kept.Status == ShoeOpen && !s.kept.Expires.IsZero() && !now.Before(s.kept.Expires)
}

// read reads the shoe of a table from the store, where it is as all processes have left it.
func (d *Dealer) read(ctx context.Context, t *table) (*shoeState, error) {
	var base *shoeBase
	if s := t.state.Load(); s != nil {
		base = s.base
	}
	t.state.Store(nil)
	for replaced := uuid.Nil; ; { // again each time it was replaced in between
		if base == nil {
			var err error
			if base, err = d.readBase(ctx, t.id); err != nil {
				return nil, err
			}
			if base.record.ID == replaced {
				return nil, fmt.Errorf("%w: the claim of the shoe is not that of its owner's", ledger.ErrCorrupt)
			}
		}
		state, err := d.readState(ctx, base)
		if err != nil || state != nil {
			t.state.Store(state)
			return state, err
		}
		replaced, base = base.record.ID, nil
	}
}

// readBase reads the first record of the shoe with the id.
func (d *Dealer) readBase(ctx context.Context, id uuid.UUID) (*shoeBase, error) {
	stored, err := d.log.ByClaim(ctx, ownerClaim(id))
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, ErrNoShoe
	} else if err != nil {
		return nil, err
	}
	record, k, err := d.ofShoe(stored)
	if err != nil {
		return nil, err
	}
	if record.Kind != audit.KindShoe || k.ID != id {
		return nil, fmt.Errorf("%w: record %d holds the claim of a shoe that it does not begin", ledger.ErrCorrupt, stored.Index)
	}
	return d.base(stored.Index, record, k)
}

// baseOf reads the base of the shoe with the first record.
func (d *Dealer) baseOf(ctx context.Context, first uuid.UUID) (*shoeBase, error) {
	stored, err := d.log.ByID(ctx, first)
	if err != nil {
		return nil, err
	}
	record, k, err := d.ofShoe(stored)
	if err != nil {
		return nil, err
	}
	return d.base(stored.Index, record, k)
}

// ofShoe reads the record of an entry that is of a shoe, and what is kept of the shoe beside it.
func (d *Dealer) ofShoe(stored *ledger.Stored) (*audit.Record, *shoeKept, error) {
	record, err := parse(stored)
	if err != nil {
		return nil, nil, err
	}
	k, err := d.keptOf(stored, record.Kind)
	if err == nil && k.shoe == nil {
		err = fmt.Errorf("%w: record %d is not of a shoe", ledger.ErrCorrupt, stored.Index)
	}
	if err == nil {
		k.shoe.own(stored.Index)
	}
	return record, k.shoe, err
}

// base returns the base of a shoe from its first record.
func (d *Dealer) base(index uint64, record *audit.Record, k *shoeKept) (*shoeBase, error) {
	b := &shoeBase{id: k.ID, index: index, record: record, items: k.Items, seals: map[uint64]*sealing{}}
	var err error
	if b.deck, _, err = d.deckOf(record); err != nil {
		return nil, err
	}
	if b.deck != nil {
		b.count = map[string]int{}
		for _, code := range b.deck.Codes() {
			b.count[code]++
		}
	}
	for _, item := range b.items {
		b.weight += len(item)
	}
	return b, b.know(1, record, k)
}

// know remembers a sealing that its record has made. The error is [ledger.ErrCorrupt].
func (b *shoeBase) know(version uint64, record *audit.Record, k *shoeKept) error {
	seal, found := k.Layout.Seal(version)
	if !found || uint64(len(k.Order)) != seal.Size {
		return fmt.Errorf("%w: what is kept beside the record %s is not the order that it sealed", ledger.ErrCorrupt, record.ID)
	}
	for _, number := range k.Order {
		if uint64(number) >= b.record.Statement.Size {
			return fmt.Errorf("%w: what is kept beside the record %s has cards that the shoe does not have", ledger.ErrCorrupt, record.ID)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seals[version] = &sealing{id: record.ID, order: k.Order}
	return nil
}

// readState reads what the last record left of a shoe; nil if the shoe was replaced.
func (d *Dealer) readState(ctx context.Context, b *shoeBase) (*shoeState, error) {
	stored, err := d.log.ByClaim(ctx, shoeClaim(b.record.ID))
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, fmt.Errorf("%w: nobody holds the claim of the shoe %s", ledger.ErrCorrupt, b.record.ID)
	} else if err != nil {
		return nil, err
	}
	record, k, err := d.ofShoe(stored)
	switch {
	case err != nil:
		return nil, err
	case record.IsOfShoe(b.record.ID):
		return &shoeState{base: b, kept: k, id: record.ID, index: stored.Index}, nil
	case record.Kind == audit.KindShoe && record.AuditID == b.record.ID:
		return nil, nil
	}
	return nil, fmt.Errorf("%w: record %d holds the claim of the shoe %s and has not changed it", ledger.ErrCorrupt, stored.Index, b.record.ID)
}

// sealing returns the order that a version of the shoe has sealed.
func (d *Dealer) sealing(ctx context.Context, s *shoeState, version uint64) (*sealing, error) {
	s.base.mu.Lock()
	known := s.base.seals[version]
	s.base.mu.Unlock()
	if known != nil {
		return known, nil
	}
	for i := range s.kept.Layout.Seals {
		if s.kept.Layout.Seals[i].Version != version || i >= len(s.kept.Seals) {
			continue
		}
		stored, err := d.log.At(ctx, s.kept.Seals[i])
		if err != nil {
			return nil, err
		}
		record, k, err := d.ofShoe(stored)
		if err != nil {
			return nil, err
		}
		if !record.IsOfShoe(s.base.record.ID) {
			break
		}
		if err := s.base.know(version, record, k); err != nil {
			return nil, err
		}
		return d.sealing(ctx, s, version)
	}
	return nil, fmt.Errorf("%w: the shoe %s has no record of its sealing %d", ledger.ErrCorrupt, s.base.record.ID, version)
}

// tree returns the tree over the cards of a sealing.
func (d *Dealer) tree(ctx context.Context, s *shoeState, of *sealing) (*audit.Sealed, error) {
	s.base.mu.Lock()
	known := of.sealed
	s.base.mu.Unlock()
	if known != nil {
		return known, nil
	}
	stored, err := d.log.ByID(ctx, of.id)
	if err != nil {
		return nil, err
	}
	record, err := parse(stored)
	if err != nil {
		return nil, err
	}
	seed, err := d.seedOf(ctx, stored, record)
	if err != nil {
		return nil, err
	}
	sealed := audit.Seal(seed, record.Commitment, s.base.texts(of.order))
	if record.Root == nil || sealed.Root() != *record.Root {
		return nil, fmt.Errorf("%w: the cards kept beside the record %s are not those that it sealed", ledger.ErrCorrupt, of.id)
	}
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	of.sealed = sealed
	return sealed, nil
}

// texts returns what is sealed of cards.
func (b *shoeBase) texts(numbers []uint32) [][]byte {
	texts := make([][]byte, len(numbers))
	for i, number := range numbers {
		texts[i] = b.text(uint64(number))
	}
	return texts
}

// text returns what is sealed of a card: its code, or the item or number as JSON without white space.
func (b *shoeBase) text(number uint64) []byte {
	switch {
	case b.deck != nil:
		codes := b.deck.Codes()
		return []byte(codes[number%uint64(len(codes))])
	case b.items != nil:
		item := jsontext.Value(b.items[number])
		if err := item.Compact(); err != nil {
			panic("dealer: an item that was read does not compact: " + err.Error())
		}
		return item
	}
	return strconv.AppendUint(nil, number, 10)
}

// card returns a card by its number.
func (b *shoeBase) card(number uint64) ShoeCard {
	c := ShoeCard{Number: number}
	switch {
	case b.deck != nil:
		size := uint64(b.deck.Size())
		card := b.deck.Cards()[number%size]
		card.Instance += int(number/size) * b.count[card.Code]
		c.Card = &card
	case b.items != nil:
		c.Item = b.items[number]
	default:
		c.Item = strconv.FormatUint(number, 10)
	}
	return c
}

// code returns what a caller may call a card, besides its number: the code of a deck's card, or the text of an item that is a
// string.
func (b *shoeBase) code(number uint64) string {
	if b.deck != nil {
		return string(b.text(number))
	}
	var text string
	if b.items == nil || json.Unmarshal([]byte(b.items[number]), &text) != nil {
		return ""
	}
	return text
}

// sealedAt returns the sealing of a reference, and the number of the card that it is to.
func (d *Dealer) sealedAt(ctx context.Context, s *shoeState, ref shoe.Ref) (*sealing, uint64, error) {
	of, err := d.sealing(ctx, s, ref.Seal)
	if err != nil {
		return nil, 0, err
	}
	if ref.Position >= uint64(len(of.order)) {
		return nil, 0, fmt.Errorf("%w: the shoe %s has no card %d of its sealing %d", ledger.ErrCorrupt, s.base.record.ID, ref.Position, ref.Seal)
	}
	return of, uint64(of.order[ref.Position]), nil
}

// cards returns the cards that references are to.
func (d *Dealer) cards(ctx context.Context, s *shoeState, cards shoe.Cards, openings bool) ([]ShoeCard, error) {
	list := make([]ShoeCard, 0, cards.Len())
	for ref := range cards.All() {
		of, number, err := d.sealedAt(ctx, s, ref)
		if err != nil {
			return nil, err
		}
		card := s.base.card(number)
		card.SealedBy, card.Position = of.id, ref.Position
		isSealed := s.base.record.Root != nil || ref.Seal > 1 // an order that was never shuffled has no seal
		if openings && isSealed {
			tree, err := d.tree(ctx, s, of)
			if err != nil {
				return nil, err
			}
			card.Opening = tree.Open(ref.Position)
		}
		list = append(list, card)
	}
	return list, nil
}

// verifySealed adds the step that seals the cards of a record once more.
func (d *Dealer) verifySealed(ctx context.Context, v *audit.Verification, stored *ledger.Stored, seed rng.Seed) error {
	first := v.Record.ID
	if v.Record.Kind == audit.KindReshuffle {
		first = v.Record.AuditID
	}
	step := audit.Step{Name: "root", OK: true, Detail: "salts from the seed and the cards in this order have the root in the record"}
	err := d.isSealed(ctx, first, stored, v.Record, seed)
	if errors.Is(err, ledger.ErrUnavailable) || ctx.Err() != nil {
		return err
	} else if err != nil {
		step.OK, step.Detail, v.OK = false, err.Error(), false
	}
	v.Steps = append(v.Steps, step)
	return nil
}

// isSealed returns an error unless the cards that are kept beside a record have its root.
func (d *Dealer) isSealed(ctx context.Context, first uuid.UUID, stored *ledger.Stored, record *audit.Record, seed rng.Seed) error {
	base, err := d.baseOf(ctx, first)
	if err != nil {
		return err
	}
	_, k, err := d.ofShoe(stored)
	if err != nil {
		return err
	}
	if err := base.know(k.Layout.Version, record, k); err != nil {
		return err
	}
	if audit.Seal(seed, record.Commitment, base.texts(k.Order)).Root() != *record.Root {
		return errors.New("the cards in this order do not have the root in the record")
	}
	return nil
}
