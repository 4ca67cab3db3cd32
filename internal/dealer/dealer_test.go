package dealer

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// newDealer returns a dealer on a new store.
func newDealer(t *testing.T, options Options) (*Dealer, *journaltest.Store) {
	t.Helper()
	s := journaltest.New(t)
	return New(s.Journal(t), journaltest.Rules(t), options), s
}

func ptr(n uint64) *uint64 { return &n }

func items(n uint64) *plan.Items { return &plan.Items{Count: n, Digest: sha256.Sum256([]byte("[]"))} }

func ask(r plan.Request) *Request { return &Request{Request: r} }

// keyed returns a request with an idempotency key.
func keyed(key string, r plan.Request) *Request {
	return &Request{Request: r, Key: journal.NewIdempotencyKey(key, []byte("the request"))}
}

func mustShuffle(t *testing.T, d *Dealer, r *Request) *Shuffle {
	t.Helper()
	made, err := d.Shuffle(t.Context(), r)
	require.NoError(t, err)
	return made
}

// The reference implementation replays the stored record, with the returned seed, to the same
// order.
func TestRecordReplaysToTheAnsweredOrder(t *testing.T) {
	d, _ := newDealer(t, Options{})
	for _, alg := range shuffle.Algorithms() {
		for _, r := range []plan.Request{
			{Deck: "standard52", ClientSeed: "the players' seed ♥", Reference: "table 7"},
			{Deck: "mahjong136", Decks: ptr(2), Draw: ptr(54), Hands: []uint64{14, 13, 13, 13}},
			{Items: items(3), Repeat: ptr(4)},
			{Items: items(0)},
			{Size: ptr(5000), Draw: ptr(17)},
			{Size: ptr(2)},
			{Items: items(400), Draw: ptr(3), Repeat: ptr(2)},
		} {
			r.Algorithm = string(alg)
			made, err := d.Shuffle(t.Context(), ask(r))
			require.NoErrorf(t, err, "%s %+v", alg, r)
			stored, err := d.journal.ByID(t.Context(), made.ID)
			require.NoErrorf(t, err, "%s: stored as %+v", alg, stored)
			require.Equalf(t, made.LogIndex, stored.Index, "%s: stored as %+v", alg, stored)
			sidecar, err := d.journal.Sidecar(stored)
			require.Truef(t, err == nil && bytes.Equal(sidecar.Seed, made.Statement.Seed), "%s: the sidecar is %+v, %v", alg, sidecar, err)
			v := audit.Verify(stored.Bytes, made.Statement.Seed, 1<<20)
			require.Truef(t, v.OK, "%s: %+v", alg, v.Steps)
			for number, want := range v.Orders {
				for _, scratch := range [][]uint64{nil, make([]uint64, 10), make([]uint64, 10_000)} {
					assert.Equalf(t, want, made.Positions(uint64(number), scratch), "%s %+v, shuffle %d", alg, r, number)
				}
				elements := make([]uint64, made.Statement.Size)
				for i := range elements {
					elements[i] = uint64(i)
				}
				assert.Equalf(t, want, Order(made, uint64(number), elements), "%s %+v, shuffle %d: ordered", alg, r, number)
			}
			assert.Equalf(t, made.Statement.Repeat, uint64(len(v.Orders)), "%s: %d orders, want", alg, len(v.Orders))
			made.Release()
		}
	}
}

func TestRefusedRequestsAreNotWritten(t *testing.T) {
	d, s := newDealer(t, Options{})
	for pointer, r := range map[string]plan.Request{
		"":                  {},
		"/deck":             {Deck: "standard53"},
		"/draw":             {Size: ptr(5), Draw: ptr(6)},
		"/hands":            {Deck: "standard52", Hands: []uint64{27, 26}},
		"/unique_reference": {Size: ptr(5), UniqueReference: true},
	} {
		_, shuffleErr := d.Shuffle(t.Context(), keyed("key", r))
		_, commitErr := d.Commit(t.Context(), keyed("key", r))
		for _, err := range []error{shuffleErr, commitErr} {
			var invalid *plan.Invalid
			assert.Truef(t, errors.As(err, &invalid), "%+v: %v, want an error at", r, err)
			assert.Equalf(t, pointer, invalid.Pointer, "%+v: %v, want an error at", r, err)
		}
	}
	assert.EqualValues(t, 0, s.Size(t))
	mustShuffle(t, d, keyed("key", plan.Request{Size: ptr(5)})) // the key is still free
}

