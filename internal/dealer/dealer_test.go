package dealer

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

func newDealer(t *testing.T, random io.Reader) *Dealer {
	t.Helper()
	return newDealerOn(t, random, func(s ledger.Store) ledger.Store { return s })
}

// newDealerOn returns a dealer over what is made of a new store.
func newDealerOn(t *testing.T, random io.Reader, of func(ledger.Store) ledger.Store) *Dealer {
	t.Helper()
	folder := t.TempDir()
	sound, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
	if err != nil {
		t.Fatal(err)
	}
	store := of(sound)
	log, err := ledger.Open(t.Context(), store, ledger.Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	decks, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return New(log, decks, Options{Random: random, Limits: Limits{Items: 1_000_000, Results: 10_000_000}})
}

func size(t *testing.T, d *Dealer) uint64 {
	t.Helper()
	committed, _ := d.log.Sizes()
	return committed
}

func shuffled(d *Dealer, r *Request) (*Result, error) {
	plan, err := d.Plan(context.Background(), r)
	if err != nil {
		return nil, err
	}
	return d.Deal(context.Background(), plan)
}

func ptr(n uint64) *uint64 { return &n }

func items(n uint64) *Items { return &Items{Count: n, Digest: sha256.Sum256([]byte("[]"))} }

// Every algorithm, through the whole path: the record in the store, with the seed of the answer, replays by the
// reference to the order that was answered.
func TestRecordReplaysToTheAnsweredOrder(t *testing.T) {
	d := newDealer(t, rand.Reader)
	for _, alg := range shuffle.Algorithms() {
		for _, r := range []*Request{
			{Deck: "standard52", ClientSeed: "the players' seed ♥", Reference: "table 7"},
			{Deck: "mahjong136", Decks: ptr(2), Draw: ptr(54), Hands: []uint64{14, 13, 13, 13}},
			{Items: items(3), Repeat: ptr(4)},
			{Items: items(0)},
			{Size: ptr(5000), Draw: ptr(17)},
			{Size: ptr(2)},
			{Items: items(400), Draw: ptr(3), Repeat: ptr(2)},
		} {
			r.Algorithm = string(alg)
			result, err := shuffled(d, r)
			if err != nil {
				t.Fatalf("%s %+v: %v", alg, r, err)
			}
			stored, err := d.log.ByID(t.Context(), result.AuditID)
			if err != nil || stored.Index != result.LogIndex {
				t.Fatalf("%s: stored as %+v, %v", alg, stored, err)
			}
			if kept, err := d.keptOf(stored, audit.KindShuffle); err != nil || !bytes.Equal(kept.seed, result.Statement.Seed) {
				t.Fatalf("%s: %+v is kept beside the record (%v)", alg, kept, err)
			}
			v := audit.Verify(stored.Record, result.Statement.Seed, 1<<20)
			if !v.OK {
				t.Fatalf("%s: %+v", alg, v.Steps)
			}
			for number, want := range v.Orders {
				for _, scratch := range [][]uint64{nil, make([]uint64, 10), make([]uint64, 10_000)} {
					if got := result.Positions(uint64(number), scratch); !slices.Equal(got, want) {
						t.Errorf("%s %+v, shuffle %d: dealt %d, replayed %d", alg, r, number, got, want)
					}
				}
			}
			if uint64(len(v.Orders)) != result.Statement.Repeat {
				t.Errorf("%s: %d orders, want %d", alg, len(v.Orders), result.Statement.Repeat)
			}
		}
	}
}

func TestSeedCoversEveryOrder(t *testing.T) {
	d := newDealer(t, rand.Reader)
	for _, kind := range d.decks.Types() {
		for _, decks := range []uint64{1, 2, 8} {
			p, err := d.Plan(t.Context(), &Request{Deck: kind.Name, Decks: &decks})
			if err != nil {
				t.Fatal(err)
			}
			blocks := rng.Blocks(p.statement.Size, p.statement.Draw)
			if bits := float64(256 * blocks); p.statement.Size <= 1024 && bits < p.statement.Results()+64 {
				t.Errorf("%d %s: %v bits of seed for 2^%.1f orders", decks, kind.Name, bits, p.statement.Results())
			}
		}
	}
}

func TestTwoShufflesNeverShareASeed(t *testing.T) {
	d := newDealer(t, rand.Reader)
	seen := map[string]bool{}
	for range 200 {
		result, err := shuffled(d, &Request{Size: ptr(100)})
		if err != nil {
			t.Fatal(err)
		}
		for block := result.Statement.Seed; len(block) > 0; block = block[rng.BlockSize:] {
			if seen[string(block[:rng.BlockSize])] {
				t.Fatal("a seed block came twice")
			}
			seen[string(block[:rng.BlockSize])] = true
		}
	}
}

func TestWhatCannotBeDoneIsRefusedAndNotWritten(t *testing.T) {
	d := newDealer(t, rand.Reader)
	const huge = 1 << 63
	for _, v := range []struct {
		name, pointer, detail string
		request               Request
	}{
		{"nothing to shuffle", "", "exactly one of", Request{}},
		{"items and deck", "", "exactly one of", Request{Items: items(2), Deck: "standard52"}},
		{"items and size", "", "exactly one of", Request{Items: items(2), Size: ptr(2)}},
		{"unknown deck", "/deck", "no deck type", Request{Deck: "standard53"}},
		{"unknown algorithm", "/algorithm", "no algorithm", Request{Size: ptr(2), Algorithm: "bogo"}},
		{"naive", "/algorithm", "no algorithm", Request{Size: ptr(2), Algorithm: "naive"}},
		{"sattolo of one", "/algorithm", "only keep its place", Request{Size: ptr(1), Algorithm: "sattolo"}},
		{"draw above size", "/draw", "to draw from", Request{Size: ptr(5), Draw: ptr(6)}},
		{"too many items", "/items", "at most 1000000", Request{Items: items(1_000_001)}},
		{"size without draw", "/size", "say with draw", Request{Size: ptr(1_000_001)}},
		{"draw above limit", "/draw", "at most 1000000", Request{Size: ptr(huge >> 11), Draw: ptr(1_000_001)}},
		{"size above 2^53-1", "/size", "at most 9007199254740991", Request{Size: ptr(1 << 53), Draw: ptr(1)}},
		{"long walk", "/algorithm", "can stop early", Request{Size: ptr(1_000_001), Draw: ptr(1), Algorithm: "sattolo"}},
		{"no copies", "/decks", "from 1 to 19230", Request{Deck: "standard52", Decks: ptr(0)}},
		{"too many copies", "/decks", "from 1 to 19230", Request{Deck: "standard52", Decks: ptr(19231)}},
		{"copies that overflow", "/decks", "from 1 to 19230", Request{Deck: "standard52", Decks: ptr(huge)}},
		{"decks of items", "/decks", "name one in deck", Request{Items: items(2), Decks: ptr(2)}},
		{"parameters of items", "/parameters", "name one in deck", Request{Items: items(2), Parameters: map[string]int{"players": 4}}},
		{"unknown parameter", "/parameters/cards", "", Request{Deck: "undercover", Parameters: map[string]int{"cards": 4}}},
		{"parameter out of range", "/parameters/players", "4 to 16", Request{Deck: "undercover", Parameters: map[string]int{"players": 17}}},
		{"no repeat", "/repeat", "at least 1", Request{Size: ptr(2), Repeat: ptr(0)}},
		{"repeat above limit", "/repeat", "at most 10000000", Request{Size: ptr(1000), Repeat: ptr(10_001)}},
		{"repeat that overflows", "/repeat", "at most 10000000", Request{Size: ptr(4), Repeat: ptr(huge)}},
		{"repeat that goes through too much", "/repeat", "goes through all 1000000", Request{Size: ptr(1_000_000), Draw: ptr(1), Repeat: ptr(200), Algorithm: "durstenfeld"}},
		{"repeat of nothing", "/repeat", "at most 10000000", Request{Size: ptr(0), Repeat: ptr(huge)}},
		{"hands above the deck", "/hands", "more than the 52", Request{Deck: "standard52", Hands: []uint64{27, 26}}},
		{"hands that overflow", "/hands", "more than the 52", Request{Deck: "standard52", Hands: []uint64{huge, huge}}},
		{"hands above the draw", "/hands", "more than the 12", Request{Deck: "standard52", Draw: ptr(12), Hands: []uint64{13}}},
		{"empty hand", "/hands/1", "at least 1", Request{Size: ptr(5), Hands: []uint64{1, 0}}},
		{"too many hands", "/hands", "at most 1000", Request{Size: ptr(5000), Hands: slices.Repeat([]uint64{1}, 1001)}},
		{"unknown preset", "/hands", "", Request{Deck: "standard52", Preset: "poker"}},
		{"preset of items", "/hands", "only deck types", Request{Items: items(52), Preset: "bridge"}},
		{"preset above the draw", "/hands", "more than the 51", Request{Deck: "standard52", Draw: ptr(51), Preset: "bridge"}},
	} {
		_, err := shuffled(d, &v.request)
		var invalid *Invalid
		if !errors.As(err, &invalid) || invalid.Fields[0].Pointer != v.pointer || !strings.Contains(invalid.Fields[0].Detail, v.detail) {
			t.Errorf("%s: %v, want %s: ... %s ...", v.name, err, v.pointer, v.detail)
		}
	}
	if n := size(t, d); n != 0 {
		t.Errorf("%d records were written", n)
	}
}

// A generator that fails, at any byte that it is asked for, leaves no record and no result.
func TestNoRandomnessNoShuffle(t *testing.T) {
	const needed = 2*rng.BlockSize + 10 // seed and id of 52 cards
	broken := errors.New("the generator failed")
	for n := int64(0); n < needed; n += 1 + n/8 { // every byte of the first few, and a sample of the rest
		d := newDealer(t, io.MultiReader(io.LimitReader(rand.Reader, n), failing{broken}))
		result, err := shuffled(d, &Request{Deck: "standard52"})
		if !errors.Is(err, broken) || result != nil {
			t.Fatalf("after %d bytes: %v, %v", n, result, err)
		}
		if records := size(t, d); records != 0 {
			t.Fatalf("after %d bytes: %d records", n, records)
		}
	}
	d := newDealer(t, io.LimitReader(rand.Reader, needed))
	if _, err := shuffled(d, &Request{Deck: "standard52"}); err != nil {
		t.Errorf("with %d bytes: %v", needed, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestStuckGeneratorIsRefused(t *testing.T) {
	d := newDealer(t, stuck{})
	if _, err := shuffled(d, &Request{Deck: "standard52"}); !errors.Is(err, rng.ErrSeed) {
		t.Errorf("a generator that repeats itself: %v", err)
	}
	if n := size(t, d); n != 0 {
		t.Errorf("%d records were written", n)
	}
}

type stuck struct{}

func (stuck) Read(p []byte) (int, error) { return len(p), nil }

func TestIDsAreUUIDv7(t *testing.T) {
	now := time.UnixMilli(0x0123456789ab)
	id, err := newID(now, bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	if err != nil || id.String() != "01234567-89ab-7fff-bfff-ffffffffffff" {
		t.Errorf("all ones: %s, %v", id, err)
	}
	id, err = newID(now, bytes.NewReader(make([]byte, 10)))
	if err != nil || id.String() != "01234567-89ab-7000-8000-000000000000" {
		t.Errorf("all zeroes: %s, %v", id, err)
	}
	if id.Version() != 7 {
		t.Errorf("version %d", id.Version())
	}
}

// The log is in the order in which records were written, whatever the clock says meanwhile.
func TestClockDoesNotDisorderTheLog(t *testing.T) {
	d := newDealer(t, rand.Reader)
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	clocks := []time.Time{
		start, start, start, // stopped
		start.Add(-time.Hour), start.Add(-time.Hour), start.AddDate(-20, 0, 0), time.Unix(0, 0), // back
		start.AddDate(10, 0, 0), start.AddDate(10, 0, 0), // ten years on
		start.Add(time.Second),
	}
	for want, now := range clocks {
		d.options.Now = func() time.Time { return now }
		result, err := shuffled(d, &Request{Deck: "standard52", Reference: "one game"})
		if err != nil || result.LogIndex != uint64(want) {
			t.Fatalf("at %s: index %d, %v, want %d", now, result.LogIndex, err, want)
		}
		if _, err := d.Prove(t.Context(), result.AuditID); err != nil {
			t.Errorf("at %s: %v", now, err)
		}
	}
	list, err := d.Audits(t.Context(), "one game", 0, 100)
	if err != nil || len(list) != len(clocks) {
		t.Fatalf("%d records, %v, want %d", len(list), err, len(clocks))
	}
	for i, a := range list {
		record, err := audit.ParseRecord(a.Record)
		if err != nil || a.LogIndex != uint64(i) || !record.Time.Equal(clocks[i]) {
			t.Errorf("record %d has the index %d and the time %s, %v, want %s", i, a.LogIndex, record.Time, err, clocks[i])
		}
	}
}

func TestRevealTakesTheSeed(t *testing.T) {
	d := newDealer(t, rand.Reader)
	result, err := shuffled(d, &Request{Deck: "standard52", Reference: "table 1"})
	if err != nil {
		t.Fatal(err)
	}
	shown := func() rng.Seed {
		a, err := d.Audit(t.Context(), result.AuditID)
		if err != nil {
			t.Fatal(err)
		}
		return a.Seed
	}
	_, v, err := d.Verify(t.Context(), result.AuditID, 100)
	if err != nil || !v.OK || v.Orders != nil || v.OrderDigest != "" {
		t.Errorf("verifying before the reveal: %+v, %v; it is to hold, and to show no card", v, err)
	}
	wrong := slices.Clone(result.Statement.Seed)
	wrong[0]++
	for _, seed := range []rng.Seed{nil, wrong, wrong[:32], append(slices.Clone(result.Statement.Seed), 0)} {
		if _, err := d.Reveal(t.Context(), result.AuditID, seed, nil); !errors.Is(err, ErrNotTheSeed) {
			t.Errorf("revealing with %x: %v", seed, err)
		}
	}
	if shown() != nil || size(t, d) != 1 {
		t.Error("a wrong seed revealed something")
	}
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := d.Reveal(t.Context(), result.AuditID, result.Statement.Seed, nil)
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(shown(), result.Statement.Seed) {
		t.Error("the seed is not shown after the reveal")
	}
	audits, err := d.Audits(t.Context(), "table 1", 0, 10)
	if err != nil || len(audits) != 2 || size(t, d) != 2 {
		t.Fatalf("%d audits of the reference, %v, want the shuffle and one reveal", len(audits), err)
	}
	reveal, err := audit.ParseRecord(audits[1].Record)
	if err != nil || reveal.Kind != audit.KindReveal || reveal.AuditID != result.AuditID || reveal.Commitment != result.Commitment {
		t.Errorf("the reveal is %+v, %v", reveal, err)
	}
	if _, err := d.Reveal(t.Context(), audits[1].ID, result.Statement.Seed, nil); !errors.Is(err, ErrNoSeed) {
		t.Errorf("revealing a reveal: %v", err)
	}
	if _, _, err := d.Verify(t.Context(), audits[1].ID, 0); !errors.Is(err, ErrNoSeed) {
		t.Errorf("verifying a reveal: %v", err)
	}
	_, v, err = d.Verify(t.Context(), result.AuditID, 100)
	if err != nil || len(v.Orders) != 1 || v.OrderDigest == "" {
		t.Errorf("verifying after the reveal: %+v, %v", v, err)
	}
}

func TestRevealNowNeedsNoReveal(t *testing.T) {
	d := newDealer(t, rand.Reader)
	result, err := shuffled(d, &Request{Size: ptr(6), RevealNow: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.Audit(t.Context(), result.AuditID)
	if err != nil || !bytes.Equal(a.Seed, result.Statement.Seed) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := d.Reveal(t.Context(), result.AuditID, result.Statement.Seed, nil); err != nil || size(t, d) != 1 {
		t.Errorf("revealing what is revealed: %v, %d records", err, size(t, d))
	}
}
