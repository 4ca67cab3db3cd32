package dealer

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// makeShoe makes a shoe of what a request asks for.
func makeShoe(ctx context.Context, d *Dealer, r *ShoeRequest) (*Changed, error) {
	plan, err := d.PlanShoe(ctx, r)
	if err != nil {
		return nil, err
	}
	return d.MakeShoe(ctx, plan)
}

func newShoe(t *testing.T, d *Dealer, r *ShoeRequest) *Changed {
	t.Helper()
	made, err := makeShoe(t.Context(), d, r)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func change(t *testing.T, d *Dealer, id uuid.UUID, c Change) *Changed {
	t.Helper()
	changed, err := d.Change(t.Context(), id, &c)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// drawing takes cards from the top of the deck.
func drawing(count uint64) Change {
	return Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, Count: &count, To: shoe.Dealt}
}

// other returns a dealer of the same log that remembers nothing of this one, as another process would be.
func other(d *Dealer) *Dealer { return New(d.log, d.decks, d.options) }

func numbersOf(cards []ShoeCard) (numbers []uint64) {
	for i := range cards {
		numbers = append(numbers, cards[i].Number)
	}
	return numbers
}

// checkEntries has every entry of the log checked, with what is kept beside it, and that it holds the claims that it has to.
func checkEntries(t *testing.T, d *Dealer) {
	t.Helper()
	for _, secret := range []func(*ledger.Stored) ([]byte, error){d.log.Sidecar, nil} {
		c := &Checker{Secret: secret, ByID: d.log.ByID, ByClaim: d.log.ByClaim}
		held := uint64(0)
		for i := range size(t, d) {
			e, err := d.log.At(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			claims, err := c.Entry(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range claims {
				if holder, err := d.log.ByClaim(t.Context(), want.Name); err != nil || holder.Index != i || holder.Claims[0].Due != want.Due || holder.Claims[0].Status != want.Status {
					t.Fatalf("record %d does not hold %+v: %+v, %v", i, want, holder, err)
				}
				held++
			}
		}
		all, err := d.log.CountClaims(t.Context(), ledger.ClaimQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Unknown() != "" {
			unknown, err := d.log.CountClaims(t.Context(), ledger.ClaimQuery{Prefix: c.Unknown()})
			if err != nil {
				t.Fatal(err)
			}
			all -= unknown
		}
		if held != all {
			t.Errorf("the records have %d claims, and there are %d", held, all)
		}
	}
}

// A model of a shoe knows where every card lies whose place is known.
type model struct {
	deck  map[uint64]bool
	dealt []uint64
	piles map[string][]uint64
}

func (m *model) take(from *[]uint64, numbers []uint64) {
	*from = slices.DeleteFunc(*from, func(n uint64) bool { return slices.Contains(numbers, n) })
}

// Whatever is done to shoes, through two processes that know nothing of each other: every card is in one place, each place has
// the cards that were put there in their order, and the whole log checks.
func TestShoesKeepEveryCard(t *testing.T) {
	d := newDealer(t, rand.Reader)
	e := other(d)
	random := mathrand.New(mathrand.NewPCG(5, 1))
	requests := []*ShoeRequest{
		{Request: Request{Deck: "standard52", Decks: ptr(2), Reference: "walk"}},
		{Request: Request{Items: items(5)}, Values: []string{`"a"`, `1`, `{"b": 2}`, `"a"`, `null`}},
		{Request: Request{Size: ptr(70)}},
		{Request: Request{Deck: "undercover", Parameters: map[string]int{"players": 7}}, Unshuffled: true},
	}
	for _, r := range requests {
		made := newShoe(t, d, r)
		id, total := made.Shoe.ID, made.Shoe.Size
		m := &model{deck: map[uint64]bool{}, piles: map[string][]uint64{}}
		for n := range total {
			m.deck[n] = true
		}
		for step := range 150 {
			by := d
			if random.IntN(3) == 0 {
				by = e
			}
			pile := fmt.Sprint("p", random.IntN(3))
			count := random.Uint64N(4) + 1
			end := []shoe.End{shoe.Top, shoe.Bottom, shoe.Random}[random.IntN(3)]
			put := []shoe.End{shoe.Top, shoe.Bottom}[random.IntN(2)]
			switch random.IntN(8) {
			case 0, 1, 2: // from the deck, to the dealt or a pile
				c := Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: end, Count: &count, To: shoe.Dealt}
				if random.IntN(2) == 0 {
					c.To, c.Put = shoe.OnPile(pile), put
				}
				changed, err := by.Change(t.Context(), id, &c)
				if count > uint64(len(m.deck)) {
					var short *shoe.ShortError
					if !errors.As(err, &short) || short.Have != uint64(len(m.deck)) {
						t.Fatalf("step %d: %d of %d cards: %v", step, count, len(m.deck), err)
					}
					continue
				} else if err != nil {
					t.Fatal(step, err)
				}
				numbers := numbersOf(changed.Cards)
				for _, n := range numbers {
					if !m.deck[n] {
						t.Fatalf("step %d: card %d was drawn and is not in the deck", step, n)
					}
					delete(m.deck, n)
				}
				m.put(&c, pile, numbers)
			case 3: // from a pile
				c := Change{Kind: audit.KindDraw, From: shoe.OnPile(pile), Taken: end, Count: &count, To: shoe.Dealt}
				was := m.piles[pile]
				changed, err := by.Change(t.Context(), id, &c)
				if was == nil {
					if !errors.Is(err, shoe.ErrNoPile) {
						t.Fatal(step, err)
					}
					continue
				}
				if count > uint64(len(was)) {
					if short := (*shoe.ShortError)(nil); !errors.As(err, &short) {
						t.Fatal(step, err)
					}
					continue
				} else if err != nil {
					t.Fatal(step, err)
				}
				numbers := numbersOf(changed.Cards)
				want := slices.Clone(was)
				if end == shoe.Top {
					slices.Reverse(want)
				}
				if end != shoe.Random && !slices.Equal(numbers, want[:count]) {
					t.Fatalf("step %d: %v were taken from the %s of %v", step, numbers, end, was)
				}
				m.take(&was, numbers)
				if uint64(len(was))+count != uint64(len(want)) {
					t.Fatalf("step %d: %v were taken from %v", step, numbers, want)
				}
				m.piles[pile] = was
				m.dealt = append(m.dealt, numbers...)
			case 4: // dealt cards or those of other piles onto a pile
				out := slices.Clone(m.dealt)
				for _, cards := range m.piles {
					out = append(out, cards...)
				}
				if len(out) == 0 {
					continue
				}
				slices.Sort(out)
				random.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
				out = out[:min(int(count), len(out))]
				c := Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, Cards: named(out), To: shoe.OnPile(pile), Put: put}
				change(t, by, id, c)
				m.gone(out)
				m.put(&c, pile, out)
			case 5: // back into the deck
				c := Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, To: shoe.Deck, Put: put}
				back := m.dealt
				if random.IntN(2) == 0 {
					c.From, back = shoe.OnPile(pile), m.piles[pile]
				}
				changed, err := by.Change(t.Context(), id, &c)
				if len(back) == 0 {
					if err == nil {
						t.Fatalf("step %d: nothing was returned", step)
					}
					continue
				} else if err != nil {
					t.Fatal(step, err)
				}
				if !slices.Equal(numbersOf(changed.Cards), back) {
					t.Fatalf("step %d: %v were returned of %v", step, numbersOf(changed.Cards), back)
				}
				for _, n := range back {
					m.deck[n] = true
				}
				m.gone(slices.Clone(back))
			case 6: // a pile in a new order
				if cards := m.piles[pile]; cards != nil {
					change(t, by, id, Change{Kind: audit.KindReshuffle, From: shoe.OnPile(pile), ClientSeed: "x"})
					shown, err := by.Shoe(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					list, err := by.Lying(t.Context(), shown, shoe.OnPile(pile), true)
					if err != nil {
						t.Fatal(err)
					}
					m.piles[pile] = numbersOf(list)
					if !slices.Equal(slices.Sorted(slices.Values(cards)), slices.Sorted(slices.Values(m.piles[pile]))) && len(cards) > 0 {
						t.Fatalf("step %d: the pile of %v is %v after it was shuffled", step, cards, m.piles[pile])
					}
					if m.piles[pile] == nil {
						m.piles[pile] = []uint64{}
					}
				}
			case 7:
				from := shoe.Deck
				if random.IntN(4) == 0 {
					from = shoe.All
					for n := range total {
						m.deck[n] = true
					}
					m.dealt, m.piles = nil, map[string][]uint64{}
				}
				change(t, by, id, Change{Kind: audit.KindReshuffle, From: from})
			}
			m.compare(t, d, id)
			m.compare(t, e, id)
		}
		change(t, d, id, Change{Kind: audit.KindClose})
		err := d.ProveShoe(t.Context(), id, func(p *Proof) error {
			record, err := audit.ParseRecord(p.Record)
			if err != nil || record.Deals() != (p.Seed != nil) {
				return fmt.Errorf("%s, %w", p.Record, err)
			}
			if record.Deals() {
				if _, v, err := d.Verify(t.Context(), p.ID, 0); err != nil || !v.OK {
					return fmt.Errorf("%s does not verify: %+v, %w", p.Record, v, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	checkEntries(t, d)
}

func (m *model) gone(numbers []uint64) {
	m.take(&m.dealt, numbers)
	for name, cards := range m.piles {
		m.take(&cards, numbers)
		m.piles[name] = cards
	}
}

func (m *model) put(c *Change, pile string, numbers []uint64) {
	switch {
	case c.To == shoe.Dealt:
		m.dealt = append(m.dealt, numbers...)
	case c.Put == shoe.Top:
		m.piles[pile] = append(m.piles[pile], numbers...)
	default:
		m.piles[pile] = append(slices.Clone(numbers), m.piles[pile]...)
	}
}

func (m *model) compare(t *testing.T, d *Dealer, id uuid.UUID) {
	t.Helper()
	s, err := d.Shoe(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if s.Remaining != uint64(len(m.deck)) || s.Dealt != uint64(len(m.dealt)) || len(s.Piles) != len(m.piles) {
		t.Fatalf("the shoe is %+v, and should have %d, %v, %v", s, len(m.deck), m.dealt, m.piles)
	}
	lying := func(p shoe.Place) []uint64 {
		list, err := d.Lying(t.Context(), s, p, false)
		if err != nil {
			t.Fatal(err)
		}
		return numbersOf(list)
	}
	if !slices.Equal(lying(shoe.Dealt), m.dealt) {
		t.Fatalf("%v are dealt, and should be %v", lying(shoe.Dealt), m.dealt)
	}
	for name, want := range m.piles {
		if got := lying(shoe.OnPile(name)); !slices.Equal(got, want) {
			t.Fatalf("pile %s is %v, and should be %v", name, got, want)
		}
	}
}

// named names cards by their numbers.
func named(numbers []uint64) (names []CardName) {
	for _, n := range numbers {
		names = append(names, CardName{Number: &n})
	}
	return names
}

// Many at once, through two processes: every card is drawn once, and nobody fails.
func TestDrawsAtOnce(t *testing.T) {
	d := newDealer(t, rand.Reader)
	processes := []*Dealer{d, other(d)}
	made := newShoe(t, d, &ShoeRequest{Request: Request{Deck: "standard52", Decks: ptr(6)}})
	var mu sync.Mutex
	drawn := map[uint64]int{}
	var wait sync.WaitGroup
	for client := range 64 {
		wait.Go(func() {
			for {
				changed, err := processes[client%2].Change(t.Context(), made.Shoe.ID, &Change{
					Kind: audit.KindDraw, From: shoe.Deck, Taken: []shoe.End{shoe.Top, shoe.Bottom, shoe.Random}[client%3], To: shoe.Dealt,
				})
				if short := (*shoe.ShortError)(nil); errors.As(err, &short) && short.Have == 0 {
					return
				} else if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, n := range numbersOf(changed.Cards) {
					drawn[n]++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	shown, err := d.Shoe(t.Context(), made.Shoe.ID)
	if err != nil {
		t.Fatal(err)
	}
	lying, err := d.Lying(t.Context(), shown, shoe.Dealt, false)
	if err != nil {
		t.Fatal(err)
	}
	copies := map[string]bool{}
	for i := range lying {
		copies[fmt.Sprint(lying[i].Card.Code, lying[i].Card.Instance)] = true
	}
	if len(copies) != 312 {
		t.Errorf("the 312 cards have %d codes and instances", len(copies))
	}
	for n := range uint64(312) {
		if drawn[n] != 1 {
			t.Errorf("card %d was drawn %d times", n, drawn[n])
		}
	}
	checkEntries(t, d)
}

// The order is nowhere outside the store before it is drawn: not in records, and not in what a stranger is shown. A card that was
// drawn is proven alone, and after the shoe is closed all of them are.
func TestShoeIsSealed(t *testing.T) {
	d := newDealer(t, rand.Reader)
	made := newShoe(t, d, &ShoeRequest{Request: Request{Deck: "standard52", ClientSeed: "c", Reference: "sealed"}})
	id := made.Shoe.ID
	if a, err := d.Audit(t.Context(), made.AuditID); err != nil || a.Seed != nil || bytes.Contains(a.Record, []byte(id.String())) {
		t.Fatalf("the audit is %s, %v", a.Record, err)
	}
	if _, err := d.Reveal(t.Context(), made.AuditID, []byte("x"), nil); !errors.Is(err, ErrNoSeed) {
		t.Error(err)
	}
	if a, v, err := d.Verify(t.Context(), made.AuditID, 100); err != nil || !v.OK || v.Orders != nil || a.Seed != nil || v.Steps[len(v.Steps)-1].Name != "root" {
		t.Errorf("%+v %v", v, err)
	}
	c := drawing(5)
	c.Openings = true
	hand := change(t, d, id, c)
	for i := range hand.Cards {
		card := &hand.Cards[i]
		if card.Position != uint64(i) || card.SealedBy != made.AuditID {
			t.Errorf("card %d is at %d of %s", i, card.Position, card.SealedBy)
		}
		if err := card.Opening.Check(card.Position, 52, []byte(card.Card.Code), *made.Record.Root); err != nil {
			t.Error(err)
		}
		if card.Opening.Check(card.Position, 52, []byte("AS"), *made.Record.Root) == nil && card.Card.Code != "AS" {
			t.Error("another card is proven")
		}
	}
	for _, position := range []uint64{4, 5, 51, 52} {
		card, err := other(d).OpenCard(t.Context(), id, uuid.Nil, position)
		switch {
		case position == 4 && (err != nil || card.Number != hand.Cards[4].Number || card.Opening.Check(4, 52, []byte(card.Card.Code), *made.Record.Root) != nil):
			t.Errorf("%+v %v", card, err)
		case position == 5 && !errors.Is(err, ErrNotSeen), position == 51 && !errors.Is(err, ErrNotSeen), position == 52 && !errors.Is(err, ledger.ErrNotFound):
			t.Errorf("position %d: %v", position, err)
		}
	}
	change(t, d, id, Change{Kind: audit.KindReshuffle, From: shoe.Deck})
	if _, err := d.OpenCard(t.Context(), id, made.AuditID, 7); !errors.Is(err, ErrNotSeen) {
		t.Error(err)
	}
	closed := change(t, d, id, Change{Kind: audit.KindClose})
	if closed.Shoe.Status != ShoeClosed {
		t.Error(closed.Shoe.Status)
	}
	if a, err := d.Audit(t.Context(), made.AuditID); err != nil || a.Seed == nil {
		t.Error(a, err)
	}
	if card, err := d.OpenCard(t.Context(), id, made.AuditID, 51); err != nil || card.Opening == nil {
		t.Error(err)
	}
	over := (*ShoeOverError)(nil)
	for _, c := range []Change{drawing(1), {Kind: audit.KindClose}, {Kind: audit.KindExpire}} {
		if _, err := other(d).Change(t.Context(), id, &c); !errors.As(err, &over) || over.Status != ShoeClosed || over.AuditID != closed.AuditID {
			t.Errorf("%s of a closed shoe: %v", c.Kind, err)
		}
	}
	checkEntries(t, d)
}

// A retry gets the first cards, also through another process, and draws no others.
func TestShoeRetries(t *testing.T) {
	d := newDealer(t, rand.Reader)
	r := &ShoeRequest{Request: Request{Deck: "mahjong136", Call: NewCall("shoe", nil)}}
	made := newShoe(t, d, r)
	again := newShoe(t, other(d), &ShoeRequest{Request: Request{Deck: "mahjong136", Call: NewCall("shoe", nil)}})
	if again.Shoe.ID != made.Shoe.ID || again.AuditID != made.AuditID || again.LogIndex != made.LogIndex {
		t.Errorf("%+v is not %+v", again, made)
	}
	c := drawing(13)
	c.Call, c.Openings = NewCall("draw", nil), true
	first := change(t, d, made.Shoe.ID, c)
	change(t, d, made.Shoe.ID, drawing(2))
	for _, by := range []*Dealer{d, other(d)} {
		second := change(t, by, made.Shoe.ID, c)
		if !slices.Equal(numbersOf(second.Cards), numbersOf(first.Cards)) || second.AuditID != first.AuditID || second.Shoe.Remaining != 123 || second.Shoe.Version != 2 {
			t.Errorf("%+v is not %+v", second, first)
		}
		if second.Cards[3].Opening.Salt != first.Cards[3].Opening.Salt {
			t.Error("another salt")
		}
	}
	sealing := Change{Kind: audit.KindReshuffle, From: shoe.All, Call: NewCall("seal", nil)}
	sealed := change(t, d, made.Shoe.ID, sealing)
	if again := change(t, other(d), made.Shoe.ID, sealing); again.AuditID != sealed.AuditID {
		t.Error("sealed twice")
	}
	c.Call = NewCall("draw", []byte("other"))
	if _, err := d.Change(t.Context(), made.Shoe.ID, &c); !errors.Is(err, ErrOtherRequest) {
		t.Error(err)
	}
	if s, err := d.Shoe(t.Context(), made.Shoe.ID); err != nil || s.Remaining != 136 || s.Version != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	checkEntries(t, d)
}

// What cannot be done changes nothing.
func TestShoeRefuses(t *testing.T) {
	d := newDealer(t, rand.Reader)
	made := newShoe(t, d, &ShoeRequest{Request: Request{Deck: "standard52", Decks: ptr(2)}})
	id := made.Shoe.ID
	hand := change(t, d, id, drawing(10))
	change(t, d, id, Change{Kind: audit.KindAdd, From: shoe.Dealt, Taken: shoe.Named, Cards: named(numbersOf(hand.Cards)[:2]), To: shoe.OnPile("a"), Put: shoe.Top})
	before := size(t, d)
	short := (*shoe.ShortError)(nil)
	cards := (*CardsError)(nil)
	version := (*VersionError)(nil)
	unfit := (*Invalid)(nil)
	undrawn := uint64(0)
	for slices.Contains(numbersOf(hand.Cards), undrawn) {
		undrawn++
	}
	for name, v := range map[string]struct {
		c     Change
		wrong func(error) bool
	}{
		"too many":       {drawing(95), func(err error) bool { return errors.As(err, &short) && short.Have == 94 }},
		"none":           {drawing(0), func(err error) bool { return errors.As(err, &unfit) }},
		"unknown pile":   {Change{Kind: audit.KindDraw, From: shoe.OnPile("b"), Taken: shoe.Top, To: shoe.Dealt}, func(err error) bool { return errors.Is(err, shoe.ErrNoPile) }},
		"not in pile":    {Change{Kind: audit.KindDraw, From: shoe.OnPile("a"), Taken: shoe.Named, Cards: named(numbersOf(hand.Cards)[2:3]), To: shoe.Dealt}, func(err error) bool { return errors.As(err, &cards) && cards.Index == 0 }},
		"not drawn":      {Change{Kind: audit.KindAdd, From: shoe.Dealt, Taken: shoe.Named, Cards: named([]uint64{undrawn}), To: shoe.OnPile("a"), Put: shoe.Top}, func(err error) bool { return errors.As(err, &cards) }},
		"twice":          {Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, Cards: named([]uint64{hand.Cards[4].Number, hand.Cards[4].Number}), To: shoe.Deck, Put: shoe.Bottom}, func(err error) bool { return errors.As(err, &cards) && cards.Index == 1 }},
		"no such number": {Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, Cards: named([]uint64{1 << 40}), To: shoe.Deck, Put: shoe.Bottom}, func(err error) bool { return errors.As(err, &cards) }},
		"no such code":   {Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, Cards: []CardName{{Code: "1m"}}, To: shoe.Deck, Put: shoe.Bottom}, func(err error) bool { return errors.As(err, &cards) }},
		"old version":    {Change{Kind: audit.KindReshuffle, From: shoe.All, IfVersion: 2}, func(err error) bool { return errors.As(err, &version) && version.Version == 3 }},
		"no algorithm":   {Change{Kind: audit.KindReshuffle, From: shoe.All, Algorithm: "naive"}, func(err error) bool { return errors.As(err, &unfit) }},
	} {
		for _, by := range []*Dealer{d, other(d)} {
			if _, err := by.Change(t.Context(), id, &v.c); !v.wrong(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := d.Change(t.Context(), uuid.New(), &Change{Kind: audit.KindClose}); !errors.Is(err, ErrNoShoe) {
		t.Error(err)
	}
	if size(t, d) != before {
		t.Error("something was recorded")
	}
	for name, r := range map[string]*ShoeRequest{
		"hands":  {Request: Request{Deck: "standard52", Hands: []uint64{13}}},
		"draw":   {Request: Request{Deck: "standard52", Draw: ptr(3)}},
		"repeat": {Request: Request{Deck: "standard52", Repeat: ptr(3)}},
		"large":  {Request: Request{Size: ptr(shoe.MaxCards + 1)}},
		"empty":  {Request: Request{Size: ptr(0)}},
		"items":  {Request: Request{Items: items(2)}, Values: []string{strings.Repeat("1", MaxItemBytes), "2"}},
		"expiry": {Request: Request{Deck: "standard52"}, Expires: MaxExpiry + time.Second},
	} {
		if _, err := makeShoe(t.Context(), d, r); !errors.As(err, &unfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A shoe expires at its time, or that long after its last change, and can still be closed.
func TestShoeExpires(t *testing.T) {
	d := newDealer(t, rand.Reader)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d.options.Now = func() time.Time { return now }
	fixed := newShoe(t, d, &ShoeRequest{Request: Request{Size: ptr(5)}, Expires: time.Minute})
	sliding := newShoe(t, d, &ShoeRequest{Request: Request{Size: ptr(5)}, Expires: time.Minute, Sliding: true})
	lasting := newShoe(t, d, &ShoeRequest{Request: Request{Size: ptr(5)}})
	now = now.Add(45 * time.Second)
	change(t, d, fixed.Shoe.ID, drawing(1))
	change(t, d, sliding.Shoe.ID, drawing(1))
	if n, err := d.CountShoes(t.Context()); err != nil || n != 3 {
		t.Error(n, err)
	}
	now = now.Add(15 * time.Second)
	over := (*ShoeOverError)(nil)
	c := drawing(1)
	if _, err := d.Change(t.Context(), fixed.Shoe.ID, &c); !errors.As(err, &over) || over.Status != ShoeExpired || over.AuditID != uuid.Nil {
		t.Error(err)
	}
	if s, err := d.Shoe(t.Context(), fixed.Shoe.ID); err != nil || s.Status != ShoeExpired {
		t.Error(s, err)
	}
	if n, err := d.CountShoes(t.Context()); err != nil || n != 2 {
		t.Error(n, err)
	}
	checkEntries(t, d)
	if n, err := d.Expire(t.Context()); err != nil || n != 1 {
		t.Error(n, err)
	}
	if _, err := d.Change(t.Context(), fixed.Shoe.ID, &c); !errors.As(err, &over) || over.AuditID == uuid.Nil {
		t.Error(err)
	}
	change(t, d, sliding.Shoe.ID, drawing(1))
	change(t, d, lasting.Shoe.ID, drawing(1))
	if closed := change(t, d, fixed.Shoe.ID, Change{Kind: audit.KindClose}); closed.Shoe.Status != ShoeClosed {
		t.Error(closed.Shoe.Status)
	}
	now = now.Add(time.Minute)
	if n, err := other(d).Expire(t.Context()); err != nil || n != 0 {
		t.Error(n, err)
	}
	now = now.Add(time.Minute / 100)
	if n, err := other(d).Expire(t.Context()); err != nil || n != 1 {
		t.Error(n, err)
	}
	ended := change(t, d, lasting.Shoe.ID, Change{Kind: audit.KindExpire})
	if ended.Shoe.Status != ShoeExpired {
		t.Error(ended.Shoe.Status)
	}
	if n, err := d.CountShoes(t.Context()); err != nil || n != 0 {
		t.Error(n, err)
	}
	if a, err := d.Audit(t.Context(), lasting.AuditID); err != nil || a.Seed != nil {
		t.Error("an expired shoe is revealed", err)
	}
	checkEntries(t, d)
}

// A shoe uses a commitment once, and a committed shoe verifies.
func TestCommittedShoe(t *testing.T) {
	d := newDealer(t, rand.Reader)
	c, err := committing(t.Context(), d, &Request{Deck: "standard52", Reference: "fixed"})
	if err != nil {
		t.Fatal(err)
	}
	use := func() (*Changed, error) {
		return makeShoe(t.Context(), d, &ShoeRequest{Request: Request{CommitmentID: c.ID, ClientSeed: "late"}})
	}
	made, err := use()
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := d.Commitment(t.Context(), c.ID); err != nil || shown.Status != StatusUsed || shown.SettledBy != made.AuditID {
		t.Error(shown, err)
	}
	if _, v, err := d.Verify(t.Context(), made.AuditID, 0); err != nil || !v.OK || v.Steps[len(v.Steps)-1].Name != "committed" {
		t.Errorf("%+v %v", v, err)
	}
	settled := (*SettledError)(nil)
	if _, err := use(); !errors.As(err, &settled) {
		t.Error(err)
	}
	if _, err := shuffled(d, &Request{CommitmentID: c.ID, ClientSeed: "x"}); !errors.As(err, &settled) {
		t.Error(err)
	}
	hand := change(t, d, made.Shoe.ID, func() Change { c := drawing(3); c.Openings = true; return c }())
	if err := hand.Cards[2].Opening.Check(2, 52, []byte(hand.Cards[2].Card.Code), *made.Record.Root); err != nil {
		t.Error(err)
	}
	part := commit(t, d, nil)
	unfit := (*Invalid)(nil)
	other, err := committing(t.Context(), d, &Request{Deck: "standard52", Hands: []uint64{5}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := makeShoe(t.Context(), d, &ShoeRequest{Request: Request{CommitmentID: other.ID, ClientSeed: "late"}}); !errors.As(err, &unfit) {
		t.Error(err)
	}
	if _, err := makeShoe(t.Context(), d, &ShoeRequest{Request: Request{CommitmentID: part.ID, ClientSeed: "late"}}); err != nil {
		t.Error(err)
	}
	change(t, d, made.Shoe.ID, Change{Kind: audit.KindClose})
	if a, err := d.Audit(t.Context(), made.AuditID); err != nil || a.Seed == nil {
		t.Error(err)
	}
	checkEntries(t, d)
}

// A shoe that replaces another has its id, and nothing more is dealt from the one before, by any process.
func TestShoeReplaces(t *testing.T) {
	d := newDealer(t, rand.Reader)
	e := other(d)
	made := newShoe(t, d, &ShoeRequest{Request: Request{Deck: "standard52"}})
	id := made.Shoe.ID
	change(t, e, id, drawing(50))
	next := newShoe(t, d, &ShoeRequest{Request: Request{Deck: "standard54"}, Replaces: id})
	if next.Shoe.ID != id || next.Shoe.Size != 54 {
		t.Fatalf("%+v", next.Shoe)
	}
	if drawn := change(t, e, id, drawing(10)); drawn.Shoe.Remaining != 44 || drawn.Record.AuditID != next.AuditID {
		t.Errorf("%+v", drawn)
	}
	checkEntries(t, d)
}

// What is kept is written by hand, as json.Marshal writes it, and read by json.Unmarshal.
func TestShoeIsKeptAsJSON(t *testing.T) {
	none := &shoe.Layout{Piles: []shoe.Pile{}, Seals: []shoe.Seal{}}
	layout := shoe.New(52, true)
	for _, m := range []shoe.Move{{From: shoe.Deck, To: shoe.OnPile("a-_9"), Put: shoe.Top}, {From: shoe.Deck, To: shoe.Dealt}} {
		var err error
		if m.Cards, err = layout.Take(m.From, shoe.Bottom, 3); err != nil {
			t.Fatal(err)
		}
		if layout, err = layout.Apply(&m); err != nil {
			t.Fatal(err)
		}
	}
	layout, err := layout.Shuffle(shoe.OnPile("a-_9"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*shoeKept{
		{Layout: none, Seals: []uint64{}},
		{Layout: layout, Seals: []uint64{7, 1 << 40}, Previous: 9, Status: ShoeOpen, Shuffled: true, Expires: time.Date(2026, 1, 2, 3, 4, 5, 120_000, time.UTC), Keep: 60},
		{Layout: none, Seals: []uint64{0}, Status: ShoeClosed, Order: []uint32{3, 0, 2, 1}, ID: uuid.New(), Items: []string{`"a<\u2028>"`, "\u2028", `{"b": 2}`}},
	} {
		want, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.append(nil); string(got) != string(want) {
			t.Errorf("%s is written, and should be %s", got, want)
		}
	}
}