// If the generator fails at any byte, there is no record and no shuffle.
func TestNoRandomnessNoShuffle(t *testing.T) {
	d, s := newDealer(t, Options{})
	const needed = 2*rng.BlockSize + 10 // seed and id for 52 cards
	broken := errors.New("the generator failed")
	// All of the first bytes, and a sample of the rest.
	for n := int64(0); n < needed; n += 1 + n/8 {
		d.journal.Random = io.MultiReader(io.LimitReader(rand.Reader, n), iotest.ErrReader(broken))
		made, err := d.Shuffle(t.Context(), ask(plan.Request{Deck: "standard52"}))
		require.Truef(t, errors.Is(err, broken) && made == nil, "after %d bytes: %v, %v", n, made, err)
		require.EqualValuesf(t, 0, s.Size(t), "after %d bytes", n)
	}
	d.journal.Random = io.LimitReader(rand.Reader, needed)
	_, err := d.Shuffle(t.Context(), ask(plan.Request{Deck: "standard52"}))
	assert.NoErrorf(t, err, "with %d bytes", needed)
}

func TestReserveComesBeforeTheDraw(t *testing.T) {
	d, s := newDealer(t, Options{})
	journaltest.Overtake(d.journal, func() { t.Error("randomness was drawn") })
	full := errors.New("the memory is used up")
	for want, r := range map[uint64]plan.Request{
		52:      {Deck: "standard52", Draw: ptr(5)},
		7:       {Size: ptr(1 << 40), Draw: ptr(7)},
		100_000: {Items: items(100_000), Draw: ptr(7)},
	} {
		elements := uint64(0)
		request := keyed("key", r)
		request.Reserve = func(s *audit.Statement) error { elements = plan.Elements(s); return full }
		made, err := d.Shuffle(t.Context(), request)
		assert.Truef(t, errors.Is(err, full) && made == nil, "%+v: %+v, %v", r, made, err)
		assert.Equalf(t, want, elements, "%+v: reserved", r)
	}
	d.journal.Random = rand.Reader
	request := ask(plan.Request{})
	request.Reserve = func(*audit.Statement) error { t.Error("reserved for a request that is refused"); return nil }
	_, err := d.Shuffle(t.Context(), request)
	assert.Error(t, err, "a request for nothing is answered")
	assert.EqualValues(t, 0, s.Size(t))

	// After a failed Reserve the commitment is still open. A replay calls Reserve too.
	c := commit(t, d, nil)
	use := keyed("use", plan.Request{CommitmentID: c.ID, ClientSeed: "x"})
	use.Reserve = func(*audit.Statement) error { return full }
	_, err = d.Shuffle(t.Context(), use)
	assert.ErrorIs(t, err, full, "a use without memory")
	got, err := d.Commitment(t.Context(), c.ID)
	assert.Truef(t, err == nil && got.Status == StatusOpen, "the commitment is %+v, %v", got, err)
	use.Reserve = nil
	first := mustShuffle(t, d, use)
	use.Reserve = func(s *audit.Statement) error {
		assert.EqualValues(t, 5, plan.Elements(s), "the replay reserves")
		return full
	}
	_, err = d.Shuffle(t.Context(), use)
	assert.ErrorIs(t, err, full, "a replay without memory")
	use.Reserve = func(*audit.Statement) error { return nil }
	assert.Equal(t, first.ID, mustShuffle(t, d, use).ID, "the replay")
}

