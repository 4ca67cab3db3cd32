package dealer

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
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

// The key's claim was moved to a record of another kind.
func TestRetryIsNotAnsweredFromAnotherKindOfRecord(t *testing.T) {
	d, _ := newDealer(t, Options{})
	_, err := d.Commit(t.Context(), keyed("key", plan.Request{Size: ptr(5)}))
	require.NoError(t, err)
	got, err := d.Shuffle(t.Context(), keyed("key", plan.Request{Size: ptr(5)}))
	assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%+v", got)
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