// A retry gets the first attempt's response through any process.
func TestRetryOfAShuffleIsReplayed(t *testing.T) {
	d, s := newDealer(t, Options{})
	other := New(s.Journal(t), d.rules, Options{})
	c, contested := commit(t, d, nil), commit(t, d, nil)
	for name, r := range map[string]plan.Request{
		"items":      {Items: items(60), Repeat: ptr(2), ClientSeed: "x"},
		"deck":       {Deck: "undercover", Parameters: map[string]int{"players": 7}, Decks: ptr(2), Hands: []uint64{2, 3}, UniqueReference: true, Reference: "one"},
		"commitment": {CommitmentID: c.ID, ClientSeed: "late"},
	} {
		first := mustShuffle(t, d, keyed(name, r))
		before := s.Size(t)
		for process, by := range []*Dealer{d, other} {
			again := mustShuffle(t, by, keyed(name, r))
			checkSame(t, fmt.Sprint(name, " through process ", process), again, first)
			reused := &Request{Request: r, Key: journal.NewIdempotencyKey(name, []byte("another request"))}
			_, err := by.Shuffle(t.Context(), reused)
			assert.ErrorIsf(t, err, journal.ErrKeyReused, "%s: another request with the key", name)
		}
		assert.Equalf(t, before, s.Size(t), "%s: a retry made a record", name)
		// Another process makes the same request first.
		if r.CommitmentID != uuid.Nil {
			r.CommitmentID = contested.ID
		}
		if r.Reference != "" {
			r.Reference = "contested"
		}
		var won *Shuffle
		journaltest.Overtake(d.journal, func() { won = mustShuffle(t, other, keyed(name+" at once", r)) })
		lost := mustShuffle(t, d, keyed(name+" at once", r))
		checkSame(t, name+" at the same moment", lost, won)
		journaltest.Overtake(d.journal, func() { mustShuffle(t, other, keyed(name+" reused", plan.Request{Size: ptr(3)})) })
		reused := &Request{Request: plan.Request{Size: ptr(3)}, Key: journal.NewIdempotencyKey(name+" reused", []byte("another request"))}
		_, err := d.Shuffle(t.Context(), reused)
		assert.ErrorIsf(t, err, journal.ErrKeyReused, "%s: another request with the key at the same moment", name)
		assert.Equalf(t, before+2, s.Size(t), "%s: a retry at the same moment made a record", name)
	}
}

// checkSame checks that a replay equals the first attempt.
func checkSame(t *testing.T, name string, again, first *Shuffle) {
	t.Helper()
	codes := func(s *Shuffle) []string {
		if s.Deck == nil {
			return nil
		}
		return s.Deck.Codes()
	}
	if again.ID != first.ID || again.LogIndex != first.LogIndex || !slices.Equal(codes(again), codes(first)) ||
		fmt.Sprintf("%+v %s", again.Statement, again.Commitment) != fmt.Sprintf("%+v %s", first.Statement, first.Commitment) {
		t.Errorf("%s: replayed as %+v, first was %+v", name, again, first)
	}
	for n := range first.Statement.Repeat {
		assert.Equalf(t, first.Positions(n, nil), again.Positions(n, nil), "%s: another order", name)
	}
}

// The key's claim was moved to a record of another kind.
func TestRetryIsNotAnsweredFromAnotherKindOfRecord(t *testing.T) {
	d, _ := newDealer(t, Options{})
	_, err := d.Commit(t.Context(), keyed("key", plan.Request{Size: ptr(5)}))
	require.NoError(t, err)
	got, err := d.Shuffle(t.Context(), keyed("key", plan.Request{Size: ptr(5)}))
	assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%+v", got)
}

func TestDeckThatHasChangedIsNotReplayed(t *testing.T) {
	d, _ := newDealer(t, Options{})
	with := func(code string) *Dealer {
		decks, err := deck.Builtin()
		require.NoError(t, err)
		require.NoError(t, decks.Load(fstest.MapFS{"own.json": {Data: []byte(journaltest.OwnDeck(code))}}))
		return New(d.journal, &plan.Rules{Decks: decks, Limits: d.rules.Limits}, Options{})
	}
	before, after := with("A"), with("B")
	request := keyed("key", plan.Request{Deck: "own"})
	first := mustShuffle(t, before, request)
	c, err := before.Commit(t.Context(), ask(plan.Request{Deck: "own"}))
	require.NoError(t, err)
	for name, other := range map[string]*Dealer{"other cards": after, "no such deck": d} {
		var changed *plan.DeckChangedError
		_, err := other.Shuffle(t.Context(), request)
		assert.Truef(t, errors.As(err, &changed) && changed.AuditID == first.ID, "a retry with %s: %v", name, err)
		var invalid *plan.Invalid
		_, err = other.Shuffle(t.Context(), ask(plan.Request{CommitmentID: c.ID, ClientSeed: "x"}))
		assert.Truef(t, errors.As(err, &invalid) && invalid.Pointer == "/deck", "a commitment with %s: %v", name, err)
	}
	again := mustShuffle(t, before, request)
	assert.Equalf(t, first.ID, again.ID, "a retry with the same cards: %+v", again)
}

func TestUniqueReference(t *testing.T) {
	d, _ := newDealer(t, Options{})
	unique := func(r plan.Request) error {
		r.UniqueReference = true
		_, err := d.Shuffle(t.Context(), ask(r))
		return err
	}
	isTaken := func(what string, err error, by uuid.UUID) {
		t.Helper()
		var taken *ledger.NotUniqueError
		assert.Truef(t, errors.As(err, &taken), "%s: %v, want that", what, err)
		assert.Equalf(t, by, taken.First, "%s: %v, want that", what, err)
	}
	plain := mustShuffle(t, d, ask(plan.Request{Size: ptr(5), Reference: "plain"}))
	isTaken("after a plain one", unique(plan.Request{Size: ptr(5), Reference: "plain"}), plain.ID)
	assert.NoError(t, unique(plan.Request{Size: ptr(5), Reference: "alone"}), "the first")
	if _, err := d.Shuffle(t.Context(), ask(plan.Request{Size: ptr(5), Reference: "alone"})); err != nil {
		t.Errorf("a second one that need not be unique: %v", err)
	}
	c := commit(t, d, nil) // reference "committed"
	isTaken("beside a commitment", unique(plan.Request{Size: ptr(5), Reference: "committed"}), c.ID)
	_, err := d.Commit(t.Context(), ask(plan.Request{Size: ptr(5), Reference: "committed", UniqueReference: true}))
	isTaken("a commitment that is to be unique", err, c.ID)
}

// A commitment and the shuffle that uses it are one attempt, whichever process made the commitment.
func TestUniqueReferenceWithACommitment(t *testing.T) {
	d, s := newDealer(t, Options{})
	other := New(s.Journal(t), d.rules, Options{})
	for sequence, refused := range map[string]bool{"C": false, "PC": true, "CP": true, "CC": true, "CS": true, "SC": true} {
		for name, by := range map[string]*Dealer{"here": d, "elsewhere": other} {
			reference := sequence + " " + name
			var used, first uuid.UUID // the first commitment, and the first other record
			for _, kind := range sequence {
				request := ask(plan.Request{Size: ptr(5), Reference: reference, UniqueReference: kind == 'S' && sequence == "SC"})
				if kind != 'C' {
					first = mustShuffle(t, d, request).ID
					continue
				}
				c, err := d.Commit(t.Context(), request)
				require.NoError(t, err)
				if used == uuid.Nil {
					used = c.ID
				} else {
					first = c.ID
				}
			}
			_, err := by.Shuffle(t.Context(), ask(plan.Request{CommitmentID: used, ClientSeed: "x", UniqueReference: true}))
			var taken *ledger.NotUniqueError
			if refused != errors.As(err, &taken) || !refused && err != nil || refused && taken.First != first {
				t.Errorf("the use after %s, %s: %v, want refused %v because of %s", sequence, name, err, refused, first)
			}
			// This process has the used commitment in its cache as open.
			mustShuffle(t, d, ask(plan.Request{Size: ptr(5)}))
			_, err = d.Shuffle(t.Context(), ask(plan.Request{CommitmentID: used, ClientSeed: "x", UniqueReference: true}))
			var settled *CommitmentClosedError
			assert.Truef(t, refused || errors.As(err, &settled), "a second use after %s, %s: %v, want that it is used", sequence, name, err)
		}
	}
}

func TestTwoShufflesNeverShareASeed(t *testing.T) {
	d, _ := newDealer(t, Options{})
	seen := map[string]bool{}
	for range 200 {
		made := mustShuffle(t, d, ask(plan.Request{Size: ptr(100)}))
		for block := range slices.Chunk(made.Statement.Seed, rng.BlockSize) {
			require.False(t, seen[string(block)], "a seed block came twice")
			seen[string(block)] = true
		}
	}
}
